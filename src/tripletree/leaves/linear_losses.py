"""Losses of linear leaves, of the whole tree and of every smaller one that its growth passed through."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree._kernel import Policy
from tripletree.leaves.attributes import Attributes
from tripletree.leaves.linear import LinearLeaves, target_matrix
from tripletree.log.log import Log
from tripletree.tree.costs import lost
from tripletree.tree.structure import Tree
from tripletree.tree.weights import Weighing

F64 = npt.NDArray[np.float64]


def linear_curve(
    tree: Tree,
    attributes: Attributes,
    linear: LinearLeaves,
    action_scale: F64 | None,
    derivative_scale: F64,
    log: Log,
    values: F64,
    codes: npt.NDArray[np.int32] | None,
    threads: int,
    costs: F64 | None = None,
) -> F64:
    """Return the loss curve on a log; arguments and result as in :func:`tripletree.leaves.losses.loss_curve`.

    Each state is asked about at every node on its way down, so one pass gives all sizes.
    """
    unit = max(float(np.abs(values).max()), float(np.abs(attributes.value_mean).max()))
    asked = linear.asked(tree, np.asarray(attributes.state_mean))
    scales = (action_scale, derivative_scale)
    return linear_errors(tree, attributes, asked, scales, unit, log, values, codes, threads, costs).curve(tree, unit)


@dataclass(frozen=True, eq=False)
class Errors:
    """Errors of linear leaves at every node, of a log or of a part of it: they add up.

    Attributes
    ----------
    squares : float64 array of shape (nodes, targets)
        Sum of squared errors, in units.
    wrong : float64 array of shape (nodes,), or None
        Wrong labels, or what they cost (discrete actions only).
    actions : int
        Columns of the action.
    rows, known : float
        Samples, and samples with a derivative, or their weights.
    """

    squares: F64
    wrong: F64 | None
    actions: int
    rows: float
    known: float

    def __add__(self, other: Errors) -> Errors:
        wrong = None if self.wrong is None or other.wrong is None else self.wrong + other.wrong
        rows, known = self.rows + other.rows, self.known + other.known
        return Errors(self.squares + other.squares, wrong, self.actions, rows, known)

    def curve(self, tree: Tree, unit: float) -> F64:
        """Return the loss curve; ``unit`` is that of the value."""
        return _curve(tree, self.squares, self.wrong, self.actions, (self.rows, self.known), unit)


def linear_errors(
    tree: Tree,
    attributes: Attributes,
    asked: Policy,
    scales: tuple[F64 | None, F64],
    unit: float,
    log: Log,
    values: F64,
    codes: npt.NDArray[np.int32] | None,
    threads: int,
    costs: F64 | None = None,
    mean_weight: float | None = None,
) -> Errors:
    """Return the errors on a log, of linear models in compiled form; other arguments as in `linear_curve`.

    Of a part of a log whose steps have weights, ``mean_weight`` is their mean over the whole.
    """
    labels = _labels(attributes)
    action = np.zeros(labels) if scales[0] is None else scales[0]
    rest = () if attributes.derivative_mean is None else (scales[1],)
    scale = np.concatenate([action, [unit], *rest])
    matrix = target_matrix(log, values, attributes, codes)
    with np.errstate(over="ignore", divide="ignore"):
        per_unit = np.where(scale >= np.finfo(np.float64).tiny, 1.0 / scale, 0.0)
    weights = np.empty(0)
    if log.weights is not None:
        weights = log.weights / (log.weights.mean() if mean_weight is None else mean_weight)
    squares, wrong = asked.errors(log.states, matrix, per_unit, weights, labels, threads)
    if codes is not None and costs is not None:
        wrong = _paid(
            tree, asked, log.states, codes, labels, costs, log.weights if log.weights is None else weights, threads
        )
    has = ~np.isnan(matrix[:, -1])
    rows = float(len(matrix) if log.weights is None else weights.sum())
    known = float(np.count_nonzero(has) if log.weights is None else weights[has].sum())
    return Errors(squares, wrong if labels else None, len(action), rows, known)


def linear_training_curve(
    tree: Tree,
    attributes: Attributes,
    linear: LinearLeaves,
    squares: F64,
    log: Log,
    threads: int,
    weighing: Weighing | None = None,
    costs: F64 | None = None,
) -> F64:
    """Return the loss curve on the training log, from the squared errors that `fit_linear` has found.

    They are those before a prediction is held within its node's range, which can only make them smaller.
    """
    labels = _labels(attributes)
    wrong, weighing = None, weighing or Weighing()
    if labels:
        known = (weighing.take(log.actions)[:, None] == np.arange(labels)).astype(np.float64)
        asked = linear.asked(tree, np.asarray(attributes.state_mean), slice(0, labels))
        states = weighing.take(log.states)
        if costs is None:
            wrong = asked.errors(states, known, np.ones(labels), weighing.given, labels, threads)[1]
        else:
            codes = weighing.take(log.actions)
            wrong = _paid(tree, asked, states, codes, labels, costs, weighing.numbers, threads)
    actions = labels or np.asarray(attributes.action_mean).shape[1]
    counted = float(attributes.mass[0]), float(attributes.mass_derivative[0])
    return _curve(tree, squares, wrong, actions, counted, float(attributes.value_std[0]))


def _paid(
    tree: Tree,
    asked: Policy,
    states: F64,
    codes: npt.NDArray[np.int32],
    labels: int,
    costs: F64,
    weights: F64 | None,
    threads: int,
) -> F64:
    """Return what the labels cost that each node tells its samples, shape (nodes,)."""
    total, table = np.zeros(tree.n_nodes), lost(costs)
    row, node = np.arange(len(states)), tree.leaf_nodes[tree.apply(states, threads)]
    while len(row):  # from the leaves to the root, all samples at once
        told = asked.many(np.ascontiguousarray(states[row]), node.astype(np.int32), threads)[:, :labels].argmax(axis=1)
        cost = table[codes[row], told]
        total += np.bincount(node, cost if weights is None else cost * weights[row], tree.n_nodes)
        row, node = row[node > 0], tree.parent[node[node > 0]]
    return total


def _labels(attributes: Attributes) -> int:
    return 0 if attributes.action_count is None else attributes.action_count.shape[1]


def _curve(tree: Tree, squares: F64, wrong: F64 | None, actions: int, counted: tuple[float, float], unit: float) -> F64:
    """Return the loss curve.

    Parameters
    ----------
    tree : Tree
        The structure.
    squares : float64 array of shape (nodes, targets)
        Sum of squared errors of the samples in each node, in units.
    wrong : float64 array of shape (nodes,), or None
        How many of their labels are wrong, or what these cost (discrete actions only).
    actions : int
        Columns of the action.
    counted : two ints
        Samples, and samples with a derivative.
    unit : float
        The unit of the value.
    """
    rows, known = counted
    roots = np.sqrt(np.maximum(at_every_size(tree, squares), 0.0))
    action = roots[:, :actions].sum(axis=1) / np.sqrt(rows) if wrong is None else at_every_size(tree, wrong) / rows
    value = roots[:, actions] * unit / np.sqrt(rows)
    derivative = roots[:, actions + 1 :].sum(axis=1) / np.sqrt(known or 1.0)
    return np.stack([action, value, derivative], axis=1)


def at_every_size(tree: Tree, sums: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the sum over the leaves of the tree when it had 1, 2, ... leaves."""
    # From the leaves back to the root: small sums stay exact, and undoing a split adds what it had removed.
    undone = sums[tree.split_order] - sums[1::2] - sums[2::2]
    steps = np.concatenate([sums[tree.leaf_nodes].sum(axis=0, keepdims=True), undone[::-1]])
    return steps.cumsum(axis=0)[::-1]
