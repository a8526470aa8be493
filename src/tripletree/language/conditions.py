"""Conditions: what an interval means, and how conditions, states and leaves are put into words."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tripletree.checks import did_you_mean, is_number
from tripletree.errors import ParameterError
from tripletree.language.numbers import DIGITS, digits_apart, exact, significant, unit
from tripletree.log.schema import Feature, Schema
from tripletree.text import count

END = "the end"
STARTS = "where episodes begin"

DERIVATIVE_OF = "derivative of "
"""What comes before a feature's name where its derivative is meant."""


def attribute_hint(name: object, known: Collection[str]) -> str:
    """Return "Did you mean ...?" for the name of an attribute; a feature alone most likely means its derivative.

    >>> attribute_hint("pos", ["value", "derivative of pos"])
    ' Did you mean `derivative of pos`?'
    """
    derivative = f"{DERIVATIVE_OF}{name}"
    return f" Did you mean `{derivative}`?" if derivative in known else did_you_mean(name, known)


class Interval(NamedTuple):
    """The numbers with ``low <= x < high``; where both are equal, that number alone.

    A pair ``(low, high)`` means this wherever one can be written, in foils, zones and the limits of a picture, with
    None for no bound. There is one addition, made by :func:`read_interval`: the largest value on record counts as
    inside an upper bound that it equals, so that full throttle, 1.0, lies in (0.5, 1.0). Text means what it says:
    ``throttle < 1`` leaves 1 out, and ``throttle <= 1`` ends at the next number above 1.
    """

    low: float
    high: float

    def holds(self, numbers: Any) -> npt.NDArray[np.bool_]:
        """Return which numbers lie inside."""
        if self.low == self.high:
            return np.asarray(numbers == self.low)
        return np.asarray((numbers >= self.low) & (numbers < self.high))


def read_interval(wanted: Any, name: str, largest: float, *, means: bool = False) -> Interval:
    """Return the interval that a pair stands for; a number stands for itself.

    Parameters
    ----------
    wanted : pair of numbers or None, number, or Interval
        What a user wrote; an Interval, which is what text becomes, is passed on.
    name : str
        What messages call it.
    largest : float
        The largest value on record.
    means : bool
        Whether ``largest`` is a mean, so that values on record may lie above it.
    """
    if isinstance(wanted, Interval):
        return wanted
    if is_number(wanted):
        return Interval(float(wanted), float(wanted))
    if isinstance(wanted, tuple | list) and len(wanted) == 2:
        low, high = (end if bound is None else bound for bound, end in zip(wanted, (-math.inf, math.inf), strict=True))
        if all(is_number(bound) or (isinstance(bound, float) and math.isinf(bound)) for bound in (low, high)):
            if low > high:
                raise ParameterError(f"{name} is empty: {low:g} is above {high:g}. Try ({high:g}, {low:g}).")
            if low == high:
                raise ParameterError(
                    f"{name} is empty: no number is at least {low:g} and below {high:g}. For {low:g} itself, write "
                    f"{low:g} instead of the pair."
                )
            # Nobody who asks for (0.5, 1.0) wants to leave out the one value at which the range ends.
            ends = high == largest or (means and high > largest)
            return Interval(float(low), math.nextafter(high, math.inf) if ends else float(high))
    raise ParameterError(
        f"{name} must be (low, high) with None for no bound, such as (0.5, None) for at least 0.5, or a number; "
        f"got {wanted!r}."
    )


@lru_cache(maxsize=1 << 14)  # a page asks for the same borders of leaves again and again
def condition(name: str, low: float, high: float, of: str = "", digits: int = DIGITS) -> str:
    """Return "pos in [0, 0.5) m", "pos >= 0.5", or whatever ``low <= x < high`` comes down to.

    Bounds with many digits are rounded to ``digits``, or to as many as tell the two apart.

    >>> condition("pos", -math.inf, math.nextafter(1, 2))
    'pos <= 1'
    >>> condition("pos", 0.123456781, 0.123456789)
    'pos in [0.12345678, 0.12345679)'
    """
    tail = f" {of}" if of else ""
    if low == high:
        return f"{name} = {exact(low)}{tail}"
    digits = max(digits, digits_apart((low, high)))
    (least, above), (most, below) = readable(low, digits), readable(high, digits)
    if low == -math.inf:
        return f"{name} {'<=' if below else '<'} {most}{tail}" if high < math.inf else f"any {name}"
    if high == math.inf:
        return f"{name} {'>' if above else '>='} {least}{tail}"
    return f"{name} in {'(' if above else '['}{least}, {most}{']' if below else ')'}{tail}"


def readable(bound: float, digits: int = DIGITS) -> tuple[str, bool]:
    """Return the number to print for a bound, and whether the bound is the next one above it.

    To a double, ``x < 1.0000000000000002`` and ``x <= 1`` say the same; people write the second.
    """
    before = math.nextafter(bound, -math.inf)
    closed = len(repr(before)) + 2 < len(repr(bound))
    return exact(before if closed else bound, digits), closed


def clause(feature: Feature, low: float, high: float, digits: int = DIGITS) -> str:
    """Return what ``low <= feature < high`` says in the words of its kind; nothing when it says nothing.

    >>> clause(Feature("pos", "m"), 1.1, 1.32)
    'pos in [1.1, 1.32) m'
    >>> clause(Feature("left leg in contact", kind="binary"), 0.5, math.inf)
    'left leg in contact'
    >>> clause(Feature("left leg in contact", kind="binary"), -math.inf, 0.5)
    'left leg not in contact'
    >>> clause(Feature("gear", kind="integer"), 1.5, 4)
    'gear = 2 to 3'
    """
    if low == -math.inf and high == math.inf:
        return ""
    if feature.kind == "binary":
        held = [code for code in (0, 1) if low <= code < high or low == code == high]
        if len(held) == 1 and (low < high or feature.column):
            return feature.name if held[0] else contrary(feature)
        if held:
            return ""
    if feature.kind == "integer":
        first = low if low == -math.inf else math.ceil(low)
        last = high if high == math.inf else math.ceil(high) - 1
        if first <= last:
            return _whole(feature.name, first, last, feature.unit)
    return condition(feature.name, low, high, feature.unit, digits)


def changed_clause(feature: Feature, relation: str, border: float, digits: int = DIGITS) -> str:
    """Return what a changed feature must be: "speed >= 0.045 m/s", or "left leg in contact"."""
    if feature.kind == "binary":
        return clause(feature, border - 0.5, border + 0.5)
    if relation == ">=":
        return clause(feature, border, math.inf, digits)
    if relation == "<":
        return clause(feature, -math.inf, border, digits)
    return f"{feature.name} {relation} {exact(border, digits)}{unit(feature.unit)}"


def clauses(
    schema: Schema, lower: Sequence[float], upper: Sequence[float], order: Sequence[int] | None = None
) -> list[str]:
    """Return what a box says, feature by feature in the given order, and nothing about features without a bound."""
    told = (clause(schema.features[f], lower[f], upper[f]) for f in order or range(len(schema.features)))
    return [text for text in told if text]


def contrary(feature: Feature) -> str:
    """Return what a yes-or-no feature says where it is 0.

    >>> contrary(Feature("mode is auto", kind="binary", column="mode", category="auto"))
    'mode is not auto'
    """
    return f"{feature.column} is not {feature.category}" if feature.column else negated(feature.name)


def negated(name: str) -> str:
    """Return the contrary of a yes-or-no feature: "door not open", "has no key", "not airborne"."""
    words = name.split(" ")
    if len(words) > 1 and words[0].lower() == "has":
        return " ".join([words[0], "no", *words[1:]])
    for place, word in enumerate(words):
        if len(words) > 1 and word.lower() in _AFTER:
            return " ".join([*words[: place + 1], "not", *words[place + 1 :]])
        if place and (word.lower() in _BEFORE or (place == len(words) - 1 and word.lower() in _LAST)):
            return " ".join([*words[:place], "not", *words[place:]])
    return f"not {name}"


_AFTER = frozenset({"is", "are", "was", "can", "may", "must", "will"})
_BEFORE = frozenset({"in", "on", "at", "under", "over", "inside", "outside", "near", "off", "touching", "touches"})
_LAST = frozenset({"open", "closed", "active", "empty", "full", "ready", "visible", "down", "up", "loaded", "pressed"})


def _whole(name: str, first: float, last: float, of: str) -> str:
    tail = f" {of}" if of else ""
    if first == last:
        return f"{name} = {first:g}{tail}"
    if first == -math.inf:
        return f"{name} <= {last:g}{tail}"
    return f"{name} >= {first:g}{tail}" if last == math.inf else f"{name} = {first:g} to {last:g}{tail}"


def actions(labels: Sequence[str]) -> str:
    """Return "action = left or right"."""
    return f"action = {' or '.join(labels)}"


def leaves(numbers: Sequence[int]) -> str:
    """Return "leaf 3", "leaves 3, 4 and 7", or how many they are."""
    if len(numbers) == 1:
        return f"leaf {numbers[0]}"
    if len(numbers) > 6:
        return count(len(numbers), "leaf", "leaves")
    return f"leaves {', '.join(map(str, numbers[:-1]))} and {numbers[-1]}"


def state(schema: Schema, numbers: Sequence[float]) -> str:
    """Return "pos = 1.2 m, speed = 0.03 m/s": four digits, for this only reminds of a state that was given."""
    parts = zip(schema.features, (significant(x, 4) for x in numbers), strict=True)
    # Of categories only the one that holds.
    told = (
        feature.name * (x == 1) if feature.column else condition(feature.name, x, x, feature.unit)
        for feature, x in parts
    )
    return ", ".join(filter(None, told))
