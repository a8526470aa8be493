"""Words that agree with their numbers."""

from __future__ import annotations

import numpy as np
import pytest

from tripletree.text import count, plural, some_of


@pytest.mark.parametrize(("number", "expected"), [(0, "rows"), (1, "row"), (2, "rows"), (-1, "rows"), (1_000, "rows")])
def test_most_words_take_an_s(number, expected):
    assert plural(number, "row") == expected


def test_other_words_are_given():
    assert [plural(number, "leaf", "leaves") for number in (0, 1, 2)] == ["leaves", "leaf", "leaves"]
    assert [plural(number, "has", "have") for number in (0, 1, 2)] == ["have", "has", "have"]


@pytest.mark.parametrize(
    ("number", "expected"), [(0, "0 errors"), (1, "1 error"), (2, "2 errors"), (1_234_567, "1,234,567 errors")]
)
def test_counts(number, expected):
    assert count(number, "error") == expected


def test_counts_of_whole_phrases():
    assert count(1, "episode has", "episodes have") == "1 episode has"
    assert count(41, "episode has", "episodes have") == "41 episodes have"


def test_numpy_counts_too():
    assert count(np.int64(1), "row") == "1 row"
    assert count(np.array([True, True]).sum(), "row") == "2 rows"


@pytest.mark.parametrize(
    ("number", "expected"),
    [(0, ""), (1, "0"), (3, "0, 1, 2"), (4, "0, 1, 2, 3"), (5, "0, 1, 2 and 2 more"), (2003, "0, 1, 2 and 2,000 more")],
)
def test_long_lists_are_cut(number, expected):
    assert some_of([str(k) for k in range(number)], 3) == expected
