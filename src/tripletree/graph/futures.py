"""Futures: what became of visits to recorded states, and after how many steps."""

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

CENSORED, REACHED, MISSED = range(3)
CAUSES = 3
FAR = 2**62
"""A row beyond all others."""


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
    beyond : int
        Steps of the last episode after these rows, where they are a part of a recording; its ending and final state are
        those of the whole.
    """

    starts: I64
    endings: npt.NDArray[np.uint8]
    final: Mask
    group: I64
    beyond: int = 0

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

    @cached_property
    def stops(self) -> I64:
        """Where each episode ends; the last one may go on beyond these rows."""
        stops = self.starts[1:].copy()
        stops[-1:] += self.beyond
        return stops


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
    beyond : int or None
        Where the last episode goes on beyond these rows: how many rows after them it is so next, its end included;
        None if never.
    """

    rows: Mask
    finals: Mask | None = None
    end: bool = False
    beyond: int | None = None


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
    to_goal = next_rows(episodes, goal)[rows]
    to_avoid = to_goal + 1 if avoid is None else next_rows(episodes, avoid)[rows]
    over = episodes.terminated[of_row]
    # Without a final state the last thing known is the last row.
    last = episodes.stops[of_row] - (~over & ~episodes.final[of_row])
    at = np.minimum(np.minimum(to_goal, to_avoid), last)
    cause = np.where(over, MISSED, CENSORED).astype(np.uint8)
    cause[to_avoid <= last] = MISSED
    cause[(to_goal <= last) & (to_goal <= to_avoid)] = REACHED
    return at - rows, cause


def next_rows(episodes: Episodes, event: Event) -> I64:
    """Return for each row where its episode next meets an event: the row, the end, or far beyond all rows."""
    n, of_row = int(episodes.starts[-1]), episodes.of_row
    finals = np.zeros(len(episodes.endings), bool) if event.finals is None else event.finals & episodes.final
    if event.end:
        finals = finals | episodes.terminated
    following = np.minimum.accumulate(np.where(event.rows, np.arange(n), FAR)[::-1])[::-1]
    otherwise = np.where(finals, episodes.stops, FAR)
    if episodes.beyond:
        otherwise[-1] = FAR if event.beyond is None else n + event.beyond
    return np.where(following < episodes.starts[1:][of_row], following, otherwise[of_row])
