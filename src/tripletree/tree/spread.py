"""Mean and standard deviation of columns: the same bits for every order of the rows, at every scale."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tripletree import _kernel
from tripletree.tree.columns import Columns

F64 = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Spread:
    """Mean and standard deviation of columns, kept in units of each column's range so that no square overflows.

    A column whose values all lie within 1e-12 of their size counts as constant: its standard deviation is 0.

    Attributes
    ----------
    count : int
        Rows that have the attribute.
    centre : float64 array of shape (columns,)
        Middle of the range.
    exponent : int array of shape (columns,)
        ``2**exponent`` is the unit of what follows, a little more than the range.
    unit_mean, unit_std, unit_reach : float64 arrays of shape (columns,)
        Mean relative to the centre, standard deviation, and largest distance from the mean, in that unit.
    """

    count: int
    centre: F64
    exponent: npt.NDArray[np.int64]
    unit_mean: F64
    unit_std: F64
    unit_reach: F64

    @cached_property
    def mean(self) -> F64:
        """Mean of each column."""
        return self.centre + np.ldexp(self.unit_mean, self.exponent)

    @cached_property
    def std(self) -> F64:
        """Population standard deviation of each column."""
        return np.ldexp(self.unit_std, self.exponent)

    @cached_property
    def per_unit(self) -> F64:
        """Units in 1."""
        per_unit: F64 = np.ldexp(1.0, -self.exponent)
        return per_unit


def ranges(columns: Columns) -> tuple[F64, F64]:
    """Return the smallest and largest number of each column, both 0 when no row has the attribute."""
    lowest, highest = np.full(columns.n_columns, np.inf), np.full(columns.n_columns, -np.inf)
    for _, block in columns.blocks():
        _kernel.widen_ranges(block, lowest, highest)
    if not (lowest <= highest).all():
        return np.zeros_like(lowest), np.zeros_like(lowest)
    return lowest, highest


def measure(columns: Columns, source: Columns | None = None, weights: F64 | None = None) -> Spread:
    """Return mean and spread of ``columns`` over the rows that have the attribute.

    Each row counts as much as its weight says, a whole number as a double; None: all the same.

    Columns that were computed from a ``source`` carry its rounding errors, so they are constant within 1e-12 of the
    size of its numbers.
    """
    lowest, highest = ranges(columns)
    size = np.maximum(np.abs(lowest), np.abs(highest))
    if source is not None:
        size = np.maximum(size, np.maximum(*map(np.abs, ranges(source))))
    constant = ~(highest - lowest > 1e-12 * size)
    centre = lowest / 2 + highest / 2
    span = np.where(constant, np.where(size > 0, size, 1.0), highest - lowest)
    # Below 2^-1000 the factor 2^-exponent itself would overflow; the squares are safe there all the same.
    exponent = np.maximum(np.frexp(span)[1].astype(np.int64), -1000)
    per_unit = np.ldexp(1.0, -exponent)
    if weights is not None:
        count, first, second = _weighted_means(columns, weights, centre, per_unit)
        return _spread(count, centre, exponent, first, second, constant, span)
    # Sums of a high and a low part of each number (at most 1 in size), on grids that are coarse enough for n_rows exact
    # additions; what the two leave out is below 2^-50. A grid is given by a number that swallows what is finer.
    bits = 52 - columns.n_rows.bit_length()
    grids = 1.5 * 2.0 ** (52 - bits), 1.5 * 2.0 ** (51 - 2 * bits)
    count = 0
    sums = np.zeros((columns.n_columns, 4))  # high and low parts of the numbers, of their squares
    for _, block in columns.blocks():
        count += _kernel.add_sums(block, centre, per_unit, grids, sums)
    first, second = sums.reshape(-1, 2, 2).sum(axis=2).T / max(count, 1)
    return _spread(count, centre, exponent, first, second, constant, span)


def _weighted_means(columns: Columns, weights: F64, centre: F64, per_unit: F64) -> tuple[int, F64, F64]:
    """Return how many rows have the attribute, and the weighted means of the numbers in units, and of their squares."""
    # As above, but what is left for each part is less by the bits of the weights' sum: so there are more parts.
    bits = 52 - int(weights.sum()).bit_length()
    grids = [1.5 * 2.0 ** (52 - bits * part) for part in range(1, -(-62 // bits) + 1)]
    count, total = 0, 0.0
    sums = np.zeros((2, len(grids), columns.n_columns))
    for rows, block in columns.blocks():
        known = ~np.isnan(block[0])
        weight = weights[rows][known]
        count += len(weight)
        total += weight.sum()
        power = (block[:, known] - centre[:, None]) * per_unit[:, None]
        for into in sums:
            left = power
            for part, grid in zip(into, grids, strict=True):
                high = (left + grid) - grid
                part += high @ weight
                left = left - high
            power = power * power
    first, second = sums.sum(axis=1) / max(total, 1.0)
    return count, first, second


def _spread(
    count: int,
    centre: F64,
    exponent: npt.NDArray[np.int64],
    first: F64,
    second: F64,
    constant: npt.NDArray[np.bool_],
    span: F64,
) -> Spread:
    mean = np.where(constant, 0.0, first)
    return Spread(
        count=count,
        centre=centre,
        exponent=exponent,
        unit_mean=mean,
        unit_std=np.where(constant, 0.0, np.sqrt(np.maximum(second - first * first, 0.0))),
        unit_reach=np.where(constant, 0.0, span / 2 * np.ldexp(1.0, -exponent) + np.abs(mean)),
    )
