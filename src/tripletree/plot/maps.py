"""Maps of a tree, as matplotlib pictures."""

from __future__ import annotations

from typing import Any

from tripletree.plot.picture import Picture
from tripletree.scenes import leaf_map as scenes
from tripletree.scenes.view import read_view


def leaf_map(
    model: Any,
    x: str,
    y: str | None = None,
    *,
    colour: str | None = "action",
    arrows: bool | int = False,
    where: dict[str, Any] | None = None,
    at: Any = None,
    limits: tuple[float, float] | None = None,
    ax: Any = None,
) -> Picture:
    """Draw what a tree says along one or two features.

    When the tree has just these features, or all others are fixed (a slice), every leaf is a rectangle. Otherwise the
    leaves behind each cell are averaged, weighted by the samples to be expected there (a projection, or partial
    dependence).

    Parameters
    ----------
    model : TripleTree or Fitted
        The tree.
    x, y : str
        Features along the axes; without ``y``, a curve along ``x``.
    colour : str or None
        What is shown: ``"action"`` or an action's name, ``"value"``, ``"derivative of pos"``, ``"impurity of action"``
        (or of value, derivative), ``"density"``, ``"count"``, ``"leaf"``; None for outlines.
    arrows : bool or int
        Whether to show mean moves; a number for so many arrows along each axis of a projection.
    where : dict or None
        Limits of other features, ``{"vx": (-0.1, 0.1), "vy": 0}``: an interval (None for no bound), or a number that
        fixes a feature.
    at : state or None
        Fix all other features as in this state.
    limits : (low, high) or None
        Ends of the colour scale.
    ax : matplotlib Axes or None
        Where to draw; None: a new figure of a paper's column width.

    Returns
    -------
    Picture
        With ``ax_``, ``figure_``, ``scene_`` and ``save(path)``.
    """
    view = read_view(model, x, y, where=where, at=at)
    return Picture(scenes.leaf_map(view, colour, arrows=arrows, limits=limits), ax)
