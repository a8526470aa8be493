"""Factual: what the tree predicts in a state, and the bounds of the leaf that make it so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.answers.answer import Answer
from tripletree.answers.stability import Steadiness
from tripletree.answers.terms import Terms, together
from tripletree.asking.attribute import CHANGE_OF, PER_STEP
from tripletree.language.numbers import FEW, all_of, capital, measured, percent, rounded, unit
from tripletree.log.schema import Schema
from tripletree.text import count

F64 = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Factual(Answer):
    """Why the tree predicts what it predicts in a state.

    Attributes
    ----------
    about : str
        The attribute explained.
    names, units : tuples of str
        What its columns are called, and what follows their numbers; one name for a discrete action.
    state : float64 array of shape (features,)
        The state.
    leaf : int
        Its leaf.
    prediction : str, or float64 array of shape (columns,)
        Label of a discrete action; or each dimension of the action, the value, or each derivative.
    spread : float, or float64 array of shape (columns,)
        Share of that label; or how far numbers are off.
    runner_up : tuple of (str, float), or None
        The next label and its share, when there is one (discrete actions only).
    count : int
        Samples in the leaf (for derivatives: those of which the log shows what follows).
    lower, upper : float64 arrays of shape (features,)
        Bounds of the leaf, ``lower <= state < upper``; infinite where no split made one.
    models : tuple of Terms
        The linear model of each column in the leaf, or the lead of a label over the next; empty where the leaf predicts
        its mean, or where there are too many columns to tell.
    linear : bool
        Whether the prediction comes from a linear model rather than from the mean.
    full : float64 array of shape (columns,), or None
        How far a model with all features would be off, where this one may use only a few.
    agreeing : float or None
        Share of the leaf's samples with that label, where the label comes from linear scores.
    because : tuple of str
        The bounds in words, those first whose splits removed most of the attribute's impurity.
    beyond : float64 array of shape (features,)
        How far the state lies above (below: negative) the range of the training log.
    limits : float64 array of shape (2, features)
        That range.
    schema : Schema
        Names of features and actions.
    stability : Steadiness or None
        What trees grown on halves of the log say, where that was asked for.
    """

    about: str
    names: tuple[str, ...]
    units: tuple[str, ...]
    state: F64
    leaf: int
    prediction: Any
    spread: Any
    runner_up: tuple[str, float] | None
    count: int
    lower: F64
    upper: F64
    because: tuple[str, ...]
    beyond: F64
    limits: F64
    schema: Schema
    models: tuple[Terms, ...] = ()
    linear: bool = False
    full: F64 | None = None
    agreeing: float | None = None
    stability: Steadiness | None = None

    @property
    def outside(self) -> bool:
        """Whether the state lies outside the range of the training log."""
        return bool(self.beyond.any())

    @property
    def why(self) -> str:
        """The bounds as the end of a sentence."""
        return f" because {all_of(self.because)}" if self.because else " always: the tree has only one leaf"

    @property
    def sure(self) -> str:
        """The sentence that says how many samples it rests on, and how far they agree."""
        return _sure(self)

    def __str__(self) -> str:
        steady = "" if self.stability is None else self.stability.told(self.names, self.units, self.schema)
        return _factual(self) + steady + self._assumption(self.schema)


def _factual(answer: Factual) -> str:
    """Return the sentences of a factual explanation: what, why, how sure, and whether the log knows such states."""
    if isinstance(answer.prediction, str):
        what = f"Action = {answer.prediction}{unit(answer.units[0])}"
    else:
        what = _numbers(answer)
    return " ".join([f"{what}{answer.why}.", *_model(answer), answer.sure, *_beyond(answer)])


def _model(answer: Factual) -> list[str]:
    """Return what the leaf's linear model says, if there is one to tell."""
    if not answer.models:
        return []
    if answer.runner_up is None:
        return [together(answer.names, answer.models, answer.schema)]
    label, _ = answer.runner_up
    lead = answer.models[0].told(answer.schema)
    return [f"In this leaf {answer.prediction} is ahead of {label} by {lead}."]


def _numbers(answer: Factual) -> str:
    columns = list(zip(answer.names, answer.prediction, answer.spread, answer.units, strict=True))
    if answer.about == "derivative":
        moving = [column for column in columns if column[1] or column[2]]
        if not moving:
            return "Nothing changes"
        told = [f"{name.removeprefix(CHANGE_OF)} {measured(mean, std)}{unit(of)}" for name, mean, std, of in moving]
        listed = f"Change: {all_of(told)}"
        return listed.replace(f" {PER_STEP}", "") + f" {PER_STEP}" if PER_STEP in listed else listed
    return capital(all_of([f"{name} = {measured(mean, std)}{unit(of)}" for name, mean, std, of in columns]))


def _sure(answer: Factual) -> str:
    if not answer.count:
        return "The log does not show what follows in this leaf; the numbers are those of the leaves around it."
    if answer.count == 1:
        return "Only 1 sample says so."
    samples = f"{'only ' if answer.count < FEW else ''}{count(answer.count, 'sample')}"
    if answer.agreeing is not None:
        return f"{percent(answer.agreeing)} of {samples} in this leaf are {answer.prediction}."
    if not isinstance(answer.prediction, str):
        if answer.linear:
            more = (
                ""
                if answer.full is None
                else f" (with all features {all_of([rounded(one, 2) for one in answer.full])})"
            )
            return (
                f"This is a linear model of {samples}; ± is how far it is off in episodes it was not fitted to{more}."
            )
        return f"This is the mean of {samples}."
    if answer.runner_up is None:
        return f"All of {samples} agree." if answer.count < FEW else f"All {samples} in this leaf agree."
    label, share = answer.runner_up
    return f"{percent(answer.spread)} of {samples} in this leaf agree; {percent(share)} are {label}."


def _beyond(answer: Factual) -> list[str]:
    told = []
    for f in np.flatnonzero(answer.beyond):
        feature, far = answer.schema.features[f], float(answer.beyond[f])
        side, limit = ("above", "largest") if far > 0 else ("below", "smallest")
        tail, end = unit(feature.unit), rounded(answer.limits[int(far > 0), f])
        told.append(
            f"{feature.name} = {rounded(answer.state[f])}{tail} is {rounded(abs(far))}{tail} {side} its {limit} value "
            f"in the log ({end}{tail})"
        )
    return [f"Careful, no such state is in the log: {all_of(told)}."] if told else []
