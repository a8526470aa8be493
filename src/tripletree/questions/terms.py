"""The parts of a condition in an expression: a number, a name, and what is wanted of the attribute with that name."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Number:
    """A number with the text of its unit."""

    value: float
    unit: str
    begin: int
    end: int


@dataclass(frozen=True)
class Name:
    """The name of an attribute."""

    name: str
    begin: int
    end: int


@dataclass
class Wish:
    """What an expression wants of one attribute: an interval ``low <= x < high``, or some labels."""

    name: Name
    low: float = -math.inf
    high: float = math.inf
    labels: list[str] | None = None

    def compare(self, sign: str, number: float) -> None:
        """Add a comparison."""
        above = math.nextafter(number, math.inf)
        if sign in (">", ">=", "="):
            self.low = max(self.low, above if sign == ">" else number)
        if sign in ("<", "<=", "="):
            self.high = min(self.high, number if sign == "<" else above)

    def choose(self, labels: list[str]) -> None:
        """Keep only labels that are among these, too."""
        self.labels = labels if self.labels is None else [label for label in self.labels if label in labels]

    @property
    def empty(self) -> bool:
        """Whether nothing can be all that is wanted."""
        return self.low >= self.high if self.labels is None else not self.labels

    def condition(self) -> Any:
        """Return the condition as questions take it."""
        if self.labels is not None:
            return self.labels[0] if len(self.labels) == 1 else self.labels
        if self.high == math.nextafter(self.low, math.inf):
            return self.low
        return self.low if self.low > -math.inf else None, self.high if self.high < math.inf else None

    def closed(self) -> Any:
        """Return the condition with an interval whose two ends belong to it."""
        if self.labels is not None:
            return self.condition()
        most = math.nextafter(self.high, -math.inf) if self.high < math.inf else None
        return self.low if self.low > -math.inf else None, most
