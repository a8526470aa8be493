"""The search for a short list of rules, against brute force and against scikit-learn's trees."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

from tripletree import _kernel
from tripletree.questions.rule_search import Bound, Clause, RuleSet, candidates, search, short_step, thinned, unrounded


def right(found, states, classes):
    return int((found.said(states) == classes).sum())


def best_single(states, classes, thresholds):
    """The most that one rule with one bound, and "else", can put right: every one of them tried."""
    size = int(classes.max()) + 1
    best = int(np.bincount(classes).max())
    for f, ends in enumerate(thresholds):
        for place, above, says, default in product(range(len(ends)), (False, True), range(size), range(size)):
            tried = RuleSet((Clause((Bound(f, place, above),), says),), default, thresholds)
            best = max(best, right(tried, states, classes))
    return best


@given(seed=st.integers(0, 9999), features=st.integers(1, 3), labels=st.integers(2, 4))
def test_one_rule_is_at_least_as_good_as_the_best_with_one_bound(seed, features, labels):
    rng = np.random.default_rng(seed)
    states = rng.integers(0, 5, (60, features)).astype(float)
    classes = rng.integers(0, labels, 60)
    thresholds = tuple(np.arange(0.5, 4) for _ in range(features))
    found = search(states, classes, thresholds, 1)
    assert len(found.rules) <= 1
    # A bound must put one sample right, and a rule two, to be worth reading.
    assert right(found, states, classes) >= best_single(states, classes, thresholds) - 3


@pytest.mark.parametrize("seed", range(5))
def test_planted_rules_are_found(seed):
    rng = np.random.default_rng(seed)
    states = rng.uniform(-1, 1, (3000, 4))
    a, b, c, _ = states.T
    classes = np.where((a >= 0.2) & (b < 0.5), 1, np.where((c < -0.3) & (b >= -0.5), 2, 0))
    thresholds = candidates(states, np.zeros(4, bool), [np.zeros(0)] * 4)
    found = search(states, classes, thresholds, 7)
    assert right(found, states, classes) / 3000 > 0.975
    assert all(1 <= len(rule.bounds) <= 3 for rule in found.rules)


@pytest.mark.parametrize("seed", range(4))
def test_seven_rules_beat_a_tree_of_depth_three(seed):
    rng = np.random.default_rng(seed)
    states = rng.normal(size=(6000, 6))
    classes = (np.sin(2 * states[:, 0]) + states[:, 1] * states[:, 2] > 0).astype(int) + (states[:, 3] > 1)
    train, test = slice(0, 4000), slice(4000, None)
    found = search(states[train], classes[train], candidates(states[train], np.zeros(6, bool), [np.zeros(0)] * 6), 7)
    tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(states[train], classes[train])
    assert right(found, states[test], classes[test]) / 2000 > tree.score(states[test], classes[test])


def test_candidates_are_short_and_inside_the_data():
    rng = np.random.default_rng(0)
    states = np.stack([rng.normal(0, 1, 900), rng.integers(0, 2, 900), np.ones(900), rng.integers(3, 9, 900)], axis=1)
    real, flag, same, whole = candidates(
        states, np.array([False, True, False, True]), [np.array([0.12345])] + [np.zeros(0)] * 3
    )
    assert {0.0, 0.1} <= set(np.round(real, 9))
    assert all(len(f"{number:g}") <= 5 for number in real)
    assert (flag.tolist(), same.tolist(), whole.tolist()) == ([0.5], [], [3.5, 4.5, 5.5, 6.5, 7.5])
    assert [short_step(size) for size in (0.0011, 0.013, 0.4, 7, 30)] == pytest.approx([0.001, 0.01, 0.5, 5, 20])


def test_one_class_needs_no_rule_and_thirty_can_be_told():
    states = np.arange(300.0)[:, None]
    none = search(states, np.zeros(300, int), (np.arange(10.0, 290, 10),), 7)
    assert (none.rules, none.default) == ((), 0)
    many = search(states, np.arange(300) // 10, (np.arange(10.0, 300, 10),), 7)
    assert right(many, states, np.arange(300) // 10) == 80, "seven of thirty, and one else"
    alone = search(states, np.arange(300) % 2, (np.zeros(0),), 7)
    assert alone.rules == ()


def test_unrounded_numbers_fit_at_least_as_well():
    rng = np.random.default_rng(0)
    states = rng.uniform(0, 1, (2000, 2))
    classes = (states[:, 0] > 0.3377).astype(int)
    rounded = search(states, classes, (np.arange(0.1, 1, 0.1), np.arange(0.1, 1, 0.1)), 3)
    free = unrounded(rounded, states, classes)
    assert right(free, states, classes) > right(rounded, states, classes)
    assert len(free.rules) == len(rounded.rules)


def test_the_first_rule_that_holds_counts():
    found = RuleSet((Clause((Bound(0, 0, True),), 1), Clause((Bound(0, 1, False),), 2)), 0, (np.array([0.0, 5.0]),))
    assert found.first(np.array([[-1.0], [0.0], [7.0]])).tolist() == [1, 0, 0]
    assert found.said(np.array([[-1.0], [0.0], [7.0]])).tolist() == [2, 1, 1]
    lower, upper = found.boxes(1)
    assert (lower.tolist(), upper.tolist()) == ([[0.0], [-np.inf]], [[np.inf], [5.0]])


def test_long_logs_are_thinned():
    assert len(range(1_000_000)[thinned(1_000_000, 8)]) <= 20_000
    assert len(range(1_000_000)[thinned(1_000_000, 50)]) <= 6_000
    assert len(range(500)[thinned(500, 50)]) == 500


@given(seed=st.integers(0, 9999), features=st.integers(0, 4), bins=st.integers(1, 9))
def test_gains_are_added_to_the_bins_of_their_rows(seed, features, bins):
    rng = np.random.default_rng(seed)
    keys = rng.integers(0, bins, (30, features)).astype(np.int32)
    rows, gains = rng.integers(0, 30, 50), rng.integers(-1, 2, 50).astype(float)
    expected = np.zeros(bins)
    for row, gain in zip(rows, gains, strict=True):
        np.add.at(expected, keys[row], gain)
    assert _kernel.gains(keys, rows, gains, bins).tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("keys", "rows", "gains", "told"),
    [
        ([[0, 3]], [0], [1.0], "no such bin"),
        ([[0, -1]], [0], [1.0], "no such bin"),
        ([[0, 1]], [1], [1.0], "no such row"),
        ([[0, 1]], [-1], [1.0], "no such row"),
        ([[0, 1]], [0, 0], [1.0], "must have a gain"),
    ],
)
def test_gains_outside_the_table_are_refused(keys, rows, gains, told):
    with pytest.raises(ValueError, match=told):
        _kernel.gains(np.array(keys, np.int32), np.array(rows), np.array(gains), 3)
