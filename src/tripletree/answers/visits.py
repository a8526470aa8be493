"""Visits: which recorded episodes came through a place, and what they did there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tripletree.answers.answer import Answer
from tripletree.answers.chance import Seen, came, nobody_came
from tripletree.language.conditions import STARTS
from tripletree.language.numbers import all_of, capital, percent, rounded, unit
from tripletree.text import count, plural, some_of

MOST_TOLD = 4
"""Labels that a sentence counts, at most."""


@dataclass(frozen=True)
class Visit:
    """One recorded episode that came through.

    Attributes
    ----------
    episode : int
        Its position in the log, or among the episodes that the model keeps.
    name : int or str
        What the log calls it.
    step : int
        The step at which it was there: the nearest to a state, the first in a zone.
    distance : float or None
        How far it was from a state, as a share of the features' ranges; None in a zone.
    action : str, tuple of float or None
        What it did there: a label, or a number for each dimension; None where only states are kept.
    """

    episode: int
    name: int | str
    step: int
    distance: float | None
    action: Any


@dataclass(frozen=True, eq=False, repr=False)
class Visits(Answer):
    """The episodes that came through a place, the nearest first; false when none did.

    Attributes
    ----------
    found : tuple of Visit
        One for each episode.
    seen : Seen
        Who was seen there.
    actions : dict, or None
        How many of them did what: counts by label, or (least, median, most) by dimension; None where actions are not
        known.
    units : dict of str to str
        Units of the dimensions.
    has_action : bool
        Whether the agent acts at all.
    """

    found: tuple[Visit, ...]
    seen: Seen
    actions: dict[str, Any] | None
    units: dict[str, str]
    has_action: bool

    def __len__(self) -> int:
        return len(self.found)

    def __iter__(self) -> Iterator[Visit]:
        return iter(self.found)

    def __getitem__(self, number: int) -> Visit:
        return self.found[number]

    def __str__(self) -> str:
        if not self.found:
            return nobody_came(self.seen)
        if self.seen.start == STARTS:
            begun = f"{count(len(self.found), 'recorded episode')} {plural(len(self.found), 'begins', 'begin')}"
            return f"{begun}. {self.did}".rstrip()
        # Without the sign that leads to what is counted elsewhere.
        return f"{came(self.seen)[:-1]}. {self.did}".rstrip()

    @property
    def did(self) -> str:
        """What they did there, in words, or what that needs; nothing for an agent that only moves."""
        if not self.has_action:
            return ""
        if self.actions is None:
            return "What they did there is not known: the model keeps states, not actions. Give the log."
        if not self.actions:
            return ""
        first = next(iter(self.actions.values()))
        if isinstance(first, int):
            total = sum(self.actions.values())
            ranked = sorted(self.actions.items(), key=lambda one: -one[1])
            told = [f"{label} ({number:,} of {total:,}, {percent(number / total)})" for label, number in ranked]
            return f"There they did {some_of(told, MOST_TOLD)}."
        told = [
            f"{name} = {rounded(middle, 3)}{unit(self.units[name])} ({rounded(low, 3)} to {rounded(high, 3)})"
            for name, (low, middle, high) in self.actions.items()
        ]
        return capital(f"{all_of(told)} there (median, and 10 to 90 %).")
