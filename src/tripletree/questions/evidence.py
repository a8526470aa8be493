"""Evidence: what the recorded episodes really did, as far as a question needs it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self

import numpy as np
import numpy.typing as npt

from tripletree.answers.chance import Seen
from tripletree.asking.given import Given, read_given
from tripletree.asking.places import Zone, is_state, read_place, read_zone
from tripletree.asking.states import read_state
from tripletree.errors import ParameterError
from tripletree.graph import count
from tripletree.graph.futures import Episodes, Event
from tripletree.graph.nearest import nearest_visits, votes
from tripletree.language import conditions
from tripletree.log.log import Log
from tripletree.log.recording import Recording
from tripletree.model.evaluate import check_same_schema
from tripletree.model.fitted import Fitted
from tripletree.text import Message, Option

F64 = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Visits:
    """Where a question begins, as rows of a recording.

    Attributes
    ----------
    rows : int array, or bool array of shape (samples,)
        The rows.
    text : str
        The start in words.
    distance : float or None
        Of a single state: how far its farthest neighbour is, as a share of the features' ranges; None otherwise.
    outside : bool
        Whether it is a state outside the range of the training log.
    """

    rows: npt.NDArray[Any]
    text: str
    distance: float | None = None
    outside: bool = False

    @classmethod
    def near(cls, begin: Begin, rows: npt.NDArray[np.int64], distance: F64) -> Self:
        """Return the neighbours of a state, the nearest with more votes."""
        far = float(distance[-1]) if len(rows) else None
        return cls(np.repeat(rows, votes(distance)), begin.text, far, begin.outside)

    def once(self) -> Visits:
        """Return the same with one vote each."""
        return replace(self, rows=np.unique(self.rows))


@dataclass(frozen=True, eq=False)
class Begin:
    """Where a question begins, as it was asked: near a state, in a zone, or where episodes begin.

    Attributes
    ----------
    state : float64 array of shape (features,), or None
        The state.
    zone : Zone or None
        The zone.
    text : str
        Either in words.
    outside : bool
        Whether it is a state outside the range of the training log.
    """

    state: F64 | None
    zone: Zone | None
    text: str
    outside: bool = False


STARTS = Begin(None, None, conditions.STARTS)


def read_begin(fitted: Fitted, start: Any) -> Begin:
    """Return where a question begins, from what was given as its start."""
    if start is None:
        return STARTS
    start = read_place(fitted, start, "start")
    if is_state(fitted, start):
        state = read_state(start, fitted.schema, "start", finite=False)
        return Begin(state, None, conditions.state(fitted.schema, state.tolist()), bool(fitted.outside(state)))
    zone = read_zone(fitted, start, "start")
    if zone.end:
        raise ParameterError(Message("{} must hold a state: nothing follows the end.", Option("start")))
    return Begin(None, zone, zone.text)


@dataclass(frozen=True, eq=False)
class Evidence:
    """A recording with the leaf of each of its states.

    Attributes
    ----------
    fitted : Fitted
        The tree.
    recording : Recording
        The episodes.
    leaf : int32 array of shape (samples,)
        Leaf of each state.
    final_leaf : int32 array of shape (episodes,)
        Leaf of each final state; 0 where it is unknown.
    episodes : Episodes
        Where episodes begin and how they end, for counting.
    """

    fitted: Fitted
    recording: Recording
    leaf: npt.NDArray[np.int32]
    final_leaf: npt.NDArray[np.int32]
    episodes: Episodes

    @classmethod
    def of(cls, fitted: Fitted, recording: Recording, threads: int = 1) -> Evidence:
        """Return the evidence of a recording."""
        known = ~np.isnan(recording.final_states[:, 0])
        finals = np.where(known[:, None], recording.final_states, fitted.feature_min)
        return cls(
            fitted,
            recording,
            fitted.tree.apply(recording.states, threads),
            fitted.tree.apply(finals, threads),
            Episodes.of(recording.starts, recording.endings, known, recording.groups),
        )

    def event(self, zone: Zone) -> Event:
        """Return where the recording is in a zone."""
        finals = zone.holds(self.recording.final_states, self.final_leaf) & self.episodes.final
        return Event(zone.holds(self.recording.states, self.leaf), finals, zone.end)

    def given(self, condition: Any, ids: Collection[str] | None = None) -> Given | None:
        """Return which episodes and moments meet a condition, of which ``ids`` may be named; None for no condition."""
        if condition is None:
            return None
        return read_given(self.fitted, self.recording, self.event, condition, ids=ids)

    def visits(self, start: Any, given: Given | None = None) -> Visits:
        """Return where a question begins: at all starts of episodes, near a state, or all the time spent in a zone."""
        fitted, recording = self.fitted, self.recording
        among = None if given is None else given.rows
        begin = read_begin(fitted, start)
        if begin.state is not None:
            rows, distance = nearest_visits(
                recording.states, recording.starts, begin.state, fitted.span, among, periods=fitted.schema.periods
            )
            return Visits.near(begin, rows, distance)
        if begin.zone is None:
            rows = recording.starts[:-1]
            if recording.first is not None:
                rows = rows[recording.first == 0]
            return Visits(rows if among is None else rows[among[rows]], begin.text)
        inside = begin.zone.holds(recording.states, self.leaf)
        return Visits(inside if among is None else inside & among, begin.text)

    def chance(self, visits: Visits, goal: Zone, avoid: Zone | None, within: int | None) -> count.Chance:
        """Count who reaches a zone, before another one and within so many steps."""
        return count.chance(self.episodes, visits.rows, self.event(goal), self._avoided(avoid), within)

    def steps(self, visits: Visits, goal: Zone, avoid: Zone | None) -> count.Steps:
        """Count how many steps it takes to reach a zone."""
        return count.steps(self.episodes, visits.rows, self.event(goal), self._avoided(avoid))

    def sample(self) -> Evidence:
        """Return episodes in memory; there are no others."""
        return self

    def _avoided(self, zone: Zone | None) -> Event | None:
        return None if zone is None else self.event(zone)

    def seen(self, visits: Visits, episodes: int, rows: int, groups: int, only: Given | None) -> Seen:
        """Return who was seen at the start: so many episodes, rows and groups, of those that meet a condition."""
        recording = self.recording
        meeting = recording.n_episodes
        if only is not None:
            meeting = int(np.logical_or.reduceat(only.rows, recording.starts[:-1]).sum())
        return Seen(
            start=visits.text,
            recorded=meeting,
            episodes=episodes,
            visits=rows if visits.distance is None else episodes,
            distance=visits.distance,
            outside=visits.outside,
            groups=None if recording.groups is None else groups,
            group_name=recording.group_name,
            given=None if only is None else only.text,
            given_words="" if only is None else only.words,
            hindsight=only is not None and only.hindsight,
        )


class Counting(Protocol):
    """What counts recorded episodes: an `Evidence` in memory, or on disk."""

    def given(self, condition: Any, /) -> Any:
        """Return which episodes and moments meet a condition; None for no condition."""

    def visits(self, start: Any, given: Any = None) -> Any:
        """Return where a question begins."""

    def chance(self, visits: Any, goal: Zone, avoid: Zone | None, within: int | None) -> count.Chance:
        """Count who reaches a zone."""

    def steps(self, visits: Any, goal: Zone, avoid: Zone | None) -> count.Steps:
        """Count how many steps it takes."""

    def seen(self, visits: Any, episodes: int, rows: int, groups: int, only: Any) -> Seen:
        """Return who was seen at the start."""

    def sample(self) -> Evidence:
        """Return episodes in memory: all, or as many as fit."""


def evidence(fitted: Fitted, log: Log | None, threads: int = 1) -> Evidence | None:
    """Return the evidence of a log or, without one, of what the model kept of its own; None if it kept nothing."""
    if log is not None:
        check_same_schema(fitted.schema, log, "log")
        found: Evidence = fitted.recall(log, "evidence", lambda: Evidence.of(fitted, Recording.of(log), threads))
        return found
    if fitted.track is None:
        return None
    kept = fitted.memory.get("evidence")
    if kept is None:
        kept = fitted.memory["evidence"] = Evidence.of(fitted, fitted.track.recording, threads)
    return kept


def recorded(found: Evidence | None) -> Evidence:
    """Return the episodes to count; raise ParameterError if there are none."""
    if found is None:
        raise ParameterError(
            Message(
                "This is counted over recorded episodes, and the tree keeps none, because it was grown with {} or {}. "
                "Give the log: {}.",
                Option("keep", "leaves"),
                Option("keep", "nothing"),
                Option("log", ...),
            )
        )
    return found
