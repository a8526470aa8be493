"""The boxes of the leaves: their bounds, their volume, how densely they are filled, and which other boxes they meet."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tripletree.tree.structure import Tree

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

THINNEST = 1e-9
"""Least width of a box, as a share of the feature's range, so that no volume is 0."""


def bounds(tree: Tree, n_features: int) -> tuple[F64, F64]:
    """Return lower and upper bounds of every leaf, shape (leaves, features); infinite where no split made one.

    A state lies in a leaf when ``lower <= state < upper`` in every feature.
    """
    lower, upper = node_bounds(tree, n_features)
    return lower[tree.leaf_nodes], upper[tree.leaf_nodes]


def node_bounds(tree: Tree, n_features: int) -> tuple[F64, F64]:
    """Return lower and upper bounds of every node, inner nodes included, shape (nodes, features)."""
    lower = np.full((tree.n_nodes, n_features), -np.inf)
    upper = np.full((tree.n_nodes, n_features), np.inf)
    for nodes in tree.levels:
        left, feature, threshold = tree.left[nodes], tree.feature[nodes], tree.threshold[nodes]
        for child in (left, left + 1):
            lower[child], upper[child] = lower[nodes], upper[nodes]
        upper[left, feature] = np.minimum(upper[left, feature], threshold)
        lower[left + 1, feature] = np.maximum(lower[left + 1, feature], threshold)
    return lower, upper


def log_volume(lower: F64, upper: F64, feature_min: F64, feature_max: F64, whole: npt.NDArray[np.bool_]) -> F64:
    """Return the natural logarithm of each box's share of the log's range, shape (leaves,).

    Unbounded sides end at the log's minimum and maximum. Features that are constant in the log do not count. For
    features with ``whole`` numbers only, the share of the numbers in the box takes the place of the share of length.
    """
    low, high = np.maximum(lower, feature_min), np.minimum(upper, feature_max)
    span = feature_max - feature_min
    share = (high - low) / np.where(span > 0, span, 1.0)
    # Whole numbers in [low, high), or in [low, high] where the log's maximum ends the box.
    numbers = np.maximum(np.where(np.isinf(upper), np.floor(high) + 1, np.ceil(high)) - np.ceil(low), 1.0)
    share = np.where(whole, numbers / np.maximum(np.floor(feature_max) - np.ceil(feature_min) + 1, 1.0), share)
    total: F64 = np.log(np.clip(np.where(span > 0, share, 1.0), THINNEST, 1.0)).sum(axis=1)
    return total


def density(count: npt.NDArray[np.int64] | F64, log_volumes: F64) -> F64:
    """Return samples per volume of each box (a box as large as the log's whole range has volume 1)."""
    # Many features make volumes too small for a double; their densities stop at the largest number there is.
    return np.exp(np.minimum(np.log(count) - log_volumes, np.log(np.finfo(np.float64).max)))


def intersect(tree: Tree, low: F64, high: F64) -> tuple[I64, I64]:
    """Return pairs of a box and a leaf that it meets, ordered by box and then leaf.

    The boxes descend the tree together, which is much less work than looking at every leaf.

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
