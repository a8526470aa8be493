"""Temporal explanation: why the prediction changed from one state to the next (paper, Appendix B)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.checks import is_number
from tripletree.errors import ParameterError
from tripletree.log.log import Log
from tripletree.log.schema import Schema
from tripletree.model.fitted import Fitted
from tripletree.model.judge import check_same_schema
from tripletree.questions.answers import Answer, plain
from tripletree.questions.attributes import Attribute, read_attribute
from tripletree.questions.states import read_finite_states, read_state
from tripletree.questions.turning import turning_points
from tripletree.questions.words import explanations

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


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

    def __bool__(self) -> bool:
        return self.turning is not None

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the schema as JSON types."""
        names = [field.name for field in fields(self) if field.name not in ("attribute", "schema")]
        return {name: plain(getattr(self, name)) for name in names}

    def __str__(self) -> str:
        return explanations.change(self)


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
    tell : callable
        Makes the answer of one change.
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
        return {field.name: plain(getattr(self, field.name)) for field in fields(self) if field.name != "tell"}

    def __str__(self) -> str:
        return explanations.changes(self)


def explain_change(fitted: Fitted, before: Any, after: Any, about: Any = "action", threshold: Any = None) -> Change:
    """Return why the prediction changed between two states; arguments are those of ``TripleTree.explain_change``."""
    here = read_state(before, fitted.schema, "before")[None]
    there = read_state(after, fitted.schema, "after")[None]
    leaf = fitted.tree.apply(np.concatenate([here, there])).astype(np.int64)
    attribute = _most_changed(fitted, leaf) if about == "action" else read_attribute(fitted, about)
    _check_threshold(attribute, threshold)
    level, happened = _levels(attribute, leaf[:1], leaf[1:], threshold)
    turning = _turning(fitted, attribute, here, there, leaf[1:], level)[0] if happened[0] else None
    return _change(
        fitted, attribute, here[0], there[0], int(leaf[0]), int(leaf[1]), level, 0, threshold is not None, turning
    )


def explain_changes(
    fitted: Fitted, log: Any, about: Any = "action", threshold: Any = None, at_least: Any = 0.0
) -> Changes:
    """Return why the prediction changed, each time; arguments are those of ``TripleTree.explain_changes``."""
    attribute = read_attribute(fitted, about)
    _check_threshold(attribute, threshold)
    if not is_number(at_least) or at_least < 0:
        raise ParameterError(f"at_least must be a non-negative number; got {at_least!r}. Try 0.1.")
    if isinstance(log, Log):
        check_same_schema(fitted.schema, log, "log")
        states = np.ascontiguousarray(log.states)
        follows = np.ones(len(states), bool)
        follows[log.starts[:-1]] = False
    else:
        states = read_finite_states(log, fitted.schema, "log")
        follows = np.arange(len(states)) > 0
    leaf = fitted.tree.apply(states).astype(np.int64)
    step = np.flatnonzero(follows)
    moves = len(step)
    step = step[leaf[step] != leaf[step - 1]]
    level, happened = _levels(attribute, leaf[step - 1], leaf[step], threshold)
    if at_least > 0 and attribute.kind != "label":
        happened &= np.abs(attribute.leaves[leaf[step]] - attribute.leaves[leaf[step - 1]]) >= at_least
    step, level = step[happened], None if level is None else level[happened]
    before, after, leaf_before, leaf_after = states[step - 1], states[step], leaf[step - 1], leaf[step]
    turning = _turning(fitted, attribute, before, after, leaf_after, level)

    def tell(changes: Changes, i: int) -> Change:
        ends = int(changes.leaf_before[i]), int(changes.leaf_after[i])
        given = threshold is not None
        return _change(
            fitted, attribute, changes.before[i], changes.after[i], *ends, level, i, given, changes.turning[i]
        )

    return Changes(attribute.key, step, before, after, leaf_before, leaf_after, level, turning, moves, tell)


def _most_changed(fitted: Fitted, leaf: I64) -> Attribute:
    """Return the action; of several dimensions the one that changes most, standard deviations as the scale."""
    mean, scale = fitted.leaves.action_mean, fitted.action_scale
    if mean is None or scale is None:
        return read_attribute(fitted, "action")
    change = np.abs(mean[leaf[1]] - mean[leaf[0]]) / np.where(scale > 0, scale, 1.0)
    return read_attribute(fitted, fitted.schema.action.names[int(change.argmax())])


def _check_threshold(attribute: Attribute, threshold: Any) -> None:
    if threshold is None:
        return
    if attribute.kind == "label":
        raise ParameterError(f"threshold is for numbers, and the action is one of {len(attribute.labels)} labels.")
    if not is_number(threshold):
        raise ParameterError(f"threshold must be a number, or None (the middle); got {threshold!r}. Try 0.5.")


def _levels(attribute: Attribute, before: I64, after: I64, threshold: Any) -> tuple[F64 | None, Mask]:
    """Return what the numbers of each move had to cross (None for labels), and whether they did."""
    was, became = attribute.leaves[before], attribute.leaves[after]
    if attribute.kind == "label":
        return None, was != became
    if threshold is not None:
        level = np.full(len(was), float(threshold))
        return level, (was >= level) != (became >= level)
    low, high = np.minimum(was, became), np.maximum(was, became)
    middle = low / 2 + high / 2
    # Two numbers next to each other have no middle.
    return np.where((low < middle) & (middle <= high), middle, high), was != became


def _turning(fitted: Fitted, attribute: Attribute, before: F64, after: F64, leaf_after: I64, level: F64 | None) -> F64:
    predicted = attribute.leaves
    became = predicted[leaf_after]

    def is_foil(move: I64, leaf: I64) -> Mask:
        if level is None:
            return np.asarray(predicted[leaf] == became[move])
        return np.asarray((predicted[leaf] >= level[move]) == (became[move] >= level[move]))

    return turning_points(fitted, before, after, is_foil)


def _change(
    fitted: Fitted,
    attribute: Attribute,
    before: F64,
    after: F64,
    leaf_before: int,
    leaf_after: int,
    level: F64 | None,
    number: int,
    given: bool,
    turning: F64 | None,
) -> Change:
    changed = [] if turning is None else np.flatnonzero(turning != before).tolist()
    relations, borders = [], []
    for f in changed:
        border = float(turning[f])  # type: ignore[index]
        if fitted.schema.features[f].kind == "binary":
            relation = "="
        elif after[f] > before[f]:
            relation = ">="
        elif fitted.whole[f] and border == np.rint(border):
            relation = "<="
        else:
            relation, border = "<", float(np.nextafter(border, np.inf))
        relations.append(relation)
        borders.append(border)
    ends = np.stack([before, after])
    was, became = attribute.leaves[leaf_before], attribute.leaves[leaf_after]
    labels = attribute.labels
    return Change(
        before=before,
        after=after,
        leaf_before=leaf_before,
        leaf_after=leaf_after,
        about=attribute.key,
        was=labels[was] if labels else float(was),
        became=labels[became] if labels else float(became),
        threshold=None if level is None or (turning is None and not given) else float(level[number]),
        given=given,
        turning=turning,
        changed=tuple(changed),
        relations=tuple(relations),
        borders=tuple(borders),
        outside=bool(((ends < fitted.feature_min) | (ends > fitted.feature_max)).any()),
        attribute=attribute,
        schema=fitted.schema,
    )
