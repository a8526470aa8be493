"""The English of places: conditions on features, states, leaves."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tripletree.log.schema import Feature, Schema
from tripletree.questions.words.numbers import exact

END = "the end"
STARTS = "where episodes begin"


def condition(name: str, low: float, high: float, unit: str = "") -> str:
    """Return "pos in [0, 0.5) m", "pos >= 0.5", or whatever ``low <= x < high`` comes down to.

    >>> condition("pos", -math.inf, math.nextafter(1, 2))
    'pos <= 1'
    """
    tail = f" {unit}" if unit else ""
    if low == high:
        return f"{name} = {exact(low)}{tail}"
    (least, above), (most, below) = readable(low), readable(high)
    if low == -math.inf:
        return f"{name} {'<=' if below else '<'} {most}{tail}" if high < math.inf else f"any {name}"
    if high == math.inf:
        return f"{name} {'>' if above else '>='} {least}{tail}"
    return f"{name} in {'(' if above else '['}{least}, {most}{']' if below else ')'}{tail}"


def readable(bound: float) -> tuple[str, bool]:
    """Return the number to print for a bound, and whether the bound is the next one above it.

    To a double, ``x < 1.0000000000000002`` and ``x <= 1`` say the same; people write the second.
    """
    before = math.nextafter(bound, -math.inf)
    closed = len(repr(before)) + 2 < len(repr(bound))
    return exact(before if closed else bound), closed


def clause(feature: Feature, low: float, high: float) -> str:
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
        held = [code for code in (0, 1) if low <= code < high]
        if len(held) == 1:
            return feature.name if held[0] else negated(feature.name)
        if held:
            return ""
    if feature.kind == "integer":
        first = low if low == -math.inf else math.ceil(low)
        last = high if high == math.inf else math.ceil(high) - 1
        if first <= last:
            return _whole(feature.name, first, last, feature.unit)
    return condition(feature.name, low, high, feature.unit)


def clauses(
    schema: Schema, lower: Sequence[float], upper: Sequence[float], order: Sequence[int] | None = None
) -> list[str]:
    """Return what a box says, feature by feature in the given order, and nothing about features without a bound."""
    told = (clause(schema.features[f], lower[f], upper[f]) for f in order or range(len(schema.features)))
    return [text for text in told if text]


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


def _whole(name: str, first: float, last: float, unit: str) -> str:
    tail = f" {unit}" if unit else ""
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
        return f"{len(numbers)} leaves"
    return f"leaves {', '.join(map(str, numbers[:-1]))} and {numbers[-1]}"


def state(schema: Schema, numbers: Sequence[float]) -> str:
    """Return "pos = 1.2 m, speed = 0.03 m/s": four digits, for this only reminds of a state that was given."""
    parts = zip(schema.features, (float(f"{x:.4g}") for x in numbers), strict=True)
    return ", ".join(condition(feature.name, x, x, feature.unit) for feature, x in parts)
