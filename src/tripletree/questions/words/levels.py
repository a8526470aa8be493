"""The English of levels: what a class of predictions is called."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING

from tripletree.log.schema import Schema
from tripletree.questions.words.facts import names
from tripletree.questions.words.numbers import all_of, capital, exact, unit

if TYPE_CHECKING:
    from tripletree.questions.about import About

_WORDS = {2: ("low", "high"), 3: ("low", "medium", "high")}


def label(text: str, of: str) -> str:
    """Return "Action = left"."""
    return f"Action = {text}{unit(of)}"


def combinations(schema: Schema, about: About, edges: Sequence[Sequence[float]]) -> list[str]:
    """Return what every combination of levels is called: "Main engine high (>= 0.5) and side engine low (< 0)"."""
    columns = [_levels(name, of, ends) for (name, of), ends in zip(names(schema, about), edges, strict=True)]
    return [capital(all_of(parts)) for parts in product(*columns)]


def _levels(name: str, of: str, ends: Sequence[float]) -> list[str]:
    borders = [-math.inf, *ends, math.inf]
    return [
        f"{name} {word}{_range(low, high)}{unit(of)}{')' if word else ''}"
        for low, high, word in zip(borders, borders[1:], _words(len(ends) + 1), strict=False)
    ]


def _words(number: int) -> list[str]:
    return [f"{word} (" for word in _WORDS[number]] if number in _WORDS else [""] * number


def _range(low: float, high: float) -> str:
    if low == -math.inf:
        return f"< {exact(high)}" if high < math.inf else "the same"
    return f">= {exact(low)}" if high == math.inf else f"{exact(low)} to {exact(high)}"
