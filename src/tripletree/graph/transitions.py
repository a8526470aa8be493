"""Transitions: how a log moves from leaf to leaf of a tree, counted by sequences."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tripletree.log.log import TERMINATED, Log
from tripletree.log.recording import Recording
from tripletree.tree.structure import Tree

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

Z95 = 1.959963984540054
"""Half width of a 95 % interval in standard deviations."""

_TABLE = 4_000_000


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


UNKNOWN = -1
"""What follows a sequence when nobody knows what followed."""


class Sequences(NamedTuple):
    """The sequences of a log: maximal runs of steps of one episode in one leaf.

    Attributes
    ----------
    first : int64 array of shape (sequences,)
        The sample at which each begins.
    leaf, following : int32 arrays of shape (sequences,)
        Its leaf, and the leaf that follows: the number of leaves for the end, UNKNOWN where nobody knows.
    last : int64 array of shape (episodes,)
        The last sequence of each episode.
    """

    first: I64
    leaf: npt.NDArray[np.int32]
    following: npt.NDArray[np.int32]
    last: I64


def find_sequences(
    n_leaves: int, leaf: npt.NDArray[np.int32], final: npt.NDArray[np.int32], log: Log | Recording
) -> Sequences:
    """Return the sequences of samples that lie in ``leaf`` and of episodes whose final states lie in ``final``."""
    begins = np.empty(len(leaf), np.bool_)
    np.not_equal(leaf[1:], leaf[:-1], out=begins[1:])
    begins[log.starts[:-1]] = True
    first = np.flatnonzero(begins)
    source = leaf[first]
    following = np.append(source[1:], np.int32(UNKNOWN))
    last = np.searchsorted(first, log.starts[1:]) - 1
    moved = np.where((final >= 0) & (final != source[last]), final, UNKNOWN)
    following[last] = np.where(log.endings == TERMINATED, n_leaves, moved)
    return Sequences(first, source, following, last)


def number_pairs(key: npt.NDArray[np.int64], n_leaves: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the pairs of a leaf and what follows it that there are, in order, and the number of each key's own."""
    if n_leaves * (n_leaves + 1) > _TABLE:
        pairs, number = np.unique(key, return_inverse=True)
        return pairs, number
    # Few leaves: a table of all pairs is faster than sorting.
    pairs = np.flatnonzero(np.bincount(key))
    place = np.empty(pairs[-1] + 1 if len(pairs) else 0, np.int64)
    place[pairs] = np.arange(len(pairs))
    return pairs, place[key]


def count_sequences(
    n_leaves: int, leaf: npt.NDArray[np.int32], final: npt.NDArray[np.int32], log: Log | Recording
) -> Transitions:
    """Count the transitions of samples that lie in ``leaf`` and of episodes whose final states lie in ``final``."""
    first, source, target, last = find_sequences(n_leaves, leaf, final, log)
    length = np.diff(first, append=len(leaf))
    samples = np.bincount(leaf, minlength=n_leaves).astype(np.int64)
    begins = leaf[log.starts[:-1]]
    rests = last[(target[last] == UNKNOWN) & (final >= 0)]
    weight = log.episode_weights
    if weight is not None and (weight[0] != weight).any():
        weight = weight / weight.max()
        each = weight[np.repeat(np.arange(len(last)), np.diff(last, prepend=-1))]
        counts = each > 0
        begins, start = begins[weight > 0], weight[weight > 0]
        rests = rests[each[rests] > 0]
    else:
        weight, each, counts = None, np.ones(0), np.ones(len(target), bool)
    known = (target != UNKNOWN) & counts
    key = source[known].astype(np.int64) * (n_leaves + 1) + target[known]
    edges, edge = number_pairs(key, n_leaves)
    unknown = (target == UNKNOWN) & counts
    lost, lost_length = source[unknown], length[unknown]
    weighted: dict[str, Any] = {}
    if weight is not None:

        def added(group: npt.NDArray[Any], numbers: F64, groups: int) -> F64:
            return np.bincount(group, numbers, groups).astype(np.float64)

        mine, total = each[known], added(source[known], each[known], n_leaves)
        squares = added(source[known], mine * mine, n_leaves)
        weighted = {
            "weight": added(edge, mine, len(edges)),
            "weighted_steps": added(edge, mine * length[known], len(edges)),
            "weighted_stays": added(lost, each[unknown] * (lost_length - 1), n_leaves)
            + added(source[rests], each[rests], n_leaves),
            "weighted_starts": added(begins, start, n_leaves),
            "effective": np.divide(total * total, squares, out=np.zeros(n_leaves), where=squares > 0),
        }
    return Transitions(
        n_leaves=n_leaves,
        source=(edges // (n_leaves + 1)).astype(np.int32),
        target=(edges % (n_leaves + 1)).astype(np.int32),
        count=np.bincount(edge, minlength=len(edges)).astype(np.int64),
        steps=_sums(edge, length[known], len(edges)),
        censored=np.bincount(lost, minlength=n_leaves).astype(np.int64),
        censored_steps=_sums(lost, lost_length, n_leaves),
        stays=_sums(lost, lost_length - 1, n_leaves) + np.bincount(source[rests], minlength=n_leaves),
        starts=np.bincount(begins, minlength=n_leaves).astype(np.int64),
        samples=samples,
        **weighted,
    )


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
