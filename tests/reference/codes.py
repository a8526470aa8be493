"""Which values of a feature count as equal: dense codes in the order of the values."""

from __future__ import annotations

import numpy as np

EQUAL = 1e-9


def codes(states: np.ndarray) -> np.ndarray:
    """Give neighbours in sorted order the same code when they are closer than 1e-9 of the feature's range."""
    out = np.zeros(states.shape, np.uint32)
    for f in range(states.shape[1]):
        # An exact power of two keeps the range of the largest doubles finite and changes nothing else.
        column = states[:, f] * 0.25 if np.abs(states[:, f]).max() > 1e300 else states[:, f]
        present = np.unique(column)
        tolerance = EQUAL * (present[-1] - present[0])
        code = {present[0]: 0}
        for before, here in zip(present[:-1].tolist(), present[1:].tolist(), strict=True):
            code[here] = code[before] + (here - before > tolerance)
        out[:, f] = [code[x] for x in column.tolist()]
    return out


def dense(codes: np.ndarray) -> np.ndarray:
    """Renumber any integer codes 0, 1, 2, ... feature by feature, keeping their order."""
    return np.stack([np.unique(column, return_inverse=True)[1] for column in codes.T], axis=1).astype(np.uint32)
