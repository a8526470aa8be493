"""Leaf maps: what the tree predicts along one or two features, leaves side by side or averaged."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.checks import check_flag, is_integer, is_number
from tripletree.errors import ParameterError
from tripletree.language.numbers import capital
from tripletree.leaves.project import project
from tripletree.log.log import Log
from tripletree.scenes.colouring import Colouring, colour_scale, derivative_population, read_colour
from tripletree.scenes.colours import CATEGORIES, FAINT, PAPER
from tripletree.scenes.linear_map import linear_mesh
from tripletree.scenes.mixing import hatched, mixed_labels, mixed_numbers
from tripletree.scenes.support import veil
from tripletree.scenes.types import Arrows, Axis, Band, ColourScale, Entry, Labels, Lines, Mark, Mesh, Rectangles, Scene
from tripletree.scenes.view import View
from tripletree.text import Message, Option, count

F64 = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

LABELS_AT_ONCE = 16
"""Labels of a discrete action that are projected together."""
ARROW_GRID = 16
"""Arrows along each axis when many leaves lie behind each point."""
ARROW_LENGTH = 0.055
"""How long a typical arrow of a leaf is, as a share of the picture; on a grid it is nearly as long as a cell."""


def leaf_map(
    view: View,
    colour: Any = "action",
    *,
    arrows: Any = False,
    limits: Any = None,
    linear: Any = False,
    log: Log | None = None,
) -> Scene:
    """Return the map of a view.

    Parameters
    ----------
    view : View
        Which features.
    colour : str or None
        What is shown by colour (see ``pictured.known_colours``); None for outlines and arrows only.
    arrows : bool or int
        Whether to show where the agent moves; where leaves are averaged, a number of arrows along each axis.
    limits : (low, high) or None
        Ends of the colour scale; None: the least and the largest value seen.
    linear : bool
        Whether leaves are shaded by their linear models instead of their means.
    log : Log or None
        Whose samples decide what is faded; None: those that are to be expected in the leaves.
    """
    check_flag(linear, "linear")
    if limits is not None and not (
        isinstance(limits, tuple | list) and len(limits) == 2 and all(map(is_number, limits)) and limits[0] < limits[1]
    ):
        raise ParameterError(
            Message("{} must be (low, high), the ends of the colour scale; got {!r}.", Option("limits"), limits)
        )
    if not isinstance(arrows, bool) and (not is_integer(arrows) or arrows < 1):
        raise ParameterError(
            Message(
                "{} must be True, False or a whole number of at least 1; got {!r}. Try {}.",
                Option("arrows"),
                arrows,
                Option("arrows", True),
            )
        )
    pictured = None if colour is None else read_colour(view.fitted, view.boxes, colour)
    if pictured is not None and not pictured.averages and not view.direct:
        raise ParameterError(
            Message(
                "Many leaves lie behind each point of this picture, so it cannot show {}s. Fix the other features with "
                "{} or {}, or choose {}.",
                pictured.label,
                Option("at", ...),
                Option("where", ...),
                Option("colour", "density"),
            )
        )
    if len(view.axes) == 1:
        if pictured is None:
            raise ParameterError(
                Message("{} must name what to show along one feature; None is for maps of two.", Option("colour"))
            )
        if arrows:
            raise ParameterError(Message("Arrows need two features: give {} as well.", Option("y")))
        if linear:
            linear_mesh(view, colour)  # which says what it needs
        return _faded(_along_one(view, pictured), view, pictured, log)
    marks: list[Mark] = []
    scale: ColourScale | None = None
    legend: tuple[Entry, ...] = ()
    mixed: Mask | None = None
    if pictured is None:
        marks.append(_outlines(view))
    else:
        if linear:
            mark, scale = _shaded(view, pictured, colour, limits)
        elif view.direct:
            mark, scale = _tiles(view, pictured, limits)
        else:
            mark, scale, mixed = _averaged(view, pictured, limits)
        marks.append(mark)
        if linear:
            marks.append(_leaf_rectangles(view, None))
        if pictured.scale == "number":
            marks.append(_numbers(view))
    if arrows:
        quiver = _arrows(view, ARROW_GRID if arrows is True else int(arrows))
        marks.append(quiver)
        legend = (Entry(f"{_moved(quiver.stretch)}, to scale", quiver.colour, "arrow"),)
    scene = Scene(
        title=_title(view, "Mean moves" if pictured is None else _shown(pictured, linear)),
        subtitle=_where(view),
        x=view.axis(0),
        y=view.axis(1),
        marks=tuple(marks),
        colours=scale,
        legend=legend,
        note="Leaves are shaded by their linear models" if linear else "",
    )
    scene = _faded(scene, view, pictured, log)
    return scene if mixed is None else hatched(scene, mixed)


def fades(pictured: Colouring | None, log: Log | None = None) -> bool:
    """Return whether a picture is faded where there is no support for it."""
    # What leaves hold says itself where that is little, though not where in a leaf; their numbers say nothing at all.
    return pictured is None or (pictured.scale != "number" and (pictured.scale != "amount" or log is not None))


def _faded(scene: Scene, view: View, pictured: Colouring | None, log: Log | None) -> Scene:
    """Return a map on which what the log does not support is faded."""
    found = veil(view, scene.y, log) if fades(pictured, log) else None
    if found is None:
        return scene
    mark, said = found
    return replace(scene, marks=(*scene.marks, mark), note=". ".join(part for part in (scene.note, said) if part))


def _title(view: View, what: str) -> str:
    names = view.fitted.schema.feature_names
    return f"{what} by {' and '.join(names[f] for f in view.axes)}"


def _shown(pictured: Colouring, linear: bool) -> str:
    # Not a mean any more, nor what is most frequent in a leaf.
    return capital(pictured.title.removeprefix("Mean ").removeprefix("Most frequent ")) if linear else pictured.title


def _where(view: View) -> str:
    """Return what lies behind each point: a leaf, or several, and where the other features are."""
    names = view.fitted.schema.feature_names
    averaged = view.averaged
    text = count(len(view.leaves), "leaf", "leaves")
    if averaged and len(averaged) <= 2:
        text += f", averaged over {' and '.join(names[f] for f in averaged)}"
    elif averaged:
        which = "the" if len(averaged) == len(view.others) else f"{len(averaged)} of the"
        text += f", averaged over {which} {len(view.others)} other features"
    elif view.others:
        text += " on a slice"
    return f"{text}: {', '.join(view.conditions)}" if view.limits else text


def _moved(steps: float) -> str:
    """Return how far arrows reach; a fast agent's are a part of its move, because there is no fifth of a step."""
    if steps >= 1:
        return f"mean move in {count(round(steps), 'step')}"
    parts = round(1 / steps)
    part = {2: "half", 5: "a fifth of", 10: "a tenth of"}.get(parts, f"1/{parts:,} of")
    return f"{part} the mean move in one step"


def _tiles(view: View, pictured: Colouring, limits: Any) -> tuple[Mark, ColourScale]:
    """Return coloured rectangles, one a leaf, and their colour scale."""
    rows = pictured.mean[view.leaves]
    value = rows.argmax(axis=1).astype(np.float64) if pictured.scale == "categories" else rows[:, 0]
    return _leaf_rectangles(view, value), colour_scale(pictured, value, limits)


def _averaged(view: View, pictured: Colouring, limits: Any) -> tuple[Mark, ColourScale, Mask | None]:
    """Return a grid of means or most frequent labels, its colour scale, and the cells in which leaves disagree."""
    mixed: Mask | None = None
    if pictured.scale == "categories":
        edges, cells, most = _modes(view, pictured)
        mixed = mixed_labels(view, pictured, most)
    else:
        found = project(view.boxes, view.axes, view.limits, pictured.population, pictured.mean)
        edges, cells = found.edges, found.mean[..., 0]
        # Not of what leaves hold, which adds up, nor of how much their samples differ, a doubt itself.
        if pictured.scale in ("values", "diverging"):
            mixed = mixed_numbers(view, pictured)
    return Mesh(edges[0], edges[1], cells.T), colour_scale(pictured, cells, limits), mixed


def _shaded(view: View, pictured: Colouring, colour: Any, limits: Any) -> tuple[Mark, ColourScale]:
    """Return what linear leaves predict, point by point, and its colour scale."""
    mesh = linear_mesh(view, colour)
    plain = replace(pictured, label=pictured.label.removeprefix("mean "))
    return mesh, colour_scale(plain, mesh.value, limits)


def _modes(view: View, pictured: Colouring) -> tuple[tuple[F64, ...], F64, F64]:
    """Return the grid, the most frequent label of each cell, and its share."""
    # A few labels at a time: the grids of a thousand would not fit in memory. With ">", the first label wins a tie, as
    # argmax has it within a block.
    edges: tuple[F64, ...] = ()
    most, code = np.array(-1.0), np.array(0.0)
    for first in range(0, pictured.mean.shape[1], LABELS_AT_ONCE):
        block = pictured.mean[:, first : first + LABELS_AT_ONCE]
        found = project(view.boxes, view.axes, view.limits, pictured.population, block)
        top = found.mean.max(axis=-1)
        code = np.where(top > most, first + found.mean.argmax(axis=-1).astype(np.float64), code)
        most, edges = np.maximum(top, most), found.edges
    return edges, code, most


def _leaf_rectangles(view: View, value: F64 | None) -> Rectangles:
    leaves, boxes, (x, y) = view.leaves, view.boxes, view.axes
    return Rectangles(
        boxes.lower[leaves, x],
        boxes.upper[leaves, x],
        boxes.lower[leaves, y],
        boxes.upper[leaves, y],
        value=value,
        edge=PAPER if value is not None else FAINT,
        # Thinner lines between more leaves, so that small ones still show their colour.
        edge_width=float(np.clip(2.0 / np.sqrt(len(leaves)), 0.08, 0.4)),
        leaf=leaves,
    )


def _outlines(view: View) -> Mark:
    if view.direct:
        return _leaf_rectangles(view, None)
    (x, y), low, high = view.axes, view.boxes.low, view.boxes.high
    return Rectangles(low[[x]], high[[x]], low[[y]], high[[y]], edge=FAINT)


def _numbers(view: View) -> Labels:
    """Return the numbers of the leaves that have room for them."""
    leaves, boxes = view.leaves, view.boxes
    size = [(boxes.upper[leaves, f] - boxes.lower[leaves, f]) / (boxes.high[f] - boxes.low[f]) for f in view.axes]
    # About three digits of 6 points in a picture of a column's width.
    fits = (size[0] > 0.06) & (size[1] > 0.05)
    middle = [(boxes.upper[leaves, f] + boxes.lower[leaves, f])[fits] / 2 for f in view.axes]
    return Labels(middle[0], middle[1], tuple(str(leaf) for leaf in leaves[fits]), size=6, framed=True)


def _arrows(view: View, grid: int) -> Arrows:
    """Return where the agent moves: one arrow a leaf, or means over a regular grid."""
    at, nodes = view.fitted.attributes, view.fitted.tree.leaf_nodes
    if at.derivative_mean is None:
        raise ParameterError("Arrows show derivatives, and this tree has none: no episode of its log has two states.")
    moves = at.derivative_mean[nodes][:, list(view.axes)]
    boxes, (x, y) = view.boxes, view.axes
    if view.direct:
        leaf = view.leaves
        centre = (boxes.lower[leaf] + boxes.upper[leaf])[:, [x, y]] / 2
        mean = moves[leaf]
        weight = at.mass[nodes[leaf]].astype(np.float64)
    else:
        leaf = None
        population = derivative_population(view.fitted)
        # A regular grid of its own: the cells of the projection are far too many, and of all sizes.
        edges = [np.linspace(boxes.low[f], boxes.high[f], grid + 1) for f in view.axes]
        found = project(boxes, view.axes, view.limits, population, moves, edges)
        middle = np.meshgrid(*((edge[1:] + edge[:-1]) / 2 for edge in edges), indexing="ij")
        centre = np.stack([part.ravel() for part in middle], axis=1)
        mean, weight = found.mean.reshape(-1, 2), found.weight.ravel()
    return Arrows(
        centre[:, 0],
        centre[:, 1],
        mean[:, 0],
        mean[:, 1],
        stretch=_stretch(mean / (boxes.high - boxes.low)[[x, y]], weight, ARROW_LENGTH if view.direct else 0.9 / grid),
        width=float(np.clip(8 / np.sqrt(len(centre)), 0.5, 0.8 if view.direct else 0.6)),
        leaf=leaf,
    )


def _stretch(moves: F64, weight: F64, length: float) -> float:
    """Return a round number of steps in which a typical move is long enough to be seen."""
    # The longer ones of the moves, so that hardly any arrow runs over its neighbours.
    typical = np.quantile(np.hypot(moves[:, 0], moves[:, 1])[weight > 0], 0.8)
    if typical <= 0:
        return 1.0
    wanted = length / typical
    power = 10.0 ** np.floor(np.log10(wanted))
    # Rounded down to 1, 2 or 5: the note says "in 20 steps", and a reader can do the sum.
    return float(max(step for step in (1.0, 2.0, 5.0, 10.0) if step * power <= max(wanted, power)) * power)


def _along_one(view: View, pictured: Colouring) -> Scene:
    """Return the picture along one feature: steps with their spread, or the shares of a discrete action."""
    columns = pictured.mean
    # Standard deviations cannot be averaged, but the mean of squares can: the spread is what it exceeds the squared
    # mean by, both within leaves and between them.
    if pictured.std is not None:
        columns = np.column_stack([columns, pictured.std**2 + columns[:, 0] ** 2])
    found = project(view.boxes, view.axes, view.limits, pictured.population, columns)
    (edges,) = found.edges
    title = _title(view, pictured.title)
    if pictured.scale == "categories":
        scale = colour_scale(pictured, found.mean)
        top = np.cumsum(found.mean, axis=1)
        lines = [_stairs(edges, height) for height in np.column_stack([np.zeros(len(top)), top]).T]
        marks: list[Mark] = [
            Band(low[:, 0], low[:, 1], high[:, 1], colour, opacity=1.0)
            for low, high, colour in zip(lines[:-1], lines[1:], scale.stops, strict=True)
        ]
        y = Axis(f"share of each {pictured.label}", 0.0, 1.0)
        return Scene(_title(view, f"Shares of {pictured.label}"), view.axis(0), y, tuple(marks), _where(view), scale)
    mean = found.mean[:, 0]
    line = _stairs(edges, mean)
    marks = [Lines((line,), colour=CATEGORIES[5], width=1.4)]
    legend: tuple[Entry, ...] = ()
    low, high = mean.min(), mean.max()
    if pictured.std is not None:
        # Rounding errors may make the difference of two large squares negative.
        std = np.sqrt(np.maximum(found.mean[:, 1] - mean**2, 0.0))
        lower, upper = _stairs(edges, mean - std), _stairs(edges, mean + std)
        marks.insert(0, Band(lower[:, 0], lower[:, 1], upper[:, 1], CATEGORIES[5]))
        legend = (Entry("mean", CATEGORIES[5], "line"), Entry("± 1 standard deviation", CATEGORIES[5], "area", 0.25))
        low, high = (mean - std).min(), (mean + std).max()
    log = pictured.scale == "amount"
    pad = 0.05 * (high - low) or 0.5 * max(abs(low), 1.0)
    bottom, top = (low / 1.5, high * 1.5) if log else (low - pad, high + pad)
    y = Axis(pictured.label, float(bottom), float(top), log=log)
    return Scene(title, view.axis(0), y, tuple(marks), _where(view), legend=legend)


def _stairs(edges: F64, height: F64) -> F64:
    """Return the corners of a step function, shape (2 cells, 2)."""
    return np.column_stack([np.repeat(edges, 2)[1:-1], np.repeat(height, 2)])
