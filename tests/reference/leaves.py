"""What every node predicts, and how wrong the tree is at every leaf count."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tests.reference.columns import mean_and_spread
from tests.reference.grow import Grown, descend


@dataclass
class Statistics:
    """Counts, means, standard deviations and impurities of one node."""

    count: int
    count_derivative: int
    action_count: np.ndarray | None
    action_mean: np.ndarray | None
    action_std: np.ndarray | None
    value_mean: float
    value_std: float
    derivative_mean: np.ndarray | None  # None when the node has no derivative
    derivative_std: np.ndarray | None
    impurity: tuple[float, float, float]


@dataclass
class Table:
    """The attributes of a log's samples, and the scales taken over the log that the tree was grown on."""

    actions: np.ndarray
    n_labels: int | None
    value: np.ndarray
    derivative: np.ndarray  # NaN where missing
    action_scale: np.ndarray | None
    derivative_scale: np.ndarray


def table(
    actions: np.ndarray,
    n_labels: int | None,
    value: np.ndarray,
    derivative: np.ndarray,
    scales: Table | None = None,
    states: np.ndarray | None = None,
) -> Table:
    """Attributes with their own scales, or with those of another log."""
    if scales is not None:
        return Table(actions, n_labels, value, derivative, scales.action_scale, scales.derivative_scale)
    action_scale = None
    if n_labels is None:
        action_scale = np.array([mean_and_spread(column)[1] for column in actions.T])
    sources = [None] * derivative.shape[1] if states is None else list(states.T)
    known = derivative[~np.isnan(derivative).any(axis=1)]
    derivative_scale = np.array([mean_and_spread(a, b)[1] for a, b in zip(known.T, sources, strict=True)])
    return Table(actions, n_labels, value, derivative, action_scale, derivative_scale)


def scaled_sum(parts: np.ndarray, scales: np.ndarray) -> float:
    """Sum of parts / scales over the columns that vary."""
    return math.fsum(p / s for p, s in zip(parts.tolist(), scales.tolist(), strict=True) if s > 0)


def moments(columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation of each column."""
    both = [mean_and_spread(column) for column in columns.T]
    return np.array([m for m, _ in both]), np.array([s for _, s in both])


def statistics(samples: Table, rows: np.ndarray, derivative_scale: str = "sigma") -> Statistics:
    """Statistics of some samples."""
    action_count = action_mean = action_std = None
    if samples.n_labels is None:
        action_mean, action_std = moments(samples.actions[rows])
        action_impurity = scaled_sum(action_std**2, samples.action_scale**2)
    else:
        action_count = np.array([int((samples.actions[rows] == label).sum()) for label in range(samples.n_labels)])
        action_impurity = 1 - sum((c / len(rows)) ** 2 for c in action_count.tolist())
    value_mean, value_std = mean_and_spread(samples.value[rows])
    derivative = samples.derivative[rows]
    derivative = derivative[~np.isnan(derivative).any(axis=1)]
    derivative_mean = derivative_std = None
    derivative_impurity = 0.0
    if len(derivative):
        derivative_mean, derivative_std = moments(derivative)
        scale = samples.derivative_scale
        derivative_impurity = scaled_sum(derivative_std**2, scale if derivative_scale == "paper" else scale**2)
    return Statistics(
        len(rows),
        len(derivative),
        action_count,
        action_mean,
        action_std,
        value_mean,
        value_std,
        derivative_mean,
        derivative_std,
        (action_impurity, value_std**2, derivative_impurity),
    )


def node_statistics(
    grown: Grown, states: np.ndarray, samples: Table, derivative_scale: str = "sigma"
) -> list[Statistics]:
    """Statistics of every node; one without derivatives has its parent's mean and standard deviation."""
    below: list[list[int]] = [[] for _ in grown.feature]
    for row, state in enumerate(states):
        node = 0
        below[0].append(row)
        while grown.left[node] >= 0:
            node = int(grown.left[node]) + int(not state[grown.feature[node]] < grown.threshold[node])
            below[node].append(row)
    nodes = [statistics(samples, np.array(rows), derivative_scale) for rows in below]
    for parent, child in enumerate(grown.left.tolist()):
        for node in nodes[child : child + 2] if child >= 0 else []:
            if node.derivative_mean is None:
                node.derivative_mean = nodes[parent].derivative_mean
                node.derivative_std = nodes[parent].derivative_std
    return nodes


def losses(
    grown: Grown, nodes: list[Statistics], states: np.ndarray, samples: Table, n_leaves: int
) -> tuple[float, float, float]:
    """Action, value and derivative loss of the tree cut back to ``n_leaves`` leaves, by predicting every sample."""
    ends = descend(grown, states, n_leaves).tolist()
    n = len(ends)
    if samples.n_labels is None:
        error = samples.actions - np.array([nodes[i].action_mean for i in ends])
        action = scaled_sum(np.sqrt((error**2).mean(axis=0)), samples.action_scale)
    else:
        mode = np.array([int(np.argmax(nodes[i].action_count)) for i in ends])
        action = sum((mode != samples.actions).tolist()) / n
    value = math.sqrt(math.fsum((samples.value[row] - nodes[i].value_mean) ** 2 for row, i in enumerate(ends)) / n)
    known = np.flatnonzero(~np.isnan(samples.derivative).any(axis=1))
    derivative = 0.0
    if len(known) and nodes[0].derivative_mean is not None:
        error = samples.derivative[known] - np.array([nodes[ends[row]].derivative_mean for row in known])
        derivative = scaled_sum(np.sqrt((error**2).mean(axis=0)), samples.derivative_scale)
    return action, value, derivative
