"""Agents: asks the real one what it does, when it can be called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.asking.foils import Foil
from tripletree.errors import ParameterError
from tripletree.log.actions import label_text
from tripletree.log.schema import Action, Schema
from tripletree.text import Message, Option, count

F64 = npt.NDArray[np.float64]
Agent = Callable[[F64], Any]


def ask_agent(agent: Agent, states: F64, schema: Schema) -> npt.NDArray[Any]:
    """Return what an agent does in each state: labels as text, shape (states,), or numbers, (states, dimensions).

    Parameters
    ----------
    agent : callable
        It receives an array of shape (states, features) and returns one action for each state; of a tuple, as
        ``predict`` of Stable-Baselines3 returns, the first part counts. A discrete action is a label, its code in the
        log, or its number in the order of the labels.
    states : float64 array of shape (states, features)
        Where it is asked.
    schema : Schema
        What its actions should look like.
    """
    if not callable(agent):
        raise ParameterError(
            Message(
                "{} must be a function of an array of shape (states, features); got {}.",
                Option("agent"),
                type(agent).__name__,
            )
        )
    said = agent(states)
    actions = np.asarray(said[0] if isinstance(said, tuple) else said)
    wanted: tuple[int, ...] = (len(states),)
    if schema.action.kind == "continuous":
        wanted = (len(states), len(schema.action.names))
        if actions.size == wanted[0] * wanted[1] and actions.dtype.kind in "biuf":
            numbers = actions.reshape(wanted).astype(np.float64)
            if np.isfinite(numbers).all():
                return numbers
            raise ParameterError(Message("{} returned numbers that are not finite.", Option("agent")))
    elif actions.size == len(states):
        return np.array([_label(action, schema.action) for action in actions.reshape(-1).tolist()], str)
    raise ParameterError(
        Message(
            "{} must return one action for each state; for {} that is shape {}, but it returned shape {}. If it takes "
            "one state at a time, try {}=lambda states: np.array([act(state) for state in states]).",
            Option("agent"),
            count(len(states), "state"),
            wanted,
            actions.shape,
            Option("agent"),
        )
    )


def _label(action: Any, known: Action) -> str:
    """Return an action's label; what is no label is a code, and a number that is no code counts the labels from 0."""
    text, labels = label_text(action), known.labels
    if text in labels:
        return text
    if text in known.codes:
        return labels[known.codes.index(text)]
    return labels[action] if isinstance(action, int) and 0 <= action < len(labels) else text


def can_confirm(foil: Foil) -> bool:
    """Return whether a foil involves the action, which is all that an agent can confirm."""
    return any(condition.attribute.kind == "action" for condition in foil.conditions)


def confirms(foil: Foil, actions: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Return for which of some actions the foil holds, as far as it is about actions."""
    held = np.ones(len(actions), bool)
    for condition in foil.conditions:
        if condition.attribute.kind == "action":
            given = actions if condition.attribute.labels else actions[:, condition.attribute.columns[0]]
            held &= condition.meets(given)
    return held
