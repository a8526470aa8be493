"""Support: which places of a map the log says something about; the others are faded."""

from __future__ import annotations

import itertools

import numpy as np
import numpy.typing as npt

from tripletree import _kernel
from tripletree.leaves.project import Extents, project, within
from tripletree.log.log import Log
from tripletree.model.evaluate import check_same_schema
from tripletree.model.fitted import Fitted
from tripletree.scenes.types import Axis, Veil
from tripletree.scenes.view import View

F64 = npt.NDArray[np.float64]
Cells = npt.NDArray[np.uint16]
Mask = npt.NDArray[np.bool_]

PATCH = 0.1
"""A place is supported by the samples in a patch around it, this share of the map wide and high."""
CELLS, FINE = 50, 4
"""Cells along an axis in which samples are counted, and parts of each when leaves are drawn: these have sharp sides."""
RECORDED = "Faded: no state of the log is nearby"
EXPECTED = "Faded: less than one sample of the log is expected nearby"


def veil(view: View, up: Axis, log: Log | None = None) -> tuple[Veil, str] | None:
    """Return what to fade and the sentence that says so; None where the log supports the whole map.

    With a log, a place is faded where no sample lies in the patch around it. A tree alone does not know where in a leaf
    its samples lie: it expects them evenly, and a place is faded where a patch would hold less than one.

    Parameters
    ----------
    view : View
        The map.
    up : Axis
        Its vertical axis: a picture along one feature is faded from its foot to its top.
    log : Log or None
        Where the samples are; None: in the leaves.
    """
    if log is not None:
        check_same_schema(view.fitted.schema, log, "log")
    edges = [_edges(view, f, CELLS if log is not None else CELLS * FINE) for f in view.axes]
    if log is None:
        hidden = ~_expected(view, edges)
    elif view.limits:
        hidden = ~_recorded(view, log, edges)
    else:
        # Whatever the colour: somebody who looks at a map looks at several of it.
        hidden = ~view.fitted.recall(log, f"seen {view.axes}", lambda: _recorded(view, log, edges))
    if not hidden.any():
        return None
    sides = *edges, np.array([up.low, up.high])
    return Veil(sides[0], sides[1], np.atleast_2d(hidden.T)), EXPECTED if log is None else RECORDED


def patch(view: View, feature: int) -> float:
    """Return the width of a patch along a feature; of whole numbers, as far as there are few, it is a single one."""
    span = float(view.boxes.high[feature] - view.boxes.low[feature])
    return 1.0 if _counted(view, feature) else PATCH * span


def _edges(view: View, feature: int, cells: int) -> F64:
    """Return the sides of the cells along a feature: whole numbers have one each, as far as there are few of them."""
    low, high = float(view.boxes.low[feature]), float(view.boxes.high[feature])
    if _counted(view, feature):
        return np.append(np.arange(low, high - 0.25), high)
    # Between the ends of a range of a few last digits there are fewer numbers than cells.
    return np.unique(np.linspace(low, high, cells + 1))


def _counted(view: View, feature: int) -> bool:
    """Return whether a cell is one number, which its neighbours say nothing about; a constant is one number, too."""
    span = float(view.fitted.feature_max[feature] - view.fitted.feature_min[feature])
    return span == 0 or bool(view.boxes.whole[feature] and span < CELLS)


def _seen(view: View) -> F64:
    """Return which share of each leaf is within the limits; of features that are fixed, whether the leaf is cut."""
    intervals = {f: limit for f, limit in view.limits.items() if limit[0] < limit[1]}
    share: F64 = within(view.boxes, intervals) * (within(view.boxes, view.limits) > 0)
    return share


def _expected(view: View, edges: list[F64]) -> Mask:
    """Return where a patch would hold a sample if each leaf were filled evenly."""
    count = view.fitted.leaves.count * _seen(view)
    found = project(view.boxes, view.axes, {}, count, np.zeros((len(count), 0)), edges).weight
    for axis, (f, edge) in enumerate(zip(view.axes, edges, strict=True)):
        wider = patch(view, f) / np.diff(edge)
        found = found * np.expand_dims(wider, tuple(k for k in range(found.ndim) if k != axis))
    # Less a hair, for the rounding errors of what should add up to 1.
    enough: Mask = found >= 1 - 1e-6
    return enough


def _recorded(view: View, log: Log, edges: list[F64]) -> Mask:
    """Return where a patch holds a sample of the log."""
    states = log.states
    if view.limits:
        # Hardly any sample lies exactly on a slice; those in its leaves are counted instead, as overlays draw them.
        rows = _seen(view)[view.fitted.tree.apply(np.ascontiguousarray(states))] > 0
        for f, (low, high) in view.limits.items():
            if low < high:
                rows &= (states[:, f] >= low) & (states[:, f] < high)
        states = states[rows]
    return _near(view, _cells(states[:, list(view.axes)], edges).T, edges)


def _cells(states: F64, edges: list[F64]) -> Cells:
    """Return the cell of each value along each feature, shape (states, features), counted from 1.

    What lies beyond the ends, in a log that the tree was not grown on, is in cell 0 or in one more than there are.
    """
    # A value at the very end belongs to the last cell.
    sides = [np.append(edge[:-1], np.nextafter(edge[-1], np.inf)) for edge in edges]
    first = np.cumsum([0, *map(len, sides)])
    return _kernel.bin_rows(np.ascontiguousarray(states), np.concatenate(sides), first)


def _near(view: View, cells: Cells, edges: list[F64]) -> Mask:
    """Return the cells of a map that have a sample in the patch around them; ``cells`` are those of each axis."""
    sizes = [len(edge) + 1 for edge in edges]
    number = cells[0].astype(np.int64)
    for cell, size in zip(cells[1:], sizes[1:], strict=True):
        number *= size
        number += cell
    near: Mask = np.zeros(int(np.prod(sizes)), np.bool_)
    near[number] = True
    near = near.reshape(sizes)[(slice(1, -1),) * len(sizes)]
    for axis, f in enumerate(view.axes):
        if not _counted(view, f):
            near = _widened(near, axis, round(PATCH * CELLS / 2))
    return near


def all_pairs(fitted: Fitted, boxes: Extents, log: Log) -> tuple[list[F64], dict[tuple[int, ...], Mask]]:
    """Return the sides of the cells along every feature, and what to hide on the map of each pair of features.

    A tree with one feature has one map, along it alone.
    """
    check_same_schema(fitted.schema, log, "log")
    features = range(len(fitted.schema.features))
    whole = View(fitted, boxes, tuple(features), {})
    edges = [_edges(whole, f, CELLS) for f in features]
    # Feature after feature: every map reads two of them.
    cells = np.ascontiguousarray(_cells(log.states, edges).T)
    maps = itertools.combinations(features, min(2, len(features)))
    return edges, {
        axes: ~_near(View(fitted, boxes, axes, {}), cells[list(axes)], [edges[f] for f in axes]) for axes in maps
    }


def _widened(mask: Mask, axis: int, reach: int) -> Mask:
    """Return where the mask holds within ``reach`` cells along an axis."""
    along = np.moveaxis(mask, axis, 0)
    # Running counts: a cell is near when there is one between both ends of its reach.
    total = np.concatenate([np.zeros((1, *along.shape[1:]), np.int64), np.cumsum(along, axis=0)])
    here = np.arange(len(along))
    ends = np.minimum(here + reach + 1, len(along)), np.maximum(here - reach, 0)
    return np.moveaxis(total[ends[0]] > total[ends[1]], 0, axis)
