"""Small trees: as good as scikit-learn's of the same size, and never on borders that are not allowed."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from tripletree.tree.small import grow_small


def problem(seed, n=400, features=3, classes=3, columns=1):
    rng = np.random.default_rng(seed)
    states = rng.normal(size=(n, features))
    thresholds = [np.round(np.quantile(states[:, f], np.arange(1, 12) / 12), 2) for f in range(features)]
    codes = np.stack([np.searchsorted(ends, states[:, f], "right") for f, ends in enumerate(thresholds)], axis=1)
    scores = states @ rng.normal(size=(features, classes * columns)) + 0.5 * rng.normal(size=(n, classes * columns))
    levels = np.stack([part.argmax(axis=1) for part in np.split(scores, columns, axis=1)], axis=1)
    return states, codes, thresholds, levels


def impurity(leaf, levels):
    """Gini's impurity, summed over samples and columns, each column by its impurity over all."""
    total = 0.0
    for column in levels.T:
        parts = [np.bincount(column[leaf == one]) for one in np.unique(leaf)]
        whole = np.bincount(column)
        lost = [n.sum() - (n**2).sum() / n.sum() for n in (*parts, whole)]
        total += sum(lost[:-1]) / lost[-1]
    return total


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("leaves", [2, 4, 8])
def test_as_good_as_scikit_learn(seed, leaves):
    states, codes, thresholds, levels = problem(seed)
    tree = grow_small(codes, thresholds, levels, leaves, least_share=0.02)
    other = DecisionTreeClassifier(max_leaf_nodes=leaves, min_samples_leaf=8).fit(codes, levels[:, 0])
    assert impurity(tree.apply(states), levels) == pytest.approx(impurity(other.apply(codes), levels), rel=0.02)
    for f, border in zip(tree.feature, tree.threshold, strict=True):
        assert f < 0 or border in thresholds[f]


def test_columns_count_alike():
    states, codes, thresholds, levels = problem(1, columns=2)
    # A column that is always the same changes nothing, and twice the same column is once that column.
    both = [
        grow_small(codes, thresholds, part, 5)
        for part in (levels[:, :1], np.c_[levels[:, 0], levels[:, 0]], np.c_[levels[:, 0], 0 * levels[:, 0]])
    ]
    for tree in both[1:]:
        np.testing.assert_array_equal(tree.threshold, both[0].threshold)
    together = grow_small(codes, thresholds, levels, 8)
    for k in (0, 1):
        alone = grow_small(codes, thresholds, levels[:, [k]], 8)
        assert impurity(together.apply(states), levels) <= impurity(alone.apply(states), levels)


def test_borders_that_are_not_allowed_and_leaves_that_are_too_small_are_left_out():
    states, codes, thresholds, levels = problem(2)
    allowed = [np.zeros(11, bool), np.ones(11, bool), np.zeros(11, bool)]
    tree = grow_small(codes, thresholds, levels, 8, allowed)
    assert set(tree.feature[tree.feature >= 0]) == {1}
    large = grow_small(codes, thresholds, levels, 8, least_share=0.2)
    assert np.bincount(large.apply(states)).min() >= 80
    assert grow_small(codes, thresholds, levels, 8, least_share=0.6).n_leaves == 1


def test_nothing_to_tell_apart_is_one_leaf():
    _, codes, thresholds, levels = problem(3)
    assert grow_small(codes, thresholds, 0 * levels, 8).n_leaves == 1
    assert grow_small(codes[:1], thresholds, levels[:1], 8).n_leaves == 1
    none = [np.zeros(0) for _ in thresholds]
    assert grow_small(0 * codes, none, levels, 8).n_leaves == 1
    # Noise explains nothing, and a split must explain a hundredth.
    rng = np.random.default_rng(0)
    noise = rng.integers(0, 2, (20_000, 1))
    wide = rng.integers(0, 12, (20_000, 3))
    assert grow_small(wide, thresholds, noise, 8).n_leaves == 1
