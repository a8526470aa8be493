"""What a drawing function returns: one scene on axes, or a sheet of scenes in a figure, ready to be saved.

``ax_``, ``axes_`` and ``figure_`` are matplotlib's own objects, so that everything about a picture can be changed.
"""

from __future__ import annotations

import os
import sys
import textwrap
from typing import Any, Self

from tripletree.plot.captions import columns_that_fit, handle
from tripletree.plot.draw import Colours, Drawing, colour_bar
from tripletree.plot.style import (
    COLUMN,
    HEADING,
    PAGE,
    SMALL,
    literal,
    new_figure,
    png,
    styled,
    svg,
    width_of,
    write_figure,
)
from tripletree.scenes.colours import GREY
from tripletree.scenes.types import Scene, Sheet

LARGEST_SVG = 1_000_000
"""A drawing with more letters than this would make a notebook slow, which shows pixels then."""


class _Drawn:
    """A figure that can be saved, and that a notebook shows."""

    figure_: Any

    def save(self, path: str | os.PathLike[str], **options: Any) -> Self:
        """Write the figure to a file (.pdf, .svg, .png, ...) and return self; options go to ``savefig``."""
        write_figure(self._whole, path, options)
        return self

    @property
    def _whole(self) -> Any:
        """The figure; of a subfigure, the one that it is in."""
        return self.figure_.figure

    def _repr_png_(self) -> bytes | None:
        return None if self._shown_by_pyplot() else png(self._whole)

    def _repr_svg_(self) -> str | None:
        drawn = "" if self._shown_by_pyplot() else svg(self._whole)
        return drawn if 0 < len(drawn) <= LARGEST_SVG else None

    def _shown_by_pyplot(self) -> bool:
        """Whether a notebook shows the figure anyway: it is the user's own, and pyplot shows at the end of a cell."""
        pyplot, number = sys.modules.get("matplotlib.pyplot"), getattr(self._whole, "number", None)
        return pyplot is not None and number is not None and pyplot.isinteractive() and pyplot.fignum_exists(number)


class Picture(_Drawn):
    """A drawn scene.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it is drawn.
    figure_ : matplotlib Figure
        The figure of those axes.
    scene_ : Scene
        What is drawn, as numbers.
    """

    def __init__(self, scene: Scene, ax: Any = None, size: tuple[float, float] = (COLUMN, 2.7)) -> None:
        with styled():
            if ax is None:
                ax = new_figure(size).subplots()
            self._drawing = Drawing(ax)
            self._drawing.show(scene)
        self.ax_ = ax
        self.figure_ = ax.figure
        self.scene_ = scene

    def _show(self, scene: Scene) -> Self:
        """Draw what a scene has that is not shown yet."""
        with styled():
            self._drawing.show(scene)
        self.scene_ = scene
        return self

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.scene_.title}>"


class SheetPicture(_Drawn):
    """A drawn sheet.

    Attributes
    ----------
    axes_ : list of lists of matplotlib Axes
        Where the pictures are drawn, row by row.
    figure_ : matplotlib Figure
        The whole figure.
    sheet_ : Sheet
        What is drawn, as numbers.
    """

    def __init__(self, sheet: Sheet, figure: Any = None, size: tuple[float, float] = (PAGE, 2.5)) -> None:
        with styled():
            if figure is None:
                figure = new_figure(size)
            columns = max(map(len, sheet.rows))
            grid = figure.add_gridspec(len(sheet.rows), columns, height_ratios=sheet.heights or None)
            self.axes_ = [[figure.add_subplot(grid[r, c]) for c in range(len(row))] for r, row in enumerate(sheet.rows)]
            # A scale that all pictures share has one bar, beside all of them.
            for row, axes in zip(sheet.rows, self.axes_, strict=True):
                for scene, ax in zip(row, axes, strict=True):
                    Drawing(ax).show(scene, bar=sheet.colours is None)
            if sheet.colours is not None:
                everywhere = [ax for axes in self.axes_ for ax in axes]
                colour_bar(sheet.colours, Colours(sheet.colours), everywhere)
            if sheet.legend:
                figure.legend(
                    handles=[handle(entry) for entry in sheet.legend],
                    loc="outside lower left",
                    ncols=columns_that_fit([len(entry.label) for entry in sheet.legend], _room(figure)),
                    borderpad=0.2,
                    handlelength=1.6,
                )
            _words(sheet, figure)
        self.figure_ = figure
        self.sheet_ = sheet

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.sheet_.title}>"


def _words(sheet: Sheet, figure: Any) -> None:
    """Write title and subtitle at the top left."""
    lines = textwrap.wrap(sheet.subtitle, _room(figure))
    # The title keeps empty lines below itself, in which the subtitle is written: so the layout leaves room for both.
    title = figure.suptitle(
        literal(sheet.title) + "\n" * len(lines), x=0.01, ha="left", fontweight="bold", fontsize=HEADING
    )
    if lines:
        figure.add_artist(_below(title, "\n".join(lines)))


def _room(figure: Any) -> int:
    """Return how many small letters fit on a line."""
    return max(int(width_of(figure) * 72 / (SMALL * 0.56)), 12)


def _below(title: Any, text: str) -> Any:
    from matplotlib.text import Annotation

    note = Annotation(
        literal(text),
        (0, 0),
        # The empty lines of the title are taller than those of the subtitle, which would stand too far below.
        xytext=(0, 1 + 1.5 * (text.count("\n") + 1)),
        xycoords=title,
        textcoords="offset points",
        va="bottom",
        ha="left",
        fontsize=SMALL,
        color=GREY,
        linespacing=1.25,
    )
    note.set_in_layout(False)
    return note
