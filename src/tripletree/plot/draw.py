"""Draws a scene on matplotlib axes; computes nothing but where text breaks."""

from __future__ import annotations

from typing import Any

import numpy as np

from tripletree.plot.captions import NARROW, SYMBOLS, headings, inches, legend, wrapped
from tripletree.plot.style import DASHES, literal
from tripletree.scenes.colours import PAPER
from tripletree.scenes.guides import bar_axis, marked
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
    Scene,
    Surface,
    Veil,
)
from tripletree.text import shortened, visible

LETTERS = 52
"""Letters of a name beside an axis; half as many at its ticks."""
MANY_CELLS = 20_000
"""A grid of more cells, or more points, become pixels in vector files, which would be slow to show otherwise."""


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
        # Once: a later scene has the same scale and more marks, and a second bar would shrink the axes again.
        if self._colours is None:
            self._colours = Colours(scene.colours)
            if bar:
                colour_bar(scene.colours, self._colours, ax)
        for order, mark in enumerate(scene.marks):
            # matplotlib draws by kind, lines above areas, unless it is told the order of the scene.
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
        legend(scene, ax)
        if self._subtitle is not None:
            self._subtitle.remove()
        self._subtitle = headings(scene, ax)


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
            # Value k is the middle of the k-th interval, so that no rounding can give it a neighbour's colour.
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
        autolim=False,  # the scene says where its axes end
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
        # Arrows are moves on the plane: they begin and end where the data say, whatever the size of the picture.
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
            # Round ends would close the gaps between dashes.
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
        s=np.square(mark.size),  # matplotlib measures areas, scenes diameters
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
        # The layout would shrink the axes to make room for a label at their border.
        written.set_in_layout(False)
        if mark.framed:
            written.set_path_effects([patheffects.withStroke(linewidth=1.6, foreground=PAPER)])


def _links(mark: Links, ax: Any, _: Colours, zorder: float) -> None:
    """Draw bent arrows, with heads that grow with their widths."""
    from matplotlib.colors import to_rgb
    from matplotlib.patches import FancyArrowPatch

    colour = np.array(to_rgb(mark.colour))
    rows = zip(mark.x0, mark.y0, mark.x1, mark.y1, mark.width, mark.opacity, mark.gap0, mark.gap1, strict=True)
    for x0, y0, x1, y1, width, opacity, gap0, gap1 in rows:
        ax.add_patch(
            FancyArrowPatch(
                (x0, y0),
                (x1, y1),
                connectionstyle=f"arc3,rad={mark.bend}",
                arrowstyle=f"-|>,head_length={2 + 0.8 * width},head_width={0.9 + 0.45 * width}",
                mutation_scale=1,
                shrinkA=gap0,
                shrinkB=gap1,
                linewidth=width,
                # Mixed with white instead of transparent: a transparent head would show the shaft below it.
                color=tuple(1 - opacity * (1 - colour)),
                capstyle="butt",
                joinstyle="miter",
                zorder=zorder,
            )
        )


def _surface(mark: Surface, ax: Any, colours: Colours, zorder: float) -> None:
    """Shade triangles, as pixels in vector files, because few viewers can shade."""
    ax.tripcolor(
        mark.x,
        mark.y,
        mark.triangle,
        mark.value,
        shading="gouraud",
        cmap=colours.cmap,
        norm=colours.norm,
        rasterized=True,
        zorder=zorder,
    )


def _veil(mark: Veil, ax: Any, _: Colours, zorder: float) -> None:
    """Draw paper on cells, as pixels: vector viewers would show hairlines between half-transparent neighbours."""
    from matplotlib.colors import ListedColormap

    ax.pcolormesh(
        mark.x,
        mark.y,
        np.ma.masked_where(~mark.hidden, np.zeros(mark.hidden.shape)),
        cmap=ListedColormap([PAPER]),
        alpha=mark.opacity,
        rasterized=True,
        zorder=zorder,
    )


_DRAWERS: dict[type, Any] = {
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


def _axis(axis: Axis, ax: Any, which: str) -> None:
    # Here, because that module needs matplotlib at its first line.
    from tripletree.plot.ticks import put_ticks

    most = 6 if which == "y" or inches(ax) >= NARROW else 4
    shown = marked(axis, most)
    getattr(ax, f"set_{which}label")(literal(shortened(visible(shown.label), LETTERS)))
    if axis.upright:
        ax.set_ylabel(literal(wrapped(shown.label, 14, 3)), rotation=0, ha="right", va="center")
    if axis.log:
        getattr(ax, f"set_{which}scale")("log")
    getattr(ax, f"set_{which}lim")(axis.low, axis.high)
    # Ticks that a scene names stay as they are; others are found anew when somebody moves the limits.
    if axis.ticks:
        texts = [
            "\n".join(shortened(line, LETTERS // 2) for line in visible(text).split("\n")) for text in shown.tick_labels
        ]
        getattr(ax, f"set_{which}ticks")(shown.ticks, list(map(literal, texts)))
    else:
        put_ticks(getattr(ax, f"{which}axis"), axis, most)


def colour_bar(scale: ColourScale | None, colours: Colours, ax: Any) -> None:
    """Draw the colour bar of a scale beside the axes, or beside a list of axes."""
    if scale is None or scale.kind == "categories":
        return
    from matplotlib.cm import ScalarMappable

    figure = ax[0].figure if isinstance(ax, list) else ax.figure
    bar = figure.colorbar(ScalarMappable(colours.norm, colours.cmap), ax=ax, pad=0.02, fraction=0.06, aspect=24)
    axis = bar_axis(scale)
    bar.set_label(literal(shortened(visible(axis.label), LETTERS)))
    bar.set_ticks(axis.ticks, labels=axis.tick_labels)
    bar.minorticks_off()
    bar.outline.set_visible(False)
