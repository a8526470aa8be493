"""Loss curves, as a matplotlib picture."""

from __future__ import annotations

from typing import Any

from tripletree.plot.sheet import SheetPicture
from tripletree.scenes import curves as scenes


def curves(models: Any, *, validation: Any = None, most_leaves: int | None = None, figure: Any = None) -> SheetPicture:
    """Draw action, value and derivative loss against the number of leaves.

    Solid lines are losses on held-out episodes, dashed ones on the training log (solid, where it is all there is). A
    disc marks the size that early stopping or ``truncate`` has kept.

    Parameters
    ----------
    models : TripleTree, list of them, or dict of names to them
        Whose losses; those of a list are named by the parameters in which they differ.
    validation : Log or None
        Held-out episodes, for trees that were grown without.
    most_leaves : int or None
        Where the pictures end.
    figure : matplotlib Figure or SubFigure, or None
        Where to draw; None: a new figure of a paper's text width.

    Examples
    --------
    >>> from tripletree import TripleTree, plot
    >>> from tripletree.demos import road
    >>> log, held_out = road.record("left", n_samples=2000).split(0.3)
    >>> trees = [TripleTree(40, theta, truncation="bootstrap").fit(log, held_out) for theta in ((1, 1, 1), (1, 0, 0))]
    >>> picture = plot.curves(trees)
    >>> [entry.label for entry in picture.sheet_.legend]
    ['theta 1, 1, 1', 'theta 1, 0, 0', 'validation', 'training', 'size chosen']
    """
    return SheetPicture(scenes.curves(models, validation, most_leaves), figure, (6.9, 2.4))
