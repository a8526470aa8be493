"""Limits: what a counterfactual may change and where it may lead."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tripletree.asking.foils import Foil
from tripletree.checks import check_names, did_you_mean, is_integer, is_number
from tripletree.errors import ParameterError
from tripletree.leaves.entry import EntryPoints, entry_points
from tripletree.model.fitted import Fitted

Mask = npt.NDArray[np.bool_]

WAYS = ("up", "down")


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
) -> Limits:
    """Return the options of a counterfactual; their meaning is told in ``TripleTree.explain``."""
    names = fitted.schema.feature_names
    leaves = foil.mask
    if not is_integer(min_samples) or min_samples < 1:
        raise ParameterError(f"min_samples must be a whole number of at least 1; got {min_samples!r}. Try 20.")
    if min_samples > 1:
        leaves = leaves & (fitted.leaves.count >= min_samples)
    if not is_number(min_purity) or not 0 <= min_purity <= 1:
        raise ParameterError(f"min_purity must be a number from 0 to 1; got {min_purity!r}. Try 0.9.")
    if min_purity > 0:
        leaves = leaves & (foil.purity() >= min_purity)
    if max_changes is not None and (not is_integer(max_changes) or max_changes < 1):
        raise ParameterError(
            f"max_changes must be a whole number of at least 1, or None (no limit); got {max_changes!r}. Try 2."
        )
    no_rise = no_fall = _NONE
    if len(fixed) or one_way:
        no_rise, no_fall = _ways(names, fixed, one_way or {})
    place = fitted.entry_points
    if kept := bool(isinstance(margin, Mapping) or margin != 0):
        bounds = (*fitted.bounds, fitted.feature_min, fitted.feature_max, fitted.span, fitted.whole)
        place = entry_points(*bounds, _margin(margin, names, fitted.span))
    return Limits(
        leaves,
        place,
        len(names) if max_changes is None else int(max_changes),
        no_rise,
        no_fall,
        kept,
        max_changes is not None or min_samples > 1 or min_purity > 0 or bool(len(no_rise) or len(no_fall)),
    )


def _ways(names: tuple[str, ...], fixed: Any, one_way: Any) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the features that must not rise, and those that must not fall."""
    if isinstance(fixed, str):
        raise ParameterError(f"fixed must be a list of features; got {fixed!r}. Try fixed=[{fixed!r}].")
    if not isinstance(one_way, Mapping):
        raise ParameterError(f'one_way must be a dict such as {{"{names[0]}": "down"}}; got {one_way!r}.')
    check_names(fixed, names, "fixed")
    check_names(one_way, names, "one_way")
    for name, way in one_way.items():
        if way not in WAYS:
            raise ParameterError(
                f'one_way[{name!r}] must be "up" or "down", the only way that it may change; got {way!r}.'
                + did_you_mean(way, WAYS)
            )
    still = [names.index(name) for name in fixed]
    no_rise = {*still, *(names.index(name) for name, way in one_way.items() if way == "down")}
    no_fall = {*still, *(names.index(name) for name, way in one_way.items() if way == "up")}
    return np.array(sorted(no_rise), np.int64), np.array(sorted(no_fall), np.int64)


def _margin(margin: Any, names: tuple[str, ...], span: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the margin of each feature in its own units."""
    if isinstance(margin, Mapping):
        check_names(margin, names, "margin")
        for name, width in margin.items():
            if not is_number(width) or width < 0:
                raise ParameterError(
                    f"margin[{name!r}] must be a non-negative number in the feature's own units; got {width!r}."
                )
        return np.array([float(margin.get(name, 0.0)) for name in names])
    if not is_number(margin) or not 0 <= margin < 1:
        raise ParameterError(
            f"margin must be a share of each feature's range, from 0 to below 1, or a dict with numbers in the "
            f'features\' own units; got {margin!r}. Try 0.01 or {{"{names[0]}": 0.1}}.'
        )
    return np.asarray(margin * span)
