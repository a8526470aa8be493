"""Explain change: why the prediction changed from one state to the next (paper, Appendix B; any number of features).

Between a state and the next one, whose leaves differ, the turning point is the point nearest to the first (fewest
features, then 2-norm) such that the box that it spans with the second meets only foil leaves. Every other leaf that
meets the box of the two states must be cut off along a feature in which the second state lies outside of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.answers.change import Change, Changes
from tripletree.asking.attribute import Attribute, read_attribute
from tripletree.asking.states import read_finite_states, read_state
from tripletree.checks import check_flag, check_number
from tripletree.errors import ParameterError
from tripletree.leaves.boxes import intersect
from tripletree.log.log import Log
from tripletree.model.evaluate import check_same_schema
from tripletree.model.fitted import Fitted
from tripletree.questions.opinion import target_of
from tripletree.text import Message, Option, count

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

CHUNK = 1 << 13
"""Moves that are looked at in one go: it bounds the memory."""


def explain_change(
    fitted: Fitted, before: Any, after: Any, about: Any = "action", threshold: Any = None, opinion: Any = True
) -> Change:
    """Return why the prediction changed between two states; arguments are those of ``TripleTree.explain_change``."""
    here = read_state(before, fitted.schema, "before")[None]
    there = read_state(after, fitted.schema, "after")[None]
    leaf = fitted.tree.apply(np.concatenate([here, there])).astype(np.int64)
    if isinstance(about, Attribute):
        attribute = about  # whose leaves somebody has sorted into levels
    else:
        attribute = _most_changed(fitted, leaf) if about == "action" else read_attribute(fitted, about, single=True)
    _check_threshold(attribute, threshold)
    check_flag(opinion, "opinion")
    level, happened = _levels(attribute, leaf[:1], leaf[1:], threshold)
    turning = _turning(fitted, attribute, here, there, leaf[1:], level)[0] if happened[0] else None
    ends = int(leaf[0]), int(leaf[1])
    answer = _change(fitted, attribute, here[0], there[0], *ends, level, 0, threshold is not None, turning)
    if not opinion or not answer or fitted.second is None:
        return answer
    return _with_opinion(answer, *_second(fitted, attribute, here, there, leaf[:1], leaf[1:], level), 0)


def _with_opinion(answer: Change, was: npt.NDArray[Any], became: npt.NDArray[Any], agreed: Mask, number: int) -> Change:
    labels = answer.attribute.labels
    said = tuple(labels[int(one[number])] if labels else float(one[number]) for one in (was, became))
    return replace(answer, agreed=bool(agreed[number]), second=said)


def _second(
    fitted: Fitted, attribute: Attribute, before: F64, after: F64, leaf_before: I64, leaf_after: I64, level: F64 | None
) -> tuple[npt.NDArray[Any], npt.NDArray[Any], Mask]:
    """Return what the linear leaves predict before and after each move, and whether they see the same change."""
    columns = target_of(fitted, attribute)
    said = []
    for states, leaf in ((before, leaf_before), (after, leaf_after)):
        nodes = fitted.tree.leaf_nodes[leaf].astype(np.int32)
        told = fitted.second.many(np.ascontiguousarray(states), nodes, 1)[:, columns]  # type: ignore[union-attr]
        said.append(told.argmax(axis=1) if attribute.labels else told[:, 0])
    was, became = said
    wanted = attribute.leaves[leaf_after]
    if level is None:
        return was, became, (became == wanted) & (was != wanted)
    side = wanted >= level
    return was, became, ((became >= level) == side) & ((was >= level) != side)


def explain_changes(
    fitted: Fitted,
    log: Any,
    about: Any = "action",
    threshold: Any = None,
    at_least: Any = 0.0,
    opinion: Any = True,
) -> Changes:
    """Return why the prediction changed, each time; arguments are those of ``TripleTree.explain_changes``."""
    attribute = read_attribute(fitted, about, single=True)
    _check_threshold(attribute, threshold)
    check_number(at_least, "at_least", 0, example=0.1)
    check_flag(opinion, "opinion")
    if isinstance(log, Log):
        check_same_schema(fitted.schema, log, "log")
        states = np.ascontiguousarray(log.states)
        follows = np.ones(len(states), bool)
        follows[log.starts[:-1]] = False
    else:
        states = read_finite_states(log, fitted.schema, "log")
        follows = np.arange(len(states)) > 0
    leaf = fitted.tree.apply(states).astype(np.int64)
    step = np.flatnonzero(follows)
    moves = len(step)
    step = step[leaf[step] != leaf[step - 1]]
    level, happened = _levels(attribute, leaf[step - 1], leaf[step], threshold)
    if at_least > 0 and not attribute.labels:
        happened &= np.abs(attribute.leaves[leaf[step]] - attribute.leaves[leaf[step - 1]]) >= at_least
    step, level = step[happened], None if level is None else level[happened]
    before, after, leaf_before, leaf_after = states[step - 1], states[step], leaf[step - 1], leaf[step]
    turning = _turning(fitted, attribute, before, after, leaf_after, level)
    second = None
    if opinion and fitted.second is not None:
        second = _second(fitted, attribute, before, after, leaf_before, leaf_after, level)

    def tell(changes: Changes, i: int) -> Change:
        ends = int(changes.leaf_before[i]), int(changes.leaf_after[i])
        given = threshold is not None
        states = changes.before[i], changes.after[i]
        one = _change(fitted, attribute, *states, *ends, level, i, given, changes.turning[i])
        return one if second is None else _with_opinion(one, *second, i)

    return Changes(
        about=attribute.key,
        step=step,
        before=before,
        after=after,
        leaf_before=leaf_before,
        leaf_after=leaf_after,
        threshold=level,
        turning=turning,
        moves=moves,
        agreed=None if second is None else second[2],
        tell=tell,
        name=attribute.name,
        features=fitted.schema.feature_names,
    )


def _most_changed(fitted: Fitted, leaf: I64) -> Attribute:
    """Return the action; of several dimensions the one that changes most, standard deviations as the scale."""
    mean, scale = fitted.leaves.action_mean, fitted.action_scale
    if mean is None or scale is None:
        return read_attribute(fitted, "action", single=True)
    change = np.abs(mean[leaf[1]] - mean[leaf[0]]) / np.where(scale > 0, scale, 1.0)
    return read_attribute(fitted, fitted.schema.action.names[int(change.argmax())])


def _check_threshold(attribute: Attribute, threshold: Any) -> None:
    if threshold is not None and attribute.labels:
        labels = count(len(attribute.labels), "label")
        raise ParameterError(Message("{} is for numbers, and the action has {} instead.", Option("threshold"), labels))
    check_number(threshold, "threshold", example=0.5, none="the middle")


def _levels(attribute: Attribute, before: I64, after: I64, threshold: Any) -> tuple[F64 | None, Mask]:
    """Return what the numbers of each move had to cross (None for labels), and whether they did."""
    was, became = attribute.leaves[before], attribute.leaves[after]
    if attribute.labels:
        return None, was != became
    if threshold is not None:
        level = np.full(len(was), float(threshold))
        return level, (was >= level) != (became >= level)
    low, high = np.minimum(was, became), np.maximum(was, became)
    middle = low / 2 + high / 2
    # Two numbers next to each other have no middle.
    return np.where((low < middle) & (middle <= high), middle, high), was != became


def _turning(fitted: Fitted, attribute: Attribute, before: F64, after: F64, leaf_after: I64, level: F64 | None) -> F64:
    predicted = attribute.leaves
    became = predicted[leaf_after]

    def is_foil(move: I64, leaf: I64) -> Mask:
        if level is None:
            return np.asarray(predicted[leaf] == became[move])
        return np.asarray((predicted[leaf] >= level[move]) == (became[move] >= level[move]))

    return turning_points(fitted, before, after, is_foil)


def _change(
    fitted: Fitted,
    attribute: Attribute,
    before: F64,
    after: F64,
    leaf_before: int,
    leaf_after: int,
    level: F64 | None,
    number: int,
    given: bool,
    turning: F64 | None,
) -> Change:
    changed = [] if turning is None else np.flatnonzero(turning != before).tolist()
    relations, borders = [], []
    for f in changed:
        border = float(turning[f])  # type: ignore[index]
        if fitted.schema.features[f].kind == "binary":
            relation = "="
        elif after[f] > before[f]:
            relation = ">="
        elif fitted.whole[f] and border == np.rint(border):
            relation = "<="
        else:
            relation, border = "<", float(np.nextafter(border, np.inf))
        relations.append(relation)
        borders.append(border)
    was, became = attribute.leaves[leaf_before], attribute.leaves[leaf_after]
    labels = attribute.labels
    return Change(
        before=before,
        after=after,
        leaf_before=leaf_before,
        leaf_after=leaf_after,
        about=attribute.key,
        was=labels[was] if labels else float(was),
        became=labels[became] if labels else float(became),
        threshold=None if level is None or (turning is None and not given) else float(level[number]),
        given=given,
        turning=turning,
        changed=tuple(changed),
        relations=tuple(relations),
        borders=tuple(borders),
        outside=bool(fitted.outside(np.stack([before, after])).any()),
        attribute=attribute,
        schema=fitted.schema,
    )


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
        move, leaf = intersect(fitted.tree, np.minimum(here, there), np.maximum(here, there))
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
