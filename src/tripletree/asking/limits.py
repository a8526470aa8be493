"""Limits: what a counterfactual may change and where it may lead."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tripletree.asking.foils import Foil
from tripletree.checks import Rule, check_names, check_number, check_whole, choice, is_number
from tripletree.errors import ParameterError
from tripletree.leaves.entry import EntryPoints, entry_points
from tripletree.model.fitted import Fitted
from tripletree.text import Message, Option

Mask = npt.NDArray[np.bool_]

DIRECTIONS = ("up", "down")


class Limits(NamedTuple):
    """The options of a counterfactual, checked.

    Attributes
    ----------
    leaves : bool array of shape (leaves,)
        Leaves of the foil that have the support and purity asked for.
    entry_points : EntryPoints
        Where states land in each leaf, the margin included.
    max_changes : int
        Most features that may change.
    no_rise, no_fall : int arrays
        Features that must not go up, or down.
    margin : bool
        Whether a margin is kept.
    limited : bool
        Whether any of the options narrows the search.
    """

    leaves: Mask
    entry_points: EntryPoints
    max_changes: int
    no_rise: npt.NDArray[np.int64]
    no_fall: npt.NDArray[np.int64]
    margin: bool
    limited: bool


_NONE = np.zeros(0, np.int64)


def read_limits(
    fitted: Fitted,
    foil: Foil,
    max_changes: Any = None,
    fixed: Any = (),
    one_way: Any = None,
    margin: Any = 0.0,
    min_samples: Any = 1,
    min_purity: Any = 0.0,
    *,
    short: bool = False,
) -> Limits:
    """Return the options of a counterfactual, which ``TripleTree.explain`` describes.

    With ``short``, a margin may be a little wider, for the sake of numbers with few digits.
    """
    names = fitted.schema.feature_names
    leaves = foil.mask
    check_whole(min_samples, "min_samples", 1, example=20)
    if min_samples > 1:
        leaves = leaves & (fitted.leaves.count >= min_samples)
    check_number(min_purity, "min_purity", 0, 1, 0.9)
    if min_purity > 0:
        leaves = leaves & (foil.purity() >= min_purity)
    check_whole(max_changes, "max_changes", 1, example=2, none="no limit")
    no_rise = no_fall = _NONE
    if type(fixed) is not tuple or fixed or one_way:
        no_rise, no_fall = _directions(names, fixed, one_way or {})
    place = fitted.entry_points
    if kept := bool(isinstance(margin, Mapping) or margin != 0):
        # The usual margin is asked for again and again, and each time all leaves would be gone through.
        key = f"entry points {margin} {short}"
        if key not in fitted.memory:
            bounds = (*fitted.bounds, fitted.feature_min, fitted.feature_max, fitted.span, fitted.whole)
            fitted.memory[key] = entry_points(*bounds, _margin(margin, names, fitted.span), short)
        place = fitted.memory[key]
    return Limits(
        leaves,
        place,
        len(names) if max_changes is None else int(max_changes),
        no_rise,
        no_fall,
        kept,
        max_changes is not None or min_samples > 1 or min_purity > 0 or bool(len(no_rise) or len(no_fall)),
    )


def _directions(
    names: tuple[str, ...], fixed: Any, one_way: Any
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the features that must not rise, and those that must not fall."""
    example = [fixed if isinstance(fixed, str) else names[0]]
    Rule(_is_list, "a list of features", example).check(fixed, "fixed")
    Rule(lambda value: isinstance(value, Mapping), "a dict", {names[0]: "down"}).check(one_way, "one_way")
    check_names(fixed, names, Option("fixed"))
    check_names(one_way, names, Option("one_way"))
    for name, direction in one_way.items():
        _check_feature(choice(DIRECTIONS, {name: "down"}), direction, name, "one_way")
    still = [names.index(name) for name in fixed]
    no_rise = {*still, *(names.index(name) for name, direction in one_way.items() if direction == "down")}
    no_fall = {*still, *(names.index(name) for name, direction in one_way.items() if direction == "up")}
    return np.array(sorted(no_rise), np.int64), np.array(sorted(no_fall), np.int64)


def _margin(margin: Any, names: tuple[str, ...], span: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the margin of each feature in its own units."""
    if isinstance(margin, Mapping):
        check_names(margin, names, Option("margin"))
        for name, width in margin.items():
            rule = Rule(_is_width, "a number of at least 0, in the feature's own units", {name: 0.1})
            _check_feature(rule, width, name, "margin")
        return np.array([float(margin.get(name, 0.0)) for name in names])
    share = "a share of each feature's range, from 0 to below 1, or a dict with numbers in the features' own units"
    Rule(lambda value: _is_width(value) and value < 1, share, 0.01).check(margin, "margin")
    return np.asarray(margin * span)


def _is_list(value: Any) -> bool:
    return isinstance(value, Collection) and not isinstance(value, str)


def _is_width(value: Any) -> bool:
    return is_number(value) and value >= 0


def _check_feature(rule: Rule, value: Any, feature: str, name: str) -> None:
    """Raise ParameterError unless the dict ``name`` may have this value for a feature."""
    if wrong := rule.objection(value, name):
        raise ParameterError(Message("Feature `{}`: {}", feature, wrong))
