"""Risk: how likely an episode is to fail from each of its states, as trees say that have not seen the episode.

The trees are grown on whether the episode of a state failed. They come in bags, one for each part of the episodes,
grown on random choices of the others: so they know nothing of those that they are asked about.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tripletree.errors import TripleTreeWarning
from tripletree.log.log import Log
from tripletree.log.schema import NO_ACTION, Action
from tripletree.log.switches import rows_of
from tripletree.model.evaluate import judge
from tripletree.model.fit import describe_grown, grow_settled
from tripletree.model.fitted import Fitted
from tripletree.tree.grow import encode
from tripletree.tree.plain import grow_marked
from tripletree.tree.structure import Tree

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
Progress = Callable[[int, int], None]

FOLDS = 5
TREES = 24
"""Trees of a bag; there is one for each fold."""
LEAVES = 64
LEAST_STEPS = 20
"""Steps of a leaf, at least."""
SHRINK = 0.3
"""Episodes that the node above counts for: a leaf with few of its own says much the same as the node above it."""
MOST_ROWS = 50_000
"""Steps that trees are grown on, at most: of longer logs every k-th. Neighbouring steps of an episode say the same."""
WINDOW = 9
"""Steps of the running median: one step in another leaf is no turn."""
TOLD_LEAVES = 32
"""Leaves of the tree that sentences are about."""
ENOUGH = 0.95
"""Share of what more leaves could gain on episodes left out that is enough: a sentence must not be about noise."""

OPTIONS: dict[str, Any] = {
    "max_leaves": LEAVES,
    "theta": (0.0, 1.0, 0.0),
    "gamma": 1.0,
    "priority": "gain",
    "mode": "histogram",
    "bins": 255,
    "thresholds": "short",
    "derivative_scale": "sigma",
    "truncation": "paper",
    "min_samples_leaf": LEAST_STEPS,
    "max_depth": None,
    "min_quality": 0.0,
    "early_stopping": False,
    "leaf_model": "mean",
    "leaf_features": None,
    "costs": None,
    "keep": "nothing",
    "threads": 1,
    "progress": None,
}
"""How trees of the risk are grown."""


class RiskTree(NamedTuple):
    """A tree, and the share that fails from each of its leaves."""

    tree: Tree
    share: F64

    def at(self, states: F64) -> F64:
        """Return the risk in each state."""
        return self.share[self.tree.apply(np.ascontiguousarray(states))]


@dataclass(frozen=True, eq=False)
class Risk:
    """The risk along all episodes.

    Attributes
    ----------
    curve : float64 array of shape (samples,)
        The risk in each state: the mean over the trees of the bag that has not seen its episode.
    fold : int64 array of shape (episodes,)
        Which bag that is.
    base : float64 array of shape (samples,)
        The share of failures among the episodes that the bag was grown on: what one would say without looking.
    bags : tuple of tuples of RiskTree
        One for each fold.
    """

    curve: F64
    fold: I64
    base: F64
    bags: tuple[tuple[RiskTree, ...], ...]

    def members(self, log: Log, episode: int) -> F64:
        """Return what each tree of its bag says along an episode, shape (trees, steps)."""
        states = log.states[log.starts[episode] : log.starts[episode + 1]]
        return np.stack([one.at(states) for one in self.bags[self.fold[episode]]])

    def at(self, episode: int, states: F64) -> F64:
        """Return the risk of other states, as the bag says that has not seen this episode."""
        return np.asarray(np.mean([one.at(states) for one in self.bags[self.fold[episode]]], axis=0))


def folds_of(log: Log, fails: Mask, folds: int = FOLDS, seed: int = 0) -> I64:
    """Return a fold for each episode: groups stay whole, and every fold has its share of the groups with failures."""
    units = int(log.units.max()) + 1
    failing = np.bincount(log.units, fails, units) > 0
    order = np.lexsort((np.random.default_rng(seed).permutation(units), failing))
    fold = np.empty(units, np.int64)
    fold[order] = np.arange(units) % folds
    return fold[log.units]


def find_risk(
    log: Log, fails: Mask, *, folds: int = FOLDS, trees: int = TREES, seed: int = 0, progress: Progress | None = None
) -> Risk:
    """Return the risk along all episodes of a log; some must fail, and some must not, in every choice of folds but one.

    Parameters
    ----------
    log : Log
        The episodes.
    fails : bool array of shape (episodes,)
        Which of them fail.
    folds, trees : int
        Parts of the episodes that are left out in turn, and trees for each.
    seed : int
        Which parts, and which choices.
    progress : callable, optional
        Called with the trees done and wanted.
    """
    fold = folds_of(log, fails, folds, seed)
    some = thinned(bare(log, fails))
    codes = encode(some, OPTIONS["mode"], OPTIONS["bins"], 1)
    curve, base = np.empty(log.n_samples), np.empty(log.n_samples)
    bags = []
    for part in range(folds):
        random = np.random.default_rng([seed, part])
        others, mine = np.flatnonzero(fold != part), rows_of(log, np.flatnonzero(fold == part))
        bag = []
        for number in range(trees):
            bag.append(_grown(some, codes, fails, _drawn(log.units, others, random)))
            if progress is not None:
                progress(part * trees + number + 1, folds * trees)
        states = np.ascontiguousarray(log.states[mine])
        curve[mine] = np.mean([one.at(states) for one in bag], axis=0)
        base[mine] = fails[others].mean()
        bags.append(tuple(bag))
    return Risk(curve, fold, base, tuple(bags))


def _grown(log: Log, codes: Any, fails: Mask, times: F64) -> RiskTree:
    """Return a tree of the risk; ``times`` says how often each episode counts."""
    lengths = np.diff(log.starts)
    weights = np.repeat(times / lengths, lengths)
    failed = np.repeat(fails, lengths).astype(np.float64)
    tree, node = grow_marked(log, codes, failed, weights, LEAVES, LEAST_STEPS)
    # Where trees are parted, every episode weighs the same. What fails is counted by steps: a weight that depends on
    # how long an episode will last would favour the outcome that ends it soon.
    steps = np.repeat(times, lengths)
    totals = [np.bincount(node, part, tree.n_nodes).astype(np.float64) for part in (weights, steps, failed * steps)]
    for total in totals:
        tree.add_up(total)
    mass, visits, hits = totals
    share = hits / np.maximum(visits, 1.0)
    told = share.copy()
    for nodes in tree.levels:
        for child in (tree.left[nodes], tree.left[nodes] + 1):
            told[child] = told[nodes] + (share[child] - share[nodes]) * mass[child] / (mass[child] + SHRINK)
    return RiskTree(tree, told[tree.leaf_nodes])


def bag_on(log: Log, fails: Mask, trees: int, seed: int) -> list[RiskTree]:
    """Return trees of the risk, each grown on a random choice of a log's episodes."""
    some = thinned(bare(log, fails))
    codes = encode(some, OPTIONS["mode"], OPTIONS["bins"], 1)
    random = np.random.default_rng(seed)
    return [_grown(some, codes, fails, _drawn(log.units, np.arange(log.n_episodes), random)) for _ in range(trees)]


def told_tree(log: Log, fails: Mask, episodes: I64) -> Fitted:
    """Return one tree of the risk, which is its value, grown on some episodes: for reasons and counterfactuals."""
    some = thinned(bare(log, fails).select(episodes))
    options = {**OPTIONS, "max_leaves": TOLD_LEAVES}
    aside = folds_of(some, fails[episodes], 3) == 0
    if aside.all() or not aside.any():
        return modelled(some, options)
    curve = judge(modelled(some.select(~aside), options), some.select(aside), 1)[:, 1]
    enough = int((curve <= curve[0] - ENOUGH * (curve[0] - curve.min())).argmax()) + 1
    return modelled(some, {**options, "max_leaves": max(enough, 2)})


def modelled(log: Log, options: dict[str, Any]) -> Fitted:
    """Return a tree without what a model file needs beside it."""
    with warnings.catch_warnings():
        # Of what a user could do nothing about, such as constant features.
        warnings.simplefilter("ignore", TripleTreeWarning)
        codes = encode(log, options["mode"], options["bins"], 1)
        return describe_grown(log, grow_settled(log, codes, options, 1), options)


def bare(log: Log, fails: Mask) -> Log:
    """Return a log without actions and weights, whose rewards say at the end of each episode whether it failed."""
    rewards = np.zeros(log.n_samples)
    rewards[log.starts[1:] - 1] = fails
    schema = replace(log.schema, action=Action("discrete", labels=(NO_ACTION,)), has_action=False, has_reward=True)
    return replace(log, rewards=rewards, actions=np.zeros(log.n_samples, np.int32), schema=schema, weights=None)


def thinned(log: Log, most: int = MOST_ROWS) -> Log:
    """Return a log with every k-th step of its episodes, counted from their ends, which tell most."""
    every = -(-log.n_samples // most)
    if every <= 1:
        return log
    lengths = np.diff(log.starts)
    left = np.repeat(log.starts[1:], lengths) - 1 - np.arange(log.n_samples)
    rows = np.flatnonzero(left % every == 0)
    parts = {name: getattr(log, name)[rows] for name in ("states", "actions", "rewards")}
    starts = np.append(0, np.cumsum(-(-lengths // every)))
    return replace(log, **parts, starts=starts, dt=None if log.dt is None else log.dt[rows], weights=None)


def _drawn(units: I64, episodes: I64, random: np.random.Generator) -> F64:
    """Return how often each episode counts, when as many groups are drawn as there are among some episodes."""
    among = np.unique(units[episodes])
    times = np.bincount(random.choice(among, len(among)), minlength=int(units.max()) + 1)
    found = np.zeros(len(units))
    found[episodes] = times[units[episodes]]
    return found


def smoothed(curve: F64, window: int = WINDOW) -> F64:
    """Return the running median of one curve or several, shape (..., steps); the ends are repeated."""
    from scipy.ndimage import median_filter

    found: F64 = median_filter(curve, size=(1,) * (curve.ndim - 1) + (window,), mode="nearest")
    return found


def turn(curve: F64, level: float) -> int:
    """Return the step from which on a curve stays at a level or above it; the number of steps where it ends below."""
    below = np.flatnonzero(curve < level)
    return int(below[-1]) + 1 if len(below) else 0
