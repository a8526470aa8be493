"""Futures: what became of visits to recorded states, and what can be said of those that the recording cut off."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.log.log import TERMINATED

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

FEWEST_AT_RISK = 5
"""Outcomes that were cut off are filled in from at least this many episodes that were watched for longer."""
CENSORED, REACHED, MISSED, UNRESOLVED = range(4)


@dataclass(frozen=True, eq=False)
class Episodes:
    """Where episodes begin, how they ended, and which of them belong together.

    Attributes
    ----------
    starts : int64 array of shape (episodes + 1,)
        Episode ``e`` is rows ``starts[e]`` to ``starts[e + 1]``.
    endings : uint8 array of shape (episodes,)
        As in a Log. Everything but ``TERMINATED`` is the end of the recording only.
    final : bool array of shape (episodes,)
        Whether the state after the last step is known.
    group : int64 array of shape (episodes,)
        Episodes with one number depend on each other (one pilot, one vehicle): the unit of intervals.
    """

    starts: I64
    endings: npt.NDArray[np.uint8]
    final: Mask
    group: I64

    @classmethod
    def of(cls, starts: Any, endings: Any, final: Any = None, group: Any = None) -> Episodes:
        """Return episodes; final states are unknown and each episode is its own group unless given."""
        n = len(endings)
        known = np.zeros(n, bool) if final is None else np.asarray(final, bool)
        groups = np.arange(n) if group is None else np.unique(np.asarray(group), return_inverse=True)[1].reshape(-1)
        return cls(np.asarray(starts, np.int64), np.asarray(endings, np.uint8), known, groups.astype(np.int64))

    @cached_property
    def of_row(self) -> I64:
        """The episode of each row."""
        return np.repeat(np.arange(len(self.endings)), np.diff(self.starts))

    @cached_property
    def terminated(self) -> Mask:
        """Whether nothing follows each episode."""
        return np.asarray(self.endings == TERMINATED)


@dataclass(frozen=True, eq=False)
class Event:
    """Something that may happen: where it is so.

    Attributes
    ----------
    rows : bool array of shape (samples,)
        In which recorded states.
    finals : bool array of shape (episodes,), optional
        In which final states; False where they are unknown.
    end : bool
        Whether the end itself counts, when nothing follows it.
    """

    rows: Mask
    finals: Mask | None = None
    end: bool = False


@dataclass(frozen=True, eq=False)
class Groups:
    """The groups that some visits belong to, numbered from 0."""

    index: I64
    number: int

    @classmethod
    def of(cls, group: I64) -> Groups:
        """Return the groups of visits from their numbers."""
        named, index = np.unique(group, return_inverse=True)
        return cls(index.reshape(-1), len(named))

    def sums(self, values: npt.NDArray[Any]) -> F64:
        """Return the sum of the visits' values in each group."""
        return np.bincount(self.index, values, self.number).astype(np.float64)


def read_rows(visits: npt.NDArray[Any]) -> I64:
    """Return the row numbers of visits, which may be flags of all rows."""
    visits = np.asarray(visits)
    return np.flatnonzero(visits) if visits.dtype == bool else visits.astype(np.int64)


def outcomes(episodes: Episodes, rows: I64, goal: Event, avoid: Event | None) -> tuple[I64, npt.NDArray[np.uint8]]:
    """Return after how many steps the future of each row is decided, or no longer recorded, and how."""
    of_row = episodes.of_row[rows]
    stop = episodes.starts[1:][of_row]
    to_goal = _first(episodes, goal)[rows]
    to_avoid = to_goal + 1 if avoid is None else _first(episodes, avoid)[rows]
    over = episodes.terminated[of_row]
    # Without a final state the last thing known is the last row.
    last = stop - (~over & ~episodes.final[of_row])
    at = np.minimum(np.minimum(to_goal, to_avoid), last)
    cause = np.where(over, MISSED, CENSORED).astype(np.uint8)
    cause[to_avoid <= last] = MISSED
    cause[(to_goal <= last) & (to_goal <= to_avoid)] = REACHED
    return at - rows, cause


def _first(episodes: Episodes, event: Event) -> I64:
    """Return for each row where its episode next meets an event: the row, the end, or far beyond all rows."""
    n, of_row = int(episodes.starts[-1]), episodes.of_row
    finals = np.zeros(len(episodes.endings), bool) if event.finals is None else event.finals & episodes.final
    if event.end:
        finals = finals | episodes.terminated
    following = np.minimum.accumulate(np.where(event.rows, np.arange(n), 2 * n)[::-1])[::-1]
    stop = episodes.starts[1:]
    otherwise = np.where(finals, stop, 2 * n)
    return np.where(following < stop[of_row], following, otherwise[of_row])


def incidence(time: I64, cause: npt.NDArray[np.uint8], horizon: int, episode: I64) -> tuple[float, F64, float]:
    """Return the share that has reached the goal by the horizon, each visit's influence on it, and what is unresolved.

    This is the Aalen-Johansen estimator. A visit's influence is the derivative of the share by the visit's weight, so
    that sums over a group are what the group contributes to the error. Without censoring the share is the plain one.
    ``episode`` is that of each visit.
    """
    n = len(time)
    reached = (cause == REACHED) & (time <= horizon)
    cut = (cause == CENSORED) & (time < horizon)
    if not cut.any():
        share = float(np.count_nonzero(reached) / n)
        return share, (reached - share) / n, 0.0
    cause = cause.copy()
    longest = np.full(int(episode.max()) + 1, -1)
    np.maximum.at(longest, episode, time)
    longest = np.sort(longest[longest >= 0])
    watched = longest[-FEWEST_AT_RISK] if len(longest) >= FEWEST_AT_RISK else -1
    # A single visit in the tail would otherwise stand for all that were cut off before.
    cause[cut & (time >= watched)] = UNRESOLVED
    size = int(min(horizon, time.max())) + 1
    counted = (time < size) & (cause != CENSORED)
    goal, every, lost = (
        np.bincount(time[counted & which], minlength=size).astype(np.float64)
        for which in (reached, np.ones(n, bool), cause == UNRESOLVED)
    )
    leaving = np.bincount(np.minimum(time, size), minlength=size + 1)
    at_risk = np.maximum(n - np.append(0, np.cumsum(leaving[: size - 1])), 1).astype(np.float64)
    hazard = every / at_risk
    left = np.cumprod(1.0 - hazard)
    before = np.append(1.0, left[:-1])
    gained = np.cumsum(before * goal / at_risk)
    share, unresolved = float(gained[-1]), float((before * lost / at_risk).sum())
    # What those who leave at a time can no longer gain.
    ahead = np.divide(share - gained, 1.0 - hazard, out=np.zeros(size), where=hazard < 1.0)
    drift = np.cumsum((before * goal / at_risk - ahead * hazard) / at_risk)
    inside = np.minimum(time, size - 1)
    jump = (before[inside] * reached - ahead[inside]) / at_risk[inside]
    influence = np.where(counted, jump, 0.0) - drift[inside]
    return min(share, 1.0), influence, min(unresolved, 1.0)
