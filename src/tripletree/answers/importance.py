"""Importance: how much each feature matters to action, value and derivative."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tripletree.answers.answer import Answer
from tripletree.language.numbers import percent
from tripletree.model.table import Table
from tripletree.text import count

F64 = npt.NDArray[np.float64]

MOST_FEATURES = 5


@dataclass(frozen=True, eq=False, repr=False)
class Importance(Answer):
    """Which share of the impurity that the tree removed was removed by splits on each feature.

    Attributes
    ----------
    share : float64 array of shape (3, features)
        Rows for action, value and derivative; each sums to 1, or is 0 where the splits removed nothing.
    removed : float64 array of shape (3,)
        Which share of the training log's impurity the splits removed altogether: more with every leaf, even on noise.
    attributes, features : tuples of str
        Names of the rows and columns.
    recorded : tuple of bool
        Whether the log has actions, rewards and derivatives at all.
    """

    share: F64
    removed: F64
    attributes: tuple[str, ...]
    features: tuple[str, ...]
    recorded: tuple[bool, ...] = (True, True, True)

    @property
    def table(self) -> Table:
        """One row a feature, one column an attribute."""
        columns = {name: self.share[g] for g, name in enumerate(self.attributes)}
        return Table({"feature": np.array(self.features), **columns})

    def __str__(self) -> str:
        return "\n".join(lines(self))


def lines(answer: Importance) -> list[str]:
    """Return one line an attribute: its features from the most important on."""
    told_of = []
    for name, share, known in zip(answer.attributes, answer.share, answer.recorded, strict=True):
        if not known:
            continue
        ranked = sorted(zip(answer.features, share.tolist(), strict=True), key=lambda pair: -pair[1])
        ranked = [(feature, part) for feature, part in ranked if part > 0]
        if not ranked:
            told_of.append(f"{name.capitalize()}: no split tells anything about it.")
            continue
        told = [f"{feature} {percent(part)}" for feature, part in ranked[:MOST_FEATURES]]
        rest = ranked[MOST_FEATURES:]
        if rest:
            others = count(len(rest), "other")
            told.append(f"{others} {percent(sum(part for _, part in rest))}")
        told_of.append(f"{name.capitalize()}: {', '.join(told)}.")
    return told_of
