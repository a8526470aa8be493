"""Whole random episodes of a long log, where an answer needs no more of it."""

from __future__ import annotations

import numpy as np

from tripletree.log.log import Log


def some_episodes(log: Log, steps: int) -> Log:
    """Return a log itself, or of a longer one random episodes with so many steps at most, in its order; at least one.

    The same log always gives the same episodes.
    """
    if log.n_samples <= steps:
        return log
    order = np.random.default_rng(0).permutation(log.n_episodes)
    enough = np.cumsum(np.diff(log.starts)[order]) <= steps
    enough[0] = True
    return log if enough.all() else log.select(np.sort(order[enough]))
