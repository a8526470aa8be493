"""The passes over a cache: functions of what is common to all tasks and of some pieces; results add up in any order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree import _kernel
from tripletree.graph.moves import Moves, count_moves
from tripletree.graph.transitions import leaves_of
from tripletree.leaves.sums import LeafSums
from tripletree.log.endings import TRUNCATED
from tripletree.log.log import Log
from tripletree.log.ranks import Ranks
from tripletree.model.bootstrap import TailSums, end_states
from tripletree.scale.cache import Arrays
from tripletree.scale.pieces import ROWS, Passing, Room, Span, Work
from tripletree.tree.columns import state_columns, value_column
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


def measure_whole(work: Work, spans: Sequence[Span]) -> Measured:
    """Return the ranges of the states that count, and of all values, of those that do not count as well."""
    found: Measured | None = None
    room = Room()
    for span in spans:
        log = work.log(span, room)
        columns = [work.weighing(log).columns(state_columns(log)), value_column(work.values(span, log))]
        part = Measured.ranges(columns)
        if found is None:
            found = part
        else:
            found.merge(part)
    return found or Measured()


def measure_ranges(common: tuple[Work, Model], spans: Sequence[Span]) -> Measured:
    """Return the ranges of action, value and derivative."""
    work, model = common
    found: Measured | None = None
    room = Room()
    for span in spans:
        log = work.log(span, room)
        part = Measured.ranges(model.columns(log, work.values(span, log), work.weighing(log)))
        if found is None:
            found = part
        else:
            found.merge(part)
    return found or Measured()


@dataclass(frozen=True, eq=False)
class Units:
    """How columns are added up, of which ``total`` count, and the values of features that have few."""

    model: Model
    units: list[tuple[F64, F64]]
    total: int
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
        weighing = work.weighing(log)
        columns = how.model.columns(log, work.values(span, log), weighing)
        part = Measured.added(columns, how.units, how.total, weighing.numbers, how.model.labelled)
        states = weighing.take(log.states)
        for f, values in enumerate(how.known):
            if values is not None and len(more[f]) <= how.most:
                more[f] = np.union1d(more[f], unknown(states[:, f], values))
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
    counter = how.counter(edges, nothing_but_the_root(), histogram, None if how.fine and not how.weighted else lie)
    for span in spans:
        kept = work.kept(span)
        # The node that each row is at, of the tree that grows.
        rows: Arrays = {"at": np.zeros(span.rows, np.uint16)}
        values = work.values(span, kept)
        if work.grid is None:
            rows["given"] = how.of_values(values)
        else:
            rows["weights"] = work.grid.whole(np.asarray(kept.weights, np.float64)).astype(np.int32)
            # Others may be too large for the grid.
            counted = rows["weights"] > 0
            given = how.of_values(values[counted])
            rows["given"] = np.zeros((span.rows, given.shape[1]), np.int32)
            rows["given"][counted] = given
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
    return _kernel.Piece(*numbers, rows["given"], rows["at"], kept.dt, rows.get("weights"))


def count_places(
    common: tuple[Work, tuple[Model, dict[tuple[int, int], Ranks]]], spans: Sequence[Span]
) -> dict[tuple[int, int], I64]:
    """Count the numbers of some columns, named by attribute and number, by what their places depend on next."""
    work, (model, places) = common
    found: dict[tuple[int, int], I64] = {}
    room = Room()
    for span in spans:
        log = work.log(span, room)
        columns = model.columns(log, work.values(span, log), work.weighing(log))
        for (group, k), ranks in places.items():
            numbers = columns[group].column(k)
            found[group, k] = found.get((group, k), 0) + ranks.counted(numbers[~np.isnan(numbers)])
    return found


@dataclass(frozen=True, eq=False)
class Tails:
    """How values settle: the tree, the unit of values, and the samples of the whole log, or their weight."""

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
            work.weighing(log).everywhere(log.n_samples),
            span.after,
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


def _moves(work: Work, span: Span, tree: Tree, log: Log, leaf: I32, final: I32) -> Moves:
    return count_moves(
        tree.n_leaves,
        leaf,
        final,
        log,
        work.shares.get(span.number),
        number=span.number,
        before=span.before > 0,
        after=span.after > 0,
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
        weighing = work.weighing(log)
        sums.add(log, work.values(span, log), weighing.take(leaf), weighing)
        part = _moves(work, span, tree, log, leaf, final)
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
        part = _moves(work, span, tree, log, *leaves_of(tree, log))
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
