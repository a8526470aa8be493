"""Workers: results in order, errors and warnings as in one process, nobody left behind."""

from __future__ import annotations

import multiprocessing
import os
import re
import signal
import subprocess
import sys
import textwrap
import threading
import warnings

import pytest

from tripletree.errors import ParameterError, TripleTreeError, TripleTreeWarning
from tripletree.policy import workers
from tripletree.policy.workers import can_fork, in_order
from tripletree.text import Message, Option

pytestmark = pytest.mark.skipif(not can_fork(), reason="processes cannot be copied here")


@pytest.fixture(autouse=True)
def nobody_left():
    yield
    assert multiprocessing.active_children() == []


@pytest.mark.parametrize("number", [1, 2, 3, 9])
def test_results_are_in_order_for_any_number_of_workers(number):
    seen = []
    found = in_order(lambda: lambda i: (i, i**2), 7, number, lambda done, most: seen.append((done, most)))
    assert found == [(i, i**2) for i in range(7)]
    assert seen == [(i, 7) for i in range(1, 8)]


def test_every_process_begins_once_and_works_in_a_process_of_its_own():
    def begin():
        begun = []
        return lambda i: (os.getpid(), begun.append(i) or len(begun))

    found = in_order(begin, 20, 2)
    assert {pid for pid, _ in found}.isdisjoint({os.getpid()})
    for pid in {pid for pid, _ in found}:
        numbers = [number for one, number in found if one == pid]
        assert numbers == list(range(1, len(numbers) + 1))
    assert {pid for pid, _ in in_order(begin, 3, 1)} == {os.getpid()}


class Stubborn(Exception):
    """An error that cannot be sent: its constructor wants more than its text."""

    def __init__(self, one, two):
        super().__init__(f"{one} and {two}")


def failing(error):
    def work(i):
        if i == 3:
            raise error
        return i

    return lambda: work


@pytest.mark.parametrize("number", [1, 2])
def test_errors_are_raised_as_they_were(number):
    message = Message("{} is wrong.", Option("agent"))
    with pytest.raises(ParameterError, match=r"^agent is wrong\.$") as caught:
        in_order(failing(ParameterError(message)), 6, number)
    assert caught.value.args[0].worded(lambda option: f"--{option.name}") == "--agent is wrong."
    with pytest.raises(ZeroDivisionError, match=r"^by zero") as broken:
        in_order(failing(ZeroDivisionError("by zero")), 6, number)
    assert number == 1 or "In a worker process:" in broken.value.__notes__[0]


def test_an_error_that_cannot_be_sent_says_the_same():
    with pytest.raises(RuntimeError, match=r"^Stubborn: one and two$"):
        in_order(failing(Stubborn("one", "two")), 6, 2)
    with pytest.raises(ValueError, match="no beginning"):
        in_order(lambda: (_ for _ in ()).throw(ValueError("no beginning")), 6, 2)


def test_warnings_come_once():
    def work(i):
        warnings.warn(TripleTreeWarning("mind the gap"), stacklevel=1)
        return i

    with pytest.warns(TripleTreeWarning, match="mind the gap") as told:
        assert in_order(lambda: work, 6, 2) == list(range(6))
    assert len(told) == 1


def test_a_worker_that_dies_is_an_error():
    with pytest.raises(TripleTreeError, match=re.escape("ended by itself (exit code 7). Is there enough memory?")):
        in_order(lambda: lambda i: os._exit(7), 4, 2)


def test_an_interrupt_ends_all_of_them():
    def progress(done, most):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        in_order(lambda: lambda i: i, 50, 2, progress)


def test_ctrl_c_in_a_terminal_reaches_the_user_alone(tmp_path):
    script = textwrap.dedent("""
        import signal, sys, threading
        signal.signal(signal.SIGINT, signal.default_int_handler)
        from tripletree.policy.workers import in_order
        wait = threading.Event()
        def work(i):
            if i > 1:
                wait.wait(60)
            return i
        def progress(done, most):
            if done == 2:
                print("flying", flush=True)
        try:
            in_order(lambda: work, 10, 2, progress)
        except KeyboardInterrupt:
            print("stopped", flush=True)
        import multiprocessing
        print(len(multiprocessing.active_children()))
    """)
    with subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout.readline() == "flying\n"
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all of them
        out, err = process.communicate(timeout=30)
    assert (out, err) == ("stopped\n0\n", "")


def test_copies_have_one_thread_of_torch(monkeypatch):
    class Torch:
        threads = 4
        cuda = type("cuda", (), {"is_initialized": staticmethod(lambda: False)})

        @classmethod
        def get_num_threads(cls):
            return cls.threads

        @classmethod
        def set_num_threads(cls, number):
            cls.threads = number

    monkeypatch.setitem(sys.modules, "torch", Torch)
    assert in_order(lambda: lambda i: Torch.threads, 3, 1) == [1, 1, 1]
    assert Torch.threads == 4
    assert in_order(lambda: lambda i: Torch.threads, 3, 2) == [1, 1, 1]
    assert Torch.threads == 4
    assert can_fork()
    Torch.cuda.is_initialized = staticmethod(lambda: True)
    assert not can_fork()


def test_who_cannot_be_copied_works_alone(monkeypatch):
    monkeypatch.setattr(workers.multiprocessing, "get_all_start_methods", lambda: ["spawn"])
    assert not can_fork()


def test_a_thread_beside_it_does_no_harm():
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    try:
        assert in_order(lambda: lambda i: i, 4, 2) == [0, 1, 2, 3]
    finally:
        done.set()
        thread.join()
