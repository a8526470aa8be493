from __future__ import annotations

import numpy as np
import pytest

from tests.logs import random_log
from tripletree import _kernel
from tripletree.log.derive import values
from tripletree.tree.edges import find_edges
from tripletree.tree.grow import encode, grow
from tripletree.tree.targets import make_targets

OPTIONS = {
    "max_leaves": 12,
    "max_depth": None,
    "min_samples_leaf": 1,
    "min_quality": 0.0,
    "priority": "impurity",
    "mode": "exact",
    "bins": 1024,
    "thresholds": "short",
    "threads": 1,
    "progress": None,
}


def grown(log, **options):
    options = {**OPTIONS, **options}
    codes = encode(log, options.pop("mode"), options.pop("bins"), options["threads"])
    targets = make_targets(log, values(log, 0.9), (1, 1, 1), "sigma")
    return grow(log, codes, targets, **options)


def test_nodes_of_samples_agree_with_apply():
    log = random_log(3)
    tree, node = grown(log)
    assert tree.n_leaves == 12
    assert tree.leaf_nodes[tree.apply(log.states)].tolist() == node.tolist()


def test_more_leaves_continue_the_same_growth():
    log = random_log(4)
    small, large = grown(log, max_leaves=5)[0], grown(log, max_leaves=30)[0].truncate(5)
    for name in ("feature", "threshold", "left", "quality"):
        assert getattr(small, name).tolist() == getattr(large, name).tolist()


def test_as_many_leaves_as_samples_at_most():
    log = random_log(5, lengths=(9,))
    tree, node = grown(log, max_leaves=10**9, min_samples_leaf=1)
    assert tree.n_leaves <= 9
    assert sorted(node) == sorted(tree.leaf_nodes)


def test_a_leaf_size_beyond_the_log_leaves_one_leaf():
    assert grown(random_log(6), min_samples_leaf=10**12)[0].n_leaves == 1


def test_histogram_thresholds_lie_between_bins():
    log = random_log(7, lengths=(500, 500))
    tree, node = grown(log, mode="histogram", bins=4, max_leaves=100)
    edges = find_edges(log.states, 4)
    codes = _kernel.bin_rows(log.states, edges.numbers, edges.first)
    cells, cell = np.unique(codes, axis=0, return_inverse=True)
    assert len(cells) <= 16
    # Samples that share all their bins are never parted.
    assert all(len(np.unique(node[cell == k])) == 1 for k in range(len(cells)))
    assert 4 < tree.n_leaves <= 16


def test_quality_of_the_root():
    log = random_log(8)
    tree, _ = grown(log, max_leaves=2)
    left = log.states[:, tree.feature[0]] < tree.threshold[0]
    targets = make_targets(log, values(log, 0.9), (1, 1, 1), "sigma")
    y = targets.rows / targets.scale
    known = targets.rows[:, targets.n_plain + targets.n_derivative] == 1

    def drop(lanes, rows):
        inside = [y[rows & part][:, lanes] for part in (left, ~left)]
        within = sum(len(part) * part.var(axis=0).sum() for part in inside) / rows.sum()
        return y[rows][:, lanes].var(axis=0).sum() - within

    plain, rest = slice(0, targets.n_plain), slice(targets.n_plain, targets.n_plain + targets.n_derivative)
    assert tree.quality[0] == pytest.approx(drop(plain, np.ones(len(left), bool)) + drop(rest, known), rel=1e-6)


def test_infinite_states_go_to_the_outermost_leaves():
    tree, _ = grown(random_log(8), max_leaves=30)
    n = random_log(8).n_features
    far, farther = np.full((20, n), 1e300), np.full((20, n), np.inf)
    assert tree.apply(farther).tolist() == tree.apply(far).tolist()
    assert tree.apply(-farther).tolist() == tree.apply(-far).tolist()
