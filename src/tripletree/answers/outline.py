"""Outline: a tree seen from afar. A handful of regions, what the agent does in each, and where it goes next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tripletree.answers.answer import Answer
from tripletree.answers.rules import conditions
from tripletree.language.conditions import END
from tripletree.language.numbers import all_of, capital, measured, percent
from tripletree.text import count, plural


@dataclass(frozen=True, eq=False, repr=False)
class Region(Answer):
    """One region of an outline.

    Attributes
    ----------
    number : int
        Its number, from 0 on.
    leaf : int
        The leaf of the small tree that it is.
    when : tuple of str
        What holds in it.
    share : float
        The share of the samples that lie in it.
    action : str
        What the agent does there, in words.
    value, spread : float
        The mean value there, and its standard deviation.
    begins, ends : float
        The shares of episodes that begin in it, and of those that end whose last state lies in it.
    following : tuple of (int or None, float)
        Where the agent goes from it, the most frequent first, with probabilities; None is the end.
    """

    number: int
    leaf: int
    when: tuple[str, ...]
    share: float
    action: str
    value: float
    spread: float
    begins: float
    ends: float
    following: tuple[tuple[int | None, float], ...]

    def __str__(self) -> str:
        return _region(self)


@dataclass(frozen=True, eq=False, repr=False)
class Route(Answer):
    """One way through the regions to the end of the episode.

    Attributes
    ----------
    regions : tuple of int
        Numbers of the regions, in order, without detours.
    probability : float
        The share of episodes that went so, among those that begin in the first of them and end.
    steps : int
        How many steps these episodes took, in the median.
    """

    regions: tuple[int, ...]
    probability: float
    steps: int

    def __str__(self) -> str:
        return _route(self)


@dataclass(frozen=True, eq=False, repr=False)
class Outline(Answer):
    """A tree as few regions, the most visited first.

    Attributes
    ----------
    regions : tuple of Region
        The regions.
    routes : tuple of Route
        The most frequent ways through them, from where most episodes begin to the end; empty when none is recorded.
    ended : int
        Episodes of which the log shows the end.
    """

    regions: tuple[Region, ...]
    routes: tuple[Route, ...]
    ended: int

    def __str__(self) -> str:
        return "\n".join(map(str, self.regions))


def region_name(number: int) -> str:
    """Return what a region of an outline is called."""
    return f"Region {number + 1}"


def _region(one: Region) -> str:
    """Return one region in a sentence."""
    where = f"{region_name(one.number)} ({percent(one.share)} of the time, {conditions(one.when)})"
    return f"{where}: {one.action}, value {measured(one.value, one.spread)}, {following(one)}."


def following(one: Region) -> str:
    """Return where the agent goes from a region: "then region 2 (80 %) or the end (20 %)"."""
    told = [f"{END if to is None else region_name(to).lower()} ({percent(p)})" for to, p in one.following]
    return f"then {' or '.join(told)}" if told else "what follows is not recorded"


def _route(one: Route) -> str:
    """Return one route in a sentence."""
    numbers = ", ".join(str(number + 1) for number in one.regions)
    through = capital(f"{plural(len(one.regions), 'region')} {numbers}")
    return f"{through}, then {END}: {percent(one.probability)} of them, {count(one.steps, 'step')} (median)."


def ends(regions: Sequence[Region], ended: int) -> str:
    """Return in which regions episodes end."""
    ranked = sorted((one for one in regions if one.ends > 0), key=lambda one: -one.ends)
    if not ranked:
        return "The log shows no episode that ended by itself."
    told = [f"{percent(one.ends)} in {region_name(one.number).lower()}" for one in ranked[:4]]
    rest = sum(one.ends for one in ranked[4:])
    told += [f"{percent(rest)} elsewhere"] if rest > 0 else []
    return f"{count(ended, 'episode')} ended by {plural(ended, 'itself', 'themselves')}: {all_of(told)}."
