"""Predicts columns by bagged trees that were grown on other episodes: quick, rough, and at ease with sharp borders."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tripletree import _kernel

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

BINS = 64
LEAVES, DEPTH = 150, 30
OF_A_LEAF = 10
"""Rows that a leaf has on average, where that gives more leaves."""
SHARE = 0.7
"""Of the other folds' episodes, what each tree sees."""
GRID = 2.0**14
"""Steps of the grid that targets are rounded to, from zero to the largest."""
SPARE_LANES, LANES = 4, 8
"""Lanes that the kernel needs beyond the targets; rows have a multiple of eight."""


def forest(columns: F64, targets: F64, fold: I64, episode: I64, trees: int, least: int, seed: int) -> F64:
    """Return what trees that were grown on other folds say of each row.

    Parameters
    ----------
    columns : float64 array of shape (rows, columns)
        What trees split on.
    targets : float64 array of shape (rows, targets)
        What they predict.
    fold, episode : int64 arrays of shape (rows,)
        The fold of each row, that of its episode, and the episode.
    trees : int
        Trees for each fold; each sees 7 of 10 episodes, drawn without the fold.
    least : int
        Rows that a leaf has at least.
    seed : int
        Of the episodes drawn.
    """
    rng = np.random.default_rng(seed)
    scale = GRID / max(float(np.abs(targets).max()), 1e-300)
    lanes = np.zeros((len(targets), -(-(targets.shape[1] + SPARE_LANES) // LANES) * LANES), np.int32)
    lanes[:, : targets.shape[1]] = np.rint(targets * scale)
    predicted = np.zeros_like(targets)
    # Feature after feature, as the kernel has them; trees of some rows take theirs.
    codes = _kernel.encode(np.ascontiguousarray(columns), BINS, 1).T
    for k in range(int(fold.max()) + 1):
        test, others = np.flatnonzero(fold == k), np.unique(episode[fold != k])
        if not len(test) or not len(others):
            continue
        asked = np.ascontiguousarray(columns[test])
        for _ in range(trees):
            drawn = np.zeros(int(episode.max()) + 1, bool)
            drawn[rng.permutation(others)[: max(int(SHARE * len(others)), 1)]] = True
            rows = np.flatnonzero(drawn[episode])
            predicted[test] += _tree(columns[rows], codes[:, rows].T, lanes[rows], targets[rows], asked, least)
    return predicted / trees


def _tree(
    columns: F64,
    codes: npt.NDArray[np.uint32],
    lanes: npt.NDArray[np.int32],
    targets: F64,
    asked: F64,
    least: int,
) -> F64:
    """Return the means of the leaves that rows fall in."""
    feature, threshold, left, _, node = _kernel.grow(
        columns,
        codes,
        lanes,
        n_plain=targets.shape[1],
        n_derivative=0,
        max_leaves=min(max(LEAVES, len(columns) // OF_A_LEAF), len(columns)),
        max_depth=DEPTH,
        min_samples_leaf=min(least, len(columns)),
        min_gain=0.0,
        by_gain=True,
        midpoint=True,
        threads=1,
        progress=None,
    )
    count = np.maximum(np.bincount(node, minlength=len(feature)), 1)
    means = np.stack([np.bincount(node, column, len(feature)) for column in targets.T], axis=1) / count[:, None]
    leaves = np.flatnonzero(feature < 0)
    number = np.full(len(feature), -1, np.int32)
    number[leaves] = np.arange(len(leaves))
    found: F64 = means[leaves][_kernel.apply(asked, feature, threshold, left, number, 1)]
    return found
