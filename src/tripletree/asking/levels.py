"""Levels: the leaves sorted into classes by what they predict: labels, or low, medium and high numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.asking.attribute import Attribute
from tripletree.checks import Rule, check_whole, is_integer, is_number
from tripletree.language.numbers import all_of, capital, exact, short_between, unit
from tripletree.log.log import Log
from tripletree.model.evaluate import known_codes, log_values
from tripletree.model.fitted import Fitted

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

MOST_LEVELS = 9


@dataclass(frozen=True, eq=False)
class Levels:
    """Classes of predictions.

    Attributes
    ----------
    about : Attribute
        The attribute.
    edges : tuple of tuples of float
        Where one level of each column ends and the next begins; empty for a discrete action.
    leaves : int64 array of shape (leaves,)
        Class of each leaf.
    names : tuple of str
        The classes in words.
    """

    about: Attribute
    edges: tuple[tuple[float, ...], ...]
    leaves: I64
    names: tuple[str, ...]


def read_levels(fitted: Fitted, about: Attribute, levels: int | Sequence[float]) -> Levels:
    """Return the classes of the leaves.

    Parameters
    ----------
    fitted : Fitted
        The tree.
    about : Attribute
        The attribute. Of several columns, every combination of levels is a class.
    levels : int or sequence of float
        For numbers: into how many levels with about as many samples each, or at which numbers levels end.
    """
    if about.labels:
        names = tuple(f"Action = {label}{unit(about.units[0])}" for label in about.labels)
        return Levels(about, (), about.leaves, names)
    mean, count = about.mean[about.leaf_nodes], fitted.attributes.count[about.leaf_nodes]
    edges = tuple(_edges(column, count, levels) for column in mean.T)
    columns = [
        [f"{name} {text}" for text in level_texts(of, ends)]
        for name, of, ends in zip(about.names, about.units, edges, strict=True)
    ]
    # "Main engine high (>= 0.5) and side engine low (< 0)": every combination of levels is a class.
    return Levels(about, edges, _classes(mean, edges), tuple(capital(all_of(parts)) for parts in product(*columns)))


def log_classes(fitted: Fitted, levels: Levels, log: Log) -> I64:
    """Return the class of what a log shows at each step, -1 where it shows nothing or an unknown label."""
    about = levels.about
    if not levels.edges:
        return known_codes(fitted, log).astype(np.int64)
    if about.kind == "value":
        shown = log_values(fitted, log)[:, None]
    elif about.kind == "action":
        shown = log.actions[:, list(about.columns)].astype(np.float64)
    else:
        after = np.concatenate([log.states[1:], log.states[:1]])
        after[log.starts[1:] - 1] = log.final_states
        shown = (after - log.states)[:, list(about.columns)]
    return np.where(np.isnan(shown).any(axis=1), -1, _classes(np.nan_to_num(shown), levels.edges))


def _classes(numbers: F64, edges: tuple[tuple[float, ...], ...]) -> I64:
    code = np.zeros(len(numbers), np.int64)
    for column, ends in zip(numbers.T, edges, strict=True):
        code = code * (len(ends) + 1) + np.searchsorted(np.array(ends), column, side="right")
    return code


def _increase(levels: Any) -> bool:
    ends = list(levels) if isinstance(levels, Sequence | np.ndarray) else []
    return bool(ends) and all(is_number(end) for end in ends) and sorted(set(ends)) == ends


_ENDS = Rule(
    _increase, f"a whole number from 2 to {MOST_LEVELS}, or increasing numbers at which levels end", [-0.5, 0.5]
)


def _edges(mean: F64, count: I64, levels: Any) -> tuple[float, ...]:
    """Return the ends given, or short numbers between leaves that divide the samples evenly."""
    if not is_integer(levels):
        _ENDS.check(levels, "levels")
        return tuple(float(end) for end in levels)
    check_whole(levels, "levels", 2, MOST_LEVELS, 3)
    order = np.argsort(mean, kind="stable")
    sorted_mean, cumulated = mean[order], np.cumsum(count[order])
    gaps = np.flatnonzero(sorted_mean[1:] > sorted_mean[:-1])
    ends: set[float] = set()
    for part in range(1, levels):
        if len(gaps):
            gap = gaps[np.abs(cumulated[gaps] - cumulated[-1] * part / levels).argmin()]
            ends.add(short_between(float(sorted_mean[gap]), float(sorted_mean[gap + 1])))
    return tuple(sorted(ends))


_WORDS = {2: ("low", "high"), 3: ("low", "medium", "high")}


def level_texts(of: str, ends: Sequence[float]) -> list[str]:
    """Return what the levels of one column are called: "low (< 0 m)", "high (>= 0 m)"."""
    borders = [-math.inf, *ends, math.inf]
    ranges = [f"{_range(low, high)}{unit(of)}" for low, high in pairwise(borders)]
    words = _WORDS.get(len(ranges))
    return ranges if words is None else [f"{word} ({text})" for word, text in zip(words, ranges, strict=True)]


def level_names(of: str, ends: Sequence[float]) -> list[str]:
    """Return the same without the numbers, where there are words for it."""
    return list(_WORDS.get(len(ends) + 1, ())) or level_texts(of, ends)


def _range(low: float, high: float) -> str:
    if low == -math.inf:
        return f"< {exact(high)}" if high < math.inf else "the same"
    return f">= {exact(low)}" if high == math.inf else f"{exact(low)} to {exact(high)}"
