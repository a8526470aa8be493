"""What a picture is made of: frozen, arrays and plain values only, so that any renderer can draw it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.answers.answer import plain
from tripletree.scenes.colours import INK

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]


# All of these compare by identity (eq=False): arrays have no single answer to "equal?", and a renderer recognises marks
# that it has drawn already.


class Plain:
    """What all parts of a picture have in common: they turn into JSON types."""

    def to_dict(self) -> dict[str, Any]:
        """Return the part as JSON types, with the name of its type; numbers that are not finite become None."""
        data: dict[str, Any] = {"type": type(self).__name__.lower()}
        for field in fields(self):  # type: ignore[arg-type]
            data[field.name] = plain(getattr(self, field.name))
        return data


@dataclass(frozen=True, eq=False)
class Axis(Plain):
    """One axis of a picture.

    Attributes
    ----------
    label : str
        What is along it, with its unit.
    low, high : float
        Where it begins and ends.
    log : bool
        Whether its scale is logarithmic.
    ticks, tick_labels : tuples
        Where to put ticks and what to write there; empty: see ``guides.marked``.
    shown : bool
        Whether to draw it at all (a graph or a tree has no axes).
    upright : bool
        Whether the label of a y axis is written from left to right (for low pictures).
    """

    label: str
    low: float
    high: float
    log: bool = False
    ticks: tuple[float, ...] = ()
    tick_labels: tuple[str, ...] = ()
    shown: bool = True
    upright: bool = False


@dataclass(frozen=True, eq=False)
class ColourScale(Plain):
    """How values become colours.

    Attributes
    ----------
    label : str
        What the values are, with their unit.
    stops : tuple of hex colours
        Equally spaced colours to interpolate between; for categories, the colour of value 0, 1, ...
    low, high : float
        The values of the first and the last colour.
    kind : {"linear", "log", "categories"}
        What lies between.
    categories : tuple of str
        The names of values 0, 1, ...; empty for numbers.
    """

    label: str
    stops: tuple[str, ...]
    low: float
    high: float
    kind: str = "linear"
    categories: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Entry(Plain):
    """One line of a legend: a symbol ("area", "hatching", "line", "arrow", "disc", ...), its colour, what it means."""

    label: str
    colour: str
    symbol: str = "area"
    opacity: float = 1.0


@dataclass(frozen=True, eq=False)
class Rectangles(Plain):
    """Rectangles, coloured by ``value`` on the scene's scale, or all in ``fill``; neither: outlines only."""

    x0: F64
    x1: F64
    y0: F64
    y1: F64
    value: F64 | None = None
    fill: str | None = None
    edge: str | None = None
    edge_width: float = 0.4
    dashed: bool = False
    opacity: float = 1.0
    leaf: I64 | None = None


@dataclass(frozen=True, eq=False)
class Mesh(Plain):
    """A grid of cells, ``value[j, i]`` between ``x[i], x[i + 1]`` and ``y[j], y[j + 1]``."""

    x: F64
    y: F64
    value: F64


@dataclass(frozen=True, eq=False)
class Arrows(Plain):
    """Arrows from ``(x, y)`` to ``(x + stretch dx, y + stretch dy)``, or centred there."""

    x: F64
    y: F64
    dx: F64
    dy: F64
    stretch: float = 1.0
    colour: str = INK
    centred: bool = True
    width: float = 0.8
    leaf: I64 | None = None


@dataclass(frozen=True, eq=False)
class Lines(Plain):
    """Lines through points, each of shape (points, 2), with an opacity and, if they differ, a width each."""

    points: tuple[F64, ...]
    colour: str = INK
    width: float | F64 = 1.0
    opacity: F64 | None = None
    dashed: bool = False


@dataclass(frozen=True, eq=False)
class Band(Plain):
    """The area between two lines over the same ``x``."""

    x: F64
    low: F64
    high: F64
    colour: str
    opacity: float = 0.25


@dataclass(frozen=True, eq=False)
class Points(Plain):
    """Points, coloured by ``value`` on the scene's scale or all in one colour; ``size`` is a diameter in points."""

    x: F64
    y: F64
    size: float | F64 = 3.0
    colour: str = INK
    value: F64 | None = None
    symbol: str = "disc"
    edge: str | None = None
    opacity: float = 1.0
    leaf: I64 | None = None


@dataclass(frozen=True, eq=False)
class Labels(Plain):
    """Short texts at places of the picture; ``shift`` moves them, in points of length."""

    x: F64
    y: F64
    text: tuple[str, ...]
    size: float = 6.5
    colour: str = INK
    align: str = "center"
    shift: tuple[float, float] = (0.0, 0.0)
    framed: bool = False


@dataclass(frozen=True, eq=False)
class Links(Plain):
    """Bent arrows between places; ``width`` and the ``gap`` to leave at either end are in points of length."""

    x0: F64
    y0: F64
    x1: F64
    y1: F64
    width: F64
    opacity: F64
    gap0: F64
    gap1: F64
    colour: str = INK
    bend: float = 0.15


@dataclass(frozen=True, eq=False)
class Surface(Plain):
    """Triangles with ``value`` at their corners, interpolated in between; ``triangle`` has shape (triangles, 3)."""

    x: F64
    y: F64
    triangle: I64
    value: F64


@dataclass(frozen=True, eq=False)
class Veil(Plain):
    """Cells of a grid, ``hidden[j, i]`` between ``x[i], x[i + 1]`` and ``y[j], y[j + 1]``, that fade what is below."""

    x: F64
    y: F64
    hidden: npt.NDArray[np.bool_]
    opacity: float = 0.78


Mark = Rectangles | Mesh | Arrows | Lines | Band | Points | Labels | Links | Surface | Veil


@dataclass(frozen=True, eq=False)
class Scene(Plain):
    """One picture: marks in the order in which they are drawn, axes, colours, and the words around it.

    Attributes
    ----------
    title, subtitle : str
        What is seen, and under which conditions.
    x, y : Axis
        The axes.
    marks : tuple of marks
        What is drawn, from back to front.
    colours : ColourScale or None
        The scale of all marks that have values.
    legend : tuple of Entry
        What symbols mean, besides the scale's categories.
    note : str
        A line below the picture.
    equal : bool
        Whether a unit is as long on both axes.
    """

    title: str
    x: Axis
    y: Axis
    marks: tuple[Mark, ...]
    subtitle: str = ""
    colours: ColourScale | None = None
    legend: tuple[Entry, ...] = ()
    note: str = ""
    equal: bool = False


@dataclass(frozen=True, eq=False)
class Sheet(Plain):
    """Several pictures in rows.

    Attributes
    ----------
    title, subtitle : str
        What is seen, and under which conditions.
    rows : tuple of sequences of Scene
        The pictures.
    colours : ColourScale or None
        The scale of all pictures, to be drawn once; None: each picture has its own.
    legend : tuple of Entry
        What symbols mean in all pictures.
    heights : tuple of float
        Heights of the rows relative to each other; empty: all the same.
    """

    title: str
    rows: tuple[Sequence[Scene], ...]
    subtitle: str = ""
    colours: ColourScale | None = None
    legend: tuple[Entry, ...] = ()
    heights: tuple[float, ...] = ()
