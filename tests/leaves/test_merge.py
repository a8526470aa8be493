from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.logs import make_log, random_log
from tests.test_api import quietly_fitted
from tripletree.leaves import merge as module
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


def widened(lower, upper, classes, box, order):
    """Return a box as wide as it can be without meeting another class, widened along the features in order."""
    low, high = lower[box].copy(), upper[box].copy()
    other = classes != classes[box]
    lower, upper = lower[other], upper[other]
    apart = (lower >= high) | (upper <= low)
    away = apart.sum(axis=1)
    for f in order:
        if low[f] == -np.inf and high[f] == np.inf:
            continue
        facing = away - apart[:, f] == 0  # those that the box would meet if this feature had no bounds
        below, above = upper[facing, f], lower[facing, f]
        low[f] = below[below <= low[f]].max(initial=-np.inf)
        high[f] = above[above >= high[f]].min(initial=np.inf)
        away -= apart[:, f]
        apart[:, f] = (lower[:, f] >= high[f]) | (upper[:, f] <= low[f])
        away += apart[:, f]
    return low, high


def compared(tree, classes, counts, order):
    """What `merge` should return, by comparing every region with every other."""
    regions = module._uniform(tree, classes)
    leaf_lower, leaf_upper = bounds(tree, len(order))
    lower = np.minimum.reduceat(leaf_lower, regions.first)
    upper = np.maximum.reduceat(leaf_upper, regions.first)
    klass, weight = classes[regions.first], np.add.reduceat(counts, regions.first)
    wide = [widened(lower, upper, klass, i, order) for i in range(len(klass))]
    wide_lower, wide_upper = np.array([low for low, _ in wide]), np.array([high for _, high in wide])
    inside = ((wide_lower[:, None] <= lower) & (wide_upper[:, None] >= upper)).all(axis=2)
    bounded = (np.isfinite(wide_lower) | np.isfinite(wide_upper)).sum(axis=1)
    kept, holder = [], np.zeros(len(klass), int)
    for k in np.unique(klass):
        left = klass == k
        while left.any():
            gain = np.where(klass == k, inside[:, left] @ weight[left], -1)
            best = int(np.lexsort((bounded, -gain))[0])
            holder[inside[best] & left] = len(kept)
            kept.append(best)
            left = left & ~inside[best]
    return wide_lower[kept], wide_upper[kept], klass[kept], np.repeat(holder, regions.last - regions.first)


@given(
    seed=st.integers(0, 9999),
    features=st.integers(1, 4),
    leaves=st.integers(1, 60),
    classes=st.integers(1, 5),
    heaviest=st.sampled_from([1, 2, 100]),
    together=st.sampled_from([1, 3, 256]),
)
def test_the_boxes_are_those_of_comparing_everything(seed, features, leaves, classes, heaviest, together):
    tree = quietly_fitted(random_log(seed, features=features, grid=seed % 2), max_leaves=leaves).tree_
    rng = np.random.default_rng(seed)
    klass = rng.integers(0, classes, tree.n_leaves)
    count = rng.integers(1, heaviest + 1, tree.n_leaves)
    order = rng.permutation(features).tolist()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "TOGETHER", together)
        found = merge(tree, klass, count, order)
    for made, expected in zip(
        (found.lower, found.upper, found.classes, found.box), compared(tree, klass, count, order), strict=True
    ):
        assert np.array_equal(made, expected)


def test_the_work_does_not_go_with_the_square_of_the_leaves(monkeypatch):
    """The pairs of boxes that are looked at, for 16 times as many leaves: with the square they would be 256 times."""
    rng = np.random.default_rng(0)
    states = rng.random((4000, 3))
    log = make_log(states, rng.integers(0, 2, 4000), rng.random(4000), labels=("a", "b"))
    pairs = []
    plain = module._met

    def counted(*given):
        found = plain(*given)
        pairs[-1] += len(found[0])
        return found

    monkeypatch.setattr(module, "_met", counted)
    for leaves in (100, 1600):
        tree = quietly_fitted(log, max_leaves=leaves).tree_
        pairs.append(0)
        merge(tree, rng.integers(0, 2, leaves), np.ones(leaves, np.int64), [0, 1, 2])
    assert pairs[1] < 16**1.6 * pairs[0]
