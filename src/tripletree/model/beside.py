"""Work beside other work: one thing is done on a thread of its own while another is; what they make stays the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from functools import cache
from typing import Protocol, TypeVar

T = TypeVar("T")


class Start(Protocol):
    """What begins some work, and returns a function that waits for what it makes."""

    def __call__(self, work: Callable[[], T]) -> Callable[[], T]:
        """Begin."""


@contextmanager
def beside(threads: int) -> Iterator[Start]:
    """Do work beside what follows, one piece after the other; on one thread, when somebody asks for what it makes."""
    if threads == 1:
        yield _when_asked
        return
    with ThreadPoolExecutor(1) as pool:
        try:
            # In copies of the context, in which NumPy keeps what it does about numbers that are too large.
            yield lambda work: pool.submit(copy_context().run, work).result
        finally:
            # Of what has not begun when something went wrong, nothing is wanted any more.
            pool.shutdown(cancel_futures=True)


def _when_asked(work: Callable[[], T]) -> Callable[[], T]:
    return cache(work)
