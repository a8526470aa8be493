"""Formulas of signal temporal logic: what a requirement is made of."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tripletree.language.tokens import Token, quoted

REWARD, RETURN, LENGTH = "reward", "return", "length"
AHEAD, BACK, FIXED = ("always", "never", "eventually"), ("historically", "once"), ("next", "initially", "ends")
OPERATORS = (*AHEAD, *BACK, *FIXED)
IMPLIES = ("implies", "->", "→")
RESERVED = (*OPERATORS, *IMPLIES, "until", "if", "then", "not", "any", "is")


@dataclass(frozen=True)
class Window:
    """From how many steps away to how many; in seconds, where that was said."""

    low: float = 0.0
    high: float = math.inf
    seconds: bool = False

    def __str__(self) -> str:
        if (self.low, self.high) == (0.0, math.inf):
            return ""
        tail = " s" if self.seconds else ""
        return f"[{self.low:g}{tail}, {self.high:g}{tail}]"


@dataclass(frozen=True)
class Comparison:
    """A number against a bound: ``sign`` is <, <=, >, >=, = or !=; ``whole``: that of an episode, not of a step."""

    name: str
    sign: str
    number: float
    place: Token = field(compare=False)
    whole: bool = False

    def __str__(self) -> str:
        return f"{quoted(self.name, RESERVED)} {self.sign} {self.number!r}"


@dataclass(frozen=True)
class Choice:
    """An action that is one of some labels."""

    name: str
    labels: tuple[str, ...]
    place: Token = field(compare=False)

    def __str__(self) -> str:
        return f"{quoted(self.name, RESERVED)} in {{{', '.join(quoted(label, RESERVED) for label in self.labels)}}}"


@dataclass(frozen=True)
class Joined:
    """Formulas of which all must hold, or one."""

    every: bool
    parts: tuple[Formula, ...]

    def __str__(self) -> str:
        return f"({(' and ' if self.every else ' or ').join(map(str, self.parts))})"


@dataclass(frozen=True)
class Opposite:
    """What must not hold."""

    part: Formula

    def __str__(self) -> str:
        return f"not ({self.part})"


@dataclass(frozen=True)
class Timed:
    """When it must hold: ``operator`` is always, eventually, historically, once, initially or ends."""

    operator: str
    part: Formula
    window: Window = Window()

    def __str__(self) -> str:
        return f"{self.operator}{self.window} ({self.part})"


@dataclass(frozen=True)
class Until:
    """``left`` must hold until ``right`` does, which it must within the window; ``bare``: without brackets."""

    left: Formula
    right: Formula
    window: Window = Window()
    bare: bool = field(default=False, compare=False)

    def __str__(self) -> str:
        return f"(({self.left}) until{self.window} ({self.right}))"


Formula = Comparison | Choice | Joined | Opposite | Timed | Until


def parts_of(formula: Formula) -> tuple[Formula, ...]:
    """Return what a formula is made of."""
    if isinstance(formula, Joined):
        return formula.parts
    if isinstance(formula, Until):
        return formula.left, formula.right
    return (formula.part,) if isinstance(formula, Opposite | Timed) else ()


def atoms(formula: Formula) -> Iterator[Comparison | Choice]:
    """Yield the comparisons of a formula, from left to right."""
    if isinstance(formula, Comparison | Choice):
        yield formula
    for part in parts_of(formula):
        yield from atoms(part)


def timeless(formula: Formula) -> Iterator[Any]:
    """Yield comparisons outside of all operators that look ahead: they would be about the first step alone."""
    if isinstance(formula, Choice) or (isinstance(formula, Comparison) and not formula.whole):
        yield formula
    if isinstance(formula, Joined | Opposite) or (isinstance(formula, Timed) and formula.operator in BACK):
        for part in parts_of(formula):
            yield from timeless(part)


def every_part(formula: Formula) -> Iterator[Formula]:
    """Yield a formula and all that it is made of."""
    yield formula
    for part in parts_of(formula):
        yield from every_part(part)
