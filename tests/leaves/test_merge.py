from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.logs import make_log, random_log
from tests.test_api import quietly_fitted
from tripletree.leaves.boxes import bounds
from tripletree.leaves.merge import merge


@given(
    seed=st.integers(0, 9999),
    features=st.integers(1, 4),
    leaves=st.integers(1, 40),
    classes=st.integers(1, 5),
    grid=st.sampled_from([0, 1]),
)
def test_boxes_hold_what_they_should_and_touch_nothing_else(seed, features, leaves, classes, grid):
    tree = quietly_fitted(random_log(seed, features=features, grid=grid), max_leaves=leaves).tree_
    rng = np.random.default_rng(seed)
    klass = rng.integers(0, classes, tree.n_leaves)
    count = rng.integers(1, 100, tree.n_leaves)
    order = rng.permutation(features).tolist()
    found = merge(tree, klass, count, order)
    lower, upper = bounds(tree, features)
    meets = ((found.lower[:, None] < upper) & (lower < found.upper[:, None])).all(axis=2)
    holds = ((found.lower[:, None] <= lower) & (upper <= found.upper[:, None])).all(axis=2)
    # No box meets a leaf of another class; every leaf lies in the box that it counts for.
    assert not (meets & (found.classes[:, None] != klass)).any()
    assert holds[found.box, np.arange(tree.n_leaves)].all()
    assert np.bincount(found.box, minlength=len(found.lower)).all()
    assert len(found.lower) <= tree.n_leaves
    # No side of a box could go further.
    for box in range(len(found.lower)):
        for f in range(features):
            for side, other in ((found.lower, -np.inf), (found.upper, np.inf)):
                if np.isinf(side[box, f]):
                    continue
                wide = {"low": found.lower[box].copy(), "high": found.upper[box].copy()}
                wide["low" if other < 0 else "high"][f] = other
                now = ((wide["low"] < upper) & (lower < wide["high"])).all(axis=1)
                assert (klass[now] != found.classes[box]).any()
    again = merge(tree, klass, count, order)
    assert np.array_equal(found.lower, again.lower)
    assert np.array_equal(found.box, again.box)


def test_a_tree_of_one_class_is_one_box():
    tree = quietly_fitted(random_log(3), max_leaves=20).tree_
    found = merge(tree, np.full(tree.n_leaves, 2), np.ones(tree.n_leaves, np.int64), [0, 1])
    assert found.classes.tolist() == [2]
    assert np.isinf(found.lower).all()
    assert np.isinf(found.upper).all()


def test_two_arms_of_an_l_are_two_boxes_that_overlap():
    # Class 1 only in the corner x >= 1, y >= 1: what is left is an L.
    states = [[x, y] for x in (0.0, 2.0) for y in (0.0, 2.0)] * 3
    act = [int(x > 1 and y > 1) for x, y in states]
    tree = quietly_fitted(make_log(states, act, [0] * 12, labels=("a", "b")), theta=(1, 0, 0)).tree_
    assert tree.n_leaves == 3
    corner = tree.apply(np.array([[2.0, 2.0]]))[0]
    klass = (np.arange(3) == corner).astype(np.int64)
    found = merge(tree, klass, np.array([6, 3, 3]), [0, 1])
    assert len(found.lower) == 3
    assert np.isfinite(found.lower[:2]).sum() + np.isfinite(found.upper[:2]).sum() == 2
