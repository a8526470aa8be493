"""The episode strip, as a matplotlib picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tripletree.plot.sheet import SheetPicture
from tripletree.plot.style import PAGE
from tripletree.scenes import strip as scenes

ROW = 0.5
"""Height of a row in inches."""


def episode(
    model: Any,
    log: Any,
    number: int = 0,
    *,
    features: Sequence[str] | None = None,
    about: str = "action",
    levels: int | Sequence[float] = 3,
    shortest: int = 3,
    most: int = 12,
    figure: Any = None,
) -> SheetPicture:
    """Draw an episode: features, action and value over time, its phases, and why each of them begins.

    Phases have one colour a behaviour. Where a feature explains the beginning of a phase, a disc marks it and a short
    line the border that it crossed. The story of the episode stands below.

    Parameters
    ----------
    model : TripleTree
        The tree.
    log : Log
        Where the episode is.
    number : int
        Its position in the log, from 0 on.
    features : sequence of str or None
        Which features to show; None: those that explain most changes, at most five.
    about, levels, shortest, most
        What makes phases, as in :meth:`TripleTree.story`.
    figure : matplotlib Figure or SubFigure, or None
        Where to draw; None: a new figure of a paper's text width.

    Examples
    --------
    >>> from tripletree import TripleTree, plot
    >>> from tripletree.demos import road
    >>> log = road.record("left", n_samples=1000)
    >>> model = TripleTree(20, truncation="bootstrap").fit(log)
    >>> plot.episode(model, log, 3)
    <SheetPicture: Episode 3: 121 steps, 2 phases>
    """
    sheet = scenes.episode(
        model, log, number, features=features, about=about, levels=levels, shortest=shortest, most=most
    )
    return SheetPicture(sheet, figure, (PAGE, ROW * sum(sheet.heights) * 1.15 + 0.75))
