"""The page that follows one question through the rooms names the modules that the question really visits."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tests.test_api import quietly_fitted
from tripletree.demos import road

PAGE = (Path(__file__).parents[1] / "docs" / "one-question.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| \d+ \| ([\w ]+) \| `([\w.]+)` \|", PAGE, re.MULTILINE)


@pytest.fixture(scope="module")
def visited():
    """The modules of the package in which a function was called, in the order of the first call."""
    log = road.record("left", n_samples=10_000)
    tree = quietly_fitted(log, max_leaves=200, theta=(0.2, 0.6, 0.2), truncation="paper")
    found: dict[str, None] = {}

    def note(frame, event, _):
        name = frame.f_globals.get("__name__", "")
        if event == "call" and name.startswith("tripletree."):
            found.setdefault(name)

    sys.setprofile(note)
    try:
        str(tree.explain("pos=1.2, speed=0.03", "acc = -0.001"))
    finally:
        sys.setprofile(None)
    return list(found)


def test_the_page_names_every_module_that_is_visited(visited):
    assert set(visited) == set(re.findall(r"`(tripletree(?:\.\w+)+)`", PAGE))


def test_the_rows_are_in_the_order_of_the_visits(visited):
    # A module may come twice on the page: the search follows the reading of its arguments.
    first = list(dict.fromkeys(name for _, name in ROWS))
    assert [name for name in visited if name in first] == first


def test_every_row_names_the_room_of_its_module():
    assert len(ROWS) > 10
    assert all(name.split(".")[1] == room for room, name in ROWS if room != "front door")
