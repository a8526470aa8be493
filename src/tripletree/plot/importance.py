"""Importance bars, as a matplotlib picture."""

from __future__ import annotations

from typing import Any

from tripletree.plot.picture import Picture
from tripletree.plot.style import COLUMN
from tripletree.scenes.importance import importances


def importance(model: Any, *, most: int = 12, ax: Any = None) -> Picture:
    """Draw how much each feature matters to action, value and derivative (see ``TripleTree.importance``).

    Parameters
    ----------
    model : TripleTree
        The tree.
    most : int
        Most features to show one by one, the most important first; the others are summed up.
    ax : matplotlib Axes or None
        Where to draw; None: a new figure of a paper's column width.

    Examples
    --------
    >>> from tripletree import TripleTree, plot
    >>> from tripletree.demos import road
    >>> tree = TripleTree(20, truncation="bootstrap").fit(road.record("left", n_samples=1000))
    >>> plot.importance(tree).scene_.y.tick_labels
    ('pos', 'speed')
    """
    scene = importances(model, most)
    return Picture(scene, ax, (COLUMN, 1.15 + 0.34 * len(scene.y.ticks)))
