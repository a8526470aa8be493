from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tripletree.asking.regions import settled
from tripletree.questions.story import cut


def told(text: str, shortest: int = 3, most: int = 99) -> list[str]:
    """Cut a sequence of letters into phases."""
    return [text[begin:end] for begin, end in cut(np.array([ord(letter) for letter in text]), shortest, most)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("aaaabbb", ["aaaa", "bbb"]),
        ("a", ["a"]),
        # What is the same on both sides of a brief visit is one phase.
        ("aaaabaaaa", ["aaaabaaaa"]),
        ("baaaa", ["baaaa"]),
    ],
)
def test_cutting(text, expected):
    assert told(text) == expected


def test_with_length_one_every_visit_is_a_phase():
    assert told("abba", shortest=1) == ["a", "bb", "a"]


def test_too_many_phases_are_told_more_coarsely():
    text = "".join(letter * n for letter, n in zip("abcabcabcabc", (9, 3, 3, 9, 4, 4, 3, 3, 3, 3, 3, 20), strict=True))
    assert len(told(text, shortest=1)) == 12
    coarse = told(text, shortest=1, most=4)
    assert 1 < len(coarse) <= 4
    assert set(coarse[-1][-20:]) == {"c"}


@given(text=st.text("abc", min_size=1, max_size=80), shortest=st.integers(1, 9), most=st.integers(1, 6))
def test_phases_tile_the_steps_and_are_few_enough(text, shortest, most):
    region = np.array([ord(letter) for letter in text])
    found = cut(region, shortest, most)
    assert found[0][0] == 0
    assert found[-1][1] == len(text)
    assert all(end == begin for (_, end), (begin, _) in pairwise(found))
    assert len(found) <= most
    # As they are without a limit where that is no more than allowed.
    calm = settled(region, np.array([0, len(region)]), shortest)
    first = [0, *(np.flatnonzero(np.diff(calm)) + 1).tolist()]
    if len(first) <= most:
        assert [begin for begin, _ in found] == first
