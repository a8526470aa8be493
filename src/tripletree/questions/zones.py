"""Zones and starts: the places that a question is about, in whatever form a user writes them, as sets of leaves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.checks import did_you_mean, is_integer, is_number, listing
from tripletree.errors import ParameterError
from tripletree.graph.transitions import Transitions
from tripletree.model.fitted import Fitted
from tripletree.questions.about import DERIVATIVE_OF
from tripletree.questions.expressions import read_expression
from tripletree.questions.states import read_states
from tripletree.questions.words import conditions

F64 = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Zone:
    """A set of places, each a leaf or the end.

    Attributes
    ----------
    mask : bool array of shape (leaves + 1,)
        Which leaves belong to it; the last entry is the end.
    text : str
        The zone in words.
    partly : int
        Leaves that lie in it only in part, and belong to it as a whole.
    """

    mask: Mask
    text: str
    partly: int = 0

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
    episodes : int64 array of shape (leaves + 1,), or None
        The counts behind ``share`` when these are the log's own starts.
    outside : bool
        Whether it is a state outside the range of the training log.
    """

    share: F64
    text: str
    episodes: npt.NDArray[np.int64] | None = None
    outside: bool = False


def read_zone(fitted: Fitted, zone: Any, name: str = "zone") -> Zone:
    """Return a zone.

    Parameters
    ----------
    fitted : Fitted
        The tree.
    zone : dict, text, leaf number or collection of them, or Zone
        A dict has an interval ``(low, high)`` for features (``low <= x < high``, None for no bound; a number alone for
        that value), for ``"value"``, ``"derivative of pos"`` or the names of continuous actions (what the leaf predicts
        counts), and a label or several for ``"action"``. All conditions must hold. Text is ``"end"``, or says the same
        as a dict or as leaves: ``"pos >= 1 and action = left"``, ``"leaves 3, 7"`` (see ``questions.expressions``).
    name : str
        What messages call it.
    """
    size = fitted.tree.n_leaves
    if isinstance(zone, Zone):
        return zone
    zone = read_place(fitted, zone, name)
    if isinstance(zone, str):
        return Zone(np.arange(size + 1) == size, conditions.END)
    if isinstance(zone, Mapping):
        return _conditions(fitted, zone, name)
    leaves = [zone] if is_integer(zone) else _whole_numbers(zone)
    if leaves is None:
        raise ParameterError(f"{name} is a {type(zone).__name__} that names no places. {_how(fitted)}")
    if not leaves:
        raise ParameterError(f"{name} is empty: it names no leaf. {_how(fitted)}")
    for leaf in leaves:
        if not 0 <= leaf < size:
            raise ParameterError(f"{name} has leaf {leaf}; leaves go from 0 to {size - 1}.")
    mask = np.zeros(size + 1, bool)
    mask[leaves] = True
    return Zone(mask, conditions.leaves(np.flatnonzero(mask).tolist()))


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
        episodes = np.append(transitions.starts, 0)
        return Start(episodes / episodes.sum(), conditions.STARTS, episodes)
    start = read_place(fitted, start, "start")
    if is_state(fitted, start):
        state, single = read_states(start, fitted.schema)
        if not single:
            raise ParameterError(f"start must be one state; got {len(state)} of them. Ask for each in turn.")
        share = np.zeros(size + 1)
        share[fitted.tree.apply(state)[0]] = 1.0
        outside = bool(((state < fitted.feature_min) | (state > fitted.feature_max)).any())
        return Start(share, conditions.state(fitted.schema, state[0].tolist()), outside=outside)
    zone = read_zone(fitted, start, "start")
    weight = np.where(zone.mask, np.append(transitions.samples, 0), 0).astype(np.float64)
    if not zone.leaves.size:
        raise ParameterError("start must hold a leaf: nothing follows the end.")
    if not weight.any():
        # The log was never there: all leaves alike.
        weight[zone.leaves] = 1.0
    return Start(weight / weight.sum(), zone.text)


def is_state(fitted: Fitted, start: Any) -> bool:
    """Whether a place is one state, rather than a zone or a leaf."""
    if isinstance(start, Mapping):
        return set(fitted.schema.feature_names) <= set(start) and all(is_number(value) for value in start.values())
    return not isinstance(start, str | Zone | set | frozenset | range) and not is_integer(start)


def _conditions(fitted: Fitted, zone: Mapping[Any, Any], name: str) -> Zone:
    features = fitted.schema.feature_names
    lower, upper = fitted.bounds
    inside = np.ones(fitted.tree.n_leaves, bool)
    whole, mostly = inside.copy(), inside.copy()
    middle = fitted.leaves.state_mean
    texts = []
    if not zone:
        raise ParameterError(f"{name} is an empty dict, which would be everywhere. {_how(fitted)}")
    for key, condition in zone.items():
        if key in features:
            f = features.index(key)
            low, high = read_interval(condition, f"{name}[{key!r}]")
            least, most = float(fitted.feature_min[f]), float(fitted.feature_max[f])
            if low > most or high < least or (high == least and low < high):
                raise ParameterError(
                    f"{name} is empty: it wants {conditions.condition(key, low, high)}, and in the log `{key}` goes "
                    f"from {least:g} to {most:g}."
                )
            below, above = lower[:, f], upper[:, f]
            if fitted.schema.features[f].kind in ("binary", "integer") and low < high:
                # Only whole numbers count: a leaf up to 1 holds nothing of 0.5 and more.
                below, above, first, stop = np.ceil(below), np.ceil(above), np.ceil(low), np.ceil(high)
                if first == stop:
                    raise ParameterError(
                        f"{name} is empty: `{key}` is a whole number, and none has "
                        f"{conditions.condition(key, low, high)}."
                    )
                inside &= (below < stop) & (above > first)
                all_of_it = (first <= np.maximum(below, least)) & (np.minimum(above, most + 1) <= stop)
                low_mean, high_mean = first - 0.5, stop - 0.5
            else:
                inside &= (below <= high) & (above > low) & ((below < high) | (low == high))
                all_of_it = (low <= np.maximum(below, least)) & (np.minimum(above, most) <= high)
                low_mean, high_mean = (low - 0.5, high + 0.5) if fitted.whole[f] else (low, high)
            whole &= all_of_it
            if (
                middle is not None and low_mean < high_mean
            ):  # one real number lies in one leaf, wherever its samples are
                mostly &= all_of_it | ((middle[:, f] >= low_mean) & (middle[:, f] < high_mean))
            texts.append(conditions.condition(key, low, high, fitted.schema.features[f].unit))
        else:
            chosen, text = _predicted(fitted, key, condition, name)
            inside &= chosen
            texts.append(text)
    if not inside.any():
        raise ParameterError(f"{name} is empty: no leaf has {' and '.join(texts)}.")
    if middle is not None and (inside & mostly).any():
        # A leaf is bounded only in features that were split on its way: most leaves touch any zone of many features.
        # Those belong to it whose samples lie in it on average; where no leaf does, all that touch it.
        inside &= mostly
    return Zone(np.append(inside, False), " and ".join(texts), int(np.count_nonzero(inside & ~whole)))


def _predicted(fitted: Fitted, key: Any, condition: Any, name: str) -> tuple[Mask, str]:
    """Return the leaves whose prediction meets a condition, and the condition in words."""
    at, node, action = fitted.attributes, fitted.tree.leaf_nodes, fitted.schema.action
    derivatives = [DERIVATIVE_OF + feature for feature in fitted.schema.feature_names]
    if key == "value":
        low, high = read_interval(condition, f"{name}['value']")
        mean = at.value_mean[node]
    elif at.action_mean is not None and key in action.names:
        low, high = read_interval(condition, f"{name}[{key!r}]")
        mean = at.action_mean[node, action.names.index(key)]
    elif at.derivative_mean is not None and key in derivatives:
        low, high = read_interval(condition, f"{name}[{key!r}]")
        mean = at.derivative_mean[node, derivatives.index(key)]
    elif at.action_count is not None and key in ("action", *action.names):
        labels = [
            str(label) for label in ([condition] if isinstance(condition, str) or is_number(condition) else condition)
        ]
        for label in labels:
            if label not in action.labels:
                raise ParameterError(
                    f"{name} wants action {label!r}; the tree knows {listing(action.labels)}."
                    + did_you_mean(label, action.labels)
                )
        most = np.array(action.labels)[at.action_count[node].argmax(axis=1)]
        return np.isin(most, labels), conditions.actions(labels)
    else:
        known = [*fitted.schema.feature_names, "value", *(["action"] if at.action_count is not None else action.names)]
        raise ParameterError(
            f"{name} has no {key!r}; it may have {listing(known, 20)}.{did_you_mean(key, [*known, *derivatives])}"
        )
    return (mean >= low) & ((mean < high) | (mean == low)), conditions.condition(str(key), low, high)


def read_interval(condition: Any, name: str) -> tuple[float, float]:
    """Return the bounds of ``(low, high)``, infinite for None; a number alone is both."""
    if is_number(condition):
        return float(condition), float(condition)
    if isinstance(condition, tuple | list) and len(condition) == 2:
        low, high = (
            default if bound is None else bound for bound, default in zip(condition, (-np.inf, np.inf), strict=True)
        )
        if all(is_number(bound) or bound in (-np.inf, np.inf) for bound in (low, high)):
            if low > high:
                raise ParameterError(f"{name} is empty: {low:g} is above {high:g}. Try ({high:g}, {low:g}).")
            return float(low), float(high)
    raise ParameterError(f"{name} must be (low, high) with None for no bound, or a number; got {condition!r}.")


def _whole_numbers(leaves: Any) -> list[int] | None:
    try:
        listed = list(leaves)
    except TypeError:
        return None
    return [int(leaf) for leaf in listed] if all(is_integer(leaf) for leaf in listed) else None


def _how(fitted: Fitted) -> str:
    feature = fitted.schema.feature_names[0]
    return f'Try {{"{feature}": (low, high)}}, "{feature} >= 0 and value < 1", leaf numbers, or "end".'
