"""Mixing: where an averaged map hides that leaves behind it disagree, because features not shown decide; hatched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from tripletree.leaves.project import project
from tripletree.scenes.colouring import Colouring
from tripletree.scenes.colours import INK, ON_DARK, ON_LIGHT, dark
from tripletree.scenes.guides import shade_of, shades
from tripletree.scenes.types import Entry, Lines, Mesh, Scene, Veil
from tripletree.scenes.view import View

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

AGREE = 0.75
"""A label is mixed where it is right less often than this share of what the leaves behind it would get right."""
SPREAD = 0.5
"""A mean is mixed where the leaves behind it vary by more than this share of the variance over the whole map."""
CELLS, APART = 80, 4
"""Cells along an axis that are hatched or not, and cells from one line to the next."""
PATCH = 0.05
"""Most of a patch around a cell, this share of the map wide and high, must be mixed: no hatching of specks."""
MIXED = Entry("situations mix here: other features decide", INK, "hatching")


def mixed_labels(view: View, pictured: Colouring, most: F64) -> Mask:
    """Return the cells in which leaves disagree about the most frequent label.

    Compared with what the leaves would get right, not with 1: where samples of one leaf have different labels, no
    other feature decides, as far as the tree knows.

    Parameters
    ----------
    view : View
        The map, which averages.
    pictured : Colouring
        The labels' shares.
    most : float64 array
        The share of the most frequent label in each cell of the projection.
    """
    own = pictured.mean.max(axis=1, keepdims=True)
    found = project(view.boxes, view.axes, view.limits, pictured.population, own)
    # Less a hair, here and below, for the rounding errors of sums in another order.
    mixed: Mask = most < AGREE * found.mean[..., 0] * (1 - 1e-9)
    return mixed


def mixed_numbers(view: View, pictured: Colouring) -> Mask:
    """Return the cells in which the means of leaves differ by a large part of what samples differ by on the map."""
    # The whole map is its one cell from end to end; numbers are centred, for squares of large ones would cancel badly.
    ends = [np.array([view.boxes.low[f], view.boxes.high[f]]) for f in view.axes]
    centre = project(view.boxes, view.axes, view.limits, pictured.population, pictured.mean, ends).mean.ravel()
    mean = pictured.mean - centre
    squared = mean**2
    within = np.zeros_like(squared) if pictured.std is None else pictured.std[:, None] ** 2
    whole = project(view.boxes, view.axes, view.limits, pictured.population, squared + within, ends).mean.item()
    found = project(view.boxes, view.axes, view.limits, pictured.population, np.hstack([mean, squared])).mean
    between = found[..., 1] - found[..., 0] ** 2
    mixed: Mask = between > SPREAD * whole * (1 + 1e-9) + 1e-18 * centre.item() ** 2
    return mixed


def hatched(scene: Scene, mixed: Mask) -> Scene:
    """Return a map with lines over what is mixed, as far as it is not faded.

    Parameters
    ----------
    scene : Scene
        A map whose first mark is a mesh.
    mixed : bool array of shape (cells along x, cells along y)
        Which cells of the mesh are mixed.
    """
    mesh = scene.marks[0]
    if not isinstance(mesh, Mesh) or scene.colours is None:
        return scene
    x, y = (np.linspace(axis.low, axis.high, CELLS + 1) for axis in (scene.x, scene.y))
    lined = _patches(x, mesh.x) @ mixed @ _patches(y, mesh.y).T > 0.5
    for mark in scene.marks:
        if isinstance(mark, Veil):
            lined &= ~mark.hidden[_places((mark.x, mark.y), (x, y))]
    # On dark tiles lines are light, as letters would be.
    deep = np.array([dark(colour) for colour in shades(scene.colours)])
    below = deep[shade_of(scene.colours, mesh.value[_places((mesh.x, mesh.y), (x, y))])]
    marks = []
    for colour, which in ((ON_LIGHT, lined & ~below), (ON_DARK, lined & below)):
        lines = _diagonals(which, x, y)
        if len(lines):
            marks.append(Lines((lines,), colour, 0.45, np.array([0.6])))
    if not marks:
        return scene
    return replace(scene, marks=(mesh, *marks, *scene.marks[1:]), legend=(*scene.legend, MIXED))


def said_once(scenes: Sequence[Scene]) -> tuple[list[Scene], tuple[Entry, ...]]:
    """Return scenes that leave it to the legend of their sheet what hatching means, and that legend."""
    legend = (MIXED,) if any(MIXED in scene.legend for scene in scenes) else ()
    kept = [tuple(entry for entry in scene.legend if entry is not MIXED) for scene in scenes]
    return [replace(scene, legend=entries) for scene, entries in zip(scenes, kept, strict=True)], legend


def _patches(cells: F64, edges: F64) -> F64:
    """Return which share of the patch around each cell lies in each cell of the mesh, shape (cells, those of the mesh).

    At the border of the map, a patch is cut.
    """
    middle, reach = (cells[1:] + cells[:-1]) / 2, PATCH / 2 * (cells[-1] - cells[0])
    low, high = np.maximum(middle - reach, cells[0])[:, None], np.minimum(middle + reach, cells[-1])[:, None]
    part: F64 = np.maximum(np.minimum(high, edges[1:]) - np.maximum(low, edges[:-1]), 0.0) / (high - low)
    return part


def _places(edges: tuple[F64, F64], cells: tuple[F64, F64]) -> tuple[I64, ...]:
    """Return what to index a grid of some edges with, rows along y, for the middles of cells: columns along y."""
    i, j = (
        np.clip(np.searchsorted(edge, (cell[1:] + cell[:-1]) / 2, "right") - 1, 0, len(edge) - 2)
        for edge, cell in zip(edges, cells, strict=True)
    )
    return j[None, :], i[:, None]


def _diagonals(which: Mask, x: F64, y: F64) -> F64:
    """Return strokes from corner to corner of some cells, those of neighbours as one line, with NaN between lines."""
    i, j = np.nonzero(which)
    drawn = (i - j) % APART == 0
    i, j = i[drawn], j[drawn]
    order = np.lexsort((i, i - j))
    i, j = i[order], j[order]
    # A line ends where the next stroke does not begin at its end.
    ends = np.append((np.diff(i) != 1) | (np.diff(j) != 1), True)[: len(i)]
    begins = np.append(True, ends[:-1])[: len(i)]
    gap = np.full(int(ends.sum()), np.nan)
    along = [np.column_stack([x[i[begins]], x[i[ends] + 1], gap]), np.column_stack([y[j[begins]], y[j[ends] + 1], gap])]
    return np.stack(along, axis=-1).reshape(-1, 2)
