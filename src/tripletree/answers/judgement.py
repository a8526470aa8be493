"""Judgements of a tree: is it calibrated, how good is it on unseen episodes, where should it not be believed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tripletree.answers.answer import Answer
from tripletree.language.numbers import all_of, percent, rounded
from tripletree.leaves.attributes import ATTRIBUTES
from tripletree.text import count, plural

F64 = npt.NDArray[np.float64]

CONFIDENCE = "confidence"


TORN = 0.5
"""A leaf in which this share of an attribute's impurity over the whole log is left knows little about it."""


@dataclass(frozen=True, eq=False, repr=False)
class Calibration(Answer):
    """Predictions and observations in groups of samples whose predictions are about the same.

    Attributes
    ----------
    about : str
        "value", the name of an action dimension, or "confidence": how sure the tree is of a discrete action, against
        how often it is right.
    predicted, observed : float64 arrays of shape (groups,)
        Means over the samples of each group, from small to large predictions.
    error : float64 array of shape (groups,)
        Standard error of the mean observed, as if samples were independent.
    count : int64 array of shape (groups,)
        Samples of each group.
    scale : float
        Spread of what is observed over the log (1 for a confidence).
    """

    about: str
    predicted: F64
    observed: F64
    error: F64
    count: npt.NDArray[np.int64]
    scale: float

    @property
    def gap(self) -> float:
        """The mean distance of predicted and observed, weighted by samples."""
        return float(np.average(np.abs(self.predicted - self.observed), weights=self.count))

    def __str__(self) -> str:
        return _calibration(self)


@dataclass(frozen=True, eq=False, repr=False)
class HeldOut(Answer):
    """Losses and calibration, as honest as the log allows.

    Attributes
    ----------
    how : {"other", "regrown", "same"}
        Judged on another log than the tree was grown on; by growing such a tree again on 4 of 5 episodes and asking it
        about the others; or, when the log is too small or too large for that, on the very log that it was grown on.
    episodes, samples : int
        What it was judged on.
    losses : float64 array of shape (3,)
        Action, value and derivative loss there.
    training : float64 array of shape (3,)
        The tree's losses on the log it was grown on.
    constant : float64 array of shape (3,)
        The losses there of the same tree with one leaf: what can be known without looking at the state.
    discrete : bool
        Whether actions are labels.
    calibrations : tuple of Calibration
        One for each attribute.
    """

    how: str
    episodes: int
    samples: int
    losses: npt.NDArray[np.float64]
    training: npt.NDArray[np.float64]
    constant: npt.NDArray[np.float64]
    discrete: bool
    calibrations: tuple[Calibration, ...]

    def __str__(self) -> str:
        return _held_out(self)


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
        return _trust(self)


def _held_out(answer: HeldOut) -> str:
    """Return how the losses were measured, and what they say."""
    episodes, samples = count(answer.episodes, "episode"), count(answer.samples, "sample")
    how = {
        "other": f"The tree was judged on {episodes} with {samples} of another log than the one it was grown on.",
        "regrown": "The tree has seen all of this log. To be fair, a second tree of the same size was grown on 4 of 5 "
        f"episodes and judged on the rest: {episodes} with {samples}.",
        "same": "The tree was judged on the log that it was grown on, so expect it to do worse on new episodes.",
    }[answer.how]
    known = 1 - answer.losses / np.where(answer.constant > 0, answer.constant, 1.0)
    told = [
        f"{percent(max(part, 0.0))} of the {name} loss"
        for name, part, whole in zip(ATTRIBUTES, known.tolist(), answer.constant.tolist(), strict=True)
        if whole > 0
    ]
    return f"{how} Looking at the state takes away {all_of(told)} there." if told else how


def _calibration(answer: Calibration) -> str:
    """Return how far predictions are from what is observed."""
    if answer.about == "confidence":
        sure, right = (
            np.average(answer.predicted, weights=answer.count),
            np.average(answer.observed, weights=answer.count),
        )
        text = (
            f"The tree is sure of its actions by {percent(float(sure))} on average and right in {percent(float(right))}"
        )
        return f"{text} of the steps; group by group the two differ by {percent(answer.gap)}."
    far = f" ({percent(answer.gap / answer.scale)} of its spread)" if answer.scale > 0 else ""
    return f"Group by group, predicted and observed {answer.about} differ by {rounded(answer.gap, 2)}{far} on average."


def _trust(answer: Trust) -> str:
    """Return where a tree should not be trusted."""
    total = len(answer.few)
    few = int(answer.few.sum())
    told = []
    if few:
        share = float(answer.share[answer.few].sum())
        leaves = f"{few:,} of {count(total, 'leaf', 'leaves')}"
        rest = plural(few, "rests on fewer than 10 samples", "rest on fewer than 10 samples each")
        told.append(f"Few samples: {leaves} {rest} ({percent(share)} of the log lies there).")
    else:
        told.append("Few samples: no leaf rests on fewer than 10 samples.")
    torn = [
        f"{percent(float(answer.share[answer.torn[:, g]].sum()))} of the log lies where {name} is hardly known"
        for g, name in enumerate(ATTRIBUTES)
        if answer.torn[:, g].any()
    ]
    if torn:
        told.append(
            f"Disagreement: {all_of(torn)}; samples of these leaves differ at least half as much as those of the "
            "whole log."
        )
    else:
        told.append("Disagreement: in every leaf samples differ less than half as much as in the whole log.")
    if answer.outside:
        told.append(
            f"Outside: {percent(answer.outside)} of the log's states lie outside the range that the tree was grown on."
        )
    told.append(
        "Outside the log: beyond the ranges of its features the tree knows nothing, and says what it knows of the "
        "nearest leaf. Explanations warn of such states."
    )
    return "\n".join(told)
