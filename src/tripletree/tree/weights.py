"""Weights of steps, rounded once to whole numbers: all sums are exact, and trees do not depend on threads or order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.errors import LogError
from tripletree.text import count, plural
from tripletree.tree.columns import Columns

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

LARGEST = 2**20
"""The largest weight on the grid: the kernel has room for it beside a target of 24 bits."""
TOTAL = 2**36 - 1
"""The largest sum of all of them."""
ALIKE = 1e-9
"""Of the largest weight: closer to multiples of one number, weights are taken for them: 0.2 and 0.3 for 2 and 3."""


@dataclass(frozen=True, eq=False)
class Weighing:
    """Which steps of a log count, and how much.

    Attributes
    ----------
    rows : int64 array, or None
        The steps that count; None: all of them.
    counts : int64 array of their shape, or None
        How much each of these counts, from 1 on; None: all the same.
    notes : tuple of str
        What rounding has lost, if it matters.
    """

    rows: I64 | None = None
    counts: I64 | None = None
    notes: tuple[str, ...] = ()

    def take(self, column: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the rows of a column or a matrix that count."""
        return column if self.rows is None else np.ascontiguousarray(column[self.rows])

    def columns(self, columns: Columns) -> Columns:
        """Return the same columns with only the rows that count."""
        return columns if self.rows is None else columns.where(self.rows)

    def everywhere(self, n_samples: int) -> F64 | None:
        """Return how much each sample counts, 0 included; None where all count the same."""
        if self.rows is None:
            return self.numbers
        weights = np.zeros(n_samples)
        weights[self.rows] = 1.0 if self.numbers is None else self.numbers
        return weights

    @cached_property
    def numbers(self) -> F64 | None:
        """The counts as doubles."""
        return None if self.counts is None else self.counts.astype(np.float64)

    @cached_property
    def given(self) -> F64:
        """The counts as doubles for the kernel, which takes an empty array for None."""
        return np.empty(0) if self.numbers is None else self.numbers


@dataclass(frozen=True)
class Grid:
    """How weights become whole numbers: as shares of the largest one, times a factor, or divided by a common divisor.

    Attributes
    ----------
    largest : float
        The largest weight.
    divisor : float or None
        What all shares are multiples of, if there is such a number.
    factor : float
        What they are multiplied by, if there is none.
    """

    largest: float
    divisor: float | None
    factor: float = 1.0

    def whole(self, weights: F64) -> F64:
        """Return weights as whole numbers; 0 for what does not count."""
        share = weights / self.largest
        whole: F64 = np.rint(share * self.factor if self.divisor is None else share / self.divisor)
        return whole

    @property
    def least(self) -> int:
        """What is lighter than the heaviest by more than this does not count."""
        return round(2 * self.factor)


@dataclass(frozen=True, eq=False)
class Census:
    """The weights of a log, or of a part of it: how many there are, the largest, and which there are, unless too many.

    Attributes
    ----------
    number : int
        Steps that weigh something.
    largest : float
        The largest weight.
    distinct, often : float64 and int64 arrays, or None
        The weights above 0, from small to large, and how often each is there; None where there are too many for all of
        them to be whole numbers up to 2^20.
    """

    number: int
    largest: float
    distinct: F64 | None
    often: I64 | None

    @classmethod
    def of(cls, weights: F64) -> Census:
        """Count the weights of some steps."""
        kept = weights[weights > 0]
        distinct, often = np.unique(kept, return_counts=True)
        return cls(len(kept), float(kept.max(initial=0.0)), distinct, often).limited()

    def limited(self) -> Census:
        """Return the same without the weights one by one, if they are too many."""
        if self.distinct is None or len(self.distinct) <= LARGEST:
            return self
        return Census(self.number, self.largest, None, None)

    def merge(self, other: Census) -> Census:
        """Return what both have together."""
        number, largest = self.number + other.number, max(self.largest, other.largest)
        if self.distinct is None or self.often is None or other.distinct is None or other.often is None:
            return Census(number, largest, None, None)
        distinct, place = np.unique(np.concatenate([self.distinct, other.distinct]), return_inverse=True)
        often = np.zeros(len(distinct), np.int64)
        np.add.at(often, place, np.concatenate([self.often, other.often]))
        return Census(number, largest, distinct, often).limited()

    def grid(self, in_steps: Callable[[], int]) -> Grid:
        """Return how the weights are rounded.

        Whole numbers up to 2^20 stay what they are, and so do multiples of them; others are scaled so that the largest
        is 2^20, or less where a log is so long that the sum would pass 2^36. ``in_steps`` returns the sum of all
        weights in steps of 2^-20 of the largest, each rounded up: it is asked for only where it is needed.
        """
        if not self.number:
            raise LogError("All steps of this log have the weight 0, so that nothing would count.")
        divisor = self._divisor()
        if divisor is not None:
            return Grid(self.largest, divisor)
        if self.number > TOTAL // 2:
            raise LogError(
                f"{self.number:,} steps with weights are too many to be added up exactly: at most {TOTAL // 2:,}, or "
                "weights that are small whole numbers."
            )
        return Grid(self.largest, None, min(float(LARGEST), LARGEST * (TOTAL - self.number) / in_steps()))

    def _divisor(self) -> float | None:
        """Return what all shares of the largest are multiples of, if their sum then is not too large; else None."""
        if self.distinct is None or self.often is None:
            return None
        given = self.distinct / self.largest
        unit = 1.0
        for share in given.tolist():
            # Euclid's algorithm; what is left of equal numbers may be their rounding errors.
            rest = share
            while rest > ALIKE:
                unit, rest = rest, abs(unit - rest * round(unit / rest))
            if unit * LARGEST < 1:
                return None
        whole = np.rint(given / unit)
        exact = (np.abs(given - whole * unit) <= ALIKE).all() and (whole > 0).all()
        return unit if exact and whole @ self.often <= TOTAL else None


def steps_of(weights: F64, largest: float) -> int:
    """Return the sum of weights in steps of 2^-20 of the largest, each rounded up."""
    return int(np.ceil(weights / largest * LARGEST).astype(np.int64).sum())


def weigh(weights: F64 | None) -> Weighing:
    """Round the weights of a log's steps (see `Census.grid`).

    What rounds to 0 does not count. Weights that are all the same are none.
    """
    if weights is None:
        return Weighing()
    census = Census.of(weights)
    grid = census.grid(lambda: steps_of(weights, census.largest))
    whole = grid.whole(weights)
    counts = whole > 0
    lost = census.number - int(np.count_nonzero(counts))
    rows = None if counts.all() else np.flatnonzero(counts)
    if rows is not None:
        whole = whole[rows]
    return Weighing(rows, None if (whole == whole[0]).all() else whole.astype(np.int64), lost_note(lost, grid))


def lost_note(lost: int, grid: Grid) -> tuple[str, ...]:
    """Return what rounding has lost: so many steps that weigh something."""
    if not lost:
        return ()
    them = f"{count(lost, 'step weighs', 'steps weigh')} less than a {grid.least:,}th of the heaviest one"
    return (f"{them}: {plural(lost, 'it does', 'they do')} not count.",)
