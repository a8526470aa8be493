"""Terms: the linear model of a number in a leaf, as people read it: "0.32 - 0.92 (y - 0.25) + 1.04 (v_x + 0.36)"."""

from __future__ import annotations

from typing import NamedTuple

from tripletree.language.numbers import all_of, rounded
from tripletree.log.schema import Schema
from tripletree.text import count

DIGITS = 3
"""Digits of the numbers in a model: more would be noise, and hard to read."""


class Terms(NamedTuple):
    """A linear model around the mean state of a leaf, those features first that make the most difference in its box.

    Attributes
    ----------
    centre : float
        What it says at the mean state.
    features : tuple of int
        The features that are told.
    slopes, origins : tuples of float
        How much more for each unit of them, and their mean in the leaf.
    others : int
        How many more features it uses.
    rest : float
        What these add in the state that was asked about.
    limit : float or None
        The largest or smallest number in the leaf, where the model would go beyond it in this state.
    below : bool
        Whether it would go below the smallest.
    """

    centre: float
    features: tuple[int, ...]
    slopes: tuple[float, ...]
    origins: tuple[float, ...]
    others: int
    rest: float
    limit: float | None
    below: bool = False

    def told(self, schema: Schema) -> str:
        """Return the model in words."""
        text = rounded(self.centre, DIGITS)
        for f, slope, origin in zip(self.features, self.slopes, self.origins, strict=True):
            text += f" {_sign(slope)} {rounded(abs(slope), DIGITS)} {_away(schema.features[f].name, origin)}"
        if self.others:
            text += f" {_sign(self.rest)} {rounded(abs(self.rest), DIGITS)} from {count(self.others, 'other feature')}"
        if self.limit is not None:
            text += f", but no {'less' if self.below else 'more'} than the leaf has seen: {rounded(self.limit, DIGITS)}"
        return text


def _sign(number: float) -> str:
    return "-" if number < 0 else "+"


def _away(name: str, origin: float) -> str:
    """Return "(y - 0.25)", or just the name where the mean is 0."""
    middle = rounded(abs(origin), DIGITS)
    return name if middle == "0" else f"({name} {_sign(-origin)} {middle})"


def together(names: tuple[str, ...], models: tuple[Terms, ...], schema: Schema) -> str:
    """Return "In this leaf main engine = ... and side engine = ..."."""
    return f"In this leaf {all_of([f'{n} = {one.told(schema)}' for n, one in zip(names, models, strict=True)])}."
