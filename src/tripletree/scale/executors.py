"""Who does the work: threads of this process, processes on this machine, or the workers of a Dask cluster.

Tasks are functions of the module `passes` with plain data as arguments. They keep nothing, so that one which was lost
with its worker is simply done again.
"""

from __future__ import annotations

import logging
import os
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    wait,
)
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from importlib import import_module
from multiprocessing import get_context
from threading import Event
from typing import Any, Protocol, TypeVar

from tripletree.errors import MissingDependencyError, ParameterError, TripleTreeError
from tripletree.text import Message, Option, count

Common = TypeVar("Common")
Item = TypeVar("Item")
Result = TypeVar("Result")

KINDS = ("threads", "processes", "dask")
TRIES = 5
"""How often a task is given to another worker before it is taken for the task's own fault."""
PAUSE, PAUSES = 0.02, 100
"""Seconds between looks at whether Dask has a result, and how many of them are between looks at its workers."""

QUIET = {
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "10s",
    "distributed.admin.system-monitor.disk": False,
    "distributed.nanny.pre-spawn-environ.MALLOC_MMAP_THRESHOLD_": 2**25,
    "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": 2**27,
    "distributed.scheduler.active-memory-manager.start": False,
    "distributed.scheduler.work-stealing": False,
    "distributed.worker.memory.monitor-interval": "10s",
    "distributed.worker.profile.enabled": False,
}
"""What a small cluster of ours does without: looking at itself all the time, which takes a tenth of a core, and giving
memory back after every array, to get it again, cleared, for the next."""


class WorkersLostError(TripleTreeError):
    """The workers, or the scheduler that leads them, are gone."""


class Workers(Protocol):
    """What every executor can do."""

    number: int

    def map(self, task: Callable[[Common, Item], Result], common: Common, items: Sequence[Item]) -> Iterator[Result]:
        """Yield ``task(common, item)`` for every item, in any order."""

    def close(self, *, at_once: bool = False) -> None:
        """Let the workers go; at once: whatever they are doing."""


class Threads:
    """Threads of this process: nothing is copied or sent."""

    def __init__(self, number: int) -> None:
        self.number = number
        self._pool = ThreadPoolExecutor(number, "tripletree")
        self._stop = Event()

    def map(self, task: Callable[[Common, Item], Result], common: Common, items: Sequence[Item]) -> Iterator[Result]:
        """Yield results as they come."""
        heeding = (_Heeding(item, self._stop) if isinstance(item, list) else item for item in items)
        yield from _as_completed(self._pool, task, common, heeding, 2 * self.number)

    def close(self, *, at_once: bool = False) -> None:
        """Wait for the tasks under way; at once: for the piece that each of them is at."""
        if at_once:
            self._stop.set()
        self._pool.shutdown(wait=True, cancel_futures=at_once)


class _Heeding(list[Any]):
    """The pieces of a task, of which no more are given out once somebody said stop: nobody can kill a thread."""

    def __init__(self, pieces: list[Any], stop: Event) -> None:
        super().__init__(pieces)
        self._stop = stop

    def __iter__(self) -> Iterator[Any]:
        for piece in super().__iter__():
            if self._stop.is_set():
                raise CancelledError
            yield piece


class Processes:
    """Processes on this machine; where one dies, new ones do what was not done."""

    def __init__(self, number: int) -> None:
        self.number = number
        self._pool = self._new()

    def _new(self) -> ProcessPoolExecutor:
        # Never a fork: threads of this process may hold locks.
        return ProcessPoolExecutor(self.number, get_context("spawn"), initializer=_ignore_interrupts)

    def map(self, task: Callable[[Common, Item], Result], common: Common, items: Sequence[Item]) -> Iterator[Result]:
        """Yield results as they come."""
        left = dict(enumerate(items))
        for attempt in range(TRIES):
            done: set[int] = set()
            try:
                for number, result in _as_completed(
                    self._pool, _numbered, (task, common), list(left.items()), 2 * self.number
                ):
                    done.add(number)
                    yield result
                return
            except BrokenProcessPool:
                for number in done:
                    del left[number]
                self.close(at_once=True)
                if attempt + 1 < TRIES:
                    self._pool = self._new()
        raise WorkersLostError(
            Message(
                "Worker processes died {} times in the same pass; is the memory full? Try {}, or fewer of them: {}.",
                TRIES,
                Option("executor", "threads"),
                Option("workers", 1),
            )
        )

    def close(self, *, at_once: bool = False) -> None:
        """Stop the processes."""
        if at_once:
            for process in list((getattr(self._pool, "_processes", None) or {}).values()):
                with suppress(OSError, ValueError):
                    process.kill()
            # Killed while it sends a result, or is sent a task, it leaves half a message: nobody waits for the rest.
            for queue, end in (("_result_queue", "_writer"), ("_call_queue", "_reader")):
                with suppress(AttributeError, OSError):
                    getattr(getattr(self._pool, queue), end).close()
        self._pool.shutdown(wait=True, cancel_futures=True)


class DaskWorkers:
    """Workers of a Dask cluster: of one that is running, or of a small one on this machine that ends with the work."""

    def __init__(self, number: int, scheduler: str | None) -> None:
        try:
            dask, distributed = import_module("dask"), import_module("distributed")
        except ImportError:
            raise MissingDependencyError('Dask is not installed. Type: pip install "tripletree[dask]"') from None
        self._cluster: Any = None
        self._distributed: Any = distributed
        dask.config.set({"distributed.comm.timeouts.connect": "10s", "distributed.scheduler.allowed-failures": TRIES})
        try:
            if scheduler is None:
                with dask.config.set(QUIET):
                    self._cluster = distributed.LocalCluster(
                        n_workers=number,
                        threads_per_worker=1,
                        host="127.0.0.1",
                        dashboard_address="127.0.0.1:0",
                        worker_dashboard_address=None,
                        silence_logs=50,
                    )
            self._client: Any = distributed.Client(self._cluster or scheduler, timeout="10s", set_as_default=False)
        except (OSError, TimeoutError, ValueError) as error:
            self._client = None
            self.close()
            raise WorkersLostError(
                Message(
                    "There is no Dask scheduler at {}: {}. Is it running? {}", scheduler, error, Option("scheduler")
                )
            ) from None
        self.number = number if scheduler is None else max(len(self._client.scheduler_info()["workers"]), 1)

    def map(self, task: Callable[[Common, Item], Result], common: Common, items: Sequence[Item]) -> Iterator[Result]:
        """Yield results as they come; Dask itself gives the tasks of a lost worker to others."""
        try:
            # What is common goes with every task: a worker that comes in place of a lost one must have it, too.
            futures = [self._client.submit(task, common, item, pure=False, retries=TRIES) for item in items]
            done = self._distributed.as_completed(futures, loop=self._client.loop, with_results=True)
            while not done.is_empty():
                self._wait(done)
                future, result = next(done)
                yield result
                future.release()
        except (OSError, TimeoutError) as error:
            raise WorkersLostError(
                f"The Dask scheduler is gone: {error}. Start it again; the work goes on from its cache."
            ) from None
        except Exception as error:
            if type(error).__name__ in (
                "CancelledError",
                "FutureCancelledError",
                "FuturesCancelledError",
                "KilledWorker",
            ):
                raise WorkersLostError(
                    f"The Dask workers, or their scheduler, are gone ({type(error).__name__}). Start them again; the "
                    "work goes on from its cache."
                ) from None
            raise

    def _wait(self, done: Any) -> None:
        """Wait for a result. A worker that dies while it starts is not replaced by Dask: then another is asked for."""
        waited, never = 0, Event()
        while not done.has_ready():
            never.wait(PAUSE if waited > 4 else 0.001 * 2**waited)
            waited += 1
            if self._cluster is not None and not waited % PAUSES and len(self._cluster.workers) < self.number:
                self._cluster.scale(self.number)

    def close(self, *, at_once: bool = False) -> None:
        """Leave the cluster, and end it if it is ours."""
        if at_once and self._cluster is not None:
            # Where Ctrl-C came while it was closing already, Dask would wait for that once more when Python ends.
            self._cluster.shutdown_on_close = False
            # What Dask says of connections to workers that are killed would hide our own line.
            for name in ("distributed", "tornado", "asyncio"):
                logging.getLogger(name).setLevel(logging.CRITICAL)
            # Asked to end, workers would first finish what they are at.
            for nanny in list(self._cluster.workers.values()):
                with suppress(Exception):
                    nanny.close_gracefully()  # nobody comes in its place
                    os.kill(nanny.pid, signal.SIGKILL)
        for part in (getattr(self, "_client", None), self._cluster):
            if part is not None:
                with suppress(Exception):
                    part.close(timeout=1 if at_once else 10)


def make_workers(kind: str, number: int, scheduler: str | None = None) -> Workers:
    """Return the workers that were asked for."""
    if scheduler is not None or kind == "dask":
        return DaskWorkers(number, scheduler)
    if kind == "threads":
        return Threads(number)
    if kind == "processes":
        return Processes(number)
    raise ParameterError(Message("{} must be one of {}; got {!r:.40}.", Option("executor"), ", ".join(KINDS), kind))


def close_workers(workers: Workers, *, at_once: bool) -> None:
    """Let workers go; at once, too, if Ctrl-C comes while they finish."""
    try:
        workers.close(at_once=at_once)
    except KeyboardInterrupt:
        workers.close(at_once=True)
        raise


def groups_of(items: Sequence[Item], number: int) -> list[list[Item]]:
    """Divide items into at most so many groups of neighbours, as even as can be."""
    number = min(number, len(items))
    return [list(items[k * len(items) // number : (k + 1) * len(items) // number]) for k in range(number)]


def _as_completed(
    pool: Executor, task: Callable[[Any, Any], Result], common: Any, items: Iterable[Any], ahead: int
) -> Iterator[Result]:
    """Yield results, with only a few tasks handed out at a time: what nobody has fetched takes memory."""
    rest = iter(items)
    waiting: set[Future[Result]] = set()
    try:
        while True:
            for item in rest:
                waiting.add(pool.submit(task, common, item))
                if len(waiting) >= ahead:
                    break
            if not waiting:
                return
            try:
                # With a limit of time, so that Ctrl-C is heard.
                done, waiting = wait(waiting, 0.2, FIRST_COMPLETED)
            except RuntimeError as error:
                # Ctrl-C in the moment in which a lock is given back.
                if isinstance(error.__context__, KeyboardInterrupt):
                    raise KeyboardInterrupt from None
                raise
            for future in done:
                yield future.result()
    finally:
        for future in waiting:
            future.cancel()


def _numbered(task_and_common: tuple[Callable[[Any, Any], Any], Any], item: tuple[int, Any]) -> tuple[int, Any]:
    task, common = task_and_common
    return item[0], task(common, item[1])


def _ignore_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ.setdefault("OMP_NUM_THREADS", "1")


def said(workers: Workers) -> str:
    """Return who works, in words."""
    names = {"Threads": "thread", "Processes": "process", "DaskWorkers": "Dask worker"}
    name = names.get(type(workers).__name__, "worker")
    return count(workers.number, name, "processes" if name == "process" else None)
