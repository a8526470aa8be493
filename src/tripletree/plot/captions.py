"""The words around a picture: title, subtitle and legend, wrapped to the available width."""

from __future__ import annotations

import itertools
import textwrap
from dataclasses import replace
from typing import Any

import numpy as np

from tripletree.plot.style import DASHES, SMALL, TITLE, literal, width_of
from tripletree.scenes.colours import GREY
from tripletree.scenes.guides import category_entries
from tripletree.scenes.types import Axis, Entry, Scene
from tripletree.text import visible

SYMBOLS = {
    "arrow": r"$\rightarrow$",
    "disc": "o",
    "ring": "o",
    "star": "*",
    "square": "s",
    "cross": "X",
    "diamond": "D",
}
TICKS = 0.5
"""Inches that labels of the y axis take at the left of a picture."""
NARROW = 2.8
"""Inches below which a picture has fewer ticks and a slim legend."""
# An estimate: matplotlib can measure text only once it is drawn, and the layout needs to know before.
WIDTH = 0.58
"""Width of a letter, as a share of its size."""
BAR = 12
"""Characters by which a legend must be narrower than the picture where there is a colour bar."""
LEGEND_LINES = 8
"""Lines of a legend, as far as entries need more than one each."""
HANDLE = 5
"""Characters that the symbol of a legend's entry and the gap to the next take."""


def legend(scene: Scene, ax: Any) -> None:
    """Draw the legend below the picture: categories of the colour scale, then the scene's own entries."""
    from matplotlib.transforms import ScaledTranslation

    entries = [*category_entries(scene.colours), *scene.legend]
    if not entries:
        return
    # In points below the axes, not in a share of them: ticks and labels take the same height in a low picture.
    below = ax.transAxes + ScaledTranslation(0, -27 / 72 if scene.x.shown else -4 / 72, ax.figure.dpi_scale_trans)
    # A legend that is wider than the axes would push a colour bar away, its own or that of the next row.
    scale = scene.colours
    alone = inches(ax) >= NARROW and (scale is None or scale.kind == "categories")
    room = characters(ax, SMALL, scene.y) - (0 if alone else BAR)
    # The more entries, the fewer lines each: a legend of long names would leave no height for the picture.
    most = max(LEGEND_LINES // len(entries), 1)
    entries = [replace(entry, label=wrapped(entry.label, room - HANDLE, most)) for entry in entries]
    ax.legend(
        handles=[handle(entry) for entry in entries],
        loc="upper left",
        bbox_to_anchor=(0, 0),
        bbox_transform=below,
        borderaxespad=0,
        borderpad=0,
        ncols=columns_that_fit([max(map(len, entry.label.split("\n"))) for entry in entries], room),
    )


def wrapped(text: str, letters: int, most: int) -> str:
    """Return text in lines of so many letters, at most ``most`` of them: the rest of a very long name is left out."""
    return "\n".join(textwrap.wrap(visible(text), letters, max_lines=most, placeholder="…"))


def columns_that_fit(lengths: list[int], room: int) -> int:
    """Return the most columns in which a legend, filled column by column, is not wider than ``room`` characters."""
    for columns in range(len(lengths), 1, -1):
        # As matplotlib fills them: when they do not come out even, the first columns are one longer.
        rows, more = divmod(len(lengths), columns)
        ends = np.cumsum([0] + [rows + (column < more) for column in range(columns)])
        if sum(max(lengths[a:b]) + HANDLE for a, b in itertools.pairwise(ends) if a < b) <= room:
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
    if entry.symbol == "hatching":
        return Patch(facecolor="none", edgecolor=entry.colour, linewidth=0, hatch="/////", label=literal(entry.label))
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
        # An arrow is a letter, which an edge would make bold.
        markersize=9 if entry.symbol == "arrow" else 4.5,
        markeredgewidth=0 if entry.symbol == "arrow" else 1,
        label=literal(entry.label),
    )


def headings(scene: Scene, ax: Any) -> Any:
    """Write title and subtitle above the picture, wrapped to its width; return the subtitle."""
    remark = ". ".join(part for part in (scene.subtitle, scene.note) if part)
    lines = wrapped(remark, characters(ax, SMALL, scene.y), 8).split("\n") if remark else []
    # Bold letters are a tenth wider. The title is lifted by as much as the lines below it need.
    ax.set_title(
        literal(wrapped(scene.title, characters(ax, TITLE * 1.1, scene.y), 3)),
        loc="left",
        pad=4 + (SMALL + 2) * len(lines) + (2 if lines else 0),
    )
    if not lines:
        return None
    below = ax.annotate(
        literal("\n".join(lines)),
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


def characters(ax: Any, size: float, left: Axis) -> int:
    """Return how many characters of a size fit above the axes, up to the end of their space in the figure."""
    room = inches(ax)
    # Axes with a place in a grid share it with their labels; others were placed by hand, labels outside.
    if left.shown and ax.get_subplotspec() is not None:
        longest = max((len(line) for text in left.tick_labels for line in text.split("\n")), default=0)
        room -= max(TICKS, longest * SMALL * WIDTH / 72 + 0.15)
    return max(int(room * 72 / (size * WIDTH)), 12)


def inches(ax: Any) -> float:
    """Return the width of the axes' space in the figure, labels and colour bar included."""
    spec = ax.get_subplotspec()
    if spec is None:
        share = ax.get_position().width
    else:
        share = (spec.colspan.stop - spec.colspan.start) / spec.get_gridspec().ncols
    return float(share * width_of(ax.figure))
