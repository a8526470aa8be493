"""Fits a tree to a log on disk: the same structure, leaves and transitions as in memory, in passes over a cache."""

from __future__ import annotations

import hashlib
import json
import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self, TypeVar

import numpy as np
import numpy.typing as npt

from tripletree.errors import ParameterError, TripleTreeWarning
from tripletree.graph.markov import check_markov
from tripletree.graph.transitions import Transitions, leaves_of
from tripletree.leaves.attributes import Attributes, attributes_of
from tripletree.leaves.losses import training_curve
from tripletree.leaves.sums import LeafSums
from tripletree.log.derive import NOISE
from tripletree.log.disk import PIECE, DiskLog, Index, Piece, Resources, cut, join_runs
from tripletree.log.endings import TRUNCATED
from tripletree.log.identity import MOST_KEPT
from tripletree.log.log import Log
from tripletree.model.bootstrap import settles
from tripletree.model.evaluate import check_same_schema, judge
from tripletree.model.fit import (
    ROWS_SORTED,
    Grown,
    available_cores,
    bare,
    describe_grown,
    feature_notes,
    grow_settled,
    leaf_notes,
    levels_of,
    options,
    score,
    truncation_notes,
)
from tripletree.model.fitted import Fitted
from tripletree.model.track import Track, room
from tripletree.scale import passes
from tripletree.scale.cache import Cache, DiskFullError, open_cache
from tripletree.scale.executors import Workers, groups_of, make_workers, said
from tripletree.scale.pieces import (
    LOG,
    ROWS,
    Import,
    Settled,
    Span,
    Work,
    import_pieces,
    survey_pieces,
)
from tripletree.text import Message, Option, count
from tripletree.tree.costs import cost_matrix, named_costs
from tripletree.tree.edges import Edges, choose_edges, few_values
from tripletree.tree.frontier import Growth, Limits, Wanted, first_bins
from tripletree.tree.grow import encode
from tripletree.tree.parts import Measured, Model, Rounding, at_ranks, middle_ranks, middle_span, rounding, units_for
from tripletree.tree.rotation import WORTHWHILE
from tripletree.tree.spread import grids_of
from tripletree.tree.structure import Tree
from tripletree.tree.weights import Weighing

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
Common = TypeVar("Common")
Item = TypeVar("Item")
Result = TypeVar("Result")

SAMPLE = 2**20
"""Steps of whole random episodes that are in memory for what needs them there: linear models, the track."""
BYTES_A_STEP = 400
"""Of memory, while a piece is worked on: its columns, the log, and what is made of it."""
USUAL = 2 * 10**9
"""Bytes of memory to work with, where nobody says otherwise: more makes little difference."""
NANOSECONDS = 3_300
"""Of a processor for each step of 8 features and 500 leaves, for a first guess; see the benchmark `scaling`."""


class Mergeable(Protocol):
    """Results that add up."""

    def merge(self, other: Self) -> None:
        """Add another."""


@dataclass(frozen=True)
class Plan:
    """What a fit will take, told before it begins."""

    rows: int
    files: int
    cache: int
    memory: int
    seconds: float
    workers: int

    def __str__(self) -> str:
        minutes = f"about {self.seconds / 60:.0f} minutes" if self.seconds > 90 else f"about {self.seconds:.0f} s"
        minutes = minutes if self.seconds >= 10 else "a few seconds"
        return (
            f"{count(self.rows, 'sample')} in {count(self.files, 'file')}: {minutes} on {count(self.workers, 'core')}, "
            f"up to {self.memory / 1e9:.1f} GB of memory and {self.cache / 1e9:.2g} GB on disk for the cache."
        )


def plan(disk: DiskLog, parameters: Mapping[str, Any] | None = None) -> Plan:
    """Return what it will take to fit a tree to a log on disk; a guess by its size."""
    workers, _, slots = _shares(disk)
    width, n = disk.n_features, disk.n_samples
    states = 8 * width + 8 * max(len(disk.roles["action"]), 1) + 8
    rows = 2 * width + 4 * (width + 3) + 1
    leaves = 1000 if parameters is None else int(parameters["max_leaves"])
    each = NANOSECONDS * (0.4 + 0.6 * (width / 8) ** 1.5) * (0.6 + 0.4 * leaves / 500)
    record = 8 * -(-(width + 7) // 8) * 8
    bins = 1024 if parameters is None else int(parameters["bins"])
    memory = workers * PIECE * BYTES_A_STEP * max(width, 4) // 8 + slots * bins * width * record + 4 * 10**8
    return Plan(n, len(disk.files), n * (states + rows), memory, n * each / 1e9 / workers, workers)


def _shares(disk: DiskLog) -> tuple[int, int, int]:
    """Return the workers, the steps of a piece, and how many histograms may be in memory for a given budget."""
    how = disk.how
    workers = how.workers or available_cores()
    memory = how.memory or min(max(free_memory() // 2, 10**9), USUAL)
    base = 3 * 10**8
    rows = PIECE
    # Half for pieces under way, half for histograms.
    while rows > 2**14 and workers * rows * BYTES_A_STEP * max(disk.n_features, 4) / 8 > (memory - base) / 2:
        rows //= 2
    if memory - base < 10**8:
        raise ParameterError(
            Message(
                "{:,.0f} MB are too little to work with: give at least {}.",
                memory / 1e6,
                Option("memory", "500MB"),
            )
        )
    record = 8 * -(-(disk.n_features + 7) // 8) * 8
    histogram = 1024 * disk.n_features * record
    return workers, rows, max(int((memory - base) / 2 / histogram), 4)


def free_memory() -> int:
    """Return the memory that is free."""
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError, AttributeError):
        return 4 * 10**9


def fit_on_disk(disk: DiskLog, validation: Log | None, parameters: Mapping[str, Any], costs: Any = None) -> Fitted:
    """Grow a tree on a log on disk, in histogram mode; arguments as those of `model.fit.fit`.

    The cache is removed at the end, unless a user has named its folder. Where the work is interrupted it stays, and the
    next fit of the same log goes on from it.
    """
    parameters = {**parameters, "mode": "histogram"}
    number, rows, slots = _shares(disk)
    cache = open_cache(disk, rows, disk.how.cache)
    workers = make_workers(disk.how.executor, number, disk.how.scheduler)
    finished = False
    try:
        fitted = Fit(disk, cache, workers, slots, rows, parameters, costs).run(validation)
        finished = True
        return fitted
    except DiskFullError:
        cache.remove()
        raise
    except KeyboardInterrupt:
        kept = cache.size()
        if not cache.kept and kept:
            text = (
                f"What was read so far stays in {cache.path} ({kept / 1e6:,.0f} MB): the same call goes on from there."
            )
            warnings.warn(f"{text} If you do not want to, remove the folder.", TripleTreeWarning, stacklevel=3)
        raise
    finally:
        workers.close(at_once=not finished)
        cache.forget(ROWS)
        if finished and not cache.kept:
            cache.remove()


class Fit:
    """One fit: what is known of the log so far, and who works on it."""

    def __init__(
        self,
        disk: DiskLog,
        cache: Cache,
        workers: Workers,
        slots: int,
        rows: int,
        parameters: Mapping[str, Any],
        costs: Any,
    ) -> None:
        self.disk, self.cache, self.workers, self.slots, self.rows = disk, cache, workers, slots, rows
        # Workers elsewhere need not know who is told.
        self._sent = replace(disk, how=Resources())
        self.parameters = dict(parameters)
        self._costs = costs
        self._bytes = 0

    def run(self, validation: Log | None) -> Fitted:
        """Do all of it."""
        index, pieces = self._index()
        self.index = index
        self.spans = [Span(p.number, p.start, p.rows, p.before, p.after) for p in pieces]
        self._import(pieces)
        seen = survey_pieces(self.cache, self.disk, self.spans)
        self.parameters["costs"] = named_costs(self._costs, seen.schema)
        schema = seen.schema
        if validation is not None:
            check_same_schema(schema, validation, "validation log")
        gamma = float(self.parameters["gamma"])
        work = Work(self.cache, schema, gamma, ends=seen.ends).carried(self.spans)
        theta = tuple(map(float, self.parameters["theta"]))
        self.costs = cost_matrix(self.parameters["costs"], schema.action.labels)
        model = Model(schema, (theta[0], theta[1], theta[2]), self.parameters["derivative_scale"], self.costs)
        self.seen, self.model = seen, model
        self.edges: Edges | None = None
        self._hashes = self._episode_hashes(work)
        if self.disk.how.sample is not None and self.disk.how.sample < self.disk.n_samples:
            tree, work, how = self._grow_on_sample(work)
        else:
            tree, work, how = self._grow_settled(work)
        attributes, moves = self._describe(work, tree, how)
        return self._finish(work, tree, how, attributes, moves, validation)

    # Passes

    def _each(
        self, what: str, task: Callable[[Common, list[Span]], Result], common: Common, tasks: int | None = None
    ) -> Iterable[Result]:
        """Run a pass over all pieces; yields one result for each task."""
        groups = groups_of(self.spans, tasks or 4 * self.workers.number)
        yield from self._tell(what, task, common, groups, [sum(span.rows for span in group) for group in groups])

    def _tell(
        self,
        what: str,
        task: Callable[[Common, Item], Result],
        common: Common,
        items: Sequence[Item],
        sizes: Sequence[int],
    ) -> Iterable[Result]:
        total, done = sum(sizes), 0
        share = total / max(len(items), 1)
        tell = self.disk.how.progress
        who = said(self.workers)
        if tell is not None:
            tell(what, 0, total, self._bytes, who)
        for number, result in enumerate(self.workers.map(task, common, items), 1):
            done = int(min(number * share, total))
            if tell is not None:
                tell(what, done, total, self._bytes, who)
            yield result

    def _index(self) -> tuple[Index, list[Piece]]:
        files = list(range(len(self.disk.files)))
        runs = self._tell("finding episodes", passes.runs_of, self._sent, files, [f.rows for f in self.disk.files])
        index = join_runs(self.disk, [run for _, run in sorted(runs, key=lambda pair: pair[0])])
        return index, cut(index, self.rows)

    def _import(self, pieces: Sequence[Piece]) -> None:
        """Read what is not in the cache yet."""
        left = []
        for piece in pieces:
            facts = self.cache.facts(LOG, piece.number)
            if facts is None or facts.get("span") != [piece.start, piece.stop, piece.before, piece.after]:
                left.append(piece)
        groups: list[list[Piece]] = []
        for piece in left:
            # Pieces of one row group follow each other in one task, so that it is decoded once.
            if (
                groups
                and groups[-1][-1].number + 1 == piece.number
                and self._group(groups[-1][0]) == self._group(piece)
            ):
                groups[-1].append(piece)
            else:
                groups.append([piece])
        job = Import(self._sent, self.cache, self.disk.n_samples, -(-self.disk.n_samples // ROWS_SORTED))
        sizes = [sum(piece.rows for piece in group) for group in groups]
        for _, size in self._tell("reading", import_pieces, job, groups, sizes):
            self._bytes += size

    def _group(self, piece: Piece) -> tuple[int, int]:
        number = int(np.searchsorted([file.begin for file in self.disk.files], piece.start, side="right")) - 1
        file = self.disk.files[number]
        return number, int(np.searchsorted(np.cumsum(file.groups), piece.start - file.begin, side="right"))

    def _flattened(self, work: Work) -> Work:
        """Make values that differ by rounding errors only the same, as `log.derive.values` does."""
        work = replace(work, flat=None)
        found = list(self._each("measuring values", passes.value_range, (work, None)))
        low, high = min(pair[0] for pair in found), max(pair[1] for pair in found)
        self.value_size = max(abs(low), abs(high))
        if high - low <= NOISE * max(abs(low), abs(high), self.seen.rewards):
            middle = low / 2 + high / 2
            self.value_size = abs(middle)
            return replace(work, flat=middle)
        return work

    def _measured(self, work: Work) -> Rounding:
        """Measure action, value and derivative; the first time, choose edges as well."""
        ranges = _merged(self._each("measuring ranges", passes.measure_ranges, (work, self.model)))
        units = units_for(ranges, self.seen.states)
        bins = int(self.parameters["bins"])
        whole = len(self.seen.sample) == self.disk.n_samples
        fresh = self.edges is None and not whole
        known: list[F64 | None] = few_values(self.seen.sample, bins) if fresh else [None] * self.disk.n_features
        how = passes.Units(self.model, units, grids_of(self.disk.n_samples), known, bins)
        sums: Measured | None = None
        more = [np.empty(0)] * self.disk.n_features
        for part, found in self._each("measuring spreads", passes.measure_sums, (work, how)):
            more = [np.union1d(a, b) for a, b in zip(more, found, strict=True)]
            if sums is None:
                sums = part
            else:
                sums.merge(part)
        if self.edges is None:
            self.edges = choose_edges(self.seen.sample, () if whole else more, bins, str(self.parameters["thresholds"]))
        sums = sums or Measured()
        self._few = sums.few
        return rounding(self.model, ranges, sums, self.seen.states)

    def _grow(self, work: Work) -> tuple[Tree, Rounding]:
        """Grow a tree on the values of this work."""
        how = self._measured(work)
        edges = self.edges
        if edges is None:
            raise ValueError("edges are chosen when targets are measured")
        if not sum(map(len, how.used)):
            none = np.full(1, -1, np.int32)
            return Tree(none, np.zeros(1), none, np.zeros(1)), how
        while True:
            root: I64 | None = None
            lie: I64 | None = None
            for histogram, part in self._each("binning", passes.write_rows, (work, how, edges)):
                root = histogram if root is None else root + histogram
                lie = part if lie is None else lie + part
            if how.fine or lie is None:
                break
            finer = how.told(self._steps(work, how, lie))
            if not finer.fine:
                break
            how = finer
        if root is None:
            raise ValueError("no pieces")
        given = self.parameters
        limits = Limits(
            min(int(given["max_leaves"]), self.disk.n_samples),
            given["max_depth"],
            int(given["min_samples_leaf"]),
            float(given["min_quality"]) * how.grid * how.grid,
            given["priority"] == "gain",
        )
        first_bin = first_bins(edges)

        def counted(wanted: Wanted) -> I64:
            what = f"growing ({leaves[0]} of at most {given['max_leaves']} leaves)"
            found: I64 | None = None
            for part in self._each(what, passes.count_nodes, (work, how.lanes, first_bin, wanted), self.workers.number):
                found = part if found is None else np.add(found, part, out=found)
            if found is None:
                raise ValueError("no pieces")
            return found

        leaves = [1]

        def progress(number: int, most: int) -> None:
            leaves[0] = number
            if given["progress"] is not None:
                given["progress"](number, most)

        growth = Growth(how.lanes, edges, root[0], limits, self.slots, self.workers.number)
        tree, _ = growth.grow(counted, progress)
        quality = tree.quality / how.grid / how.grid
        return Tree(tree.feature, tree.threshold, tree.left, quality), how

    def _steps(self, work: Work, how: Rounding, lie: I64) -> dict[tuple[int, int], float]:
        """Return how many steps of the grid the middle of each narrow column spans."""
        narrow = how.narrow(lie)
        discrete = self.model.schema.action.kind == "discrete"
        steps = {name: how.steps(name, 0.0) for name in narrow if name[0] == 0 and discrete}
        wanted = {name: middle_ranks(how.spreads[name[0]].count) for name in narrow if name not in steps}
        places = {name: [rank for pair in pairs for rank in pair] for name, pairs in wanted.items()}
        found = {name: at_ranks(self._few[name], places[name]) for name in wanted if name in self._few}
        found |= self._select(work, {name: ranks for name, ranks in places.items() if name not in found})
        for name, numbers in found.items():
            pairs = list(zip(numbers[::2], numbers[1::2], strict=True))
            steps[name] = how.steps(name, middle_span(pairs, float(how.spreads[name[0]].per_unit[name[1]])))
        return {name: steps[name] for name in narrow}

    def _select(self, work: Work, wanted: dict[tuple[int, int], list[int]]) -> dict[tuple[int, int], list[float]]:
        """Return the numbers at some places of sorted columns, exactly."""
        columns = [name for name, ranks in wanted.items() for _ in ranks]
        left = [rank for ranks in wanted.values() for rank in ranks]
        prefix = [0] * len(columns)
        for bits in range(0, 64 if columns else 0, passes.RADIX):
            places = passes.Places(self.model, columns, np.array(prefix, np.uint64), bits)
            counts = sum(self._each("looking at outliers", passes.count_places, (work, places)))
            for k, of in enumerate(np.asarray(counts)):
                until = np.cumsum(of)
                digit = int(np.searchsorted(until, left[k], side="right"))
                left[k] -= int(until[digit - 1]) if digit else 0
                prefix[k] = prefix[k] * 2**passes.RADIX + digit
        found: dict[tuple[int, int], list[float]] = {name: [] for name in wanted}
        for name, number in zip(columns, prefix, strict=True):
            found[name].append(passes.number_of(number))
        return found

    def _grow_settled(self, work: Work) -> tuple[Tree, Work, Rounding]:
        """As `model.fit.grow_settled`: with truncated episodes, once more on the values that the tree settles."""
        start = self._flattened(work)
        self._start_size = self.value_size
        if WORTHWHILE * self.disk.n_samples < self.disk.n_features:
            raise ParameterError("There are many more features than samples: read the log into memory, with read_log.")
        tree, how = self._grow(start)
        if settles(self.parameters) and self._truncated():
            tree, how = self._grow(self._settled(start, tree))
            return tree, self._settled(start, tree), how
        return tree, start, how

    def _truncated(self) -> bool:
        return any(
            (self.cache.read(LOG, span.number, mapped=True)[0]["endings"] == TRUNCATED).any() for span in self.spans
        )

    def _settled(self, start: Work, tree: Tree) -> Work:
        """Return the work with the values that a tree settles."""
        unit = max(self._start_size, float(np.finfo(np.float64).tiny))
        found = _merged(
            part
            for part in self._each(
                "settling values", passes.settle, (start, passes.Tails(tree, unit, self.disk.n_samples))
            )
            if part is not None
        )
        settled = Settled(tree, found.settled(tree.n_leaves) * unit)
        return self._flattened(replace(start, settled=settled, flat=None).carried(self.spans))

    def _grow_on_sample(self, work: Work) -> tuple[Tree, Work, Rounding]:
        """Grow on some episodes in memory; how its targets spread is measured on the whole log."""
        most = int(self.disk.how.sample or 0)
        log, _ = self._gathered(work, most)
        threads = self.workers.number
        given = self.parameters
        grown = grow_settled(
            log, encode(log, given["mode"], given["bins"], threads, None, given["thresholds"]), given, threads
        )
        start = self._flattened(work)
        self._start_size = self.value_size
        if settles(given) and self._truncated():
            start = self._settled(start, grown.tree)
        return grown.tree, start, self._measured(start)

    def _describe(self, work: Work, tree: Tree, how: Rounding) -> tuple[Attributes, Transitions]:
        size = np.maximum(*map(np.abs, self.seen.states))
        empty = LeafSums.empty(self.seen.schema, how.scales, size, tree.n_leaves, value_size=self.value_size)
        sums: LeafSums | None = None
        moves: passes.Moves | None = None
        for part, more in self._each("describing leaves", passes.describe_leaves, (work, tree, empty)):
            if sums is None or moves is None:
                sums, moves = part, more
            else:
                sums.merge(part)
                moves.merge(more)
        if sums is None or moves is None:
            raise ValueError("no pieces")
        n = tree.n_leaves
        moves.close(n, self.spans)
        counted = Transitions(
            n_leaves=n,
            source=(moves.key // (n + 1)).astype(np.int32),
            target=(moves.key % (n + 1)).astype(np.int32),
            count=moves.count,
            steps=moves.steps,
            censored=moves.censored,
            censored_steps=moves.censored_steps,
            stays=moves.stays,
            starts=moves.starts,
            samples=moves.samples,
        )
        scale = self.parameters["derivative_scale"]
        return attributes_of(tree, sums, how.scales, scale, self.costs), counted

    # What needs some episodes in memory

    def _episode_hashes(self, work: Work) -> npt.NDArray[np.uint64]:
        """Return the hash of every episode, in the order of the log."""
        found = np.zeros(self.index.n_episodes, np.uint64)
        at = 0
        for span in self.spans:
            part = work.hashes(span)
            first = at - (span.before > 0)
            found[first : first + len(part)] += part
            at = first + len(part)
        return found

    def _chosen(self, most: int) -> npt.NDArray[np.int64]:
        """Return episodes of at most so many steps together: all, or those with the smallest hashes."""
        length = np.diff(self.index.starts)
        if int(length.sum()) <= most:
            return np.arange(self.index.n_episodes)
        order = np.argsort(self._hashes, kind="stable")
        order = order[length[order] <= min(most, 2 * self.rows)]
        fit = int(np.searchsorted(np.cumsum(length[order]), most, side="right"))
        return np.sort(order[:fit])

    def _gathered(self, work: Work, most: int) -> tuple[Log, F64]:
        """Return whole random episodes of about so many steps, and their values; of endless ones, pieces."""
        length = np.diff(self.index.starts)
        chosen = self._chosen(most)
        per_piece: dict[int, list[int]] = {}
        begins = np.array([span.start for span in self.spans])
        cut_ones = np.array([span.before > 0 or span.after > 0 for span in self.spans])
        whole = not cut_ones.any()
        if len(chosen) and (whole or int(length.sum()) > most):
            piece = np.searchsorted(begins, self.index.starts[chosen], side="right") - 1
            first = np.searchsorted(self.index.starts, begins, side="right") - 1
            for episode, number in zip(chosen.tolist(), piece.tolist(), strict=True):
                per_piece.setdefault(number, []).append(episode - int(first[number]))
        else:
            # Every so many-th piece as a whole, cut episodes and all.
            step = max(1, -(-self.disk.n_samples // max(most, self.rows)))
            for span in self.spans[::step]:
                last = int(np.searchsorted(self.index.starts, span.start + span.rows, side="left"))
                first_one = int(np.searchsorted(self.index.starts, span.start, side="right")) - 1
                per_piece[span.number] = list(range(last - first_one))
        spans = [span for span in self.spans if span.number in per_piece]
        parts = self._tell("gathering episodes", passes.gather, (work, per_piece), spans, [s.rows for s in spans])
        found = sorted((part for part in parts if part is not None), key=lambda part: part[0])
        logs, values = [part[1] for part in found], np.concatenate([part[2] for part in found])
        if sum(log.n_samples for log in logs) < self.disk.n_samples or whole:
            return Log.concatenate(logs), values
        # All of it: episodes that were cut are whole again.
        closed = np.concatenate(
            [np.arange(log.n_episodes) < log.n_episodes - (s.after > 0) for log, s in zip(logs, spans, strict=True)]
        )
        states, actions, rewards = (
            np.concatenate([getattr(log, name) for log in logs]) for name in ("states", "actions", "rewards")
        )
        return Log(
            states,
            actions,
            rewards,
            starts=self.index.starts,
            final_states=np.concatenate([log.final_states for log in logs])[closed],
            endings=np.concatenate([log.endings for log in logs])[closed],
            episode_ids=self.index.ids,
            schema=work.schema,
        ), values

    def _finish(
        self,
        work: Work,
        tree: Tree,
        how: Rounding,
        attributes: Attributes,
        moves: Transitions,
        validation: Log | None,
    ) -> Fitted:
        given, seen, n = self.parameters, self.seen, self.disk.n_samples
        some, values = self._gathered(work, max(SAMPLE, room(tree, self.disk.n_features)))
        threads = self.workers.number
        node = tree.leaf_nodes[tree.apply(some.states, threads)].astype(np.int32)
        grown = Grown(tree, node, how.scales, how.notes, values, Weighing())
        fitted = describe_grown(some, grown, given, attributes)
        all_there = some.n_samples == n
        action_scale = how.scales.action.std if seen.schema.action.kind == "continuous" else None
        curve = fitted.curve_training
        if fitted.options["leaf_model"] != "linear":
            curve = training_curve(tree, attributes, action_scale, how.scales.derivative.std, self.costs)
        fitted = replace(
            fitted,
            feature_min=seen.states[0],
            feature_max=seen.states[1],
            curve_training=curve,
            options=options({**given, "leaf_model": fitted.options["leaf_model"]}),
            training_episodes=np.unique(self._hashes)[:MOST_KEPT],
            provenance={
                **fitted.provenance,
                "log_sha256": fitted.provenance["log_sha256"] if all_there else self._fingerprint(),
                "samples": n,
                "episodes": self.index.n_episodes,
                **({} if all_there else {"in_memory": some.n_samples}),
                "medians": np.quantile(seen.some, 0.5, axis=0, method="lower").tolist(),
                **({} if bare(given) else levels_of(some, grown, given, threads)),
            },
        )
        notes = (
            *how.notes,
            *feature_notes(some, seen.states[0] == seen.states[1]),
            *leaf_notes(some, given),
            *truncation_notes(some, given),
            *self._said(some, fitted),
        )
        for note in notes:
            warnings.warn(note, TripleTreeWarning, stacklevel=4)
        if validation is not None:
            judged = judge(fitted, validation, threads)
            fitted = replace(fitted, curve_validation=judged)
            if given["early_stopping"]:
                best = int(score(judged, given["theta"]).argmin()) + 1
                if best < tree.n_leaves:
                    # How the log moves between fewer leaves is counted anew.
                    fitted = fitted.truncate(best)
                    _, moves = self._describe(work, fitted.tree, how)
        track = Track.of(some, fitted.tree) if given["keep"] == "track" else None
        if given["keep"] == "nothing" or (track is not None and track.n_samples == n):
            return replace(fitted, track=track)
        leaf, final = leaves_of(fitted.tree, some, threads)
        return replace(fitted, track=track, transitions=replace(moves, markov=check_markov(moves, leaf, final, some)))

    def _said(self, some: Log, fitted: Fitted) -> list[str]:
        """Return what a user should know about what was done on a part of the log."""
        found = []
        if self.disk.how.sample is not None and self.disk.how.sample < self.disk.n_samples:
            found.append(
                f"The tree was grown on about {self.disk.how.sample:,} steps of whole random episodes; what its leaves "
                "know was counted on all. Its losses are larger than those of a tree that was grown on all steps."
            )
        if some.n_samples < self.disk.n_samples and fitted.model is not None:
            share = f"{some.n_samples:,} of {self.disk.n_samples:,} steps, whole random episodes"
            found.append(
                f"Linear models in the leaves were fitted on {share}; what leaves know besides was counted on all."
            )
        return found

    def _fingerprint(self) -> str:
        """Return a hash of the whole log: of its schema and the hashes of its episodes in their order."""
        told = hashlib.sha256(json.dumps(self.seen.schema.to_dict(), sort_keys=True).encode("utf-8", "surrogatepass"))
        told.update(self._hashes.astype("<u8").tobytes())
        return told.hexdigest()


def _merged(parts: Iterable[Any]) -> Any:
    found: Any = None
    for part in parts:
        if found is None:
            found = part
        else:
            found.merge(part)
    return found
