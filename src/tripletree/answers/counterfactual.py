"""Counterfactual: the least change of a state after which the tree predicts something else; one, and many."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.answers.answer import Answer, plain
from tripletree.answers.stability import Steadiness
from tripletree.asking.foils import Foil
from tripletree.language.conditions import changed_clause
from tripletree.language.numbers import all_of, capital, percent, rounded, unit
from tripletree.log.schema import Schema
from tripletree.text import count, plural

F64 = npt.NDArray[np.float64]

FOUND, ALREADY, NOT_FOUND = "found", "already", "not found"
AGREES, DISAGREES, NO_OPINION = "agrees", "disagrees", "none"


@dataclass(frozen=True, eq=False, repr=False)
class Counterfactual(Answer):
    """The least change of a state that makes the tree predict a foil. It is false when there is none to be made.

    Attributes
    ----------
    state : float64 array of shape (features,)
        The state.
    leaf : int
        Its leaf.
    status : {"found", "already", "not found"}
        Whether there is an answer, or the foil holds already, or no leaf that may be entered predicts it.
    foil : Foil
        What might have been; a dict in ``to_dict()``.
    foil_state : float64 array of shape (features,), or None
        The changed state, inside the foil leaf.
    foil_leaf : int or None
        The leaf it leads to.
    changed : tuple of int
        The features that change.
    relations, borders : tuples of str and float
        The condition on each of them: ``>=``, ``<``, ``<=`` or ``=``, and a number.
    distance : float or None
        2-norm of the change, each feature divided by its range over the log.
    samples : int
        Training samples in the foil leaf.
    purity : float or None
        How much these agree on what the foil is about: the share of the label, or the share of the log's variance that
        is gone within the leaf; the least of several.
    opinion : {"agrees", "disagrees", "none"} or None
        Whether a second model of the same log says, beyond its own error, that the foil holds in the foil state (in the
        state itself when it holds already); "none" where the model has no linear leaves to ask, None where it was not
        asked.
    second : tuple
        What the second model predicts there, a number or a label for each condition of the foil.
    predicted : tuple
        What the tree predicts in the state, where the foil holds already by that and not by the mean of its leaf.
    agent_action : str, float64 array of shape (dimensions,), or None
        What the real agent does in the foil state (in the state itself when the foil holds already).
    confirmed : bool or None
        Whether that is as the foil wants; None without an agent, or when the foil is not about the action.
    tried : int
        Points at which the agent was asked in vain, when none was confirmed.
    known : int
        Leaves that predict the foil, whatever the limits.
    limited : bool
        Whether options narrow the search.
    outside : bool
        Whether the state lies outside the range of the training log.
    others : tuple of Counterfactual
        The next best answers, when several were asked for.
    schema : Schema
        Names of features and actions.
    stability : Steadiness or None
        In how many trees grown on halves of the log the foil holds in the foil state, where that was asked for.
    """

    state: F64
    leaf: int
    status: str
    foil: Foil
    foil_state: F64 | None
    foil_leaf: int | None
    changed: tuple[int, ...]
    relations: tuple[str, ...]
    borders: tuple[float, ...]
    distance: float | None
    samples: int
    purity: float | None
    agent_action: Any
    confirmed: bool | None
    tried: int
    known: int
    limited: bool
    outside: bool
    others: tuple[Counterfactual, ...]
    schema: Schema
    opinion: str | None = None
    second: tuple[Any, ...] = ()
    predicted: tuple[Any, ...] = ()
    stability: Steadiness | None = None

    def __bool__(self) -> bool:
        return self.status == FOUND

    def with_others(self, others: tuple[Counterfactual, ...]) -> Counterfactual:
        """Return the same answer with the next best ones."""
        return replace(self, others=others)

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the schema as JSON types."""
        return {**super().to_dict(), "foil": plain(self.foil.plain())}

    def __str__(self) -> str:
        steady = "" if self.stability is None else self.stability.told((), (), self.schema)
        return _counterfactual(self) + steady + self._assumption(self.schema)


@dataclass(frozen=True, eq=False, repr=False)
class Counterfactuals(Answer):
    """The least changes of many states; ``answers[i]`` is that of state i.

    Attributes
    ----------
    states : float64 array of shape (states, features)
        The states.
    leaf : int array of shape (states,)
        Their leaves.
    already : bool array of shape (states,)
        Where the foil holds already.
    found : bool array of shape (states,)
        Where there is an answer.
    foil : Foil
        What might have been; a dict in ``to_dict()``.
    foil_states : float64 array of shape (states, features)
        The changed states; NaN where there is none.
    foil_leaf : int array of shape (states,)
        The leaves they lead to; -1 where there is none.
    agreed : bool array of shape (states,), or None
        Whether a second model of the log agrees; None where none was asked.
    agent_actions : array of shape (states,) or (states, dimensions), or None
        What the real agent does in the foil states; empty text or NaN where there is none.
    confirmed : bool array of shape (states,), or None
        Whether that is as the foil wants; None without an agent, or when the foil is not about the action.
    tell : callable
        Makes the answer of one state.
    """

    states: F64
    leaf: npt.NDArray[np.int64]
    already: npt.NDArray[np.bool_]
    found: npt.NDArray[np.bool_]
    foil: Foil
    foil_states: F64
    foil_leaf: npt.NDArray[np.int64]
    agreed: npt.NDArray[np.bool_] | None
    agent_actions: npt.NDArray[Any] | None
    confirmed: npt.NDArray[np.bool_] | None
    tell: Callable[[Counterfactuals, int], Counterfactual]

    @property
    def changed(self) -> npt.NDArray[np.bool_]:
        """Which features change, shape (states, features)."""
        return np.asarray(self.found[:, None] & (self.foil_states != self.states))

    def __len__(self) -> int:
        return len(self.states)

    def __getitem__(self, i: int) -> Counterfactual:
        return self.tell(self, range(len(self))[i])

    def __iter__(self) -> Iterator[Counterfactual]:
        return (self[i] for i in range(len(self)))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON types; what is missing is None."""
        data = {name: value for name, value in super().to_dict().items() if name != "tell"}
        return {**data, "foil": plain(self.foil.plain())}

    def __str__(self) -> str:
        return _counterfactuals(self)


def _counterfactual(answer: Counterfactual) -> str:
    """Return the sentences of a counterfactual: what would be, if what, how sure that is."""
    if not answer:
        told = [_already(answer) if answer.status == "already" else _not_found(answer)]
    else:
        told = [f"{answer.foil.would()} if {_conditions(answer)}.", _support(answer)]
    if answer.opinion is not None:
        told.append(_second(answer))
    if answer.agent_action is not None:
        told.append(_agent(answer))
    if answer.outside:
        told.append("Careful, the state lies outside the range of the log.")
    for other in answer.others:
        told.append(f"Or if {_conditions(other)}. {_support(other)}")
        if other.opinion is not None:
            told.append(_second(other))
        if other.agent_action is not None:
            told.append(_agent(other))
    return " ".join(told)


def _counterfactuals(answers: Counterfactuals) -> str:
    """Return the sentence of many counterfactuals."""
    found, already = int(answers.found.sum()), int(answers.already.sum())
    what = answers.foil.told()
    parts = [f"{found:,} could be changed to have it"] if found else []
    parts += [f"{already:,} {plural(already, 'has', 'have')} it already"] if already else []
    rest = len(answers) - found - already
    parts += [f"for {rest:,} no state known to the tree would"] if rest else []
    text = f"{capital(what)} in {count(len(answers), 'state')}: {all_of(parts) or 'none was given'}."
    if found:
        changes = answers.changed.sum(axis=1)[answers.found]
        one = float((changes == 1).mean())
        text += f" {percent(one)} of the changes need only one feature."
    if found and answers.agreed is not None:
        text += f" The log's second model agrees with {percent(float(answers.agreed[answers.found].mean()))} of them."
    if found and answers.confirmed is not None:
        text += f" The real agent confirms {percent(float(answers.confirmed[answers.found].mean()))} of them."
    return text


def _conditions(answer: Counterfactual) -> str:
    parts = zip(answer.changed, answer.relations, answer.borders, strict=True)
    return all_of([changed_clause(answer.schema.features[f], relation, border) for f, relation, border in parts])


def _support(answer: Counterfactual) -> str:
    return answer.foil.support(answer.foil_leaf or 0, answer.samples)


def _already(answer: Counterfactual) -> str:
    """Return that the foil holds as it is: by the mean of the leaf, or by its linear model."""
    if not answer.predicted:
        return answer.foil.already(answer.leaf)
    return (
        f"{capital(_said(answer, answer.predicted))} here by the leaf's linear model, so {answer.foil.told()} already."
    )


def _said(answer: Counterfactual, numbers: tuple[Any, ...]) -> str:
    pairs = zip(answer.foil.conditions, numbers, strict=True)
    return all_of([condition.attribute.said(number) for condition, number in pairs])


def _second(answer: Counterfactual) -> str:
    """Return how sure the log's second model is."""
    if answer.opinion == NO_OPINION:
        return "There is no second opinion, because the model file has no linear leaves."
    if answer.opinion == AGREES:
        return "The log's second model agrees."
    where = "there" if answer else "here"
    return f"The log's second model is not sure: {_said(answer, answer.second)} {where}."


def _agent(answer: Counterfactual) -> str:
    """Return what the real agent does in the foil state."""
    said = _action(answer.schema, answer.agent_action)
    where = "there" if answer else "here"
    if answer.confirmed is None:
        return f"The real agent does {said} {where}."
    return f"The real agent {'agrees' if answer.confirmed else 'disagrees'}: {said} {where}."


def _action(schema: Schema, action: Any) -> str:
    """Return an action in words: "left", or "main engine = 0.62 and side engine = 0.1"."""
    if schema.action.kind == "discrete":
        return f"action = {action}{unit(schema.action.units[0])}"
    parts = zip(schema.action.names, np.asarray(action).tolist(), schema.action.units, strict=True)
    return all_of([f"{name} = {rounded(number)}{unit(of)}" for name, number, of in parts])


def _not_found(answer: Counterfactual) -> str:
    wanted = answer.foil.told()
    if not answer.known:
        return answer.foil.nowhere()
    leaves = f"{count(answer.known, 'leaf', 'leaves')} of the tree {plural(answer.known, 'predicts', 'predict')} it"
    if answer.tried:
        points = count(answer.tried, "point")
        return f"The real agent confirms {wanted} at none of {points} where the tree predicts it."
    return f"No state known to the tree would have {wanted} within these limits; without them {leaves}."
