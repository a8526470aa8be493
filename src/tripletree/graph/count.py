"""Counting: what the recorded episodes really did next, with the uncertainty of having seen only these episodes.

A question begins at visits (rows of the log) and looks at the real future of each: when it came to the goal, to what
it should avoid, to its end, or to the end of the recording. All visits weigh the same, so an answer is an average over
time; its interval treats whole episodes (or groups of them) as independent, and never the steps within one.

Outcomes that the recording cut off are filled in from visits that were watched for longer (the Aalen-Johansen
estimator; Kaplan and Meier's with one kind of event). Where hardly an episode was, nothing is filled in: that share is
``unresolved``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.graph.futures import CENSORED, MISSED, REACHED, Episodes, Event, Groups, outcomes, read_rows
from tripletree.graph.intervals import jackknife, mean_bounds, share_bounds, share_intervals
from tripletree.graph.tally import ANY, Incidence, Tally

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

QUANTILES = (0.1, 0.5, 0.9)


@dataclass(frozen=True)
class Chance:
    """How often something was reached.

    Attributes
    ----------
    probability : float or None
        The share of visits that reach it; None without visits.
    interval : tuple of two floats or None
        Where the share over all episodes to come is expected to be, with 95 % confidence.
    visits, episodes, groups : int
        Visits of the start, and the episodes and groups that made them.
    reached : int
        Episodes in which at least one visit was seen to reach it.
    censored : float
        Share of visits whose outcome the recording cut off.
    unresolved : float
        Probability that could not be filled in from others: it may belong to ``probability`` or not.
    there : bool
        Whether all visits are at the goal already.
    """

    probability: float | None
    interval: tuple[float, float] | None
    visits: int
    episodes: int
    groups: int
    reached: int
    censored: float
    unresolved: float
    there: bool = False


@dataclass(frozen=True)
class Steps:
    """How many steps it took those that arrived.

    Attributes
    ----------
    mean : float or None
        Over visits that were seen to arrive; None if none was.
    interval : tuple of two floats or None
        95 % confidence; None where too few groups arrived to tell.
    quantiles : tuple of int or None
        Steps within which 10, 50 and 90 % of them arrived.
    visits, episodes, groups : int
        Visits of the start, and the episodes and groups that made them.
    arrived : int
        Episodes in which at least one visit was seen to arrive.
    missed : float
        Share of visits that ended, or came to what they should avoid, before.
    censored : float
        Share of visits that had not arrived when the recording ended.
    there : bool
        Whether all visits are at the goal already.
    """

    mean: float | None
    interval: tuple[float, float] | None
    quantiles: tuple[int, ...] | None
    visits: int
    episodes: int
    groups: int
    arrived: int
    missed: float
    censored: float
    there: bool = False


@dataclass(frozen=True, eq=False)
class Later:
    """Where it was so many steps later, or over time: weighted rows of the log.

    Attributes
    ----------
    rows : int64 array
        Rows of the log; row ``samples + e`` is the final state of episode ``e``.
    weight : float64 array
        Their weights.
    group : int64 array
        Their groups.
    ended : float
        Share of visits whose episode was over. Weights, this and ``unresolved`` add up to 1.
    ended_group : int64 array
        The groups of visits that were seen to be over.
    censored : float
        Share of visits that the recording cut off before.
    unresolved : float
        Share that could not be filled in from visits that were watched for longer.
    visits, episodes, groups : int
        Visits of the start, and the episodes and groups that made them.
    """

    rows: I64
    weight: F64
    group: I64
    ended: float
    ended_group: I64
    censored: float
    unresolved: float
    visits: int
    episodes: int
    groups: int


def chance(
    episodes: Episodes, visits: npt.NDArray[Any], goal: Event, avoid: Event | None = None, within: int | None = None
) -> Chance:
    """Return the share of visits that reach ``goal``, before ``avoid`` and within so many steps.

    Who is at the goal has reached it in 0 steps; who comes to both at once has reached the goal.

    Parameters
    ----------
    episodes : Episodes
        The recording.
    visits : array of bool of shape (samples,), or of int
        The rows to start from.
    goal, avoid : Event
        What to reach, and what to reach it before.
    within : int, optional
        The number of steps; without it, any.
    """
    rows = read_rows(visits)
    if len(rows) == 0:
        return chance_of(Tally.empty(0, ANY), None)
    time, cause = outcomes(episodes, rows, goal, avoid)
    of_row = episodes.of_row[rows]
    tally = Tally.of(time, cause, of_row, len(episodes.endings), ANY if within is None else within)
    found = tally.incidence()
    influence = None
    if not found.complete:
        each = found.influence(time, cause)
        influence = np.bincount(episodes.group[of_row], each, len(episodes.endings)).astype(np.float64)
    return chance_of(tally, found, influence, episodes.group)


def chance_of(tally: Tally, found: Incidence | None, influence: F64 | None = None, group: I64 | None = None) -> Chance:
    """Return a chance from what was counted.

    Parameters
    ----------
    tally : Tally
        All visits.
    found : Incidence or None
        What follows from it; None without visits.
    influence : float64 array of shape (groups,), optional
        The sum of the visits' influence in each group; not needed where the fate of all visits is known.
    group : int64 array of shape (episodes,), optional
        The group of each episode; without it, each is its own.
    """
    n = tally.total
    if found is None:
        return Chance(None, None, 0, 0, 0, 0, 0.0, 0.0)
    visits, known, reached = (_by_group(numbers, group) for numbers in (tally.visits, tally.known, tally.reached))
    # Sums of whole numbers are the same in any order.
    sums = (reached - found.share * visits) / n if influence is None else influence[: len(visits)]
    there = visits > 0
    low, high = share_bounds(found.share, sums[there], known[there].astype(np.float64))
    return Chance(
        probability=found.share,
        interval=(low, high),
        visits=n,
        episodes=tally.episodes,
        groups=int(there.sum()),
        reached=int(np.count_nonzero(tally.reached)),
        censored=tally.cut / n,
        unresolved=found.unresolved,
        there=tally.at_once,
    )


def steps(episodes: Episodes, visits: npt.NDArray[Any], goal: Event, avoid: Event | None = None) -> Steps:
    """Return how many steps visits take to ``goal``, of those that arrive within the record (see :func:`chance`)."""
    rows = read_rows(visits)
    number = len(episodes.endings)
    if len(rows) == 0:
        return steps_of(Tally.empty(number, ANY), np.zeros(number, np.int64))
    time, cause = outcomes(episodes, rows, goal, avoid)
    of_row = episodes.of_row[rows]
    return steps_of(Tally.of(time, cause, of_row, number, ANY), times_of(time, cause, of_row, number), episodes.group)


def times_of(time: I64, cause: npt.NDArray[np.uint8], episode: I64, number: int) -> I64:
    """Return the steps that visits took to the goal, added up over each of so many episodes."""
    there = cause == REACHED
    # Whole numbers below 2^53 are exact as doubles.
    return np.bincount(episode[there], time[there], number).astype(np.int64)


def steps_of(tally: Tally, took: I64, group: I64 | None = None) -> Steps:
    """Return how many steps it took, from what was counted; ``took`` has the sum of those that arrived by episode."""
    n = tally.total
    groups = int(np.count_nonzero(_by_group(tally.visits, group)))
    if n == 0:
        return Steps(None, None, None, 0, 0, 0, 0, 0.0, 0.0)
    time, often = tally.at(REACHED)
    missed, censored = (float(tally.at(cause)[1].sum() / n) for cause in (MISSED, CENSORED))
    arrived = int(often.sum())
    if not arrived:
        return Steps(None, None, None, n, tally.episodes, groups, 0, missed, censored)
    mean = float(took.sum() / arrived)
    sums, number = _by_group(took, group), _by_group(tally.reached, group)
    there = number > 0
    # As the quantiles of all of them, one by one: the smallest that at least so many are within.
    places = np.maximum(np.ceil(arrived * np.array(QUANTILES) - 1), 0)
    return Steps(
        mean=mean,
        interval=mean_bounds(mean, ((sums - mean * number) / arrived)[there], number[there].astype(np.float64)),
        quantiles=tuple(time[np.searchsorted(np.cumsum(often), places, side="right")].tolist()),
        visits=n,
        episodes=tally.episodes,
        groups=groups,
        arrived=int(np.count_nonzero(tally.reached)),
        missed=missed,
        censored=censored,
        there=tally.at_once,
    )


def _by_group(numbers: I64, group: I64 | None) -> I64:
    """Return whole numbers of episodes, added up over their groups."""
    if group is None:
        return numbers
    return np.bincount(group, numbers).astype(np.int64) if len(group) else numbers


def after(episodes: Episodes, visits: npt.NDArray[Any], k: int) -> Later:
    """Return where visits are ``k`` steps later: rows with weights, and the share whose episode was over by then."""
    return next(over_time(episodes, visits, [k]))


def over_time(episodes: Episodes, visits: npt.NDArray[Any], times: Iterable[int]) -> Iterator[Later]:
    """Yield what :func:`after` returns for each of some times."""
    rows = read_rows(visits)
    of_row = episodes.of_row[rows]
    groups = Groups.of(episodes.group[of_row])
    none, seen = np.zeros(0, np.int64), len(np.unique(of_row))
    time, cause = outcomes(episodes, rows, Event(np.zeros(episodes.starts[-1], bool), end=True), None)
    for k in times:
        if len(rows) == 0:
            yield Later(none, np.zeros(0), none, 0.0, none, 0.0, 0.0, 0, 0, 0)
            continue
        ended = (cause == REACHED) & (time <= k)
        cut = (cause == CENSORED) & (time < k)
        found = Tally.of(time, cause, of_row, len(episodes.endings), k).incidence()
        share, unresolved = found.share, found.unresolved
        there = ~ended & ~cut
        target, whose = rows[there] + k, of_row[there]
        final = target == episodes.starts[1:][whose]
        target[final] = episodes.starts[-1] + whose[final]
        going = max(1.0 - share - unresolved, 0.0) if there.any() else 0.0
        yield Later(
            rows=target,
            weight=np.full(len(target), going / max(len(target), 1)),
            group=episodes.group[whose],
            ended=share,
            ended_group=episodes.group[of_row[ended]],
            censored=float(cut.mean()),
            unresolved=unresolved,
            visits=len(rows),
            episodes=seen,
            groups=groups.number,
        )


def occupancy(episodes: Episodes, visits: npt.NDArray[Any]) -> Later:
    """Return where visits spend their time from then on, within the record: rows with weights that add up to 1.

    A row weighs as much as there are visits before it in its episode (or at it).
    """
    rows = read_rows(visits)
    none = np.zeros(0, np.int64)
    if len(rows) == 0:
        return Later(none, np.zeros(0), none, 0.0, none, 0.0, 0.0, 0, 0, 0)
    before = np.cumsum(np.bincount(rows, minlength=episodes.starts[-1]))
    first = episodes.starts[:-1]
    number = before - np.where(first > 0, before[first - 1], 0)[episodes.of_row]
    there = np.flatnonzero(number)
    of_row = episodes.of_row[rows]
    return Later(
        rows=there,
        weight=number[there] / number.sum(),
        group=episodes.group[episodes.of_row[there]],
        ended=0.0,
        ended_group=none,
        censored=float((~episodes.terminated[of_row]).mean()),
        unresolved=0.0,
        visits=len(rows),
        episodes=len(np.unique(of_row)),
        groups=len(np.unique(episodes.group[of_row])),
    )


def shares(later: Later, label: npt.NDArray[Any], classes: int) -> tuple[F64, F64]:
    """Return the share of each class and, last, of the end, with their 95 % intervals.

    Parameters
    ----------
    later : Later
        From :func:`after` or :func:`occupancy`.
    label : int array
        The class of each row of ``later``, for example its leaf.
    classes : int
        How many classes there are.

    Returns
    -------
    share : float64 array of shape (classes + 1,)
        What is unresolved is left out, so that shares add up to 1; all 0 if nothing is known.
    interval : float64 array of shape (2, classes + 1)
        Lower and upper ends.
    """
    over = later.ended_group
    label = np.append(label, np.full(len(over), classes))
    weight = np.append(later.weight, np.full(len(over), later.ended / max(len(over), 1)))
    group = np.append(later.group, over)
    total = weight.sum()
    if total <= 0:
        return np.zeros(classes + 1), np.tile([[0.0], [1.0]], classes + 1)
    weight = weight / total
    groups = Groups.of(group)
    share = np.bincount(label, weight, classes + 1).astype(np.float64)
    size = groups.sums(weight)
    cell, index = np.unique(groups.index * (classes + 1) + label, return_inverse=True)
    held, whose, which = np.bincount(index.reshape(-1), weight), cell // (classes + 1), cell % (classes + 1)
    scale = jackknife(size)
    absent = groups.number > np.bincount(which, minlength=classes + 1)
    sums: list[F64] = []
    for power in (2, 4):
        came: F64 = np.bincount(
            which, ((held - share[which] * size[whose]) * scale[whose]) ** power, classes + 1
        ).astype(np.float64)
        # Most groups never come to most classes: what they add has a closed form.
        usual = (size * scale) ** power
        others = np.maximum(usual.sum() - np.bincount(which, usual[whose], classes + 1), 0.0)
        sums.append(came + np.where(absent, share**power * others, 0.0))
    return share, share_intervals(share, sums[0], sums[1], size, 1 / (weight**2).sum())
