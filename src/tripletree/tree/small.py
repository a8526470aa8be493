"""A small tree that people can read: few leaves, round thresholds, and none that is crossed all the time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.tree.structure import Tree

I64 = npt.NDArray[np.int64]

LEAST_GAIN = 0.01
"""Share of the impurity of the whole that a split must take away."""
LEAST_SHARE = 0.03
"""Share of the samples that a leaf has at least."""


def grow_small(
    codes: I64,
    thresholds: Sequence[npt.NDArray[np.float64]],
    classes: I64,
    max_leaves: int,
    allowed: Sequence[npt.NDArray[np.bool_]] | None = None,
    least_share: float = LEAST_SHARE,
) -> Tree:
    """Return the tree that tells classes apart best, grown greedily; several columns of classes count alike.

    Parameters
    ----------
    codes : int64 array of shape (samples, features)
        How many of its feature's thresholds each number has reached.
    thresholds : sequence of float64 arrays
        Where each feature may be split.
    classes : int64 array of shape (samples, columns)
        What to tell apart, from 0 on.
    max_leaves : int
        Leaves, at most.
    allowed : sequence of bool arrays, or None
        Which of the thresholds may be used; None: all.
    least_share : float
        Share of the samples that a leaf has at least.
    """
    n = len(codes)
    least = max(int(np.ceil(least_share * n)), 1)
    sizes = [int(column.max()) + 1 for column in classes.T]
    whole = [_impurity(np.bincount(column, minlength=size)) for column, size in zip(classes.T, sizes, strict=True)]
    use = [k for k, impurity in enumerate(whole) if impurity > 0]
    feature, threshold, left, quality = [-1], [0.0], [-1], [0.0]
    # Of each leaf: its samples, and the best split (gain, feature, place).
    open_leaves: dict[int, tuple[I64, tuple[float, int, int]]] = {}

    def best_split(rows: I64) -> tuple[float, int, int]:
        best = (0.0, -1, -1)
        if len(rows) < 2 * least or not use:
            return best
        for f, ends in enumerate(thresholds):
            if not len(ends):
                continue
            code, gain = codes[rows, f], np.zeros(len(ends))
            for k in use:
                table = np.bincount(code * sizes[k] + classes[rows, k], minlength=(len(ends) + 1) * sizes[k])
                below = table.reshape(len(ends) + 1, sizes[k]).cumsum(axis=0)
                total = below[-1]
                parts = _impurity(below[:-1]) + _impurity(total - below[:-1])
                gain += (_impurity(total) - parts) / whole[k]
            fits = np.minimum(below[:-1].sum(axis=1), (total - below[:-1]).sum(axis=1)) >= least
            gain = np.where(fits if allowed is None else fits & allowed[f], gain, 0.0)
            # Of splits that are as good, the first; rounding errors do not make one better.
            if gain.max() > best[0] + 1e-9:
                best = (float(gain.max()), f, int(gain.argmax()))
        return best

    rows = np.arange(n)
    open_leaves[0] = (rows, best_split(rows))
    for _ in range(max_leaves - 1):
        node, (rows, (gain, f, place)) = max(open_leaves.items(), key=lambda one: (one[1][1][0], -one[0]))
        if gain < LEAST_GAIN * len(use) or f < 0:
            break
        del open_leaves[node]
        feature[node], threshold[node], left[node], quality[node] = f, float(thresholds[f][place]), len(feature), gain
        above = codes[rows, f] > place
        for part in (rows[~above], rows[above]):
            open_leaves[len(feature)] = (part, best_split(part))
            feature.append(-1)
            threshold.append(0.0)
            left.append(-1)
            quality.append(0.0)
    return Tree(np.array(feature, np.int32), np.array(threshold), np.array(left, np.int32), np.array(quality))


def _impurity(count: npt.NDArray[Any]) -> Any:
    """Return how many samples a random guess from among themselves would get wrong: Gini's, times their number."""
    total = count.sum(axis=-1)
    return total - (count.astype(np.float64) ** 2).sum(axis=-1) / np.maximum(total, 1)
