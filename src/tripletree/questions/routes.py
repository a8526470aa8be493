"""Routes: a few boxes that many failures pass and few other episodes do, found on one half and counted on the other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tripletree.answers.failures import FailureRoute
from tripletree.graph.intervals import share_bounds
from tripletree.language.conditions import clauses
from tripletree.language.numbers import significant
from tripletree.leaves.boxes import node_bounds
from tripletree.log.log import Log
from tripletree.questions.risk import MOST_ROWS, bag_on, folds_of, thinned
from tripletree.tree.structure import Tree

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

TREES = 8
"""Trees whose nodes are the candidates."""
MOST = 3
"""Routes told, at most."""
MOST_BOUNDS = 3
LEAST_FAILURES = 5
"""Failures, at least, in each half."""
COVERS = 0.08
"""Share of the failures that a route must add."""
TWICE = 2.0
"""How many times more often than others those that pass must fail, in odds."""
EARLY = 0.05
"""Share of the median failure's length before the end at which passing no longer counts: that is the failure itself."""
DIGITS = 3


@dataclass(frozen=True, eq=False)
class Routes:
    """The routes, and what they were counted on."""

    routes: tuple[FailureRoute, ...]
    counted: int
    failed: int


def find_routes(log: Log, fails: Mask, seed: int = 0) -> Routes:
    """Return few boxes that cover most failures; none where each half has too few failures to tell.

    Parameters
    ----------
    log : Log
        The episodes.
    fails : bool array of shape (episodes,)
        Which of them fail.
    seed : int
        Which half the boxes are chosen on.
    """
    half = folds_of(log, fails, 2, seed) == 0
    if min(fails[half].sum(), fails[~half].sum()) < LEAST_FAILURES:
        return Routes((), int((~half).sum()), int(fails[~half].sum()))
    ends = max(round(EARLY * float(np.median(np.diff(log.starts)[fails]))), 1)
    chosen = log.select(half)
    every = -(-chosen.n_samples // MOST_ROWS)
    chosen = thinned(chosen)
    boxes = _chosen(chosen, fails[half], _early(chosen, max(ends // every, 1)), seed)
    counted, failed = log.select(~half), fails[~half]
    return Routes(_counted(counted, failed, _early(counted, ends), boxes), counted.n_episodes, int(failed.sum()))


def _chosen(log: Log, fails: Mask, early: Mask, seed: int) -> list[tuple[F64, F64]]:
    """Return the boxes, greedily: each adds most failures for the fewest other episodes."""
    episode = np.repeat(np.arange(log.n_episodes), np.diff(log.starts))
    candidates, passes = [], []
    for one in bag_on(log, fails, TREES, seed):
        lower, upper = node_bounds(one.tree, log.n_features)
        candidates += list(zip(lower, upper, strict=True))
        passes.append(_passing(one.tree, log, episode, early))
    table = np.hstack(passes)
    bad, good = int(fails.sum()), int((~fails).sum())
    covered = np.zeros(log.n_episodes, bool)
    boxes: list[tuple[F64, F64]] = []
    for _ in range(MOST):
        new = fails & ~covered
        gain = table[new].sum(axis=0) / bad
        # Failures count against others by their shares of both: a box that everybody passes gains nothing.
        score = gain - table[~fails].sum(axis=0) / good
        hits, misses = table[fails].sum(axis=0), table[~fails].sum(axis=0)
        odd = (hits + 0.5) * (good + 1) > TWICE * (misses + 0.5) * (bad + 1)
        score = np.where(odd & (gain >= COVERS), score, -np.inf)
        best = int(score.argmax())
        if not score[best] > 0:
            break
        box = _simpler(log, fails, new, early, episode, *candidates[best])
        boxes.append(box)
        covered |= _held(log, early, episode, *box)
    return boxes


def _simpler(log: Log, fails: Mask, new: Mask, early: Mask, episode: I64, lower: F64, upper: F64) -> tuple[F64, F64]:
    """Return a box with short numbers and few bounds, those that its score can spare the least."""

    def score(low: F64, high: F64) -> float:
        held = _held(log, early, episode, low, high)
        return float(held[new].sum() / fails.sum() - held[~fails].mean())

    lower = np.array([significant(number, DIGITS) for number in lower])
    upper = np.array([significant(number, DIGITS) for number in upper])
    while True:
        given = [(side, f) for side, bound in enumerate((lower, upper)) for f in np.flatnonzero(np.isfinite(bound))]
        if not given:
            return lower, upper
        tries = []
        for side, f in given:
            low, high = lower.copy(), upper.copy()
            (low, high)[side][f] = (-np.inf, np.inf)[side]
            tries.append((score(low, high), low, high))
        best = max(range(len(tries)), key=lambda k: tries[k][0])
        if len({f for _, f in given}) <= MOST_BOUNDS and tries[best][0] < score(lower, upper) - 0.005:
            return lower, upper
        if len(given) == 1:
            return lower, upper
        _, lower, upper = tries[best]


def _counted(log: Log, fails: Mask, early: Mask, boxes: list[tuple[F64, F64]]) -> tuple[FailureRoute, ...]:
    lengths = np.diff(log.starts)
    episode = np.repeat(np.arange(log.n_episodes), lengths)
    step = np.arange(log.n_samples) - log.starts[:-1][episode]
    covered = np.zeros(log.n_episodes, bool)
    routes = []
    for lower, upper in boxes:
        inside = ((log.states >= lower) & (log.states < upper)).all(axis=1) & early
        held = np.zeros(log.n_episodes, bool)
        held[episode[inside]] = True
        passing, failing = int(held.sum()), int((held & fails).sum())
        if not failing:
            continue
        share = failing / passing
        size = np.bincount(log.units, held).astype(np.float64)
        influence = (np.bincount(log.units, held & fails) - share * size) / passing
        first = np.full(log.n_episodes, log.n_samples)
        np.minimum.at(first, episode[inside], step[inside])
        routes.append(
            FailureRoute(
                when=tuple(clauses(log.schema, lower.tolist(), upper.tolist())),
                lower=lower,
                upper=upper,
                passing=passing,
                failing=failing,
                more=int((held & fails & ~covered).sum()),
                interval=share_bounds(share, influence, size),
                lead=float(np.median((lengths - first)[held & fails])),
            )
        )
        covered |= held
    return tuple(routes)


def _early(log: Log, ends: int) -> Mask:
    """Return the steps that are not among the last ones of their episode; the first one always counts."""
    lengths = np.diff(log.starts)
    left = np.repeat(log.starts[1:], lengths) - 1 - np.arange(log.n_samples)
    found: Mask = left >= ends
    found[log.starts[:-1]] = True
    return found


def _held(log: Log, early: Mask, episode: I64, lower: F64, upper: F64) -> Mask:
    """Return which episodes pass a box."""
    inside = early.copy()
    for f in np.flatnonzero(np.isfinite(lower) | np.isfinite(upper)):
        inside &= (log.states[:, f] >= lower[f]) & (log.states[:, f] < upper[f])
    held = np.zeros(log.n_episodes, bool)
    held[episode[inside]] = True
    return held


def _passing(tree: Tree, log: Log, episode: I64, early: Mask) -> Mask:
    """Return which episodes pass each node, shape (episodes, nodes)."""
    node = tree.leaf_nodes[tree.apply(log.states)]
    table = np.zeros((log.n_episodes, tree.n_nodes), bool)
    table[episode[early], node[early]] = True
    for nodes in reversed(tree.levels):
        table[:, nodes] = table[:, tree.left[nodes]] | table[:, tree.left[nodes] + 1]
    return table
