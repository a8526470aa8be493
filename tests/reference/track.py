"""What a model keeps of a feature: the bins of its values, and their numbers as differences, in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.model.track import BINS, FEWEST_CUTS

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]


def packed(states: F64, finals: F64, cuts: F64) -> tuple[F64, bytes]:
    """Return what the bins of a feature are decoded as, and the planes of its codes."""
    # The smallest and the largest state are exact, and beyond them there are only final states.
    ends = np.array([states.min(), states.max()])
    column = np.concatenate([states, finals]) + 0.0
    first, decoded = _divide(column, np.unique(np.concatenate([cuts, ends, np.nextafter(ends, np.inf)])))
    kind = np.dtype("u1" if len(first) <= 256 else "<u2" if len(first) <= 256**2 else "<u4")
    return decoded, _differences(np.searchsorted(first, column, side="right") - 1, kind)


def _divide(column: F64, cuts: F64) -> tuple[F64, F64]:
    """Return the smallest value of each bin, and the value that its samples are decoded as: their median."""
    value, count = np.unique(column, return_counts=True)
    side = np.searchsorted(cuts, value, side="right")
    begins = np.flatnonzero(np.append(True, side[1:] != side[:-1]))
    until = np.append(0, np.cumsum(count))
    most = max(BINS, len(begins) + FEWEST_CUTS)
    if len(value) <= most:
        return value, value
    shares = most - len(begins)
    # Half of it by samples, half by distance: where an agent is seldom, its way must not become a staircase.
    weight = np.cumsum(count / len(column) + np.diff(value, prepend=value[0]) / (value[-1] - value[0]))
    place = np.searchsorted(weight, np.arange(1, shares + 1) * (weight[-1] / (shares + 1)), side="right")
    # A value with several shares, such as a limit that is often reached, has a bin of its own: the next one ends it.
    place[1:] += place[1:] == place[:-1]
    begins = np.union1d(begins, np.minimum(place, len(value) - 1))
    middle = (until[begins] + until[np.append(begins[1:], len(value))]) // 2
    return value[begins], value[np.searchsorted(until[1:], middle, side="right")]


def _differences(codes: I64, dtype: np.dtype[Any]) -> bytes:
    """Return the difference of each code from the one before, modulo the type's range: its lowest bytes first."""
    differences = np.append(codes[:1], np.diff(codes)).astype(dtype)
    return differences.view(np.uint8).reshape(-1, dtype.itemsize).T.tobytes()
