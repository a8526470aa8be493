"""Zones and starts: the places that a question is about, in whatever form a user writes them, as sets of leaves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.asking.attribute import known_attributes
from tripletree.asking.foils import check_key, read_condition
from tripletree.asking.states import read_state
from tripletree.checks import is_integer, is_number
from tripletree.errors import ParameterError
from tripletree.graph.transitions import Transitions
from tripletree.language import conditions
from tripletree.language.conditions import Interval, read_interval
from tripletree.language.parser import read_expression
from tripletree.model.fitted import Fitted
from tripletree.text import Message, Option

F64 = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Zone:
    """A set of states, or the end.

    Attributes
    ----------
    mask : bool array of shape (leaves + 1,)
        Which leaves stand for it where only leaves are known; the last entry is the end.
    text : str
        The zone in words.
    bounds : tuple of (feature, Interval)
        Conditions on states.
    predicted : bool array of shape (leaves,), or None
        Leaves that the state must be in: those that were named, or that predict what is asked for; None for any.
    """

    mask: Mask
    text: str
    bounds: tuple[tuple[int, Interval], ...] = ()
    predicted: Mask | None = None

    def holds(self, states: F64, leaf: npt.NDArray[np.int32]) -> Mask:
        """Return which states, of shape (samples, features), lie in it; ``leaf`` is that of each."""
        inside = np.zeros(len(states), bool) if self.end else np.ones(len(states), bool)
        for f, interval in self.bounds:
            inside &= interval.holds(states[:, f])
        return inside if self.predicted is None else inside & self.predicted[leaf]

    @property
    def leaves(self) -> npt.NDArray[np.int64]:
        """The leaves of the zone, without the end."""
        return np.flatnonzero(self.mask[:-1])

    @property
    def end(self) -> bool:
        """Whether the end belongs to the zone."""
        return bool(self.mask[-1])


@dataclass(frozen=True, eq=False)
class Start:
    """Where journeys begin.

    Attributes
    ----------
    share : float64 array of shape (leaves + 1,)
        Distribution over places.
    text : str
        The start in words.
    """

    share: F64
    text: str


def read_zone(fitted: Fitted, zone: Any, name: str = "zone", *, may_be_empty: bool = False) -> Zone:
    """Return a zone.

    Parameters
    ----------
    fitted : Fitted
        The tree.
    zone : dict, text, leaf number or collection of them, or Zone
        A dict has a pair ``(low, high)`` (see :class:`~tripletree.language.conditions.Interval`) or a number for
        features, for ``"value"``, ``"derivative of pos"`` or the names of continuous actions (what the leaf predicts
        counts), and a label or several for ``"action"``. All conditions must hold. Text is ``"end"``, or says the same
        as a dict or as leaves: ``"pos >= 1 and action = left"``, ``"leaves 3, 7"`` (see ``language.parser``).
    name : str
        The argument's name.
    may_be_empty : bool
        Whether it may lie where the log has never been: that nobody got there is an answer, too.
    """
    size = fitted.tree.n_leaves
    if isinstance(zone, Zone):
        return zone
    zone = read_place(fitted, zone, name)
    if isinstance(zone, str):
        return Zone(np.arange(size + 1) == size, conditions.END)
    if isinstance(zone, Mapping):
        return _conditions(fitted, zone, name, may_be_empty)
    leaves = [zone] if is_integer(zone) else _whole_numbers(zone)
    if leaves is None:
        raise ParameterError(
            Message("{} is a {} that names no places. {}", Option(name), type(zone).__name__, _how(fitted))
        )
    if not leaves:
        raise ParameterError(Message("{} is empty: it names no leaf. {}", Option(name), _how(fitted)))
    for leaf in leaves:
        if not 0 <= leaf < size:
            known = "leaves go from 0 to" if size > 1 else "the only leaf is"
            raise ParameterError(Message("{} has leaf {}; {} {}.", Option(name), leaf, known, size - 1))
    mask = np.zeros(size + 1, bool)
    mask[leaves] = True
    return Zone(mask, conditions.leaves(np.flatnonzero(mask).tolist()), predicted=mask[:-1])


def read_place(fitted: Fitted, place: Any, name: str) -> Any:
    """Return a place as it came, or what its text says: "end", conditions, leaves, or the numbers of a state."""
    return read_expression(place, fitted.schema, name) if isinstance(place, str) else place


def read_start(fitted: Fitted, transitions: Transitions, start: Any) -> Start:
    """Return where journeys begin.

    Parameters
    ----------
    fitted : Fitted
        The tree.
    transitions : Transitions
        The log's moves.
    start : None, state, leaf number, set of leaves, or zone
        None is where the log's episodes begin. A state is a list or an array of numbers, a dict that has a number
        for every feature, or text that says the same (``"pos = 1.2, speed = 0"`` or ``"1.2, 0"``). From a zone,
        journeys begin in its leaves as often as the log is there.
    """
    size = fitted.tree.n_leaves
    if start is None:
        episodes = np.append(transitions.beginnings, 0)
        return Start(episodes / episodes.sum(), conditions.STARTS)
    start = read_place(fitted, start, "start")
    if is_state(fitted, start):
        state = read_state(start, fitted.schema, "start", finite=False)
        share = np.zeros(size + 1)
        share[fitted.tree.apply(state[None])[0]] = 1.0
        return Start(share, conditions.state(fitted.schema, state.tolist()))
    zone = read_zone(fitted, start, "start")
    weight = np.where(zone.mask, np.append(transitions.samples, 0), 0).astype(np.float64)
    if not zone.leaves.size:
        raise ParameterError(Message("{} must hold a leaf: nothing follows the end.", Option("start")))
    if not weight.any():
        # The log was never there: all leaves alike.
        weight[zone.leaves] = 1.0
    return Start(weight / weight.sum(), zone.text)


def is_state(fitted: Fitted, start: Any) -> bool:
    """Whether a place is one state, rather than a zone or a leaf."""
    if isinstance(start, Mapping):
        return set(fitted.schema.feature_names) <= set(start) and all(is_number(value) for value in start.values())
    return not isinstance(start, str | Zone | set | frozenset | range) and not is_integer(start)


def one_state(fitted: Fitted, start: Any) -> F64 | None:
    """Return the state that a start is; None if it is a zone, a leaf, or where episodes begin."""
    place = None if start is None else read_place(fitted, start, "start")
    return None if place is None or not is_state(fitted, place) else read_state(place, fitted.schema, "start")


def _conditions(fitted: Fitted, zone: Mapping[Any, Any], name: str, may_be_empty: bool) -> Zone:
    inside = np.ones(fitted.tree.n_leaves, bool)
    mostly, predicted = inside.copy(), inside.copy()
    bounds, texts = [], []
    if not zone:
        raise ParameterError(Message("{} is an empty dict, which would be everywhere. {}", Option(name), _how(fitted)))
    for key, wanted in zone.items():
        if key in fitted.schema.feature_names:
            touched, averaged, bound, text = _feature(fitted, key, wanted, name, may_be_empty)
            inside &= touched
            mostly &= averaged
            bounds.append(bound)
        else:
            _check_key(fitted, key, name)
            condition = read_condition(fitted, key, wanted, name)
            predicted &= condition.leaves()
            inside &= predicted
            # By its key and without a unit, so that the text can be asked again.
            labels, ends = condition.labels, condition.interval
            text = conditions.actions(labels) if labels else conditions.condition(str(key), *ends)
        texts.append(text)
    if not inside.any() and not may_be_empty:
        raise ParameterError(Message("{} is empty: no leaf has {}.", Option(name), " and ".join(texts)))
    if (inside & mostly).any():
        # A leaf is bounded only in features that were split above it: most leaves touch any zone of many features.
        # Those belong to it whose samples lie in it on average; where no leaf does, all that touch it.
        inside &= mostly
    return Zone(np.append(inside, False), " and ".join(texts), tuple(bounds), None if predicted.all() else predicted)


def _feature(
    fitted: Fitted, key: str, wanted: Any, name: str, may_be_empty: bool
) -> tuple[Mask, Mask, tuple[int, Interval], str]:
    """Return the leaves that touch an interval of a feature, or lie in it whole or on average; it, and it in words."""
    f = fitted.schema.feature_names.index(key)
    least, most = float(fitted.feature_min[f]), float(fitted.feature_max[f])
    interval = read_interval(wanted, f"{name}[{key!r}]", most)
    low, high = interval
    feature = fitted.schema.features[f]
    text = conditions.clause(feature, low, high) if feature.column else ""
    text = text or conditions.condition(key, low, high, feature.unit)
    if low > most or high < least or (high == least and low < high):
        if may_be_empty:
            nowhere = np.zeros(fitted.tree.n_leaves, bool)
            return nowhere, nowhere, (f, interval), text
        raise ParameterError(
            Message(
                "{} is empty: it wants {}, and in the log `{}` goes from {:g} to {:g}.",
                Option(name),
                conditions.condition(key, low, high),
                key,
                least,
                most,
            )
        )
    below, above = (bound[:, f] for bound in fitted.bounds)
    middle, unknown = fitted.leaves.state_mean, np.ones(fitted.tree.n_leaves, bool)
    if fitted.whole[f] and low < high:
        # Only whole numbers count: a leaf up to 1 holds nothing of 0.5 and more.
        below, above, first, stop = np.ceil(below), np.ceil(above), np.ceil(low), np.ceil(high)
        if first == stop:
            raise ParameterError(
                Message(
                    "{} is empty: `{}` is a whole number, and none has {}.",
                    Option(name),
                    key,
                    conditions.condition(key, low, high),
                )
            )
        touched = (below < stop) & (above > first)
        covered = (first <= np.maximum(below, least)) & (np.minimum(above, most + 1) <= stop)
        averaged = unknown if middle is None else (middle[:, f] >= first - 0.5) & (middle[:, f] < stop - 0.5)
        return touched, covered | averaged, (f, interval), text
    touched = (below <= high) & (above > low) & ((below < high) | (low == high))
    covered = (low <= np.maximum(below, least)) & (np.minimum(above, most) <= high)
    if middle is None:
        averaged = unknown
    elif fitted.whole[f]:
        averaged = (middle[:, f] >= low - 0.5) & (middle[:, f] < high + 0.5)
    else:
        # One real number lies in one leaf, wherever that leaf's samples are.
        averaged = unknown if low == high else interval.holds(middle[:, f])
    return touched, covered | averaged, (f, interval), text


def _check_key(fitted: Fitted, key: Any, name: str) -> None:
    """Raise ParameterError for a key that names neither a feature nor what a leaf predicts."""
    action = fitted.schema.action
    known = set(known_attributes(fitted)) - {"action", "derivative"} | {
        *action.names,
        *(("action",) if action.labels else ()),
    }
    # Places are rarely about derivatives, and the list would be twice as long with them.
    usual = [*fitted.schema.feature_names, "value", *(("action",) if action.labels else action.names)]
    check_key(key, name, {*usual, *known}, usual)


def _whole_numbers(leaves: Any) -> list[int] | None:
    try:
        listed = list(leaves)
    except TypeError:
        return None
    return [int(leaf) for leaf in listed] if all(is_integer(leaf) for leaf in listed) else None


def _how(fitted: Fitted) -> str:
    feature = fitted.schema.feature_names[0]
    return f'Try {{"{feature}": (low, high)}}, "{feature} >= 0 and value < 1", leaf numbers, or "end".'
