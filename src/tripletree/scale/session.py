"""A log on disk that is worked on: its episodes, its pieces in the cache, and passes over them."""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, Self, TypeVar

import numpy as np
import numpy.typing as npt

from tripletree.errors import TripleTreeWarning
from tripletree.graph.moves import Moves
from tripletree.graph.transitions import Transitions
from tripletree.log.cutting import Piece, cut, keep
from tripletree.log.disk import DiskLog
from tripletree.log.endings import TRUNCATED
from tripletree.log.log import Log
from tripletree.log.runs import Index, find_episodes
from tripletree.model.fit import ROWS_SORTED, middle
from tripletree.scale import passes
from tripletree.scale.cache import Cache, DiskFullError, open_cache
from tripletree.scale.executors import Workers, close_workers, groups_of, make_workers, said
from tripletree.scale.pieces import (
    LOG,
    NOTED,
    ROWS,
    SEEN,
    Import,
    Span,
    Surveyed,
    Work,
    import_pieces,
    place_of,
    see_pieces,
    survey_pieces,
)
from tripletree.scale.plan import EPISODES, in_memory, shares_of
from tripletree.scale.weighing import Weights, note_pieces, weigh_pieces
from tripletree.tree.structure import Tree

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
Common = TypeVar("Common")
Item = TypeVar("Item")
Result = TypeVar("Result")

AT_ONCE = 8
"""Features that are sorted at a time."""


class Session:
    """A log on disk, imported: what is known of it, and who works on it.

    Attributes
    ----------
    index : Index
        Its episodes, those that count.
    spans : list of Span
        Its pieces.
    seen : Surveyed
        What the pieces say about the whole.
    """

    def __init__(self, disk: DiskLog, cache: Cache, workers: Workers, rows: int) -> None:
        self.disk, self.cache, self.workers, self.rows = disk, cache, workers, rows
        # Workers elsewhere need not know who is told.
        self._sent = disk.bare()
        self._bytes = 0
        self.index, pieces, others = self._index()
        self.n_samples = int(self.index.starts[-1])
        self.spans = [Span(p.number, p.start, p.rows, p.before, p.after) for p in pieces]
        self._import(LOG, import_pieces, pieces)
        if others:
            self._import(SEEN, see_pieces, others)
        self.seen: Surveyed = survey_pieces(cache, disk, self.spans, [piece.number for piece in others])

    @classmethod
    @contextmanager
    def opened(cls, disk: DiskLog, theirs: Workers | None = None) -> Iterator[Self]:
        """Open a log on disk for a while.

        The cache is removed at the end, unless a user has named its folder. Where the work is interrupted it stays, and
        the next one on the same log goes on from it. Workers that are there already are used, and stay.
        """
        number, rows, _ = shares_of(disk)
        cache = open_cache(disk, rows, disk.how.cache)
        workers = theirs
        finished = full = False
        try:
            workers = theirs or make_workers(disk.how.executor, number, disk.how.scheduler)
            yield cls(disk, cache, workers, rows)
            finished = True
        except DiskFullError:
            full = True
            raise
        except KeyboardInterrupt:
            kept = cache.size()
            if not cache.kept and kept:
                text = f"What was read so far stays in {cache.path} ({kept / 1e6:,.0f} MB): the same call goes on from"
                warnings.warn(f"{text} there. If you do not want to, remove it.", TripleTreeWarning, stacklevel=5)
            raise
        finally:
            try:
                if workers is not None and theirs is None:
                    close_workers(workers, at_once=not finished)
            finally:
                # Not before the workers are gone: they write until then.
                cache.forget(ROWS, NOTED)
                if full or (finished and not cache.kept):
                    cache.remove()

    def work(self, gamma: float) -> Work:
        """Return what passes need, with the values that cut episodes go on with; all steps count the same."""
        return Work(self.cache, self.seen.schema, gamma, ends=self.seen.ends).carried(self.spans)

    @property
    def _plain(self) -> Work:
        """What passes need that ask for no values."""
        return Work(self.cache, self.seen.schema, 1.0)

    @cached_property
    def weights(self) -> Weights | None:
        """How much steps count, where they do not count alike."""
        if not self.disk.has_weights:
            return None
        return weigh_pieces(self._plain, self.spans, self.index.starts, partial(self.each, "weighing steps"))

    def weighed(self, work: Work) -> Work:
        """Return the same for passes in which steps count as their weights say."""
        if self.weights is None:
            return work
        return replace(work, grid=self.weights.grid, weights=self.weights.span, total_weight=self.weights.total)

    def moving(self, work: Work) -> Work:
        """Return the same for passes in which episodes count as their weights say."""
        return work if self.weights is None else replace(work, shares=self.weights.shares)

    def finished(self, moves: Moves, tree: Tree) -> Transitions:
        """Return the transitions that the moves of all pieces are."""
        return moves.finished(tree.n_leaves, [span.number for span in self.spans])

    def transitions(self, work: Work, tree: Tree) -> Transitions:
        """Return how the log moves from leaf to leaf of a tree, counted in a pass."""
        return self.finished(
            merged(self.each("counting moves", passes.count_all_moves, (self.moving(work), tree))), tree
        )

    @property
    def mean_weight(self) -> float:
        """The mean weight of all steps; 1 where they count the same."""
        return 1.0 if self.weights is None else self.weights.mean

    @property
    def n_counted(self) -> int:
        """Number of steps that count."""
        return self.n_samples if self.weights is None else self.weights.counted

    def each(
        self,
        what: str,
        task: Callable[[Common, list[Span]], Result],
        common: Common,
        tasks: int | None = None,
        *,
        spans: Sequence[Span] | None = None,
    ) -> Iterable[Result]:
        """Run a pass over all pieces, or over some; yields one result for each task."""
        groups = groups_of(self.spans if spans is None else spans, tasks or 4 * self.workers.number)
        yield from self.tell(what, task, common, groups, [sum(span.rows for span in group) for group in groups])

    def tell(
        self,
        what: str,
        task: Callable[[Common, Item], Result],
        common: Common,
        items: Sequence[Item],
        sizes: Sequence[int],
    ) -> Iterable[Result]:
        """Run tasks, and tell how far they are; yields their results in any order."""
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

    def _index(self) -> tuple[Index, list[Piece], list[Piece]]:
        """Return the episodes, their pieces, and the pieces that have none of them."""
        index = find_episodes(self.disk, self._each_file)
        pieces = cut(index, self.rows)
        if self.disk.only is None:
            return index, pieces, []
        kept = self.disk.only.episodes
        return index.keep(kept), *keep(pieces, kept)

    def _each_file(self, what: str, task: Callable[[Common, int], Result], common: Common) -> list[Result]:
        """Do a task for every file; returns the results in the order of the files."""
        files = list(range(len(self.disk.files)))
        sizes = [file.rows for file in self.disk.files]
        found = dict(self.tell(what, passes.numbered, (task, common), files, sizes))
        return [found[number] for number in files]

    def _import(
        self, kind: str, task: Callable[[Import, Sequence[Piece]], tuple[int, int]], pieces: Sequence[Piece]
    ) -> None:
        """Read what is not in the cache yet."""
        left = []
        for piece in pieces:
            facts = self.cache.facts(kind, piece.number)
            if facts is None or facts.get("span") != place_of(piece):
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
        job = Import(self._sent, self.cache, self.n_samples, -(-self.n_samples // ROWS_SORTED))
        sizes = [sum(piece.rows for piece in group) for group in groups]
        for _, size in self.tell("reading", task, job, groups, sizes):
            self._bytes += size

    def _group(self, piece: Piece) -> tuple[int, int]:
        number = int(np.searchsorted([file.begin for file in self.disk.files], piece.begin, side="right")) - 1
        file = self.disk.files[number]
        return number, int(np.searchsorted(np.cumsum(file.groups), piece.begin - file.begin, side="right"))

    def noted(self, name: str) -> Iterator[tuple[slice, F64]]:
        """Yield some features at a time of the states that were noted with every piece, and which they are.

        They are the ``sample`` that bins are chosen by, or ``some`` for medians.
        """
        for first in range(0, self.disk.n_features, AT_ONCE):
            here = slice(first, first + AT_ONCE)
            parts = [
                np.array(self.cache.read(self._noted, s.number, mapped=True)[0][name][:, here]) for s in self.spans
            ]
            yield here, np.concatenate(parts)

    @cached_property
    def _noted(self) -> str:
        """Where states are noted if not all steps count alike: they have to be chosen again."""
        if self.weights is None:
            return LOG
        each = partial(self.each, "weighing steps")
        note_pieces(self._plain, self.weights, -(-self.n_samples // ROWS_SORTED), each)
        return NOTED

    def _read_noted(self, name: str, some: slice = slice(None)) -> npt.NDArray[Any]:
        parts = [self.cache.read(self._noted, span.number, mapped=True)[0][name] for span in self.spans]
        return np.concatenate([part[..., some] for part in parts])

    def medians(self) -> list[float]:
        """Return the middle value of each feature, as `model.fit` finds it."""
        counts = None
        if self.weights is not None and self.weights.span is not None:
            counts = np.concatenate(
                [self.cache.read(self._noted, s.number, mapped=True)[0]["counts"] for s in self.spans]
            )
        return [median for _, some in self.noted("some") for median in middle(some, counts).tolist()]

    def truncated(self) -> bool:
        """Tell whether some episode is truncated."""
        return any(
            (self.cache.read(LOG, span.number, mapped=True)[0]["endings"] == TRUNCATED).any() for span in self.spans
        )

    @cached_property
    def hashes(self) -> npt.NDArray[np.uint64]:
        """The hash of every episode, in the order of the log."""
        found = np.zeros(self.index.n_episodes, np.uint64)
        at = 0
        for span in self.spans:
            part = self.cache.read(LOG, span.number, mapped=True)[0]["hashes"]
            first = at - (span.before > 0)
            found[first : first + len(part)] += part
            at = first + len(part)
        return found

    def _chosen(self, most: int) -> npt.NDArray[np.int64]:
        """Return episodes of at most so many steps together: all, or those with the smallest hashes."""
        length = np.diff(self.index.starts)
        if int(length.sum()) <= most:
            return np.arange(self.index.n_episodes)
        order = np.argsort(self.hashes, kind="stable")
        order = order[length[order] <= min(most, 2 * self.rows)]
        fit = int(np.searchsorted(np.cumsum(length[order]), most, side="right"))
        return np.sort(order[:fit])

    def gathered(self, work: Work, most: int | None = None) -> tuple[Log, F64]:
        """Return whole random episodes of about so many steps, and their values; of endless ones, pieces.

        By default, as many as `EPISODES` says and memory has room for.
        """
        most = in_memory(self.disk, EPISODES) if most is None else most
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
            step = max(1, -(-self.n_samples // max(most, self.rows)))
            for span in self.spans[::step]:
                last = int(np.searchsorted(self.index.starts, span.start + span.rows, side="left"))
                first_one = int(np.searchsorted(self.index.starts, span.start, side="right")) - 1
                per_piece[span.number] = list(range(last - first_one))
        spans = [span for span in self.spans if span.number in per_piece]
        parts = self.tell("gathering episodes", passes.gather, (work, per_piece), spans, [s.rows for s in spans])
        found = sorted((part for part in parts if part is not None), key=lambda part: part[0])
        logs, values = [part[1] for part in found], np.concatenate([part[2] for part in found])
        if sum(log.n_samples for log in logs) < self.n_samples or whole:
            return Log.concatenate(logs), values
        # All of it: episodes that were cut are whole again.
        closed = np.concatenate(
            [np.arange(log.n_episodes) < log.n_episodes - (s.after > 0) for log, s in zip(logs, spans, strict=True)]
        )
        more = [name for name in ("dt", "weights") if getattr(logs[0], name) is not None]
        columns: dict[str, Any] = {
            name: np.concatenate([getattr(log, name) for log in logs])
            for name in ("states", "actions", "rewards", *more)
        }
        return Log(
            **columns,
            starts=self.index.starts,
            final_states=np.concatenate([log.final_states for log in logs])[closed],
            endings=np.concatenate([log.endings for log in logs])[closed],
            episode_ids=self.index.ids,
            schema=work.schema,
            groups=self.index.groups,
            group_name=self.index.group_name,
        ), values

    def fingerprint(self) -> str:
        """Return a hash of the whole log: of its schema and the hashes of its episodes in their order."""
        told = hashlib.sha256(json.dumps(self.seen.schema.to_dict(), sort_keys=True).encode("utf-8", "surrogatepass"))
        told.update(self.hashes.astype("<u8").tobytes())
        return told.hexdigest()


def merged(parts: Iterable[Any]) -> Any:
    """Return what all parts add up to."""
    found: Any = None
    for part in parts:
        if found is None:
            found = part
        else:
            found.merge(part)
    return found
