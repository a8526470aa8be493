"""Predict: what the tree says about a state."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.answers.prediction import Prediction
from tripletree.asking.states import read_states
from tripletree.model.fitted import Fitted


def apply(fitted: Fitted, states: Any, threads: int) -> Any:
    """Return the leaf of each state: an int for a single state, otherwise an int32 array."""
    array, single = read_states(states, fitted.schema)
    leaf = fitted.tree.apply(array, threads)
    return int(leaf[0]) if single else leaf


def predict(fitted: Fitted, states: Any, threads: int) -> Prediction:
    """Return what the leaf of each state predicts."""
    array, single = read_states(states, fitted.schema)
    leaf = fitted.tree.apply(array, threads)
    node = fitted.tree.leaf_nodes[leaf]
    told, spread, part = fitted.told(array, leaf, threads), fitted.spread[leaf], fitted.targets
    action, probability = None, None
    schema = fitted.schema
    if not schema.has_action:
        pass
    elif schema.action.kind == "discrete":
        probability = shares(told[:, part["action"]])
        action = np.array(schema.action.labels)[probability.argmax(axis=1)]
    else:
        action = told[:, part["action"]]
    numbers = schema.has_action and schema.action.kind == "continuous"
    moves = fitted.attributes.derivative_mean is not None
    answer: dict[str, Any] = {
        "action": action,
        "action_probability": probability,
        "action_std": spread[:, part["action"]] if numbers else None,
        "value": told[:, part["value"]][:, 0] if schema.has_reward else None,
        "value_std": spread[:, part["value"]][:, 0] if schema.has_reward else None,
        "derivative": told[:, part["derivative"]] if moves else None,
        "derivative_std": spread[:, part["derivative"]] if moves else None,
        "leaf": leaf,
        "count": fitted.attributes.count[node],
        "outside": fitted.outside(array),
    }
    if single:
        answer = {name: None if column is None else _first(column) for name, column in answer.items()}
    return Prediction(**answer, schema=fitted.schema)


def shares(scores: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the scores of labels, each from 0 to 1, as shares that sum to 1."""
    total = scores.sum(axis=1, keepdims=True)
    # All of them 0: nothing is known about such a state, and the first label must not win by more than its number.
    return np.where(total > 0, scores / np.where(total > 0, total, 1.0), 1.0 / scores.shape[1])


def _first(column: npt.NDArray[Any]) -> Any:
    return column[0].item() if column.ndim == 1 else column[0]
