"""Growth tells how far it is, and stops when asked to."""

from __future__ import annotations

import signal
import threading

import numpy as np
import pytest

from tests.reference.columns import Grid
from tests.tree.problems import Problem, kernel_grow, random_problem
from tripletree import _kernel


class StopError(Exception):
    """Raised by the callbacks of these tests."""


def endless() -> tuple[Problem, np.ndarray]:
    """Return noise that takes many seconds to split to the end."""
    rng = np.random.default_rng(0)
    states = rng.normal(size=(400_000, 6))
    rows = np.zeros((len(states), 16), np.int32)
    rows[:, :11] = rng.integers(-(2**18), 2**18, (len(states), 11))
    codes = _kernel.encode(states, 256, 2)
    return Problem(states, Grid(rows, 11, 0, 1.0)), codes


@pytest.fixture(scope="module")
def slow() -> tuple[Problem, np.ndarray]:
    return endless()


@pytest.mark.parametrize("threads", [1, 2])
def test_what_progress_raises_comes_out(slow, threads):
    calls = []

    def progress(leaves: int, most: int) -> None:
        calls.append((leaves, most))
        if len(calls) == 3:
            raise StopError("enough")

    with pytest.raises(StopError, match="enough"):
        kernel_grow(*slow, threads, progress)
    assert len(calls) == 3
    assert calls[-1][0] < 100_000  # far from the end


@pytest.mark.parametrize("threads", [1, 2])
def test_control_c_stops_growth(slow, threads):
    # A timer signal whose handler does what Ctrl-C does; unlike Ctrl-C it cannot hit the test runner later.
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(KeyboardInterrupt):
            kernel_grow(*slow, threads)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_control_c_stops_encoding():
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    states = np.random.default_rng(0).normal(size=(500_000, 20))
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.02)
        with pytest.raises(KeyboardInterrupt):
            _kernel.encode(states, 256, 1)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_other_threads_run_meanwhile(slow):
    seen = []
    stop = threading.Event()

    def count() -> None:
        while not stop.wait(0.005):
            seen.append(1)

    def progress(_: int, __: int) -> None:
        if len(seen) > 10:
            raise StopError("the other thread ran")

    other = threading.Thread(target=count)
    other.start()
    try:
        with pytest.raises(StopError, match="ran"):
            kernel_grow(*slow, 1, progress)
    finally:
        stop.set()
        other.join()


def test_progress_ends_with_the_final_count():
    problem = random_problem(np.random.default_rng(3), 200, 2, 10)
    problem.options = {"max_leaves": 10}
    calls: list[tuple[int, int]] = []
    codes = _kernel.encode(problem.states, 256, 1)
    grown = kernel_grow(problem, codes, 1, lambda leaves, most: calls.append((leaves, most)))
    assert calls[-1] == ((len(grown.left) + 1) // 2, 10)
    assert calls == sorted(calls)
