"""Workers: the same function of 0, 1, 2, ... in several processes; results do not depend on how many there are."""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import signal
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.reduction import ForkingPickler
from typing import Any, TypeVar

from tripletree.errors import TripleTreeError
from tripletree.text import Message, Option

Result = TypeVar("Result")
Begin = Callable[[], Callable[[int], Result]]
"""Makes ready for work, once in every process, and returns what to do with each number."""

UNFORKABLE = ("jax", "tensorflow", "onnxruntime")
"""Libraries with threads of their own, which a copy of the process does not have: it would wait for them for ever."""
PATIENCE = 5.0
"""Seconds that a worker has to leave before it is made to."""


def can_fork() -> bool:
    """Tell whether this process can be copied, and the copy can work."""
    if sys.platform == "darwin" or "fork" not in multiprocessing.get_all_start_methods():
        return False
    if multiprocessing.current_process().daemon:
        return False  # itself a worker of somebody, who may not have any
    torch = sys.modules.get("torch")
    return not (torch is not None and torch.cuda.is_initialized())


def in_order(
    begin: Begin[Result], number: int, workers: int, progress: Callable[[int, int], None] | None = None
) -> list[Result]:
    """Return what becomes of 0, 1, ..., ``number - 1``, in this order.

    Parameters
    ----------
    begin : function
        Called in every process; returns the function that takes a number.
    number : int
        How many there are.
    workers : int
        Processes; with 1, all is done in this one. Errors are raised here as they were raised there, and so are
        warnings, each of them once. Ctrl-C ends all of them.
    progress : function of (done, all), or None
        Called after each.
    """
    if min(workers, number) > 1:
        return _in_processes(begin, number, min(workers, number), progress)
    found = []
    with one_thread():
        work = begin()
        for i in range(number):
            found.append(work(i))
            if progress is not None:
                progress(i + 1, number)
    return found


@contextmanager
def one_thread() -> Iterator[None]:
    """Let PyTorch use one thread: networks of agents are small, and sums must not depend on who does them."""
    torch = sys.modules.get("torch")
    if torch is None:
        yield
        return
    usual = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(usual)


def _in_processes(
    begin: Begin[Result], number: int, workers: int, progress: Callable[[int, int], None] | None
) -> list[Result]:
    processes: list[Any] = []
    busy: dict[Any, Any] = {}
    told: dict[tuple[type[Warning], str], Warning] = {}
    found: dict[int, Result] = {}
    left = iter(range(number))
    try:
        with _quietly():
            for _ in range(workers):
                _hire(begin, processes, busy)
        for connection in busy:
            connection.send(next(left))
        while busy:
            ready: list[Any] = multiprocessing.connection.wait(list(busy))
            for connection in ready:
                i, result, error, warned = _heard(connection, busy[connection])
                told.update({(type(one), str(one)): one for one in warned})
                if error is not None:
                    raise error
                found[i] = result
                if progress is not None:
                    progress(len(found), number)
                following = next(left, None)
                connection.send(following)
                if following is None:
                    del busy[connection]
        for process in processes:
            process.join(PATIENCE)
    finally:
        _dismiss(processes)
    for one in told.values():
        warnings.warn(one, stacklevel=4)
    return [found[i] for i in range(number)]


def _hire(begin: Begin[Any], processes: list[Any], busy: dict[Any, Any]) -> None:
    """Start a worker. A copy of this process has everything already: nothing need be sent to it but numbers."""
    context: Any = multiprocessing.get_context("fork")
    here, there = context.Pipe()
    process = context.Process(target=_serve, args=(begin, there, [here, *busy]), daemon=True)
    process.start()
    processes.append(process)
    there.close()
    busy[here] = process


def _heard(connection: Any, process: Any) -> Any:
    try:
        return connection.recv()
    except EOFError:
        process.join(PATIENCE)
        raise TripleTreeError(
            Message(
                "A worker process ended by itself (exit code {}). Is there enough memory? Try {}.",
                process.exitcode,
                Option("workers", 1),
            )
        ) from None


def _dismiss(processes: Sequence[Any]) -> None:
    """End all workers that are still there; none outlives the call."""
    for process in processes:
        if process.is_alive():
            process.terminate()
    for process in processes:
        process.join(PATIENCE)
        if process.is_alive():
            process.kill()
            process.join()
        process.close()


@contextmanager
def _quietly() -> Iterator[None]:
    """Let Ctrl-C reach this process alone, which then ends its workers: they inherit that it is blocked."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        with warnings.catch_warnings():
            # Python 3.12 and later warn of threads that the copy will lack; what would need them is kept out of it.
            warnings.simplefilter("ignore", DeprecationWarning)
            yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _serve(begin: Begin[Any], connection: Any, others: Sequence[Any]) -> None:
    """Do what this process is told, until there is no more or nobody is there to tell it."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    for other in others:
        other.close()  # the far ends of pipes: held here, they would never be seen to close
    try:
        with warnings.catch_warnings(record=True) as warned, one_thread():
            warnings.simplefilter("always")
            work: Callable[[int], Any] | None = None
            while (i := connection.recv()) is not None:
                result, error = None, None
                try:
                    work = begin() if work is None else work
                    result = work(i)
                except Exception as raised:
                    error = _sendable(raised)
                connection.send((i, result, error, [one.message for one in warned]))
                warned.clear()
    except (EOFError, BrokenPipeError, ConnectionResetError):
        pass


def _sendable(error: Exception) -> Exception:
    """Return an error that another process can raise: itself, or one that says the same."""
    if not isinstance(error, TripleTreeError):
        error.add_note(f"In a worker process:\n{''.join(traceback.format_exception(error))}")
    try:
        copy = ForkingPickler.loads(ForkingPickler.dumps(error))
    except Exception:  # whatever it holds may refuse in its own way
        copy = None
    return error if type(copy) is type(error) else RuntimeError(f"{type(error).__name__}: {error}")
