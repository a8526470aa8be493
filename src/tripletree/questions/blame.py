"""Blame: whether the agent acted as it does not when all is well, or the world answered as it does not.

Both are compared with a reference log, where that can be done. The agent: is the state one that the reference knows,
and what was done in it not? The world: does the state change otherwise than after the same action in such states? So
what the agent does cannot be laid at the world's door, and what follows from either in unknown states counts for
neither. What is usual is measured on reference episodes that are left out in turn.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tripletree.log.derive import derivatives
from tripletree.log.log import Log
from tripletree.questions.risk import folds_of

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

FOLDS = 2
NEAREST = 8
"""Reference steps that a step is compared with."""
KNOWN_STATE, KNOWN_PAIR = 0.99, 0.95
"""Shares of unseen reference steps whose state, or state with action, counts as known."""
ACTING, ANSWERING = (5, 15, 45), (10, 30, 90)
"""Steps of a stretch that counts, of the agent and of the world: a slip, and something that lasts."""
FURTHEST = 3.0
"""More surprise than this in one step counts no more: one step is not a stretch."""
SMALL = 0.1
"""Of a column's spread: differences from the neighbours below this are no surprise."""
MOST_ROWS = 40_000
"""Steps of the reference, at most: of longer ones some episodes, drawn at random."""
LEAST_EPISODES = 10
"""Reference episodes (or groups), at least."""
ENOUGH_EPISODES = 100
"""Reference episodes that are kept however long they are."""
BEGINNINGS = 3
"""How often each reference episode is looked at, with different ends."""
USUAL = 0.95


class Blame(NamedTuple):
    """How unlike the reference some episodes are, shape (episodes,): 1 is what 5 % of its own episodes reach."""

    policy: F64
    world: F64

    def cause(self, episode: int) -> str:
        """Return who is to blame; the world first, for an odd action does not make its answers odd."""
        if self.world[episode] >= 1:
            return "world"
        return "policy" if self.policy[episode] >= 1 else "neither"


@dataclass(frozen=True, eq=False)
class _Memory:
    """Steps of a reference log, to find those that are like others."""

    states: Any
    pairs: Any
    change: F64
    scale: F64
    small: F64

    def compare(self, log: Log) -> tuple[F64, F64, F64]:
        """Return how far states and pairs are from the nearest, and how far from the neighbours' what follows is."""
        states, pairs = _scaled(log, self.scale)
        far, near = self.pairs.query(pairs, NEAREST)
        followed = self.change[near]
        error = derivatives(log) - followed.mean(axis=1)
        error /= np.sqrt(followed.var(axis=1) + self.small**2)
        # After the last step nothing is known, and nothing is surprising.
        error = np.clip(np.where(np.isnan(error), 0.0, error), -FURTHEST, FURTHEST)
        return self.states.query(states)[0], far[:, 0], error


def blame(log: Log, until: I64, reference: Log, seed: int = 0) -> Blame | None:
    """Return how unlike a reference the beginnings of episodes are; None where it is too short, or has no actions.

    Parameters
    ----------
    log : Log
        The episodes.
    until : int64 array of shape (episodes,)
        The steps of each that count: what comes after things went wrong is a consequence.
    reference : Log
        Episodes in which all was well; none of them is among the others.
    seed : int
        How the reference is divided.
    """
    if len(np.unique(reference.units)) < LEAST_EPISODES or not log.schema.has_action:
        return None
    reference = _some(reference, seed)
    fold = folds_of(reference, np.zeros(reference.n_episodes, bool), FOLDS, seed)
    memories = [_memory(reference.select(fold != part)) for part in range(FOLDS)]
    unseen = [reference.select(fold == part) for part in range(FOLDS)]
    usual = [memory.compare(part) for memory, part in zip(memories, unseen, strict=True)]
    ours = [memory.compare(log) for memory in memories]
    state, pair = (
        float(np.quantile(np.concatenate([one[kind] for one in usual]), share))
        for kind, share in ((0, KNOWN_STATE), (1, KNOWN_PAIR))
    )
    random = np.random.default_rng(seed)
    spans = [_alike(part, until, random) for part in unseen]
    found = []
    for stretches, reading in ((ACTING, _acting), (ANSWERING, _answering)):
        mine = np.full((FOLDS, log.n_episodes), -np.inf)
        for stretch in stretches:
            seen = [
                _highest(*reading(one, state, pair), *span, stretch) for one, span in zip(usual, spans, strict=True)
            ]
            middle, high = np.quantile(np.concatenate(seen), (0.5, USUAL), axis=0)
            reach = np.maximum(high - middle, 1e-9)
            top = max(float(np.quantile(((np.concatenate(seen) - middle) / reach).max(axis=1), USUAL)), 1e-9)
            for part, one in enumerate(ours):
                beyond = (_highest(*reading(one, state, pair), log.starts, until, stretch) - middle) / reach
                mine[part] = np.maximum(mine[part], beyond.max(axis=1) / top)
        found.append(mine.mean(axis=0))
    return Blame(*found)


def _alike(log: Log, until: I64, random: np.random.Generator) -> tuple[I64, I64]:
    """Return beginnings of episodes as long as those that are looked at: where they start, and how long they are.

    The longer one looks, the larger is the largest stretch. Each episode begins several times, with other lengths.
    """
    lengths = np.tile(np.diff(log.starts), BEGINNINGS)
    starts = np.append(np.tile(log.starts[:-1], BEGINNINGS), log.starts[-1])
    return starts, np.minimum(lengths, random.choice(until, len(lengths)))


def _acting(found: tuple[F64, F64, F64], state: float, pair: float) -> tuple[F64, Mask]:
    """Return how odd what is done is: in a state that is known, and not together with what is done."""
    odd = np.clip(found[1] / max(pair, 1e-12) - 1.0, 0.0, FURTHEST)
    return (odd * (found[0] <= state))[:, None], np.ones(len(odd), bool)


def _answering(found: tuple[F64, F64, F64], _: float, pair: float) -> tuple[F64, Mask]:
    """Return how odd what follows is, and where the state and what is done are known together."""
    return found[2], found[1] <= pair


def _highest(steps: F64, counts: Mask, starts: I64, until: I64, stretch: int) -> F64:
    """Return the largest mean of a stretch of the steps that count, by episode and column.

    An episode that is shorter counts as if nothing had followed.
    """
    found = np.zeros((len(starts) - 1, steps.shape[1]))
    for e in range(len(found)):
        rows = slice(int(starts[e]), int(starts[e]) + max(int(until[e]), 1))
        mine = steps[rows][counts[rows]]
        if not len(mine):
            continue
        size = min(stretch, len(mine))
        total = np.vstack([np.zeros(steps.shape[1]), np.cumsum(mine, axis=0)])
        found[e] = np.abs(total[size:] - total[:-size]).max(axis=0) / stretch
    return found


def _some(log: Log, seed: int) -> Log:
    """Return as many episodes as have enough steps; but so many that one in twenty is a few."""
    order = np.random.default_rng(seed).permutation(log.n_episodes)
    steps = np.cumsum(np.diff(log.starts)[order])
    number = max(int(np.searchsorted(steps, MOST_ROWS)), ENOUGH_EPISODES)
    return log if number >= log.n_episodes else log.select(np.sort(order[:number]))


def _memory(log: Log) -> _Memory:
    from scipy.spatial import cKDTree

    change = derivatives(log)
    known = np.flatnonzero(~np.isnan(change[:, 0]))
    known = known[:: -(-len(known) // MOST_ROWS)]
    columns = np.hstack([log.states, _done(log)])
    spread = columns.std(axis=0)
    scale = np.where(spread > 0, spread, 1.0)
    states, pairs = _scaled(log, scale)
    wide = change[known].std(axis=0)
    small = np.where(wide > 0, SMALL * wide, 1.0)
    return _Memory(cKDTree(states[known]), cKDTree(pairs[known]), change[known], scale, small)


def _scaled(log: Log, scale: F64) -> tuple[F64, F64]:
    columns = np.hstack([log.states, _done(log)]) / scale
    return np.ascontiguousarray(columns[:, : log.n_features]), columns


def _done(log: Log) -> F64:
    """Return what is done as numbers: 0 or 1 for each label, or one for each dimension."""
    if log.schema.action.kind == "continuous":
        return np.asarray(log.actions, np.float64)
    return np.asarray(log.actions[:, None] == np.arange(len(log.schema.action.labels)), np.float64)
