"""One pass over a matrix, in blocks of rows that fit the cache: fill it from columns, and look at its values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tripletree.log.tidy import Array

BLOCK = 8192


@dataclass(frozen=True)
class Survey:
    """What each column of a matrix holds; NaN and infinite values count as bad and are left out of the rest."""

    bad_count: npt.NDArray[np.int64]
    bad_row: npt.NDArray[np.int64]  # the first bad row, 0 if none
    low: npt.NDArray[np.float64]
    high: npt.NDArray[np.float64]
    integral: npt.NDArray[np.bool_]


def fill(columns: Sequence[Array], order: npt.NDArray[np.int64] | None) -> npt.NDArray[np.float64]:
    """Return the columns, their rows in ``order``, as one C-contiguous matrix."""
    n = len(columns[0])
    out = np.empty((n, len(columns)))
    # Row blocks: writing a whole column at a time would touch every cache line of the matrix once a column.
    for begin in range(0, n, BLOCK):
        rows = slice(begin, begin + BLOCK)
        take = rows if order is None else order[rows]
        for f, column in enumerate(columns):
            out[rows, f] = column[take]
    return out


def survey(matrix: npt.NDArray[np.float64]) -> Survey:
    """Return what the columns of a matrix hold."""
    d = matrix.shape[1]
    bad_count = np.zeros(d, np.int64)
    bad_row = np.zeros(d, np.int64)
    low, high = np.full(d, np.inf), np.full(d, -np.inf)
    integral = np.ones(d, bool)
    for begin in range(0, len(matrix), BLOCK):
        block = matrix[begin : begin + BLOCK]
        finite = np.isfinite(block)
        if not finite.all():
            count = (~finite).sum(axis=0)
            new = (count > 0) & (bad_count == 0)
            bad_row[new] = begin + (~finite).argmax(axis=0)[new]
            bad_count += count
            low = np.minimum(low, np.where(finite, block, np.inf).min(axis=0))
            high = np.maximum(high, np.where(finite, block, -np.inf).max(axis=0))
            block = np.where(finite, block, 0.0)
        else:
            low = np.minimum(low, block.min(axis=0))
            high = np.maximum(high, block.max(axis=0))
        # Once a column is known to hold fractions there is no need to look again.
        integral[integral] = (block[:, integral] == np.floor(block[:, integral])).all(axis=0)
    empty = low > high
    low[empty] = high[empty] = 0.0
    return Survey(bad_count, bad_row, low, high, integral)
