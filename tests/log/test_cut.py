"""Row pointers: chains in any order against a walk along them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tripletree.errors import LogError
from tripletree.log import Log


def make(rows: int, **pointers: Any) -> Log:
    return Log.from_dict(
        {"x": np.arange(rows) + 0.5, "action": [0] * rows, "reward": [0] * rows} | pointers,
    )


@given(
    lengths=st.lists(st.integers(1, 6), min_size=1, max_size=6), seed=st.integers(0, 99), which=st.sampled_from("pnb")
)
def test_pointers_in_any_order(lengths: list[int], seed: int, which: str) -> None:
    n = sum(lengths)
    place = np.random.default_rng(seed).permutation(n)  # where each step of the true order stands in the file
    previous, following = np.full(n, -1), np.full(n, -1)
    first_rows = []
    t = 0
    for length in lengths:
        first_rows.append(int(place[t]))
        for k in range(t, t + length - 1):
            following[place[k]], previous[place[k + 1]] = place[k + 1], place[k]
        t += length
    pointers = {"prev": previous} if which == "p" else {"next": following} if which == "n" else {}
    log = make(n, **(pointers or {"prev": previous, "next": following}))
    walks = []
    for row in sorted(first_rows):
        walk = []
        while row >= 0:
            walk.append(row)
            row = int(following[row])
        walks.append(walk)
    found = [(log.states[a:b, 0] - 0.5).tolist() for a, b in zip(log.starts, log.starts[1:], strict=False)]
    assert found == walks


def test_missing_pointers_may_be_blank() -> None:
    assert make(3, prev=[np.nan, 0, np.nan]).starts.tolist() == [0, 2, 3]


@pytest.mark.parametrize(
    ("pointers", "message"),
    [
        ({"prev": [2, 0, 1], "next": [1, 2, 0]}, "The row pointers run in a circle"),
        ({"prev": [-1, 0, 0]}, "The row pointers contradict each other"),
        ({"prev": [-1, -1, -1], "next": [1, -1, -1]}, "contradict each other: row 0 points to row 1"),
        ({"prev": [-1, 0, -1], "next": [-1, -1, -1]}, "contradict each other"),
        ({"next": [1, 3, -1]}, "next-row pointer of row 1 is 3; -1 to 2 are allowed"),
        ({"next": [1, 0.5, -1]}, "next-row pointer of row 1 is 0.5"),
        ({"next": [-2, -1, -1]}, "next-row pointer of row 0 is -2"),
        ({"next": ["a", "b", "c"]}, "`next_row` holds text"),
    ],
)
def test_wrong_pointers(pointers: dict[str, Any], message: str) -> None:
    with pytest.raises(LogError, match=message):
        make(3, **pointers)
