"""Picture: a drawn scene; ``ax_`` and ``figure_`` are matplotlib's own, to change whatever one likes."""

from __future__ import annotations

import os
from typing import Any, Self

from tripletree.plot.draw import Drawing
from tripletree.plot.style import COLUMN, pyplot, styled, write_figure
from tripletree.scenes.types import Scene


class Picture:
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
        plt = pyplot()
        with styled():
            if ax is None:
                _, ax = plt.subplots(figsize=size, layout="constrained")
            self._drawing = Drawing(ax)
            self._drawing.show(scene)
        self.ax_ = ax
        self.figure_ = ax.figure
        self.scene_ = scene

    def _show(self, scene: Scene) -> Self:
        """Draw what a scene has more than the one shown."""
        with styled():
            self._drawing.show(scene)
        self.scene_ = scene
        return self

    def save(self, path: str | os.PathLike[str], **options: Any) -> Self:
        """Write the figure to a file (.pdf, .svg, .png, ...) and return self; options go to ``savefig``."""
        write_figure(self.figure_, path, options)
        return self

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.scene_.title}>"
