"""Values of truncated episodes: what would have followed is the tree's own value of the final state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from tripletree.log.derive import values
from tripletree.log.exact import grids_of, parts_of
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
    end = np.full(log.n_episodes, -1)
    end[episodes] = tree.apply(end_states(log, episodes))
    rewards = values(log, gamma)
    unit = max(float(np.abs(rewards).max()), np.finfo(np.float64).tiny)
    total = log.n_samples if weights is None else int(weights.sum())
    sums = TailSums.of(log, leaf, end, rewards / unit, gamma, total, weights)
    tail[episodes] = sums.settled(tree.n_leaves)[end[episodes]] * unit
    return tail


@dataclass(eq=False)
class TailSums:
    """What the values of the leaves that truncated episodes end in depend on: of a part of a log, and more when merged.

    Sums are of high and low parts on grids coarse enough to be exact, so neither blocks nor their order matter.

    Attributes
    ----------
    leaf : int64 array
        The leaves that hold samples, from small to large.
    count : float64 array
        Samples of each, or their weight.
    base : float64 array of shape (leaves, 2)
        Sum of their values, in units, if nothing followed the end of an episode.
    pair : int64 array of shape (pairs, 2)
        A leaf, and one that episodes of its samples end in.
    pull : float64 array of shape (pairs, 2)
        Sum of ``gamma^(steps left)`` of these samples.
    """

    leaf: npt.NDArray[np.int64]
    count: F64
    base: F64
    pair: npt.NDArray[np.int64]
    pull: F64

    @classmethod
    def of(
        cls,
        log: Log,
        leaf: npt.NDArray[np.int32],
        end: npt.NDArray[np.int64],
        value: F64,
        gamma: float,
        total: int,
        weights: F64 | None = None,
        after: int = 0,
    ) -> Self:
        """Add up the samples of a log or a part of it.

        ``end`` is the leaf that each episode ends in, -1 where nothing follows; ``total`` the samples of the whole log,
        or their weight; ``after`` how many steps of the last episode follow this part.
        """
        grids = grids_of(total)
        counted = np.ones(len(leaf)) if weights is None else weights
        present, place = np.unique(leaf, return_inverse=True)
        base = [np.bincount(place, part * counted, len(present)) for part in parts_of(value, grids)]
        steps = np.diff(log.starts)
        follower = np.repeat(end, steps)
        pulled = follower >= 0
        left = np.repeat(log.starts[1:], steps) - np.arange(log.n_samples)
        left[int(log.starts[-2]) :] += after
        weight = gamma ** left[pulled].astype(np.float64)
        inside = np.flatnonzero(pulled)
        pair, where = np.unique(np.stack([leaf[inside], follower[inside]], axis=1), axis=0, return_inverse=True)
        pull = [np.bincount(where.reshape(-1), part * counted[inside], len(pair)) for part in parts_of(weight, grids)]
        return cls(
            present.astype(np.int64),
            np.bincount(place, counted, len(present)).astype(np.float64),
            np.stack(base, axis=1),
            pair.astype(np.int64).reshape(-1, 2),
            np.stack(pull, axis=1).reshape(-1, 2).astype(np.float64),
        )

    def merge(self, other: TailSums) -> None:
        """Add what was added up elsewhere."""
        leaf, place = np.unique(np.concatenate([self.leaf, other.leaf]), return_inverse=True)
        count, base = np.zeros(len(leaf)), np.zeros((len(leaf), 2))
        np.add.at(count, place, np.concatenate([self.count, other.count]))
        np.add.at(base, place, np.concatenate([self.base, other.base]))
        pair, where = np.unique(np.concatenate([self.pair, other.pair]), axis=0, return_inverse=True)
        pull = np.zeros((len(pair), 2))
        np.add.at(pull, where.reshape(-1), np.concatenate([self.pull, other.pull]))
        self.leaf, self.count, self.base, self.pair, self.pull = leaf, count, base, pair, pull

    def settled(self, n_leaves: int) -> F64:
        """Return the value of each leaf that an episode ends in, in units, and 0 elsewhere, shape (leaves,)."""
        ends = np.unique(self.pair[:, 1])
        rank, mine = np.full(n_leaves, -1), np.zeros(n_leaves)
        rank[ends] = np.arange(len(ends))
        kept = rank[self.leaf] >= 0
        count, base = np.ones(len(ends)), np.zeros(len(ends))
        count[rank[self.leaf[kept]]] = self.count[kept]
        base[rank[self.leaf[kept]]] = self.base[kept].sum(axis=1) / self.count[kept]
        inner = rank[self.pair[:, 0]] >= 0
        source, target = rank[self.pair[inner]].T
        pull = self.pull[inner].sum(axis=1) / count[source]
        value = base
        while True:
            following = base + np.bincount(source, pull * value[target], len(ends))
            change = np.abs(following - value).max(initial=0.0)
            value = following
            if change <= TOLERANCE * np.abs(value).max(initial=0.0):
                break
        mine[ends] = value
        return mine
