"""Jobs: work that takes a while, one after the other in a thread of its own, with progress and an end on demand."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from tripletree.errors import TripleTreeError
from tripletree.text import message_of
from tripletree.web.errors import AskError

MOST_JOBS = 100
"""Jobs that are remembered; a page asks about its last ones."""
MOST_WAITING = 8
"""Jobs that may wait: nobody waits for more."""
Progress = Callable[[int, int], None]
Work = Callable[[Progress], dict[str, Any]]


class CancelledError(Exception):
    """Raised inside the work by its progress function, once somebody has asked for its end."""


@dataclass(eq=False)
class Job:
    """One piece of work.

    Attributes
    ----------
    name, kind : str
        What it is asked for by, and which question began it.
    text : str
        What is being done, in words.
    state : {"waiting", "running", "done", "failed", "cancelled"}
        How far it is.
    done, of : int
        Progress, as far as the work tells it.
    answer : dict or None
        What came out.
    error : AskError or None
        Why nothing did.
    """

    name: str
    kind: str
    text: str
    state: str = "waiting"
    done: int = 0
    of: int = 0
    answer: dict[str, Any] | None = None
    error: AskError | None = None
    stop: threading.Event = field(default_factory=threading.Event)

    def to_dict(self) -> dict[str, Any]:
        """Return what a page is told."""
        return {
            "job": self.name,
            "kind": self.kind,
            "text": self.text,
            "state": self.state,
            "done": self.done,
            "of": self.of,
            "answer": self.answer,
            "error": None if self.error is None else self.error.to_dict(),
        }


class Jobs:
    """All jobs of one house."""

    def __init__(self) -> None:
        self._jobs: dict[str, Job] = {}
        self._lock = threading.Lock()
        self._number = 0
        # One at a time: growing uses all cores by itself.
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="tripletree-job")

    def begin(self, kind: str, text: str, work: Work) -> Job:
        """Begin a job as soon as those before it are done."""
        with self._lock:
            if sum(job.state in ("waiting", "running") for job in self._jobs.values()) >= MOST_WAITING:
                raise AskError("mistake", f"{MOST_WAITING} jobs are waiting already. Wait for them, or cancel some.")
            self._number += 1
            job = Job(f"j{self._number}", kind, text)
            self._jobs[job.name] = job
            over = [name for name, one in self._jobs.items() if one.state not in ("waiting", "running")]
            for name in over[: max(len(self._jobs) - MOST_JOBS, 0)]:
                del self._jobs[name]
        self._pool.submit(self._run, job, work)
        return job

    def find(self, name: Any) -> Job:
        """Return a job by its name."""
        job = self._jobs.get(name) if isinstance(name, str) else None
        if job is None:
            raise AskError("gone", "This job is not known here (any more). Ask again.")
        return job

    def cancel(self, name: Any) -> Job:
        """Ask a job to end; it does at its next sign of progress."""
        job = self.find(name)
        job.stop.set()
        if job.state == "waiting":
            job.state = "cancelled"
        return job

    def close(self) -> None:
        """End all of them, and wait for the one that is running."""
        for job in list(self._jobs.values()):
            job.stop.set()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _run(self, job: Job, work: Work) -> None:
        def progress(done: int, of: int) -> None:
            job.done, job.of = int(done), int(of)
            if job.stop.is_set():
                raise CancelledError

        try:
            progress(0, 0)
            job.state = "running"
            answer = work(progress)
            progress(job.done, job.of)
            job.answer, job.state = answer, "done"
        except CancelledError:
            job.error, job.state = AskError("cancelled", "Stopped."), "cancelled"
        except AskError as error:
            job.error, job.state = error, "failed"
        except (TripleTreeError, MemoryError) as error:
            text = message_of(error) or "There is not enough memory for this."
            job.error, job.state = AskError("mistake", text), "failed"
        except Exception as error:  # a bug of ours must not leave a page waiting for ever
            job.error, job.state = AskError("fault", fault(error)), "failed"


def fault(error: BaseException) -> str:
    """Return what is said of a mistake of ours."""
    return f"This is a mistake in tripletree, not yours ({type(error).__name__}: {error}). Please report it."
