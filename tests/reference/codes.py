"""Which values of a feature count as equal: dense codes in the order of the values."""

from __future__ import annotations

import numpy as np

SHARE = 2.0**-31
"""Of the range of the middle samples: what rounding errors of values near 0 may amount to."""

OWN_SHARE = 2.0**-50
"""Of a value itself: a few units in its last place."""


def tolerance(column: np.ndarray) -> float:
    """Return 2^-31 of the range of the middle seven eighths of the samples; of more of them where those are alike."""
    ordered, last = np.sort(column), len(column) - 1
    outer = min(-(-len(column) // 16), last // 2)
    while outer and ordered[outer] == ordered[last - outer]:
        outer //= 2
    return float(ordered[last - outer] * SHARE - ordered[outer] * SHARE)


def codes(states: np.ndarray) -> np.ndarray:
    """Go through the values in order: each shares the code of the first before it that it is close enough to.

    Close enough is the tolerance of the feature, or 2^-50 of that first value's size if that is more.
    """
    out = np.zeros(states.shape, np.uint32)
    for f in range(states.shape[1]):
        column = states[:, f]
        near = tolerance(column)
        present = np.unique(column).tolist()
        first, code = present[0], {present[0]: 0}
        number = 0
        for here in present:
            if here - first > max(near, OWN_SHARE * abs(first)):
                first, number = here, number + 1
            code[here] = number
        out[:, f] = [code[x] for x in column.tolist()]
    return out


def dense(codes: np.ndarray) -> np.ndarray:
    """Renumber any integer codes 0, 1, 2, ... feature by feature, keeping their order."""
    return np.stack([np.unique(column, return_inverse=True)[1] for column in codes.T], axis=1).astype(np.uint32)
