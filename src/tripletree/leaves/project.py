"""Projection: leaves seen along one or two features, the others averaged, limited or fixed (paper, Appendix C)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tripletree.leaves.boxes import THINNEST, bounds
from tripletree.tree.structure import Tree

if TYPE_CHECKING:
    from scipy import sparse

F64 = npt.NDArray[np.float64]
Limits = Mapping[int, tuple[float, float]]

MARGIN = 0.01
"""How far the range goes on above a leaf that begins at its end, as a share of it."""


@dataclass(frozen=True, eq=False)
class Extents:
    """The boxes of the leaves as pictures show them.

    Unbounded sides end at the log's range. A whole number is a band of width 1 around it, so that lengths count
    numbers; a feature that is constant in the log has such a band too. Where a leaf begins at the log's very maximum,
    the range goes on a little, so that every leaf can be seen.

    Attributes
    ----------
    lower, upper : float64 arrays of shape (leaves, features)
        The boxes, cut to the range.
    low, high : float64 arrays of shape (features,)
        The range.
    split_lower, split_upper : float64 arrays of shape (leaves, features)
        The boxes as splits made them, infinite where there is no split.
    whole : bool array of shape (features,)
        Which features have whole numbers only.
    """

    lower: F64
    upper: F64
    low: F64
    high: F64
    split_lower: F64
    split_upper: F64
    whole: npt.NDArray[np.bool_]

    def band(self, feature: int, low: float, high: float) -> tuple[float, float]:
        """Return where an interval ``low <= x < high`` of a feature lies in the picture, cut to the range."""
        if self.whole[feature]:
            low, high = np.ceil(low) - 0.5, np.ceil(high) - 0.5
        return max(low, float(self.low[feature])), min(high, float(self.high[feature]))

    def edges(self, feature: int, leaves: npt.NDArray[np.bool_]) -> F64:
        """Return all distinct bounds of some leaves along a feature (paper, equation 4)."""
        return np.unique(np.concatenate([self.lower[leaves, feature], self.upper[leaves, feature]]))


@dataclass(frozen=True, eq=False)
class Projection:
    """Means over the leaves behind each cell of a grid.

    Attributes
    ----------
    edges : tuple of one or two float64 arrays
        The grid: cell ``i`` of a feature goes from ``edges[i]`` to ``edges[i + 1]``.
    weight : float64 array of shape (cells,) or (cells of the first feature, cells of the second)
        The summed weights of each cell.
    mean : float64 array of the same shape with one more axis, columns
        The weighted means.
    """

    edges: tuple[F64, ...]
    weight: F64
    mean: F64


def extents(tree: Tree, feature_min: F64, feature_max: F64, whole: npt.NDArray[np.bool_]) -> Extents:
    """Return the boxes of a tree's leaves as pictures show them."""
    split_lower, split_upper = bounds(tree, len(feature_min))
    span = feature_max - feature_min
    pad = np.where(whole | (span == 0), 0.5, 0.0)
    lower = np.where(whole, np.ceil(split_lower) - 0.5, split_lower)
    upper = np.where(whole, np.ceil(split_upper) - 0.5, split_upper)
    at_the_end = (lower > feature_max + pad - THINNEST * span).any(axis=0) & (span > 0)
    low, high = feature_min - pad, feature_max + np.where(at_the_end, MARGIN * span, pad)
    return Extents(np.clip(lower, low, high), np.clip(upper, low, high), low, high, split_lower, split_upper, whole)


def share(boxes: Extents, feature: int, low: float, high: float) -> F64:
    """Return which share of each leaf lies between two values of a feature, were it filled evenly.

    For ``low == high`` it is the limit for ever narrower intervals, divided by their width: the share per unit.
    """
    if low == high:
        inside = (boxes.split_lower[:, feature] <= low) & (low < boxes.split_upper[:, feature])
        thinnest = THINNEST * (boxes.high[feature] - boxes.low[feature])
        per_unit: F64 = inside / np.maximum(boxes.upper[:, feature] - boxes.lower[:, feature], thinnest)
        return per_unit
    low, high = boxes.band(feature, low, high)
    lower, upper = boxes.lower[:, feature], boxes.upper[:, feature]
    width = upper - lower
    overlap = np.maximum(np.minimum(upper, high) - np.maximum(lower, low), 0.0)
    # A leaf without width (of a feature that was said to be whole and is not) is inside as a whole or not at all.
    part: F64 = np.where(width > 0, overlap / np.where(width > 0, width, 1.0), (low <= lower) & (lower <= high))
    return part


def log_volume(boxes: Extents) -> F64:
    """Return the natural logarithm of each leaf's share of the volume of the whole range, shape (leaves,)."""
    part = (boxes.upper - boxes.lower) / (boxes.high - boxes.low)
    total: F64 = np.log(np.maximum(part, THINNEST)).sum(axis=1)
    return total


def within(boxes: Extents, limits: Limits) -> F64:
    """Return which share of each leaf lies within limits on several features, shape (leaves,)."""
    total = np.ones(len(boxes.lower))
    for feature, (low, high) in limits.items():
        total *= share(boxes, feature, low, high)
    return total


def project(
    boxes: Extents,
    axes: Sequence[int],
    limits: Limits,
    population: F64,
    columns: F64,
    edges: Sequence[F64] | None = None,
) -> Projection:
    """Return weighted means of leaf attributes over a grid along one or two features.

    The weight of a leaf in a cell is its population times the share of its box that lies in the cell and within the
    limits (paper, equations 6 and 7): the samples to be expected there if each leaf were filled evenly.

    Parameters
    ----------
    boxes : Extents
        The leaves.
    axes : one or two feature numbers
        What to project onto.
    limits : mapping of feature numbers to (low, high)
        Intervals of other features; ``low == high`` fixes a feature. With all others fixed this is a slice, with none
        the projection of the whole space.
    population : float64 array of shape (leaves,)
        What a leaf weighs: samples, or its volume.
    columns : float64 array of shape (leaves, columns)
        What to average.
    edges : one array for each axis, or None
        Another grid than that of all bounds of the leaves.
    """
    weight = population * within(boxes, limits)
    weighted = weight[:, None] * np.column_stack([np.ones(len(weight)), columns])
    if edges is None:
        edges = [boxes.edges(feature, weight > 0) for feature in axes]
        sums = _own_sums(boxes, axes, edges, weighted)
    else:
        sums = _sums(boxes, axes, edges, weighted)
    with np.errstate(invalid="ignore"):
        mean = np.moveaxis(sums[:, 1:] / sums[:, :1], 1, -1)
    total = sums[:, 0]
    if len(axes) == 1:
        mean, total = mean[:, 0], total[:, 0]
    return Projection(tuple(edges), total, mean)


def _sums(boxes: Extents, axes: Sequence[int], edges: Sequence[F64], weighted: F64) -> F64:
    """Return the sums of columns over the leaves of each cell of any grid, shape (cells, columns, cells)."""
    covered = [_coverage(boxes, feature, grid) for feature, grid in zip(axes, edges, strict=True)]
    last = covered[1] if len(axes) == 2 else np.ones((len(weighted), 1))
    # One matrix product for the sum of weights and for every column.
    spread = (weighted[:, :, None] * last[:, None, :]).reshape(len(weighted), -1)
    return (covered[0].T @ spread).reshape(covered[0].shape[1], weighted.shape[1], last.shape[1])


def _own_sums(boxes: Extents, axes: Sequence[int], edges: Sequence[F64], weighted: F64) -> F64:
    """Return the same for the grid of the leaves' own bounds, of which every leaf has whole cells.

    A row of cells is a few nodes of a binary tree over all of them, so a leaf is added to the pairs of few nodes rather
    than to all of its cells, and a cell is the sum of the nodes above it. Nothing is ever subtracted: running sums
    would lose a wide leaf beside a narrow one.
    """
    from scipy import sparse

    seen = weighted[:, 0] > 0
    nodes, cells = [], [max(len(grid) - 1, 0) for grid in edges]
    density = weighted[seen]
    for feature, grid in zip(axes, edges, strict=True):
        lower, upper = boxes.lower[seen, feature], boxes.upper[seen, feature]
        nodes.append(_nodes(np.searchsorted(grid, lower), np.searchsorted(grid, upper), max(len(grid) - 1, 0)))
        density = density / np.where(upper > lower, upper - lower, 1.0)[:, None]
    if len(axes) == 1:
        return _cells_below(nodes[0].T @ density, cells[0])[:, :, None] * np.diff(edges[0])[:, None, None]
    across, up = nodes[0].T.tocsr(), nodes[1]
    sums = np.empty((cells[0], density.shape[1], cells[1]))
    for column, one in enumerate(density.T):
        heavy = sparse.csr_array((np.repeat(one, np.diff(up.indptr)), up.indices, up.indptr), shape=up.shape)
        rows = _cells_below((across @ heavy).toarray(), cells[0])
        sums[:, column] = _cells_below(np.ascontiguousarray(rows.T), cells[1]).T
    return sums * np.diff(edges[0])[:, None, None] * np.diff(edges[1])


def _nodes(first: npt.NDArray[np.int64], end: npt.NDArray[np.int64], cells: int) -> sparse.csr_array:
    """Return the nodes that make up each row of cells, shape (rows, 2 cells): node k lies above 2 k and 2 k + 1."""
    from scipy import sparse

    low, high = first + cells, end + cells
    rows, found = [], []
    while (open_ := low < high).any():
        for side, step in ((low, 0), (high, 1)):
            taken = np.flatnonzero(open_ & (side % 2 == 1))
            rows.append(taken)
            found.append(side[taken] - step)
        low, high = (low + 1) // 2, high // 2
    row, node = np.concatenate([[], *rows]).astype(np.int64), np.concatenate([[], *found]).astype(np.int64)
    return sparse.csr_array((np.ones(len(row)), (row, node)), shape=(len(first), 2 * cells))


def _cells_below(nodes: F64, cells: int) -> F64:
    """Return the sums over the nodes above each cell, along the first axis; what ``nodes`` held is lost."""
    top = 1
    while top < cells:
        end = min(2 * top, cells)
        nodes[2 * top : 2 * end : 2] += nodes[top:end]
        nodes[2 * top + 1 : 2 * end : 2] += nodes[top:end]
        top *= 2
    return nodes[cells:]


def _coverage(boxes: Extents, feature: int, edges: F64) -> F64:
    """Return the share of each leaf in each cell along one feature, shape (leaves, cells)."""
    lower, upper = boxes.lower[:, feature, None], boxes.upper[:, feature, None]
    overlap = np.maximum(np.minimum(upper, edges[1:]) - np.maximum(lower, edges[:-1]), 0.0)
    part: F64 = overlap / np.where(upper > lower, upper - lower, 1.0)
    return part
