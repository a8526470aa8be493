"""How a log moves from leaf to leaf, counted: of a log or of a part of it, and what parts add up to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tripletree.graph.transitions import Transitions
from tripletree.log.exact import grids_of, parts_of
from tripletree.log.log import TERMINATED, Log
from tripletree.log.recording import Recording
from tripletree.tree.weights import ALIKE

F64 = npt.NDArray[np.float64]
I32 = npt.NDArray[np.int32]
I64 = npt.NDArray[np.int64]

UNKNOWN = -1
"""What follows a sequence when nobody knows what followed."""
NOWHERE = np.empty(0, np.int32)
_TABLE = 4_000_000


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
    leaf: I32
    following: I32
    last: I64


def find_sequences(n_leaves: int, leaf: I32, final: I32, log: Log | Recording) -> Sequences:
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


def number_pairs(key: I64, n_leaves: int) -> tuple[I64, I64]:
    """Return the pairs of a leaf and what follows it that there are, in order, and the number of each key's own."""
    if n_leaves * (n_leaves + 1) > _TABLE:
        pairs, number = np.unique(key, return_inverse=True)
        return pairs, number
    # Few leaves: a table of all pairs is faster than sorting.
    pairs = np.flatnonzero(np.bincount(key))
    place = np.empty(pairs[-1] + 1 if len(pairs) else 0, np.int64)
    place[pairs] = np.arange(len(pairs))
    return pairs, place[key]


@dataclass(frozen=True, eq=False)
class Shares:
    """How much each of some episodes counts beside the one that counts most, or each of some of their sequences.

    Attributes
    ----------
    each : float64 array
        From 0 to 1.
    n_samples : int
        Steps of the whole log: so many numbers add up exactly.
    """

    each: F64
    n_samples: int

    @classmethod
    def of(cls, weights: F64 | None, n_samples: int) -> Shares | None:
        """Return the shares that follow from the episodes' weights; None where all count the same.

        Means of equal weights may differ by their rounding errors.
        """
        if weights is None or weights.max() - weights.min() <= ALIKE * weights.max():
            return None
        return cls(weights / weights.max(), n_samples)

    def some(self, which: slice | npt.NDArray[np.bool_]) -> Shares:
        """Return some of them."""
        return Shares(self.each[which], self.n_samples)


@dataclass(eq=False)
class WeightedMoves:
    """Sums over sequences with the shares of their episodes, in two parts each, exact: they add up in any order.

    Attributes
    ----------
    n_samples : int
        As in `Shares`.
    weight, steps : float64 arrays of shape (edges, 2)
        Of sequences whose continuation is known, and of their lengths.
    stays, starts : float64 arrays of shape (leaves, 2)
        As in `Transitions`.
    total, squares : float64 arrays of shape (leaves, 2)
        Of sequences whose continuation is known: their shares, and the squares of these.
    """

    n_samples: int
    weight: F64
    steps: F64
    stays: F64
    starts: F64
    total: F64
    squares: F64


class Open(NamedTuple):
    """A sequence that a cut leaves open: how far it goes here, what follows, and how much its episode counts.

    ``known`` tells whether the final state is known; ``through`` that it goes from end to end of its piece, and on.
    """

    leaf: int
    length: int
    following: int = UNKNOWN
    known: bool = False
    share: float = 1.0
    through: bool = False


@dataclass(eq=False)
class Moves:
    """Sequences from leaf to leaf, counted; those that a cut leaves open are kept one by one.

    Attributes
    ----------
    key, count, steps : int64 arrays
        ``source * (leaves + 1) + target``, sequences, and the sum of their lengths.
    censored, censored_steps, stays, starts, samples : int64 arrays of shape (leaves,)
        As in `Transitions`.
    weighted : WeightedMoves or None
        The same where episodes count differently.
    open : dict
        For each piece with a cut episode: its first sequence and its last; None for one that is whole.
    """

    key: I64
    count: I64
    steps: I64
    censored: I64
    censored_steps: I64
    stays: I64
    starts: I64
    samples: I64
    weighted: WeightedMoves | None = None
    open: dict[int, tuple[Open | None, Open | None]] = field(default_factory=dict)

    def merge(self, other: Moves) -> None:
        """Add what was counted elsewhere."""
        key, place = np.unique(np.concatenate([self.key, other.key]), return_inverse=True)

        def by_edge(mine: npt.NDArray[np.generic], theirs: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
            both = np.concatenate([mine, theirs])
            added = np.zeros((len(key), *both.shape[1:]), both.dtype)
            np.add.at(added, place.reshape(-1), both)
            return added

        for name in ("count", "steps"):
            setattr(self, name, by_edge(getattr(self, name), getattr(other, name)))
        for name in ("censored", "censored_steps", "stays", "starts", "samples"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        if self.weighted is not None and other.weighted is not None:
            for name in ("weight", "steps"):
                setattr(self.weighted, name, by_edge(getattr(self.weighted, name), getattr(other.weighted, name)))
            for name in ("stays", "starts", "total", "squares"):
                setattr(self.weighted, name, getattr(self.weighted, name) + getattr(other.weighted, name))
        self.key = key
        self.open |= other.open

    def close(self, n_leaves: int, numbers: Sequence[int]) -> None:
        """Join the sequences that were cut, of all pieces in the order of the log."""
        whole: list[Open] = []
        length = 0  # of what is held open
        for number in numbers:
            head, tail = self.open.get(number, (None, None))
            if head is not None:
                length += head.length
                if head.through:
                    continue
                whole.append(head._replace(length=length))
            length = 0 if tail is None else tail.length
        if not whole:
            return
        leaf, steps, following, known, share, _ = (np.array(column) for column in zip(*whole, strict=True))
        shares = None if self.weighted is None else Shares(share.astype(np.float64), self.weighted.n_samples)
        self.merge(_added(n_leaves, leaf, following, steps, known, shares))

    def finished(self, n_leaves: int, numbers: Sequence[int] = ()) -> Transitions:
        """Return the transitions of the whole log, whose pieces have these numbers."""
        self.close(n_leaves, numbers)
        sums = self.weighted
        weighted: dict[str, Any] = {}
        if sums is not None:
            total, squares = sums.total.sum(axis=1), sums.squares.sum(axis=1)
            weighted = {
                "weight": sums.weight.sum(axis=1),
                "weighted_steps": sums.steps.sum(axis=1),
                "weighted_stays": sums.stays.sum(axis=1),
                "weighted_starts": sums.starts.sum(axis=1),
                "effective": np.divide(total * total, squares, out=np.zeros(n_leaves), where=squares > 0),
            }
        return Transitions(
            n_leaves=n_leaves,
            source=(self.key // (n_leaves + 1)).astype(np.int32),
            target=(self.key % (n_leaves + 1)).astype(np.int32),
            count=self.count,
            steps=self.steps,
            censored=self.censored,
            censored_steps=self.censored_steps,
            stays=self.stays,
            starts=self.starts,
            samples=self.samples,
            **weighted,
        )


def count_sequences(n_leaves: int, leaf: I32, final: I32, log: Log | Recording) -> Transitions:
    """Count the transitions of samples that lie in ``leaf`` and of episodes whose final states lie in ``final``."""
    return count_moves(n_leaves, leaf, final, log, Shares.of(log.episode_weights, len(leaf))).finished(n_leaves)


def count_moves(
    n_leaves: int,
    leaf: I32,
    final: I32,
    log: Log | Recording,
    shares: Shares | None = None,
    *,
    number: int = 0,
    before: bool = False,
    after: bool = False,
) -> Moves:
    """Count the sequences of samples that lie in ``leaf`` and of episodes whose final states lie in ``final``.

    Of a piece of a log, ``number`` is its own, and ``before`` and ``after`` tell whether its first and last episodes
    go on there. Episodes that count nothing are left out, but for the samples of each leaf.
    """
    first, source, following, last = find_sequences(n_leaves, leaf, final, log)
    length = np.diff(first, append=len(leaf))
    known = np.zeros(len(source), bool)
    known[last] = final >= 0
    of = None if shares is None else Shares(np.repeat(shares.each, np.diff(last, prepend=-1)), shares.n_samples)
    counts = np.ones(len(source), bool)
    head: Open | None = None
    tail: Open | None = None
    goes_on = bool(after and following[last[-1]] == UNKNOWN)  # the next step is in the same leaf

    def opened(k: int) -> Open:
        counts[k] = False
        mine = 1.0 if of is None else float(of.each[k])
        through = goes_on and len(source) == 1
        return Open(int(source[k]), int(length[k]), int(following[k]), bool(known[k]), mine, through)

    if before:
        head = opened(0)
    if goes_on and not (head is not None and head.through):
        tail = opened(-1)
    some = slice(None) if counts.all() else counts
    begun = slice(int(before), None)
    moves = _added(
        n_leaves,
        source[some],
        following[some],
        length[some],
        known[some],
        None if of is None else of.some(some),
        leaf[log.starts[:-1]][begun],
        None if shares is None else shares.some(begun).each,
    )
    moves.samples = np.bincount(leaf, minlength=n_leaves).astype(np.int64)
    moves.open = {number: (head, tail)} if head is not None or tail is not None else {}
    return moves


def _added(
    n_leaves: int,
    source: I32,
    following: I32,
    length: I64,
    known: npt.NDArray[np.bool_],
    shares: Shares | None,
    begins: I32 = NOWHERE,
    start: F64 | None = None,
) -> Moves:
    """Count some sequences, and episodes that begin in some leaves; by their shares as well, where there are some."""
    start = np.empty(0) if start is None else start
    if shares is not None:
        counts = shares.each > 0
        source, following, length, known = source[counts], following[counts], length[counts], known[counts]
        shares, begins, start = shares.some(counts), begins[start > 0], start[start > 0]
    goes = following != UNKNOWN
    lost = source[~goes]
    stay = length[~goes] - 1 + known[~goes]
    key, edge = number_pairs(source[goes].astype(np.int64) * (n_leaves + 1) + following[goes], n_leaves)

    def added(group: npt.NDArray[np.integer], numbers: I64, size: int) -> I64:
        return np.bincount(group, numbers, size).astype(np.int64)

    weighted: WeightedMoves | None = None
    if shares is not None:
        grids = grids_of(shares.n_samples)

        def weighed(group: npt.NDArray[np.integer], numbers: F64, size: int, times: I64 | None = None) -> F64:
            parts = [part if times is None else part * times for part in parts_of(numbers, grids)]
            return np.stack([np.bincount(group, part, size).astype(np.float64) for part in parts], axis=1)

        mine = shares.each[goes]
        weighted = WeightedMoves(
            shares.n_samples,
            weighed(edge, mine, len(key)),
            weighed(edge, mine, len(key), length[goes]),
            weighed(lost, shares.each[~goes], n_leaves, stay),
            weighed(begins, start, n_leaves),
            weighed(source[goes], mine, n_leaves),
            weighed(source[goes], mine * mine, n_leaves),
        )
    return Moves(
        key,
        np.bincount(edge, minlength=len(key)).astype(np.int64),
        added(edge, length[goes], len(key)),
        np.bincount(lost, minlength=n_leaves).astype(np.int64),
        added(lost, length[~goes], n_leaves),
        added(lost, stay, n_leaves),
        np.bincount(begins, minlength=n_leaves).astype(np.int64),
        np.zeros(n_leaves, np.int64),
        weighted,
    )
