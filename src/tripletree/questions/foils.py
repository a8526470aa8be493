"""Foils: what might have been instead, as the leaves that predict it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tripletree.checks import did_you_mean, is_number, listing
from tripletree.errors import ParameterError
from tripletree.log.actions import label_text
from tripletree.model.fitted import Fitted
from tripletree.questions.attributes import Attribute, read_attribute
from tripletree.questions.expressions import read_foil_expression

Mask = npt.NDArray[np.bool_]


class Condition(NamedTuple):
    """What one attribute should be: one of some labels, or a number from ``low`` to ``high``, both included.

    Attributes
    ----------
    attribute : Attribute
        What it is about.
    labels : tuple of str
        The labels wanted of a discrete action.
    low, high : float
        The numbers wanted of anything else; infinite for no bound.
    """

    attribute: Attribute
    labels: tuple[str, ...] = ()
    low: float = -np.inf
    high: float = np.inf

    def leaves(self) -> Mask:
        """Return the leaves that predict it."""
        predicted, known = self.attribute.leaves, self.attribute.labels
        if self.attribute.kind != "label":
            return self.meets(predicted)
        mask: Mask = predicted == known.index(self.labels[0])
        for label in self.labels[1:]:
            mask |= predicted == known.index(label)
        return mask

    def meets(self, numbers: Any) -> Mask:
        """Return which numbers, or labels as text, are as wanted."""
        if self.attribute.kind == "label":
            return np.isin(numbers, self.labels)
        if self.high == np.inf:
            return np.asarray(numbers >= self.low)
        return np.asarray((numbers >= self.low) & (numbers <= self.high))

    def plain(self) -> Any:
        """Return what is wanted as JSON types."""
        if self.attribute.kind == "label":
            return list(self.labels)
        return [None if np.isinf(bound) else bound for bound in (self.low, self.high)]


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
        """Return the least purity of each leaf over the attributes of the foil."""
        least: npt.NDArray[np.float64] = np.min([condition.attribute.purity() for condition in self.conditions], axis=0)
        return least

    def plain(self) -> dict[str, Any]:
        """Return the foil as JSON types."""
        return {condition.attribute.key: condition.plain() for condition in self.conditions}


def read_foil(fitted: Fitted, foil: Any) -> Foil:
    """Return a foil.

    Parameters
    ----------
    fitted : Fitted
        The tree.
    foil : dict or text
        A label or several for ``"action"``, an interval ``(low, high)`` (both included, None for no bound) for the name
        of a continuous action, for ``"value"`` or for ``"derivative of pos"``. All must hold. Text says the
        same: ``"action = left and value >= 0.3"`` (see ``questions.expressions``).
    """
    if isinstance(foil, str):
        foil = read_foil_expression(foil, fitted.schema)
    if not isinstance(foil, Mapping) or not foil:
        raise ParameterError(f"foil must be a dict that names what else might be; got {foil!r}. {_how(fitted)}")
    conditions = tuple(_condition(read_attribute(fitted, key, "A key of foil"), foil[key]) for key in foil)
    mask = conditions[0].leaves()
    for condition in conditions[1:]:
        mask = mask & condition.leaves()
    return Foil(conditions, mask)


def _condition(attribute: Attribute, wanted: Any) -> Condition:
    name = f"foil[{attribute.key!r}]"
    if attribute.kind != "label":
        return Condition(attribute, (), *_interval(wanted, name))
    if not isinstance(wanted, str) and not np.isscalar(wanted) and hasattr(wanted, "__iter__"):
        labels = tuple(label_text(label) for label in wanted)
    else:
        labels = (label_text(wanted),)
    if not labels:
        raise ParameterError(f"{name} is empty; the actions are {listing(attribute.labels, 20)}.")
    for label in labels:
        if label not in attribute.labels:
            hint = did_you_mean(label, attribute.labels)
            raise ParameterError(
                f"{name} is {label!r}, an action that the tree does not know; it knows "
                f"{listing(attribute.labels, 20)}.{hint}"
            )
    return Condition(attribute, tuple(dict.fromkeys(labels)))


def _interval(wanted: Any, name: str) -> tuple[float, float]:
    if isinstance(wanted, tuple | list) and len(wanted) == 2:
        low, high = (end if bound is None else bound for bound, end in zip(wanted, (-math.inf, math.inf), strict=True))
        if all(is_number(bound) or (isinstance(bound, float) and math.isinf(bound)) for bound in (low, high)):
            if low == -math.inf and high == math.inf:
                raise ParameterError(f"{name} is (None, None), which is always true. Give one bound at least.")
            if low > high:
                raise ParameterError(f"{name} is empty: {low:g} is above {high:g}. Try ({high:g}, {low:g}).")
            return float(low), float(high)
    raise ParameterError(
        f"{name} must be (low, high) with None for no bound, such as (0.5, None) for at least 0.5; got {wanted!r}."
    )


def _how(fitted: Fitted) -> str:
    action = fitted.schema.action
    first = f'{{"action": "{action.labels[0]}"}}' if action.labels else f'{{"{action.names[0]}": (0.5, None)}}'
    return f'Try {first} or {{"value": (None, 0.3)}}.'
