"""Robustness: by how much each episode meets a requirement, as bounds on what any continuation of it could say.

Signal temporal logic with the usual minimum and maximum (Fainekos and Pappas 2009; Donzé and Maler 2010) on the steps
of a log. Every formula has two numbers at every step: the least and the greatest margin that it may turn out to have.
They differ where the recording was cut off before the formula was decided: what lies beyond the end can be anything. So
the sign of a bound is final, however the episode goes on. An episode that ended by itself has nothing beyond its end.

A margin is never 0. A number that equals its bound is met by ``<=`` and missed by ``<``, and the smallest number that a
double can hold, above or below 0, remembers which: minimum, maximum and the opposite keep it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tripletree.language.formula import (
    LENGTH,
    RETURN,
    REWARD,
    Choice,
    Comparison,
    Formula,
    Joined,
    Opposite,
    Timed,
    Until,
    Window,
    atoms,
)
from tripletree.log.log import TERMINATED, Log

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

TINY = 5e-324
"""A margin that stands for 0: above 0 where the condition is met, below where it is missed."""
SAME_TIME = 1e-6
"""Times that differ by less than this part of the shortest step are the same: sums of steps are rounded."""


class Bounds(NamedTuple):
    """The margins of a formula: between ``low`` and ``high`` at every place.

    Attributes
    ----------
    low, high : float64 array of shape (places,)
        Where nothing is left open both are the same array.
    final : bool
        Whether the state after the last action counts; not if the formula speaks of actions or rewards.
    """

    low: F64
    high: F64
    final: bool

    def of(self, which: int) -> F64:
        """Return the lower bound (0) or the upper one (1)."""
        return self.high if which else self.low


@dataclass(frozen=True, eq=False)
class Places:
    """All places of a log at which something can be said: its steps, and after each episode the state where it ended.

    Attributes
    ----------
    log : Log
        The episodes.
    as_recorded : bool
        Whether nothing lies beyond the end of an episode that was cut off, either.
    """

    log: Log
    as_recorded: bool = False

    @cached_property
    def begin(self) -> I64:
        """The first place of each episode."""
        return self.log.starts[:-1] + np.arange(self.log.n_episodes)

    @cached_property
    def episode(self) -> I64:
        """The episode of each place."""
        return np.repeat(np.arange(self.log.n_episodes), np.diff(self.log.starts) + 1)

    @cached_property
    def steps(self) -> I64:
        """The place of each row of the log."""
        return np.arange(self.log.n_samples) + np.repeat(np.arange(self.log.n_episodes), np.diff(self.log.starts))

    @cached_property
    def open(self) -> Mask:
        """Which episodes go on after what is recorded of them."""
        return np.zeros(self.log.n_episodes, bool) if self.as_recorded else self.log.endings != TERMINATED

    @cached_property
    def _known(self) -> Mask:
        return ~np.isnan(self.log.final_states[:, 0])

    def last(self, final: bool) -> I64:
        """Return the last place of each episode that counts."""
        steps = self.log.starts[1:] - 1 + np.arange(self.log.n_episodes)
        return steps + self._known if final else steps

    @cached_property
    def seconds(self) -> F64:
        """The time of each place, from the first one of the log on."""
        found = np.zeros(self.log.n_samples + self.log.n_episodes)
        if self.log.dt is not None:
            found[self.steps + 1] = self.log.dt
        return np.cumsum(found)

    def column(self, name: str) -> tuple[F64, bool]:
        """Return the numbers of a feature, an action or the reward at every place, and whether final states count."""
        log, names = self.log, self.log.schema.feature_names
        found = np.zeros(log.n_samples + log.n_episodes)
        if name in names:
            f = names.index(name)
            found[self.steps] = log.states[:, f]
            found[self.last(False) + 1] = np.where(self._known, log.final_states[:, f], 0.0)
            return found, True
        action = log.schema.action
        if action.kind == "continuous" and name in action.names:
            found[self.steps] = log.actions[:, action.names.index(name)]
        else:
            found[self.steps] = log.rewards
        return found, False

    def whole(self, name: str) -> F64:
        """Return the length or the return of each episode, as far as it is recorded."""
        if name == LENGTH:
            return np.diff(self.log.starts).astype(np.float64)
        return np.add.reduceat(self.log.rewards, self.log.starts[:-1])


class Scale(NamedTuple):
    """What margins are in: one unit, or parts of the range that each number has in the log."""

    unit: str
    ranges: dict[str, float] | None

    def of(self, name: str) -> float:
        """Return what the distance of a number from its bound is divided by."""
        return 1.0 if self.ranges is None else self.ranges[name]


def measured(log: Log, name: str) -> bool:
    """Whether a comparison of this name has a distance: a yes-or-no feature has none."""
    kinds = {feature.name: feature.kind for feature in log.schema.features}
    return kinds.get(name) != "binary"


def scale_of(log: Log, formula: Formula) -> Scale:
    """Return the unit of margins: that of all numbers, if it is one; otherwise each is compared with its range."""
    compared = (one for one in atoms(formula) if isinstance(one, Comparison) and measured(log, one.name))
    whole = {one.name: one.whole for one in compared}
    names = list(whole)
    units = units_of(log)
    if len(names) <= 1 or (len({units[name] for name in names}) == 1 and units[names[0]]):
        return Scale(units[names[0]] if names else "", None)
    places = Places(log)
    ranges = {}
    for name in names:
        column = places.whole(name) if whole[name] else places.column(name)[0][places.steps]
        spread = float(column.max() - column.min())
        ranges[name] = spread if 0 < spread < math.inf else 1.0
    return Scale("", ranges)


def units_of(log: Log) -> dict[str, str]:
    """Return the unit of everything that a requirement may compare."""
    action = log.schema.action
    named = dict(zip(action.names, action.units, strict=True)) if action.kind == "continuous" else {}
    return (
        {REWARD: "", RETURN: "", LENGTH: ""} | named | {feature.name: feature.unit for feature in log.schema.features}
    )


def bounds(places: Places, formula: Formula, scale: Scale, keep: dict[Formula, Bounds] | None = None) -> Bounds:
    """Return the margins of a formula at every place.

    Parameters
    ----------
    places : Places
        Where.
    formula : Formula
        The requirement, or a part of it.
    scale : Scale
        What margins are in.
    keep : dict or None
        Where to put the margins of every part.
    """
    found = _bounds(places, formula, scale, keep)
    if keep is not None:
        keep[formula] = found
    return found


def _bounds(places: Places, formula: Formula, scale: Scale, keep: dict[Formula, Bounds] | None) -> Bounds:
    if isinstance(formula, Comparison):
        return _comparison(places, formula, scale)
    if isinstance(formula, Choice):
        codes = [places.log.schema.action.labels.index(label) for label in formula.labels]
        held = np.zeros(len(places.episode), bool)
        held[places.steps] = np.isin(places.log.actions, codes)
        margin = np.where(held, math.inf, -math.inf)
        return Bounds(margin, margin, False)
    if isinstance(formula, Opposite):
        part = bounds(places, formula.part, scale, keep)
        low = -part.high
        return Bounds(low, low if part.low is part.high else -part.low, part.final)
    if isinstance(formula, Joined):
        parts = [bounds(places, part, scale, keep) for part in formula.parts]
        how = np.minimum if formula.every else np.maximum
        return _both(lambda which: how.reduce([one.of(which) for one in parts]), parts, all(one.final for one in parts))
    if isinstance(formula, Until):
        return _until(places, formula, *(bounds(places, part, scale, keep) for part in (formula.left, formula.right)))
    return _timed(places, formula, bounds(places, formula.part, scale, keep))


def _both(margin: Callable[[int], F64], parts: list[Bounds], final: bool, same: bool = True) -> Bounds:
    """Return the lower bound (number 0) and the upper one (number 1) of something, at once where they are the same."""
    low = margin(0)
    if same and all(one.low is one.high for one in parts):
        return Bounds(low, low, final)
    return Bounds(low, margin(1), final)


def _comparison(places: Places, formula: Comparison, scale: Scale) -> Bounds:
    if formula.whole:
        return _whole(places, formula, scale)
    column, final = places.column(formula.name)
    margin = _margin(column, formula, scale)
    if not measured(places.log, formula.name):
        margin = np.where(margin > 0, math.inf, -math.inf)
    return Bounds(margin, margin, final)


def _whole(places: Places, formula: Comparison, scale: Scale) -> Bounds:
    """Return the margins of a number of whole episodes, which one that goes on may still change."""
    number = places.whole(formula.name)
    known = _margin(number, formula, scale)
    if not places.open.any():
        return Bounds(known[places.episode], known[places.episode], True)
    low, high = np.full((2, len(number)), [[-math.inf], [math.inf]])
    if formula.name == LENGTH:
        # It only grows: from what it is to anything.
        if formula.sign[0] == ">":
            low = known
        elif formula.sign[0] == "<":
            high = known
        else:
            # It may come to the number, or has passed it for good.
            passed = number > formula.number
            whole = float(formula.number).is_integer()
            nearest = np.where(passed | (not whole), known, TINY if formula.sign == "=" else -TINY)
            if not whole:
                steps = np.maximum(number, math.ceil(formula.number)), np.maximum(number, math.floor(formula.number))
                nearest = np.maximum(*(_margin(one, formula, scale) for one in steps))
                nearest = (
                    nearest if formula.sign == "=" else np.minimum(*(_margin(one, formula, scale) for one in steps))
                )
            low, high = (low, nearest) if formula.sign == "=" else (nearest, high)
    low, high = np.where(places.open, low, known), np.where(places.open, high, known)
    return Bounds(low[places.episode], high[places.episode], True)


def _margin(column: F64, formula: Comparison, scale: Scale) -> F64:
    """Return by how much each number meets a comparison, or misses it; never 0."""
    sign, number = formula.sign, formula.number
    if sign in ("=", "!="):
        held = column == number
        distance = -np.abs(_distance(column, number, scale.of(formula.name)))
        if sign == "!=":
            held, distance = ~held, -distance
    else:
        held = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal}[sign](column, number)
        distance = _distance(column, number, scale.of(formula.name)) * (1.0 if sign[0] == ">" else -1.0)
    size = np.maximum(np.abs(distance), TINY)
    return np.where(held, size, -size)


def _distance(column: F64, number: float, scale: float) -> F64:
    with np.errstate(over="ignore"):
        found = (column - number) / scale
    # Infinity is for what has no distance.
    return np.clip(found, -np.finfo(float).max, np.finfo(float).max)


class _Reach(NamedTuple):
    """The places from ``left`` to ``right`` that an operator looks at from each place, and whether it sees beyond."""

    left: I64
    right: I64
    beyond: Mask


def _reach(places: Places, window: Window, final: bool, operator: str = "always") -> _Reach:
    episode, here = places.episode, np.arange(len(places.episode))
    first, last = places.begin[episode], places.last(final)[episode]
    ends_open = places.open[episode]
    nothing = np.zeros(len(here), bool)
    if operator == "initially":
        return _Reach(first, first, nothing)
    if operator == "ends":
        return _Reach(np.where(ends_open, last + 1, last), last, ends_open)
    low, high = window.low, window.high
    if window.seconds:
        time = places.seconds
        steps = np.diff(time)
        slack = SAME_TIME * float(steps[steps > 0].min(initial=1.0))
        if operator in ("historically", "once"):
            left = np.searchsorted(time, time - high - slack)
            right = np.searchsorted(time, time - low + slack, "right") - 1
            return _Reach(np.maximum(left, first), np.minimum(right, last), nothing)
        left = np.searchsorted(time, time + low - slack)
        right = np.searchsorted(time, time + high + slack, "right") - 1
        # When the next place will be is known after a step; after the final state it may be at any later time.
        ended = np.append(episode[1:], -1)[last] != episode[last]
        following = np.where(ended, time[last] + 2 * slack, time[np.minimum(last + 1, len(time) - 1)])
        beyond = ends_open & (time + high + slack >= following)
        return _Reach(np.maximum(left, here), np.minimum(right, last), beyond)
    farthest = int(min(high, len(here)))
    nearest = int(min(low, len(here)))
    if operator in ("historically", "once"):
        return _Reach(np.maximum(here - farthest, first), np.minimum(here - nearest, last), nothing)
    beyond = ends_open & (here + farthest > last)
    return _Reach(here + nearest, np.minimum(here + farthest, last), beyond)


def _timed(places: Places, formula: Timed, part: Bounds) -> Bounds:
    reach = _reach(places, formula.window, part.final, formula.operator)
    every = formula.operator not in ("eventually", "once")

    def margin(which: int) -> F64:
        found = extreme(part.of(which), reach.left, reach.right, every)
        # Whatever comes may miss what must always hold, and meet what must once.
        unknown = -math.inf if every else math.inf
        return np.where(reach.beyond, unknown, found) if which == (0 if every else 1) else found

    return _both(margin, [part], part.final, same=not reach.beyond.any())


def _until(places: Places, formula: Until, left: Bounds, right: Bounds) -> Bounds:
    """Return the margins of ``left until right``.

    ``until`` within a window is three things at once: ``left`` holds before the window, ``right`` holds somewhere in
    it, and from its beginning on ``left`` holds until ``right`` does, whenever that is.
    """
    final = left.final and right.final
    reach = _reach(places, formula.window, final)
    last = places.last(final)[places.episode]
    here = np.arange(len(last))
    inside = reach.left <= last
    start = np.where(inside, reach.left, here)

    def margin(which: int) -> F64:
        goes_on = which == 1
        whenever = _whenever(left.of(which), right.of(which), last, places.open[places.episode] & goes_on)
        in_window = extreme(right.of(which), reach.left, reach.right, every=False)
        if goes_on:
            in_window = np.where(reach.beyond, math.inf, in_window)
        unknown = np.where(reach.beyond & goes_on, math.inf, -math.inf)
        before = extreme(left.of(which), here, np.minimum(reach.left - 1, last), every=True)
        found: F64 = np.minimum.reduce([before, in_window, np.where(inside, whenever[start], unknown)])
        return found

    return _both(margin, [left, right], final, same=not reach.beyond.any())


def _whenever(left: F64, right: F64, last: I64, goes_on: Mask) -> F64:
    """Return the margins of ``left until right`` without a window.

    At each place it is ``max(right, min(left, next))``: the next margin, kept between ``right`` and the larger of the
    two. Such functions follow each other as one of the same kind, so that 2, 4, 8, ... of them are taken at once.
    """
    low, high = right.copy(), np.maximum(left, right)
    here, size = np.arange(len(last)), 1
    while True:
        here = here[here + size <= last[here]]
        if not len(here):
            break
        bottom, top = low[here], high[here]
        low[here], high[here] = (np.clip(one[here + size], bottom, top) for one in (low, high))
        size *= 2
    return np.where(goes_on, high, low)


def extreme(values: F64, left: I64, right: I64, every: bool) -> F64:
    """Return the least (``every``) or greatest of the values from ``left`` to ``right``, both included, at each place.

    Nothing to look at is met by all and by none. Windows of 1, 2, 4, ... places are made of two of the size before, and
    any window of two of these: in all, as many passes as the widest window has binary digits.
    """
    how = np.minimum if every else np.maximum
    found = np.full(len(values), math.inf if every else -math.inf)
    width = right - left + 1
    level = np.full(len(values), -1)
    some = width > 0
    level[some] = np.frexp(width[some].astype(np.float64))[1] - 1
    table, size = values, 1
    for k in range(int(level.max(initial=-1)) + 1):
        rows = np.flatnonzero(level == k)
        found[rows] = how(table[left[rows]], table[right[rows] - size + 1])
        # The last ones of a table stay as they are; no window begins there that is so wide.
        table = np.append(how(table[:-size], table[size:]), table[-size:]) if size < len(table) else table
        size *= 2
    return found


class Witness(NamedTuple):
    """What a margin comes from: a comparison at a place."""

    place: int
    atom: Comparison | Choice


def witness(places: Places, formula: Formula, keep: dict[Formula, Bounds], which: int, place: int) -> Witness:
    """Return the comparison, and the place, that a margin comes from; the first one of several.

    Parameters
    ----------
    places : Places
        Where.
    formula : Formula
        Whose margin.
    keep : dict
        The margins of all parts, as :func:`bounds` keeps them.
    which : int
        0 for the lower bound, 1 for the upper.
    place : int
        Where the formula is asked for.
    """
    if isinstance(formula, Comparison | Choice):
        return Witness(place, formula)
    if isinstance(formula, Opposite):
        return witness(places, formula.part, keep, 1 - which, place)
    if isinstance(formula, Joined):
        margins = [float(keep[part].of(which)[place]) for part in formula.parts]
        chosen = formula.parts[int(np.argmin(margins) if formula.every else np.argmax(margins))]
        return witness(places, chosen, keep, which, place)
    final = keep[formula].final
    last = int(places.last(final)[places.episode[place]])
    if isinstance(formula, Until):
        left, right = (keep[part].of(which) for part in (formula.left, formula.right))
        reach = _reach(places, formula.window, final)
        # Beyond an open end `right` may be met, if `left` has held so far.
        right = np.append(right[place : last + 1], math.inf if which and reach.beyond[place] else -math.inf)
        left = left[place : last + 1]
        met = np.minimum(right, np.minimum.accumulate(np.append(math.inf, left)))
        low, high = int(reach.left[place]) - place, int(reach.right[place]) - place
        allowed = np.r_[np.arange(low, high + 1), len(left)]
        best = int(allowed[np.argmax(met[allowed])])
        before = left[:best]
        if len(before) and before.min() <= right[best]:
            return witness(places, formula.left, keep, which, place + int(before.argmin()))
        return witness(places, formula.right, keep, which, min(place + best, last))
    reach = _reach(places, formula.window, final, formula.operator)
    low, high = int(reach.left[place]), int(reach.right[place])
    if low > high:
        return witness(places, formula.part, keep, which, last)
    values = keep[formula.part].of(which)[low : high + 1]
    every = formula.operator not in ("eventually", "once")
    return witness(places, formula.part, keep, which, low + int(values.argmin() if every else values.argmax()))
