"""How sure is it that a tree knows more than a single leaf: a jackknife over groups of episodes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.leaves.attributes import Attributes
from tripletree.leaves.linear import LinearLeaves, node_means
from tripletree.log.log import Log
from tripletree.tree.columns import Columns, action_columns, derivative_columns, value_column
from tripletree.tree.costs import lost
from tripletree.tree.structure import Tree

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

LEAST_GROUPS = 5
"""Groups of episodes that make the interval theirs; with fewer, it is that of the episodes."""
STUDENT = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262)
"""Half width of a 95 % interval in standard errors, with 1, 2, ... 9 degrees of freedom."""


def margins(
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
    """Return the half width of a 95 % interval around the share of each loss that the tree takes away, shape (3,).

    Steps of one episode are alike, so whole episodes are left out, ten times a tenth of them. Infinite where the tree
    does not beat a single leaf episode by episode, or with fewer than two episodes: then chance explains as much.
    Where the log has groups of episodes, they take the place of episodes. Parameters as in
    :func:`tripletree.leaves.losses.loss_curve`.
    """
    # From a group or two nobody can tell what others would do; whether the tree knows these episodes, one can.
    units = log.units if log.units.max() + 1 >= LEAST_GROUPS else np.arange(log.n_episodes)
    groups = int(units.max()) + 1
    if groups < 2:
        return np.full(3, np.inf)
    group = np.repeat(units, np.diff(log.starts))
    weights = None if log.weights is None else log.weights / log.weights.mean()
    node = tree.leaf_nodes[tree.apply(log.states, threads)]
    mean = node_means(attributes)
    if linear is None:
        told = mean[node]
    else:
        told = linear.asked(tree, np.asarray(attributes.state_mean)).many(log.states, node.astype(np.int32), threads)
    unit = np.array([max(float(np.abs(values).max()), float(np.abs(attributes.value_mean).max())) or 1.0])
    actions = mean.shape[1] - 1 - (0 if attributes.derivative_mean is None else attributes.derivative_mean.shape[1])

    def squares(columns: Columns, first: int, scale: F64) -> tuple[F64, F64, npt.NDArray[Any]]:
        part = slice(first, first + columns.n_columns)
        return _squares(group, groups, columns, told[:, part], mean[0, part], scale, weights)

    value = squares(value_column(values), actions, unit)
    if codes is not None and attributes.action_count is not None:
        sizes = np.bincount(group, weights, groups)
        said = told[:, :actions].argmax(axis=1), mean[:1, :actions].argmax(axis=1)
        missed = (
            (codes != one if costs is None else lost(costs)[codes, one]) * (1.0 if weights is None else weights)
            for one in said
        )
        wrong = np.stack([np.bincount(group, some, groups) for some in missed])[:, :, None]
        action = _margin((wrong[0], wrong[1], sizes), 1.0)
    else:
        action = _margin(squares(action_columns(log), 0, np.asarray(action_scale)), 0.5)
    derivative = np.inf
    if attributes.derivative_mean is not None:
        derivative = _margin(squares(derivative_columns(log), actions + 1, derivative_scale), 0.5)
    return np.array([action, _margin(value, 0.5), derivative])


def _margin(sums: tuple[F64, F64, npt.NDArray[Any]], power: float) -> float:
    """Return the margin of one attribute from each episode's sums of errors with the tree and without, and samples."""
    tree, alone = (part.sum(axis=1) for part in sums[:2])
    # Between -1 and 1, so that a single crash, whose squares outweigh all others, has one vote like any other episode.
    gain = np.divide(alone - tree, alone + tree, out=np.zeros(len(tree)), where=alone + tree > 0)
    quantile = STUDENT[min(len(gain) - 2, len(STUDENT) - 1)]
    if gain.mean() <= quantile * gain.std(ddof=1) / np.sqrt(len(gain)):
        return np.inf
    groups = min(len(STUDENT) + 1, len(gain))
    first = -(-np.arange(groups) * len(gain) // groups)
    shares = _taken_away(tuple(np.add.reduceat(part, first) for part in sums), power)  # type: ignore[arg-type]
    variance = ((shares - shares.mean()) ** 2).sum() * (groups - 1) / groups
    return float(STUDENT[groups - 2] * np.sqrt(variance))


def _squares(
    group: I64, groups: int, columns: Columns, told: F64, mean: F64, unit: F64, weights: F64 | None
) -> tuple[F64, F64, npt.NDArray[Any]]:
    """Return each group's squared residuals about what the tree tells and about the mean of all, and samples."""
    sums = np.zeros((2, columns.n_columns, groups))
    count = np.zeros(groups)
    # As in `losses`: where a unit is 0, or so small that 1 / unit is not a number, the column does not count.
    counts = unit >= np.finfo(np.float64).tiny
    per_unit = np.where(counts, 1.0 / np.where(counts, unit, 1.0), 0.0)
    for rows, block in columns.blocks():
        known = ~np.isnan(block[0])
        mine, here = group[rows][known], told[rows][known]
        weight = None if weights is None else weights[rows][known]
        count += np.bincount(mine, weight, groups)
        for k, column in enumerate(block):
            for side, at in ((0, here[:, k]), (1, mean[k])):
                residual = (column[known] - at) * per_unit[k]
                square = residual * residual
                sums[side, k] += np.bincount(mine, square if weight is None else square * weight, groups)
    return sums[0].T, sums[1].T, count


def _taken_away(sums: tuple[F64, F64, npt.NDArray[Any]], power: float) -> F64:
    """Return the share of the loss that the tree takes away when each group in turn is left out, shape (groups,)."""
    tree, alone, count = sums
    left = count.sum() - count
    left = np.where(left > 0, left, 1.0)[:, None]
    losses = [(np.maximum(part.sum(axis=0) - part, 0.0) / left) ** power for part in (tree, alone)]
    with_tree, without = (loss.sum(axis=1) for loss in losses)
    return np.where(without > 0, 1 - with_tree / np.where(without > 0, without, 1.0), 0.0)
