"""Judgements of a tree: is it calibrated, how good is it on unseen episodes, where should it not be believed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tripletree.answers.answer import Answer
from tripletree.language.numbers import all_of, percent, rounded
from tripletree.leaves.attributes import ATTRIBUTES
from tripletree.model.fitted import Judged
from tripletree.text import count, plural

F64 = npt.NDArray[np.float64]

CONFIDENCE = "confidence"


TORN = 0.75
"""A leaf that leaves this share of the squared error that is made without looking at the state hardly knows it."""


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
    episodes : int
        Episodes that this is about.
    unseen : bool
        Whether the tree was grown without them; if not, the two agree more than they would elsewhere.
    """

    about: str
    predicted: F64
    observed: F64
    error: F64
    count: npt.NDArray[np.int64]
    scale: float
    episodes: int
    unseen: bool

    @property
    def gap(self) -> float:
        """The mean distance of predicted and observed, weighted by samples."""
        return float(np.average(np.abs(self.predicted - self.observed), weights=self.count))

    def __str__(self) -> str:
        where = f"On {count(self.episodes, 'episode')} that the tree has not seen:"
        if not self.unseen:
            where = "On episodes that the tree may have seen, where the two agree more than they would elsewhere:"
        return f"{where} {_calibration(self)}"


@dataclass(frozen=True, eq=False, repr=False)
class HeldOut(Answer):
    """How good a tree is on episodes that it has not seen, as far as the log can tell.

    Attributes
    ----------
    how : {"unseen", "regrown", "few", "large"}
        Judged on the episodes of the log that the tree has not seen. If there are none: by growing such a tree again
        without a fifth of the episodes and asking it about those; or not at all, because the log has too few episodes
        or too many samples for that.
    seen, chose : int
        Episodes of the log that the tree was grown on, and others that chose its size.
    remembers : bool
        Whether the model knows which episodes it was grown on; files of formats before 1.2 do not.
    discrete : bool
        Whether actions are labels.
    judged : Judged or None
        Losses there, those of the same tree with one leaf (what can be known without looking at the state), and the
        numbers of episodes and samples judged; None when none could be.
    calibrations : tuple of Calibration
        One for each attribute.
    costs : bool
        Whether labels have costs: then the action loss is a mean cost, not a share of wrong labels.
    """

    how: str
    seen: int
    chose: int
    remembers: bool
    discrete: bool
    judged: Judged | None
    calibrations: tuple[Calibration, ...]
    costs: bool = False

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
        What each leaf leaves of the squared error about action, value and derivative that a single leaf makes: linear
        models in episodes that were left out, means in the leaf's own samples.
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
        """Leaves that hardly know action, value or derivative, shape (leaves, 3)."""
        return self.left >= TORN

    def worst(self, attribute: int, most: int = 2) -> npt.NDArray[np.int64]:
        """Return the leaves that add most to what the tree does not know of action (0), value (1) or derivative (2).

        They are much visited, and their predictions are far off.
        """
        doubt = self.share * self.left[:, attribute]
        order = np.argsort(-doubt, kind="stable")[:most]
        kept: npt.NDArray[np.int64] = order[doubt[order] > 0]
        return kept

    def __str__(self) -> str:
        return _trust(self)


def _held_out(answer: HeldOut) -> str:
    """Return how the losses were measured, and what they say."""
    judged = answer.judged
    parts = [f"it was grown on {count(answer.seen, 'episode')}"] if answer.seen else []
    parts += [f"{count(answer.chose, 'episode')} chose its size"] if answer.chose else []
    known = f"The tree has seen all of this log: {', and '.join(parts)}." if answer.remembers else ""
    if judged is None:
        why = {
            "few": "The log has too few episodes to put some of them aside",
            "large": "The log is too large to grow a second tree without some of its episodes",
        }[answer.how]
        no = f"{why}, so nothing can be said about new episodes. Give a log of other episodes of the same agent."
        return f"{known} {no}".strip()
    these = f"{count(judged.episodes, 'episode')} with {count(judged.samples, 'sample')}"
    if answer.how == "unseen":
        left = answer.seen + answer.chose
        others = f"{count(left, 'other episode')} {plural(left, 'was', 'were')} left out"
        rest = f" {others}: {', and '.join(parts)}." if left else ""
        how = f"The tree was judged on {these} that it has not seen.{rest}"
    else:
        why = known or "This model does not remember which episodes it was grown on."
        how = (
            f"{why} To be fair, a second tree of the same size was grown without a fifth of the episodes and judged "
            f"on those: {these}."
        )
    return f"{how} {_gained(judged)}".strip()


def _gained(judged: Judged) -> str:
    """Return what looking at the state gains, and what it does not."""
    shares = [(name, part) for name, part in zip(ATTRIBUTES, judged.explained, strict=True) if part is not None]
    told = all_of([f"{percent(part)} of the {name} loss" for name, part in shares if part])
    none = " or ".join(name for name, part in shares if not part)
    if not told:
        return f"There, looking at the state tells no more about {none} than chance would." if none else ""
    rest = f"; about {none} it tells no more than chance would" if none else ""
    return f"There, looking at the state takes away {told}{rest}."


def _calibration(answer: Calibration) -> str:
    """Return how far predictions are from what is observed."""
    if answer.about == "confidence":
        sure, right = (
            np.average(answer.predicted, weights=answer.count),
            np.average(answer.observed, weights=answer.count),
        )
        text = (
            f"the tree is sure of its actions by {percent(float(sure))} on average and right in {percent(float(right))}"
        )
        return f"{text} of the steps; group by group the two differ by {percent(answer.gap)}."
    far = f" ({percent(answer.gap / answer.scale)} of its spread)" if answer.scale > 0 else ""
    return f"group by group, predicted and observed {answer.about} differ by {rounded(answer.gap, 2)}{far} on average."


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
        f"{name} in {percent(float(answer.share[answer.torn[:, g]].sum()))} of the log"
        for g, name in enumerate(ATTRIBUTES)
        if answer.torn[:, g].any()
    ]
    if torn:
        told.append(
            f"Hardly known: {all_of(torn)}; three quarters or more of the squared error that is made without looking "
            "at the state stay there."
        )
    else:
        told.append("Hardly known: nothing; in every leaf less than three quarters of the squared error stay.")
    if answer.outside:
        told.append(
            f"Outside: {percent(answer.outside)} of the log's states lie outside the range that the tree was grown on."
        )
    told.append(
        "Outside the log: beyond the ranges of its features the tree knows nothing, and says what it knows of the "
        "nearest leaf. Explanations warn of such states."
    )
    return "\n".join(told)
