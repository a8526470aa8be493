"""Weights of steps, rounded once to whole numbers: all sums are exact, and trees do not depend on threads or order."""

from __future__ import annotations

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


def weigh(weights: F64 | None) -> Weighing:
    """Round the weights of a log's steps.

    Whole numbers up to 2^20 stay what they are, and so do multiples of them; others are scaled so that the largest is
    2^20, or less where a log is so long that the sum would pass 2^36. What rounds to 0 does not count. Weights that are
    all the same are none.
    """
    if weights is None:
        return Weighing()
    kept = np.flatnonzero(weights > 0)
    if not len(kept):
        raise LogError("All steps of this log have the weight 0, so that nothing would count.")
    given = weights[kept] / weights[kept].max()
    whole = _as_whole(given)
    lost, share = 0, 1.0
    if whole is None:
        share = min(LARGEST, (TOTAL - len(kept)) / float(given.sum()))
        whole = np.rint(given * share)
        lost = int(np.count_nonzero(whole == 0))
        kept, whole = kept[whole > 0], whole[whole > 0]
    rows = None if len(kept) == len(weights) else kept
    counts = None if (whole == whole[0]).all() else whole.astype(np.int64)
    if not lost:
        return Weighing(rows, counts)
    them = f"{count(lost, 'step weighs', 'steps weigh')} less than a {round(2 * share):,}th of the heaviest one"
    return Weighing(rows, counts, (f"{them}: {plural(lost, 'it does', 'they do')} not count.",))


def _as_whole(given: F64) -> F64 | None:
    """Return weights of at most 1 as whole numbers, if that is what they are but for a common factor; else None."""
    unit = 1.0
    for weight in np.unique(given).tolist():
        # Euclid's algorithm; what is left of equal numbers may be their rounding errors.
        rest = weight
        while rest > ALIKE:
            unit, rest = rest, abs(unit - rest * round(unit / rest))
        if unit * LARGEST < 1:
            return None
    whole: F64 = np.rint(given / unit)
    exact = (np.abs(given - whole * unit) <= ALIKE).all() and (whole > 0).all()
    return whole if exact and whole.sum() <= TOTAL else None
