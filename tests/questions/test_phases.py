from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tripletree.questions.story import MOSTLY, cut


def told(text: str, shortest: int = 3, most: int = 99) -> list[tuple[str, int, int]]:
    """Cut a sequence of letters; return (letters, steps, interruptions) of each stretch."""
    found = cut(np.array([ord(letter) for letter in text]), shortest, most)
    return [("".join(map(chr, s.codes)), s.end - s.begin, s.interruptions) for s in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("aaaabbb", [("a", 4, 0), ("b", 3, 0)]),
        ("a", [("a", 1, 0)]),
        ("ab", [("ab", 2, 0)]),
        # One short run interrupts; what is the same on both sides of it is one phase.
        ("aaaabaaaa", [("a", 9, 1)]),
        ("aaaabbcccc", [("a", 6, 1), ("c", 4, 0)]),
        ("baaaa", [("a", 5, 1)]),
        # Several short ones in a row alternate.
        ("aaaabababbcccc", [("a", 4, 0), ("ba", 6, 0), ("c", 4, 0)]),
        ("ababab", [("ab", 6, 0)]),
        # The end is told, however short.
        ("aaaab", [("a", 4, 0), ("b", 1, 0)]),
        ("aaaabcb", [("a", 4, 0), ("bc", 3, 0)]),
    ],
)
def test_cutting(text, expected):
    assert told(text) == expected


def test_a_behaviour_with_nearly_all_the_steps_is_not_said_to_alternate():
    assert told("ccccccaaaaabaaaaabaaaaacccccc", shortest=6) == [("c", 6, 0), ("a", 17, 2), ("c", 6, 0)]


@pytest.mark.parametrize(
    ("middle", "expected"),
    [
        ("aaaabaaaab", ("a", 10, 2)),  # eight steps of ten
        ("aaaabaaabb", ("ab", 10, 0)),  # seven of ten
        ("aaaab" * 3, ("a", 15, 3)),  # twelve of fifteen
        ("aaaabaaaabaaabb", ("ab", 15, 0)),  # eleven of fifteen
    ],
)
def test_a_behaviour_has_nearly_all_steps_from_four_fifths_on(middle, expected):
    assert told(f"cccccc{middle}cccccc", shortest=5) == [("c", 6, 0), expected, ("c", 6, 0)]


def test_with_length_one_every_run_is_a_phase():
    assert told("abba", shortest=1) == [("a", 1, 0), ("b", 2, 0), ("a", 1, 0)]


def test_too_many_phases_are_told_more_coarsely():
    text = "".join(letter * n for letter, n in zip("abcabcabcabc", (9, 3, 3, 9, 4, 4, 3, 3, 3, 3, 3, 20), strict=True))
    assert len(told(text)) == 12
    coarse = told(text, most=4)
    assert len(coarse) <= 4
    assert coarse[-1][0] == "c"


@given(
    text=st.text("abc", min_size=1, max_size=80),
    shortest=st.integers(1, 9),
    most=st.integers(1, 6),
)
def test_stretches_tile_the_steps_and_drop_no_long_run(text, shortest, most):
    codes = np.array([ord(letter) for letter in text])
    found = cut(codes, shortest, most)
    assert found[0].begin == 0
    assert found[-1].end == len(text)
    assert all(one.end == other.begin for one, other in pairwise(found))
    assert len(found) <= most or len(found) == 2  # the end may need one of its own
    assert ord(text[-1]) in found[-1].codes or found[-1].interruptions
    for one in found:
        assert len(set(one.codes)) == len(one.codes) == len(one.shares)
        assert sum(one.shares) == pytest.approx(1)
        # A phase begins with a change of behaviour.
        assert one.begin == 0 or codes[one.begin] != codes[one.begin - 1]
        if len(one.codes) == 1 and not one.interruptions:
            assert set(codes[one.begin : one.end]) == set(one.codes)
        if len(one.codes) > 1:
            assert max(one.shares) < MOSTLY
    for one in cut(codes, shortest, 99):
        runs = np.split(codes[one.begin : one.end], np.flatnonzero(np.diff(codes[one.begin : one.end])) + 1)
        long = {int(run[0]) for run in runs if len(run) >= shortest}
        assert long <= set(one.codes)
