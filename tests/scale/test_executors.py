"""Executors: threads end with the piece that they are at, not with their task."""

from __future__ import annotations

import threading
from concurrent.futures import CancelledError
from contextlib import suppress

from tripletree.scale.executors import Threads


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
        with suppress(CancelledError):
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
