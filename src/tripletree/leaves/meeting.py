"""Which leaves boxes meet, by descending the tree with the boxes instead of looking at every leaf."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tripletree.tree.arrays import Tree

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]


def meeting(tree: Tree, low: F64, high: F64) -> tuple[I64, I64]:
    """Return pairs of a box and a leaf that it meets, ordered by box and then leaf.

    Parameters
    ----------
    tree : Tree
        The structure.
    low, high : float64 arrays of shape (boxes, features)
        Corners of the boxes, both part of them.

    Returns
    -------
    box, leaf : int64 arrays of the same length
        Number of the box and of the leaf.
    """
    box, node = np.arange(len(low)), np.zeros(len(low), np.int64)
    boxes, leaves = [], []
    while len(box):
        left = tree.left[node].astype(np.int64)
        arrived = left < 0
        if arrived.any():
            boxes.append(box[arrived])
            leaves.append(tree.leaf_number[node[arrived]].astype(np.int64))
            box, node, left = box[~arrived], node[~arrived], left[~arrived]
        feature, threshold = tree.feature[node], tree.threshold[node]
        goes_left, goes_right = low[box, feature] < threshold, high[box, feature] >= threshold
        box = np.concatenate([box[goes_left], box[goes_right]])
        node = np.concatenate([left[goes_left], left[goes_right] + 1])
    met_box = np.concatenate(boxes) if boxes else box
    met_leaf = np.concatenate(leaves) if leaves else node
    order = np.lexsort((met_leaf, met_box))
    return met_box[order], met_leaf[order]
