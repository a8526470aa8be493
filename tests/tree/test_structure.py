from __future__ import annotations

import numpy as np
import pytest

from tripletree.errors import ParameterError
from tripletree.tree.structure import Tree

#         0
#      1     2      step 0 splits 0, step 1 splits 2, step 2 splits 1
#    5   6  3  4
TREE = Tree(
    feature=np.array([0, 1, 1, -1, -1, -1, -1], np.int32),
    threshold=np.array([5.0, 1.0, 2.0, 0, 0, 0, 0]),
    left=np.array([1, 5, 3, -1, -1, -1, -1], np.int32),
    quality=np.array([0.5, 0.2, 0.3, 0, 0, 0, 0]),
)


def test_numbers():
    assert TREE.n_nodes == 7
    assert TREE.n_leaves == 4
    assert TREE.split_order.tolist() == [0, 2, 1]
    assert TREE.parent.tolist() == [-1, 0, 0, 2, 2, 1, 1]
    assert TREE.depth.tolist() == [0, 1, 1, 2, 2, 2, 2]
    assert [level.tolist() for level in TREE.levels] == [[0], [1, 2]]
    assert TREE.leaf_nodes.tolist() == [5, 6, 3, 4]
    assert TREE.leaf_number.tolist() == [-1, -1, -1, 2, 3, 0, 1]


def test_apply_counts_leaves_from_left_to_right():
    states = np.array([[0.0, 0.0], [0.0, 1.0], [5.0, 1.9], [9.0, 2.0]])
    assert TREE.apply(states).tolist() == [0, 1, 2, 3]
    assert TREE.apply(states, threads=2).tolist() == [0, 1, 2, 3]


def test_add_up():
    totals = np.array([0, 10, 0, 1, 2, 3, 4])
    TREE.add_up(totals)
    assert totals.tolist() == [20, 17, 3, 1, 2, 3, 4]


def test_truncate_is_a_prefix_of_growth():
    small = TREE.truncate(3)
    assert small.left.tolist() == [1, -1, 3, -1, -1]
    assert small.feature.tolist() == [0, -1, 1, -1, -1]
    assert small.threshold.tolist() == [5.0, 0.0, 2.0, 0.0, 0.0]
    assert small.quality.tolist() == [0.5, 0.0, 0.3, 0.0, 0.0]
    assert small.leaf_nodes.tolist() == [1, 3, 4]
    assert TREE.truncate(4).left.tolist() == TREE.left.tolist()


def test_a_single_leaf():
    leaf = TREE.truncate(1)
    assert leaf.n_leaves == 1
    assert leaf.levels == ()
    assert leaf.parent.tolist() == [-1]
    assert leaf.leaf_nodes.tolist() == [0]
    assert leaf.apply(np.zeros((2, 2))).tolist() == [0, 0]


@pytest.mark.parametrize("size", [0, 5, -1, 1.5, None])
def test_sizes_that_growth_never_had(size):
    with pytest.raises(ParameterError, match=r"n_leaves must be a whole number from 1 to 4"):
        TREE.truncate(size)
