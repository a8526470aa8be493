"""The Markov check: how wrong is it to forget the past? Asked of the log that the transitions were counted on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tripletree.graph.chain import Chain, after
from tripletree.graph.transitions import Transitions
from tripletree.log.log import TERMINATED, Log

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

FAIR, POOR = 0.05, 0.15
"""Excess from which a chain is called fair instead of good, and poor instead of fair."""

_HORIZONS = (1, 2, 5, 10, 20, 50, 100, 200)
_SHUFFLES = 10
_MOST_MOVES = 20_000


@dataclass(frozen=True)
class MarkovCheck:
    """How far the log departs from a chain that forgets the past.

    Attributes
    ----------
    memory : float
        Does the next leaf depend on the previous one? The share of moves that would have to go elsewhere if it did
        not (0: the present leaf says all).
    memory_chance : float
        What ``memory`` would be by chance alone, because counts are small: the mean over shuffled logs.
    moves : int
        Moves with a known previous leaf that this is based on.
    distance : float
        How far is the prediction from the log? The share of episodes that are elsewhere, ``horizon`` steps after their
        start, than the chain says; of all horizons the worst.
    distance_chance : float
        What ``distance`` would be by chance alone, because episodes are few.
    horizon : int
        That number of steps; 0 when the log is too short to ask.
    episodes : int
        Episodes known that far.
    """

    memory: float
    memory_chance: float
    moves: int
    distance: float
    distance_chance: float
    horizon: int
    episodes: int

    @property
    def excess(self) -> float:
        """The larger of the two departures, less what chance explains."""
        return max(self.memory - self.memory_chance, self.distance - self.distance_chance, 0.0)

    @property
    def verdict(self) -> str:
        """``"good"``, ``"fair"``, ``"poor"``, or ``"untested"`` when the log has nothing to test it with."""
        if not self.moves and not self.horizon:
            return "untested"
        return "good" if self.excess < FAIR else "fair" if self.excess < POOR else "poor"


def check_markov(
    transitions: Transitions,
    leaf: npt.NDArray[np.int32],
    final: npt.NDArray[np.int32],
    log: Log,
    rng: np.random.Generator,
) -> MarkovCheck:
    """Compare the chain with the log it was counted on.

    Parameters
    ----------
    transitions : Transitions
        The counts.
    leaf, final : int32 arrays
        Leaf of each sample and of each final state (see ``leaves_of``).
    log : Log
        The log.
    rng : numpy.random.Generator
        For the shuffled logs, which say what chance alone does.
    """
    moves = _triples(transitions.n_leaves, leaf, final, log)
    known = moves.shape[1]
    if known > _MOST_MOVES:
        moves = moves[:, rng.choice(known, _MOST_MOVES, replace=False)]
    memory, chance = _memory(moves[0], moves[1], moves[2], rng) if known else (0.0, 0.0)
    return MarkovCheck(memory, chance, moves.shape[1], *_worst_distance(transitions, leaf, final, log, rng))


def _triples(n_leaves: int, leaf: npt.NDArray[np.int32], final: npt.NDArray[np.int32], log: Log) -> I64:
    """Return the leaf before, the leaf, and the place after each sequence that has both, shape (3, moves)."""
    begins = np.ones(len(leaf), np.bool_)
    np.not_equal(leaf[1:], leaf[:-1], out=begins[1:])
    begins[log.starts[:-1]] = True
    first = np.flatnonzero(begins)
    path = leaf[first].astype(np.int64)
    last = np.searchsorted(first, log.starts[1:]) - 1
    opening = np.append(0, last[:-1] + 1)
    following = np.append(path[1:], -1)
    moved = np.where((final >= 0) & (final != path[last]), final, -1)
    following[last] = np.where(log.endings == TERMINATED, n_leaves, moved)
    previous = np.append(-1, path[:-1])
    previous[opening] = -1
    both = (previous >= 0) & (following >= 0)
    return np.stack([previous[both], path[both], following[both]])


def _memory(previous: I64, here: I64, following: I64, rng: np.random.Generator) -> tuple[float, float]:
    """Return the mean distance (total variation) of next places given both leaves from those given one; and by chance.

    For the latter, which previous leaf belongs to which move is shuffled among the moves from the same leaf.
    """
    order = np.argsort(here, kind="stable")
    here, following, previous = here[order], following[order], previous[order]
    size = int(max(previous.max(), following.max())) + 1
    pair = np.unique(here * size + previous, return_inverse=True)[1]
    onward = np.unique(here * size + following, return_inverse=True)[1]
    by_pair, by_onward, by_leaf = np.bincount(pair), np.bincount(onward), np.bincount(here)

    leaf_of = np.empty(len(by_onward), np.int64)
    leaf_of[onward] = here

    def distance(pair: I64) -> float:
        cell, times = np.unique(pair * len(by_onward) + onward, return_counts=True)
        before, then = np.divmod(cell, len(by_onward))
        expected = by_pair[before] * by_onward[then] / by_leaf[leaf_of[then]]
        # Differences add up to 0 within a pair of leaves, so their positive half is the distance.
        return float(np.maximum(times - expected, 0).sum() / len(here))

    # Leaves are sorted: their numbers plus a random fraction keep them so and shuffle within.
    shuffled = [distance(pair[np.argsort(here + rng.random(len(here)))]) for _ in range(_SHUFFLES)]
    return distance(pair), float(np.mean(shuffled))


def _worst_distance(
    transitions: Transitions,
    leaf: npt.NDArray[np.int32],
    final: npt.NDArray[np.int32],
    log: Log,
    rng: np.random.Generator,
) -> tuple[float, float, int, int]:
    """Return distance, distance by chance, horizon and episodes where prediction and log differ most."""
    chain, end = Chain.of(transitions), transitions.n_leaves
    length = np.diff(log.starts)
    terminated = log.endings == TERMINATED
    worst, found = -np.inf, (0.0, 0.0, 0, 0)
    for horizon in _HORIZONS:
        # An episode that was cut off earlier is not known. To leave out many would favour the short ones.
        inside = horizon < length
        at_final = (horizon == length) & ~terminated & (final >= 0)
        known = inside | at_final | (terminated & (horizon >= length))
        if np.count_nonzero(known) < 0.9 * len(known) or (terminated & (horizon >= length)).all():
            break
        place = np.full(len(length), end)
        place[inside] = leaf[log.starts[:-1][inside] + horizon]
        place[at_final] = final[at_final]
        start = np.bincount(leaf[log.starts[:-1][known]], minlength=end + 1) / np.count_nonzero(known)
        predicted = after(chain, start, horizon)
        episodes = int(np.count_nonzero(known))
        observed = np.bincount(place[known], minlength=end + 1) / episodes
        drawn = rng.multinomial(episodes, predicted / predicted.sum(), _SHUFFLES) / episodes
        chance = float(np.abs(drawn - predicted).sum(axis=1).mean() / 2)
        distance = float(np.abs(observed - predicted).sum() / 2)
        if distance - chance > worst:
            worst, found = distance - chance, (distance, chance, horizon, episodes)
    return found
