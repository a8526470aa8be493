"""Translation: the actions of a tree as an environment takes them, and those of an agent as the tree calls them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.checks import listing
from tripletree.errors import ParameterError, TripleTreeWarning
from tripletree.log.schema import Action
from tripletree.log.spaces import Moves, NonsenseError
from tripletree.policy.policy import meanings
from tripletree.text import Message, Option


class Translation:
    """Between the labels of a tree and the actions of an environment; numbers need none.

    Parameters
    ----------
    action : Action
        What an action is to the tree.
    moves : Moves
        What may be done in the environment.

    Attributes
    ----------
    table : list
        The environment's action for each label; empty if actions are numbers.
    whole : bool
        Whether these numbers must be whole.
    """

    def __init__(self, action: Action, moves: Moves) -> None:
        self.action = action
        if (action.kind == "discrete") != moves.discrete:
            takes = "one of several choices" if moves.discrete else "numbers"
            raise ParameterError(f"The tree has {action.kind} actions, and this environment takes {takes}.")
        # Of very many choices at once a log has numbers, and only whole ones are choices.
        self.whole = not moves.discrete and bool(moves.aloud)
        self.table: list[Any] = _table(action, moves) if moves.discrete else []
        self.position = {_key(one): i for i, one in enumerate(self.table)}

    def numbers(self, actions: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return actions of the environment, one in each row, as a log has them.

        Positions of labels, -1 for one that the tree does not know; or float64 numbers of shape (actions, dimensions).
        """
        rows = actions.reshape(len(actions), -1)
        if self.action.kind == "discrete":
            return np.array([self.position.get(tuple(row), -1) for row in rows.tolist()], np.int32)
        return rows.astype(np.float64)


def _table(action: Action, moves: Moves) -> list[Any]:
    """Return the environment's action for each label: its code, what the environment calls so, or its position."""
    try:
        return [moves.check(one) for one in meanings(action)]
    except NonsenseError:
        pass
    code = {label: value for value, label in moves.labels.items()}
    if all(label in code for label in action.labels):
        return [moves.check(code[label]) for label in action.labels]
    if len(code) != len(action.labels) or not all(isinstance(value, int) for value in code.values()):
        raise ParameterError(
            Message(
                "The tree's actions are {}, those of this environment {}: which is which? Grow the tree on a log that "
                "was recorded here, or was read with {}.",
                listing(action.labels),
                listing([str(value) for value in moves.labels]),
                Option("labels", {0: action.labels[0], 1: "..."}),
            )
        )
    taken: Sequence[Any] = list(code.values())
    pairs = ", ".join(f"{label} = {value}" for label, value in zip(action.labels, taken, strict=True))
    warnings.warn(
        TripleTreeWarning(
            Message(
                "The tree does not know the numbers of its actions here, so they count in its order: {}. If that is "
                "wrong, grow it on a log that was read with {}.",
                pairs,
                Option("labels", {0: action.labels[0], 1: "..."}),
            )
        ),
        stacklevel=5,
    )
    return [moves.check(value) for value in taken]


def _key(action: Any) -> tuple[Any, ...]:
    return tuple(np.asarray(action).reshape(-1).tolist())
