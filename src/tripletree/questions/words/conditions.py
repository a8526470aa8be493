"""The English of places: conditions on features, states, leaves."""

from __future__ import annotations

from collections.abc import Sequence

from tripletree.log.schema import Schema

END = "the end"
STARTS = "where episodes begin"


def condition(name: str, low: float, high: float, unit: str = "") -> str:
    """Return "pos in [0, 0.5) m", "pos >= 0.5", or whatever the interval comes down to."""
    tail = f" {unit}" if unit else ""
    if low == high:
        return f"{name} = {low:g}{tail}"
    if low == float("-inf"):
        return f"{name} < {high:g}{tail}" if high < float("inf") else f"any {name}"
    return f"{name} in [{low:g}, {high:g}){tail}" if high < float("inf") else f"{name} >= {low:g}{tail}"


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
    """Return "pos = 1.2 m, speed = 0.03 m/s"."""
    parts = zip(schema.features, numbers, strict=True)
    return ", ".join(condition(feature.name, x, x, feature.unit) for feature, x in parts)
