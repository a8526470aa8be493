"""Outline: an agent seen from afar. A handful of regions with names, what it does in each, and where it goes next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tripletree.answers.answer import Answer
from tripletree.answers.rules import conditions
from tripletree.language.conditions import END
from tripletree.language.numbers import all_of, capital, measured, percent
from tripletree.text import count, plural

F64 = npt.NDArray[np.float64]

PREDICTED = (
    "Told by what the tree predicts in the states that the model keeps. What was really done is in the log: give it."
)


@dataclass(frozen=True, eq=False, repr=False)
class Region(Answer):
    """One region of an outline.

    Attributes
    ----------
    number : int
        Its number, from 0 on.
    name : str
        What it is called: "y high and falling fast".
    when : tuple of str
        What holds in it.
    share : float
        The share of the samples that lie in it.
    action : str
        What the agent does there, in words.
    outcomes : tuple of str
        The same one by one: what it does in each dimension of the action.
    kinds : tuple of {"constant", "rule", "cycle"}
        Whether that is one level, a short rule, or something that repeats.
    agreement : tuple of float
        How often the log shows just that, one by one.
    visits : int
        How often episodes come there; visits of a step or two do not count.
    cut : int
        Visits among them that the recording cuts off.
    steps : three ints, or None
        Steps that 10, 50 and 90 % of the visits last at most, as far as they are recorded; None without visits.
    left : float or None
        Steps that are left from there until the episode ends, in the median; None where none is seen to end.
    entry, inside, exit : float64 arrays of shape (features,)
        Means of the features in the first state of a visit, in all of them, and in the last.
    change : float64 array of shape (features,)
        Mean change of the features in a step there; NaN where it is not known.
    value, spread : float or None
        The mean value there, and its standard deviation; None in a log without rewards.
    begins, ends : float
        The shares of episodes that begin in it, and of those that end whose last state lies in it.
    following : tuple of (int or None, float)
        Where the agent goes from it, the most frequent first, with shares; None is the end.
    names : tuple of str
        What the regions in ``following`` are called.
    """

    number: int
    name: str
    when: tuple[str, ...]
    share: float
    action: str
    outcomes: tuple[str, ...]
    kinds: tuple[str, ...]
    agreement: tuple[float, ...]
    visits: int
    cut: int
    steps: tuple[int, int, int] | None
    left: float | None
    entry: F64
    inside: F64
    exit: F64
    change: F64
    value: float | None
    spread: float | None
    begins: float
    ends: float
    following: tuple[tuple[int | None, float], ...]
    names: tuple[str, ...]

    def __str__(self) -> str:
        return _region(self)


@dataclass(frozen=True, eq=False, repr=False)
class Route(Answer):
    """One way through the regions to the end of the episode.

    Attributes
    ----------
    regions : tuple of int
        Numbers of the regions, in order, without detours.
    names : tuple of str
        What they are called.
    probability : float
        The share of episodes that went so, among those that begin in the first of them and end.
    steps : int
        How many steps these episodes took, in the median.
    """

    regions: tuple[int, ...]
    names: tuple[str, ...]
    probability: float
    steps: int

    def __str__(self) -> str:
        through = " -> ".join([*self.names, END])
        return f"{through}: {percent(self.probability)} of them, {count(self.steps, 'step')} (median)."


@dataclass(frozen=True, eq=False, repr=False)
class Outline(Answer):
    """An agent in few regions.

    Attributes
    ----------
    regions : tuple of Region
        The regions, by their numbers.
    routes : tuple of Route
        The most frequent ways through them, from where most episodes begin to the end, as far as they are not rare.
    other_routes : int
        How many other ways episodes went that begin there and end.
    ended : int
        Episodes of which the log shows the end.
    predicted : bool
        Whether no log was given, so that what is done is what the tree predicts in the states that it keeps.
    """

    regions: tuple[Region, ...]
    routes: tuple[Route, ...]
    other_routes: int
    ended: int
    predicted: bool = False

    def __str__(self) -> str:
        return "\n".join([*map(str, self.by_time), *([PREDICTED] if self.predicted else [])])

    @property
    def by_time(self) -> tuple[Region, ...]:
        """The regions, those first in which the log spends most time."""
        return tuple(sorted(self.regions, key=lambda one: -one.share))


def _region(one: Region) -> str:
    """Return one region in a sentence."""
    about = [f"{percent(one.share)} of the time"]
    if one.steps is not None:
        about.append(visits(one))
    if one.when and one.name != conditions(one.when):
        about.append(conditions(one.when))
    told = [one.action]
    if one.value is not None and one.spread is not None:
        told.append(f"value {measured(one.value, one.spread)}")
    return f"{capital(one.name)} ({', '.join(about)}): {'; '.join([*told, following(one)])}."


def visits(one: Region) -> str:
    """Return how long visits to a region last: "visits of 22 steps (10 to 41)"."""
    if one.steps is None:
        return "no visits"
    low, middle, high = one.steps
    more = " or more" if 2 * one.cut > one.visits else ""
    return f"visits of {count(middle, 'step')}{more}" + (f" ({low:,} to {high:,})" if low < high else "")


def following(one: Region) -> str:
    """Return where the agent goes from a region: "then y low (80 %) or the end (20 %)"."""
    told = [f"{quoted(name)} ({percent(p)})" for name, (_, p) in zip(one.names, one.following, strict=True)]
    return f"then {' or '.join(told)}" if told else "what follows is not recorded"


def quoted(name: str) -> str:
    """Return a name, in quotation marks where its commas would run into those around it."""
    return f"“{name}”" if "," in name else name


def ends(regions: Sequence[Region], ended: int) -> str:
    """Return in which regions episodes end."""
    ranked = sorted((one for one in regions if one.ends > 0), key=lambda one: -one.ends)
    if not ranked:
        return "The log shows no episode that ended by itself."
    if len(regions) == 1:
        return f"{count(ended, 'episode')} ended by {plural(ended, 'itself', 'themselves')}."
    told = [f"{percent(one.ends)} in {quoted(one.name)}" for one in ranked[:4]]
    rest = sum(one.ends for one in ranked[4:])
    told += [f"{percent(rest)} elsewhere"] if rest > 0 else []
    return f"{count(ended, 'episode')} ended by {plural(ended, 'itself', 'themselves')}: {all_of(told)}."


def rare_routes(answer: Outline) -> str:
    """Return how many episodes took none of the routes that are told; nothing where all did."""
    rest = 1 - sum(route.probability for route in answer.routes)
    if not answer.other_routes:
        return ""
    if not answer.routes:
        return f"No route is common: episodes go {count(answer.other_routes, 'way')}."
    others = "another way" if answer.other_routes == 1 else f"{answer.other_routes:,} other ways, each of them seldom"
    return f"The other {percent(rest)} go {others}."
