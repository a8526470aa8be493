"""Logs of many features and few samples: fewer target columns, the same tree."""

from __future__ import annotations

import numpy as np
import pytest

from tests.logs import make_log
from tests.reference.codes import codes
from tests.reference.columns import columns, grid
from tests.reference.grow import grow
from tests.tree.problems import Problem, check
from tripletree import TripleTree, _kernel
from tripletree.log.derive import derivatives, values
from tripletree.tree.rotation import rotated
from tripletree.tree.targets import make_targets


@pytest.mark.parametrize("seed", range(6))
def test_inner_products_stay(seed):
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(1, 30)), int(rng.integers(1, 400))
    given = rng.integers(-(2**23), 2**23, (n, k)).astype(np.int32)
    given[rng.random(n) < 0.2] = 0
    if n > 2:
        given[1] = given[0]  # rows that are not independent
    found, bits = rotated(given)
    assert found.shape == (n, n)
    assert np.abs(found).max() * 2.0**-bits <= 2**23
    exact = given.astype(float) @ given.T.astype(float)
    assert np.abs(found @ found.T - exact).max() <= 1e-7 * max(exact.max(), 1)


def test_rows_of_zeros_have_nothing_to_rotate():
    found, bits = rotated(np.zeros((3, 20), np.int32))
    assert not found.any()
    assert bits == 0


@pytest.mark.parametrize("seed", range(8))
def test_few_samples_of_many_features_grow_the_reference(seed):
    rng = np.random.default_rng(seed)
    n, d = 14, 300
    states = rng.normal(size=(n, d))
    final = rng.normal(size=(2, d))
    final[seed % 2] = np.nan  # one sample has no derivative
    log = make_log(
        states, rng.integers(0, 3, n), rng.normal(size=n), [0, 6, n], final_states=final, labels=("a", "b", "c")
    )
    targets = make_targets(log, values(log, 0.9), (1, 1, 1), "sigma")
    assert targets.n_derivative == n
    assert targets.rows.shape[1] < 40
    wanted = grid(columns(log.actions, 3, values(log, 0.9), derivatives(log)))
    expected = grow(states, codes(states), wanted.targets, wanted.n_plain, wanted.n_derivative, max_leaves=8)
    tree = TripleTree(max_leaves=8, gamma=0.9, priority="impurity", leaf_model="mean").fit(log).fitted_.tree
    assert tree.feature.tolist() == expected.feature.tolist()
    assert tree.threshold.tolist() == expected.threshold.tolist()


def test_more_samples_keep_their_columns():
    rng = np.random.default_rng(0)
    log = make_log(rng.normal(size=(30, 40)), rng.integers(0, 2, 30), rng.normal(size=30), [0, 30], labels=("a", "b"))
    assert make_targets(log, values(log, 0.9), (1, 1, 1), "sigma").n_derivative == 40


def test_hundreds_of_ties():
    # Every feature cuts the samples in the same place: the first wins, and all must be remembered until then.
    rng = np.random.default_rng(1)
    states = np.repeat(np.arange(8.0)[:, None], 600, axis=1)
    rows = np.zeros((8, 8), np.int32)
    rows[:, 0] = rng.integers(-1000, 1000, 8)
    problem = Problem(states, grid(columns(np.zeros((8, 1)), None, rows[:, 0].astype(float), np.full((8, 1), np.nan))))
    tree = check(problem)
    assert set(tree.feature.tolist()) == {0, -1}
    assert len(np.unique(_kernel.encode(states, 256, 1)[0])) == 1
