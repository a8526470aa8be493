"""The only place where English sentences are built."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tripletree.log.schema import Schema


def prediction(
    schema: Schema,
    action: Any,
    spread: Any,
    value: float,
    value_std: float,
    leaf: int,
    count: int,
    outside: bool,
) -> str:
    """Return the sentence of one predicted state; ``spread`` is the action's probability or standard deviations."""
    if schema.action.kind == "discrete":
        act = f"Action = {action} ({100 * spread:.3g} %)"
    else:
        parts = zip(schema.action.names, _units(schema), action, spread, strict=True)
        act = ", ".join(f"{name} = {mean:.4g}{unit} ± {std:.2g}" for name, unit, mean, std in parts)
        act = act[0].upper() + act[1:]
    samples = "1 sample" if count == 1 else f"{count} samples"
    warning = "; the state lies outside the range of the log" if outside else ""
    return f"{act}, value = {value:.4g} ± {value_std:.2g} (leaf {leaf}, {samples}){warning}."


def predictions(states: int, leaves: int, outside: int) -> str:
    """Return the sentence of several predicted states."""
    where = f", {outside} of them outside the range of the log" if outside else ""
    return f"{states} states in {leaves} {'leaf' if leaves == 1 else 'leaves'}{where}."


def _units(schema: Schema) -> Sequence[str]:
    return [f" {unit}" if unit else "" for unit in schema.action.units]


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
