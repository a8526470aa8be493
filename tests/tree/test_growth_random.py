"""The compiled kernel grows the reference's tree, bit for bit, on random logs of every kind."""

from __future__ import annotations

import numpy as np
import pytest

from tests.reference.columns import Grid
from tests.reference.split import split_by_fractions
from tests.tree.problems import Problem, check, random_problem, weighted
from tripletree.tree.edges import find_edges


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 8])
def test_tiny_logs_against_fractions(n):
    rng = np.random.default_rng(n)
    for _ in range(120):
        check(random_problem(rng, n, int(rng.integers(1, 4)), n), split=split_by_fractions)


@pytest.mark.parametrize("seed", range(8))
def test_small_logs_against_fractions(seed):
    rng = np.random.default_rng(seed)
    for _ in range(20):
        problem = random_problem(rng, int(rng.integers(9, 60)), int(rng.integers(1, 5)), 12)
        check(problem, threads=1 + seed % 2, split=split_by_fractions)


@pytest.mark.parametrize("seed", range(20))
def test_small_logs(seed):
    rng = np.random.default_rng(100 + seed)
    for _ in range(60):
        problem = random_problem(rng, int(rng.integers(9, 160)), int(rng.integers(1, 5)), 40)
        check(problem, threads=1 + seed % 2)


@pytest.mark.parametrize("seed", range(16))
def test_medium_logs(seed):
    rng = np.random.default_rng(200 + seed)
    for _ in range(4):
        problem = random_problem(rng, int(rng.integers(500, 4000)), int(rng.integers(1, 5)), 40)
        check(problem, threads=1 + seed % 2)


@pytest.mark.parametrize("seed", range(24))
def test_longer_logs(seed):
    rng = np.random.default_rng(300 + seed)
    problem = random_problem(rng, int(rng.integers(4_500, 12_000)), int(rng.integers(1, 4)), 20)
    check(problem, threads=1 + seed % 2)


@pytest.mark.parametrize(("n", "features", "leaves"), [(20_000, 3, 30), (80_000, 2, 12)])
@pytest.mark.parametrize("threads", [1, 2])
def test_large_log(n, features, leaves, threads):
    problem = random_problem(np.random.default_rng(n), n, features, leaves)
    problem.options = {"max_leaves": leaves}
    grown = check(problem, threads)
    assert len(grown.left) == 2 * leaves - 1


@pytest.mark.parametrize(("n", "features"), [(300, 20), (300, 70), (5_000, 9), (5_000, 25), (5_000, 40)])
def test_many_features(n, features):
    rng = np.random.default_rng(features)
    problem = random_problem(rng, n, features, 10)
    while problem.grid.n_derivative == 0:
        problem = random_problem(rng, n, features, 10)
    problem.options = {"max_leaves": 6}
    check(problem)


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8])
def test_tiny_logs_with_weights_against_fractions(n):
    rng = np.random.default_rng(n)
    for _ in range(60):
        problem = weighted(rng, random_problem(rng, n, int(rng.integers(1, 4)), n))
        check(problem, split=split_by_fractions)


@pytest.mark.parametrize("seed", range(8))
def test_small_logs_with_weights(seed):
    rng = np.random.default_rng(400 + seed)
    for _ in range(25):
        problem = weighted(rng, random_problem(rng, int(rng.integers(9, 160)), int(rng.integers(1, 5)), 40))
        check(problem, threads=1 + seed % 2)


@pytest.mark.parametrize("seed", range(10))
def test_longer_logs_with_weights(seed):
    rng = np.random.default_rng(500 + seed)
    problem = random_problem(rng, int(rng.integers(500, 9_000)), int(rng.integers(1, 12)), 20)
    check(weighted(rng, problem), threads=1 + seed % 2)


@pytest.mark.parametrize("share", [0.5, 0.05])
@pytest.mark.parametrize("n", [60, 300, 4_000, 6_000])
def test_targets_that_fill_the_grid(n, share):
    # Entries of 2^23 and a sum of squares near 2^61: the largest numbers that the kernel has to add. A few rows far
    # from all others, next to each other along a feature, are the largest distances from a mean.
    rng = np.random.default_rng(n)
    size = int(min(2**23, np.sqrt(2**61 / (5 * n))))
    states = rng.normal(size=(n, 2))
    rows = np.zeros((n, 16), np.int32)
    rows[:, :5] = np.where(states[:, :1] < np.quantile(states[:, 0], share), size, -size)
    rows[:, 1:5] -= np.sign(rows[:, 1:5]) * rng.integers(0, 3, (n, 4))
    has = rng.random(n) < 0.9
    rows[:, 3:5] *= has[:, None]
    rows[:, 5] = has
    for n_plain in (3, 5):
        check(Problem(states, Grid(rows, n_plain, 5 - n_plain, 1.0), {"max_leaves": 12}))


def test_equal_impurities_split_the_older_leaf_first():
    # Four copies of one problem side by side: every priority and every gain occurs four times.
    rng = np.random.default_rng(0)
    for by_gain in (False, True):
        for n in (5, 30, 200):
            rows = np.tile(rng.integers(-1000, 1000, (n, 8)), (4, 1)).astype(np.int32)
            rows[:, 2:] = 0
            states = np.stack([np.repeat(np.arange(4.0), n), np.tile(rng.normal(size=n), 4)], axis=1)
            check(Problem(np.ascontiguousarray(states), Grid(rows, 2, 0, 1.0), {"by_gain": by_gain}))


@pytest.mark.parametrize(("features", "bins"), [(3, 1024), (3, 400), (1, 700), (33, 300)])
def test_more_bins_than_histograms_of_nodes_have(features, bins):
    # Neighbouring bins share one, and are told apart where a better cut may hide.
    rng = np.random.default_rng(features * bins)
    for threads in (1, 2):
        problem = random_problem(rng, 4_000, features, 10)
        problem.states[:, 0] = rng.normal(size=4_000)
        edges = find_edges(problem.states, bins)
        assert edges.bins.max() > (256 if features < 32 else 128)
        check(problem, threads=threads, edges=edges)
