"""Draws the marks of graphs and simplices: bent arrows, shaded triangles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tripletree.scenes.types import Links, Surface

if TYPE_CHECKING:
    from tripletree.plot.draw import Colours


def links(mark: Links, ax: Any, _: Colours, zorder: float) -> None:
    """Draw bent arrows; their heads grow with their widths. What is faint is pale, so that no head shows its shaft."""
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
                color=tuple(1 - opacity * (1 - colour)),
                capstyle="butt",
                joinstyle="miter",
                zorder=zorder,
            )
        )


def surface(mark: Surface, ax: Any, colours: Colours, zorder: float) -> None:
    """Shade triangles; as pixels in vector files, few of whose viewers can shade."""
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
