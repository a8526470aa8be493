"""Histogram mode: edges between the bins of each feature, chosen before growth by one rule, in memory and on disk.

A log of up to 2^18 samples is looked at whole, of a longer one a fixed sample of its rows. A feature with at most as
many values as there are bins, over the whole log, has a bin for each of them. Other features have bins of about equally
many samples, and a value that repeats a lot has one of its own (`src/kernel/edges.hpp`; `tests/reference/edges.py` is
the definition). Nothing depends on how a log is divided, only on its rows and their order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tripletree import _kernel

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

SAMPLE = 2**18
"""Rows that bins are chosen by. At 1,024 bins, each has 256 of them, so that bins are as even as 6 %."""


@dataclass(frozen=True, eq=False)
class Edges:
    """Edges between the bins of each feature; a value equal to one belongs to the bin above it.

    Attributes
    ----------
    numbers : float64 array
        Those of the first feature from small to large, then those of the next.
    first : int64 array of shape (features + 1,)
        Where those of each feature begin.
    """

    numbers: F64
    first: I64

    @classmethod
    def joined(cls, parts: Sequence[Edges]) -> Edges:
        """Return the edges of all features, some after the other."""
        numbers = np.concatenate([part.numbers for part in parts])
        return cls(numbers, np.append(0, np.cumsum(np.concatenate([part.bins - 1 for part in parts]))))

    @property
    def bins(self) -> I64:
        """Number of bins of each feature."""
        return np.diff(self.first) + 1


def find_edges(states: F64, bins: int, thresholds: str = "short", threads: int = 1) -> Edges:
    """Return the edges for states in memory."""
    n = len(states)
    if n <= SAMPLE:
        return choose_edges(states, (), bins, thresholds, threads)
    ordered = _kernel.sort_columns(states[sampled(0, n, n)], threads)
    more = [
        np.empty(0) if values is None else unknown(column, values)
        for column, values in zip(states.T, _few(ordered, bins), strict=True)
    ]
    return _choose(ordered, more, bins, thresholds, threads)


def sampled(start: int, stop: int, total: int) -> I64:
    """Return which of the rows from ``start`` to ``stop`` of a log of ``total`` rows count, from ``start`` on.

    >>> sampled(0, 3, 100).tolist(), sampled(100, 103, 10**6).tolist()
    ([0, 1, 2], [2])
    """
    if total <= SAMPLE:
        return np.arange(stop - start)
    # The finaliser of splitmix64: no pattern in the log can meet one in these numbers.
    bits = np.arange(start + 1, stop + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    bits ^= bits >> np.uint64(31)
    return np.flatnonzero(bits < np.uint64(SAMPLE * 2**64 // total))


def few_values(sample: F64, bins: int) -> list[F64 | None]:
    """Return the values of each feature in the sample, from small to large; None where there are more than bins."""
    return _few(_kernel.sort_columns(sample, 1), bins)


def _few(ordered: F64, bins: int) -> list[F64 | None]:
    """Return the same of columns that are sorted already, each of them a row."""
    found: list[F64 | None] = []
    for numbers in ordered:
        first = np.append(True, numbers[1:] != numbers[:-1])
        found.append(numbers[first] if np.count_nonzero(first) <= bins else None)
    return found


def unknown(column: F64, known: F64) -> F64:
    """Return the values of a column that are not among those known, from small to large."""
    return _kernel.other_values(column, known)


def choose_edges(sample: F64, more: Sequence[F64], bins: int, thresholds: str, threads: int = 1) -> Edges:
    """Return the edges by a sample of rows and, for features with few values in it, the other values of the log."""
    return _choose(_kernel.sort_columns(sample, threads), more, bins, thresholds, threads)


def _choose(ordered: F64, more: Sequence[F64], bins: int, thresholds: str, threads: int) -> Edges:
    """Return the edges by sorted columns, each of them a row; these are changed."""
    counts = np.full(len(ordered), ordered.shape[1])
    for f, values in enumerate(_few(ordered, bins)):
        if values is None:
            continue
        every = np.union1d(values, more[f]) if len(more) else values
        if len(every) <= bins:
            counts[f] = len(every)
            if len(every) > ordered.shape[1]:  # more bins than rows
                ordered = np.pad(ordered, ((0, 0), (0, len(every) - ordered.shape[1])))
            ordered[f, : len(every)] = every
    return Edges(*_kernel.choose_edges(ordered, counts, bins, thresholds == "midpoint", threads))
