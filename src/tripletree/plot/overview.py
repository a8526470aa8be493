"""The overview of a tree, as a matplotlib picture."""

from __future__ import annotations

from typing import Any

from tripletree.plot.sheet import SheetPicture
from tripletree.plot.style import PAGE
from tripletree.scenes import overview as scenes

ROW = 2.55
"""Height of a row of pictures, in inches."""


def overview(model: Any, *, figure: Any = None) -> SheetPicture:
    """Draw what one wants to see of a tree first: action, value, density with moves, and impurity.

    With more than two features, each is shown along the two features that show most of it; the picture says how much:
    the variance of the means over these two features, divided by the variance between leaves.

    Parameters
    ----------
    model : TripleTree or Fitted
        The tree.
    figure : matplotlib Figure or SubFigure, or None
        Where to draw; None: a new figure of a paper's text width.

    Returns
    -------
    SheetPicture
        With ``figure_``, ``axes_``, ``sheet_`` and ``save(path)``.
    """
    sheet = scenes.overview(model)
    return SheetPicture(sheet, figure, (PAGE, ROW * len(sheet.rows) + 0.4))
