from __future__ import annotations

import numpy as np

from tests.questions.trees import boxes, random_fitted, random_states
from tripletree.leaves.boxes import intersect


def test_the_leaves_that_boxes_meet():
    for seed in range(20):
        fitted = random_fitted(seed, 3, 15)
        ends = random_states(fitted, 40, seed).reshape(20, 2, 3)
        low, high = ends.min(axis=1), ends.max(axis=1)
        box, leaf = intersect(fitted.tree, low, high)
        expected = [
            (i, j)
            for i in range(20)
            for j, bounds in enumerate(boxes(fitted))
            if all(low[i, f] < upper and high[i, f] >= lower for f, (lower, upper) in enumerate(bounds))
        ]
        assert list(zip(box.tolist(), leaf.tolist(), strict=True)) == expected


def test_no_boxes_and_a_single_leaf():
    fitted = random_fitted(0, 2, 1)
    box, leaf = intersect(fitted.tree, np.zeros((2, 2)), np.ones((2, 2)))
    assert (box.tolist(), leaf.tolist()) == ([0, 1], [0, 0])
    assert len(intersect(fitted.tree, np.zeros((0, 2)), np.zeros((0, 2)))[0]) == 0
