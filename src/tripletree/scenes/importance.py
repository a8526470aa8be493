"""Importance: bars that show how much each feature matters to action, value and derivative."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np

from tripletree.checks import check_whole
from tripletree.language.numbers import percent
from tripletree.questions.importance import importance
from tripletree.scenes.colours import ATTRIBUTE_COLOURS, GREY
from tripletree.scenes.types import Axis, Entry, Labels, Mark, Rectangles, Scene
from tripletree.scenes.view import read_model

LETTERS = 24
"""Longest line of a feature's name."""
BAR = 0.26
"""Height of a bar; a feature with its three bars has height 1."""


def importances(model: Any, most: Any = 12) -> Scene:
    """Return bars of every feature, the most important on top; what is left of many is summed up in a last row.

    Parameters
    ----------
    model : TripleTree or Fitted
        The tree.
    most : int
        Most features to show one by one.
    """
    check_whole(most, "most", 1, example=12)
    found = importance(read_model(model))
    order = np.argsort(-found.share.sum(axis=0), kind="stable")
    share, names = found.share[:, order], [found.features[f] for f in order]
    if len(names) > most + 1:
        share = np.column_stack([share[:, :most], share[:, most:].sum(axis=1)])
        names = [*names[:most], f"{len(names) - most} others"]
    rows = len(names)
    marks: list[Mark] = []
    for g, colour in enumerate(ATTRIBUTE_COLOURS):
        # The first row is the highest, and within it the action.
        top = rows - np.arange(rows, dtype=np.float64) - 0.5 - (1 - 3 * BAR) / 2 - g * BAR
        marks.append(Rectangles(np.zeros(rows), share[g], top - BAR * 0.9, top, fill=colour))
        told = tuple(percent(part) if part > 0 else "0" for part in share[g].tolist())
        marks.append(Labels(share[g], top - BAR * 0.45, told, 5.5, GREY, "left", (2.0, 0.0)))
    longest = float(share.max()) or 1.0
    ticks = tuple((rows - 1 - np.arange(rows, dtype=np.float64)).tolist())
    return Scene(
        "What the tree looks at",
        Axis("share of the impurity removed", 0.0, longest * 1.14),
        Axis(
            "",
            -0.5,
            rows - 0.5,
            ticks=ticks,
            tick_labels=tuple("\n".join(textwrap.wrap(name, LETTERS)) for name in names),
        ),
        tuple(marks),
        _said(found.removed.tolist()),
        legend=tuple(Entry(name, colour) for name, colour in zip(found.attributes, ATTRIBUTE_COLOURS, strict=True)),
    )


def _said(removed: list[float]) -> str:
    if not any(removed):
        return "This tree has no split that tells anything"
    action, value, derivative = map(percent, removed)
    return (
        f"All splits together remove {action} of the impurity of action, {value} of value, {derivative} of derivative"
    )
