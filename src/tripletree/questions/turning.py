"""Turning points: the least part of a move that explains why the prediction changed (paper, Appendix B; any d).

Between a state and the next one, whose leaves differ, the turning point is the point nearest to the first (fewest
features, then 2-norm) such that the box that it spans with the second meets only foil leaves. Every other leaf that
meets the box of the two states must be cut off along a feature in which the second state lies outside of it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from tripletree.leaves.meeting import meeting
from tripletree.model.fitted import Fitted

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

CHUNK = 1 << 13
"""Moves that are looked at in one go: it bounds the memory."""


def turning_points(fitted: Fitted, before: F64, after: F64, is_foil: Callable[[I64, I64], Mask]) -> F64:
    """Return the turning point of each move, shape (moves, features).

    Parameters
    ----------
    fitted : Fitted
        The tree.
    before, after : float64 arrays of shape (moves, features)
        The states; none of the first lies in a foil leaf of its move, all of the second do.
    is_foil : callable
        Tells of moves and leaves, two int arrays of one length, whether the leaf is a foil leaf of the move.
    """
    turning = before.copy()
    for begin in range(0, len(before), CHUNK):
        rows = slice(begin, begin + CHUNK)
        here, there = before[rows], after[rows]
        move, leaf = meeting(fitted.tree, np.minimum(here, there), np.maximum(here, there))
        bad = ~is_foil(move + begin, leaf)
        _turn(fitted, here, there, move[bad], leaf[bad], turning[rows])
    return turning


def _turn(fitted: Fitted, before: F64, after: F64, move: I64, leaf: I64, turning: F64) -> None:
    """Put the turning points of some moves into ``turning``, given the leaves to cut off each move's box."""
    if not len(move):
        return
    first = np.flatnonzero(np.append(True, move[1:] != move[:-1]))
    last = np.append(first[1:], len(move))
    # Seen along the way from `before` to `after`, coordinates rise; so the largest limit cuts off the most.
    way = np.where(after >= before, 1.0, -1.0)
    reach = way[move] * _limits(fitted, before[move], after[move], leaf)
    # One feature: it must cut off all leaves of its move. An infinite limit cannot.
    reach = np.where(np.isnan(reach), np.inf, reach)
    most = np.maximum.reduceat(reach, first, axis=0)
    moves = move[first]
    cost = (most - way[moves] * before[moves]) / fitted.span
    best = cost.argmin(axis=1)
    single = np.isfinite(cost[np.arange(len(moves)), best])
    turning[moves[single], best[single]] = (way[moves] * most)[single, best[single]]
    for row in np.flatnonzero(~single).tolist():
        m, mine = moves[row], reach[first[row] : last[row]]
        for f, number in _fewest_cuts(mine, way[m] * before[m], fitted.span).items():
            turning[m, f] = way[m, f] * number


def _limits(fitted: Fitted, before: F64, after: F64, leaf: I64) -> F64:
    """Return how far from ``after`` towards ``before`` a box may reach in each feature without meeting the leaf.

    NaN where ``after`` lies inside the leaf along the feature, so that it cannot cut the leaf off. A leaf holds
    ``lower <= x < upper``: from above the box may touch the upper bound, from below it must stay short of the lower.
    """
    lower, upper = (bound[leaf] for bound in fitted.bounds)
    short, touch = np.nextafter(lower, -np.inf), upper
    if fitted.whole.any():
        # Whole numbers turn at whole numbers, as far as both states hold such.
        neat = fitted.whole & (after == np.rint(after)) & (before == np.rint(before))
        short, touch = np.where(neat, np.ceil(lower) - 1, short), np.where(neat, np.ceil(upper), touch)
    limit = np.where(after < lower, short, np.nan)
    return np.where(after >= upper, touch, limit)


def _fewest_cuts(reach: F64, origin: F64, span: F64) -> dict[int, float]:
    """Return which features to cut, and where, so that every leaf (row) is cut off by one of them.

    Fewest features first, then the least sum of squared changes; of equals the first features.

    Parameters
    ----------
    reach : float64 array of shape (leaves, features)
        Where a cut along a feature must lie at least to cut off a leaf; infinite where it cannot.
    origin, span : float64 arrays of shape (features,)
        Where the move begins, and the scale of changes.
    """
    cost = (reach - origin) / span
    able = np.isfinite(cost)
    for size in range(2, reach.shape[1] + 1):
        best, cuts = np.inf, {}
        for features in sorted(_covers(able, size)):
            total, depths = _least(cost[:, features], best)
            if total < best:
                best, cuts = total, dict(zip(features, depths, strict=True))
        if cuts:
            # The number itself, not what is left of it after a subtraction and a division.
            return {f: float(reach[cost[:, f] <= depth, f].max()) for f, depth in cuts.items()}
    return {}


def _covers(able: Mask, size: int) -> set[tuple[int, ...]]:
    """Return the sets of at most ``size`` features such that each row has one that is able."""
    found: set[tuple[int, ...]] = set()

    def grow(chosen: tuple[int, ...], rows: I64) -> None:
        if not len(rows):
            found.add(tuple(sorted(chosen)))
        elif len(chosen) < size:
            # The row with the fewest ways out first.
            row = rows[able[rows].sum(axis=1).argmin()]
            for f in np.flatnonzero(able[row]).tolist():
                grow((*chosen, f), rows[~able[rows, f]])

    grow((), np.arange(len(able)))
    return found


def _least(cost: F64, bound: float) -> tuple[float, tuple[float, ...]]:
    """Return the least sum of squared depths, one a column, such that each row is reached in a column; and the depths.

    What is not below ``bound`` may be given as infinite.
    """
    if not len(cost):
        return 0.0, (0.0,) * cost.shape[1]
    order = cost[:, 0].argsort(kind="stable")
    sorted_cost = cost[order]
    levels = np.append(0.0, sorted_cost[:, 0])  # level i reaches the first i rows
    if cost.shape[1] == 2:
        rest = np.append(np.maximum.accumulate(sorted_cost[::-1, 1])[::-1], 0.0)
        totals = levels * levels + rest * rest
        i = int(totals.argmin())
        return float(totals[i]), (float(levels[i]), float(rest[i]))
    best, chosen = np.inf, (np.inf,) * cost.shape[1]
    for i in range(len(levels)):
        depth = float(levels[i])
        if not depth * depth < min(bound, best):
            break
        if i < len(cost) and depth == sorted_cost[i, 0]:
            continue  # the same depth reaches the next row too
        total, depths = _least(sorted_cost[i:, 1:], min(bound, best) - depth * depth)
        if depth * depth + total < best:
            best, chosen = depth * depth + total, (depth, *depths)
    return best, chosen
