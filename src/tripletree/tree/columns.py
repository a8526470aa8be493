"""Reads the target columns of a log (action, value, derivative): in blocks that stay in the cache, or in the kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tripletree import _kernel
from tripletree.log.derive import derivative, derivatives
from tripletree.log.log import Log

F64 = npt.NDArray[np.float64]

BLOCK = 2**15
"""Numbers read at a time: they stay in the processor's cache."""


@dataclass(frozen=True)
class Columns:
    """Some columns of a log, read a few rows at a time.

    Attributes
    ----------
    n_rows, n_columns : int
        Their shape.
    read : function of (start, stop)
        Returns those rows as an array of shape (columns, rows), in either order of memory; a row that lacks the
        attribute is NaN in all of them.
    one : function of the number of a column, or None
        Returns all rows of that column; None where they are read in blocks.
    whole : function, or None
        Returns what the kernel can read all of them from by itself; None where it must be handed blocks.
    """

    n_rows: int
    n_columns: int
    read: Callable[[int, int], F64]
    one: Callable[[int], F64] | None = None
    whole: Callable[[], _kernel.Source] | None = None

    def column(self, k: int) -> F64:
        """Return all rows of one column."""
        if self.one is not None:
            return self.one(k)
        return np.concatenate([block[k] for _, block in self.blocks()])

    def sources(self) -> Iterator[tuple[slice, _kernel.Source]]:
        """Iterate over all rows as the kernel reads them: in one piece, if it can."""
        if self.whole is not None:
            yield slice(0, self.n_rows), self.whole()
            return
        for rows, block in self.blocks():
            yield rows, _kernel.Source(block)

    def blocks(self, at_least: int = 64) -> Iterator[tuple[slice, F64]]:
        """Iterate over all rows: a slice of rows and its columns, ``at_least`` so many rows at a time."""
        step = max(at_least, BLOCK // max(self.n_columns, 1))
        for start in range(0, self.n_rows, step):
            rows = slice(start, min(start + step, self.n_rows))
            yield rows, self.read(rows.start, rows.stop)

    def where(self, rows: npt.NDArray[np.int64]) -> Columns:
        """Return some rows only; their numbers ascend."""

        def read(start: int, stop: int) -> F64:
            first = int(rows[start])
            return self.read(first, int(rows[stop - 1]) + 1)[:, rows[start:stop] - first]

        return Columns(len(rows), self.n_columns, read, lambda k: self.column(k)[rows])


def matrix_columns(numbers: F64) -> Columns:
    """Return the columns of an array."""
    return Columns(
        numbers.shape[0],
        numbers.shape[1],
        lambda a, b: numbers[a:b].T,
        lambda k: np.ascontiguousarray(numbers[:, k]),
        lambda: _kernel.Source(numbers.T),
    )


def state_columns(log: Log) -> Columns:
    """Return the features themselves."""
    return matrix_columns(log.states)


def action_columns(log: Log, points: F64 | None = None) -> Columns:
    """Return the dimensions of a continuous action, or a 0/1 column for each label of a discrete one.

    With ``points``, of shape (labels, columns), a discrete action is the point of its label.
    """
    if points is not None:
        across = np.ascontiguousarray(points.T)
        return Columns(
            log.n_samples, len(across), lambda a, b: across[:, log.actions[a:b]], lambda k: across[k, log.actions]
        )
    if log.schema.action.kind == "continuous":
        return matrix_columns(log.actions)
    labels = np.arange(len(log.schema.action.labels), dtype=np.int32)[:, None]
    return Columns(
        log.n_samples,
        len(labels),
        lambda a, b: (labels == log.actions[a:b]).astype(np.float64),
        lambda k: (log.actions == k).astype(np.float64),
    )


def value_column(values: F64) -> Columns:
    """Return the value as the only column."""
    return matrix_columns(values[:, None])


def derivative_columns(log: Log) -> Columns:
    """Return the derivative of every feature, NaN in the rows that have no successor."""

    def whole() -> _kernel.Source:
        dt = np.empty(0) if log.dt is None else log.dt
        return _kernel.Source(log.states, log.starts, log.final_states, np.array(log.schema.periods, np.float64), dt)

    return Columns(
        log.n_samples, log.n_features, lambda a, b: derivatives(log, a, b).T, lambda k: derivative(log, k), whole
    )
