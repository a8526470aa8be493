"""The transition graph, as a matplotlib picture."""

from __future__ import annotations

from typing import Any

from tripletree.plot.picture import Picture
from tripletree.scenes import graph as scenes


def transitions(
    model: Any,
    x: str | None = None,
    y: str | None = None,
    *,
    colour: str = "value",
    share: float = 0.9,
    most: int = 100,
    log: Any = None,
    ax: Any = None,
) -> Picture:
    """Draw how the agent moves from leaf to leaf.

    A node is a leaf, the larger the more time is spent there; an arrow is a move, the wider the more probable it is
    when the leaf is left, and the darker the more often it happens. Of many moves the most frequent are drawn, and the
    picture says how much of all they are. The end of episodes is a node of its own.

    Parameters
    ----------
    model : TripleTree
        The tree.
    x, y : str or None
        Features that place each leaf, by its middle; None: a layout in which neighbours are near.
    colour : str
        What is shown by colour, as in :func:`leaf_map`.
    share : float
        Draw the most frequent moves until they are this share of all ...
    most : int
        ... or so many arrows.
    log : Log or None
        Whose moves to draw; None: the training log's.
    ax : matplotlib Axes or None
        Where to draw; None: a new figure.

    Examples
    --------
    >>> from tripletree import TripleTree, plot
    >>> from tripletree.demos import road
    >>> model = TripleTree(20, truncation="bootstrap").fit(road.record("left", n_samples=1000))
    >>> plot.transitions(model, share=0.5).scene_.subtitle
    '7 of 31 arrows, 54 % of all moves, between 7 of 20 leaves'
    """
    scene = scenes.transitions(model, x, y, colour=colour, share=share, most=most, log=log)
    return Picture(scene, ax, (4.6, 3.9))
