"""Levels: the leaves sorted into classes by what they predict: labels, or low, medium and high numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.checks import is_integer, is_number
from tripletree.errors import ParameterError
from tripletree.log.log import Log
from tripletree.model.fitted import Fitted
from tripletree.model.judge import known_codes, log_values
from tripletree.questions.about import About
from tripletree.questions.words import levels as told

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

MOST_LEVELS = 9


@dataclass(frozen=True, eq=False)
class Levels:
    """Classes of predictions.

    Attributes
    ----------
    about : About
        The attribute.
    edges : tuple of tuples of float
        Where one level of each column ends and the next begins; empty for a discrete action.
    leaves : int64 array of shape (leaves,)
        Class of each leaf.
    names : tuple of str
        The classes in words.
    """

    about: About
    edges: tuple[tuple[float, ...], ...]
    leaves: I64
    names: tuple[str, ...]


def read_levels(fitted: Fitted, about: About, levels: int | Sequence[float]) -> Levels:
    """Return the classes of the leaves.

    Parameters
    ----------
    fitted : Fitted
        The tree.
    about : About
        The attribute. Of several columns, every combination of levels is a class.
    levels : int or sequence of float
        For numbers: into how many levels with about as many samples each, or at which numbers levels end.
    """
    nodes = fitted.tree.leaf_nodes
    mean = about.mean(fitted, nodes)
    if about.kind == "action" and fitted.schema.action.kind == "discrete":
        labels = fitted.schema.action.labels
        tail = fitted.schema.action.units[0]
        return Levels(about, (), mean[:, 0].astype(np.int64), tuple(told.label(label, tail) for label in labels))
    count = fitted.attributes.count[nodes]
    edges = tuple(_edges(column, count, levels) for column in mean.T)
    names = told.combinations(fitted.schema, about, edges)
    return Levels(about, edges, _classes(mean, edges), tuple(names))


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


def _edges(mean: F64, count: I64, levels: Any) -> tuple[float, ...]:
    """Return the ends given, or short numbers between leaves that part the samples evenly."""
    if not is_integer(levels):
        given = list(levels) if isinstance(levels, Sequence | np.ndarray) else []
        if not given or not all(is_number(end) for end in given) or sorted(set(given)) != given:
            raise ParameterError(
                f"levels must be a whole number from 2 to {MOST_LEVELS}, or increasing numbers at which levels end, "
                f"such as [-0.5, 0.5]; got {levels!r}."
            )
        return tuple(float(end) for end in given)
    if not 2 <= levels <= MOST_LEVELS:
        raise ParameterError(f"levels must be from 2 to {MOST_LEVELS}; got {levels}. Try levels=3.")
    order = np.argsort(mean, kind="stable")
    sorted_mean, cumulated = mean[order], np.cumsum(count[order])
    gaps = np.flatnonzero(sorted_mean[1:] > sorted_mean[:-1])
    ends: set[float] = set()
    for part in range(1, levels):
        if len(gaps):
            gap = gaps[np.abs(cumulated[gaps] - cumulated[-1] * part / levels).argmin()]
            ends.add(_short(float(sorted_mean[gap]), float(sorted_mean[gap + 1])))
    return tuple(sorted(ends))


def _short(low: float, high: float) -> float:
    """Return 0 or the number with fewest digits near the middle of (low, high]."""
    if low < 0 <= high:
        return 0.0
    middle = low + (high - low) / 2
    tries = (float(f"{middle:.{digits}e}") for digits in range(17))
    return next((number for number in tries if low < number <= high), high)
