"""Tallies: what became of visits, counted so that parts of a recording add up, and the shares that follow from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from tripletree.graph.futures import CAUSES, CENSORED, MISSED, REACHED

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

FEWEST_AT_RISK = 5
"""Outcomes that were cut off are filled in from at least this many episodes that were watched for longer."""
ANY = 2**62
"""The horizon where there is none."""


@dataclass(eq=False)
class Tally:
    """How many visits were decided how, and after how many steps; and what each episode adds to that.

    Attributes
    ----------
    key, count : int64 arrays
        ``3 * steps + cause``, from small to large, and how many visits have it.
    visits, known, reached, longest : int64 arrays of shape (episodes,)
        The visits of each episode, those whose fate by the horizon is known, those that reached the goal by then, and
        the longest time that one of them was watched for; -1 without visits.
    horizon : int
        The steps that count.
    """

    key: I64
    count: I64
    visits: I64
    known: I64
    reached: I64
    longest: I64
    horizon: int

    @classmethod
    def of(cls, time: I64, cause: npt.NDArray[np.uint8], episode: I64, number: int, horizon: int) -> Self:
        """Count visits of ``number`` episodes; time, cause and episode are those of each visit."""
        key, count = _counted(CAUSES * time + cause)
        longest = np.full(number, -1)
        np.maximum.at(longest, episode, time)
        cut, reached = (cause == CENSORED) & (time < horizon), (cause == REACHED) & (time <= horizon)
        known, there = (np.bincount(episode[which], minlength=number) for which in (~cut, reached))
        return cls(key, count, np.bincount(episode, minlength=number), known, there, longest, horizon)

    @classmethod
    def empty(cls, number: int, horizon: int) -> Self:
        """Return the tally of no visits to so many episodes."""
        none = np.zeros(0, np.int64)
        return cls.of(none, none.astype(np.uint8), none, number, horizon)

    def add(self, other: Tally, first: int) -> None:
        """Add a part whose episodes begin with this number; of an episode in several parts, all count."""
        key, place = np.unique(np.concatenate([self.key, other.key]), return_inverse=True)
        count = np.zeros(len(key), np.int64)
        np.add.at(count, place, np.concatenate([self.count, other.count]))
        self.key, self.count = key, count
        here = slice(first, first + len(other.visits))
        for name in ("visits", "known", "reached"):
            getattr(self, name)[here] += getattr(other, name)
        np.maximum(self.longest[here], other.longest, out=self.longest[here])

    @property
    def total(self) -> int:
        """The number of visits."""
        return int(self.count.sum())

    @property
    def episodes(self) -> int:
        """How many episodes made them."""
        return int(np.count_nonzero(self.visits))

    @property
    def cut(self) -> int:
        """Visits whose fate the recording cut off."""
        return self.total - int(self.known.sum())

    @property
    def at_once(self) -> bool:
        """Whether all visits are at the goal already."""
        return bool((self.key == REACHED).all())

    def at(self, cause: int) -> tuple[I64, I64]:
        """Return after how many steps visits had this fate, from few to many, and how many."""
        which = self.key % CAUSES == cause
        return self.key[which] // CAUSES, self.count[which]

    def incidence(self) -> Incidence:
        """Return the share that has reached the goal by the horizon, by the Aalen-Johansen estimator.

        Without censoring the share is the plain one.
        """
        n = self.total
        time, place = np.unique(self.key // CAUSES, return_inverse=True)
        table = np.zeros((CAUSES, len(time)), np.int64)
        table[self.key % CAUSES, place] = self.count
        inside = time <= self.horizon
        leaving = table.sum(axis=0)[inside].astype(np.float64)
        time, table = time[inside], table[:, inside].astype(np.float64)
        goal = table[REACHED]
        if not self.cut:
            share = float(goal.sum() / n)
            fates = np.full((CAUSES, len(time) + 1), (0.0 - share) / n)
            fates[REACHED, :-1] = (1.0 - share) / n
            return Incidence(share, 0.0, True, time, fates)
        longest = np.sort(self.longest[self.longest >= 0])
        watched = longest[-FEWEST_AT_RISK] if len(longest) >= FEWEST_AT_RISK else -1
        # A single visit in the tail would otherwise stand for all that were cut off before.
        lost = (time < self.horizon) & (time >= watched)
        every = goal + table[MISSED] + np.where(lost, table[CENSORED], 0.0)
        at_risk = np.maximum(n - np.append(0.0, np.cumsum(leaving[:-1])), 1.0)
        hazard = every / at_risk
        left = np.cumprod(1.0 - hazard)
        before = np.append(1.0, left[:-1])
        gained = np.cumsum(before * goal / at_risk)
        share = float(gained[-1])
        unresolved = float((before * np.where(lost, table[CENSORED], 0.0) / at_risk).sum())
        # What those who leave at a time can no longer gain.
        ahead = np.divide(share - gained, 1.0 - hazard, out=np.zeros(len(time)), where=hazard < 1.0)
        drift = np.cumsum((before * goal / at_risk - ahead * hazard) / at_risk)
        fates = np.tile(np.append(-drift, -drift[-1]), (CAUSES, 1))
        fates[REACHED, :-1] += (before - ahead) / at_risk
        fates[MISSED, :-1] += -ahead / at_risk
        fates[CENSORED, :-1] += np.where(lost, -ahead / at_risk, 0.0)
        return Incidence(min(share, 1.0), min(unresolved, 1.0), False, time, fates)


@dataclass(frozen=True, eq=False)
class Incidence:
    """A share, and how it depends on each visit.

    Attributes
    ----------
    share, unresolved : float
        What has reached the goal, and what could not be filled in from others: it may belong to the share or not.
    complete : bool
        Whether the fate of all visits is known.
    time : int64 array
        Steps after which something was decided, up to the horizon.
    fates : float64 array of shape (causes, times + 1)
        The derivative of the share by the weight of a visit with this fate at this time, last of all later ones: sums
        over a group are what the group contributes to the error.
    """

    share: float
    unresolved: float
    complete: bool
    time: I64
    fates: F64

    def influence(self, time: I64, cause: npt.NDArray[np.uint8]) -> F64:
        """Return the influence of visits, given their times and fates."""
        size = int(self.time[-1]) + 1 if len(self.time) else 0
        if size > 4 * len(time) + 1_000:
            place = np.searchsorted(self.time, time)
        else:
            places = np.full(size + 1, len(self.time))
            places[self.time] = np.arange(len(self.time))
            place = places[np.minimum(time, size)]
        found: F64 = self.fates[cause, place]
        return found


def _counted(keys: I64) -> tuple[I64, I64]:
    """Return the numbers that there are, from small to large, and how often."""
    if len(keys) and int(keys.max()) > 4 * len(keys) + 1_000:
        key, count = np.unique(keys, return_counts=True)
        return key, count.astype(np.int64)
    dense = np.bincount(keys)
    key = np.flatnonzero(dense)
    return key, dense[key].astype(np.int64)
