"""What the nodes of a tree predict: counts, means and spreads of action, value and derivative."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.log.log import Log
from tripletree.tree.columns import Columns, action_columns, derivative_columns, value_column
from tripletree.tree.costs import growth_costs
from tripletree.tree.spread import Spread
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
    """
    weighing = weighing or Weighing()
    where = weighing.take(node).astype(np.intp)  # once, instead of in every bincount
    action_count = action_mean = action_std = action_weight = None

    def moments(columns: Columns, spread: Spread) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], F64, F64]:
        return _moments(tree, where, weighing.columns(columns), spread, weighing.numbers)

    if log.schema.action.kind == "discrete":
        labels = len(log.schema.action.labels)
        place = where * labels + weighing.take(log.actions)
        action_count = _table(tree, place, labels)
        action_weight = None if weighing.counts is None else _table(tree, place, labels, weighing.numbers)
        counted = action_count if action_weight is None else action_weight
        share = counted / counted.sum(axis=1, keepdims=True)
        if costs is None:
            action_impurity = (share * (1 - share)).sum(axis=1)
        else:
            action_impurity = (share @ growth_costs(costs).matrix * share).sum(axis=1)
    else:
        _, _, action_mean, action_std = moments(action_columns(log), scales.action)
        action_impurity = _scaled_variance(action_std, scales.action.std, "sigma")
    count, weight, value_mean, value_std = moments(value_column(values), scales.value)
    count_derivative, weight_derivative, derivative_mean, derivative_std = moments(
        derivative_columns(log), scales.derivative
    )
    weighted = weighing.counts is not None
    known = count_derivative[0] > 0
    with np.errstate(over="ignore"):
        value_impurity = np.minimum(value_std[:, 0] ** 2, np.finfo(np.float64).max)
    derivative_impurity = _scaled_variance(derivative_std, scales.derivative.std, derivative_scale)
    return Attributes(
        count=count,
        count_derivative=count_derivative,
        action_count=action_count,
        action_mean=action_mean,
        action_std=action_std,
        value_mean=value_mean[:, 0],
        value_std=value_std[:, 0],
        derivative_mean=derivative_mean if known else None,
        derivative_std=derivative_std if known else None,
        impurity=np.stack([action_impurity, value_impurity, derivative_impurity * (count_derivative > 0)], axis=1),
        state_mean=_mean_states(tree, where, weighing.take(log.states), weight, weighing.numbers),
        weight=weight if weighted else None,
        weight_derivative=weight_derivative if weighted else None,
        action_weight=action_weight,
    )


def _table(tree: Tree, place: npt.NDArray[Any], labels: int, weights: F64 | None = None) -> npt.NDArray[np.int64]:
    """Return the samples of each label at every node, or their weight."""
    table = np.bincount(place, weights, tree.n_nodes * labels).astype(np.int64).reshape(tree.n_nodes, labels)
    tree.add_up(table)
    return table


def _mean_states(
    tree: Tree, where: npt.NDArray[np.intp], states: F64, mass: npt.NDArray[np.int64], weights: F64 | None
) -> F64:
    """Return the mean state of every node."""
    # Deviations from the middle of the range: large offsets cost no digits, and no sum overflows.
    low, high = states.min(axis=0), states.max(axis=0)
    middle, reach = low / 2 + high / 2, np.maximum(high / 2 - low / 2, np.finfo(np.float64).tiny)
    mean = np.empty((tree.n_nodes, states.shape[1]))
    for f, column in enumerate(states.T):
        away = (column - middle[f]) / reach[f]
        total = np.bincount(where, away if weights is None else away * weights, tree.n_nodes)
        tree.add_up(total)
        mean[:, f] = middle[f] + reach[f] * (total / mass)
    return np.clip(mean, low, high, out=mean)


def _scaled_variance(std: F64, sigma: F64, scale: str) -> F64:
    """Return the sum over columns of Var / sigma^2 (or Var / sigma), without those that do not vary in the log."""
    ratio = std[:, sigma > 0] / sigma[sigma > 0]
    total: F64 = (ratio * (std[:, sigma > 0] if scale == "paper" else ratio)).sum(axis=1)
    return total


def _moments(
    tree: Tree, node: npt.NDArray[np.intp], columns: Columns, spread: Spread, weights: F64 | None
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], F64, F64]:
    """Return count, weight (without weights, the count), mean and standard deviation of ``columns`` at every node.

    Deviations are taken from one sample of the leaf, so that equal samples have deviation 0 exactly. Nodes without any
    sample that has the attribute inherit mean and standard deviation from their parent.
    """
    shape = (columns.n_columns, tree.n_nodes)
    origin, first, second = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    count, mass = np.zeros(tree.n_nodes, np.int64), np.zeros(tree.n_nodes, np.int64)
    shrink = spread.per_unit
    for rows, read in columns.blocks(at_least=tree.n_nodes):
        block = np.ascontiguousarray(read)
        here, known = node[rows], ~np.isnan(block[0])
        weight = None if weights is None else weights[rows]
        if not known.all():
            here, block = here[known], block[:, known]
            weight = None if weight is None else weight[known]
        new = count[here] == 0
        if new.any():
            origin[:, here[new]] = block[:, new]
        count += np.bincount(here, minlength=tree.n_nodes)
        for k, column in enumerate(block):
            away = (column - origin[k][here]) * shrink[k]
            counted = away if weight is None else away * weight
            first[k] += np.bincount(here, counted, tree.n_nodes)
            second[k] += np.bincount(here, counted * away, tree.n_nodes)
        if weight is not None:
            mass += np.bincount(here, weight, tree.n_nodes).astype(np.int64)

    mass = count.copy() if weights is None else mass
    n = np.maximum(mass, 1)
    mean = (origin + first / n / shrink[:, None]).T
    squares = np.maximum(second - first * first / n, 0.0).T  # sum of squared deviations from the mean, in units
    tree.add_up(count)
    tree.add_up(mass)
    inner, left = tree.split_order, tree.left[tree.split_order]
    right_share = np.zeros((tree.n_nodes, 1))
    right_share[inner, 0] = mass[left + 1] / np.maximum(mass[inner], 1)
    for nodes in reversed(tree.levels):
        child = tree.left[nodes]
        mean[nodes] = mean[child] + (mean[child + 1] - mean[child]) * right_share[nodes]
    between = (mean[left + 1] - mean[left]) * shrink
    squares[inner] = between * between * right_share[inner] * mass[left, None]
    tree.add_up(squares)
    std = np.sqrt(squares / np.maximum(mass, 1)[:, None]) / shrink
    if not count.all():
        _inherit(tree, count, mean, std)
    return count, mass, mean, std


def _inherit(tree: Tree, count: npt.NDArray[np.int64], *columns: F64) -> None:
    """Give nodes without any sample their parent's columns, from the root down, in place."""
    for nodes in tree.levels:
        for child in (tree.left[nodes], tree.left[nodes] + 1):
            empty = count[child] == 0
            for column in columns:
                column[child[empty]] = column[nodes[empty]]
