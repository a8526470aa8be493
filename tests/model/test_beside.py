"""Work beside other work."""

import threading

import numpy as np
import pytest

from tripletree.model.beside import beside


@pytest.mark.parametrize("threads", [1, 2])
def test_work_is_done_once_and_its_errors_are_those_of_whoever_asks(threads: int) -> None:
    done: list[int] = []
    with beside(threads) as start:
        first, wrong = start(lambda: done.append(1) or len(done)), start(lambda: 1 // 0)
        assert (first(), first(), done) == (1, 1, [1])
        with pytest.raises(ZeroDivisionError, match="zero"):
            wrong()


def test_with_threads_work_begins_before_somebody_asks_for_it() -> None:
    begun = threading.Event()
    with beside(2) as start:
        start(begun.set)
        assert begun.wait(10)
    with beside(1) as start:
        work = start(threading.Event)
        assert not work().is_set()


def test_numpy_keeps_what_it_does_about_large_numbers() -> None:
    with np.errstate(over="raise"), beside(2) as start:
        large = start(lambda: np.float64(1e308) * 10)
        with pytest.raises(FloatingPointError, match="overflow"):
            large()


def test_what_has_not_begun_is_left_when_something_goes_wrong() -> None:
    held, done = threading.Event(), threading.Event()

    def fail() -> None:
        with beside(2) as start:
            start(lambda: held.wait(10))
            start(done.set)
            threading.Timer(0.1, held.set).start()
            raise KeyboardInterrupt("stopped")

    with pytest.raises(KeyboardInterrupt, match="stopped"):
        fail()
    assert not done.is_set()
