"""Executors: threads end with the piece that they are at, not with their task."""

from __future__ import annotations

import operator
import threading
from concurrent.futures import CancelledError
from contextlib import suppress

import pytest

from tripletree.scale.executors import Processes, Threads, close_workers


def test_threads_are_stopped_between_pieces():
    reached, go_on, done = threading.Event(), threading.Event(), []

    def task(common: None, pieces: list[int]) -> int:
        for piece in pieces:
            done.append(piece)
            reached.set()
            go_on.wait(30)
        return len(done)

    workers = Threads(1)

    def ask() -> None:
        # If it has not asked for the second task when the workers are closed, it is told that it comes too late.
        with suppress(CancelledError, RuntimeError):
            list(workers.map(task, None, [[0, 1, 2, 3], [4, 5]]))

    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    assert reached.wait(30)
    closing = threading.Thread(target=workers.close, kwargs={"at_once": True})
    closing.start()
    assert workers._stop.wait(30)
    go_on.set()
    closing.join(30)
    assert not closing.is_alive()
    assert done == [0]
    asking.join(30)


def test_threads_that_nobody_stops_do_all_pieces():
    workers = Threads(2)
    found = sorted(workers.map(lambda common, pieces: sum(pieces) + common, 10, [[1, 2], [3], [4, 5, 6]]))
    workers.close()
    assert found == [13, 13, 25]


def test_ctrl_c_while_workers_finish_ends_them_at_once():
    closed = []

    class Slow(Threads):
        def close(self, *, at_once: bool = False) -> None:
            closed.append(at_once)
            super().close(at_once=at_once)
            if not at_once:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt, match=r"^$"):
        close_workers(Slow(1), at_once=False)
    assert closed == [False, True]


@pytest.mark.parametrize("sent", [1, 2**24], ids=["large results", "large tasks"])
def test_processes_end_at_once_in_the_middle_of_a_message(sent):
    for _ in range(3):
        workers = Processes(2)
        # More than a pipe holds, again and again: somewhere in between, all of them are killed.
        results = workers.map(operator.mul, b"0" * sent, [2**24 // sent] * 20)
        next(results)
        workers.close(at_once=True)
        results.close()
