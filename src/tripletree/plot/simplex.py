"""The simplex of weights, as a matplotlib picture."""

from __future__ import annotations

from typing import Any

from tripletree.plot.sheet import SheetPicture
from tripletree.plot.style import PAGE
from tripletree.scenes import simplex as scenes


def simplex(weights: Any, *, figure: Any = None) -> SheetPicture:
    """Draw how large the worst of the three losses is for every theta (paper, Appendix A).

    One triangle a leaf count. A corner is where all weight is on one attribute; dots are the weights tried, coloured by
    the attribute whose loss is worst there; the darker, the larger that loss, on one scale for all sizes. A ring marks
    the best weights.

    Parameters
    ----------
    weights : Weights
        What :func:`tripletree.compare_weights` returns.
    figure : matplotlib Figure or SubFigure, or None
        Where to draw; None: a new figure of a paper's text width.

    Examples
    --------
    >>> from tripletree import compare_weights, plot
    >>> from tripletree.demos import road
    >>> log = road.record("left", n_samples=1000)
    >>> plot.simplex(compare_weights(log, leaves=(10, 50), truncation="bootstrap"))
    <SheetPicture: Which weights keep the worst loss small>
    """
    sheet = scenes.simplex(weights)
    width = min(PAGE, 1.6 + 2.0 * len(sheet.rows[0]))
    # What stands above takes more lines where the picture is narrow.
    return SheetPicture(sheet, figure, (width, 2.1 + 2.6 / width))
