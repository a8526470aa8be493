"""Novelty: how far an episode's states are from those of all others, for failures that are too few to learn from."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tripletree.log.log import Log
from tripletree.questions.risk import folds_of, smoothed, thinned

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

USUAL = 0.999
"""Share of the other episodes' steps that are nearer to each other than what is called novel."""
FOLDS = 5
MOST_ROWS = 50_000
"""Steps that others are compared with, at most: of longer logs every k-th."""
LEAST_EPISODES = 10
"""Other episodes (or groups), at least: fewer do not show what is usual."""


def novelty(log: Log, fails: Mask, seed: int = 0) -> tuple[list[F64], float, float] | None:
    """Return the distances along failed episodes, what is usual, and the share of other episodes that pass it.

    A distance is that to the nearest state of an episode that did not fail, of another group, in standard deviations of
    the features; it is smoothed. None where too few episodes did not fail.

    Parameters
    ----------
    log : Log
        The episodes.
    fails : bool array of shape (episodes,)
        Which of them failed.
    seed : int
        Which parts of the others are compared with the rest of them.
    """
    good = log.select(~fails) if not fails.all() else log
    if fails.all() or len(np.unique(good.units)) < LEAST_EPISODES:
        return None
    spread = good.states.std(axis=0)
    scale = np.where(spread > 0, spread, 1.0)
    fold = folds_of(good, np.zeros(good.n_episodes, bool), FOLDS, seed)
    usual: list[F64] = []
    for part in range(FOLDS):
        mine = good.select(fold == part)
        far = _distances(mine.states / scale, thinned(good.select(fold != part), MOST_ROWS).states / scale)
        usual += [smoothed(far[a:b]) for a, b in zip(mine.starts[:-1], mine.starts[1:], strict=True)]
    limit = float(np.quantile(np.concatenate(usual), USUAL))
    odd = float(np.mean([(one > limit).any() for one in usual]))
    failed = []
    for e in np.flatnonzero(fails).tolist():
        others = ~fails & (log.units != log.units[e])
        states = log.states[log.starts[e] : log.starts[e + 1]] / scale
        failed.append(smoothed(_distances(states, thinned(log.select(others), MOST_ROWS).states / scale)))
    return failed, limit, odd


def _distances(states: F64, others: F64) -> F64:
    """Return how far each state is from the nearest of the others."""
    from scipy.spatial import cKDTree

    return np.asarray(cKDTree(others).query(states)[0], np.float64)
