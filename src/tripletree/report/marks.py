"""The marks of a scene as SVG: axes on paper, shapes of one colour in one path, large grids as small PNG pictures."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.markup import Markup, empty, tag, together
from tripletree.scenes.colours import FAINT, GREY, INK, PALE, PAPER, THERE, TRACK
from tripletree.scenes.guides import palette, shade_of, shades, share
from tripletree.scenes.types import (
    Arrows,
    Axis,
    Band,
    ColourScale,
    Labels,
    Lines,
    Links,
    Mesh,
    Points,
    Rectangles,
    Surface,
    Veil,
)

F64 = npt.NDArray[np.float64]

THICK = 1.35
"""A scene's widths are in points of a paper's column; a screen's picture is larger."""
DASHES = "5 3"
# Names of page.css, which gives them other colours on a dark page.
FOLLOWS = {
    INK: "currentColor",
    THERE: "currentColor",
    GREY: "var(--soft)",
    FAINT: "var(--edge)",
    PALE: "var(--line)",
    TRACK: "var(--panel)",
    PAPER: "var(--paper)",
}
"""Colours of ink and paper, which follow the page."""


def on_paper(colour: str) -> str:
    """Return a colour as it is on the bare page, which may be light or dark."""
    return FOLLOWS.get(colour, colour)


@dataclass(frozen=True)
class Canvas:
    """Where marks are drawn: axes, colours, and whether coloured tiles lie below."""

    x: Scale
    y: Scale
    colours: ColourScale | None
    tiles: bool

    def ink(self, colour: str) -> str:
        """Return a colour as it is on this page: ink on tiles stays as it is, ink on paper follows the page."""
        return colour if self.tiles else on_paper(colour)

    def by_shade(self, value: F64) -> Iterator[tuple[str, npt.NDArray[np.int64]]]:
        """Yield colours and which of the values have them."""
        if self.colours is None:
            return
        code, known = shade_of(self.colours, value), shades(self.colours)
        for shade in np.unique(code[code >= 0]).tolist():
            yield known[shade], np.flatnonzero(code == shade)


def _n(number: float) -> str:
    """Return a coordinate to a tenth of a pixel, as short as can be: coordinates are most of a report's bytes."""
    shown = f"{number:.1f}"
    return "0" if shown == "-0.0" else shown.removesuffix(".0")


def _path(points: F64, closed: bool = False) -> str:
    """Return a line through points of shape (points, 2); points that fall together are drawn once."""
    short = np.round(points, 1)
    if len(short) > 1:
        short = short[np.append(True, (short[1:] != short[:-1]).any(axis=1))]
    parts = [f"{_n(x)} {_n(y)}" for x, y in short.tolist()]
    # A path that only moves the pen is not drawn at all, not even its ends.
    return f"M{'L'.join(parts)}{'Z' if closed else ''}" + ("h0" if len(parts) == 1 and not closed else "")


def _runs(points: F64) -> list[F64]:
    """Return the stretches of a line between points that are not finite, at which SVG would stop drawing it."""
    known = np.isfinite(points[:, 0]) & np.isfinite(points[:, 1])
    pieces = np.split(points, np.flatnonzero(known[1:] != known[:-1]) + 1)
    return [piece for piece in pieces if np.isfinite(piece).all()]


def _places(canvas: Canvas, points: F64) -> F64:
    return np.column_stack([canvas.x(points[:, 0]), canvas.y(points[:, 1])])


def _rectangles(mark: Rectangles, canvas: Canvas) -> Iterator[Markup]:
    x0, x1, y0, y1 = canvas.x(mark.x0), canvas.x(mark.x1), canvas.y(mark.y0), canvas.y(mark.y1)

    def boxes(which: Any) -> str:
        # As numbers of Python, which are written faster than those of NumPy.
        sides = zip(*(side[which].tolist() for side in (x0, y1, x1 - x0, y0 - y1)), strict=True)
        return "".join(f"M{_n(x)} {_n(y)}h{_n(w)}v{_n(h)}h{_n(-w)}z" for x, y, w, h in sides)

    # Without an edge of its own, a tile gets one of its colour: otherwise hairlines show between neighbours.
    own = mark.edge is None and mark.value is not None
    edge = None if mark.edge is None else canvas.ink(mark.edge)
    style = {
        "stroke": edge,
        "stroke_width": 0.3 if own else None if edge is None else round(mark.edge_width * THICK, 2),
        "stroke_dasharray": DASHES if mark.dashed else None,
        "opacity": None if mark.opacity == 1 else mark.opacity,
    }
    if mark.value is None:
        yield empty("path", d=boxes(slice(None)), fill=canvas.ink(mark.fill) if mark.fill else "none", **style)
        return
    shapes = together(
        empty("path", d=boxes(which), fill=colour, stroke=colour if own else None)
        for colour, which in canvas.by_shade(mark.value)
    )
    yield tag("g", shapes, **style)


def _mesh(mark: Mesh, canvas: Canvas) -> Iterator[Markup]:
    if canvas.colours is None:
        return
    left, top = canvas.x.begin, canvas.y.end
    width, height = canvas.x.end - left, canvas.y.begin - top
    # A grid may have a million cells, too many for shapes. Two pixels a unit keep its edges sharp on dense screens.
    edges = (canvas.x(mark.x) - left) * 2, (canvas.y(mark.y) - top) * 2
    address = picture(canvas.colours, *edges, mark.value, round(width * 2), round(height * 2))
    yield empty(
        "image",
        href=address,
        x=_n(left),
        y=_n(top),
        width=_n(width),
        height=_n(height),
        preserveAspectRatio="none",
        image_rendering="pixelated",
    )


def _arrows(mark: Arrows, canvas: Canvas) -> Iterator[Markup]:
    move = np.column_stack([mark.dx, mark.dy]) * mark.stretch
    begin = np.column_stack([mark.x, mark.y]) - (move / 2 if mark.centred else 0)
    a, b = _places(canvas, begin), _places(canvas, begin + move)
    length = np.hypot(*(b - a).T)
    # Means of cells without a sample are not finite; below a pixel an arrow has no direction that could be seen.
    seen = np.isfinite(length) & (length > 0.7)
    yield from _arrow_shapes(a[seen], b[seen], mark.width * THICK, canvas.ink(mark.colour))


def _arrow_shapes(a: F64, b: F64, width: float, colour: str) -> Iterator[Markup]:
    if not len(a):
        return
    move = b - a
    length = np.hypot(*move.T)[:, None]
    ahead = move / length
    aside = np.column_stack([-ahead[:, 1], ahead[:, 0]])
    # A short arrow has a shorter head, so that some of its shaft is left. The shaft ends where the head begins: at the
    # tip it would be wider than the point.
    head = np.minimum(4.6 * width, 0.6 * length)
    neck = b - ahead * head
    shafts = "".join(_path(np.stack(pair)) for pair in zip(a, neck, strict=True))
    corners = np.stack([b, neck + aside * head * 0.42, neck - aside * head * 0.42], axis=1)
    heads = "".join(_path(corner, closed=True) for corner in corners)
    yield empty("path", d=shafts, stroke=colour, stroke_width=round(width, 2), fill="none")
    yield empty("path", d=heads, fill=colour)


def _lines(mark: Lines, canvas: Canvas) -> Iterator[Markup]:
    many = len(mark.points)
    widths = np.broadcast_to(np.asarray(mark.width, np.float64), many)
    opacities = np.ones(many) if mark.opacity is None else np.broadcast_to(mark.opacity, many)
    shapes = [
        empty(
            "path",
            d="".join(map(_path, _runs(_places(canvas, points)))),
            stroke_width=round(float(width) * THICK, 2),
            opacity=None if opacity >= 1 else round(float(opacity), 2),
        )
        for points, width, opacity in zip(mark.points, widths, opacities, strict=True)
    ]
    yield tag(
        "g",
        *shapes,
        fill="none",
        stroke=canvas.ink(mark.colour),
        stroke_linejoin="round",
        stroke_dasharray=DASHES if mark.dashed else None,
    )


def _band(mark: Band, canvas: Canvas) -> Iterator[Markup]:
    # Along the lower line and back along the upper one.
    there = np.column_stack([canvas.x(mark.x), canvas.y(mark.low)])
    back = np.column_stack([canvas.x(mark.x), canvas.y(mark.high)])[::-1]
    outline = _path(np.concatenate([there, back]), closed=True)
    yield empty("path", d=outline, fill=canvas.ink(mark.colour), opacity=None if mark.opacity == 1 else mark.opacity)


_UNIT = {
    "star": [(np.sin(k * np.pi / 5) * r, -np.cos(k * np.pi / 5) * r) for k, r in enumerate([0.62, 0.25] * 5)],
    "square": [(-0.45, -0.45), (0.45, -0.45), (0.45, 0.45), (-0.45, 0.45)],
    "diamond": [(0, -0.6), (0.6, 0), (0, 0.6), (-0.6, 0)],
    "cross": [
        (np.cos(a) * r, np.sin(a) * r) for a, r in zip(np.arange(12) * np.pi / 6, [0.3, 0.6, 0.6] * 4, strict=True)
    ],
}
"""Outlines of symbols that are one unit wide, roughly."""


def _points(mark: Points, canvas: Canvas) -> Iterator[Markup]:
    x, y = canvas.x(mark.x), canvas.y(mark.y)
    size = np.broadcast_to(np.asarray(mark.size, np.float64), x.shape) * THICK
    edge = None if mark.edge is None else canvas.ink(mark.edge)

    def shapes(which: Any, colour: str) -> Iterator[Markup]:
        if mark.symbol in _UNIT:
            outline = np.array(_UNIT[mark.symbol])
            d = "".join(
                _path(outline * s + (u, v), True) for u, v, s in zip(x[which], y[which], size[which], strict=True)
            )
            yield empty("path", d=d, fill=colour, stroke=edge)
        elif edge is None and np.ptp(size) == 0:
            # A line of no length with round ends is a disc: thousands of them fit in one short path.
            d = "".join(f"M{_n(u)} {_n(v)}h0" for u, v in zip(x[which].tolist(), y[which].tolist(), strict=True))
            yield empty("path", d=d, stroke=colour, stroke_width=_n(size.flat[0]), stroke_linecap="round")
        else:
            for u, v, s in zip(x[which].tolist(), y[which].tolist(), size[which].tolist(), strict=True):
                yield empty("circle", cx=_n(u), cy=_n(v), r=_n(s / 2), fill=colour, stroke=edge)

    groups = [(canvas.ink(mark.colour), np.arange(len(x)))] if mark.value is None else canvas.by_shade(mark.value)
    drawn = together(shape for colour, which in groups for shape in shapes(which, colour))
    yield tag("g", drawn, opacity=None if mark.opacity == 1 else mark.opacity)


def _labels(mark: Labels, canvas: Canvas) -> Iterator[Markup]:
    anchor = {"center": "middle", "left": "start", "right": "end"}[mark.align]
    x, y = canvas.x(mark.x) + mark.shift[0] * THICK, canvas.y(mark.y) - mark.shift[1] * THICK
    # Text stands on its baseline; a little lower, its middle is at the place.
    written = [tag("text", label, x=_n(u), y=_n(v + 3.5)) for label, u, v in zip(mark.text, x, y, strict=True)]
    yield tag(
        "g",
        *written,
        # The frame is white on any page, so the ink within it stays dark.
        fill=mark.colour if mark.framed else canvas.ink(mark.colour),
        font_size=_n(mark.size * THICK),
        text_anchor=anchor,
        stroke=PAPER if mark.framed else None,
        class_="framed" if mark.framed else None,
    )


def _links(mark: Links, canvas: Canvas) -> Iterator[Markup]:
    a = np.column_stack([canvas.x(mark.x0), canvas.y(mark.y0)])
    b = np.column_stack([canvas.x(mark.x1), canvas.y(mark.y1)])
    colour = canvas.ink(mark.colour)
    for k in range(len(a)):
        move = b[k] - a[k]
        length = float(np.hypot(*move))
        gaps = (mark.gap0[k] + mark.gap1[k]) * THICK
        # Nodes that touch leave no room for an arrow between them.
        if length <= gaps + 2:
            continue
        ahead, aside = move / length, np.array([move[1], -move[0]]) / length
        begin, end = a[k] + ahead * mark.gap0[k] * THICK, b[k] - ahead * mark.gap1[k] * THICK
        # Always to the same side of the arrow, so that those there and back do not lie upon each other.
        bend = (begin + end) / 2 + aside * mark.bend * length
        towards = (end - bend) / np.hypot(*(end - bend))
        width = float(mark.width[k]) * THICK
        head = min(4 + 2.2 * width, 0.5 * length)
        neck, across = end - towards * head, np.array([-towards[1], towards[0]]) * head * 0.4
        curve = f"M{_n(begin[0])} {_n(begin[1])}Q{_n(bend[0])} {_n(bend[1])} {_n(neck[0])} {_n(neck[1])}"
        # The opacity is the group's: as that of each shape, it would make the overlap of head and shaft darker.
        yield tag(
            "g",
            empty("path", d=curve, stroke=colour, stroke_width=round(width, 2), fill="none"),
            empty("path", d=_path(np.stack([end, neck + across, neck - across]), closed=True), fill=colour),
            opacity=round(float(mark.opacity[k]), 2),
        )


def _surface(mark: Surface, canvas: Canvas) -> Iterator[Markup]:
    corners = np.column_stack([canvas.x(mark.x), canvas.y(mark.y)])[mark.triangle]
    # SVG cannot shade between three corners, so a triangle has the colour of their mean.
    for colour, which in canvas.by_shade(mark.value[mark.triangle].mean(axis=1)):
        outline = "".join(_path(corner, closed=True) for corner in corners[which])
        yield empty("path", d=outline, fill=colour, stroke=colour, stroke_width=0.5)


def _veil(mark: Veil, canvas: Canvas) -> Iterator[Markup]:
    x, y = canvas.x(mark.x), canvas.y(mark.y)
    boxes: dict[tuple[int, int], tuple[int, int]] = {}
    shapes: list[str] = []

    def close(run: tuple[int, int], first: int, last: int) -> None:
        left, right, foot, top = x[run[0]], x[run[1]], y[first], y[last]
        shapes.append(f"M{_n(left)} {_n(top)}H{_n(right)}V{_n(foot)}H{_n(left)}z")

    # Runs of cells along a row, and rows with the same run together: a veil of thousands of cells has few sides.
    for row in range(len(mark.hidden) + 1):
        here = set(_hidden_runs(mark.hidden[row])) if row < len(mark.hidden) else set()
        for run in [run for run in boxes if run not in here]:
            close(run, *boxes.pop(run))
        boxes = {run: (boxes[run][0] if run in boxes else row, row + 1) for run in here}
    # Paper that follows the page: on a dark one, what is faded becomes dark.
    yield empty("path", d="".join(shapes), fill=FOLLOWS[PAPER], opacity=mark.opacity)


def _hidden_runs(hidden: npt.NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return where runs of hidden cells begin and end."""
    ends = np.flatnonzero(np.diff(np.concatenate([[False], hidden, [False]]).astype(np.int8)))
    return [(int(begin), int(end)) for begin, end in ends.reshape(-1, 2)]


DRAWERS: dict[type, Callable[[Any, Canvas], Iterator[Markup]]] = {
    Rectangles: _rectangles,
    Mesh: _mesh,
    Arrows: _arrows,
    Lines: _lines,
    Band: _band,
    Points: _points,
    Labels: _labels,
    Links: _links,
    Surface: _surface,
    Veil: _veil,
}
"""How each kind of mark is drawn."""


@dataclass(frozen=True)
class Scale:
    """One axis from ``begin`` to ``end`` on paper."""

    axis: Axis
    begin: float
    end: float

    def __call__(self, values: Any) -> F64:
        """Return where values lie; what is beyond the ends stays close to the paper."""
        along = share(self.axis, np.asarray(values, np.float64))
        # Some marks reach far beyond the picture that cuts them off, such as the borders of phases, and a 0 on a
        # logarithmic axis lies further still. Two widths away is far enough, and keeps the numbers short.
        place: F64 = self.begin + np.clip(along, -2, 3) * (self.end - self.begin)
        return place

    def ticks(self) -> list[tuple[float, str]]:
        """Return places on paper and what to write there."""
        return list(zip(self(self.axis.ticks).tolist(), self.axis.tick_labels, strict=True))


U8 = npt.NDArray[np.uint8]


def picture(scale: ColourScale, x: F64, y: F64, value: F64, width: int, height: int) -> str:
    """Return a data address of a grid of cells, as an indexed PNG.

    Parameters
    ----------
    scale : ColourScale
        Colours of the values.
    x, y : float64 arrays
        Edges of the cells in pixels, either way up.
    value : float64 array of shape (len(y) - 1, len(x) - 1)
        The cells.
    width, height : int
        Size in pixels.
    """
    columns, rows = _cells(x, width), _cells(y, height)
    inside = (rows >= 0)[:, None] & (columns >= 0)[None, :]
    code = shade_of(scale, value)[np.maximum(rows, 0)][:, np.maximum(columns, 0)]
    colours = palette(scale)
    code = np.where(inside & (code >= 0), code, len(colours))
    return f"data:image/png;base64,{base64.b64encode(_png(code.astype(np.uint8), colours)).decode()}"


def _cells(edges: F64, size: int) -> npt.NDArray[np.int64]:
    """Return the cell that the middle of each pixel lies in, -1 for none."""
    up = edges[-1] >= edges[0]
    ordered = edges if up else edges[::-1]
    cell = np.searchsorted(ordered, np.arange(size) + 0.5, side="right") - 1
    known = (cell >= 0) & (cell < len(edges) - 1)
    return np.where(known, cell if up else len(edges) - 2 - cell, -1)


def _png(code: U8, colours: U8) -> bytes:
    """Return an indexed PNG; the colour after the last is transparent."""
    height, width = code.shape
    # Every line begins with the number of its filter; 0 is none. The header: 8 bits a pixel, colours of a palette.
    lines = np.concatenate([np.zeros((height, 1), np.uint8), code], axis=1)
    table = np.concatenate([colours, np.zeros((1, 3), np.uint8)])
    return b"".join(
        (
            b"\x89PNG\r\n\x1a\n",
            _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
            _chunk(b"PLTE", table.tobytes()),
            _chunk(b"tRNS", b"\xff" * len(colours) + b"\x00"),
            _chunk(b"IDAT", zlib.compress(lines.tobytes(), 9)),
            _chunk(b"IEND", b""),
        )
    )


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
