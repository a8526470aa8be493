"""The pieces of a log in the cache: written once from Parquet, then read again and again, with their values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tripletree import _kernel
from tripletree.graph.moves import Shares
from tripletree.log.build import survey
from tripletree.log.cutting import Piece, read_pieces
from tripletree.log.disk import DiskLog
from tripletree.log.endings import TRUNCATED
from tripletree.log.identity import episode_hashes
from tripletree.log.log import Log
from tripletree.log.parts import join_schemas
from tripletree.log.schema import Schema
from tripletree.model.bootstrap import end_states
from tripletree.scale.cache import Cache
from tripletree.tree.edges import sampled
from tripletree.tree.structure import Tree
from tripletree.tree.weights import Grid, Weighing

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

LOG, ROWS, NOTED, SEEN = "log", "rows", "noted", "seen"
"""Kinds of files in the cache: the piece as it is; while a tree grows, targets of the value and where each row is, and,
where steps have weights, the states that bins and medians are chosen by; what pieces say that have no episode of it."""


class Span(NamedTuple):
    """A piece as far as tasks need it: its number, rows, and steps of cut episodes before and after it."""

    number: int
    start: int
    rows: int
    before: int
    after: int


@dataclass(frozen=True)
class Import:
    """What is asked of every piece when it is read: for which log, and which rows count for medians."""

    disk: DiskLog
    cache: Cache
    total: int
    stride: int


def import_pieces(job: Import, pieces: Sequence[Piece]) -> tuple[int, int]:
    """Read pieces that follow each other from Parquet and write them to the cache; returns rows and bytes."""
    rows = size = 0
    for piece, log, whole in read_pieces(job.disk, pieces):
        size += _keep(job, piece, log, whole)
        rows += piece.rows
    return rows, size


def see_pieces(job: Import, pieces: Sequence[Piece]) -> tuple[int, int]:
    """Note what pieces say about the whole log of which none of their episodes is a part; returns rows and bytes."""
    rows = size = 0
    for piece, _, whole in read_pieces(job.disk, pieces):
        size += job.cache.write(SEEN, piece.number, {}, {**_seen(whole), "span": place_of(piece)})
        rows += piece.rows
    return rows, size


def place_of(piece: Piece) -> list[int]:
    """Return what tells a piece from another of that number."""
    return [piece.start, piece.stop, piece.before, piece.after]


def _seen(whole: Log) -> dict[str, Any]:
    """Return what a piece says about the schema of the whole log, and its range, final states included."""
    final = survey(whole.final_states)
    low, high = np.full(whole.n_features, np.inf), np.full(whole.n_features, -np.inf)
    _kernel.widen_ranges(_kernel.Source(whole.states.T), low, high)
    reach = [np.minimum(low, final.low).tolist(), np.maximum(high, final.high).tolist()]
    return {"schema": whole.schema.to_dict(), "reach": reach}


def _keep(job: Import, piece: Piece, log: Log, whole: Log) -> int:
    chosen = sampled(piece.start, piece.stop, job.total)
    some = np.arange(-piece.start % job.stride, piece.rows, job.stride)
    arrays = {
        "states": _narrow(log.states),
        "actions": _narrow(log.actions),
        "rewards": _narrow(log.rewards),
        "starts": log.starts,
        "final_states": log.final_states,
        "endings": log.endings,
        "hashes": episode_hashes(log, piece.before),
        "sample": log.states[chosen],
        "some": log.states[some],
        **({} if log.dt is None else {"dt": log.dt}),
        **({} if log.weights is None else {"weights": _narrow(log.weights)}),
    }
    low, high = np.full(log.n_features, np.inf), np.full(log.n_features, -np.inf)
    _kernel.widen_ranges(_kernel.Source(log.states.T), low, high)
    facts = {
        **_seen(whole),
        "states": [low.tolist(), high.tolist()],
        "rewards": float(np.abs(log.rewards).max()),
        "ids": log.episode_ids.tolist(),
        **({} if log.groups is None else {"groups": log.groups.tolist(), "group_name": log.group_name}),
        "span": place_of(piece),
    }
    return job.cache.write(LOG, piece.number, arrays, facts)


def _narrow(numbers: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return numbers in half the size, if nothing is lost: most logs are written in single precision."""
    if numbers.dtype == np.float64:
        single = np.empty(numbers.shape, np.float32)
        return single if _kernel.narrow(numbers.reshape(-1), single.reshape(-1)) else numbers
    if numbers.dtype == np.int32 and len(numbers) and numbers.min() >= 0 and numbers.max() < 2**8:
        return numbers.astype(np.uint8)  # labels
    return numbers


class Passing(Log):
    """A log that was checked when it was first read: arrays may have half the size, and are others' before long."""

    def __post_init__(self) -> None:
        """Neither check nor copy anything."""


class Room:
    """Memory that one piece takes after the other: new memory for each would cost as much as a pass."""

    def __init__(self) -> None:
        self._held: dict[str, npt.NDArray[Any]] = {}

    def put(self, name: str, numbers: npt.NDArray[Any], dtype: npt.DTypeLike = np.float64) -> npt.NDArray[Any]:
        """Return numbers in the given type, in the room of that name."""
        if name not in self._held or len(self._held[name]) < numbers.size:
            self._held[name] = np.empty(numbers.size, dtype)
        found = self._held[name][: numbers.size].reshape(numbers.shape)
        np.copyto(found, numbers)
        return found


@dataclass(frozen=True, eq=False)
class Settled:
    """The value that follows the end of a truncated episode: that of the leaf that its final state falls into."""

    tree: Tree
    value: F64


@dataclass(frozen=True, eq=False)
class Work:
    """What every pass over the cache needs.

    Attributes
    ----------
    cache : Cache
        Where the pieces are.
    schema : Schema
        That of the whole log.
    gamma : float
        The discount factor.
    carry : mapping of int to float
        The value of the first step after a piece whose last episode goes on.
    ends : mapping of int to (int, array)
        For these pieces, how that episode ends, and in which state.
    flat : float or None
        The value of all steps, where they differ by rounding errors only.
    settled : Settled or None
        What follows truncated episodes.
    grid : Grid or None
        How the weights of steps are rounded; None where all count the same.
    weights : (int, int) or None
        The least and the most that a step counts; None where those that count do so alike.
    total_weight : int
        What all of them count together.
    shares : mapping of int to Shares
        How much the episodes of each piece count, where they do not count alike.
    """

    cache: Cache
    schema: Schema
    gamma: float
    carry: Mapping[int, float] = field(default_factory=dict)
    ends: Mapping[int, tuple[int, F64]] = field(default_factory=dict)
    flat: float | None = None
    settled: Settled | None = None
    grid: Grid | None = None
    weights: tuple[int, int] | None = None
    total_weight: int = 0
    shares: Mapping[int, Shares] = field(default_factory=dict)

    def kept(self, span: Span) -> Passing:
        """Return a piece as it lies in the cache."""
        arrays, facts = self.cache.read(LOG, span.number, mapped=True)
        actions, labels = arrays["actions"], facts["schema"]["action"]["labels"]
        if self.schema.action.kind == "discrete" and tuple(labels) != tuple(self.schema.action.labels):
            place = {label: k for k, label in enumerate(self.schema.action.labels)}
            actions = np.array([place[label] for label in labels], np.int32)[actions]
        names = ("states", "rewards", "starts", "final_states", "endings")
        found: dict[str, Any] = {name: arrays[name] for name in names} | {"actions": actions}
        found |= {name: arrays.get(name) for name in ("dt", "weights")}
        if "groups" in facts:
            found |= {"groups": np.array(facts["groups"]), "group_name": facts["group_name"]}
        return Passing(**found, episode_ids=np.array(facts["ids"]), schema=self.schema)

    def log(self, span: Span, room: Room | None = None) -> Log:
        """Return a piece as a log; in some room, it is there until the next one comes."""
        kept, some = self.kept(span), room or Room()
        numbers = np.int32 if self.schema.action.kind == "discrete" else np.float64
        parts: dict[str, Any] = {
            "states": some.put("states", kept.states),
            "actions": some.put("actions", kept.actions, numbers),
            "rewards": some.put("rewards", kept.rewards),
        }
        if kept.weights is not None:
            parts["weights"] = some.put("weights", kept.weights)
        if room is not None:
            return replace(kept, **parts)
        names = ("starts", "final_states", "endings", "episode_ids", "dt", "groups", "group_name")
        return Log(**parts, **{name: getattr(kept, name) for name in names}, schema=self.schema)

    def weighing(self, log: Log) -> Weighing:
        """Return which steps of a piece count, and how much."""
        if self.grid is None or log.weights is None:
            return Weighing()
        whole = self.grid.whole(log.weights)
        counts = whole > 0
        rows = None if counts.all() else np.flatnonzero(counts)
        return Weighing(rows, None if self.weights is None else whole[counts].astype(np.int64))

    def hashes(self, span: Span) -> npt.NDArray[np.uint64]:
        """Return the hashes of a piece's episodes."""
        return self.cache.read(LOG, span.number, mapped=True)[0]["hashes"]

    def values(self, span: Span, log: Log, *, raw: bool = False) -> F64:
        """Return the values of a piece; raw: even where they differ by rounding errors only."""
        if self.flat is not None and not raw:
            return np.full(log.n_samples, self.flat)
        tail = np.zeros(log.n_episodes)
        if self.settled is not None:
            truncated = np.flatnonzero(log.endings == TRUNCATED)
            if len(truncated):
                tail[truncated] = self.settled.value[self.settled.tree.apply(end_states(log, truncated))]
        if span.after:
            tail[-1] = self.carry[span.number]
        return _kernel.discounted(log.rewards.astype(np.float64, copy=False), log.starts, self.gamma, tail)

    def carried(self, spans: Sequence[Span]) -> Work:
        """Return the same with the values that cut episodes go on with, found from their ends backwards."""
        work = replace(self, carry={})
        carry: dict[int, float] = {}
        for span in reversed(spans):
            if span.before:
                work = replace(work, carry=carry)
                carry[span.number - 1] = float(work.values(span, work.kept(span), raw=True)[0])
        return replace(self, carry=carry)


@dataclass(frozen=True, eq=False)
class Surveyed:
    """What the imported pieces say about the whole log."""

    schema: Schema
    states: tuple[F64, F64]
    rewards: float
    ends: dict[int, tuple[int, F64]]


def survey_pieces(cache: Cache, disk: DiskLog, spans: Sequence[Span], others: Sequence[int]) -> Surveyed:
    """Put together what was noted with every piece, and with the others, none of whose episodes counts.

    The schema is that of the whole log, as in memory.
    """
    low, high = np.full(disk.n_features, np.inf), np.full(disk.n_features, -np.inf)
    seen = [cache.read(SEEN, number)[1] for number in others]
    rewards = 0.0
    ends: dict[int, tuple[int, F64]] = {}
    for span in spans:
        arrays, facts = cache.read(LOG, span.number, mapped=True)
        seen.append(facts)
        low, high = np.minimum(low, facts["states"][0]), np.maximum(high, facts["states"][1])
        rewards = max(rewards, facts["rewards"])
        if span.before:
            # Where its first episode ends, or that it goes on here, too.
            only = len(arrays["endings"]) == 1
            if not (only and span.after):
                last = int(arrays["starts"][1]) - 1
                final = np.array(arrays["final_states"][0], np.float64)
                state = np.where(np.isnan(final), arrays["states"][last].astype(np.float64), final)
                ends[span.number - 1] = (int(arrays["endings"][0]), state)
    for span in reversed(spans):
        if span.before and span.after and span.number in ends and span.number - 1 not in ends:
            ends[span.number - 1] = ends[span.number]
    lowest, highest = (np.array([facts["reach"][side] for facts in seen]) for side in range(2))
    schemas = [Schema.from_dict(facts["schema"]) for facts in seen]
    schema = join_schemas(schemas, (lowest.min(axis=0), highest.max(axis=0)), disk.roles)
    return Surveyed(schema, (low, high), rewards, ends)
