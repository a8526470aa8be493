"""Sums of a log by leaf, exact: the same bits from one block or a thousand, in any order, on any number of threads."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from tripletree import _kernel
from tripletree.log.log import Log
from tripletree.log.schema import Schema
from tripletree.tree.structure import Tree
from tripletree.tree.targets import Scales
from tripletree.tree.weights import Weighing

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

BITS = 61
"""Of the integers that numbers become, without the sign."""
LARGEST_POWER = 1000
"""Of two, in one factor; numbers that are smaller still are scaled in two steps."""


def kernel_columns(log: Log, values: F64, weighing: Weighing) -> dict[str, Any]:
    """Return a log's columns as the kernel reads them: states, actions, values, and which rows count how much."""
    none = np.empty(0, np.int64)
    discrete = log.schema.action.kind == "discrete"
    return {
        "states": log.states,
        "starts": log.starts,
        "final_states": log.final_states,
        "periods": np.array(log.schema.periods, np.float64),
        "dt": np.empty(0) if log.dt is None else log.dt,
        "actions": np.empty((0, 0)) if discrete else log.actions,
        "labels": log.actions if discrete else np.empty(0, np.int32),
        "values": values,
        "rows": none if weighing.rows is None else weighing.rows,
        "weights": none if weighing.counts is None else weighing.counts,
    }


@dataclass(frozen=True, eq=False)
class LeafSums:
    """What has been added up of a log, leaf by leaf: plain arrays, so that parts may come from other processes.

    Columns are actions (unless they have labels), value, the derivative of each feature, and the state itself. A number
    counts as the integer that it is in units of 2^(e - 61), if all of its column are below 2^e in size: see
    ``src/kernel/leaf_sums.hpp``. Integers add up without rounding, so neither blocks nor their order matter.

    Attributes
    ----------
    schema : Schema
        That of the log.
    weighted : bool
        Whether rows have weights.
    exponents : int64 array of shape (columns,)
        The e of each column.
    words : uint64 array of shape (leaves, columns, 5)
        The sum of the integers in 128 bits and that of their squares in 192, least significant words first.
    ranges : float64 array of shape (leaves, columns, 2)
        Smallest and largest number; infinite where there is none.
    counts : int64 array of shape (leaves, 4)
        Rows, rows with a derivative, and the same by weight.
    labels : int64 array of shape (leaves, labels, 2)
        Rows with each label, and the same by weight; without labels of shape (leaves, 0, 2).
    """

    schema: Schema
    weighted: bool
    exponents: I64
    words: npt.NDArray[np.uint64]
    ranges: F64
    counts: I64
    labels: I64

    @classmethod
    def empty(
        cls,
        schema: Schema,
        scales: Scales,
        state_size: F64,
        n_leaves: int,
        *,
        value_size: float | None = None,
        weighted: bool = False,
    ) -> Self:
        """Return sums of nothing yet.

        Parameters
        ----------
        schema : Schema
            That of the log.
        scales : Scales
            Spread of action, value and derivative over the whole log: no number may be larger than it says.
        state_size : float64 array of shape (features,)
            The largest size of each feature over the whole log.
        n_leaves : int
            Leaves of the tree.
        value_size : float or None
            The largest size of a value, if values are others than those that the scales were taken from.
        weighted : bool
            Whether rows will have weights.
        """
        value = scales.value.size if value_size is None else np.array([value_size])
        sizes = (scales.action.size, value, scales.derivative.size, np.asarray(state_size, np.float64))
        return cls.sized(schema, sizes, n_leaves, weighted=weighted)

    @classmethod
    def sized(cls, schema: Schema, sizes: tuple[F64, F64, F64, F64], n_leaves: int, *, weighted: bool = False) -> Self:
        """Return sums of nothing yet; ``sizes`` are the largest of actions, value, derivatives and states."""
        discrete = schema.action.kind == "discrete"
        exponents = np.frexp(np.concatenate(sizes[1:] if discrete else sizes))[1].astype(np.int64)
        ranges = np.empty((n_leaves, len(exponents), 2))
        ranges[:] = np.inf, -np.inf
        return cls(
            schema,
            weighted,
            exponents,
            np.zeros((n_leaves, len(exponents), 5), np.uint64),
            ranges,
            np.zeros((n_leaves, 4), np.int64),
            np.zeros((n_leaves, len(schema.action.labels) if discrete else 0, 2), np.int64),
        )

    def add(
        self,
        log: Log,
        values: F64,
        leaf: npt.NDArray[np.int32],
        weighing: Weighing | None = None,
        threads: int = 1,
    ) -> None:
        """Add a log, or a part of it.

        Parameters
        ----------
        log : Log
            Whole episodes, or parts of them whose final state is the first one of the part that follows.
        values : float64 array of shape (samples,)
            Value of each sample.
        leaf : int32 array
            Leaf, counted from left to right, of each sample that counts.
        weighing : Weighing or None
            Which samples count, and how much; None: all, and the same.
        threads : int
            Threads to use.
        """
        weighing = weighing or Weighing()
        if not len(leaf):  # to the kernel, no rows would be all of them
            return
        power = BITS - self.exponents
        first = np.minimum(power, LARGEST_POWER)
        _kernel.add_to_leaves(
            **kernel_columns(log, values, weighing),
            leaf=leaf,
            factors=np.stack([np.ldexp(1.0, first), np.ldexp(1.0, power - first)], axis=1),
            words=self.words,
            ranges=self.ranges,
            counts=self.counts,
            label_counts=self.labels,
            threads=threads,
        )

    def copy(self) -> LeafSums:
        """Return the same sums, to which others may be added."""
        return replace(
            self,
            words=self.words.copy(),
            ranges=self.ranges.copy(),
            counts=self.counts.copy(),
            labels=self.labels.copy(),
        )

    def merge(self, other: LeafSums) -> None:
        """Add what was added up elsewhere for the same leaves."""
        if not np.array_equal(self.exponents, other.exponents) or self.weighted != other.weighted:
            raise ValueError("only sums of the same columns in the same units can be merged")
        _kernel.merge_leaves(
            self.words, self.ranges, self.counts, self.labels, other.words, other.ranges, other.counts, other.labels
        )

    @property
    def value_range(self) -> F64:
        """Smallest and largest value of all rows."""
        column = self.ranges[:, len(self.exponents) - 1 - 2 * len(self.schema.features)]
        return np.array([column[:, 0].min(), column[:, 1].max()])

    def by_node(self, tree: Tree) -> NodeSums:
        """Return counts, means and standard deviations at every node of the tree whose leaves these are."""
        discrete = self.schema.action.kind == "discrete"
        n_features = len(self.schema.features)
        n_actions = len(self.exponents) - 1 - 2 * n_features
        counts, labels, mean, std = _kernel.finish_leaves(
            tree.left,
            tree.leaf_nodes,
            self.exponents,
            n_actions,
            n_features,
            self.words,
            self.ranges,
            self.counts,
            self.labels,
        )
        value, end = n_actions, n_actions + 1 + n_features
        return NodeSums(
            counts=tuple(np.ascontiguousarray(column) for column in counts.T),
            labels=tuple(np.ascontiguousarray(labels[:, :, k]) for k in range(2)) if discrete else None,
            action=None if discrete else (mean[:, :value].copy(), std[:, :value].copy()),
            value=(mean[:, value].copy(), std[:, value].copy()),
            derivative=(mean[:, value + 1 : end].copy(), std[:, value + 1 :].copy()),
            state=mean[:, end:].copy(),
        )


@dataclass(frozen=True, eq=False)
class NodeSums:
    """What sums by leaf say of every node.

    Attributes
    ----------
    counts : four int64 arrays of shape (nodes,)
        Samples, samples with a derivative, and the same by weight.
    labels : two int64 arrays of shape (nodes, labels), or None
        Samples with each label, and the same by weight (discrete actions only).
    action, value, derivative : pairs of float64 arrays
        Mean and standard deviation; 0 where there is no sample. Action is None when discrete.
    state : float64 array of shape (nodes, features)
        Mean state.
    """

    counts: tuple[I64, ...]
    labels: tuple[I64, ...] | None
    action: tuple[F64, F64] | None
    value: tuple[F64, F64]
    derivative: tuple[F64, F64]
    state: F64
