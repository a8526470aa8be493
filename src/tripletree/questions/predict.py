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
    at = fitted.attributes
    action, probability = None, None
    schema = fitted.schema
    if not schema.has_action:
        pass
    elif at.action_count is not None:
        table = at.action_count[node]
        probability = table / at.count[node, None]
        action = np.array(fitted.schema.action.labels)[table.argmax(axis=1)]
    else:
        action = _rows(at.action_mean, node)
    answer = {
        "action": action,
        "action_probability": probability,
        "action_std": _rows(at.action_std, node),
        "value": at.value_mean[node] if schema.has_reward else None,
        "value_std": at.value_std[node] if schema.has_reward else None,
        "derivative": _rows(at.derivative_mean, node),
        "derivative_std": _rows(at.derivative_std, node),
        "leaf": leaf,
        "count": at.count[node],
        "outside": fitted.outside(array),
    }
    if single:
        answer = {name: None if column is None else _first(column) for name, column in answer.items()}
    return Prediction(**answer, schema=fitted.schema)


def _rows(column: npt.NDArray[Any] | None, node: npt.NDArray[np.int64]) -> Any:
    return None if column is None else column[node]


def _first(column: npt.NDArray[Any]) -> Any:
    return column[0].item() if column.ndim == 1 else column[0]
