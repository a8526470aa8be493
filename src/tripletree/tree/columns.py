"""Reads the target columns of a log (action, value, derivative) in blocks of rows that stay in the cache."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tripletree.log.derive import derivatives
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
    """

    n_rows: int
    n_columns: int
    read: Callable[[int, int], F64]

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

        return Columns(len(rows), self.n_columns, read)


def state_columns(log: Log) -> Columns:
    """Return the features themselves."""
    return Columns(log.n_samples, log.n_features, lambda a, b: log.states[a:b].T)


def action_columns(log: Log, points: F64 | None = None) -> Columns:
    """Return the dimensions of a continuous action, or a 0/1 column for each label of a discrete one.

    With ``points``, of shape (labels, columns), a discrete action is the point of its label.
    """
    if points is not None:
        across = np.ascontiguousarray(points.T)
        return Columns(log.n_samples, len(across), lambda a, b: across[:, log.actions[a:b]])
    if log.schema.action.kind == "continuous":
        return Columns(log.n_samples, log.actions.shape[1], lambda a, b: log.actions[a:b].T)
    labels = np.arange(len(log.schema.action.labels), dtype=np.int32)[:, None]
    return Columns(log.n_samples, len(labels), lambda a, b: (labels == log.actions[a:b]).astype(np.float64))


def value_column(values: F64) -> Columns:
    """Return the value as the only column."""
    return Columns(len(values), 1, lambda a, b: values[None, a:b])


def derivative_columns(log: Log) -> Columns:
    """Return the derivative of every feature, NaN in the rows that have no successor."""
    return Columns(log.n_samples, log.n_features, lambda a, b: derivatives(log, a, b).T)
