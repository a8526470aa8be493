"""Losses of a tree and of every smaller tree that its growth passed through, in one pass over a log."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.leaves.attributes import Attributes
from tripletree.leaves.linear import LinearLeaves
from tripletree.leaves.linear_losses import at_every_size, linear_curve
from tripletree.leaves.sums import LeafSums
from tripletree.log.log import Log
from tripletree.tree.columns import Columns, action_columns, derivative_columns, state_columns, value_column
from tripletree.tree.spread import ranges
from tripletree.tree.structure import Tree

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]


def loss_curve(
    tree: Tree,
    attributes: Attributes,
    linear: LinearLeaves | None,
    action_scale: F64 | None,
    derivative_scale: F64,
    log: Log,
    values: F64,
    codes: npt.NDArray[np.int32] | None,
    threads: int = 1,
    costs: F64 | None = None,
) -> F64:
    """Return action, value and derivative loss on ``log`` with 1, 2, ... leaves, shape (leaf counts, 3).

    Action: share of wrong labels (with costs, what they cost on average), or the sum over dimensions of RMSE / sigma.
    Value: RMSE. Derivative: the sum over features of RMSE / sigma, over the samples that have a derivative; 0 when none
    has. Sigma is the training log's, and a column whose sigma is 0 contributes nothing.

    Parameters
    ----------
    tree, attributes
        The tree and what its nodes predict.
    linear : LinearLeaves or None
        The linear models of its nodes, if predictions come from them.
    action_scale, derivative_scale : float64 arrays
        Sigma of each action dimension (None when discrete) and of each derivative.
    log : Log
        Any log with the features of the tree.
    values : float64 array of shape (samples,)
        Value of each sample of ``log``.
    codes : int32 array of shape (samples,), or None
        Action of each sample as a label number of the tree, -1 for a label that it does not know (discrete only).
    threads : int
        Threads that find the leaf of each sample.
    costs : float64 array of shape (labels, labels), or None
        What each true label (rows) costs where another (columns) is told; one that the tree does not know costs the
        most. None: 1.
    """
    if linear is not None:
        return linear_curve(
            tree, attributes, linear, action_scale, derivative_scale, log, values, codes, threads, costs
        )
    leaf = tree.apply(log.states, threads)
    if log.weights is not None:
        scales = action_scale, derivative_scale
        # Any unit near the values' size keeps their squares within range.
        unit = float(max(np.abs(values).max(), np.abs(attributes.value_mean).max()))
        weights = log.weights / log.weights.mean()
        errors = weighted_errors(tree, attributes, *scales, unit, log, weights, values, codes, leaf)
        return errors.curve(tree, attributes, *scales, unit, costs)
    columns = (*(() if codes is not None else (action_columns(log),)), value_column(values), derivative_columns(log))
    sizes = [np.maximum(*map(np.abs, ranges(part, threads))) for part in (*columns, state_columns(log))]
    sums = LeafSums.sized(log.schema, (np.zeros(0), *sizes)[-4:], tree.n_leaves)  # type: ignore[arg-type]
    sums.add(log, values, leaf, threads=threads)
    table = None
    if codes is not None and attributes.action_count is not None:
        shape, known = (tree.n_leaves, attributes.action_count.shape[1]), codes >= 0
        place = leaf[known].astype(np.int64) * shape[1] + codes[known]
        table = np.bincount(place, minlength=shape[0] * shape[1]).reshape(shape)
    return curve_of(tree, attributes, action_scale, derivative_scale, sums, table, costs)


def curve_of(
    tree: Tree,
    attributes: Attributes,
    action_scale: F64 | None,
    derivative_scale: F64,
    sums: LeafSums,
    table: I64 | None,
    costs: F64 | None = None,
) -> F64:
    """Return the loss curve of leaves that predict means, on a log whose sums by leaf are known.

    Parameters
    ----------
    tree, attributes, action_scale, derivative_scale, costs
        As in :func:`loss_curve`.
    sums : LeafSums
        Those of the log, which may have come from parts of it.
    table : int64 array of shape (leaves, labels), or None
        How often each label of the tree occurs in each leaf (discrete actions only); others are in the counts alone.
    """
    known = sums.by_node(tree)
    count, count_derivative = known.counts[:2]

    def rmse(mean: F64, unit: F64, number: I64, found: tuple[F64, F64]) -> F64:
        # About a node's prediction: what the log's samples there are off on average, and how much they differ.
        off = _divide(found[0] - mean, unit) * (number > 0)[:, None]
        spread = _divide(found[1], unit)
        leaves = tree.leaf_nodes
        squares = number[leaves] @ (off[leaves] ** 2 + spread[leaves] ** 2)
        return _rmse(tree, mean, unit, number, number[:, None] * off, squares)

    value_mean = attributes.value_mean[:, None]
    of_value = known.value[0][:, None], known.value[1][:, None]
    # Any unit near the values' size keeps their squares within range.
    unit = np.array([max(np.abs(sums.value_range).max(), np.abs(value_mean).max())])
    value = rmse(value_mean, unit, count, of_value) * unit
    action, derivative = np.zeros(tree.n_leaves), np.zeros(tree.n_leaves)
    if table is not None:
        everywhere = np.zeros((tree.n_nodes, table.shape[1]), np.int64)
        everywhere[tree.leaf_nodes] = table
        tree.add_up(everywhere)
        action = _action_loss(tree, np.asarray(attributes.mode), everywhere, int(count[0]), costs)
    elif attributes.action_mean is not None and action_scale is not None and known.action is not None:
        action = rmse(attributes.action_mean, action_scale, count, known.action).sum(axis=1)
    if attributes.derivative_mean is not None:
        derivative = rmse(attributes.derivative_mean, derivative_scale, count_derivative, known.derivative).sum(axis=1)
    return np.stack([action, value[:, 0], derivative], axis=1)


@dataclass(frozen=True, eq=False)
class WeightedErrors:
    """Errors of leaves that predict means, of a log whose steps have weights, or of a part of it: they add up.

    Attributes
    ----------
    residuals : dict of str to three arrays
        For "action", "value" and "derivative", as far as they are predicted: what `_residuals` returns.
    table : float64 array of shape (nodes, labels), or None
        The weight of each label at each node (discrete actions only).
    rows : float
        The weight of all steps.
    """

    residuals: dict[str, tuple[F64, F64, F64]]
    table: F64 | None
    rows: float

    def __add__(self, other: WeightedErrors) -> WeightedErrors:
        def both(name: str) -> tuple[F64, F64, F64]:
            one, two = self.residuals[name], other.residuals[name]
            return one[0] + two[0], one[1] + two[1], one[2] + two[2]

        table = None if self.table is None or other.table is None else self.table + other.table
        return WeightedErrors({name: both(name) for name in self.residuals}, table, self.rows + other.rows)

    def curve(
        self,
        tree: Tree,
        attributes: Attributes,
        action_scale: F64 | None,
        derivative_scale: F64,
        unit: float,
        costs: F64 | None = None,
    ) -> F64:
        """Return the loss curve; ``unit`` is that of the value."""

        def rmse(name: str, mean: F64, scale: F64) -> F64:
            return _rmse(tree, mean, scale, *self.residuals[name])

        value = rmse("value", attributes.value_mean[:, None], np.array([unit])) * unit
        action, derivative = np.zeros(tree.n_leaves), np.zeros(tree.n_leaves)
        if self.table is not None:
            action = _action_loss(tree, np.asarray(attributes.mode), self.table, self.rows, costs)
        elif "action" in self.residuals:
            action = rmse("action", np.asarray(attributes.action_mean), np.asarray(action_scale)).sum(axis=1)
        if "derivative" in self.residuals:
            derivative = rmse("derivative", np.asarray(attributes.derivative_mean), derivative_scale).sum(axis=1)
        return np.stack([action, value[:, 0], derivative], axis=1)


def weighted_errors(
    tree: Tree,
    attributes: Attributes,
    action_scale: F64 | None,
    derivative_scale: F64,
    unit: float,
    log: Log,
    weights: F64,
    values: F64,
    codes: npt.NDArray[np.int32] | None,
    leaf: npt.NDArray[np.int32],
) -> WeightedErrors:
    """Return the errors on a log whose steps have these weights, of any size; ``unit`` is that of the value."""
    node = tree.leaf_nodes[leaf]
    found = {"value": (value_column(values), attributes.value_mean[:, None], np.array([unit]))}
    table = None
    if codes is not None and attributes.action_count is not None:
        shape, known = attributes.action_count.shape, codes >= 0
        place = node[known] * shape[1] + codes[known]
        table = np.bincount(place, weights[known], shape[0] * shape[1]).astype(np.float64).reshape(shape)
        tree.add_up(table)
    elif attributes.action_mean is not None and action_scale is not None:
        found["action"] = action_columns(log), attributes.action_mean, action_scale
    if attributes.derivative_mean is not None:
        found["derivative"] = derivative_columns(log), attributes.derivative_mean, derivative_scale
    residuals = {name: _residuals(tree, node, *of, weights) for name, of in found.items()}
    return WeightedErrors(residuals, table, float(weights.sum()))


def training_curve(
    tree: Tree, attributes: Attributes, action_scale: F64 | None, derivative_scale: F64, costs: F64 | None = None
) -> F64:
    """Return the loss curve on the training log: the attributes say it all, no pass over the log is needed."""

    def rmse(mean: F64, std: F64, unit: F64, count: npt.NDArray[Any]) -> F64:
        squares = count[tree.leaf_nodes] @ _divide(std[tree.leaf_nodes], unit) ** 2
        return _rmse(tree, mean, unit, count, np.zeros_like(mean), squares)

    count, unit = attributes.mass, attributes.value_std[:1]
    value = rmse(attributes.value_mean[:, None], attributes.value_std[:, None], unit, count) * unit
    action, derivative = np.zeros(tree.n_leaves), np.zeros(tree.n_leaves)
    if attributes.action_count is not None:
        action = _action_loss(
            tree, np.asarray(attributes.mode), np.asarray(attributes.action_mass), int(count[0]), costs
        )
    elif attributes.action_mean is not None and attributes.action_std is not None and action_scale is not None:
        action = rmse(attributes.action_mean, attributes.action_std, action_scale, count).sum(axis=1)
    if attributes.derivative_mean is not None and attributes.derivative_std is not None:
        means, stds = attributes.derivative_mean, attributes.derivative_std
        derivative = rmse(means, stds, derivative_scale, attributes.mass_derivative).sum(axis=1)
    return np.stack([action, value[:, 0], derivative], axis=1)


def _divide(columns: F64, unit: F64) -> F64:
    """Return columns / unit, 0 where the unit is 0, or so small that 1 / unit is not a number: these do not count."""
    counts = unit >= np.finfo(np.float64).tiny
    return columns * np.where(counts, 1.0 / np.where(counts, unit, 1.0), 0.0)


def _shifts(tree: Tree, mean: F64, unit: F64) -> F64:
    """Return by how much each node's mean exceeds its parent's, in units, shape (nodes, columns)."""
    shift = np.zeros_like(mean)
    shift[1:] = _divide(mean[1:] - mean[tree.parent[1:]], unit)
    return shift


def _residuals(tree: Tree, node: I64, columns: Columns, mean: F64, unit: F64, weights: F64) -> tuple[F64, F64, F64]:
    """Return, about the means of each node, the number and sum of residuals; and the sum of squares about the leaves'.

    A sample with residual r about its leaf's mean has residual r + d about the parent's, d being the shift between the
    two means.
    """
    count = np.zeros(tree.n_nodes)
    sums = np.zeros((columns.n_columns, tree.n_nodes))
    squares = np.zeros(columns.n_columns)
    means = np.ascontiguousarray(mean.T)
    for rows, read in columns.blocks(at_least=tree.n_nodes):
        block = np.ascontiguousarray(read)
        here, known = node[rows], ~np.isnan(block[0])
        weight = weights[rows]
        if not known.all():
            here, block, weight = here[known], block[:, known], weight[known]
        count += np.bincount(here, weight, tree.n_nodes)
        for k, column in enumerate(block):
            residual = _divide(column - means[k][here], unit[k])
            counted = residual * weight
            sums[k] += np.bincount(here, counted, tree.n_nodes)
            squares[k] += counted @ residual
    tree.add_up(count)
    residuals = np.ascontiguousarray(sums.T)
    moved = count[:, None] * _shifts(tree, mean, unit)
    residuals[tree.split_order] = moved[1::2] + moved[2::2]
    tree.add_up(residuals)
    return count, residuals, squares


def _rmse(tree: Tree, mean: F64, unit: F64, count: npt.NDArray[Any], residuals: F64, squares: F64) -> F64:
    """Return the RMSE of each column in its unit at every leaf count, shape (leaf counts, columns).

    Undoing a split adds 2 d R + n d^2 to the sum of squares for each of its two children, R being the child's sum of
    residuals and d its shift: no difference of large numbers, and exactly 0 where nothing is lost.
    """
    shift = _shifts(tree, mean, unit)
    added = shift * (2 * residuals + count[:, None] * shift)
    steps = np.vstack([squares[None], (added[1::2] + added[2::2])[::-1]])
    total: F64 = steps.cumsum(axis=0)[::-1]
    return np.sqrt(np.maximum(total, 0.0) / (float(count[0]) or 1.0))


def _action_loss(tree: Tree, mode: I64, table: npt.NDArray[Any], n_samples: float, costs: F64 | None) -> F64:
    """Return the share of samples whose label is not their leaf's, or the mean cost of that, at every leaf count.

    ``mode`` is the label that each node predicts, and ``table`` counts the labels of the log, shape (nodes, labels).
    """
    if costs is not None:
        paid = np.take_along_axis(table @ costs, mode[:, None], axis=1)[:, 0]
        unknown = max(n_samples - float(table[0].sum()), 0.0) * costs.max()
        mean: F64 = np.maximum(at_every_size(tree, paid) + unknown, 0.0) / n_samples
        return mean
    right = np.take_along_axis(table, mode[:, None], axis=1)[:, 0]
    gained = right[1::2] + right[2::2] - right[tree.split_order]
    return (n_samples - np.concatenate([right[:1], gained]).cumsum()) / n_samples
