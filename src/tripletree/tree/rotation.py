"""Fewer target columns where a log has many more features than samples: a rotation changes no gain."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

WORTHWHILE = 4
"""Columns for each sample from which on a rotation is worth its rounding errors."""


def rotated(columns: npt.NDArray[np.int32]) -> tuple[npt.NDArray[np.float64], int]:
    """Return as many columns as there are rows, with the same inner products of rows, and by how many bits to shorten.

    A gain is made of squared lengths of sums of rows, so only inner products count; n rows never need more than n
    columns. With 10 samples and 100,000 features this is the difference between milliseconds and minutes. After
    division by 2 to the power of the bits, entries stay within 2^23.

    Inner products are exact, because the sum of all squares stays below 2^61. From them Cholesky's method takes one
    column after the other, number by number, so that the result is the same on every machine.
    """
    long = columns.astype(np.int64)
    left = (long @ long.T).astype(np.float64)
    found = np.zeros_like(left)
    nothing = 2.0**-48 * left.diagonal().max(initial=0.0)
    for k in range(len(left)):
        if left[k, k] > nothing:
            found[:, k] = left[:, k] / math.sqrt(left[k, k])
            found[:k, k] = 0.0
            left -= found[:, k, None] * found[None, :, k]
    return found, max(0, math.frexp(float(np.abs(found).max(initial=0.0)))[1] - 23)
