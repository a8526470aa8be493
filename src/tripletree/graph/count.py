"""Counting: what the recorded episodes really did next, with the uncertainty of having seen only these episodes.

A question begins at visits (rows of the log) and looks at the real future of each: when it came to the goal, to what
it should avoid, to its end, or to the end of the recording. All visits weigh the same, so an answer is an average over
time; its interval treats whole episodes (or groups of them) as independent, and never the steps within one.

Outcomes that the recording cut off are filled in from visits that were watched for longer (the Aalen-Johansen
estimator; Kaplan and Meier's with one kind of event). Where hardly an episode was, nothing is filled in: that share is
``unresolved``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.graph.futures import CENSORED, MISSED, REACHED, Episodes, Event, Groups, incidence, outcomes, read_rows
from tripletree.graph.intervals import jackknife, mean_bounds, share_bounds, share_intervals
from tripletree.log.derive import wrapped

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

QUANTILES = (0.1, 0.5, 0.9)
MOST_VOTES = 6
"""Votes of a neighbour at the very state that is asked about."""


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
    """

    probability: float | None
    interval: tuple[float, float] | None
    visits: int
    episodes: int
    groups: int
    reached: int
    censored: float
    unresolved: float


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
    of_row = episodes.of_row[rows]
    groups = Groups.of(episodes.group[of_row])
    n, seen = len(rows), len(np.unique(of_row))
    if n == 0:
        return Chance(None, None, 0, 0, 0, 0, 0.0, 0.0)
    time, cause = outcomes(episodes, rows, goal, avoid)
    horizon = int(time.max()) + 1 if within is None else within
    cut = (cause == CENSORED) & (time < horizon)
    reached = (cause == REACHED) & (time <= horizon)
    share, influence, unresolved = incidence(time, cause, horizon, of_row)
    low, high = share_bounds(share, groups.sums(influence), groups.sums(~cut))
    return Chance(
        probability=share,
        interval=(low, high),
        visits=n,
        episodes=seen,
        groups=groups.number,
        reached=len(np.unique(of_row[reached])),
        censored=float(cut.mean()),
        unresolved=unresolved,
    )


def steps(episodes: Episodes, visits: npt.NDArray[Any], goal: Event, avoid: Event | None = None) -> Steps:
    """Return how many steps visits take to ``goal``, of those that arrive within the record (see :func:`chance`)."""
    rows = read_rows(visits)
    of_row = episodes.of_row[rows]
    n, seen, number = len(rows), len(np.unique(of_row)), len(np.unique(episodes.group[of_row]))
    if n == 0:
        return Steps(None, None, None, 0, 0, 0, 0, 0.0, 0.0)
    time, cause = outcomes(episodes, rows, goal, avoid)
    there = cause == REACHED
    missed, censored = float((cause == MISSED).mean()), float((cause == CENSORED).mean())
    if not there.any():
        return Steps(None, None, None, n, seen, number, 0, missed, censored)
    took, arrived = time[there], of_row[there]
    groups = Groups.of(episodes.group[arrived])
    mean = float(took.mean())
    return Steps(
        mean=mean,
        interval=mean_bounds(mean, groups.sums(took - mean) / len(took), groups.sums(np.ones(len(took)))),
        quantiles=tuple(int(q) for q in np.quantile(took, QUANTILES, method="inverted_cdf")),
        visits=n,
        episodes=seen,
        groups=number,
        arrived=len(np.unique(arrived)),
        missed=missed,
        censored=censored,
    )


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
        share, _, unresolved = incidence(time, cause, k, of_row)
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


def votes(distance: F64) -> I64:
    """Return how often neighbours of a state count, 1 to 6 times, given their distances from small to large.

    One as far as the third counts half of one at the state itself. Of four ways to weigh them, tried on six agents,
    this had about the best Brier skill on unseen states: .006 to .020 above that of votes that are all alike.
    """
    unit = max(float(distance[min(2, len(distance) - 1)]), np.finfo(np.float64).tiny) if len(distance) else 1.0
    with np.errstate(over="ignore"):
        return np.maximum(np.rint(MOST_VOTES / (1.0 + (distance / unit) ** 2)), 1).astype(np.int64)


def nearest_visits(
    states: F64,
    starts: I64,
    state: npt.NDArray[Any],
    scale: npt.NDArray[Any],
    among: npt.NDArray[np.bool_] | None = None,
    fewest: int = 10,
    most: int = 25,
    periods: Sequence[float] = (),
) -> tuple[I64, F64]:
    """Return the recorded states nearest to one state, one for each of some episodes, and their distances.

    The nearest episodes are taken: ``fewest`` of them, and up to ``most`` as long as they are no more than two and a
    half times as far as the third. On unseen states this predicts hardly worse than the ten
    nearest alone, with half as many again to count; all within twice the tenth's distance predict worse.

    Parameters
    ----------
    states : float64 array of shape (samples, features)
        The recorded states.
    starts : int64 array of shape (episodes + 1,)
        Where episodes begin.
    state : array of shape (features,)
        The state to start from.
    scale : array of shape (features,)
        What counts as a distance of 1, for example the range of each feature; 0 leaves a feature out.
    periods : sequence of float
        The periods of angles, 0 for other features: angles are as far apart as on the circle. None by default.
    among : bool array of shape (samples,), optional
        The states that count; episodes without any are left out.
    fewest, most : int
        How many episodes.

    Returns
    -------
    rows : int64 array
        Nearest first.
    distance : float64 array
        Root mean square over features, in units of ``scale``.
    """
    used = np.flatnonzero(np.asarray(scale) > 0).tolist()
    square = np.zeros(len(states))
    for f in used:
        away = states[:, f] - state[f]
        square += ((wrapped(away, periods[f]) if periods else away) / scale[f]) ** 2
    if among is not None:
        square[~among] = np.inf
    nearest = np.minimum.reduceat(square, starts[:-1])
    order = np.argsort(nearest, kind="stable")[:most]
    if among is not None:
        order = order[nearest[order] < np.inf]
        if not len(order):
            return order, nearest[order]
    # The first row of each episode that is as near as its nearest.
    rows = np.array([starts[e] + int(square[starts[e] : starts[e + 1]].argmin()) for e in order], np.int64)
    distance = np.sqrt(nearest[order] / max(len(used), 1))
    enough = (np.arange(len(order)) < fewest) | (distance <= 2.5 * distance[:3].max())
    return rows[enough], distance[enough]
