"""Trust: where a tree should not be believed, because it knows little there or its samples disagree."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tripletree.log.log import Log
from tripletree.model.fitted import Fitted
from tripletree.model.judge import check_same_schema
from tripletree.questions.answers import Answer
from tripletree.questions.words import reports
from tripletree.questions.words.numbers import FEW

F64 = npt.NDArray[np.float64]

TORN = 0.5
"""A leaf in which this share of an attribute's impurity over the whole log is left knows little about it."""


@dataclass(frozen=True, eq=False, repr=False)
class Trust(Answer):
    """Leaves with reasons for doubt.

    Attributes
    ----------
    few : bool array of shape (leaves,)
        Leaves with fewer than 10 training samples.
    left : float64 array of shape (leaves, 3)
        The share of the log's impurity of action, value and derivative that is left within each leaf.
    share : float64 array of shape (leaves,)
        The share of the log's samples in each leaf.
    outside : float
        The share of the log's states that lie outside the range of the training log.
    """

    few: npt.NDArray[np.bool_]
    left: F64
    share: F64
    outside: float

    @property
    def torn(self) -> npt.NDArray[np.bool_]:
        """Leaves whose samples disagree, shape (leaves, 3): of action, value and derivative."""
        return self.left >= TORN

    def worst(self, attribute: int, most: int = 2) -> npt.NDArray[np.int64]:
        """Return the leaves that add most to what the tree does not know of action (0), value (1) or derivative (2).

        They are much visited, and their samples disagree.
        """
        doubt = self.share * self.left[:, attribute]
        order = np.argsort(-doubt, kind="stable")[:most]
        kept: npt.NDArray[np.int64] = order[doubt[order] > 0]
        return kept

    def __str__(self) -> str:
        return reports.trust(self)


def trust(fitted: Fitted, log: Log, threads: int = 1) -> Trust:
    """Return the doubts about a tree, with shares of a log."""
    check_same_schema(fitted.schema, log, "log")
    leaf = fitted.tree.apply(log.states, threads)
    at = fitted.attributes
    whole = at.impurity[0]
    left = np.where(whole > 0, at.impurity[fitted.tree.leaf_nodes] / np.where(whole > 0, whole, 1.0), 0.0)
    beyond = (log.states < fitted.feature_min) | (log.states > fitted.feature_max)
    return Trust(
        few=fitted.leaves.count < FEW,
        left=left,
        share=np.bincount(leaf, minlength=fitted.tree.n_leaves) / len(leaf),
        outside=float(beyond.any(axis=1).mean()),
    )
