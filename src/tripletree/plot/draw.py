"""Draws a scene on matplotlib axes; computes nothing of its own but where text breaks."""

from __future__ import annotations

import itertools
import textwrap
from dataclasses import replace
from typing import Any

import numpy as np

from tripletree.plot.shapes import links, surface
from tripletree.plot.style import SMALL, TITLE, literal, width_of
from tripletree.scenes.colours import GREY, PAPER
from tripletree.scenes.types import (
    Arrows,
    Axis,
    Band,
    ColourScale,
    Entry,
    Labels,
    Lines,
    Links,
    Mesh,
    Points,
    Rectangles,
    Scene,
    Surface,
)

MANY_CELLS = 20_000
"""A grid of more cells is stored as pixels in vector files: they would be slow to show."""
SYMBOLS = {"disc": "o", "ring": "o", "star": "*", "square": "s", "cross": "X", "diamond": "D"}
DASHES = (0, (4, 2))
TICKS = 0.5
"""Inches at the left of a picture that labels of the y axis take."""
NARROW = 2.8
"""Inches below which a picture has few ticks and a slim legend."""
BAR = 12
"""Characters of a legend that have no place below a colour bar."""


class Drawing:
    """A scene on axes, to which more marks can be added: marks that are there already are not drawn again."""

    def __init__(self, ax: Any) -> None:
        self._ax = ax
        self._drawn: set[int] = set()
        self._subtitle: Any = None
        self._colours: Colours | None = None

    def show(self, scene: Scene, bar: bool = True) -> None:
        """Draw everything: marks, axes, colour scale (with a bar or not), legend, words."""
        ax = self._ax
        if self._colours is None:
            self._colours = Colours(scene.colours)
            if bar:
                colour_bar(scene.colours, self._colours, ax)
        for order, mark in enumerate(scene.marks):
            if id(mark) not in self._drawn:
                _DRAWERS[type(mark)](mark, ax, self._colours, zorder=1 + order / 100)
                self._drawn.add(id(mark))
        _axis(scene.x, ax, "x")
        _axis(scene.y, ax, "y")
        if scene.equal:
            ax.set_aspect("equal")
        if not (scene.x.shown or scene.y.shown):
            ax.set_axis_off()
        elif not scene.x.shown:
            ax.tick_params(axis="x", bottom=False, labelbottom=False)
            ax.spines["bottom"].set_visible(False)
        _legend(scene, ax)
        if self._subtitle is not None:
            self._subtitle.remove()
        self._subtitle = _words(scene, ax)


class Colours:
    """A scene's colour scale in matplotlib's terms."""

    def __init__(self, scale: ColourScale | None) -> None:
        from matplotlib import colors

        self.cmap: Any = None
        self.norm: Any = None
        if scale is None:
            return
        if scale.kind == "categories":
            self.cmap = colors.ListedColormap(scale.stops)
            self.norm = colors.BoundaryNorm(np.arange(len(scale.stops) + 1) - 0.5, len(scale.stops))
        else:
            self.cmap = colors.LinearSegmentedColormap.from_list("tripletree", scale.stops)
            self.norm = (colors.LogNorm if scale.kind == "log" else colors.Normalize)(scale.low, scale.high)


def _rectangles(mark: Rectangles, ax: Any, colours: Colours, zorder: float) -> None:
    from matplotlib.collections import PolyCollection

    x0, x1, y0, y1 = mark.x0, mark.x1, mark.y0, mark.y1
    corners = np.stack([np.stack([x0, x1, x1, x0], -1), np.stack([y0, y0, y1, y1], -1)], -1)
    style: dict[str, Any] = {"facecolors": "none" if mark.fill is None else mark.fill}
    if mark.value is not None:
        style = {"array": mark.value, "cmap": colours.cmap, "norm": colours.norm}
    # Without an edge of its own, a tile is drawn with one of its colour: otherwise hairlines show between neighbours.
    own = mark.edge is None and mark.opacity == 1
    ax.add_collection(
        PolyCollection(
            list(corners),
            edgecolors="face" if own else (mark.edge or "none"),
            linewidths=0.2 if own else mark.edge_width,
            linestyles=DASHES if mark.dashed else "solid",
            alpha=None if mark.opacity == 1 else mark.opacity,
            zorder=zorder,
            **style,
        ),
        autolim=False,
    )


def _mesh(mark: Mesh, ax: Any, colours: Colours, zorder: float) -> None:
    ax.pcolormesh(
        mark.x,
        mark.y,
        mark.value,
        cmap=colours.cmap,
        norm=colours.norm,
        rasterized=mark.value.size > MANY_CELLS,
        zorder=zorder,
    )


def _arrows(mark: Arrows, ax: Any, _: Colours, zorder: float) -> None:
    ax.quiver(
        mark.x,
        mark.y,
        mark.dx * mark.stretch,
        mark.dy * mark.stretch,
        angles="xy",
        scale_units="xy",
        scale=1,
        units="inches",
        width=mark.width / 72,
        headwidth=4,
        headlength=4.5,
        headaxislength=4,
        minlength=0.5,
        pivot="mid" if mark.centred else "tail",
        color=mark.colour,
        zorder=zorder,
    )


def _lines(mark: Lines, ax: Any, _: Colours, zorder: float) -> None:
    from matplotlib.collections import LineCollection

    ax.add_collection(
        LineCollection(
            mark.points,
            colors=mark.colour,
            linewidths=mark.width,
            alpha=mark.opacity,
            linestyles=DASHES if mark.dashed else "solid",
            capstyle="butt" if mark.dashed else "round",
            joinstyle="round",
            zorder=zorder,
        ),
        autolim=False,
    )


def _band(mark: Band, ax: Any, _: Colours, zorder: float) -> None:
    ax.fill_between(mark.x, mark.low, mark.high, color=mark.colour, alpha=mark.opacity, linewidth=0, zorder=zorder)


def _points(mark: Points, ax: Any, colours: Colours, zorder: float) -> None:
    style: dict[str, Any] = {"facecolors": "none"} if mark.symbol == "ring" else {"c": mark.colour}
    if mark.value is not None:
        style = {"c": mark.value, "cmap": colours.cmap, "norm": colours.norm}
    ax.scatter(
        mark.x,
        mark.y,
        s=np.square(mark.size),
        marker=SYMBOLS[mark.symbol],
        edgecolors=mark.colour if mark.symbol == "ring" else mark.edge or "none",
        linewidths=0.7,
        alpha=mark.opacity,
        rasterized=len(mark.x) > MANY_CELLS,
        zorder=zorder,
        **style,
    )


def _labels(mark: Labels, ax: Any, _: Colours, zorder: float) -> None:
    from matplotlib import patheffects

    for x, y, text in zip(mark.x, mark.y, mark.text, strict=True):
        written = ax.annotate(
            literal(text),
            (x, y),
            xytext=mark.shift,
            textcoords="offset points",
            ha=mark.align,
            va="center",
            fontsize=mark.size,
            color=mark.colour,
            zorder=zorder,
            annotation_clip=True,
        )
        written.set_in_layout(False)
        if mark.framed:
            written.set_path_effects([patheffects.withStroke(linewidth=1.6, foreground=PAPER)])


_DRAWERS: dict[type, Any] = {
    Rectangles: _rectangles,
    Mesh: _mesh,
    Arrows: _arrows,
    Lines: _lines,
    Band: _band,
    Points: _points,
    Labels: _labels,
    Links: links,
    Surface: surface,
}


def _axis(axis: Axis, ax: Any, which: str) -> None:
    getattr(ax, f"set_{which}label")(literal(axis.label))
    if axis.upright:
        ax.set_ylabel("\n".join(textwrap.wrap(literal(axis.label), 14)), rotation=0, ha="right", va="center")
    if axis.log:
        getattr(ax, f"set_{which}scale")("log")
    getattr(ax, f"set_{which}lim")(axis.low, axis.high)
    if axis.ticks:
        getattr(ax, f"set_{which}ticks")(axis.ticks, [literal(text) for text in axis.tick_labels])
    elif not axis.log:
        locator = getattr(ax, f"{which}axis").get_major_locator()
        locator.set_params(nbins=6 if which == "y" or _inches(ax) >= NARROW else 4, steps=[1, 2, 2.5, 5, 10])
        if power := _power(axis.low, axis.high):
            getattr(ax, f"{which}axis").set_major_formatter(_Scaled(power))
            getattr(ax, f"set_{which}label")(f"{literal(axis.label)}, in 1e{power}")


def _power(low: float, high: float) -> int:
    """Return the power of ten that very large or small numbers are divided by: it stands in the label then."""
    largest = max(abs(low), abs(high))
    return 0 if 1e-3 <= largest < 1e5 or largest == 0 else int(np.floor(np.log10(largest)))


class _Scaled:
    """Writes a tick divided by a power of ten."""

    def __init__(self, power: int) -> None:
        self._power = power

    def __call__(self, number: float, _: int) -> str:
        return f"{number / 10.0**self._power:.4g}".replace("-", "\N{MINUS SIGN}")


def colour_bar(scale: ColourScale | None, colours: Colours, ax: Any) -> None:
    """Draw the bar of a scale beside the axes, or beside a list of axes."""
    if scale is None or scale.kind == "categories":
        return
    from matplotlib.cm import ScalarMappable

    figure = ax[0].figure if isinstance(ax, list) else ax.figure
    bar = figure.colorbar(ScalarMappable(colours.norm, colours.cmap), ax=ax, pad=0.02, fraction=0.06, aspect=24)
    bar.set_label(literal(scale.label))
    if scale.kind == "log" and scale.high < 100 * scale.low:
        # A short stretch of a logarithmic scale reads better without powers of ten.
        from matplotlib.ticker import LogLocator, NullFormatter

        bar.locator = LogLocator(subs=(1, 2, 5) if scale.high > 4 * scale.low else (1, 2, 3, 4, 5, 6, 7, 8, 9))
        bar.formatter = "{x:g}"
        bar.ax.yaxis.set_minor_formatter(NullFormatter())
        bar.update_ticks()
    elif scale.kind == "linear" and (power := _power(scale.low, scale.high)):
        bar.ax.yaxis.set_major_formatter(_Scaled(power))
        bar.set_label(f"{literal(scale.label)}, in 1e{power}")
    bar.outline.set_visible(False)


def _legend(scene: Scene, ax: Any) -> None:
    """Draw the legend below the picture: categories of the colour scale, then the scene's own entries."""
    from matplotlib.transforms import ScaledTranslation

    entries = list(scene.legend)
    scale = scene.colours
    if scale is not None and scale.kind == "categories":
        named: dict[str, list[str]] = {}
        for colour, name in zip(scale.stops, scale.categories, strict=True):
            named.setdefault(colour, []).append(name)
        entries = [
            *(
                Entry(f"{scale.label} = {names[0]}" if len(names) == 1 else f"{len(names)} others", colour)
                for colour, names in named.items()
            ),
            *entries,
        ]
    if not entries:
        return
    below = ax.transAxes + ScaledTranslation(0, -27 / 72 if scene.x.shown else -4 / 72, ax.figure.dpi_scale_trans)
    # A legend that is wider than the axes would push a colour bar away, its own or that of the next row.
    alone = _inches(ax) >= NARROW and (scale is None or scale.kind == "categories")
    room = _characters(ax, SMALL, scene.y.shown) - (0 if alone else BAR)
    entries = [replace(entry, label="\n".join(textwrap.wrap(entry.label, room - 5))) for entry in entries]
    ax.legend(
        handles=[handle(entry) for entry in entries],
        loc="upper left",
        bbox_to_anchor=(0, 0),
        bbox_transform=below,
        borderaxespad=0,
        borderpad=0,
        ncols=columns_that_fit([max(map(len, entry.label.split("\n"))) for entry in entries], room),
    )


def columns_that_fit(lengths: list[int], room: int) -> int:
    """Return the most columns in which a legend, filled column by column, is not wider than ``room`` characters."""
    for columns in range(len(lengths), 1, -1):
        rows, more = divmod(len(lengths), columns)
        ends = np.cumsum([0] + [rows + (column < more) for column in range(columns)])
        if sum(max(lengths[a:b]) + 5 for a, b in itertools.pairwise(ends) if a < b) <= room:
            return columns
    return 1


def handle(entry: Entry) -> Any:
    """Return what matplotlib's legend shows for an entry."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    if entry.symbol == "area":
        return Patch(facecolor=entry.colour, alpha=entry.opacity, label=literal(entry.label))
    if entry.symbol == "outline":
        return Patch(facecolor="none", edgecolor=entry.colour, linewidth=1.2, label=literal(entry.label))
    if entry.symbol in ("line", "dashes"):
        style: Any = DASHES if entry.symbol == "dashes" else "solid"
        return Line2D([], [], color=entry.colour, linewidth=1.4, linestyle=style, label=literal(entry.label))
    marker = SYMBOLS.get(entry.symbol, "o")
    inside = "none" if entry.symbol == "ring" else entry.colour
    return Line2D(
        [],
        [],
        color=entry.colour,
        marker=marker,
        markerfacecolor=inside,
        linestyle="none",
        markersize=4.5,
        label=literal(entry.label),
    )


def _words(scene: Scene, ax: Any) -> Any:
    """Write title and subtitle above the picture, broken to its width; return the subtitle."""
    remark = ". ".join(part for part in (scene.subtitle, scene.note) if part)
    lines = textwrap.wrap(literal(remark), _characters(ax, SMALL, scene.y.shown))
    ax.set_title(
        "\n".join(textwrap.wrap(literal(scene.title), _characters(ax, TITLE * 1.1, scene.y.shown))),
        loc="left",
        pad=4 + (SMALL + 2) * len(lines) + (2 if lines else 0),
    )
    if not lines:
        return None
    below = ax.annotate(
        "\n".join(lines),
        (0, 1),
        xytext=(0, 4),
        xycoords="axes fraction",
        textcoords="offset points",
        va="bottom",
        fontsize=SMALL,
        color=GREY,
        linespacing=1.25,
    )
    below.set_in_layout(False)  # the title's distance has room for it
    return below


def _characters(ax: Any, size: float, ticks: bool) -> int:
    """Return how many characters of a size fit above the axes, up to the end of their place in the figure."""
    inches = _inches(ax) - (TICKS if ticks and ax.get_subplotspec() is not None else 0.0)
    return max(int(inches * 72 / (size * 0.58)), 12)


def _inches(ax: Any) -> float:
    """Return the width of the axes' place in the figure, labels and colour bar included."""
    spec = ax.get_subplotspec()
    if spec is None:
        share = ax.get_position().width
    else:
        share = (spec.colspan.stop - spec.colspan.start) / spec.get_gridspec().ncols
    return float(share * width_of(ax.figure))
