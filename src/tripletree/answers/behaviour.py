"""Behaviour: what is done in a part of the state space, as one level or as a short rule, in words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tripletree.asking.levels import Classes
from tripletree.asking.regions import Rule
from tripletree.language.conditions import clause
from tripletree.language.numbers import measured, percent
from tripletree.log.schema import Schema

SURE = 0.9
"""What is right less often than this says how often it is, and a rule may be told instead of one level ..."""
ARCS, FINEST, ENOUGH = 5, 32, 0.02
"""Levels in turn along a cycle, at most; parts that a cycle is divided into; and what fewer levels may cost."""
CLEARLY = 0.05
"""... if it is right so much more often."""


@dataclass(frozen=True)
class Column:
    """What a behaviour is made of: its name (empty where its levels speak for themselves) and what they are called.

    ``number`` says that it is a number without levels, because words for it would be wrong too often.
    """

    name: str
    levels: tuple[str, ...]
    number: bool = False


class Done(NamedTuple):
    """What is done in one column.

    Attributes
    ----------
    text : str
        In words.
    kind : {"constant", "rule", "cycle", "number"}
        Whether that is one level, a short rule, levels in turn, or a mean, where levels would say too little.
    share : float
        How often it is so; NaN for a mean.
    right : bool array of shape (steps,)
        At which of the steps.
    """

    text: str
    kind: str
    share: float
    right: npt.NDArray[np.bool_]


def columns(classes: Classes) -> list[Column]:
    """Return the columns of an attribute; a discrete action is one column with its labels as levels."""
    about = classes.about
    if about.labels:
        # "push left" says what is done, "2" does not.
        name = f"{about.names[0]} =" if any(map(_is_number, about.labels)) else ""
        return [Column(name, classes.columns[0].texts)]
    return [Column(one.name, one.names, not one.edges) for one in classes.columns]


def behaviour(
    schema: Schema,
    column: Column,
    rule: Rule,
    states: npt.NDArray[np.float64],
    recorded: npt.NDArray[np.int64],
    numbers: npt.NDArray[np.float64] | None = None,
) -> Done:
    """Return what is done in one column: the commonest level, or a short rule where that fits clearly better.

    Parameters
    ----------
    schema : Schema
        Names of the features.
    column : Column
        Names of the levels.
    rule : Rule
        The rule.
    states : float64 array of shape (steps, features)
        Where it is asked.
    recorded : int64 array of shape (steps,)
        The levels there, -1 where nothing is known.
    numbers : float64 array of shape (steps,), or None
        The numbers there, for a column without levels.
    """
    if column.number and numbers is not None and len(numbers):
        text = measured(float(numbers.mean()), float(numbers.std()))
        return Done(text, "number", math.nan, np.ones(len(numbers), bool))
    ruled, known = rule.of(states), recorded[recorded >= 0]
    level = _commonest(recorded) if len(known) else int(rule.levels[0])
    right, better = recorded == level, recorded == ruled
    share, more = (float(part.mean()) if len(part) else 0.0 for part in (right, better))
    if share < SURE and more > share + CLEARLY:
        return Done(rule_text(rule, column.levels, schema), "rule", more, better)
    return Done(column.levels[level], "constant", share, right)


def cycle(column: Column, place: npt.NDArray[np.float64], period: float, recorded: npt.NDArray[np.int64]) -> Done:
    """Return what is done in one column along a cycle: a few levels in turn.

    Parameters
    ----------
    column : Column
        Names of the levels.
    place : float64 array of shape (steps,)
        Where in the cycle each step is, from 0 to 1; NaN where it is in none.
    period : float
        Steps of a cycle.
    recorded : int64 array of shape (steps,)
        The levels, -1 where nothing is known.
    """
    bins = int(min(max(round(period), 2), FINEST))
    known = ~np.isnan(place) & (recorded >= 0)
    where = np.minimum((np.nan_to_num(place) * bins).astype(np.int64), bins - 1)
    table = np.zeros((bins, len(column.levels)))
    np.add.at(table, (where[known], recorded[known]), 1)
    arcs = _arcs(table)
    levels = np.repeat([level for level, _ in arcs], np.diff([0, *(end for _, end in arcs)]))
    right = known & (levels[where] == recorded)
    last = [math.ceil(end / bins * period) - 1 for _, end in arcs]
    texts = [f"{column.levels[level]} to {'step ' * (not k)}{last[k]}" for k, (level, _) in enumerate(arcs)]
    text = ", ".join(texts) if len(arcs) > 1 else column.levels[arcs[0][0]]
    return Done(text, "cycle" if len(arcs) > 1 else "constant", float(right.mean()), right)


def _arcs(table: npt.NDArray[np.float64]) -> list[tuple[int, int]]:
    """Return the levels along a cycle, and the bin that each ends before: as few as say nearly as much as five."""
    bins = len(table)
    sums = np.vstack([np.zeros(table.shape[1]), np.cumsum(table, axis=0)])
    best = np.full((ARCS + 1, bins + 1), -math.inf)
    came = np.zeros((ARCS + 1, bins + 1), np.int64)
    best[0, 0] = 0.0
    for end in range(1, bins + 1):
        gain = (sums[end] - sums[:end]).max(axis=1)
        total = best[:-1, :end] + gain
        came[1:, end] = total.argmax(axis=1)
        best[1:, end] = total.max(axis=1)
    most = best[1:, bins].max()
    number = next(k for k in range(1, ARCS + 1) if best[k, bins] >= most - ENOUGH * max(sums[-1].sum(), 1.0))
    found: list[tuple[int, int]] = []
    end = bins
    while number:
        begin = int(came[number, end])
        found.insert(0, (int((sums[end] - sums[begin]).argmax()), end))
        end, number = begin, number - 1
    return found


def _commonest(levels: npt.NDArray[np.int64]) -> int:
    known = levels[levels >= 0]
    return int(np.bincount(known).argmax()) if len(known) else 0


def told(column: Column, done: Done, recorded: bool = True) -> str:
    """Return what is done in one column with its name, and how often, unless that is nearly always."""
    right = f" ({percent(done.share)})" if recorded and done.share < SURE else ""  # no share of a mean is below
    return f"{column.name} {done.text}".strip() + right


def rule_text(rule: Rule, levels: Sequence[str], schema: Schema) -> str:
    """Return a rule in words, in the order in which it is to be read: "off when phi < 0.37, else positive"."""
    tree, number = rule.tree, rule.tree.leaf_number
    parts: list[tuple[str, list[Bounds]]] = []

    def same(node: int) -> str | None:
        """Return the level of all leaves below a node, if it is one."""
        if tree.left[node] < 0:
            return levels[int(rule.levels[number[node]])]
        one, other = (same(int(tree.left[node]) + k) for k in (0, 1))
        return one if one == other else None

    def read(node: int, given: Bounds) -> None:
        level = same(node)
        if level is None:
            left, f, border = int(tree.left[node]), int(tree.feature[node]), float(tree.threshold[node])
            low, high = given.get(f, (-math.inf, math.inf))
            below, above = (left, (low, min(high, border))), (left + 1, (max(low, border), high))
            # First the side that is told in a few words: what follows is "else" and needs no condition.
            (first, bound), (second, _) = (below, above) if same(left) is not None else (above, below)
            read(first, {**given, f: bound})
            read(second, given)
        elif parts and parts[-1][0] == level:
            # Neighbours with the same level are one; if the last of all is among them, it needs no condition.
            parts[-1] = (level, [*parts[-1][1], given] if given else [])
        else:
            parts.append((level, [given] if given else []))

    read(0, {})
    return ", else ".join(f"{level} when {_either(ways, schema)}" if ways else level for level, ways in parts)


Bounds = dict[int, tuple[float, float]]
"""What must hold, feature by feature: at least one number, and less than another."""


def _either(ways: list[Bounds], schema: Schema) -> str:
    """Return conditions of which one must hold; one that says less than another is told by the other."""
    kept = [way for k, way in enumerate(ways) if not any(_within(way, other) for other in ways[k + 1 :])]
    texts = (" and ".join(clause(schema.features[f], *ends) for f, ends in way.items()) for way in kept)
    return " or ".join(texts)


def _within(one: Bounds, other: Bounds) -> bool:
    """Return whether one condition holds only where the other does."""
    return all(f in one and low <= one[f][0] and one[f][1] <= high for f, (low, high) in other.items())


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
