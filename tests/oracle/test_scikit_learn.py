"""scikit-learn's regression tree on the same scaled targets splits where we split, but for ties."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from sklearn.tree import DecisionTreeRegressor

from tests.reference.codes import codes as reference_codes
from tests.reference.columns import Columns, grid
from tests.reference.grow import Grown
from tests.reference.split import gain, sums
from tests.tree.problems import Problem, kernel_grow
from tests.tree.test_growth_invariance import trajectories
from tripletree import _kernel

# Our targets are rounded to about 2^-23 of their reach, so gains this close may come out in either order.
TIE = 1e-6


def scaled(kind: str, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return states and float targets, all derivatives known."""
    rng = np.random.default_rng(seed)
    if kind == "trajectory":
        log = trajectories(rng, n)
        states, targets = log.states, np.concatenate([log.actions, log.rewards[:, None], np.tanh(log.states)], axis=1)
    elif kind == "noise":
        states, targets = rng.normal(size=(n, 4)), rng.normal(size=(n, 5))
    elif kind == "labels":
        states = np.round(rng.normal(size=(n, 3)), 1)
        label = (states @ [1.0, 2.0, -1.0] + 0.3 * rng.normal(size=n)).round() % 4
        targets = (label[:, None] == np.arange(4)).astype(float)
    else:
        states = np.clip(rng.normal(size=(n, 3)), -0.5, 0.8)
        targets = np.stack([np.sin(3 * states[:, 0]), states[:, 1] * states[:, 2], rng.normal(size=n)], axis=1)
    return np.ascontiguousarray(states), targets / targets.std(axis=0)


def walk(
    ours: Grown,
    peer: DecisionTreeRegressor,
    ranks: np.ndarray,
    rows: np.ndarray,
    k: int,
    least: int,
    weights: np.ndarray | None = None,
) -> tuple[int, int]:
    """Follow both trees from the root while they agree; return splits that agree and splits that tie."""
    same = tied = 0
    weights = np.ones(len(ranks), np.int64) if weights is None else weights
    waiting = [(0, 0, np.arange(len(ranks)))]
    tree = peer.tree_
    while waiting:
        mine, its, members = waiting.pop()
        if ours.left[mine] < 0 or tree.children_left[its] < 0:
            continue  # the limits on leaves differ in order, not in splits
        left_mine = ours_left(ours, ranks, members, mine)
        left_its = ranks[members, tree.feature[its]] <= tree.threshold[its]
        if np.array_equal(left_mine, left_its):  # through another feature, too: it breaks ties at random
            assert ours.feature[mine] <= tree.feature[its]
            same += 1
            waiting.append((int(ours.left[mine]), int(tree.children_left[its]), members[left_mine]))
            waiting.append((int(ours.left[mine]) + 1, int(tree.children_right[its]), members[~left_mine]))
            continue
        assert min(left_its.sum(), (~left_its).sum()) >= least
        whole = sums(rows[members], k, 0, weights[members])
        mine_gain = gain(whole, sums(rows[members][left_mine], k, 0, weights[members][left_mine]))
        its_gain = gain(whole, sums(rows[members][left_its], k, 0, weights[members][left_its]))
        # Ours is the best on the grid, or the first of those within 1e-9; its is the best but for the grid.
        assert its_gain <= mine_gain * (1 + Fraction(2e-9))
        assert its_gain >= mine_gain * (1 - Fraction(TIE))
        tied += 1
    return same, tied


def ours_left(ours: Grown, ranks: np.ndarray, members: np.ndarray, node: int) -> np.ndarray:
    """Rows that our tree sends left; thresholds are ranks here."""
    return ranks[members, ours.feature[node]] < ours.threshold[node]


@pytest.mark.parametrize("least", [1, 10])
@pytest.mark.parametrize(
    ("kind", "n"),
    [
        ("trajectory", 3_000),
        ("trajectory", 20_000),
        ("noise", 2_000),
        ("noise", 9_000),
        ("labels", 3_000),
        ("clipped", 8_000),
    ],
)
def test_same_splits(kind, n, least):
    states, targets = scaled(kind, n, seed=n + least)
    # It works on float32: ranks are exact in both.
    ranks = reference_codes(states).astype(np.float64)
    k = targets.shape[1]
    on_grid = grid(Columns(targets, np.zeros((len(states), 0)), np.ones(len(states), bool)))
    options = {"max_leaves": 80, "min_samples_leaf": least, "by_gain": True, "midpoints": True}
    ours = kernel_grow(Problem(ranks, on_grid, options), _kernel.encode(ranks, 256, 1))
    peer = DecisionTreeRegressor(max_leaf_nodes=80, min_samples_leaf=least, random_state=0).fit(ranks, targets)
    same, tied = walk(ours, peer, ranks, on_grid.rows, k, least)
    assert same >= 50
    assert tied <= same / 5


@pytest.mark.parametrize(
    ("kind", "n", "most"), [("trajectory", 3_000, 5), ("noise", 2_000, 1000), ("labels", 3_000, 9)]
)
def test_same_splits_with_weights(kind, n, most):
    states, targets = scaled(kind, n, seed=n)
    ranks = reference_codes(states).astype(np.float64)
    weights = np.random.default_rng(n).integers(1, most, n)
    on_grid = grid(Columns(targets, np.zeros((len(states), 0)), np.ones(len(states), bool)))
    options = {"max_leaves": 80, "by_gain": True, "midpoints": True}
    ours = kernel_grow(Problem(ranks, on_grid, options, weights), _kernel.encode(ranks, 256, 1))
    peer = DecisionTreeRegressor(max_leaf_nodes=80, random_state=0).fit(ranks, targets, sample_weight=weights)
    same, tied = walk(ours, peer, ranks, on_grid.rows, targets.shape[1], 1, weights)
    assert same >= 50
    assert tied <= same / 5


@pytest.mark.parametrize("threads", [1, 2])
def test_apply_and_predict_on_the_same_thresholds(threads):
    states, targets = scaled("trajectory", 5_000, seed=1)
    states = np.ascontiguousarray(states.astype(np.float32).astype(np.float64))
    peer = DecisionTreeRegressor(max_leaf_nodes=200, random_state=0).fit(states, targets)
    tree = peer.tree_
    # Renumber so that siblings are neighbours and children follow their parents.
    order, left = [0], np.full(tree.node_count, -1, np.int32)
    for at in range(tree.node_count):
        if tree.children_left[order[at]] >= 0:
            left[at] = len(order)
            order += [int(tree.children_left[order[at]]), int(tree.children_right[order[at]])]
    feature = np.where(left >= 0, tree.feature[order], -1).astype(np.int32)
    # It sends x <= t left, we send x < t.
    threshold = np.where(left >= 0, np.nextafter(tree.threshold[order], np.inf), 0.0)
    fresh = np.random.default_rng(2).normal(size=(20_000, 3)).astype(np.float32).astype(np.float64)
    fresh[:5_000] = states
    got = _kernel.apply(fresh, feature, threshold, left, np.array(order, np.int32), threads)
    assert np.array_equal(got, peer.apply(fresh))
    assert np.array_equal(tree.value[got, :, 0], peer.predict(fresh))
