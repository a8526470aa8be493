"""World: what the log shows of the world that the agent acts in, said once."""

from __future__ import annotations

from dataclasses import dataclass

from tripletree.answers.answer import Answer
from tripletree.language.conditions import condition
from tripletree.language.numbers import all_of, rounded, unit
from tripletree.log.schema import Schema
from tripletree.text import count, plural, some_of

MOST_TOLD = 6


@dataclass(frozen=True, eq=False, repr=False)
class Rate(Answer):
    """A feature that says how fast another one changes.

    Attributes
    ----------
    feature, rate : int
        The feature that changes, and the one that says how fast. Of an angle given as two numbers on a circle,
        ``feature`` is the first.
    other : int or None
        The second number of such an angle.
    slope : float
        What the feature changes by in a step (per second, in logs with times), for each unit of the rate.
    r2 : float
        How much of the change it explains in episodes that were left out.
    """

    feature: int
    rate: int
    other: int | None
    slope: float
    r2: float


@dataclass(frozen=True, eq=False, repr=False)
class Limit(Answer):
    """A number at which a feature piles up.

    Attributes
    ----------
    feature : int
        The feature.
    at : float
        The number.
    upper : bool
        Whether it is the largest; else the smallest.
    share : float
        The share of all steps at it.
    """

    feature: int
    at: float
    upper: bool
    share: float


@dataclass(frozen=True, eq=False, repr=False)
class Copy(Answer):
    """A feature that follows from others: ``offset + sum of factors times the others``.

    Attributes
    ----------
    feature : int
        The feature.
    of : tuple of int
        The others.
    factors : tuple of float
        What each of them counts.
    offset : float
        What comes on top.
    """

    feature: int
    of: tuple[int, ...]
    factors: tuple[float, ...]
    offset: float


@dataclass(frozen=True, eq=False, repr=False)
class Stop(Answer):
    """A border that ends episodes: their last states lie beyond it, and hardly any others.

    Attributes
    ----------
    feature : int
        The feature.
    low, high : float or None
        Below or above which episodes end.
    episodes : int
        How many of those that ended by themselves lie beyond it in the end.
    """

    feature: int
    low: float | None
    high: float | None
    episodes: int


@dataclass(frozen=True, eq=False, repr=False)
class World(Answer):
    """What a log shows of the world.

    Attributes
    ----------
    rates : tuple of Rate
        Which feature is the rate of which.
    circles : tuple of (int, int)
        Pairs of features that lie on a circle around 0, as a cosine and a sine do.
    wraps : tuple of int
        Features that jump from one end of their range to the other, as angles do.
    limits : tuple of Limit
        Where features pile up.
    binary, constant : tuple of int
        Features with two values, and with one.
    copies : tuple of Copy
        Features that follow from others.
    begins : tuple of (int, float, float)
        Features that first states have within a small part of their range: the smallest and the largest.
    stops : tuple of Stop
        Borders that end episodes.
    terminated, truncated, episodes : int
        How many episodes ended by themselves and were cut off, and how many there are.
    cut : int or None
        The number of steps at which all that were cut off were cut off.
    lengths : three ints
        The shortest, the median and the longest episode, in steps.
    schema : Schema
        Names and units.
    """

    rates: tuple[Rate, ...]
    circles: tuple[tuple[int, int], ...]
    wraps: tuple[int, ...]
    limits: tuple[Limit, ...]
    binary: tuple[int, ...]
    constant: tuple[int, ...]
    copies: tuple[Copy, ...]
    begins: tuple[tuple[int, float, float], ...]
    stops: tuple[Stop, ...]
    terminated: int
    truncated: int
    episodes: int
    cut: int | None
    lengths: tuple[int, int, int]
    schema: Schema

    @property
    def rate_of(self) -> tuple[tuple[int, int, float], ...]:
        """Triples of a feature, the feature that is its rate, and the slope; angles on circles left out."""
        return tuple((one.feature, one.rate, one.slope) for one in self.rates if one.other is None)

    def __str__(self) -> str:
        return "\n".join(filter(None, _told(self)))


def _told(answer: World) -> list[str]:
    names = answer.schema.feature_names
    said = [_rates(answer)]
    if answer.circles:
        pairs = [f"{names[i]} and {names[j]}" for i, j in answer.circles]
        said.append(f"On a circle: {'; '.join(pairs)}, as the cosine and the sine of an angle.")
    if answer.wraps:
        said.append(f"Comes back to where it began, as an angle does: {all_of([names[f] for f in answer.wraps])}.")
    said += [_limits(answer), _values(answer), *_copies(answer), _begins(answer), *_ends(answer)]
    return said


def _rates(answer: World) -> str:
    names = answer.schema.feature_names
    parts = []
    for one in answer.rates:
        what = names[one.feature] if one.other is None else f"the angle of {names[one.feature]} and {names[one.other]}"
        parts.append((f"{names[one.rate]} is the rate of {what}", one.slope))
    if not parts:
        return ""
    slopes = [slope for _, slope in parts]
    low, high = min(slopes), max(slopes)
    if high - low <= 0.05 * low:
        mean = sum(slopes) / len(slopes)
        lasts = f", so a step lasts about {rounded(mean, 2)} in {plural(len(parts), 'its', 'their')} unit of time"
        # A rate per step, or per second where the log has times, is what anybody would expect.
        return f"{'; '.join(text for text, _ in parts)}{'' if abs(mean - 1) < 0.02 else lasts}."
    per = "second" if answer.schema.per_second else "step"
    return f"{'; '.join(f'{text} ({rounded(slope, 2)} times it per {per})' for text, slope in parts)}."


def _limits(answer: World) -> str:
    names, units = answer.schema.feature_names, [feature.unit for feature in answer.schema.features]
    told = [
        f"{names[one.feature]} never {'above' if one.upper else 'below'} {rounded(one.at)}{unit(units[one.feature])}"
        for one in answer.limits
    ]
    return f"Limits, at which it piles up: {some_of(told, MOST_TOLD)}." if told else ""


def _values(answer: World) -> str:
    names = answer.schema.feature_names
    parts = []
    for found, what in ((answer.binary, "Only two values"), (answer.constant, "Always the same")):
        if found:
            parts.append(f"{what}: {some_of([names[f] for f in found], MOST_TOLD)}.")
    return " ".join(parts)


def _copies(answer: World) -> list[str]:
    names = answer.schema.feature_names
    told = []
    for one in answer.copies[:MOST_TOLD]:
        if len(one.of) == 1 and abs(one.factors[0] - 1) < 1e-6 and abs(one.offset) < 1e-9:
            told.append(f"{names[one.feature]} is a copy of {names[one.of[0]]}.")
            continue
        terms = [f"{rounded(factor, 3)} {names[f]}" for f, factor in zip(one.of, one.factors, strict=True)]
        terms += [rounded(one.offset, 3)] if abs(one.offset) > 1e-9 else []
        told.append(f"{names[one.feature]} = {' + '.join(terms)}, always.".replace("+ -", "- "))
    return told


def _begins(answer: World) -> str:
    names, units = answer.schema.feature_names, [feature.unit for feature in answer.schema.features]
    told = []
    for f, low, high in answer.begins:
        ends = rounded(low, 3), rounded(high, 3)
        same = ends[0] == ends[1]
        told.append(
            f"{names[f]} = {ends[0]}{unit(units[f])}" if same else f"{names[f]} {ends[0]} to {ends[1]}{unit(units[f])}"
        )
    return f"Episodes begin with {some_of(told, MOST_TOLD)}." if told else ""


def _ends(answer: World) -> list[str]:
    names, units = answer.schema.feature_names, [feature.unit for feature in answer.schema.features]
    low, middle, high = answer.lengths
    lasts = f"{count(high, 'step')}" if low == high else f"{low:,} to {high:,} steps (median {middle:,})"
    told = []
    for one in answer.stops:
        of = units[one.feature]
        if one.low is not None and one.high is not None and one.low == -one.high:
            border = f"|{names[one.feature]}| > {rounded(one.high)}{unit(of)}"
        else:
            sides = [condition(names[one.feature], -float("inf"), one.low, of)] if one.low is not None else []
            sides += [condition(names[one.feature], one.high, float("inf"), of)] if one.high is not None else []
            border = " or ".join(sides)
        told.append(f"{one.episodes:,} at {border}")
    ends = []
    if answer.terminated:
        how = f": {', '.join(told)}" if told else ", at no border that one feature has"
        whole = answer.terminated == answer.episodes
        who = f"All {answer.episodes:,}" if whole else f"{answer.terminated:,} of {answer.episodes:,}"
        ends.append(f"{who} episodes ended by themselves{how}.")
    if answer.truncated:
        at = f" at {count(answer.cut, 'step')}" if answer.cut is not None else ""
        who = f"All {answer.episodes:,} episodes" if answer.truncated == answer.episodes else f"{answer.truncated:,}"
        ends.append(f"{who} {plural(answer.truncated, 'was', 'were')} cut off{at}.")
    return [*ends, f"An episode lasts {lasts}." if answer.episodes == 1 else f"Episodes last {lasts}."]
