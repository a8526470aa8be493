"""The English of factual explanations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tripletree.log.schema import Schema
from tripletree.questions.words.conditions import clauses
from tripletree.questions.words.numbers import FEW, all_of, capital, measured, percent, rounded, unit

if TYPE_CHECKING:
    from tripletree.questions.about import About
    from tripletree.questions.factual import Factual

CHANGE, STEP = "change of ", "per step"


def reasons(
    schema: Schema, lower: npt.NDArray[np.float64], upper: npt.NDArray[np.float64], order: Sequence[int]
) -> list[str]:
    """Return the bounds of a leaf in words."""
    return clauses(schema, lower.tolist(), upper.tolist(), order)


def factual(answer: Factual) -> str:
    """Return the sentences of a factual explanation: what, why, how sure, and whether the log knows such states."""
    if isinstance(answer.prediction, str):
        what = f"Action = {answer.prediction}{unit(answer.units[0])}"
    else:
        what = _numbers(answer)
    why = f" because {all_of(answer.because)}" if answer.because else " always: the tree has only one leaf"
    return " ".join([f"{what}{why}.", _sure(answer), *_beyond(answer)])


def _numbers(answer: Factual) -> str:
    columns = list(zip(answer.names, answer.prediction, answer.spread, answer.units, strict=True))
    if answer.about == "derivative":
        moving = [column for column in columns if column[1] or column[2]]
        if not moving:
            return "Nothing changes"
        told = [f"{name.removeprefix(CHANGE)} {measured(mean, std)}{unit(of)}" for name, mean, std, of in moving]
        return f"Change: {all_of(told)}".replace(f" {STEP}", "") + f" {STEP}"
    return capital(all_of([f"{name} = {measured(mean, std)}{unit(of)}" for name, mean, std, of in columns]))


def names(schema: Schema, about: About) -> list[tuple[str, str]]:
    """Return how the columns of an attribute are called, and their units."""
    if about.kind == "value":
        return [("value", "")]
    if about.kind == "action":
        pairs = list(zip(schema.action.names, schema.action.units, strict=True))
        return [pairs[k] for k in about.columns] or pairs
    chosen = [schema.features[f] for f in about.columns]
    return [(f"{CHANGE}{feature.name}", f"{feature.unit} {STEP}".lstrip()) for feature in chosen]


def _sure(answer: Factual) -> str:
    if not answer.count:
        return "The log does not show what follows in this leaf; the numbers are those of the leaves around it."
    if answer.count == 1:
        return "Only 1 sample says so."
    samples = f"{'only ' if answer.count < FEW else ''}{answer.count:,} samples"
    if not isinstance(answer.prediction, str):
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
    return [f"Careful, the log knows no such state: {all_of(told)}."] if told else []
