"""Change: why the prediction changed from one state to the next; one time, and every time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.answers.answer import Answer
from tripletree.asking.attribute import Attribute
from tripletree.language.conditions import changed_clause
from tripletree.language.numbers import (
    all_of,
    capital,
    digits_apart,
    exact,
    percent,
    rounded,
    rounded_apart,
    significant,
    unit,
)
from tripletree.log.schema import Schema
from tripletree.text import count

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

MOST_NAMED = 4
"""Features that a sentence about all changes names, the sum of the others included."""


@dataclass(frozen=True, eq=False, repr=False)
class Change(Answer):
    """Why the prediction changed between two states. It is false when it did not.

    Attributes
    ----------
    before, after : float64 arrays of shape (features,)
        The states.
    leaf_before, leaf_after : int
        Their leaves.
    about : str
        The attribute.
    was, became : str or float
        What the two leaves predict.
    threshold : float or None
        What a number had to cross: the middle of the two predictions, or the threshold that was asked for. The foil
        leaves are those on the same side as ``after``. None for labels, and where nothing changed.
    given : bool
        Whether the threshold was asked for.
    turning : float64 array of shape (features,), or None
        The point nearest to ``before`` such that the box it spans with ``after`` meets only foil leaves.
    changed : tuple of int
        The features in which it differs from ``before``: the explanation.
    relations, borders : tuples of str and float
        The condition on each of them: ``>=``, ``<``, ``<=`` or ``=``, and a number.
    agreed : bool or None
        Whether a second model of the same log, the linear leaves, sees the same change; None where it was not asked.
    second : tuple
        What it predicts before and after.
    outside : bool
        Whether one of the states lies outside the range of the training log.
    attribute : Attribute
        What each leaf predicts; not part of ``to_dict()``.
    schema : Schema
        Names of features and actions.
    """

    before: F64
    after: F64
    leaf_before: int
    leaf_after: int
    about: str
    was: Any
    became: Any
    threshold: float | None
    given: bool
    turning: F64 | None
    changed: tuple[int, ...]
    relations: tuple[str, ...]
    borders: tuple[float, ...]
    outside: bool
    attribute: Attribute
    schema: Schema
    agreed: bool | None = None
    second: tuple[Any, ...] = ()

    def __bool__(self) -> bool:
        return self.turning is not None

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the schema as JSON types."""
        return {name: value for name, value in super().to_dict().items() if name != "attribute"}

    def __str__(self) -> str:
        return _change(self) + self._assumption(self.schema)


@dataclass(frozen=True, eq=False, repr=False)
class Changes(Answer):
    """Every change of a prediction along episodes; ``changes[i]`` is the answer to the i-th.

    Attributes
    ----------
    about : str
        The attribute.
    step : int64 array of shape (changes,)
        Row of the log, or of the states given, in which the prediction has changed: that of ``after``.
    before, after : float64 arrays of shape (changes, features)
        The states.
    leaf_before, leaf_after : int64 arrays of shape (changes,)
        Their leaves.
    threshold : float64 array of shape (changes,), or None
        What a number had to cross; None for labels.
    turning : float64 array of shape (changes, features)
        The turning points.
    moves : int
        Moves that were looked at, with and without a change.
    agreed : bool array of shape (changes,), or None
        Whether a second model of the same log, the linear leaves, sees the same change; None where it was not asked.
    tell : callable
        Makes the answer of one change.
    name : str
        What sentences call the attribute.
    features : tuple of str
        Names of the features.
    """

    about: str
    step: I64
    before: F64
    after: F64
    leaf_before: I64
    leaf_after: I64
    threshold: F64 | None
    turning: F64
    moves: int
    tell: Callable[[Changes, int], Change]
    name: str
    features: tuple[str, ...]
    agreed: Mask | None = None

    @property
    def changed(self) -> Mask:
        """The features that explain each change, shape (changes, features)."""
        return np.asarray(self.turning != self.before)

    def __len__(self) -> int:
        return len(self.step)

    def __getitem__(self, i: int) -> Change:
        return self.tell(self, range(len(self))[i])

    def __iter__(self) -> Iterator[Change]:
        return (self[i] for i in range(len(self)))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON types."""
        return {name: value for name, value in super().to_dict().items() if name not in ("tell", "name")}

    def __str__(self) -> str:
        return _changes(self)


def _change(answer: Change) -> str:
    """Return the sentences of a change from one state to the next."""
    attribute = answer.attribute
    name = attribute.name
    if not answer:
        told = [capital(_no_change(answer, name))]
    else:
        if attribute.labels:
            what = f"changed {answer.was} -> {answer.became}{unit(attribute.units[0])}"
        else:
            rose = answer.became > answer.was
            was, became = rounded_apart(answer.was, answer.became)
            across = f"{'above' if rose else 'below'} {exact(answer.threshold or 0.0)}, " if answer.given else ""
            what = f"{'rose' if rose else 'fell'} {across}from {was} to {became}{unit(attribute.units[0])}"
        told = [f"{capital(name)} {what} because {because(answer)}."]
        if answer.agreed is not None:
            told.append(_second(answer))
    if answer.outside:
        told.append("Careful, the move leads outside the range of the log.")
    return " ".join(told)


def _second(answer: Change) -> str:
    """Return whether the log's second model sees the change."""
    if answer.agreed:
        return "The log's second model agrees."
    was, became = answer.second
    if answer.attribute.labels:
        return f"The log's second model does not see it: {was} before and {became} after."
    told, tail = rounded_apart(was, became, 3), unit(answer.attribute.units[0])
    return f"The log's second model does not see it: {told[0]} before and {told[1]}{tail} after."


def _no_change(answer: Change, name: str) -> str:
    attribute = answer.attribute
    tail = unit(attribute.units[0])
    if attribute.labels:
        return f"{name} did not change: it is {answer.was}{tail} in both states."
    if answer.was == answer.became:
        return f"{name} did not change: it is {rounded(answer.was)}{tail} in both states."
    was, became = rounded_apart(answer.was, answer.became)
    ends = f"it went from {was} to {became}{tail}"
    return f"{name} did not cross {exact(answer.threshold or 0.0)}: {ends}."


def because(*answers: Change, among: Iterable[Change] = (), short: int = 0) -> str:
    """Return the reason of a change, or of several together: "speed >= 0.045 m/s and left leg in contact".

    Parameters
    ----------
    *answers : Change
        Changes between the same two states. Where several bound a feature on the same side, the tightest bound says it
        all, and is the only one told.
    among : iterable of Change
        Others that are told in the same text: different borders of a feature get as many digits as tell them apart.
    short : int
        Digits that a border is rounded to if it still lies between the two states; 0: it is told as it is.
    """
    tightest: dict[tuple[int, str], tuple[str, float]] = {}
    for answer in answers:
        for f, relation, border in zip(answer.changed, answer.relations, answer.borders, strict=True):
            known = tightest.get((f, relation[0]))
            if known is None or _tightness(relation, border) > _tightness(*known):
                tightest[f, relation[0]] = relation, border
    told = [*answers, *among]
    clauses = []
    for (f, _), (relation, border) in tightest.items():
        borders = [b for one in told for g, b in zip(one.changed, one.borders, strict=True) if g == f]
        if short and all((significant(border, short) > end) == (border > end) for end in _ends(answers, f)):
            border = significant(border, short)
        clauses.append(changed_clause(answers[0].schema.features[f], relation, border, digits_apart(borders)))
    return all_of(clauses)


def _ends(answers: Iterable[Change], f: int) -> Iterator[float]:
    """Return a feature before and after each change."""
    return (float(state[f]) for one in answers for state in (one.before, one.after))


def _tightness(relation: str, border: float) -> tuple[float, bool]:
    """Return what grows as a bound leaves less room; of two equal borders, "<" leaves less than "<="."""
    return (border if relation == ">=" else -border, relation == "<")


def _changes(answers: Changes) -> str:
    """Return the sentence of all changes along episodes."""
    name = answers.name
    if not len(answers):
        return f"{capital(name)} never changes in {count(answers.moves, 'step')}."
    text = f"{capital(name)} changes {count(len(answers), 'time')} in {count(answers.moves, 'step')}"
    second = ""
    if answers.agreed is not None:
        second = f" The log's second model sees {percent(float(answers.agreed.mean()))} of them."
    return f"{text}; {by_one_feature(answers)}.{second}"


def by_one_feature(answers: Changes) -> str:
    """Return how many changes a feature explains alone, and which features do; their shares add up to the whole."""
    alone = answers.changed.sum(axis=1) == 1
    if not alone.any():
        return "no feature explains any of the changes alone"
    share, whole = answers.changed[alone].sum(axis=0) / len(answers), percent(float(alone.mean()))
    ranked = [f for f in np.argsort(-share, kind="stable").tolist() if share[f] > 0]
    if len(ranked) == 1:
        return f"{answers.features[ranked[0]]} alone explains {whole} of the changes"
    # The last place is for a single feature, or for the sum of several.
    shown = ranked if len(ranked) <= MOST_NAMED else ranked[: MOST_NAMED - 1]
    told = [f"{answers.features[f]} ({percent(float(share[f]))})" for f in shown]
    if rest := ranked[len(shown) :]:
        told.append(f"{count(len(rest), 'other')} ({percent(float(share[rest].sum()))})")
    return f"one feature alone explains {whole} of the changes: {', '.join(told[:-1])} or {told[-1]}"
