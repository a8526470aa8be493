"""Codes of features: order kept, near-equal values merged; and growth on bins in histogram mode."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.reference.codes import codes as reference_codes
from tests.reference.codes import dense
from tests.reference.grow import descend
from tests.tree.problems import Problem, assert_same, check, feature, kernel_grow, random_problem
from tripletree import _kernel
from tripletree.tree.edges import find_edges


@pytest.mark.parametrize("bins", [2, 16, 256, 1024])
@pytest.mark.parametrize("threads", [1, 2])
def test_exact_codes_are_the_references(bins, threads):
    rng = np.random.default_rng(bins)
    for n in (1, 2, 5, 100, 3_000, 12_000):
        columns: list[np.ndarray] = []
        for _ in range(6):
            columns.append(feature(rng, n, columns))
        states = np.ascontiguousarray(np.stack(columns, axis=1))
        got = _kernel.encode(states, bins, threads)
        assert got.dtype == np.uint32
        assert np.array_equal(dense(got), reference_codes(states))


@pytest.mark.parametrize("seed", range(12))
def test_histogram_mode_grows_the_reference_on_its_bins(seed):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, int(rng.choice([50, 1_500, 9_000])), 3, 20)
    edges = find_edges(problem.states, int(rng.choice([4, 32, 256])), str(rng.choice(["short", "midpoint"])))
    grown = check(problem, threads=1 + seed % 2, edges=edges)
    # Thresholds are edges, and a state that is told by its numbers lands where its bins have put it.
    for node in np.flatnonzero(grown.left >= 0):
        f = grown.feature[node]
        assert grown.threshold[node] in edges.numbers[edges.first[f] : edges.first[f + 1]]
    assert np.array_equal(descend(grown, problem.states), grown.node)


@pytest.mark.parametrize("outlier", [1e6, -1e6, 1e30, 1e300])
def test_an_outlier_does_not_merge_the_others(outlier):
    states = np.random.default_rng(0).normal(size=(100_000, 1))
    states[70_000] = outlier
    got = _kernel.encode(states, 256, 1)
    assert len(np.unique(got)) > 99_900
    assert np.array_equal(dense(got), reference_codes(states))


def test_heavy_tails_do_not_merge_the_middle():
    states = np.random.default_rng(1).standard_t(2, (1_000_000, 1))
    assert len(np.unique(_kernel.encode(states, 512, 1))) > 998_000


def test_no_chain_is_longer_than_the_tolerance():
    # A million steps of a quarter of the tolerance: five values share a code, not a million.
    tolerance = 2.0**-31
    states = np.concatenate([np.arange(100_000) * tolerance / 4, np.linspace(0, 1, 900_001)])[:, None]
    got = _kernel.encode(states, 512, 1)[:100_000, 0]
    assert 4 <= np.unique(got, return_counts=True)[1].max() <= 6


def test_noise_about_zero_and_at_rest_is_merged():
    rng = np.random.default_rng(2)
    moving = np.arange(30_000) < 6_000
    states = np.where(moving, np.round(rng.normal(size=30_000), 2), 1e-17 * rng.normal(size=30_000))[:, None]
    assert len(np.unique(_kernel.encode(states, 256, 1))) == len(np.unique(np.round(states, 2)))


@pytest.mark.parametrize("seed", range(6))
def test_units_and_the_sign_do_not_change_codes(seed):
    rng = np.random.default_rng(seed)
    # Values that are apart, with noise: not so dense that the first of a group depends on the direction.
    states = np.round(rng.standard_t(2, (5_000, 3)), 3) * (1 + 2.0**-52 * rng.integers(0, 2, (5_000, 3)))
    first = dense(_kernel.encode(states, 256, 1))
    for unit in (2.0**-700, 0.25, 2.0**600):
        assert np.array_equal(dense(_kernel.encode(states * unit, 256, 1)), first)
    assert np.array_equal(dense(_kernel.encode(-states, 256, 1)), first.max(axis=0) - first)
    order = rng.permutation(5_000)
    assert np.array_equal(dense(_kernel.encode(states[order], 256, 2)), first[order])


def test_the_largest_doubles_keep_their_order():
    states = np.array([[-1.7e308], [1.7e308], [0.0], [1.0], [1e300], [1.6e308]])
    got = _kernel.encode(states, 256, 1)
    assert np.array_equal(dense(got), reference_codes(states))
    assert dense(got)[:, 0].tolist() == [0, 4, 1, 1, 2, 3]


@pytest.mark.parametrize("bins", [2, 200, 1024])
@pytest.mark.parametrize("compact", [False, True])
def test_codes_of_some_rows_grow_the_tree_of_those_rows(bins, compact):
    rng = np.random.default_rng(bins)
    problem = random_problem(rng, 3_000, 4, 30)
    rows = np.flatnonzero(rng.random(3_000) < 0.6)
    grid = replace(problem.grid, rows=np.ascontiguousarray(problem.grid.rows[rows]))
    some = Problem(problem.states[rows], grid, problem.options)
    codes = _kernel.encode(problem.states, bins, 1)
    for pool in (0, 30):
        expected = kernel_grow(some, np.asfortranarray(codes[rows]), pool=pool)
        assert_same(kernel_grow(some, _kernel.Codes(codes, compact=compact).take(rows), pool=pool), expected)
    with pytest.raises(ValueError, match="rows of the codes"):
        _kernel.Codes(codes).take(np.array([3_000]))


@pytest.mark.parametrize("bins", [200, 1024])
@pytest.mark.parametrize("more", [1, 5, 6, 14])
def test_features_that_never_change_do_not_change_the_tree(bins, more):
    # Bins of a row are laid side by side several features at a time; where there are only three, one by one.
    problem = random_problem(np.random.default_rng(bins + more), 3_001, 3, 40)
    expected = kernel_grow(problem, _kernel.encode(problem.states, bins, 1), pool=30)
    constant = np.ones((3_001, more // 2 + 1)), np.zeros((3_001, more // 2))
    wide = replace(problem, states=np.hstack([constant[0], problem.states, constant[1]]))
    got = kernel_grow(wide, _kernel.encode(wide.states, bins, 1), pool=30)
    inner = got.feature >= 0
    assert_same(replace(got, feature=np.where(inner, got.feature - (more // 2 + 1), got.feature)), expected)


def test_repeated_values_do_not_add_bins():
    # A hundred values fill a bin each, and between them there are others.
    rng = np.random.default_rng(0)
    states = np.where(rng.random(40_000) < 0.7, rng.integers(0, 100, 40_000), 100 * rng.random(40_000))[:, None]
    codes = _kernel.encode(states, 256, 1)
    assert (codes >> 20).max() < 256
    assert np.array_equal(dense(codes), reference_codes(states))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_only_finite_states(bad):
    with pytest.raises(ValueError, match="finite"):
        _kernel.encode(np.array([[1.0], [bad]]), 256, 1)


def test_sizes_are_checked():
    states = np.zeros((3, 2))
    for bins in (1, 5000):
        with pytest.raises(ValueError, match="bins must lie between"):
            _kernel.encode(states, bins, 1)
    with pytest.raises(ValueError, match="must not be empty"):
        _kernel.encode(np.zeros((0, 2)), 256, 1)
    problem = random_problem(np.random.default_rng(0), 10, 2, 5)
    codes = _kernel.encode(problem.states, 256, 1)
    with pytest.raises(ValueError, match="must match"):
        kernel_grow(Problem(problem.states, problem.grid), codes[:5])
