"""Levels: numbers sorted into low, medium and high, at short numbers between leaves."""

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
from tripletree.asking.levels import level_names, level_texts, log_classes, read_levels


def valued(values, counts=None):
    """A tree whose leaves, from left to right, have these values and counts."""
    n = len(values)
    fitted = random_fitted(0, 1, n, real=True)
    assert fitted.tree.n_leaves == n
    at, nodes = fitted.attributes, fitted.tree.leaf_nodes
    mean, count = at.value_mean.copy(), at.count.copy()
    mean[nodes], count[nodes] = values, 10 if counts is None else counts
    return replace(fitted, attributes=replace(at, value_mean=mean, count=count))


def levels(fitted, wanted):
    return read_levels(fitted, read_attribute(fitted, "value"), wanted)


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
    assert found.edges == (edges,)
    assert found.leaves.tolist() == classes
    assert len(found.names) == len(edges) + 1


@pytest.mark.parametrize(
    ("ends", "texts", "names"),
    [
        ([], ["the same m"], ["the same m"]),
        ([1.5], ["low (< 1.5 m)", "high (>= 1.5 m)"], ["low", "high"]),
        ([1, 2], ["low (< 1 m)", "medium (1 to 2 m)", "high (>= 2 m)"], ["low", "medium", "high"]),
        ([1, 2, 3], ["< 1 m", "1 to 2 m", "2 to 3 m", ">= 3 m"], ["< 1 m", "1 to 2 m", "2 to 3 m", ">= 3 m"]),
    ],
)
def test_two_and_three_levels_have_words(ends, texts, names):
    assert level_texts("m", ends) == texts
    assert level_names("m", ends) == names


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
    for wrong in ([], [2, 1], [1, 1], [1, math.inf], ["a"], 2.5, "abc", True):
        with pytest.raises(ParameterError, match="levels must be a whole number from 2 to 9, or increasing numbers"):
            levels(fitted, wrong)


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
    assert (found.edges, found.leaves.tolist()) == ((), fitted.leaves.mode.tolist())


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
