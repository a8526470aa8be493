from __future__ import annotations

import numpy as np
import pytest

from tripletree.scenes.layout import ROOM, hops, layout


def ring(n: int):
    source = np.arange(n)
    return hops(n, source, (source + 1) % n, np.ones(n))


def test_hops_are_shortest_ways():
    apart = hops(5, np.array([0, 1, 1, 3]), np.array([1, 0, 2, 3]), np.array([2.0, 1.0, 1.0, 9.0]))
    np.testing.assert_allclose(apart[:3, :3], [[0, 1, 2], [1, 0, 1], [2, 1, 0]])
    np.testing.assert_allclose(apart[0, 3:], 2.4)
    np.testing.assert_allclose(np.diag(apart), 0)
    np.testing.assert_allclose(apart, apart.T)


def test_neighbours_are_near():
    at = layout(ring(12))
    apart = np.linalg.norm(at[:, None] - at[None], axis=2)
    neighbours = apart[np.arange(12), (np.arange(12) + 1) % 12]
    opposite = apart[np.arange(12), (np.arange(12) + 6) % 12]
    assert neighbours.max() < opposite.min()


@pytest.mark.parametrize("n", [2, 3, 10, 60])
def test_places_fill_the_box_and_keep_apart(n):
    rng = np.random.default_rng(n)
    apart = hops(n, rng.integers(0, n, 2 * n), rng.integers(0, n, 2 * n), np.ones(2 * n))
    at = layout(apart, 1.5)
    assert (at >= -1e-12).all()
    assert (at <= [1.5 + 1e-12, 1 + 1e-12]).all()
    between = np.linalg.norm(at[:, None] - at[None], axis=2) + 9 * np.eye(n)
    assert between.min() > 0.5 * ROOM * np.sqrt(1.5 / n)
    np.testing.assert_array_equal(at, layout(apart, 1.5))


@pytest.mark.parametrize("n", [0, 1])
def test_next_to_nothing(n):
    assert layout(np.zeros((n, n))).shape == (n, 2)


def test_equal_distances_are_no_trouble():
    at = layout(np.ones((6, 6)) - np.eye(6))
    assert np.isfinite(at).all()
    assert len(np.unique(np.round(at, 6), axis=0)) == 6
