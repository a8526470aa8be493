"""Transitions: how a log moves from leaf to leaf of a tree, counted by sequences."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.log.log import Log
from tripletree.log.recording import Recording
from tripletree.tree.structure import Tree

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

Z95 = 1.959963984540054
"""Half width of a 95 % interval in standard deviations."""

FAIR, POOR = 0.05, 0.15
"""Excess from which a chain is called fair instead of good, and poor instead of fair."""


@dataclass(frozen=True)
class MarkovCheck:
    """How far the log departs from a chain that forgets the past.

    Attributes
    ----------
    memory : float
        Does the next leaf depend on the previous one? The share of moves that would have to go elsewhere if it did
        not (0: the present leaf says all).
    memory_chance : float
        What ``memory`` would be by chance alone, because counts are small: its mean if the previous leaves of the
        moves from each leaf were shuffled.
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

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers and the verdict as JSON types."""
        return {**asdict(self), "verdict": self.verdict}

    @property
    def verdict(self) -> str:
        """``"good"``, ``"fair"``, ``"poor"``, or ``"untested"`` when the log has nothing to test it with."""
        if not self.moves and not self.horizon:
            return "untested"
        return "good" if self.excess < FAIR else "fair" if self.excess < POOR else "poor"


UNTESTED = MarkovCheck(0.0, 0.0, 0, 0.0, 0.0, 0, 0)


@dataclass(frozen=True, eq=False)
class Transitions:
    """How a log moves from leaf to leaf of a tree, counted by sequences.

    A sequence is a maximal run of steps of one episode in one leaf (paper, "Trajectory Simulation"). The end follows
    the last sequence of a terminated episode. The last sequence of any other episode is followed by the final state's
    leaf when that is recorded and another leaf; otherwise the sequence is censored: nobody knows what followed, and
    it counts for neither probabilities nor durations.

    Attributes
    ----------
    n_leaves : int
        Leaves of the tree; as a target this number stands for the end.
    source, target : int32 arrays of shape (edges,)
        Leaves, counted from left to right; sorted by source, then target.
    count : int64 array of shape (edges,)
        Sequences in ``source`` that are followed by ``target``.
    steps : int64 array of shape (edges,)
        The sum of their lengths.
    censored, censored_steps : int64 arrays of shape (leaves,)
        Sequences without a known continuation, and the sum of their lengths.
    stays : int64 array of shape (leaves,)
        Steps of censored sequences after which the agent is known to have been in the same leaf.
    starts : int64 array of shape (leaves,)
        Episodes that begin in the leaf.
    samples : int64 array of shape (leaves,)
        Steps in the leaf.
    markov : MarkovCheck
        How well a chain that forgets the past describes the log.
    weight, weighted_steps : float64 arrays of shape (edges,), or None
        The same as ``count`` and ``steps`` with each episode as often as its weight says; the largest weight is 1.
        Episodes of weight 0 are left out of all numbers but ``samples``. None where all episodes count the same.
    weighted_stays, weighted_starts : float64 arrays of shape (leaves,), or None
        The same as ``stays`` and ``starts``.
    effective : float64 array of shape (leaves,), or None
        How many sequences of equal weight would say as much as those of each leaf (Kish): for intervals.
    """

    n_leaves: int
    source: npt.NDArray[np.int32]
    target: npt.NDArray[np.int32]
    count: npt.NDArray[np.int64]
    steps: npt.NDArray[np.int64]
    censored: npt.NDArray[np.int64]
    censored_steps: npt.NDArray[np.int64]
    stays: npt.NDArray[np.int64]
    starts: npt.NDArray[np.int64]
    samples: npt.NDArray[np.int64]
    markov: MarkovCheck = UNTESTED
    weight: F64 | None = None
    weighted_steps: F64 | None = None
    weighted_stays: F64 | None = None
    weighted_starts: F64 | None = None
    effective: F64 | None = None

    def __post_init__(self) -> None:
        for value in vars(self).values():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)

    @property
    def end(self) -> int:
        """The number that stands for the end of an episode."""
        return self.n_leaves

    @cached_property
    def sequences(self) -> I64:
        """Sequences in each leaf whose continuation is known, shape (leaves,)."""
        return _sums(self.source, self.count, self.n_leaves)

    @cached_property
    def probability(self) -> F64:
        """Share of the source's sequences that are followed by the target: P of the paper, shape (edges,)."""
        if self.weight is None:
            return self.count / self.sequences[self.source]
        return self.weight / np.bincount(self.source, self.weight, self.n_leaves)[self.source]

    @cached_property
    def duration(self) -> F64:
        """Mean length of these sequences in steps: T of the paper, shape (edges,)."""
        if self.weight is None or self.weighted_steps is None:
            return self.steps / self.count
        return self.weighted_steps / self.weight

    @cached_property
    def intervals(self) -> F64:
        """95 % interval of each probability (Wilson's), shape (edges, 2)."""
        if self.effective is None:
            return wilson(self.count, self.sequences[self.source])
        number = self.effective[self.source]
        return wilson(self.probability * number, number)

    @cached_property
    def exposure(self) -> I64:
        """Steps in each leaf of which it is known whether the next step is in the same leaf, shape (leaves,)."""
        return _sums(self.source, self.steps, self.n_leaves) + self.stays

    @cached_property
    def leave(self) -> F64:
        """Probability to leave each leaf at a step; 0 where no sequence with a known continuation is."""
        times: npt.NDArray[Any] = self.sequences
        steps: npt.NDArray[Any] = self.exposure
        if self.weight is not None and self.weighted_steps is not None and self.weighted_stays is not None:
            times = np.bincount(self.source, self.weight, self.n_leaves)
            steps = np.bincount(self.source, self.weighted_steps, self.n_leaves) + self.weighted_stays
        leave: F64 = np.divide(times, steps, out=np.zeros(self.n_leaves), where=steps > 0)
        return leave

    @property
    def beginnings(self) -> npt.NDArray[Any]:
        """Episodes that begin in each leaf, by weight where there are weights, shape (leaves,)."""
        return self.starts if self.weighted_starts is None else self.weighted_starts

    @cached_property
    def unknown(self) -> npt.NDArray[np.bool_]:
        """Leaves of which the log does not say what follows, shape (leaves,): their row of P is empty."""
        return np.equal(self.sequences, 0)

    @cached_property
    def _matrix(self) -> Any:
        from scipy.sparse import csr_array

        shape = (self.n_leaves, self.n_leaves + 1)
        return csr_array((self.probability, (self.source, self.target)), shape=shape)

    def matrix(self) -> Any:
        """Return P as a sparse CSR array of shape (leaves, leaves + 1); the last column is the end."""
        return self._matrix

    @cached_property
    def _step_matrix(self) -> Any:
        from scipy.sparse import csr_array

        move = self.probability * self.leave[self.source]
        everywhere = np.arange(self.n_leaves + 1)
        stay = np.append(1.0 - self.leave, 1.0)
        rows, columns = np.append(self.source, everywhere), np.append(self.target, everywhere)
        matrix = csr_array((np.append(move, stay), (rows, columns)), shape=(self.n_leaves + 1,) * 2)
        matrix.eliminate_zeros()
        return matrix

    def step_matrix(self) -> Any:
        """Return the chain by steps, a sparse CSR array of shape (leaves + 1, leaves + 1).

        At each step the agent leaves its leaf with the share of its known steps that were the last of a sequence, and
        then moves as P says. The end is absorbing, and so is a leaf of which the log does not say what follows.
        """
        return self._step_matrix

    @property
    def n_episodes(self) -> int:
        """Number of episodes counted."""
        return int(self.starts.sum())


def leaves_of(
    tree: Tree, log: Log | Recording, threads: int = 1
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Return the leaf of every sample, and of every episode's final state: -1 where that was not recorded."""
    final = np.full(log.n_episodes, -1, np.int32)
    known = ~np.isnan(log.final_states[:, 0])
    final[known] = tree.apply(np.ascontiguousarray(log.final_states[known]), threads)
    return tree.apply(log.states, threads), final


def wilson(count: npt.NDArray[Any], total: npt.NDArray[Any]) -> F64:
    """Return Wilson's 95 % interval of each share ``count / total``, shape (shares, 2); [0, 1] where total is 0."""
    k, n = np.broadcast_arrays(np.asarray(count, np.float64), np.asarray(total, np.float64))
    empty, n = n == 0, np.maximum(n, 1.0)
    share, z2 = k / n, Z95**2
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = Z95 * np.sqrt(share * (1 - share) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    # Of all or none the ends are exact, whatever rounding says.
    low = np.where(k == 0, 0.0, middle - half)
    high = np.where(k == n, 1.0, middle + half)
    return np.stack([np.where(empty, 0.0, low), np.where(empty, 1.0, high)], axis=-1)


def _sums(group: npt.NDArray[Any], values: npt.NDArray[np.int64], groups: int) -> I64:
    # Whole numbers below 2^53 are exact as doubles.
    return np.bincount(group, values, groups).astype(np.int64)
