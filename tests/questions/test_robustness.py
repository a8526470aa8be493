"""Robustness: the same as the definition says, and final: whatever is decided stays so when the episode goes on."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.questions.formulas import Slow, formulas, logs, make
from tripletree.language.requirement import read_requirement
from tripletree.questions.robustness import TINY, Places, Scale, bounds, extreme, scale_of, witness

PLAIN = Scale("", None)


def same(margin: float, truth: tuple[float, bool]) -> bool:
    """Whether a margin is a pair (number, whether it is met)."""
    number, held = truth
    return (margin > 0) == held and (margin == number or (number == 0 and abs(margin) == TINY))


@given(logs(), formulas(), st.booleans())
@settings(max_examples=250)
def test_margins_are_those_of_the_definition(log, formula, as_recorded):
    places = Places(log, as_recorded)
    found = bounds(places, formula, PLAIN)
    for e in range(log.n_episodes):
        slow = Slow(log.select([e]), as_recorded)
        for place in range(slow.last(formula) + 1):
            at = places.begin[e] + place
            assert same(float(found.low[at]), slow.margin(formula, place, False))
            assert same(float(found.high[at]), slow.margin(formula, place, True))


@given(logs(seconds=True), formulas(seconds=True))
@settings(max_examples=150)
def test_windows_in_seconds_are_those_of_the_definition(log, formula):
    places = Places(log)
    found = bounds(places, formula, PLAIN)
    for e in range(log.n_episodes):
        slow = Slow(log.select([e]))
        at = places.begin[e]
        assert same(float(found.low[at]), slow.margin(formula, 0, False))
        assert same(float(found.high[at]), slow.margin(formula, 0, True))


@given(logs(episodes=1, longest=12), formulas(), st.data())
@settings(max_examples=250)
def test_what_is_decided_stays_so_when_the_episode_goes_on(log, formula, data):
    whole = bounds(Places(log), formula, PLAIN)
    n = data.draw(st.integers(1, log.n_samples))
    beginning = cut(log, n, data.draw(st.booleans()), data.draw(st.sampled_from([0, 2])))
    known = bounds(Places(beginning), formula, PLAIN)
    assert known.low[0] <= whole.low[0] <= whole.high[0] <= known.high[0]
    if known.low[0] > 0:
        assert whole.low[0] > 0
    if known.high[0] < 0:
        assert whole.high[0] < 0


def cut(log, n, with_final, ending):
    """Return the first steps of an episode, as if the recording had been cut off there."""
    following = np.vstack([log.states, log.final_states])[n]
    final = following if with_final or n == log.n_samples else np.full(3, np.nan)
    return make(log.states[:n], log.actions[:n], log.rewards[:n], [n], [final], [ending])


@given(logs(), formulas(), st.sampled_from([0, 1]))
@settings(max_examples=200)
def test_a_witness_has_the_margin_that_it_explains(log, formula, which):
    places, keep = Places(log), {}
    found = bounds(places, formula, PLAIN, keep)
    for e, begin in enumerate(places.begin):
        margin = found.of(which)[begin]
        one = witness(places, formula, keep, which, int(begin))
        assert begin <= one.place <= places.last(True)[e]
        if math.isfinite(margin):
            assert abs(margin) in [abs(bound[one.place]) for bound in (keep[one.atom].low, keep[one.atom].high)]


@given(st.lists(st.integers(-9, 9), min_size=1, max_size=40), st.data(), st.booleans())
def test_extremes_of_windows_by_hand(values, data, every):
    n = len(values)
    left = np.array(data.draw(st.lists(st.integers(0, n - 1), min_size=n, max_size=n)))
    right = np.array([data.draw(st.integers(max(low - 2, 0), n - 1)) for low in left])
    numbers = np.array(values, float)
    found = extreme(numbers, left, right, every)
    for k in range(n):
        inside = numbers[left[k] : right[k] + 1]
        expected = (inside.min() if every else inside.max()) if len(inside) else (math.inf if every else -math.inf)
        assert found[k] == expected


def test_margins_have_a_unit_where_all_numbers_have_the_same_and_are_parts_of_ranges_where_not():
    log = make([[0, -4, 0], [2, 4, 1]], [0, 1], [0, 1], [2], [[2, 4, 1]], [1])
    one = read_requirement("always (a > 0.5 or c)", log.schema)
    assert scale_of(log, one) == Scale("", None)
    both = read_requirement("always (a < 5 and b < 6)", log.schema)
    scale = scale_of(log, both)
    assert scale.ranges == {"a": 2.0, "b": 8.0}
    assert bounds(Places(log), both, scale).low[0] == (6 - 4) / 8
    # Scales do not change who wins at a bound.
    assert bounds(Places(log), read_requirement("always (b <= 4 and a < 5)", log.schema), scale).low[0] == TINY


@pytest.mark.parametrize(
    ("sign", "met"), [("<", False), ("<=", True), (">", False), (">=", True), ("=", True), ("!=", False)]
)
def test_a_number_at_its_bound(sign, met):
    log = make([[1, 0, 0]], [0], [0], [1], [[np.nan] * 3], [1])
    found = bounds(Places(log), read_requirement(f"always (a {sign} 1)", log.schema), PLAIN)
    assert found.low[0] == (TINY if met else -TINY)
    opposite = bounds(Places(log), read_requirement(f"never (a {sign} 1)", log.schema), PLAIN)
    assert opposite.low[0] == -found.low[0]


def test_huge_numbers_have_finite_margins():
    log = make([[-1.7e308, 0, 0]], [0], [0], [1], [[np.nan] * 3], [1])
    found = bounds(Places(log), read_requirement("always (a > 1e308)", log.schema), PLAIN)
    assert found.low[0] == -np.finfo(float).max
