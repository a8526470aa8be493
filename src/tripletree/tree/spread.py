"""Mean and standard deviation of columns: the same bits for every order of the rows, at every scale."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tripletree import _kernel
from tripletree.log.exact import grids_of
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
    size : float64 array of shape (columns,)
        The largest of all numbers, without their sign.
    """

    count: int
    centre: F64
    exponent: npt.NDArray[np.int64]
    unit_mean: F64
    unit_std: F64
    unit_reach: F64
    size: F64

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


def ranges(columns: Columns, threads: int = 1) -> tuple[F64, F64]:
    """Return the smallest and largest number of each column, both 0 when no row has the attribute."""
    lowest, highest = np.full(columns.n_columns, np.inf), np.full(columns.n_columns, -np.inf)
    for _, source in columns.sources():
        _kernel.widen_ranges(source, lowest, highest, threads)
    if not (lowest <= highest).all():
        return np.zeros_like(lowest), np.zeros_like(lowest)
    return lowest, highest


def measure(columns: Columns, source: Columns | None = None, weights: F64 | None = None, threads: int = 1) -> Spread:
    """Return mean and spread of ``columns`` over the rows that have the attribute.

    Each row counts as much as its weight says, a whole number as a double; None: all the same.

    Columns that were computed from a ``source`` carry its rounding errors, so they are constant within 1e-12 of the
    size of its numbers.
    """
    units = units_of(
        *ranges(columns, threads), None if source is None else np.maximum(*map(np.abs, ranges(source, threads)))
    )
    if weights is not None:
        return add_weighted(columns, weights, units.centre, units.per_unit, int(weights.sum())).spread(units)
    count, grids = 0, grids_of(columns.n_rows)
    sums = np.zeros((columns.n_columns, 4))
    for _, part in columns.sources():
        count += _kernel.add_sums(part, units.centre, units.per_unit, grids, sums, threads)
    return finished(units, count, sums)


@dataclass(frozen=True, eq=False)
class Units:
    """The unit that each column is measured in, by its range; the first half of a `Spread`."""

    centre: F64
    exponent: npt.NDArray[np.int64]
    constant: npt.NDArray[np.bool_]
    span: F64
    size: F64

    @cached_property
    def per_unit(self) -> F64:
        """Units in 1."""
        per_unit: F64 = np.ldexp(1.0, -self.exponent)
        return per_unit


def units_of(lowest: F64, highest: F64, source_size: F64 | None = None) -> Units:
    """Return the units of columns with these ranges, computed from numbers of that size."""
    own = size = np.maximum(np.abs(lowest), np.abs(highest))
    if source_size is not None:
        size = np.maximum(size, source_size)
    constant = ~(highest - lowest > 1e-12 * size)
    span = np.where(constant, np.where(size > 0, size, 1.0), highest - lowest)
    # Below 2^-1000 the factor 2^-exponent itself would overflow; the squares are safe there all the same.
    exponent = np.maximum(np.frexp(span)[1].astype(np.int64), -1000)
    return Units(lowest / 2 + highest / 2, exponent, constant, span, own)


def finished(units: Units, count: int, sums: F64) -> Spread:
    """Return the spread that follows from sums of high and low parts of the numbers, and of their squares."""
    first, second = sums.reshape(-1, 2, 2).sum(axis=2).T / max(count, 1)
    return _spread(units, count, first, second)


@dataclass(eq=False)
class WeightedSums:
    """Weighted sums of some columns, exact: they add up in any order.

    Attributes
    ----------
    count : int
        Rows that have the attribute.
    total : float
        Their weight.
    sums : float64 array of shape (2, parts, columns)
        Of the numbers in units, and of their squares.
    """

    count: int
    total: float
    sums: F64

    def merge(self, other: WeightedSums) -> None:
        """Add what was added up elsewhere."""
        self.count, self.total, self.sums = self.count + other.count, self.total + other.total, self.sums + other.sums

    def spread(self, units: Units) -> Spread:
        """Return the spread that follows."""
        first, second = self.sums.sum(axis=1) / max(self.total, 1.0)
        return _spread(units, self.count, first, second)


def add_weighted(columns: Columns, weights: F64, centre: F64, per_unit: F64, total_weight: int) -> WeightedSums:
    """Return the weighted sums of a log or of a part of it; ``total_weight`` is that of all rows of the whole log."""
    # As without weights, but what is left for each part is less by the bits of the weights' sum: so there are more.
    bits = 52 - total_weight.bit_length()
    grids = [1.5 * 2.0 ** (52 - bits * part) for part in range(1, -(-62 // bits) + 1)]
    count, total = 0, 0.0
    sums = np.zeros((2, len(grids), columns.n_columns))
    for rows, block in columns.blocks():
        known = ~np.isnan(block[0])
        weight = weights[rows][known]
        count += len(weight)
        total += float(weight.sum())
        power = (block[:, known] - centre[:, None]) * per_unit[:, None]
        for into in sums:
            left = power
            for part, grid in zip(into, grids, strict=True):
                high = (left + grid) - grid
                # Exact in any order; a matrix product would start threads for each block.
                part += np.einsum("ij,j->i", high, weight)
                left = left - high
            power = power * power
    return WeightedSums(count, total, sums)


def _spread(units: Units, count: int, first: F64, second: F64) -> Spread:
    mean = np.where(units.constant, 0.0, first)
    return Spread(
        count=count,
        centre=units.centre,
        exponent=units.exponent,
        unit_mean=mean,
        unit_std=np.where(units.constant, 0.0, np.sqrt(np.maximum(second - first * first, 0.0))),
        unit_reach=np.where(units.constant, 0.0, units.span / 2 * units.per_unit + np.abs(mean)),
        size=units.size,
    )
