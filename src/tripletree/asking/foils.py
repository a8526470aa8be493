"""Foils: what might have been instead, as conditions on attributes and the leaves that meet them."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tripletree.asking.attribute import Attribute, known_attributes, main_attributes, read_attribute, refuse_absent
from tripletree.checks import did_you_mean, listing
from tripletree.errors import ParameterError
from tripletree.language.conditions import Interval, attribute_hint, read_interval, readable
from tripletree.language.numbers import FEW, all_of, capital, exact, percent, unit
from tripletree.language.parser import read_foil_expression
from tripletree.log.actions import label_text
from tripletree.model.fitted import Fitted
from tripletree.text import Message, Option, count

Mask = npt.NDArray[np.bool_]

ANYTHING = Interval(-math.inf, math.inf)


class Condition(NamedTuple):
    """What one attribute should be: one of some labels, or a number inside an interval.

    Attributes
    ----------
    attribute : Attribute
        What it is about.
    labels : tuple of str
        The labels wanted of a discrete action.
    interval : Interval
        The numbers wanted of anything else.
    """

    attribute: Attribute
    labels: tuple[str, ...] = ()
    interval: Interval = ANYTHING

    def leaves(self) -> Mask:
        """Return the leaves that predict it."""
        predicted, known = self.attribute.leaves, self.attribute.labels
        if not known:
            return self.meets(predicted)
        mask: Mask = predicted == known.index(self.labels[0])
        for label in self.labels[1:]:
            mask |= predicted == known.index(label)
        return mask

    def meets(self, given: Any) -> Mask:
        """Return which numbers, or labels as text, are as wanted."""
        if self.attribute.labels:
            return np.isin(given, self.labels)
        return self.interval.holds(given)

    def plain(self) -> Any:
        """Return what is wanted as JSON types."""
        if self.attribute.labels:
            return list(self.labels)
        return [None if math.isinf(bound) else bound for bound in self.interval]

    def told(self, verb: str = "") -> str:
        """Return "value < 0.3"; with the verb "would", "value would < 0.3"."""
        attribute, (low, high) = self.attribute, self.interval
        name, tail, space = attribute.name, unit(attribute.units[0]), f" {verb}" if verb else ""
        if attribute.labels:
            return f"{name}{space} = {' or '.join(self.labels)}{tail}"
        if low == high:
            return f"{name}{space} = {exact(low)}{tail}"
        (least, above), (most, below) = readable(low), readable(high)
        if low == -math.inf:
            return f"{name}{space} {'<=' if below else '<'} {most}{tail}"
        if high == math.inf:
            return f"{name}{space} {'>' if above else '>='} {least}{tail}"
        lie = f" {verb} lie" if verb else ""
        return f"{name}{lie} in {'(' if above else '['}{least}, {most}{']' if below else ')'}{tail}"


class Foil(NamedTuple):
    """Conditions that must all hold, and the leaves in which they do.

    Attributes
    ----------
    conditions : tuple of Condition
        One for each attribute.
    mask : bool array of shape (leaves,)
        The leaves that predict all of it.
    """

    conditions: tuple[Condition, ...]
    mask: Mask

    def purity(self) -> npt.NDArray[np.float64]:
        """Return the lowest purity of each leaf over the attributes of the foil."""
        least: npt.NDArray[np.float64] = np.min([condition.attribute.purity for condition in self.conditions], axis=0)
        return least

    def plain(self) -> dict[str, Any]:
        """Return the foil as JSON types."""
        return {condition.attribute.key: condition.plain() for condition in self.conditions}

    # What is said about a foil, with or without an answer; the browser says the same.

    def told(self) -> str:
        """Return "action = left and value < 0"."""
        return all_of([condition.told() for condition in self.conditions])

    def would(self) -> str:
        """Return "Action would = left"."""
        return capital(all_of([condition.told("would") for condition in self.conditions]))

    def nowhere(self) -> str:
        """Return that no leaf predicts it."""
        return f"No state known to the tree would have {self.told()}."

    def already(self, leaf: int) -> str:
        """Return that a leaf predicts it as it is."""
        has = all_of([f"{c.attribute.name} = {c.attribute.told(leaf)}" for c in self.conditions])
        bare = all(len(c.labels) == 1 for c in self.conditions)
        return f"{capital(has)} here already." if bare else f"{capital(has)} here, so {self.told()} already."

    def support(self, leaf: int, samples: int) -> str:
        """Return how sure a leaf is of it: its samples, and how much they agree."""
        known = f"{'only ' if samples < FEW else ''}{count(samples, 'sample')}"
        about = [condition.attribute for condition in self.conditions]
        parts = [f"{one.name} = {one.told(leaf)}" for one in about if not one.labels]
        for one in about:
            if one.labels and samples > 1:
                share = float(one.spread[leaf])
                parts.append(f"{'all' if share == 1 else percent(share)} with action = {one.told(leaf)}")
        tail = f", {all_of(parts)}" if parts else ""
        return f"(The tree knows {known} there{tail}.)"


def read_foil(fitted: Fitted, foil: Any) -> Foil:
    """Return a foil.

    Parameters
    ----------
    fitted : Fitted
        The tree.
    foil : dict or text
        A label or several for ``"action"``; a pair ``(low, high)``, as in
        :class:`~tripletree.language.conditions.Interval`, for the name of a continuous action, for ``"value"`` or for
        ``"derivative of pos"``. All must hold. Text says the same: ``"action = left and value >= 0.3"`` (see
        ``language.parser``).
    """
    if isinstance(foil, str):
        foil = read_foil_expression(foil, fitted.schema)
    if not isinstance(foil, Mapping) or not foil:
        raise ParameterError(
            Message(
                "{} must be a dict that names what should be predicted instead; got {!r}. Try {} or {}.",
                Option("foil"),
                foil,
                *(Option("foil", example) for example in _examples(fitted)),
            )
        )
    for key in foil:
        if key not in fitted.memory:  # it was asked about before
            own = fitted.schema.action.names if fitted.schema.has_action else ()
            refuse_absent(fitted, key, "A key of foil")
            check_key(key, "foil", [*known_attributes(fitted), *own])
    conditions = tuple(read_condition(fitted, key, foil[key], "foil") for key in foil)
    mask = conditions[0].leaves()
    for condition in conditions[1:]:
        mask = mask & condition.leaves()
    return Foil(conditions, mask)


def check_key(key: Any, name: str, known: Collection[str], usual: Collection[str] = ()) -> None:
    """Raise ParameterError for a key of the dict ``name`` that is not ``known``; ``usual`` are those to list."""
    if key not in known:
        listed = dict.fromkeys(usual or known)
        hint = attribute_hint(key, known)
        raise ParameterError(Message("{} has no {!r}; it may have {}.{}", Option(name), key, listing(listed, 20), hint))


def read_condition(fitted: Fitted, key: Any, wanted: Any, name: str) -> Condition:
    """Return the condition that ``{key: wanted}`` makes on what leaves predict; foils and zones share it.

    Parameters
    ----------
    fitted : Fitted
        The tree.
    key : str
        The attribute.
    wanted : label, several labels, pair or number
        What it should be.
    name : str
        What messages call the dict.
    """
    attribute = read_attribute(fitted, key, f"A key of {name}", single=True)
    place = f"{name}[{key!r}]"
    if not attribute.labels:
        # An agent may do more than any leaf does on average: full throttle is above every mean.
        interval = read_interval(wanted, place, attribute.largest, means=attribute.kind == "action")
        if interval == ANYTHING:
            raise ParameterError(f"{place} is (None, None), which is always true. Give at least one bound.")
        return Condition(attribute, interval=interval)
    if not isinstance(wanted, str) and not np.isscalar(wanted) and hasattr(wanted, "__iter__"):
        labels = tuple(label_text(label) for label in wanted)
    else:
        labels = (label_text(wanted),)
    if not labels:
        raise ParameterError(f"{place} is empty; the actions are {listing(attribute.labels, 20)}.")
    for label in labels:
        if label not in attribute.labels:
            hint = did_you_mean(label, attribute.labels)
            raise ParameterError(
                f"{place} is {label!r}, an action that the tree does not know; it knows "
                f"{listing(attribute.labels, 20)}.{hint}"
            )
    return Condition(attribute, tuple(dict.fromkeys(labels)))


def _examples(fitted: Fitted) -> tuple[dict[str, Any], dict[str, Any]]:
    action = fitted.schema.action
    if not fitted.schema.has_action:
        known = [*main_attributes(fitted), "value"]
        return {known[0]: (0.0, None)}, {known[0]: (None, 0.0)}
    first = {"action": action.labels[0]} if action.labels else {action.names[0]: (0.5, None)}
    return first, {"value": (None, 0.3)}
