"""Levels: what a number means, in words: "off" and "on", "negative" and "positive"; and the class of every leaf.

Those of a continuous action were found in the log when the tree was grown (``model.levels``), or come from the user or
the environment. Those of values and derivatives are short numbers: quarters of the samples, and 0.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise, product
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.asking.attribute import Attribute, read_attribute
from tripletree.checks import Rule, check_whole, did_you_mean, is_integer, listing
from tripletree.errors import ParameterError
from tripletree.language.conditions import DERIVATIVE_OF
from tripletree.language.numbers import all_of, capital, exact, measured, short_between, unit
from tripletree.log.derive import derivatives
from tripletree.log.log import Log
from tripletree.log.schema import MOST_LEVELS, levels_wrong
from tripletree.model.evaluate import known_codes, log_values
from tripletree.model.fitted import Fitted
from tripletree.model.levels import (
    GOOD,
    Found,
    from_json,
    level_of,
    level_words,
    number_edges,
    range_words,
    split_given,
)
from tripletree.text import Message, Option

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

AUTO = "auto"
NEAR_ZERO = 0.1
"""A change by less than this share of its standard deviation is near 0."""

Wanted = int | str | Sequence[float | str] | Mapping[str, Sequence[float | str]]
"""Levels as an argument: "auto", a number of them, where they end with or without names, or that by dimension."""


@dataclass(frozen=True, eq=False)
class Levels:
    """The levels of one label or number that a tree predicts.

    Attributes
    ----------
    attribute : Attribute
        What it is, one column. Its numbers are those of the leaves, moved into the leaf's level where the mean of the
        leaf lies in another.
    edges : tuple of float
        Where one level ends and the next begins; empty for labels, and for a number that has no levels.
    names : tuple of str
        The levels in words, without numbers.
    leaves : int64 array of shape (leaves,)
        The level of each leaf: the commonest one among its samples, as far as that is known.
    how : str
        Where they come from: "label", "switch", "number", "value", "given", "asked".
    agreement : float or None
        How often the level of a leaf was that of the log, in episodes that were left out for this; None: not known.
    """

    attribute: Attribute
    edges: tuple[float, ...]
    names: tuple[str, ...]
    leaves: I64
    how: str
    agreement: float | None = None

    @property
    def name(self) -> str:
        """What sentences call the column."""
        return self.attribute.name

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The levels in words, with the numbers that they stand for: "off (< 0)", "on (>= 0)"."""
        of = unit(self.attribute.units[0])
        if self.how in ("label", "value") or not self.edges:
            return tuple(f"{name}{of}" for name in self.names)
        numbers = _ranges(self.edges)
        # A name that is nothing but its numbers needs them once.
        bare = {*numbers, *range_words(self.edges)}
        return tuple(
            f"{name}{of}" if name in bare else f"{name} ({text}{of})"
            for name, text in zip(self.names, numbers, strict=True)
        )

    @property
    def doubtful(self) -> bool:
        """Whether the log agrees with the words in fewer than 80 % of the steps of unseen episodes."""
        return self.agreement is not None and self.agreement < GOOD


@dataclass(frozen=True, eq=False)
class Classes:
    """All columns of an attribute sorted into levels; every combination of levels is a class.

    Attributes
    ----------
    about : Attribute
        The attribute.
    columns : tuple of Levels
        Its columns; one for labels.
    """

    about: Attribute
    columns: tuple[Levels, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """How many levels each column has."""
        return tuple(len(column.names) for column in self.columns)

    @cached_property
    def leaves(self) -> I64:
        """Class of each leaf."""
        return self.joined(np.stack([column.leaves for column in self.columns], axis=1))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The classes in words: "Action = left", or "Main engine on (>= 0) and side engine off (-0.5 to 0.5)"."""
        if self.about.labels:
            return tuple(f"Action = {text}" for text in self.columns[0].texts)
        parts = [[f"{column.name} {text}" for text in column.texts] for column in self.columns]
        return tuple(capital(all_of(combination)) for combination in product(*parts))

    def joined(self, levels: I64) -> I64:
        """Return the class of rows of levels, shape (rows, columns); -1 where a level is."""
        code = np.zeros(len(levels), np.int64)
        for column, size in zip(levels.T, self.shape, strict=True):
            code = code * size + column
        return np.where((levels < 0).any(axis=1), -1, code)

    def parts(self, code: int) -> tuple[int, ...]:
        """Return the level of each column of a class."""
        return tuple(int(part) for part in np.unravel_index(code, self.shape))


def read_levels(fitted: Fitted, about: Attribute, levels: Wanted = AUTO) -> Classes:
    """Return the classes of the leaves.

    Parameters
    ----------
    fitted : Fitted
        The tree.
    about : Attribute
        The attribute.
    levels : "auto", int, sequence or mapping
        For numbers: "auto" for levels that mean something; how many, with about as many samples each; or at which
        numbers levels end, with a name for each level between them if wanted; or a mapping from columns to that.
    """
    if about.labels:
        return Classes(about, (Levels(about, (), about.labels, about.leaves, "label"),))
    keys = _keys(fitted, about)
    if isinstance(levels, Mapping):
        unknown = next((key for key in levels if key not in keys), None)
        if unknown is not None:
            raise ParameterError(
                Message(
                    "{} has {!r}, but this question is about {}.{}",
                    Option("levels"),
                    unknown,
                    listing(keys),
                    did_you_mean(unknown, keys),
                )
            )
    return Classes(
        about,
        tuple(
            _column(
                fitted, read_attribute(fitted, key), levels.get(key, AUTO) if isinstance(levels, Mapping) else levels
            )
            for key in keys
        ),
    )


def log_levels(fitted: Fitted, classes: Classes, log: Log) -> I64:
    """Return the level of what a log shows, of shape (steps, columns); -1 for nothing, and for an unknown label."""
    about = classes.about
    if about.labels:
        return known_codes(fitted, log).astype(np.int64)[:, None]
    if about.kind == "value":
        shown = log_values(fitted, log)[:, None]
    elif about.kind == "action":
        shown = log.actions[:, list(about.columns)].astype(np.float64)
    else:
        shown = derivatives(log)[:, list(about.columns)]
    found = np.empty(shown.shape, np.int64)
    for level, column, levels in zip(found.T, shown.T, classes.columns, strict=True):
        level[:] = level_of(column, levels.edges)
        level[np.isnan(column)] = -1
    return found


def log_classes(fitted: Fitted, classes: Classes, log: Log) -> I64:
    """Return the class of what a log shows at each step, -1 where it shows nothing or an unknown label."""
    return classes.joined(log_levels(fitted, classes, log))


def _keys(fitted: Fitted, about: Attribute) -> list[str]:
    """Return the columns of an attribute by the names that a question would have."""
    if about.kind == "derivative":
        return [DERIVATIVE_OF + fitted.schema.feature_names[f] for f in about.columns]
    return list(about.names) if about.kind == "action" else ["value"]


def _increase(levels: Any) -> bool:
    return not levels_wrong(levels.tolist() if isinstance(levels, np.ndarray) else levels, most=1000)


_ENDS = Rule(
    _increase,
    f'"auto", a whole number from 2 to {MOST_LEVELS}, or increasing numbers at which levels end, with a name for every '
    "level between them or none",
    [-0.5, 0.5],
)


def _column(fitted: Fitted, one: Attribute, levels: Any) -> Levels:
    mean, count = one.leaves, fitted.leaves.count
    edges: tuple[float, ...]
    names: tuple[str, ...]
    if isinstance(levels, str) and levels == AUTO:
        kept = _kept(fitted, one)
        if kept is not None:
            found, nodes = kept
            names = found.names or (measured(float(one.mean[0, 0]), float(one.std[0, 0])),)
            return _levels(one, found.edges, names, nodes[one.leaf_nodes], found.how, found.agreement)
        edges, names, how = _short(fitted, one)
    elif is_integer(levels):
        check_whole(levels, "levels", 2, MOST_LEVELS, 3)
        edges, names, how = _even(mean, count, int(levels)), (), "asked"
    else:
        _ENDS.check(levels, "levels")
        (edges, names), how = split_given(list(levels)), "asked"
    words = names or _plain(edges) or ("the same",)
    return _levels(one, edges, words, level_of(mean, edges), how, None)


def _levels(
    one: Attribute, edges: tuple[float, ...], names: tuple[str, ...], leaves: I64, how: str, agreement: float | None
) -> Levels:
    """Return levels whose attribute says of every leaf a number in the leaf's level."""
    borders = np.array([-math.inf, *edges, math.inf])
    mean = one.mean.copy()
    least, most = borders[leaves], np.nextafter(borders[leaves + 1], -math.inf)
    mean[one.leaf_nodes, 0] = np.clip(mean[one.leaf_nodes, 0], least, most)
    return Levels(replace(one, mean=mean), edges, names, leaves, how, agreement)


def _kept(fitted: Fitted, one: Attribute) -> tuple[Found, I64] | None:
    """Return the levels that were found in the training log, and that of each node."""
    known = fitted.provenance.get("levels")
    if one.kind != "action" or not isinstance(known, Mapping):
        return None
    return from_json(known.get(one.name), fitted.tree.n_nodes)


def _short(fitted: Fitted, one: Attribute) -> tuple[tuple[float, ...], tuple[str, ...], str]:
    """Return levels that need no log: what is near 0, or quarters of the samples, at short numbers."""
    mean, count = one.leaves, fitted.leaves.count
    if one.kind == "action":  # of a file that does not say what its log showed
        numbers = np.repeat(mean, np.maximum(count * 10_000 // max(int(count.sum()), 1), 1))
        edges = number_edges(numbers) if numbers.min() < numbers.max() else ()
        return edges, level_words(edges, numbers) if edges else (), "number"
    if one.kind == "derivative":
        if fitted.schema.features[one.columns[0]].kind == "binary":
            return (-0.5, 0.5), ("off", "the same", "on"), "number"
        near = float(f"{NEAR_ZERO * float(one.sigma[0]):.1g}")
        if not near > 0:
            return (), (), "number"
        return (-near, near), ("negative", "near 0", "positive"), "number"
    order = np.argsort(mean, kind="stable")
    share = np.cumsum(count[order]) / count.sum()
    low, high = (float(mean[order][min(int(np.searchsorted(share, part)), len(mean) - 1)]) for part in (0.25, 0.75))
    spread = high - low
    if not spread > 0:
        return _even(mean, count, 2), (), "number"
    places = 1 - math.floor(math.log10(spread))
    return tuple(round(end, places) + 0.0 for end in (low, high)), (), "number"


def _even(mean: F64, count: I64, levels: int) -> tuple[float, ...]:
    """Return short numbers between leaves that divide the samples evenly."""
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


def _plain(edges: Sequence[float]) -> tuple[str, ...]:
    """Return "low", "medium" and "high", or for more levels their numbers."""
    return () if not edges else _WORDS.get(len(edges) + 1) or tuple(_ranges(edges))


def _ranges(edges: Sequence[float]) -> list[str]:
    return [_range(low, high) for low, high in pairwise([-math.inf, *edges, math.inf])]


def _range(low: float, high: float) -> str:
    if low == -math.inf:
        return f"< {exact(high)}"
    return f">= {exact(low)}" if high == math.inf else f"{exact(low)} to {exact(high)}"
