"""Levels: what numbers mean in words, and the class of every leaf."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from tests.logs import make_log, random_log
from tests.questions.trees import random_fitted
from tests.test_api import quietly_fitted
from tripletree import ParameterError
from tripletree.asking.attribute import read_attribute
from tripletree.asking.levels import log_classes, log_levels, read_levels


def valued(values, counts=None):
    """A tree whose leaves, from left to right, have these values and counts."""
    n = len(values)
    fitted = random_fitted(0, 1, n, real=True)
    assert fitted.tree.n_leaves == n
    at, nodes = fitted.attributes, fitted.tree.leaf_nodes
    mean, count = at.value_mean.copy(), at.count.copy()
    mean[nodes], count[nodes] = values, 10 if counts is None else counts
    return replace(fitted, attributes=replace(at, value_mean=mean, count=count))


def levels(fitted, wanted, about="value"):
    (found,) = read_levels(fitted, read_attribute(fitted, about), wanted).columns
    return found


@pytest.mark.parametrize(
    ("values", "counts", "wanted", "edges", "classes"),
    [
        # As many samples on either side; between the leaves a short number near the middle.
        ([1, 2, 4, 5], [10] * 4, 2, (3.0,), [0, 0, 1, 1]),
        ([1, 2, 3, 4], [70, 10, 10, 10], 2, (2.0,), [0, 1, 1, 1]),
        ([5, 1, 4, 2], [10] * 4, 2, (3.0,), [1, 0, 1, 0]),
        ([1, 2, 4, 5, 7, 8], [10] * 6, 3, (3.0, 6.0), [0, 0, 1, 1, 2, 2]),
        ([-1, -0.5, 0.5, 1], [10] * 4, 2, (0.0,), [0, 0, 1, 1]),
        # Fewer levels when there are fewer leaves between which to cut.
        ([1, 2], [10] * 2, 9, (2.0,), [0, 1]),
        ([1, 1, 1], [10] * 3, 3, (), [0, 0, 0]),
        # An end belongs to the level above it.
        ([0, 1, 2], [10] * 3, [1.0], (1.0,), [0, 1, 1]),
        ([0, 1, 2], [10] * 3, [1.5, 7], (1.5, 7.0), [0, 0, 1]),
    ],
)
def test_where_levels_end_and_which_leaves_they_hold(values, counts, wanted, edges, classes):
    found = levels(valued(values, counts), wanted)
    assert found.edges == edges
    assert found.leaves.tolist() == classes
    assert len(found.names) == len(edges) + 1


@pytest.mark.parametrize(
    ("ends", "texts", "names"),
    [
        ([1.5], ["low (< 1.5)", "high (>= 1.5)"], ["low", "high"]),
        ([1, 2], ["low (< 1)", "medium (1 to 2)", "high (>= 2)"], ["low", "medium", "high"]),
        ([1, 2, 3], ["< 1", "1 to 2", "2 to 3", ">= 3"], ["< 1", "1 to 2", "2 to 3", ">= 3"]),
        (["bad", 1.5, "good"], ["bad (< 1.5)", "good (>= 1.5)"], ["bad", "good"]),
        (["no", -1, "so so", 1, "yes"], ["no (< -1)", "so so (-1 to 1)", "yes (>= 1)"], ["no", "so so", "yes"]),
    ],
)
def test_levels_have_words(ends, texts, names):
    found = levels(valued(range(4)), ends)
    assert (list(found.texts), list(found.names)) == (texts, names)


def test_values_and_changes_are_told_at_short_numbers():
    found = levels(valued([-312.4, -51.7, 3.2, 118.9, 207.1, 255.5]), "auto")
    assert (found.edges, found.names) == ((-50.0, 210.0), ("low", "medium", "high"))
    assert levels(valued([1.0, 1.0, 1.0]), "auto").names == ("the same",)
    log = random_log(3, lengths=(200, 200))
    change = levels(quietly_fitted(log).fitted_, "auto", "derivative of x0")
    assert change.names == ("negative", "near 0", "positive")
    assert change.edges[0] == -change.edges[1]
    assert change.edges[1] == float(f"{change.edges[1]:.1g}")


def test_levels_from_two_to_nine_may_be_asked_for():
    fitted = valued(range(12))
    assert len(levels(fitted, 2).names) == 2
    assert len(levels(fitted, 9).names) == 9
    for wrong in (1, 10):
        with pytest.raises(
            ParameterError, match=rf"levels must be a whole number from 2 to 9; got {wrong}. Try levels=3."
        ):
            levels(fitted, wrong)
    # Ends of one's own may be as many as one likes.
    assert len(levels(fitted, list(range(1, 11))).names) == 11
    for wrong in ([], [2, 1], [1, 1], [1, math.inf], ["a"], ["a", 1], ["a", 1, "a"], ["a", "b", 1], 2.5, "abc", True):
        with pytest.raises(
            ParameterError, match='levels must be "auto", a whole number from 2 to 9, or increasing num'
        ):
            levels(fitted, wrong)
    with pytest.raises(ParameterError, match=r"levels has 'valu', but this question is about `?value`?\. Did you mean"):
        levels(fitted, {"valu": [1]})


def test_every_combination_of_levels_is_a_class():
    fitted = random_fitted(3, 2, 8, discrete=False)
    found = read_levels(fitted, read_attribute(fitted, "action"), [0.0])
    assert found.names == (
        "Main low (< 0) and side low (< 0)",
        "Main low (< 0) and side high (>= 0)",
        "Main high (>= 0) and side low (< 0)",
        "Main high (>= 0) and side high (>= 0)",
    )
    main, side = fitted.leaves.action_mean.T
    assert found.leaves.tolist() == (2 * (main >= 0) + (side >= 0)).tolist()


def test_labels_are_their_own_classes():
    fitted = random_fitted(3, 2, 8)
    found = read_levels(fitted, read_attribute(fitted, "action"), 3)
    assert found.names == ("Action = left", "Action = right", "Action = brake")
    assert (found.columns[0].edges, found.leaves.tolist()) == ((), fitted.leaves.mode.tolist())


def test_what_a_log_shows_at_each_step():
    log = make_log(
        [[0.0], [1.0], [3.0], [2.0]],
        [0.5, 1.5, 2.5, 0.0],
        [1.0, 2.0, 3.0, 4.0],
        [0, 2, 4],
        final_states=[[4.0], [np.nan]],
    )
    fitted = quietly_fitted(log, gamma=0.0).fitted_

    def shown(about, ends):
        found = read_levels(fitted, read_attribute(fitted, about), ends)
        return log_classes(fitted, found, log).tolist()

    assert shown("a0", [0.5, 2]) == [1, 1, 2, 0]
    assert shown("value", [2, 4]) == [0, 1, 1, 2]
    # Changes: 1, then 3 into the final state, then -1; what follows the last step nobody knows.
    assert shown("derivative of x0", [0, 3]) == [1, 2, 0, -1]


def test_labels_that_the_tree_does_not_know_have_no_class():
    log = random_log(1, labels=3)
    fitted = quietly_fitted(log, max_leaves=5).fitted_
    found = read_levels(fitted, read_attribute(fitted, "action"), 3)
    other = make_log(log.states[:3], [0, 1, 2], [0, 0, 0], labels=("b", "z", "a"))
    assert log_classes(fitted, found, other).tolist() == [1, -1, 0]


def test_each_dimension_may_have_its_own_levels():
    fitted = random_fitted(3, 2, 8, discrete=False)
    found = read_levels(fitted, read_attribute(fitted, "action"), {"side": ["left", 0, "right"], "main": [-0.1, 0.1]})
    assert [column.names for column in found.columns] == [("low", "medium", "high"), ("left", "right")]
    assert found.names[1] == "Main low (< -0.1) and side right (>= 0)"
    assert found.parts(5) == (2, 1)
    assert found.joined(np.array([[2, 1], [0, -1]])).tolist() == [5, -1]


def off_or_on(seed=0, n=4000):
    """A log whose action is often just above 0 in a leaf where it is mostly below."""
    rng = np.random.default_rng(seed)
    states = rng.uniform(-1, 1, (n, 1))
    skewed = np.where(rng.random(n) < 0.7, -0.1, 0.9)
    action = np.where(states[:, 0] < 0, skewed, 0.8) + rng.normal(0, 0.01, n)
    return make_log(states, action, np.zeros(n), np.arange(0, n + 1, 100))


def test_a_leaf_says_its_commonest_level_and_not_that_of_its_mean():
    log = off_or_on()
    fitted = quietly_fitted(log, theta=(1, 0, 0), max_leaves=2).fitted_
    mean = fitted.leaves.action_mean[:, 0]
    found = levels(fitted, "auto", "a0")
    left = int(fitted.tree.apply(np.array([[-0.5]]))[0])
    assert mean[left] > 0.1
    assert found.edges[0] < mean[left], "so the mean would be in the higher level"
    assert (found.leaves[left], found.leaves[1 - left]) == (0, len(found.edges))
    # The number that stands for the leaf lies in its level, so that changes can be explained by it.
    assert found.attribute.leaves[left] < found.edges[0] < found.attribute.leaves[1 - left]
    assert log_levels(fitted, read_levels(fitted, read_attribute(fitted, "a0")), log).shape == (log.n_samples, 1)


def test_levels_are_those_of_the_log_also_in_a_smaller_tree_and_after_saving(tmp_path):
    tree = quietly_fitted(off_or_on(), max_leaves=20)
    tree.save(tmp_path / "a.tripletree")
    for fitted in (tree.fitted_, tree.truncate(2).fitted_, type(tree).load(tmp_path / "a.tripletree").fitted_):
        found = levels(fitted, "auto", "a0")
        assert found.edges == levels(tree.fitted_, "auto", "a0").edges
        assert found.how == "number"
        assert len(found.leaves) == fitted.tree.n_leaves
        assert 0.7 < found.agreement < 1


@pytest.mark.parametrize(
    "kept",
    [
        None,
        [],
        {"a0": None},
        {"a0": {"edges": [1, 0], "names": [], "nodes": "000"}},
        {"a0": {"edges": [0], "names": ["a"], "nodes": "000"}},
        {"a0": {"edges": [0], "names": ["a", "b"], "nodes": "090"}},
        {"a0": {"edges": [0], "names": ["a", "b"], "nodes": "0"}},
        {"a0": {"edges": [0], "names": ["a", "b"], "nodes": "0²0"}},
        {"a0": {"edges": [0], "names": ["a", 3], "nodes": "000"}},
        {"a0": {"edges": ["x"], "names": ["a", "b"], "nodes": "000"}},
        {"a0": {"edges": [0], "names": ["a", "b"], "nodes": "000", "agreement": "all"}},
    ],
)
def test_a_file_that_does_not_know_its_levels_has_levels_of_its_leaves(kept):
    fitted = quietly_fitted(off_or_on(), theta=(1, 0, 0), max_leaves=2).fitted_
    old = replace(fitted, provenance={**fitted.provenance, "levels": kept})
    found = levels(old, "auto", "a0")
    assert found.agreement is None
    assert len(found.names) == len(found.edges) + 1
    assert found.leaves.tolist() == np.searchsorted(found.edges, old.leaves.action_mean[:, 0], side="right").tolist()
