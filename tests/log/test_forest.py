"""Bagged trees that predict each episode from others."""

from __future__ import annotations

import numpy as np

from tripletree.log.forest import forest


def test_sharp_borders_are_found_on_unseen_episodes():
    rng = np.random.default_rng(0)
    columns, episode = rng.normal(size=(600, 3)), np.arange(600) // 30
    targets = np.where((columns[:, 0] > 0.2) ^ (columns[:, 1] > 0), 1.0, -1.0)[:, None]
    predicted = forest(columns, targets, episode % 5, episode, 10, 3, 0)
    assert ((targets - predicted) ** 2).mean() < 0.25


def test_no_fold_sees_its_own_targets():
    rng = np.random.default_rng(1)
    columns, episode = rng.normal(size=(200, 2)), np.arange(200) // 20
    fold, targets = episode % 5, rng.normal(size=(200, 2))
    own = fold == 3
    other = targets.copy()
    other[own] = 5 * rng.permutation(targets[own])
    other[0] = targets[0] = np.abs(other).max() + 1  # the grid that targets are rounded to stays the same
    first, second = (forest(columns, some, fold, episode, 4, 3, 7) for some in (targets, other))
    np.testing.assert_array_equal(first[own], second[own])
    assert not np.array_equal(first[~own], second[~own])
