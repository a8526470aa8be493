"""Covers the leaves of each class with few large boxes that touch no other class."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tripletree.leaves.boxes import bounds
from tripletree.tree.structure import Tree

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
TOGETHER = 256
"""Boxes that go down the tree together, so that memory does not go with the square of their number."""


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
    regions = _uniform(tree, classes)
    first, last = regions.first, regions.last
    leaf_lower, leaf_upper = bounds(tree, len(order))
    lower, upper = np.minimum.reduceat(leaf_lower, first), np.maximum.reduceat(leaf_upper, first)
    klass, weight = classes[first], np.add.reduceat(counts, first)
    wide_lower, wide_upper = lower.copy(), upper.copy()
    held: list[list[int]] = []
    for begin in range(0, len(first), TOGETHER):
        block = slice(begin, begin + TOGETHER)
        _widen(tree, regions, (lower, upper), klass, block, order, (wide_lower, wide_upper))
        held += _held(tree, regions, (lower, upper), wide_lower[block], wide_upper[block])
    bounded = (np.isfinite(wide_lower) | np.isfinite(wide_upper)).sum(axis=1)
    kept: list[int] = []
    holder = np.full(len(first), -1)
    for k in np.unique(klass):
        # What a box adds can only become less, so only those that look best are counted again.
        queue = [(-int(weight[held[box]].sum()), int(bounded[box]), box) for box in np.flatnonzero(klass == k).tolist()]
        heapq.heapify(queue)
        while queue:
            gain, size, box = heapq.heappop(queue)
            new = [region for region in held[box] if holder[region] < 0]
            now = -int(weight[new].sum())
            if now == gain:
                holder[new] = len(kept)
                kept.append(box)
            elif new:
                heapq.heappush(queue, (now, size, box))
    return Merged(wide_lower[kept], wide_upper[kept], klass[kept], np.repeat(holder, last - first))


@dataclass(frozen=True, eq=False)
class _Regions:
    """The largest subtrees whose leaves are of one class: ranges of leaves, and the region at each node (-1: none)."""

    first: I64
    last: I64
    at: I64


def _uniform(tree: Tree, classes: I64) -> _Regions:
    """Return the largest subtrees whose leaves are of one class, from left to right."""
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
    at = np.full(tree.n_nodes, -1)
    at[top] = np.arange(len(top))
    return _Regions(first[top], first[top] + size[top], at)


def _met(tree: Tree, regions: _Regions, low: F64, high: F64) -> tuple[I64, I64]:
    """Return the pairs of a box and a region that it meets; all boxes go down the tree together."""
    box, node = np.arange(len(low)), np.zeros(len(low), np.int64)
    boxes, met = [box[:0]], [node[:0]]
    while len(box):
        region = regions.at[node]
        arrived = region >= 0
        boxes.append(box[arrived])
        met.append(region[arrived])
        box, node = box[~arrived], node[~arrived]
        f, threshold, left = tree.feature[node], tree.threshold[node], tree.left[node]
        below, above = low[box, f] < threshold, high[box, f] > threshold
        box = np.concatenate([box[below], box[above]])
        node = np.concatenate([left[below], left[above] + 1]).astype(np.int64)
    return np.concatenate(boxes), np.concatenate(met)


def _widen(
    tree: Tree,
    regions: _Regions,
    own: tuple[F64, F64],
    classes: I64,
    block: slice,
    order: Sequence[int],
    wide: tuple[F64, F64],
) -> None:
    """Make boxes as wide as they can be without meeting another class, along the features in order."""
    lower, upper = own
    low, high, mine = wide[0][block], wide[1][block], classes[block]
    for f in order:
        rows = np.flatnonzero(np.isfinite(low[:, f]) | np.isfinite(high[:, f]))
        at = low[rows, f]
        # Those that the boxes would meet if this feature had no bounds; each lies beyond one of the two.
        low[rows, f], high[rows, f] = -np.inf, np.inf
        box, region = _met(tree, regions, low[rows], high[rows])
        other = mine[rows[box]] != classes[region]
        box, region = box[other], region[other]
        below = upper[region, f] <= at[box]
        np.maximum.at(low[:, f], rows[box[below]], upper[region[below], f])
        np.minimum.at(high[:, f], rows[box[~below]], lower[region[~below], f])


def _held(tree: Tree, regions: _Regions, own: tuple[F64, F64], low: F64, high: F64) -> list[list[int]]:
    """Return the regions that lie in each box, in order."""
    box, region = _met(tree, regions, low, high)
    inside = ((low[box] <= own[0][region]) & (high[box] >= own[1][region])).all(axis=1)
    box, region = box[inside], region[inside]
    ranked = np.lexsort((region, box))
    ends = np.cumsum(np.bincount(box, minlength=len(low)))[:-1]
    return [part.tolist() for part in np.split(region[ranked], ends)]
