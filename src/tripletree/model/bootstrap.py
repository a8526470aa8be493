"""Values of truncated episodes: what would have followed is the tree's own value of the final state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.log.derive import values
from tripletree.log.log import TRUNCATED, Log
from tripletree.tree.structure import Tree

F64 = npt.NDArray[np.float64]

TOLERANCE = 1e-13
"""Change in the leaf values, as a share of the largest, at which they count as settled."""


def settles(options: Mapping[str, Any]) -> bool:
    """Tell whether the tree's own value follows a truncated episode; without a discount, it would never settle."""
    return bool(options["truncation"] == "bootstrap" and options["gamma"] < 1)


def ends_of_truncated(log: Log) -> npt.NDArray[np.int64]:
    """Return the numbers of the truncated episodes."""
    return np.flatnonzero(log.endings == TRUNCATED)


def end_states(log: Log, episodes: npt.NDArray[np.int64]) -> F64:
    """Return the final states of episodes; where one was not recorded, the last recorded state stands in."""
    final = log.final_states[episodes]
    return np.where(np.isnan(final), log.states[log.starts[episodes + 1] - 1], final)


def settled_tail(log: Log, tree: Tree, leaf: npt.NDArray[np.int32], gamma: float, weights: F64 | None = None) -> F64:
    """Return the value that follows each episode's end, shape (episodes,): 0, or the tree's value of the final state.

    A leaf's value is the mean of ``V_t = (discounted rewards) + gamma^(steps left) v(final state)``, so it depends on
    the values of the leaves that truncated episodes end in. Iterating those is a contraction by gamma at least
    (``gamma < 1``), so it settles.

    Parameters
    ----------
    log : Log
        The training log.
    tree : Tree
        The grown structure.
    leaf : int32 array of shape (samples,)
        Leaf of each sample.
    gamma : float
        Discount factor, below 1.
    weights : float64 array of shape (samples,), or None
        How much each sample counts; None: all the same.
    """
    episodes = ends_of_truncated(log)
    tail = np.zeros(log.n_episodes)
    if not len(episodes):
        return tail
    ends, number = np.unique(tree.apply(end_states(log, episodes)), return_inverse=True)
    end_of_episode = np.zeros(log.n_episodes, np.int64)
    end_of_episode[episodes] = number
    weight = _weight_of_tail(log, episodes, gamma)
    rewards = values(log, gamma)
    unit = max(float(np.abs(rewards).max()), np.finfo(np.float64).tiny)

    rank = np.full(tree.n_leaves, -1)
    rank[ends] = np.arange(len(ends))
    mine = rank[leaf]
    inside = mine >= 0
    counted = 1.0 if weights is None else weights
    count = np.bincount(mine[inside], (counted * inside)[inside], len(ends))
    base = np.bincount(mine[inside], (rewards / unit * counted)[inside], len(ends)) / count
    # The mean weight that each of these leaves puts on each of the others, as a list of pairs.
    pulled = inside & (weight > 0)
    follower = np.repeat(end_of_episode, np.diff(log.starts))[pulled]
    pair, where = np.unique(mine[pulled] * len(ends) + follower, return_inverse=True)
    source, target = pair // len(ends), pair % len(ends)
    pull = np.bincount(where, (weight * counted)[pulled], len(pair)) / count[source]

    value = base
    while True:
        following = base + np.bincount(source, pull * value[target], len(ends))
        change = np.abs(following - value).max()
        value = following
        if change <= TOLERANCE * np.abs(value).max():
            break
    tail[episodes] = value[number] * unit
    return tail


def _weight_of_tail(log: Log, episodes: npt.NDArray[np.int64], gamma: float) -> F64:
    """Return ``gamma^(steps left)`` of each sample in the given episodes, 0 elsewhere."""
    steps = np.diff(log.starts)
    left = np.repeat(log.starts[1:], steps) - np.arange(log.n_samples)
    inside = np.zeros(log.n_episodes, bool)
    inside[episodes] = True
    return np.where(np.repeat(inside, steps), gamma ** left.astype(np.float64), 0.0)
