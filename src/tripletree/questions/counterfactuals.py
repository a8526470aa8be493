"""Counterfactuals: the least change of a state after which the tree predicts a foil (paper, Appendix B)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tripletree.answers.counterfactual import (
    AGREES,
    ALREADY,
    DISAGREES,
    FOUND,
    NO_OPINION,
    NOT_FOUND,
    Counterfactual,
    Counterfactuals,
)
from tripletree.asking.agents import Agent, ask_agent, can_confirm, confirms
from tripletree.asking.foils import Foil, read_foil
from tripletree.asking.limits import Limits, read_limits
from tripletree.asking.states import read_finite_states, read_state
from tripletree.checks import check_flag, check_whole
from tripletree.errors import ParameterError
from tripletree.leaves.entry import EntryPoints, neat
from tripletree.log.log import Log
from tripletree.model.evaluate import check_log
from tripletree.model.fitted import Fitted
from tripletree.questions.opinion import BAG_MARGIN, MARGIN, Opinion, has_opinion, opinion_of
from tripletree.text import Message, Option

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

CHUNK = 1 << 16
"""Pairs of a state and a leaf that a batch looks at in one go: what fits into a processor's cache."""

DEPTHS = (0.0, 0.25, 0.5, 1.0)
"""Where in a leaf an agent or a second model is asked: at the nearest point, and so far on the way to its middle."""

COUNTERFACTUAL_OPTIONS = (
    "k",
    "max_changes",
    "fixed",
    "one_way",
    "margin",
    "min_samples",
    "min_purity",
    "opinion",
    "log",
    "agent",
    "verified",
)
"""What may be said about a counterfactual beside its foil."""

NOWHERE = np.uint16(np.iinfo(np.uint16).max)
"""The number of changes of a leaf that must not be entered."""


def counterfactual(
    fitted: Fitted,
    state: Any,
    foil: Any,
    *,
    k: int = 1,
    opinion: bool = True,
    log: Log | None = None,
    agent: Agent | None = None,
    verified: bool = False,
    **limits: Any,
) -> Counterfactual:
    """Return the least change of one state that makes the tree predict the foil.

    Arguments are those of ``TripleTree.explain``.
    """
    where = read_state(state, fitted.schema)
    wanted = read_foil(fitted, foil)
    check_whole(k, "k", 1, example=3)
    _check_verified(agent, verified, wanted)
    view = _view(fitted, wanted, opinion, log, verified, limits)
    if k == 1 and not verified:
        leaf, found = nearest(view.limits, where, fitted.span)
        if view.already(where, leaf) or found < 0:
            return _without(view, where, leaf, agent)
        point = land(view.limits.entry_points, where, found)
        if view.agrees(point, found):
            action = None if agent is None else ask_agent(agent, point[None], fitted.schema)[0]
            return _answer(view, where, leaf, found, point, action)
    return _several(view, where, k, agent, verified)


class _View(NamedTuple):
    """A question's tree, foil and limits, and the second model that must agree; None where none is asked.

    ``own`` are the linear models that the tree predicts by; None where it predicts means, and in the paper's form.
    """

    fitted: Fitted
    foil: Foil
    limits: Limits
    second: Opinion | None
    own: Opinion | None
    missing: bool

    def already(self, state: F64, leaf: int) -> bool:
        """Return whether the foil holds in a state: by its leaf's mean, or as the tree predicts."""
        return bool(self.foil.mask[leaf]) or self.predicted(state, leaf)

    def predicted(self, state: F64, leaf: int) -> bool:
        """Return whether the foil holds as the leaf's linear model predicts, and not by its mean."""
        return (
            not self.foil.mask[leaf] and self.own is not None and bool(self.own.holds(state[None], np.array([leaf]))[0])
        )

    def agrees(self, point: F64, leaf: int) -> bool:
        """Return whether the second model agrees at a point, or is not asked."""
        return self.second is None or bool(self.second.agrees(point[None], np.array([leaf]))[0])

    def says(self, point: F64, leaf: int) -> tuple[str | None, tuple[Any, ...]]:
        """Return whether the second model agrees at a point, and what it says there."""
        if self.second is None:
            return NO_OPINION if self.missing else None, ()
        return AGREES if self.agrees(point, leaf) else DISAGREES, self.second.says(point, leaf)


def _view(fitted: Fitted, foil: Foil, opinion: Any, log: Log | None, verified: bool, limits: dict[str, Any]) -> _View:
    """Return how a question is seen. Where a second model is asked, states keep a margin unless told otherwise."""
    check_flag(opinion, "opinion")
    check_log(log, "log", none="the linear leaves of the tree")
    # The agent itself knows better than any model of it.
    asked = opinion and not verified
    second = opinion_of(fitted, foil, log) if asked and (log is not None or has_opinion(fitted)) else None
    if limits.get("margin") is None:
        margin = 0.0 if second is None else BAG_MARGIN if second.bag else MARGIN
        limits = {**limits, "margin": margin, "short": True}
    own = opinion_of(fitted, foil, None) if asked and fitted.model is not None else None
    return _View(fitted, foil, read_limits(fitted, foil, **limits), second, own, asked and second is None)


def _several(view: _View, state: F64, k: int, agent: Agent | None, verified: bool) -> Counterfactual:
    """Return the ``k`` best answers, those after the first as its ``others``."""
    fitted, foil, limits, second = view.fitted, view.foil, view.limits, view.second
    place, column = limits.entry_points, state[:, None]
    below, above = column < place.lower, column >= place.upper
    changes = (below | above).sum(axis=0, dtype=np.uint16)
    leaf = int(changes.argmin())
    if view.already(state, leaf):
        return _without(view, state, leaf, agent)
    may = np.flatnonzero(open_leaves(limits, below, above, changes))
    if not len(may):
        return _without(view, state, leaf, agent)
    below, above, changes = below[:, may], above[:, may], changes[may]
    kept: list[tuple[int, Any]] = []
    if verified or second is not None:
        leaves, points = _deeper(place, state, may, (below | above).T & ~fitted.whole, fitted.span)
        away = (points - state) / fitted.span
        order = np.lexsort((leaves, (away * away).sum(axis=1), np.tile(changes, len(DEPTHS))))
        if verified and agent is not None:
            tries: Iterable[tuple[int, Any]] = _confirmed(agent, foil, fitted, points[order])
        elif second is not None:
            agreed = np.flatnonzero(second.agrees(points[order], leaves[order])).tolist()
            tries = ((i, None) for i in agreed)
        kept = _different(state, points, order, tries, k)
        if not kept and verified:
            return _without(view, state, leaf, agent, tried=len(order))
    if not kept:  # nobody to ask, or nowhere does the second model agree: then the nearest, with its doubts
        squares = squared_changes(place, column, below, above, may, fitted.span)
        leaves, points = may, land(place, state, may)
        order = np.lexsort((may, squares, changes))
        kept = _different(state, points, order, ((i, None) for i in range(len(order))), k)
    if agent is not None and not verified:
        actions = ask_agent(agent, points[[j for j, _ in kept]], fitted.schema)
        kept = [(j, actions[i]) for i, (j, _) in enumerate(kept)]
    answers = [_answer(view, state, leaf, int(leaves[j]), points[j], action) for j, action in kept]
    return answers[0].with_others(tuple(answers[1:])) if len(answers) > 1 else answers[0]


def _different(state: F64, points: F64, order: I64, tries: Iterable[tuple[int, Any]], k: int) -> list[tuple[int, Any]]:
    """Return the first ``k`` of the points that may be tried that really differ, with the action that came along."""
    kept: list[tuple[int, Any]] = []
    for i, action in tries:
        j = int(order[i])
        # One that asks for all that an earlier answer asks, and more, says nothing new.
        if not any(_asks_more(points[j] - state, points[other] - state) for other, _ in kept):
            kept.append((j, action))
            if len(kept) == k:
                break
    return kept


def _asks_more(change: F64, earlier: F64) -> bool:
    asked = earlier != 0
    same_way = np.sign(change[asked]) == np.sign(earlier[asked])
    return bool((same_way & (np.abs(change[asked]) >= np.abs(earlier[asked]))).all())


def _deeper(place: EntryPoints, state: F64, leaves: I64, moving: Mask, span: F64) -> tuple[I64, F64]:
    """Return points on the way from the nearest point of each leaf to its middle, and their leaves.

    Only features that must change anyway go deeper (``moving``, shape (leaves, features)).
    """
    near, middle = land(place, state, leaves), place.middle.T[leaves]
    lower, inside = place.lower.T[leaves], np.nextafter(place.upper.T[leaves], -np.inf)
    points = [near]
    for share in DEPTHS[1:]:
        further = near + share * (middle - near)
        short = neat(further.T, span, np.rint).T
        further = np.where((short >= lower) & (short <= inside), short, np.clip(further, lower, inside))
        points.append(np.where(moving, further, near))
    return np.tile(leaves, len(DEPTHS)), np.concatenate(points)


def _confirmed(agent: Agent, foil: Foil, fitted: Fitted, points: F64) -> Iterator[tuple[int, Any]]:
    """Yield which of the points, in their order, the agent confirms, and with which action.

    It is asked for more and more points at a time.
    """
    begin, size = 0, 32
    while begin < len(points):
        actions = ask_agent(agent, points[begin : begin + size], fitted.schema)
        for i in np.flatnonzero(confirms(foil, actions)).tolist():
            yield begin + i, actions[i]
        begin, size = begin + size, 4 * size


def counterfactuals(
    fitted: Fitted,
    states: Any,
    foil: Any,
    *,
    opinion: bool = True,
    log: Log | None = None,
    agent: Agent | None = None,
    verified: bool = False,
    **limits: Any,
) -> Counterfactuals:
    """Return the least change of each of many states; arguments are those of ``TripleTree.counterfactuals``."""
    array = read_finite_states(states, fitted.schema)
    wanted = read_foil(fitted, foil)
    _check_verified(agent, verified, wanted)
    view = _view(fitted, wanted, opinion, log, verified, limits)
    bounded, second = view.limits, view.second
    leaf = fitted.tree.apply(array).astype(np.int64)
    already = wanted.mask[leaf]
    if view.own is not None:
        already = already | view.own.holds(array, leaf)
    target = np.full(len(array), -1)
    asked = np.flatnonzero(~already)
    size = max(1, CHUNK // fitted.tree.n_leaves)
    allowed = np.flatnonzero(bounded.leaves)
    if len(allowed):
        for begin in range(0, len(asked), size):
            some = asked[begin : begin + size]
            target[some] = nearest_of_many(bounded, allowed, array[some], fitted.span)
    points = np.full(array.shape, np.nan)
    found = target >= 0
    points[found] = land(bounded.entry_points, array[found], target[found])
    actions = confirmed = agreed = None
    if second is not None:
        agreed = np.zeros(len(array), bool)
        agreed[found] = second.agrees(points[found], target[found])
        for i in np.flatnonzero(found & ~agreed).tolist():
            best = _several(view, array[i], 1, None, verified=False)
            target[i], points[i], agreed[i] = best.foil_leaf, best.foil_state, best.opinion == AGREES
    if agent is not None:
        actions, confirmed = _asked(agent, wanted, fitted, points, found)
        if verified and confirmed is not None:
            for i in np.flatnonzero(found & ~confirmed).tolist():
                best = _several(view, array[i], 1, agent, verified=True)
                found[i] = confirmed[i] = bool(best)
                target[i], points[i] = (best.foil_leaf, best.foil_state) if best else (-1, np.nan)
                actions[i] = best.agent_action if best else _nothing(actions)

    def tell(answers: Counterfactuals, i: int) -> Counterfactual:
        if not answers.found[i]:
            return _without(view, array[i], int(leaf[i]), None)
        action = None if answers.agent_actions is None else answers.agent_actions[i]
        return _answer(view, array[i], int(leaf[i]), int(target[i]), points[i], action)

    return Counterfactuals(array, leaf, already, found, wanted, points, target, agreed, actions, confirmed, tell)


def _asked(agent: Agent, foil: Foil, fitted: Fitted, points: F64, found: Mask) -> tuple[npt.NDArray[Any], Mask | None]:
    """Return what the agent does at the points that were found, and whether that is as the foil wants."""
    action = fitted.schema.action
    if action.kind == "continuous":
        actions: npt.NDArray[Any] = np.full((len(points), len(action.names)), np.nan)
    else:
        actions = np.full(len(points), "", object)
    confirmed = np.zeros(len(points), bool)
    if found.any():
        actions[found] = said = ask_agent(agent, points[found], fitted.schema)
        confirmed[found] = confirms(foil, said)
    return actions, confirmed if can_confirm(foil) else None


def _nothing(actions: npt.NDArray[Any]) -> Any:
    return "" if actions.dtype == object else np.nan


def _check_verified(agent: Any, verified: bool, foil: Foil) -> None:
    check_flag(verified, "verified")
    if verified and agent is None:
        raise ParameterError(
            Message("{} needs {}, a function of an array of states.", Option("verified", True), Option("agent"))
        )
    if verified and not can_confirm(foil):
        raise ParameterError(
            Message(
                "{} needs a foil about the action: an agent cannot confirm anything else.", Option("verified", True)
            )
        )


def _answer(view: _View, state: F64, leaf: int, target: int, point: F64, action: Any) -> Counterfactual:
    """Return the answer that leads to a leaf."""
    fitted, foil, limits = view.fitted, view.foil, view.limits
    here, there = state.tolist(), point.tolist()
    changed = [f for f, (x, y) in enumerate(zip(here, there, strict=True)) if x != y]
    place = limits.entry_points
    relations, borders, squares = [], [], 0.0
    for f in changed:
        rises, goal = there[f] > here[f], there[f]
        squares += ((goal - here[f]) / float(fitted.span[f])) ** 2
        edge = float(place.land_low[f, target] if rises else place.land_high[f, target])
        if fitted.schema.features[f].kind == "binary" or goal != edge:  # a point further inside, chosen for the agent
            relation = "="
        elif rises:
            relation = ">="
        elif limits.margin or fitted.whole[f]:
            relation = "<="
        else:
            relation, goal = "<", float(place.upper[f, target])
        relations.append(relation)
        borders.append(goal)
    purity = min(float(condition.attribute.purity[target]) for condition in foil.conditions)
    opinion, second = view.says(point, target)
    return Counterfactual(
        state=state,
        leaf=leaf,
        status=FOUND,
        foil=foil,
        foil_state=point,
        foil_leaf=target,
        changed=tuple(changed),
        relations=tuple(relations),
        borders=tuple(borders),
        distance=math.sqrt(squares),
        samples=int(fitted.leaves.count[target]),
        purity=purity,
        opinion=opinion,
        second=second,
        agent_action=action,
        confirmed=None if action is None else _confirms(foil, action),
        tried=0,
        known=int(np.count_nonzero(foil.mask)),
        limited=limits.limited,
        outside=bool(fitted.outside(state)),
        others=(),
        schema=fitted.schema,
    )


def _without(view: _View, state: F64, leaf: int, agent: Agent | None, tried: int = 0) -> Counterfactual:
    """Return the answer that there is nothing to change, or that nothing helps."""
    fitted, foil, limits = view.fitted, view.foil, view.limits
    already, action, confirmed = view.already(state, leaf), None, None
    opinion, second, predicted = None, (), ()
    if view.own is not None and view.predicted(state, leaf):
        predicted = view.own.predicts(state, leaf)
    elif already and view.second is not None:
        opinion, second = view.says(state, leaf)
    if agent is not None and already:
        action = ask_agent(agent, state[None], fitted.schema)[0]
        confirmed = _confirms(foil, action)
    return Counterfactual(
        state=state,
        leaf=leaf,
        status=ALREADY if already else NOT_FOUND,
        foil=foil,
        foil_state=None,
        foil_leaf=None,
        changed=(),
        relations=(),
        borders=(),
        distance=None,
        samples=0,
        purity=None,
        opinion=opinion,
        second=second,
        predicted=predicted,
        agent_action=action,
        confirmed=confirmed,
        tried=tried,
        known=int(np.count_nonzero(foil.mask)),
        limited=limits.limited,
        outside=bool(fitted.outside(state)),
        others=(),
        schema=fitted.schema,
    )


def _confirms(foil: Foil, action: Any) -> bool | None:
    return bool(confirms(foil, np.asarray(action)[None])[0]) if can_confirm(foil) else None


# The search itself: which leaf is entered with the fewest and then smallest changes.


def nearest(limits: Limits, state: F64, span: F64) -> tuple[int, int]:
    """Return the leaf of a state, and the leaf that is entered with the fewest and then smallest changes, or -1."""
    place, column = limits.entry_points, state[:, None]
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


def nearest_of_many(limits: Limits, leaves: I64, states: F64, span: F64) -> I64:
    """Return for each state which of the leaves is entered with the fewest and then smallest changes, or -1."""
    place = limits.entry_points
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


def land(place: EntryPoints, states: F64, leaf: Any) -> F64:
    """Return the point of a leaf at which a state that must enter it lands; or one for each of several states."""
    inside = np.where(states < place.lower.T[leaf], place.land_low.T[leaf], states)
    return np.where(states >= place.upper.T[leaf], place.land_high.T[leaf], inside)


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


def squared_changes(place: EntryPoints, states: F64, below: Mask, above: Mask, leaves: Any, span: F64) -> F64:
    """Return the squared 2-norm of the change to the border of each leaf, ranges as the scale (paper, equation 3).

    All arrays have the features first.
    """
    border = np.where(below, place.near_low.take(leaves, axis=1), states)
    border = np.where(above, place.near_high.take(leaves, axis=1), border)
    away = (border - states) / span[:, None]
    total: F64 = (away * away).sum(axis=0)
    return total
