"""Nearest: the leaf that a state enters with the fewest and then smallest changes (paper, Appendix B)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.leaves.landing import Landing
from tripletree.questions.limits import Limits

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

NOWHERE = np.uint16(np.iinfo(np.uint16).max)
"""The number of changes of a leaf that must not be entered."""


def nearest(limits: Limits, state: F64, span: F64) -> tuple[int, int]:
    """Return the leaf of a state, and the leaf that is entered with the fewest and then smallest changes, or -1."""
    place, column = limits.landing, state[:, None]
    below, above = column < place.lower, column >= place.upper
    changes = np.add.reduce(below | above, axis=0, dtype=np.uint16)
    leaf = int(changes.argmin())
    changes = np.where(open_leaves(limits, below, above, changes), changes, NOWHERE)
    least = changes[changes.argmin()]
    if least == NOWHERE:
        return leaf, -1
    few = (changes == least).nonzero()[0]
    if len(few) == 1:
        return leaf, int(few[0])
    squares = squared_changes(place, column, below.take(few, axis=1), above.take(few, axis=1), few, span)
    return leaf, int(few[squares.argmin()])


def land(place: Landing, states: F64, leaf: Any) -> F64:
    """Return the point of a leaf at which a state that must enter it lands; or one for each of several states."""
    inside = np.where(states < place.lower.T[leaf], place.land_low.T[leaf], states)
    return np.where(states >= place.upper.T[leaf], place.land_high.T[leaf], inside)


def nearest_of_many(limits: Limits, leaves: I64, states: F64, span: F64) -> I64:
    """Return for each state which of the leaves is entered with the fewest and then smallest changes, or -1."""
    place = limits.landing
    lower, upper = place.lower[:, leaves], place.upper[:, leaves]
    changes = np.zeros((len(states), len(leaves)), np.uint16)
    barred = np.zeros(changes.shape, bool)
    no_rise, no_fall = set(limits.no_rise.tolist()), set(limits.no_fall.tolist())
    for f, column in enumerate(states.T):
        below, above = column[:, None] < lower[f], column[:, None] >= upper[f]
        changes += below
        changes += above
        if f in no_rise:
            barred |= below
        if f in no_fall:
            barred |= above
    if no_rise or no_fall:
        changes[barred] = NOWHERE
    least = changes.min(axis=1)
    least[least > limits.max_changes] = NOWHERE - np.uint16(1)  # equal to none
    row, few = np.nonzero(changes == least[:, None])
    moving, few = states.T[:, row], leaves[few]
    squares = squared_changes(place, moving, moving < place.lower[:, few], moving >= place.upper[:, few], few, span)
    order = np.lexsort((few, squares, row))
    first = np.ones(len(row), bool)
    first[1:] = row[order][1:] != row[order][:-1]
    found = np.full(len(states), -1)
    found[row[order][first]] = few[order][first]
    return found


def open_leaves(limits: Limits, below: Mask, above: Mask, changes: Any) -> Mask:
    """Return the leaves that may be entered, given in which features a state lies below or above each."""
    if not limits.limited:
        return limits.leaves
    may: Mask = limits.leaves & (changes <= limits.max_changes)
    if len(limits.no_rise):
        may &= ~below[limits.no_rise].any(axis=0)
    if len(limits.no_fall):
        may &= ~above[limits.no_fall].any(axis=0)
    return may


def squared_changes(place: Landing, states: F64, below: Mask, above: Mask, leaves: Any, span: F64) -> F64:
    """Return the squared 2-norm of the change to the border of each leaf, ranges as the scale (paper, equation 3).

    All arrays have the features first.
    """
    border = np.where(below, place.near_low.take(leaves, axis=1), states)
    border = np.where(above, place.near_high.take(leaves, axis=1), border)
    away = (border - states) / span[:, None]
    total: F64 = (away * away).sum(axis=0)
    return total
