"""Effects: how the prediction moves with each feature, all else fixed, as curves and as sentences."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tripletree.answers.answer import Answer
from tripletree.language.conditions import clause
from tripletree.language.numbers import all_of, capital, percent, rounded, unit, within_range
from tripletree.log.schema import Feature, Schema
from tripletree.model.table import Table

F64 = npt.NDArray[np.float64]

WEAK = 0.1
"""A curve that varies by less than this share of what the prediction varies by is hidden, and only named."""
TURN = 0.25
"""A curve turns where it goes back by more than this share of its range."""
ENDS = 0.05
"""The first and the last part of a move, of which a sentence leaves out where they happen: a tail can be long."""
BEYOND = 1.05
"""A move that is larger than the range of the predictions, by more than rounding, is told for a small change."""
NARROW = 0.02
"""A move within this share of the feature's usual range is a jump."""
ONE_WAY = 0.5
"""Below this, the feature moves the prediction one way in some states and the other way in others."""
MOST_MOVES = 3
"""Ups and downs that a sentence tells one by one."""
MOST_TOLD = 5
"""Features that a sentence tells of one column, at most."""


class Move(NamedTuple):
    """A stretch over which a curve goes one way: from ``low`` to ``high`` of the feature, by ``change``."""

    low: float
    high: float
    change: float


@dataclass(frozen=True, eq=False)
class Effect:
    """How the prediction moves with one feature.

    Attributes
    ----------
    feature : int
        The feature.
    grid : float64 array of shape (points,)
        Values of the feature, rising; two of them, next to each other, where the curve has a step.
    curve : float64 array of shape (points, columns)
        The accumulated local effect, 0 on average over the states.
    spread : float64 array of shape (points, columns)
        How much predictions differ (standard deviation) among states that have about this value of the feature.
    bars : float64 array
        Where the bars of the histogram end; with ``few``, the values that there are.
    count : int array
        States in each bar, or at each value.
    few : bool
        Whether the feature has few values, each with its own bar.
    strength : float64 array of shape (columns,)
        Standard deviation of the curve over the states.
    one_way : float64 array of shape (columns,)
        1 where the feature moves the prediction the same way in all states that are alike in it, 0 where one half of
        them goes up and the other half down.
    middle : (low, high)
        Where all but 2 % of the states are.
    low, high : float64 arrays of shape (points, columns), or None
        Where the curve of another log would be (see :class:`Stability`).
    """

    feature: int
    grid: F64
    curve: F64
    spread: F64
    bars: F64
    count: npt.NDArray[np.int64]
    few: bool
    strength: F64
    one_way: F64
    middle: tuple[float, float]
    low: F64 | None = None
    high: F64 | None = None

    @property
    def range(self) -> F64:
        """How far each column of the curve goes up and down where most of the states are."""
        found: F64 = np.ptp(self.curve[self.usual], axis=0)
        return found

    @property
    def usual(self) -> npt.NDArray[np.bool_]:
        """Which points of the grid lie where most of the states are."""
        inside: npt.NDArray[np.bool_] = (self.grid >= self.middle[0]) & (self.grid <= self.middle[1])
        return inside if self.few or inside.sum() > 1 else np.ones(len(self.grid), bool)

    def empty(self, at: F64) -> npt.NDArray[np.bool_]:
        """Return at which values of the feature the histogram has no states."""
        if self.few:
            return np.zeros(len(at), bool)
        bar = np.clip(np.searchsorted(self.bars, at, side="right") - 1, 0, len(self.count) - 1)
        return np.asarray(self.count[bar] == 0)

    def moves(self, column: int) -> list[Move]:
        """Return how one column goes up and down where most of the states are, small wiggles left out."""
        grid, line = self.grid[self.usual], self.curve[self.usual, column]
        found = []
        for begin, end in _legs(line, TURN * float(np.ptp(line))):
            change = line[end] - line[begin]
            part = (line[begin : end + 1] - line[begin]) / change
            # From the last point before the move has begun to the first at which it is over.
            first = begin + int(np.flatnonzero(part <= ENDS)[-1])
            last = begin + int(np.flatnonzero(part >= 1 - ENDS)[0])
            found.append(Move(float(grid[first]), float(grid[max(last, first)]), float(change)))
        return found


@dataclass(frozen=True, eq=False, repr=False)
class Effects(Answer):
    """How the prediction moves with each feature, all else fixed.

    Attributes
    ----------
    about : str
        The attribute.
    names, units : tuples of str
        What its columns are called, and their units: dimensions of the action, the value, derivatives, or labels.
    labels : bool
        Whether the columns are labels: then curves are shares, how likely the tree thinks each is.
    mean, sigma, reach : float64 arrays of shape (columns,)
        Mean, standard deviation and range of the predictions over the states.
    curves : tuple of Effect
        One for each feature that varies, in the order of the schema.
    constant : tuple of str
        Features that have one value only.
    asked : bool
        Whether these features were asked for by name: then none of them is hidden.
    samples : int
        States that were asked.
    schema : Schema
        Names of features and actions.
    """

    about: str
    names: tuple[str, ...]
    units: tuple[str, ...]
    labels: bool
    mean: F64
    sigma: F64
    reach: F64
    curves: tuple[Effect, ...]
    constant: tuple[str, ...]
    asked: bool
    samples: int
    schema: Schema

    def shown(self, column: int | None = None) -> list[Effect]:
        """Return the curves that are strong enough to show, of one column or of any, the strongest first."""
        of = slice(None) if column is None else slice(column, column + 1)
        sigma = np.where(self.sigma > 0, self.sigma, 1.0)[of]
        strength = [float((one.strength[of] / sigma).max()) for one in self.curves]
        order = sorted(range(len(strength)), key=lambda k: -strength[k])
        return [self.curves[k] for k in order if self.asked or strength[k] >= WEAK]

    def name(self, effect: Effect) -> str:
        """Return the name of a curve's feature."""
        return self.schema.features[effect.feature].name

    @property
    def table(self) -> Table:
        """All curves, one row a point: feature, its value, column, effect, spread."""
        parts = [(one, k) for one in self.curves for k in range(len(self.names))]
        size = [len(one.grid) for one, _ in parts]
        return Table(
            {
                "feature": np.repeat([self.name(one) for one, _ in parts], size),
                "at": np.concatenate([one.grid for one, _ in parts] or [np.zeros(0)]),
                "about": np.repeat([self.names[k] for _, k in parts], size),
                "effect": np.concatenate([one.curve[:, k] for one, k in parts] or [np.zeros(0)]),
                "spread": np.concatenate([one.spread[:, k] for one, k in parts] or [np.zeros(0)]),
            }
        )

    def sentence(self, effect: Effect, column: int) -> str:
        """Return how one column moves with one feature: "falls by 0.8 as v_y rises from -0.5 to 0"."""
        return _sentence(self, effect, column)

    def __str__(self) -> str:
        return "\n".join(_lines(self))


def _lines(answer: Effects) -> list[str]:
    lines = []
    # Of two labels, one is as likely as the other is not.
    told = answer.names[:1] if answer.labels and len(answer.names) == 2 else answer.names
    for column, name in enumerate(told):
        average = percent(float(answer.mean[column])) if answer.labels else rounded(float(answer.mean[column]), 3)
        what = f"Action = {name}" if answer.labels else capital(name)
        lines.append(f"{what} ({average}{unit(answer.units[column])} on average), all else fixed:")
        strong = [one for one in answer.shown(column) if _sentence(answer, one, column)]
        lines += [f"  {_sentence(answer, one, column)}" for one in strong[:MOST_TOLD]]
        if strong[MOST_TOLD:]:
            lines.append(f"  depends less on {all_of([answer.name(one) for one in strong[MOST_TOLD:]])}")
        weak = [answer.name(one) for one in answer.curves if one not in strong]
        if weak:
            lines.append(f"  {'hardly depends' if strong else 'does not depend'} on {all_of(weak)}")
    return lines


def _sentence(answer: Effects, effect: Effect, column: int) -> str:
    feature = answer.schema.features[effect.feature]
    moves = effect.moves(column)
    if not moves:
        return ""
    if len(moves) > MOST_MOVES:
        told = f"goes up and down with {feature.name}, by {_size(answer, column, float(effect.range[column]))} in all"
    else:
        told = ", then ".join(_told(answer, feature, effect, column, move, k) for k, move in enumerate(moves))
    if effect.one_way[column] < ONE_WAY:
        told += " (on average; which way depends on the other features)"
    return told


def _size(answer: Effects, column: int, size: float) -> str:
    if answer.labels:
        return f"{rounded(100 * size, 2)} points"
    return f"{rounded(size, 2)}{unit(answer.units[column])}"


def _told(answer: Effects, feature: Feature, effect: Effect, column: int, move: Move, place: int) -> str:
    up, size = move.change > 0, abs(move.change)
    verb = ("becomes likelier" if up else "becomes less likely") if answer.labels else ("rises" if up else "falls")
    if feature.kind == "binary":
        return f"{verb} by {_size(answer, column, size)} with {clause(feature, 0.5, np.inf)}"
    width = effect.middle[1] - effect.middle[0]
    span = width if width > 0 else float(effect.grid[-1] - effect.grid[0])
    tail = unit(feature.unit)
    low, high = (rounded(within_range(at, 10 * span)) for at in (move.low, move.high))
    if not effect.few and (move.high - move.low <= NARROW * span or low == high):
        where = f"about {high}" if place else f"{feature.name} = {high}"
        return f"{verb} by {_size(answer, column, size)} at {where}{tail}"
    by, where = _size(answer, column, size), f" as {feature.name} rises from {low} to {high}{tail}"
    if size > BEYOND * answer.reach[column]:
        # No prediction goes that far: the states change with the feature, and the curve adds up what it does to them.
        step = 10.0 ** math.floor(math.log10((move.high - move.low) / 3))
        by = _size(answer, column, (1 - 2 * ENDS) * size * step / (move.high - move.low))
        return f"{verb} by about {by} for every {rounded(step)}{tail} of {feature.name}, from {low} to {high}{tail}"
    return f"{verb} by {by}{f' up to {high}{tail}' if place else where}"


def _legs(line: F64, turn: float) -> list[tuple[int, int]]:
    """Return the stretches over which a line goes one way, each from one extreme to the next; smaller turns are none.

    >>> _legs(np.array([0.0, 3.0, 2.9, 5.0, 1.0]), 0.5)
    [(0, 3), (3, 4)]
    """
    if not turn > 0:
        return []
    low = high = 0
    ends: list[int] = []
    up: bool | None = None
    for k, number in enumerate(line.tolist()):
        if number > line[high]:
            high = k
        if number < line[low]:
            low = k
        if up is not True and number - line[low] > turn:
            # It has been falling until the lowest point, and rises from there.
            ends.append(low)
            up, high = True, k
        elif up is not False and line[high] - number > turn:
            ends.append(high)
            up, low = False, k
        if up is True and high == k:
            low = k
        if up is False and low == k:
            high = k
    if up is None:
        return []
    ends.append(high if up else low)
    return [(a, b) for a, b in pairwise(ends) if b > a and line[a] != line[b]]
