"""The English of predictions."""

from __future__ import annotations

from typing import Any

from tripletree.log.schema import Schema
from tripletree.questions.words.numbers import capital, unit


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
        parts = zip(schema.action.names, schema.action.units, action, spread, strict=True)
        act = ", ".join(f"{name} = {mean:.4g}{unit(of)} ± {std:.2g}" for name, of, mean, std in parts)
        act = capital(act)
    samples = "1 sample" if count == 1 else f"{count} samples"
    warning = "; the state lies outside the range of the log" if outside else ""
    return f"{act}, value = {value:.4g} ± {value_std:.2g} (leaf {leaf}, {samples}){warning}."


def predictions(states: int, leaves: int, outside: int) -> str:
    """Return the sentence of several predicted states."""
    where = f", {outside} of them outside the range of the log" if outside else ""
    return f"{states} states in {leaves} {'leaf' if leaves == 1 else 'leaves'}{where}."
