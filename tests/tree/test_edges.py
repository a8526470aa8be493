"""Edges of histogram mode: those of the reference, short, and the same however a log is divided."""

from __future__ import annotations

import numpy as np
import pytest

from tests.reference.codes import codes as reference_codes
from tests.reference.codes import dense
from tests.reference.edges import bins_of
from tests.reference.edges import edges as reference_edges
from tests.tree.problems import feature
from tripletree import _kernel
from tripletree.tree import edges as module
from tripletree.tree.edges import find_edges, sampled


def several(rng: np.random.Generator, n: int, number: int) -> np.ndarray:
    columns: list[np.ndarray] = []
    for _ in range(number):
        columns.append(feature(rng, n, columns))
    return np.ascontiguousarray(np.stack(columns, axis=1))


@pytest.mark.parametrize("bins", [2, 3, 7, 64, 256, 1024])
@pytest.mark.parametrize("thresholds", ["short", "midpoint"])
def test_edges_are_the_references(bins, thresholds):
    rng = np.random.default_rng(bins)
    for n in (1, 2, 5, 100, 3_000):
        states = several(rng, n, 8)
        got = find_edges(states, bins, thresholds)
        expected = []
        for f, column in enumerate(states.T):
            few = np.unique(column)
            expected.append(reference_edges(few if len(few) <= bins else column, bins, thresholds == "midpoint"))
            assert got.numbers[got.first[f] : got.first[f + 1]].tolist() == expected[-1]
        numbers = bins_of(states, expected)
        assert np.array_equal(_kernel.bin_rows(states, got.numbers, got.first), numbers)
        codes = _kernel.encode_edges(states, got.numbers, got.first, 2)
        assert np.array_equal(codes >> 20, numbers)
        assert (codes.max(axis=0) < bins << 20).all()
        fine = reference_codes(states)
        for f in np.flatnonzero(fine.max(axis=0) < bins):
            # Few values: each has a bin of its own.
            assert np.array_equal(dense(numbers)[:, f], fine[:, f])


def test_bins_hold_about_equally_many_and_edges_are_short():
    states = np.random.default_rng(0).exponential(size=(50_000, 1))
    edges = find_edges(states, 100)
    counts = np.bincount(_kernel.bin_rows(states, edges.numbers, edges.first)[:, 0])
    assert len(counts) == 100
    assert 240 <= counts.min() <= counts.max() <= 760
    assert max(len(f"{edge:.15g}".lstrip("0.")) for edge in edges.numbers) <= 4


def test_a_heavy_value_has_a_bin_of_its_own():
    rng = np.random.default_rng(1)
    column = np.where(rng.random(50_000) < 0.3, 0.25, rng.normal(size=50_000))[:, None]
    edges = find_edges(column, 64)
    got = _kernel.bin_rows(column, edges.numbers, edges.first)
    assert np.unique(column[got == got[column == 0.25][0]]).tolist() == [0.25]


@pytest.mark.parametrize("n", [1, 2, 600, 5_000, 600_000])
def test_columns_are_sorted(n):
    rng = np.random.default_rng(n)
    states = several(rng, n, 3 if n > 5_000 else 12)
    ordered = np.sort(states.T, axis=1)
    for threads in (1, 2):
        assert np.array_equal(_kernel.sort_columns(states, threads), ordered)
    known = np.unique(ordered[0, : n // 3 + 1])
    assert np.array_equal(_kernel.other_values(states[:, 0], known), np.setdiff1d(states[:, 0], known))
    with pytest.raises(ValueError, match="finite"):
        _kernel.sort_columns(np.append(states, np.full((1, states.shape[1]), np.nan), axis=0), 1)


def test_more_bins_than_rows_in_the_sample(monkeypatch):
    monkeypatch.setattr(module, "SAMPLE", 20)
    column = np.arange(400.0)[:, None] // 10
    edges = find_edges(column, 1024)
    assert np.array_equal(_kernel.bin_rows(column, edges.numbers, edges.first), column)


def test_a_long_log_is_sampled_and_rare_values_are_found(monkeypatch):
    monkeypatch.setattr(module, "SAMPLE", 1_000)
    rng = np.random.default_rng(2)
    n = 50_000
    states = np.stack([rng.normal(size=n), rng.integers(0, 5, n), np.zeros(n)], axis=1)
    states[17, 2] = 1.0  # once, and not in the sample
    rows = sampled(0, n, n)
    assert 17 not in rows
    assert 900 < len(rows) < 1_100
    parts = [sampled(a, a + 7_000, n) + a for a in range(0, 49_000, 7_000)] + [sampled(49_000, n, n) + 49_000]
    assert np.concatenate(parts).tolist() == rows.tolist()
    edges = find_edges(states, 64)
    assert edges.bins.tolist() == [64, 5, 2]
    counts = np.bincount(_kernel.bin_rows(states, edges.numbers, edges.first)[:, 0])
    assert counts.min() > n / 64 / 3
    # More values than bins in the log, though not in the sample: bins by the sample alone.
    states[:2_000, 2] = rng.normal(size=2_000)
    assert find_edges(states, 64).bins[2] <= 64


@pytest.mark.parametrize(
    ("edges", "first", "match"),
    [
        ([1.0, 1.0], [0, 2], "edges must ascend"),
        ([1.0], [0, 2], "first must run"),
        ([1.0], [0, 1, 1], "first must run"),
    ],
)
def test_wrong_edges_are_refused(edges, first, match):
    with pytest.raises(ValueError, match=match):
        _kernel.bin_rows(np.zeros((3, 1)), np.array(edges), np.array(first))
