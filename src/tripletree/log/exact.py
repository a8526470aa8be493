"""Sums that are the same in any order: of high and low parts of numbers, on grids coarse enough to be exact."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
Grids = tuple[float, float]


def grids_of(n_rows: int) -> Grids:
    """Return two grids on which so many numbers of at most 1 in size add up exactly: for their high and low parts.

    What the two leave out is below 2^-50. A grid is given by a number that swallows what is finer.
    """
    bits = 52 - n_rows.bit_length()
    return 1.5 * 2.0 ** (52 - bits), 1.5 * 2.0 ** (51 - 2 * bits)


def parts_of(numbers: F64, grids: Grids) -> tuple[F64, F64]:
    """Return the high and the low parts of numbers; times whole numbers that add up to so many, they are exact, too."""
    high = (numbers + grids[0]) - grids[0]
    return high, ((numbers - high) + grids[1]) - grids[1]


def add_weights(weights: F64, starts: I64, largest: float, n_samples: int) -> F64:
    """Return the sum of the weights in each episode of a log or of a part of it, in two parts: shape (episodes, 2).

    ``largest`` is the largest weight of the whole log, and ``n_samples`` all of its steps.
    """
    parts = parts_of(np.ldexp(weights, -np.frexp(largest)[1]), grids_of(n_samples))
    return np.stack([np.add.reduceat(part, starts[:-1]) for part in parts], axis=1)


def mean_weights(sums: F64, lengths: I64, largest: float) -> F64:
    """Return the mean weight of each episode, by the sums of :func:`add_weights`."""
    mean: F64 = np.ldexp(sums.sum(axis=1) / lengths, np.frexp(largest)[1])
    return mean
