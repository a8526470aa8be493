"""Whether the grid that targets are rounded to tells the usual samples apart, or an outlier has set its scale."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tripletree import _kernel
from tripletree.tree.columns import Columns

F64 = npt.NDArray[np.float64]

LIMB = 2.0**22
"""How much finer the grid becomes when targets are kept in two integers in place of one."""

ENOUGH = 2.0**12
"""Steps of the grid that the middle of a column should span. A tree has fewer leaves along one column."""

LONG = 2**20
"""From so many rows on, memory counts more than time: no column is copied."""

ALIKE = 2.0**-20
"""Numbers that differ by less than this share of their size are alike: an action that tanh brings to its limit."""


def middle_spans(columns: Columns, wanted: npt.NDArray[np.int64], per_unit: F64, threads: int = 1) -> F64:
    """Return the range of the middle seven eighths of some columns, each in its unit.

    Where the middle is all alike, half as many rows are left out at either end, then a quarter, until some differ: a
    column that is nearly always 0, or an action that is nearly always at its limit, is as wide as what it is otherwise.
    """
    pairs = zip(wanted.tolist(), per_unit[wanted].tolist(), strict=True)
    return np.array([_middle_span(_ranked(columns, k, threads), unit) for k, unit in pairs])


def _ranked(columns: Columns, column: int, threads: int) -> _Copied | _Counted:
    return _Copied(columns.column(column)) if columns.n_rows < LONG else _Counted(columns, column, threads)


def _middle_span(numbers: _Copied | _Counted, unit: float) -> float:
    last = numbers.count - 1
    outer = min(-(-numbers.count // 16), last // 2)
    while True:
        low, high = numbers.at(outer, last - outer)
        span = high * unit - low * unit
        if span > ALIKE * unit * max(abs(low), abs(high)) or not outer:
            return span
        outer //= 2


class _Copied:
    """The numbers of a column by their rank, without those that are missing."""

    def __init__(self, numbers: F64) -> None:
        # NumPy sorts with vectors, but does not look for two ranks with them: that takes twice as long, and for a
        # column that is nearly always 0 ten times.
        self._numbers = np.sort(numbers)
        self.count = int(np.searchsorted(self._numbers, np.nan))  # what is missing comes last

    def at(self, *ranks: int) -> list[float]:
        """Return the numbers that so many of the others come before."""
        return [float(self._numbers[rank]) for rank in ranks]


class _Counted:
    """The same of a long column, which is as large as a log's rewards, and neither copied nor sorted.

    Numbers are counted by the first 16 bits of what orders them, those that agree in these by the next 16, and so on.
    """

    def __init__(self, columns: Columns, column: int, threads: int) -> None:
        self._columns, self._column, self._threads = columns, column, threads
        self._known: dict[tuple[int, int], npt.NDArray[np.int64]] = {}
        self.count = int(self._until(0, 0)[-1])

    def at(self, *ranks: int) -> list[float]:
        """Return the numbers that so many of the others come before."""
        return [self._at(rank) for rank in ranks]

    def _at(self, rank: int) -> float:
        key = 0
        for done in range(0, 64, 16):
            until = self._until(key, done)
            digit = int(np.searchsorted(until, rank, side="right"))
            rank -= int(until[digit - 1]) if digit else 0
            key = key << 16 | digit
        bits = key ^ (1 << 63) if key >> 63 else key ^ (2**64 - 1)
        return float(np.uint64(bits).view(np.float64))

    def _until(self, prefix: int, done: int) -> npt.NDArray[np.int64]:
        """Return how many numbers there are up to each next 16 bits, of those that begin with ``prefix``."""
        if (prefix, done) not in self._known:
            counts = np.zeros(2**16, np.int64)
            for _, source in self._columns.sources():
                _kernel.count_keys(source, self._column, prefix, done, counts, self._threads)
            self._known[prefix, done] = np.cumsum(counts)
        return self._known[prefix, done]
