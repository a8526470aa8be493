"""The tree diagram, as a matplotlib picture."""

from __future__ import annotations

from typing import Any

from tripletree.plot.picture import Picture
from tripletree.plot.style import COLUMN, SMALL
from tripletree.plot.words import WIDTH, columns_that_fit
from tripletree.scenes.tree import diagram


def tree(model: Any, depth: int = 3, *, ax: Any = None) -> Picture:
    """Draw the top levels of a tree, and what each split separates.

    Every box tells which condition leads to it, its share of the samples, how many leaves are below it, and what it
    predicts. Bars show which share of the box's impurity of action, value and derivative its split removes; lines are
    as wide as the share of the samples that goes through them; a stripe shows the shares of a discrete action.

    Parameters
    ----------
    model : TripleTree
        The tree.
    depth : int
        Levels of splits to show, from 1 to 6.
    ax : matplotlib Axes or None
        Where to draw; None: a new figure that is large enough for all text (7 inches wide for three levels).

    Examples
    --------
    >>> from tripletree import TripleTree, plot
    >>> from tripletree.demos import road
    >>> model = TripleTree(20, truncation="bootstrap").fit(road.record("left", n_samples=1000))
    >>> plot.tree(model, depth=2)
    <Picture: Top 2 levels of a tree with 20 leaves>
    """
    scene = diagram(model, depth)
    width, height = scene.x.high - scene.x.low, scene.y.high - scene.y.low
    # The picture is measured in points; there is more for the margins, the words above and the legend below.
    inches = max(width / 72 + 0.15, COLUMN)
    lengths = [len(entry.label) for entry in scene.legend]
    room = int(inches * 72 / (SMALL * WIDTH))
    rows = -(-len(lengths) // columns_that_fit(lengths, room)) if lengths else 0
    return Picture(scene, ax, (inches, height / 72 + 0.65 + 0.16 * rows))
