"""Recorded ways: what episodes really did between two places, bent onto the states asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.answers import trajectories
from tripletree.answers.trajectories import Trajectories, Trajectory
from tripletree.asking.places import Zone, is_state, read_place, read_zone
from tripletree.asking.states import read_state
from tripletree.errors import ParameterError
from tripletree.graph.segments import (
    AROUND,
    AT_LEAST,
    MOST,
    Segments,
    alternatives,
    bent,
    distances,
    duration,
    typical,
    within,
)
from tripletree.graph.ways import BRIDGE, NONE, SEGMENT, Found, find, joined
from tripletree.language import conditions
from tripletree.model.fitted import Fitted
from tripletree.questions.evidence import Evidence
from tripletree.questions.ground import Ground, ground_of
from tripletree.text import Message, Option

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]

LEAST_TIMED = 5
"""Episodes whose durations count at least, if there are as many. Those that go less than half of the way between two
states come after them: with them, unseen durations lie between 10 and 90 % no more often, and the median is off by
more."""
CORNER = 0.1
"""A way turns where it is this far from straight, as a share of a feature's range."""
MOST_WAYS = 100_000
"""Most ways of one question: more take minutes, and nobody looks at them."""
MOST_CORNERS = 4
"""Turns that are told at most."""


@dataclass(frozen=True, eq=False)
class Place:
    """One end of a way.

    Attributes
    ----------
    state : float64 array of shape (features,), or None
        The state, if it is one.
    zone : Zone or None
        The zone otherwise.
    mask : bool array of shape (leaves + 1,)
        Its leaves; the last entry is the end.
    text : str
        The place in words.
    outside : bool
        Whether it is a state outside the range of the training log.
    """

    state: F64 | None
    zone: Zone | None
    mask: Bool
    text: str
    outside: bool

    @classmethod
    def read(cls, fitted: Fitted, place: Any, name: str) -> Place:
        """Return a place in any form that `TripleTree.simulate` takes."""
        place = read_place(fitted, place, name)
        if not is_state(fitted, place):
            zone = read_zone(fitted, place, name)
            return cls(None, zone, zone.mask, zone.text, False)
        state = read_state(place, fitted.schema, name)
        mask = np.arange(fitted.tree.n_leaves + 1) == fitted.tree.apply(state[None])[0]
        return cls(state, None, mask, conditions.state(fitted.schema, state.tolist()), bool(fitted.outside(state)))

    def on(self, ground: Ground) -> F64 | Bool:
        """Return the state, or the rows of the zone."""
        if self.zone is not None:
            return ground.rows_in(self.zone)
        return np.asarray(self.state, np.float64)


def recorded_ways(
    fitted: Fitted,
    found: Evidence,
    start: Any,
    end: Any,
    *,
    k: int = 1,
    pairs: bool | int = False,
    aligned: bool = True,
    progress: Callable[[int, int], None] | None = None,
) -> Trajectories | str:
    """Return ways that recorded episodes went; why there is none, in words, if there is none.

    Parameters
    ----------
    fitted : Fitted
        The tree.
    found : Evidence
        The episodes.
    start, end, k, pairs, aligned, progress
        As in :func:`~tripletree.questions.simulate.simulate`.
    """
    first, last = Place.read(fitted, start, "start"), Place.read(fitted, end, "end")
    if first.mask[-1]:
        raise ParameterError(Message("{} must hold leaves only: nothing follows the end.", Option("start")))
    ground = ground_of(found, to_end=bool(last.mask[-1]))
    a, b = first.on(ground), last.on(ground)
    here = _already(ground, first, last, a, b)
    if here is not None:
        return _there(fitted, here, first, last, aligned)
    # A constant feature has no range, and does not count.
    scale, periods = fitted.feature_max - fitted.feature_min, fitted.schema.periods
    way = find(ground.states, ground.starts, ground.place, a, b, (first.mask, last.mask), scale, periods=periods)
    because = trajectories.why(way.reasons, first.text, last.text, (first.state is not None, last.state is not None))
    if way.method == NONE:
        return because
    maker = _Maker(fitted, ground, way, first, last, scale, aligned)
    chosen, shares = (None, [None]) if way.method == BRIDGE else maker.choose(k, pairs)
    ways: list[Trajectory] = []
    for number, share in enumerate(shares):
        ways.append(maker.make(way.segments if chosen is None else chosen[number : number + 1], share))
        if progress is not None:
            progress(number + 1, len(shares))
    zones = first.zone is not None and last.zone is not None
    # What several episodes did together, none of them did: nobody knows how long it takes.
    timed = None if chosen is None else way.segments if zones else _timed(way.segments, first, last, scale, periods)
    answer = Trajectories(
        found=tuple(ways),
        reachable=None,
        start=first.text,
        end=last.text,
        outside=first.outside or last.outside,
        text="",
        method=way.method,
        reason="" if way.method == SEGMENT else trajectories.instead(way.method, because),
        episodes=None if timed is None else len(np.unique(timed.episode)),
        came=_came(ground, a) if zones and way.method == SEGMENT else None,
        steps=None if timed is None else duration(timed),
    )
    return trajectories.with_text(answer)


def _timed(segments: Segments, first: Place, last: Place, scale: F64, periods: Sequence[float]) -> Segments:
    """Return the segments whose durations count: the nearest, as long as they go half of the way."""
    near = within(segments, AROUND, AT_LEAST)
    if first.state is None or last.state is None:
        return near
    apart = distances(first.state[None], last.state, scale, periods)[0]
    return near[: max(np.count_nonzero(near.gap <= apart / 2), LEAST_TIMED)]


def _came(ground: Ground, rows: Any) -> int:
    """Return how many episodes have a row among some."""
    return int(np.logical_or.reduceat(rows, ground.starts[:-1]).sum())


def _already(ground: Ground, first: Place, last: Place, a: Any, b: Any) -> F64 | None:
    """Return the state asked for, or one of the start zone, if the end is there; None if it is elsewhere."""
    if first.state is not None and last.zone is not None:
        inside = last.zone.holds(first.state[None], np.flatnonzero(first.mask).astype(np.int32))[0]
        return first.state if inside else None
    if first.state is not None and last.state is not None:
        return first.state if (first.state == last.state).all() else None
    if last.zone is None or not a.any() or not b[a].all():
        return None
    return np.asarray(ground.states[a.argmax()], np.float64)


def _there(fitted: Fitted, here: F64, first: Place, last: Place, aligned: bool) -> Trajectories:
    leaf, nodes = fitted.tree.apply(here[None]).astype(np.int64), here[None] if aligned else None
    outside = first.outside or last.outside
    text = trajectories.already(first.text, last.text)
    way = Trajectory(leaf, False, None, 0.0, None, nodes, None, None, text, method=SEGMENT, moved=0.0)
    text += trajectories.outside() if outside else ""
    return Trajectories((way,), None, first.text, last.text, outside, text, method=SEGMENT)


@dataclass(frozen=True, eq=False)
class _Maker:
    """Chooses among what was found, and makes trajectories of it."""

    fitted: Fitted
    ground: Ground
    way: Found
    first: Place
    last: Place
    scale: F64
    aligned: bool

    def choose(self, k: int, pairs: bool | int) -> tuple[Segments, list[float | None]]:
        """Return the segments to follow, and the share of the episodes that each stands for.

        A fan, and any ways between two zones, stand for all episodes that went there. Near a state the medoid of the
        nearest comes first, and then one of each other episode, the nearest first: these stand for themselves.
        """
        every, zones = self.way.segments, self.first.zone is not None and self.last.zone is not None
        ends: dict[str, Any] = {"a": self.first.state, "b": self.last.state, "periods": self.fitted.schema.periods}
        if pairs or zones:
            some = every if zones else within(every, AROUND, AT_LEAST)
            if pairs is True:
                if len(some) > MOST_WAYS:
                    said = "{:,} passages were recorded. Type {} for ways that stand for all, or give smaller zones."
                    raise ParameterError(Message(said, len(some), Option("pairs", 100)))
                votes = some.votes
                return some, list((votes / votes.sum()).tolist())
            chosen, shares = typical(self.ground.states, some, self.scale, min(int(pairs) or k, MOST), **ends)
            return some[chosen], list(shares.tolist())
        medoid = int(typical(self.ground.states, within(every), self.scale, **ends)[0][0])
        chosen = np.append(medoid, alternatives(every, medoid)[: k - 1])
        return every[chosen], [None] * len(chosen)

    def make(self, segments: Segments, share: float | None) -> Trajectory:
        """Return the trajectory along a segment, or along the stretches of a bridge."""
        fitted, ground, states = self.fitted, self.ground, self.ground.states
        ends = bool(self.last.mask[-1])
        stop = segments.last[-1] + (0 if ends and ground.unknown[segments.episode[-1]] else 1)
        if self.way.method == BRIDGE:
            a, b = (np.zeros(1, bool) if place.state is None else place.state for place in (self.first, self.last))
            path, moved = joined(states, segments, a, b, self.scale)
            path = path[: len(path) - (segments.last[-1] + 1 - stop)]
        else:
            ends_at, periods = (self.first.state, self.last.state), fitted.schema.periods
            path, far = bent(ground.path(int(segments.first[0]), int(stop)), *ends_at, self.scale, periods)
            moved = float(far)
            self._wrap(path, periods)
            if self.first.state is not None:
                path[0] = self.first.state  # also where the end follows at once, and it is the only row
        # Between its ends a way has whole numbers where the log has: nobody is half in contact.
        path[1:-1, fitted.whole] = np.rint(path[1:-1, fitted.whole])
        path = np.ascontiguousarray(path)
        leaf = fitted.tree.apply(path).astype(np.int64)
        sources = ground.sources(segments)
        return Trajectory(
            leaves=leaf[np.append(True, leaf[1:] != leaf[:-1])],
            ends=ends,
            probability=None,
            duration=float(segments.steps.sum()),
            counts=None,
            nodes=path if self.aligned else None,
            angles=None,
            objective=None,
            text=trajectories.follow(sources, moved, self.first.text, self.last.text, self._turns(path, leaf)),
            method=self.way.method,
            sources=tuple(sources),
            moved=moved,
            share=share,
        )

    def _wrap(self, path: F64, periods: Sequence[float]) -> None:
        """Bring angles that were moved out of their range back into it, from the other side, in place."""
        for f, period in enumerate(periods):
            if period:
                low, high = self.fitted.feature_min[f], self.fitted.feature_max[f]
                path[:, f] += period * ((path[:, f] < low) & (path[:, f] + period <= high))
                path[:, f] -= period * ((path[:, f] > high) & (path[:, f] - period >= low))

    def _turns(self, path: F64, leaf: I64) -> list[str]:
        """Return where a way turns, each with the action until there, and the action on its last stretch."""
        at, schema = self.fitted.leaves, self.fitted.schema
        corners = corners_of(path, self.scale)
        best = None if at.mode is None else at.mode[leaf]
        told = []
        for begin, end in pairwise(corners):
            action = "" if best is None else trajectories.mostly(schema, best[begin : max(end, begin + 1)])
            if end == corners[-1]:
                told.append(action)
            else:
                told.append(trajectories.turn(schema, "", path[begin], path[end], self.scale) + action)
        return told or [""]


def corners_of(path: F64, scale: F64) -> list[int]:
    """Return the rows of a path between which it is about straight, the first and the last included.

    Each further corner is the row that is farthest from the straight lines between those before, in time; up to
    ``MOST_CORNERS`` of them, and none where all are near.
    """
    scaled = path / np.where(scale > 0, scale, np.inf)
    rows = np.arange(len(path))
    corners = [0, len(path) - 1]
    while len(path) > 1 and len(corners) < MOST_CORNERS + 2:
        line = np.stack([np.interp(rows, corners, column[corners]) for column in scaled.T], axis=1)
        away = np.abs(scaled - line).max(axis=1)
        if away.max() < CORNER:
            break
        corners = sorted([*corners, int(away.argmax())])
    return corners if len(path) > 1 else [0]
