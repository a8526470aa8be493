"""The small trees that tell whether an action fits its own row: the same as one grown node by node."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tripletree.log.delay import BINS, DEPTH, LEAST_LEAF, _predicted


def one_by_one(codes, targets, train, here, predicted, depth):
    """Grow the tree as it is defined, one node after the other, trying every split."""
    mine = here & train
    predicted[here] = targets[mine].mean(axis=0)
    whole = ((targets[mine] - targets[mine].mean(axis=0)) ** 2).sum()
    best, split = 1e-9, None
    for column in codes:
        for place in range(BINS - 1):
            left = column <= place
            sides = [targets[mine & side] for side in (left, ~left)]
            if depth == 0 or min(map(len, sides)) < LEAST_LEAF:
                continue
            gain = whole - sum(((side - side.mean(axis=0)) ** 2).sum() for side in sides)
            if gain > best + 1e-9:
                best, split = gain, left
    if split is not None:
        one_by_one(codes, targets, train, here & split, predicted, depth - 1)
        one_by_one(codes, targets, train, here & ~split, predicted, depth - 1)


@given(seed=st.integers(0, 10**6), rows=st.integers(20, 160), features=st.integers(1, 3), columns=st.integers(1, 2))
@settings(max_examples=25, deadline=None)
def test_all_nodes_of_a_depth_at_once_are_each_of_them(seed, rows, features, columns):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, BINS, (features, rows))
    targets = rng.normal(size=(rows, columns)) + 2.0 * (codes[:1].T > BINS // 2)
    train = rng.random(rows) < 0.6
    train[0] = True
    slowly = np.zeros_like(targets)
    one_by_one(codes, targets, train, np.ones(rows, bool), slowly, DEPTH)
    assert _predicted(codes, targets, train) == pytest.approx(slowly)
