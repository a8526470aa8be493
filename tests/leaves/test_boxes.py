from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.leaves.test_attributes import chain, stump
from tests.logs import logs
from tripletree.leaves.boxes import bounds, density, log_volume
from tripletree.tree.structure import Tree


def test_bounds_only_where_a_split_made_one():
    lower, upper = bounds(stump(feature=1, threshold=2.5), 2)
    assert lower.tolist() == [[-np.inf, -np.inf], [-np.inf, 2.5]]
    assert upper.tolist() == [[np.inf, 2.5], [np.inf, np.inf]]


def test_a_single_leaf_is_unbounded():
    none = np.full(1, -1, np.int32)
    lower, upper = bounds(Tree(none, np.zeros(1), none, np.zeros(1)), 3)
    assert lower.tolist() == [[-np.inf] * 3]
    assert upper.tolist() == [[np.inf] * 3]


@given(log=logs(), seed=st.integers(0, 999))
def test_boxes_tile_the_space(log, seed):
    rng = np.random.default_rng(seed)
    tree, _ = chain(log, rng, 8)
    lower, upper = bounds(tree, log.n_features)
    # Random states, the samples themselves, and points on the borders.
    borders = np.where(np.isinf(lower), 0.0, lower)
    states = np.vstack([rng.normal(0, 5, (30, log.n_features)), log.states, borders])
    inside = ((lower <= states[:, None]) & (states[:, None] < upper)).all(axis=2)
    assert (inside.sum(axis=1) == 1).all()
    assert inside.argmax(axis=1).tolist() == tree.apply(states).tolist()


def volume(lower, upper, low, high, whole):
    arrays = (np.array(part, float) for part in (lower, upper, low, high))
    return np.exp(log_volume(*arrays, np.array(whole)))


def test_volume_is_a_share_of_the_range():
    inf = np.inf
    share = volume([[-inf, 2], [5, -inf]], [[5, inf], [inf, 2]], [0, 0], [10, 8], [False, False])
    assert share.tolist() == pytest.approx([0.5 * 0.75, 0.5 * 0.25])


def test_constant_features_do_not_count():
    assert volume([[-np.inf, 1]], [[np.inf, 3]], [7, 0], [7, 4], [False, False]).tolist() == pytest.approx([0.5])


def test_whole_numbers_are_counted():
    # A binary feature cut at 1, and an integer one from 0 to 4 cut at 3: {0, 1, 2} and {3, 4}.
    inf = np.inf
    assert volume([[-inf], [1]], [[1], [inf]], [0], [1], [True]).tolist() == pytest.approx([0.5, 0.5])
    assert volume([[-inf], [3]], [[3], [inf]], [0], [4], [True]).tolist() == pytest.approx([0.6, 0.4])
    assert volume([[-inf], [2.5]], [[2.5], [inf]], [0], [4], [True]).tolist() == pytest.approx([0.6, 0.4])


def test_a_flat_box_has_a_finite_density():
    flat = log_volume(np.array([[1.0]]), np.array([[np.inf]]), np.zeros(1), np.ones(1), np.array([False]))
    assert density(np.array([5]), flat).tolist() == pytest.approx([5e9])


def test_density_stays_finite_with_many_features():
    assert np.isfinite(density(np.array([10]), np.array([-2000.0]))).all()
    assert density(np.array([10]), np.log([0.25])).tolist() == pytest.approx([40])
