"""The passes over a cache: functions of what is common to all tasks and of some pieces; results add up in any order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree import _kernel
from tripletree.graph.transitions import UNKNOWN, Transitions, find_sequences, leaves_of, number_pairs
from tripletree.leaves.sums import LeafSums
from tripletree.log.endings import TRUNCATED
from tripletree.log.log import Log
from tripletree.log.ranks import Ranks
from tripletree.model.bootstrap import TailSums, end_states
from tripletree.scale.cache import Arrays
from tripletree.scale.pieces import ROWS, Passing, Room, Span, Work
from tripletree.tree.edges import Edges, unknown
from tripletree.tree.frontier import Wanted, no_counts, nothing_but_the_root
from tripletree.tree.parts import BUCKETS, Measured, Model, Rounding
from tripletree.tree.structure import Tree

F64 = npt.NDArray[np.float64]
I32 = npt.NDArray[np.int32]
I64 = npt.NDArray[np.int64]
Chosen = dict[int, npt.NDArray[np.bool_]]
"""Which episodes of each piece count."""


def numbered(common: tuple[Callable[[Any, int], Any], Any], number: int) -> tuple[int, Any]:
    """Do a task for a file, and tell for which one: results come in any order."""
    task, of = common
    return number, task(of, number)


def measure_ranges(common: tuple[Work, Model], spans: Sequence[Span]) -> Measured:
    """Return the ranges of action, value and derivative."""
    work, model = common
    found: Measured | None = None
    room = Room()
    for span in spans:
        log = work.log(span, room)
        part = Measured.ranges(model.columns(log, work.values(span, log)))
        if found is None:
            found = part
        else:
            found.merge(part)
    return found or Measured()


@dataclass(frozen=True, eq=False)
class Units:
    """How columns are added up, and the values of features that have few."""

    model: Model
    units: list[tuple[F64, F64]]
    grids: tuple[float, float]
    known: list[F64 | None]
    most: int


def measure_sums(common: tuple[Work, Units], spans: Sequence[Span]) -> tuple[Measured, list[F64]]:
    """Return the sums of action, value and derivative, and other values of the features that have few."""
    work, how = common
    found: Measured | None = None
    more = [np.empty(0) for _ in how.known]
    room = Room()
    for span in spans:
        log = work.log(span, room)
        part = Measured.added(how.model.columns(log, work.values(span, log)), how.units, how.grids)
        for f, values in enumerate(how.known):
            if values is not None and len(more[f]) <= how.most:
                more[f] = np.union1d(more[f], unknown(log.states[:, f], values))
        if found is None:
            found = part
        else:
            found.merge(part)
    return found or Measured(), more


def count_root(common: tuple[Work, Rounding, Edges], spans: Sequence[Span]) -> tuple[I64, I64]:
    """Return the histogram of the root, and where targets lie on the grid; writes what later passes go on from."""
    work, how, edges = common
    lanes = how.lanes
    histogram = no_counts(1, edges, lanes)
    lie = np.zeros((lanes.n_plain + lanes.n_derivative, BUCKETS), np.int64)
    counter = how.counter(edges, nothing_but_the_root(), histogram, None if how.fine else lie)
    for span in spans:
        kept = work.kept(span)
        # The node that each row is at, of the tree that grows.
        rows: Arrays = {"given": how.of_values(work.values(span, kept)), "at": np.zeros(span.rows, np.uint16)}
        work.cache.write(ROWS, span.number, rows, {})
        counter.add(_piece(work, kept, rows))
    counter.finish()
    return histogram, lie


def count_nodes(common: tuple[Work, Rounding, Edges, Wanted], spans: Sequence[Span]) -> I64:
    """Return the histograms of some nodes."""
    work, how, edges, wanted = common
    histograms = no_counts(wanted.slots, edges, how.lanes)
    counter = how.counter(edges, wanted, histograms)
    for span in spans:
        # Where rows are is written on the way. If this task was done before, wholly or in part, they are further down.
        rows, _ = work.cache.read(ROWS, span.number, mapped=True, changed=True)
        counter.add(_piece(work, work.kept(span), rows))
    counter.finish()
    return histograms


def _piece(work: Work, kept: Passing, rows: Arrays) -> _kernel.Piece:
    periods = np.array(work.schema.periods, np.float64)
    numbers = kept.states, kept.starts, kept.final_states, periods, kept.actions
    return _kernel.Piece(*numbers, rows["given"], rows["at"], kept.dt)


def count_places(
    common: tuple[Work, tuple[Model, dict[tuple[int, int], Ranks]]], spans: Sequence[Span]
) -> dict[tuple[int, int], I64]:
    """Count the numbers of some columns, named by attribute and number, by what their places depend on next."""
    work, (model, places) = common
    found: dict[tuple[int, int], I64] = {}
    room = Room()
    for span in spans:
        log = work.log(span, room)
        columns = model.columns(log, work.values(span, log))
        for (group, k), ranks in places.items():
            numbers = columns[group].column(k)
            found[group, k] = found.get((group, k), 0) + ranks.counted(numbers[~np.isnan(numbers)])
    return found


@dataclass(frozen=True, eq=False)
class Tails:
    """How values settle: the tree, the unit of values, and the samples of the whole log."""

    tree: Tree
    unit: float
    total: int


def settle(common: tuple[Work, Tails], spans: Sequence[Span]) -> TailSums | None:
    """Return what the values of leaves that truncated episodes end in depend on."""
    work, how = common
    found: TailSums | None = None
    room = Room()
    for span in spans:
        log = work.log(span, room)
        leaf = how.tree.apply(log.states)
        part = TailSums.of(
            log,
            leaf,
            _ends(work, span, log, how.tree),
            work.values(span, log) / how.unit,
            work.gamma,
            how.total,
            after=span.after,
        )
        if found is None:
            found = part
        else:
            found.merge(part)
    return found


def _ends(work: Work, span: Span, log: Log, tree: Tree) -> I64:
    """Return the leaf that each episode ends in, -1 unless it is truncated."""
    end = np.full(log.n_episodes, -1)
    truncated = np.flatnonzero(log.endings == TRUNCATED)
    if len(truncated):
        end[truncated] = tree.apply(end_states(log, truncated))
    if span.after:
        ending, state = work.ends[span.number]
        end[-1] = tree.apply(state[None])[0] if ending == TRUNCATED else -1
    return end


@dataclass(eq=False)
class Moves:
    """Sequences from leaf to leaf, counted; those that a cut leaves open are kept one by one.

    Attributes
    ----------
    key, count, steps : int64 arrays
        ``source * (leaves + 1) + target``, sequences, and the sum of their lengths.
    censored, censored_steps, stays, starts, samples : int64 arrays of shape (leaves,)
        As in `Transitions`.
    open : dict
        For each piece with a cut episode: its first sequence and its last, as (leaf, length, what follows, whether the
        final state is known); None for one that is whole.
    """

    key: I64
    count: I64
    steps: I64
    censored: I64
    censored_steps: I64
    stays: I64
    starts: I64
    samples: I64
    open: dict[int, tuple[tuple[int, int, int, bool] | None, tuple[int, int] | None]] = field(default_factory=dict)

    def merge(self, other: Moves) -> None:
        """Add what was counted elsewhere."""
        key, place = np.unique(np.concatenate([self.key, other.key]), return_inverse=True)
        for name in ("count", "steps"):
            added = np.zeros(len(key), np.int64)
            np.add.at(added, place, np.concatenate([getattr(self, name), getattr(other, name)]))
            setattr(self, name, added)
        self.key = key
        for name in ("censored", "censored_steps", "stays", "starts", "samples"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.open |= other.open

    def put(self, n_leaves: int, leaf: int, length: int, following: int, known: bool) -> None:
        """Add one sequence."""
        if following == UNKNOWN:
            self.censored[leaf] += 1
            self.censored_steps[leaf] += length
            self.stays[leaf] += length - 1 + int(known)
            return
        one = np.array([leaf * (n_leaves + 1) + following])
        none = np.zeros(n_leaves, np.int64)
        self.merge(Moves(one, np.ones(1, np.int64), np.array([length]), none, none, none, none, none))

    def close(self, n_leaves: int, spans: Sequence[Span]) -> None:
        """Join the sequences that were cut."""
        held: tuple[int, int] | None = None
        for span in spans:
            head, tail = self.open.get(span.number, (None, None))
            if head is not None:
                leaf, length, following, known = head
                if held is not None:
                    length += held[1]
                if tail is not None and tail == (leaf, -1):  # one sequence from end to end, and on
                    held = (leaf, length)
                    continue
                self.put(n_leaves, leaf, length, following, known)
            held = tail

    def finished(self, n_leaves: int, spans: Sequence[Span]) -> Transitions:
        """Return the transitions of the whole log."""
        self.close(n_leaves, spans)
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
        )


def count_moves(n: int, span: Span, log: Log, leaf: I32, final: I32) -> Moves:
    """Count the sequences of a piece, whose samples and final states lie in these of so many leaves."""
    first, source, target, last = find_sequences(n, leaf, final, log)
    length = np.diff(first, append=len(leaf))
    known = np.zeros(len(source), bool)
    known[last] = final >= 0
    counts = np.ones(len(source), bool)
    head: tuple[int, int, int, bool] | None = None
    tail: tuple[int, int] | None = None
    goes_on = bool(span.after and target[last[-1]] == UNKNOWN)  # the next step is in the same leaf
    if goes_on:
        counts[-1] = False
        tail = (int(source[-1]), int(length[-1]))
    if span.before:
        counts[0] = False
        head = (int(source[0]), int(length[0]), int(target[0]), bool(known[0]))
        if goes_on and len(source) == 1:
            tail = (head[0], -1)
    moves = (target != UNKNOWN) & counts
    key, edge = number_pairs(source[moves].astype(np.int64) * (n + 1) + target[moves], n)
    lost = (target == UNKNOWN) & counts
    starts = np.bincount(leaf[log.starts[:-1]], minlength=n)
    if span.before:
        starts[leaf[0]] -= 1

    def added(group: I32, numbers: I64) -> I64:
        return np.bincount(group, numbers, n).astype(np.int64)

    return Moves(
        key,
        np.bincount(edge, minlength=len(key)).astype(np.int64),
        np.bincount(edge, length[moves], len(key)).astype(np.int64),
        np.bincount(source[lost], minlength=n).astype(np.int64),
        added(source[lost], length[lost]),
        added(source[lost], length[lost] - 1 + known[lost]),
        starts.astype(np.int64),
        np.bincount(leaf, minlength=n).astype(np.int64),
        {span.number: (head, tail)} if head is not None or tail is not None else {},
    )


def describe_leaves(common: tuple[Work, Tree, LeafSums], spans: Sequence[Span]) -> tuple[LeafSums, Moves]:
    """Return the sums of all leaves, and how the log moves from one to the other."""
    work, tree, empty = common
    sums = empty.copy()
    moves: Moves | None = None
    room = Room()
    for span in spans:
        log = work.log(span, room)
        leaf, final = leaves_of(tree, log)
        sums.add(log, work.values(span, log), leaf)
        part = count_moves(tree.n_leaves, span, log, leaf, final)
        if moves is None:
            moves = part
        else:
            moves.merge(part)
    if moves is None:
        raise ValueError("no pieces")
    return sums, moves


def count_all_moves(common: tuple[Work, Tree], spans: Sequence[Span]) -> Moves:
    """Return how the log moves from leaf to leaf."""
    work, tree = common
    moves: Moves | None = None
    room = Room()
    for span in spans:
        log = work.log(span, room)
        part = count_moves(tree.n_leaves, span, log, *leaves_of(tree, log))
        if moves is None:
            moves = part
        else:
            moves.merge(part)
    if moves is None:
        raise ValueError("no pieces")
    return moves


def value_range(common: tuple[Work, Chosen | None], spans: Sequence[Span]) -> tuple[float, float]:
    """Return the smallest and the largest value, of all episodes or of those that were chosen."""
    work, chosen = common
    low, high = np.inf, -np.inf
    for span in spans:
        log = work.kept(span)
        values = work.values(span, log, raw=True)
        if chosen is not None:
            values = values[np.repeat(chosen[span.number], np.diff(log.starts))]
        low, high = min(low, float(values.min(initial=np.inf))), max(high, float(values.max(initial=-np.inf)))
    return low, high


def gather(common: tuple[Work, dict[int, list[int]]], span: Span) -> tuple[int, Log, F64] | None:
    """Return some episodes of a piece, and the values of their steps."""
    work, chosen = common
    episodes = chosen.get(span.number)
    if not episodes:
        return None
    log = work.kept(span)
    values = work.values(span, log)
    rows = np.concatenate([np.arange(log.starts[e], log.starts[e + 1]) for e in episodes])
    # A log of its own: in full size, and checked.
    return span.number, log.select(episodes), values[rows]
