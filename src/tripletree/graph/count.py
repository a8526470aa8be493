"""Counting: what the recorded episodes really did next, with the uncertainty of having seen only these episodes.

A question begins at visits (rows of the log) and looks at the real future of each: when it came to the goal, to what
it should avoid, to its end, or to the end of the recording. All visits weigh the same, so an answer is an average over
time; its interval treats whole episodes (or groups of them) as independent, and never the steps within one.

Outcomes that the recording cut off are filled in from visits that were watched for longer (the Aalen-Johansen
estimator; Kaplan and Meier's with one kind of event). Where hardly an episode was, nothing is filled in: that share is
``unresolved``.
"""

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

CONFIDENCE = 0.95
FEWEST_AT_RISK = 5
"""Outcomes that were cut off are filled in from at least this many groups that were watched for longer."""
QUANTILES = (0.1, 0.5, 0.9)

_WIDEST = 100.0  # times the mean: an interval of times that reaches further says nothing

_CENSORED, _REACHED, _MISSED, _UNRESOLVED = range(4)


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
    rows = _rows(visits)
    of_row = episodes.of_row[rows]
    groups = _Groups.of(episodes.group[of_row])
    n, seen = len(rows), len(np.unique(of_row))
    if n == 0:
        return Chance(None, None, 0, 0, 0, 0, 0.0, 0.0)
    time, cause = _outcomes(episodes, rows, goal, avoid)
    horizon = int(time.max()) + 1 if within is None else within
    cut = (cause == _CENSORED) & (time < horizon)
    reached = (cause == _REACHED) & (time <= horizon)
    share, influence, unresolved = _incidence(time, cause, horizon, groups)
    low, high = _share_bounds(share, groups.sums(influence), groups.sums(~cut))
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
    rows = _rows(visits)
    of_row = episodes.of_row[rows]
    n, seen, number = len(rows), len(np.unique(of_row)), len(np.unique(episodes.group[of_row]))
    if n == 0:
        return Steps(None, None, None, 0, 0, 0, 0, 0.0, 0.0)
    time, cause = _outcomes(episodes, rows, goal, avoid)
    there = cause == _REACHED
    missed, censored = float((cause == _MISSED).mean()), float((cause == _CENSORED).mean())
    if not there.any():
        return Steps(None, None, None, n, seen, number, 0, missed, censored)
    took, arrived = time[there], of_row[there]
    groups = _Groups.of(episodes.group[arrived])
    mean = float(took.mean())
    return Steps(
        mean=mean,
        interval=_mean_bounds(mean, groups.sums(took - mean) / len(took), groups.sums(np.ones(len(took)))),
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
    rows = _rows(visits)
    of_row = episodes.of_row[rows]
    groups = _Groups.of(episodes.group[of_row])
    none = np.zeros(0, np.int64)
    if len(rows) == 0:
        return Later(none, np.zeros(0), none, 0.0, none, 0.0, 0.0, 0, 0, 0)
    time, cause = _outcomes(episodes, rows, Event(np.zeros(episodes.starts[-1], bool), end=True), None)
    ended = (cause == _REACHED) & (time <= k)
    cut = (cause == _CENSORED) & (time < k)
    share, _, unresolved = _incidence(time, cause, k, groups)
    there = ~ended & ~cut
    target, whose = rows[there] + k, of_row[there]
    final = target == episodes.starts[1:][whose]
    target[final] = episodes.starts[-1] + whose[final]
    going = max(1.0 - share - unresolved, 0.0) if there.any() else 0.0
    return Later(
        rows=target,
        weight=np.full(len(target), going / max(len(target), 1)),
        group=episodes.group[whose],
        ended=share,
        ended_group=episodes.group[of_row[ended]],
        censored=float(cut.mean()),
        unresolved=unresolved,
        visits=len(rows),
        episodes=len(np.unique(of_row)),
        groups=groups.number,
    )


def occupancy(episodes: Episodes, visits: npt.NDArray[Any]) -> Later:
    """Return where visits spend their time from then on, within the record: rows with weights that add up to 1.

    A row weighs as much as there are visits before it in its episode (or at it).
    """
    rows = _rows(visits)
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
    groups = _Groups.of(group)
    share = np.bincount(label, weight, classes + 1).astype(np.float64)
    size = groups.sums(weight)
    cell, index = np.unique(groups.index * (classes + 1) + label, return_inverse=True)
    held, whose, which = np.bincount(index.reshape(-1), weight), cell // (classes + 1), cell % (classes + 1)
    # Most groups never come to most classes: their part of the sums has a closed form.
    scale = _jackknife(size)
    sums = []
    for power in (2, 4):
        usual = (size * scale) ** power
        change = ((held - share[which] * size[whose]) * scale[whose]) ** power - share[which] ** power * usual[whose]
        sums.append(np.maximum(share**power * usual.sum() + np.bincount(which, change, classes + 1), 0.0))
    return share, _wilson(share, sums[0], sums[1], size, 1 / (weight**2).sum())


def nearest_visits(
    states: F64, starts: I64, state: npt.NDArray[Any], scale: npt.NDArray[Any], fewest: int = 10, most: int = 25
) -> tuple[I64, F64]:
    """Return the recorded states nearest to one state, one for each of some episodes, and their distances.

    The nearest episodes are taken: ``fewest`` of them, and up to ``most`` as long as they are no more than two and a
    half times as far as the third. On unseen states this is as good as the ten nearest alone, with half as many again
    to count; twice as far as the tenth is worse.

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
    fewest, most : int
        How many episodes.

    Returns
    -------
    rows : int64 array
        Nearest first.
    distance : float64 array
        Root mean square over features, in units of ``scale``.
    """
    used = np.flatnonzero(np.asarray(scale) > 0)
    square = np.zeros(len(states))
    for f in used:
        square += ((states[:, f] - state[f]) / scale[f]) ** 2
    nearest = np.minimum.reduceat(square, starts[:-1])
    order = np.argsort(nearest, kind="stable")[:most]
    # The first row of each episode that is as near as its nearest.
    rows = np.array([starts[e] + int(square[starts[e] : starts[e + 1]].argmin()) for e in order], np.int64)
    distance = np.sqrt(nearest[order] / max(len(used), 1))
    enough = (np.arange(len(order)) < fewest) | (distance <= 2.5 * distance[:3].max())
    return rows[enough], distance[enough]


@dataclass(frozen=True, eq=False)
class _Groups:
    """The groups that some visits belong to, numbered from 0."""

    index: I64
    number: int

    @classmethod
    def of(cls, group: I64) -> _Groups:
        named, index = np.unique(group, return_inverse=True)
        return cls(index.reshape(-1), len(named))

    def sums(self, values: npt.NDArray[Any]) -> F64:
        return np.bincount(self.index, values, self.number).astype(np.float64)


def _rows(visits: npt.NDArray[Any]) -> I64:
    visits = np.asarray(visits)
    return np.flatnonzero(visits) if visits.dtype == bool else visits.astype(np.int64)


def _outcomes(episodes: Episodes, rows: I64, goal: Event, avoid: Event | None) -> tuple[I64, npt.NDArray[np.uint8]]:
    """Return after how many steps the future of each row is decided, or no longer recorded, and how."""
    of_row = episodes.of_row[rows]
    stop = episodes.starts[1:][of_row]
    to_goal = _first(episodes, goal)[rows]
    to_avoid = to_goal + 1 if avoid is None else _first(episodes, avoid)[rows]
    over = episodes.terminated[of_row]
    # Without a final state the last thing known is the last row.
    last = stop - (~over & ~episodes.final[of_row])
    at = np.minimum(np.minimum(to_goal, to_avoid), last)
    cause = np.where(over, _MISSED, _CENSORED).astype(np.uint8)
    cause[to_avoid <= last] = _MISSED
    cause[(to_goal <= last) & (to_goal <= to_avoid)] = _REACHED
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


def _incidence(time: I64, cause: npt.NDArray[np.uint8], horizon: int, groups: _Groups) -> tuple[float, F64, float]:
    """Return the share that has reached the goal by the horizon, each visit's influence on it, and what is unresolved.

    This is the Aalen-Johansen estimator. A visit's influence is the derivative of the share by the visit's weight, so
    that sums over a group are what the group contributes to the error. Without censoring the share is the plain one.
    """
    n = len(time)
    reached = (cause == _REACHED) & (time <= horizon)
    cut = (cause == _CENSORED) & (time < horizon)
    if not cut.any():
        share = float(np.count_nonzero(reached) / n)
        return share, (reached - share) / n, 0.0
    cause = cause.copy()
    longest = np.zeros(groups.number, np.int64)
    np.maximum.at(longest, groups.index, time)
    watched = np.sort(longest)[-FEWEST_AT_RISK] if groups.number >= FEWEST_AT_RISK else -1
    # A single visit in the tail would otherwise stand for all that were cut off before.
    cause[cut & (time >= watched)] = _UNRESOLVED
    size = int(min(horizon, time.max())) + 1
    counted = (time < size) & (cause != _CENSORED)
    goal, every, lost = (
        np.bincount(time[counted & which], minlength=size).astype(np.float64)
        for which in (reached, np.ones(n, bool), cause == _UNRESOLVED)
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


def _jackknife(size: F64) -> F64:
    """Return the factor that makes each group's influence the change when the group is left out."""
    rest = 1.0 - size / size.sum()
    return np.asarray(1.0 / np.maximum(rest, 1e-9))


def _equals(square: npt.NDArray[Any], fourth: npt.NDArray[Any], groups: int) -> npt.NDArray[Any]:
    """Return how many groups would vary as much, with that kurtosis, if all contributed the same.

    When some groups contribute nearly all of the variance, it is known as badly as if there were only these: so this,
    and not the number of groups, says how well.
    """
    some = fourth > 0
    return np.where(some, square**2 / np.where(some, fourth, 1.0), float(groups))


def _quantile(freedom: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return Student's quantile, with at least one degree of freedom."""
    from scipy.special import stdtrit

    return np.asarray(stdtrit(np.maximum(freedom, 1.0), (1 + CONFIDENCE) / 2))


def _wilson(share: F64, square: F64, fourth: F64, size: F64, most: float) -> F64:
    """Return Wilson's intervals of shares, shape (2, shares), with the number of independent visits they are worth.

    ``square`` and ``fourth`` are sums of powers of what leaving each group out changes, ``size`` says how much of the
    start each group is, and ``most`` is the number of visits.
    """
    held = size[size > 0]
    groups = len(held)
    if groups == 0:
        return np.tile([[0.0], [1.0]], len(share))
    never, always = share < 1e-9, share > 1 - 1e-9
    # The rule of three. A group with most of the visits leaves hardly more than one group to count.
    worth = held.sum() ** 2 / (held**2).sum()
    bound = 1.0 - (1.0 - CONFIDENCE) ** (1.0 / worth)
    if groups == 1:
        low, high = np.zeros(len(share)), np.ones(len(share))
    else:
        variance = (groups - 1) / groups * square
        spread = np.maximum(share * (1 - share), 0.0)
        some = variance * most > spread
        n = np.maximum(np.where(some, spread / np.where(some, variance, 1.0), most), 1e-9)
        # Normal variates give groups / 3 equals. In simulated worlds of 5 to 200 groups this covers 94 to 97 %, and
        # groups - 1 degrees of freedom cover 91 %.
        z2 = _quantile(2 * _equals(square, fourth, groups) - 1) ** 2
        middle = (share + z2 / (2 * n)) / (1 + z2 / n)
        half = np.sqrt(z2 * (spread / n + z2 / (4 * n * n))) / (1 + z2 / n)
        low, high = middle - half, middle + half
    low = np.where(never, 0.0, np.where(always, 1.0 - bound, np.maximum(low, 0.0)))
    high = np.where(always, 1.0, np.where(never, bound, np.minimum(high, 1.0)))
    return np.stack([low, high])


def _share_bounds(share: float, influence: F64, size: F64) -> tuple[float, float]:
    """Return the interval of one share from each group's influence on it, and its visits with a known outcome."""
    change = influence * (_jackknife(size) if size.any() else 1.0)
    square, fourth = np.array([(change**2).sum()]), np.array([(change**4).sum()])
    low, high = _wilson(np.array([share]), square, fourth, size, float(size.sum()))[:, 0]
    return float(low), float(high)


def _mean_bounds(mean: float, influence: F64, size: F64) -> tuple[float, float] | None:
    """Return the interval of a mean of times, on a logarithmic scale: times are skewed, and never negative."""
    groups = len(size)
    if groups < 2:
        return None
    change = influence * _jackknife(size)
    square, fourth = np.asarray((change**2).sum()), np.asarray((change**4).sum())
    if square == 0:
        return mean, mean
    # Skewed times need fewer degrees of freedom than shares, which have a largest value.
    error = np.sqrt((groups - 1) / groups * square) / mean
    wide = float(_quantile(_equals(square, fourth, groups)) * error)
    return (mean * float(np.exp(-wide)), mean * float(np.exp(wide))) if wide < np.log(_WIDEST) else None
