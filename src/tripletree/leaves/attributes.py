"""What the nodes of a tree predict: counts, means and spreads of action, value and derivative."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.leaves.sums import LeafSums
from tripletree.log.log import Log
from tripletree.tree.columns import state_columns
from tripletree.tree.costs import growth_costs
from tripletree.tree.spread import ranges
from tripletree.tree.structure import Tree
from tripletree.tree.targets import Scales
from tripletree.tree.weights import Weighing

F64 = npt.NDArray[np.float64]


ATTRIBUTES = ("action", "value", "derivative")
"""What a tree models, in the order of theta, losses and impurities."""


@dataclass(frozen=True, eq=False)
class Attributes:
    """Statistics of the training log at every node, inner nodes included, so that a smaller tree is a prefix.

    Attributes
    ----------
    count : int64 array of shape (nodes,)
        Samples in the node.
    count_derivative : int64 array of shape (nodes,)
        Samples in the node whose derivative is known.
    action_count : int64 array of shape (nodes, labels), or None
        Samples of each label (discrete actions only).
    action_mean, action_std : float64 arrays of shape (nodes, dimensions), or None
        Mean and standard deviation of the action (continuous actions only).
    value_mean, value_std : float64 arrays of shape (nodes,)
        Mean and standard deviation of the value.
    derivative_mean, derivative_std : float64 arrays of shape (nodes, features), or None
        Mean and standard deviation of the derivative over the samples that have one. A node without any inherits its
        parent's (``count_derivative`` is then 0). None when no sample of the log has a successor.
    impurity : float64 array of shape (nodes, 3)
        Impurity of action (Gini, with costs the generalised one that growth uses, or the sum of scaled variances),
        value (variance) and derivative (scaled variances).
    state_mean : float64 array of shape (nodes, features), or None
        Mean state of the samples: where in its box a node's samples are. None in models saved before it was kept.
    weight, weight_derivative : int64 arrays of shape (nodes,), or None
        The same as the two counts with each sample as often as its weight says, in steps of the grid that weights were
        rounded to. All means, deviations and impurities are weighted so. None without weights.
    action_weight : int64 array of shape (nodes, labels), or None
        The same for ``action_count``.
    """

    count: npt.NDArray[np.int64]
    count_derivative: npt.NDArray[np.int64]
    action_count: npt.NDArray[np.int64] | None
    action_mean: npt.NDArray[np.float64] | None
    action_std: npt.NDArray[np.float64] | None
    value_mean: npt.NDArray[np.float64]
    value_std: npt.NDArray[np.float64]
    derivative_mean: npt.NDArray[np.float64] | None
    derivative_std: npt.NDArray[np.float64] | None
    impurity: npt.NDArray[np.float64]
    state_mean: npt.NDArray[np.float64] | None = None
    weight: npt.NDArray[np.int64] | None = None
    weight_derivative: npt.NDArray[np.int64] | None = None
    action_weight: npt.NDArray[np.int64] | None = None

    def truncate(self, n_leaves: int) -> Attributes:
        """Return the attributes of the tree as it was with ``n_leaves`` leaves."""
        return self.at(slice(2 * n_leaves - 1))

    def at(self, nodes: Any) -> Attributes:
        """Return the attributes of some nodes only."""
        columns: dict[str, Any] = {field.name: getattr(self, field.name) for field in fields(self)}
        columns = {name: None if column is None else column[nodes] for name, column in columns.items()}
        return Attributes(**columns)

    @property
    def mass(self) -> npt.NDArray[np.int64]:
        """What means were divided by: the samples of each node, or their weight."""
        return self.count if self.weight is None else self.weight

    @property
    def mass_derivative(self) -> npt.NDArray[np.int64]:
        """The same for the samples with a derivative."""
        return self.count_derivative if self.weight_derivative is None else self.weight_derivative

    @property
    def action_mass(self) -> npt.NDArray[np.int64] | None:
        """The same for the samples of each label (discrete actions only)."""
        return self.action_count if self.action_weight is None else self.action_weight

    @cached_property
    def shares(self) -> npt.NDArray[np.float64] | None:
        """Share of each label at each node, by weight where there are weights (discrete actions only)."""
        return None if self.action_mass is None else self.action_mass / self.mass[:, None]

    @cached_property
    def mode(self) -> npt.NDArray[np.int64] | None:
        """Number of the label with the largest share at each node, the first of equals (discrete actions only)."""
        return None if self.action_mass is None else self.action_mass.argmax(axis=1)

    @cached_property
    def mode_share(self) -> npt.NDArray[np.float64] | None:
        """Share of that label at each node (discrete actions only)."""
        if self.shares is None or self.mode is None:
            return None
        return np.take_along_axis(self.shares, self.mode[:, None], axis=1)[:, 0]


def describe(
    tree: Tree,
    node: npt.NDArray[np.int32],
    log: Log,
    values: F64,
    scales: Scales,
    derivative_scale: str,
    weighing: Weighing | None = None,
    costs: F64 | None = None,
    threads: int = 1,
) -> Attributes:
    """Return the attributes of every node.

    Parameters
    ----------
    tree : Tree
        The structure.
    node : int array of shape (samples,)
        Node of the leaf that each sample falls in.
    log : Log
        The training log.
    values : float64 array of shape (samples,)
        Value of each sample.
    scales : Scales
        Spread of action, value and derivative over the log.
    derivative_scale : {"sigma", "paper"}
        Which impurity of derivatives.
    weighing : Weighing or None
        Which samples count, and how much; None: all, and the same.
    costs : float64 array of shape (labels, labels), or None
        What it costs to take one label for another (discrete actions only); None: 1.
    threads : int
        Threads to use; their number changes nothing.
    """
    weighing = weighing or Weighing()
    state_size = np.maximum(*map(np.abs, ranges(state_columns(log), threads)))
    # Values that were settled once more may be larger than those that the tree was grown on.
    value_size, weighted = float(max(-values.min(), values.max())), weighing.counts is not None
    sums = LeafSums.empty(log.schema, scales, state_size, tree.n_leaves, value_size=value_size, weighted=weighted)
    sums.add(log, values, tree.leaf_number[weighing.take(node)], weighing, threads)
    return attributes_of(tree, sums, scales, derivative_scale, costs)


def attributes_of(
    tree: Tree, sums: LeafSums, scales: Scales, derivative_scale: str, costs: F64 | None = None
) -> Attributes:
    """Return the attributes that follow from a log's sums by leaf; arguments as those of :func:`describe`."""
    known = sums.by_node(tree)
    count, count_derivative, weight, weight_derivative = known.counts
    if known.labels is not None:
        counted = known.labels[1]
        share = counted / np.maximum(weight, 1)[:, None]
        if costs is None:
            action_impurity = (share * (1 - share)).sum(axis=1)
        else:
            action_impurity = (share @ growth_costs(costs).matrix * share).sum(axis=1)
    elif known.action is not None:
        action_impurity = _scaled_variance(known.action[1], scales.action.std, "sigma")
    value_mean, value_std = known.value
    with np.errstate(over="ignore"):
        value_impurity = np.minimum(value_std**2, np.finfo(np.float64).max)
    # Nodes without any sample that has a derivative inherit their parent's.
    derivative_mean, derivative_std = known.derivative
    if not count_derivative.all():
        _inherit(tree, count_derivative, derivative_mean, derivative_std)
    derivative_impurity = _scaled_variance(derivative_std, scales.derivative.std, derivative_scale)
    return Attributes(
        count=count,
        count_derivative=count_derivative,
        action_count=None if known.labels is None else known.labels[0],
        action_mean=None if known.action is None else known.action[0],
        action_std=None if known.action is None else known.action[1],
        value_mean=value_mean,
        value_std=value_std,
        derivative_mean=derivative_mean if count_derivative[0] else None,
        derivative_std=derivative_std if count_derivative[0] else None,
        impurity=np.stack([action_impurity, value_impurity, derivative_impurity * (count_derivative > 0)], axis=1),
        state_mean=known.state,
        weight=weight if sums.weighted else None,
        weight_derivative=weight_derivative if sums.weighted else None,
        action_weight=known.labels[1] if sums.weighted and known.labels is not None else None,
    )


def _scaled_variance(std: F64, sigma: F64, scale: str) -> F64:
    """Return the sum over columns of Var / sigma^2 (or Var / sigma), without those that do not vary in the log."""
    ratio = std[:, sigma > 0] / sigma[sigma > 0]
    total: F64 = (ratio * (std[:, sigma > 0] if scale == "paper" else ratio)).sum(axis=1)
    return total


def _inherit(tree: Tree, count: npt.NDArray[np.int64], *columns: F64) -> None:
    """Give nodes without any sample their parent's columns, from the root down, in place."""
    for nodes in tree.levels:
        for child in (tree.left[nodes], tree.left[nodes] + 1):
            empty = count[child] == 0
            for column in columns:
                column[child[empty]] = column[nodes[empty]]
