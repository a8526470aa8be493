"""The English of levels: what a class of predictions is called."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise, product
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
    return [f"{name} {text}" for text in level_texts(of, ends)]


def level_texts(of: str, ends: Sequence[float]) -> list[str]:
    """Return what the levels of one column are called: "low (< 0 m)", "high (>= 0 m)"."""
    borders = [-math.inf, *ends, math.inf]
    ranges = [f"{_range(low, high)}{unit(of)}" for low, high in pairwise(borders)]
    words = _WORDS.get(len(ranges))
    return ranges if words is None else [f"{word} ({text})" for word, text in zip(words, ranges, strict=True)]


def level_names(of: str, ends: Sequence[float]) -> list[str]:
    """Return the same without the numbers, where there are words for it."""
    return list(_WORDS.get(len(ends) + 1, ())) or level_texts(of, ends)


def _range(low: float, high: float) -> str:
    if low == -math.inf:
        return f"< {exact(high)}" if high < math.inf else "the same"
    return f">= {exact(low)}" if high == math.inf else f"{exact(low)} to {exact(high)}"
