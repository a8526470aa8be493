"""Covers the leaves of each class with few large boxes that touch no other class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tripletree.leaves.boxes import bounds
from tripletree.tree.structure import Tree

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Merged:
    """Boxes of one class each; together they hold every state, and boxes of different classes never overlap.

    Attributes
    ----------
    lower, upper : float64 arrays of shape (boxes, features)
        Bounds, ``lower <= state < upper``; infinite where there is none.
    classes : int64 array of shape (boxes,)
        Class of each box.
    box : int64 array of shape (leaves,)
        The first box that holds the whole of each leaf.
    """

    lower: F64
    upper: F64
    classes: I64
    box: I64


def merge(tree: Tree, classes: I64, counts: I64, order: Sequence[int]) -> Merged:
    """Return boxes that say of every state what class its leaf has.

    Subtrees of one class are taken together. Each of these boxes is then widened, feature by feature, until it meets
    another class. Of the wide boxes those are kept that hold most samples that no box before them holds, until every
    leaf lies in one of its class. Boxes of one class may overlap.

    Parameters
    ----------
    tree : Tree
        The structure.
    classes : int64 array of shape (leaves,)
        Class of each leaf, from 0.
    counts : int64 array of shape (leaves,)
        Samples of each leaf.
    order : sequence of int
        The features, those first whose bounds are most welcome to go.

    Returns
    -------
    Merged
        Boxes by class, and in each class in the order in which they were chosen.
    """
    first, last = _uniform(tree, classes)
    leaf_lower, leaf_upper = bounds(tree, len(order))
    lower, upper = np.minimum.reduceat(leaf_lower, first), np.maximum.reduceat(leaf_upper, first)
    klass, weight = classes[first], np.add.reduceat(counts, first)
    wide = [_widened(lower, upper, klass, i, order) for i in range(len(first))]
    wide_lower, wide_upper = np.array([low for low, _ in wide]), np.array([high for _, high in wide])
    kept: list[int] = []
    holder = np.zeros(len(first), np.int64)
    for k in np.unique(klass):
        seeds = np.flatnonzero(klass == k)
        inside = np.ones((len(seeds), len(seeds)), bool)
        for f in range(len(order)):
            inside &= wide_lower[seeds, f, None] <= lower[seeds, f]
            inside &= wide_upper[seeds, f, None] >= upper[seeds, f]
        bounded = (np.isfinite(wide_lower[seeds]) | np.isfinite(wide_upper[seeds])).sum(axis=1)
        left = np.ones(len(seeds), bool)
        while left.any():
            gain = inside[:, left] @ weight[seeds[left]]
            best = int(np.lexsort((bounded, -gain))[0])
            holder[seeds[inside[best] & left]] = len(kept)
            kept.append(int(seeds[best]))
            left &= ~inside[best]
    return Merged(wide_lower[kept], wide_upper[kept], klass[kept], np.repeat(holder, last - first))


def _uniform(tree: Tree, classes: I64) -> tuple[I64, I64]:
    """Return the largest subtrees whose leaves are of one class, as ranges of leaves: first, and one after the last."""
    node = np.full(tree.n_nodes, -1)
    node[tree.leaf_nodes] = classes
    for nodes in reversed(tree.levels):
        left = tree.left[nodes]
        node[nodes] = np.where(node[left] == node[left + 1], node[left], -1)
    size = np.zeros(tree.n_nodes, np.int64)
    size[tree.leaf_nodes] = 1
    tree.add_up(size)
    first = np.zeros(tree.n_nodes, np.int64)
    for nodes in tree.levels:
        left = tree.left[nodes]
        first[left], first[left + 1] = first[nodes], first[nodes] + size[left]
    above = np.append(-1, node[tree.parent[1:]])
    top = np.flatnonzero((node >= 0) & (above < 0))
    top = top[np.argsort(first[top])]
    return first[top], first[top] + size[top]


def _widened(lower: F64, upper: F64, classes: I64, box: int, order: Sequence[int]) -> tuple[F64, F64]:
    """Return a box as wide as it can be without meeting another class, widened along the features in order."""
    low, high = lower[box].copy(), upper[box].copy()
    other = classes != classes[box]
    lower, upper = lower[other], upper[other]
    apart = (lower >= high) | (upper <= low)
    away = apart.sum(axis=1)
    for f in order:
        if low[f] == -np.inf and high[f] == np.inf:
            continue
        facing = away - apart[:, f] == 0  # those that the box would meet if this feature had no bounds
        below, above = upper[facing, f], lower[facing, f]
        low[f] = below[below <= low[f]].max(initial=-np.inf)
        high[f] = above[above >= high[f]].min(initial=np.inf)
        away -= apart[:, f]
        apart[:, f] = (lower[:, f] >= high[f]) | (upper[:, f] <= low[f])
        away += apart[:, f]
    return low, high
