"""Stability: would another log have said the same? What trees grown on halves of the episodes agree on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tripletree.answers.answer import Answer
from tripletree.language.conditions import clause
from tripletree.language.numbers import all_of, percent, rounded, spread_places, unit
from tripletree.log.schema import Schema
from tripletree.text import count

STEADY, LOOSE = 0.8, 0.5
"""Predictions that are at least, or less, alike than this from tree to tree: steady, or not to be relied on."""
WHERE = {
    "": "First split",
    "l": "Where that holds, next",
    "r": "Where it does not, next",
    "ll": "Where both hold, next",
    "lr": "Where only the first holds, next",
    "rl": "Where only the second holds, next",
    "rr": "Where neither holds, next",
}
"""How a sentence begins about the split down a path: left is where a split's condition holds."""
MOST_BOUNDS = 3
"""Bounds of an explanation whose bands a sentence tells."""


class Likeness(NamedTuple):
    """How alike the predictions of two trees are that share no episode.

    Attributes
    ----------
    name, unit : str
        What is predicted, and its unit.
    alike : float
        1 where the two always agree, 0 where they agree no more than chance: the correlation of two numbers, or Cohen's
        kappa of two labels, over the states of the log.
    share : float or None
        How often they predict the same label; None for numbers.
    apart : float or None
        By how much numbers differ in a typical state (the median); None for labels.
    sigma : float
        Standard deviation of the predictions over the states; 0 for labels.
    """

    name: str
    unit: str
    alike: float
    share: float | None
    apart: float | None
    sigma: float


@dataclass(frozen=True, eq=False)
class FirstSplit:
    """One of the first splits of the tree, and what became of it in the others.

    Attributes
    ----------
    path : str
        Where it is: "" at the root, then "l" for each way down to the left (below a threshold) and "r" to the right.
    feature : int
        What the tree splits on.
    threshold : float
        Where.
    same : int
        Trees that split on the same feature at this place, and on the same features above it.
    low, high : float or None
        Where nine of ten other logs would put the threshold, if they split on this feature; None where too few trees
        do.
    instead : int or None
        What most of the other trees split on there, among those with the same features above it.
    trees : int
        How many trees there are.
    """

    path: str
    feature: int
    threshold: float
    same: int
    low: float | None
    high: float | None
    instead: int | None
    trees: int


@dataclass(frozen=True, eq=False, repr=False)
class Stability(Answer):
    """What trees like this one have in common, each grown on a random half of the episodes.

    Attributes
    ----------
    trees : int
        How many were grown.
    units : int
        Episodes of the log, or groups of them, that were divided into halves.
    grouped : bool
        Whether these are groups.
    predictions : tuple of Likeness
        How alike predictions are, for each attribute.
    splits : tuple of FirstSplit
        The first splits, from the root down.
    first_reason : float
        Share of the states for which two trees that share no episode name the same feature first as a reason.
    reasons : float
        Share of the features, of all that two explanations of one state name, that both name.
    schema : Schema
        Names of features and actions.
    """

    trees: int
    units: int
    grouped: bool
    predictions: tuple[Likeness, ...]
    splits: tuple[FirstSplit, ...]
    first_reason: float
    reasons: float
    caveat: str
    schema: Schema

    @property
    def steady(self) -> bool | None:
        """Whether another log would say the same: True, False, or None for partly."""
        least = min((one.alike for one in self.predictions), default=1.0)
        return True if least >= STEADY else False if least < LOOSE else None

    @property
    def verdict(self) -> str:
        """The sentence that answers the question."""
        return _verdict(self)

    @property
    def short(self) -> str:
        """The answer in one sentence."""
        first = self.splits[:1]
        rest = [
            f"the first split is on {self.schema.features[one.feature].name} in {one.same} of {one.trees}"
            for one in first
        ]
        by = f"trees grown on random halves of the episodes say so{''.join(f' ({text})' for text in rest)}"
        return f"{_verdict(self).removesuffix('.')}: {by}." if self.predictions else ""

    def __str__(self) -> str:
        parts = [_how(self), _verdict(self), *map(self.told, self.splits[:3]), _reasons(self), self.caveat]
        return "\n".join(part for part in parts if part)

    def told(self, split: FirstSplit) -> str:
        """Return the sentence about one of the first splits."""
        return _split(self, split)


class Bound(NamedTuple):
    """A bound of an explanation in trees grown on halves of the log.

    Attributes
    ----------
    feature : int
        The feature.
    side : {">=", "<"}
        Whether it is bounded from below or from above.
    at : float
        Where.
    trees : int
        How many trees bound it on this side.
    low, high : float or None
        Where nine of ten other logs would put it; None where too few trees bound it.
    """

    feature: int
    side: str
    at: float
    trees: int
    low: float | None
    high: float | None


@dataclass(frozen=True, eq=False)
class Steadiness:
    """How one explanation fares in trees grown on random halves of the episodes.

    Attributes
    ----------
    trees : int
        How many trees.
    same : int or None
        How many predict the same label, or that the foil holds; None for numbers.
    low, high : tuple of float
        Where nine of ten other logs would put each number; empty for labels.
    bounds : tuple of Bound
        What becomes of each bound of the explanation.
    caveat : str
        What to say about a log with few episodes.
    """

    trees: int
    same: int | None
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    bounds: tuple[Bound, ...] = ()
    caveat: str = ""

    def told(self, names: tuple[str, ...], units: tuple[str, ...], schema: Schema) -> str:
        """Return the sentences, with a space before them."""
        return f" {_steadiness(self, names, units, schema)}"


def within(*numbers: float) -> list[str]:
    """Return the ends of a band, and numbers in it, with as many digits as its width deserves.

    >>> within(-0.19234, -0.13111)
    ['-0.192', '-0.131']
    """
    places = spread_places(max(numbers) - min(numbers))
    return [rounded(one) if places is None else rounded(round(one, places) + 0.0, 12) for one in numbers]


def _steadiness(found: Steadiness, names: tuple[str, ...], units: tuple[str, ...], schema: Schema) -> str:
    """Return the sentences about one explanation."""
    halves = f"{found.trees} trees grown on random halves of the episodes"
    if found.same is not None:
        told = [f"{found.same} of {halves} agree."]
    else:
        ends = [within(low, high) for low, high in zip(found.low, found.high, strict=True)]
        parts = [
            f"{name} from {low} to {high}{unit(of)}" for name, of, (low, high) in zip(names, units, ends, strict=True)
        ]
        told = [f"By {halves}, another log would say {all_of(parts)}."]
    bands, missing = [], []
    for bound in found.bounds[:MOST_BOUNDS]:
        of = schema.features[bound.feature]
        if bound.low is None or bound.high is None or 2 * bound.trees < found.trees:
            side = "above" if bound.side == "<" else "below"
            missing.append(f"{of.name} from {side} ({bound.trees} of {found.trees})")
        elif of.kind != "binary":
            low, high, at = within(bound.low, bound.high, bound.at)
            where = "just there" if low == high else f"between {low} and {high}{unit(of.unit)}"
            bands.append(f"{of.name} {bound.side} {at}, {where}")
    if bands:
        told.append(f"Where nine of ten other logs would put the bounds: {'; '.join(bands)}.")
    if missing:
        told.append(f"Only some of the trees bound {all_of(missing)}.")
    return " ".join([*told, *([found.caveat] if found.caveat else [])])


def _how(answer: Stability) -> str:
    what = count(answer.units, "group" if answer.grouped else "episode")
    labels = [
        f"predict the same {one.name} in {percent(one.share)} of the states"
        for one in answer.predictions
        if one.share is not None
    ]
    numbers = []
    for one in answer.predictions:
        if one.apart is not None:
            part = f" ({percent(one.apart / one.sigma)} of its spread)" if one.sigma > 0 else ""
            numbers.append(f"{rounded(one.apart, 2)}{unit(one.unit)} in {one.name}{part}")
    told = [*labels, *([f"differ, in a typical state, by {all_of(numbers)}"] if numbers else [])]
    trees = f"{answer.trees} trees like this one were grown, each on a random half of the {what}."
    return f"{trees} Two of them that share none {' and '.join(told)}." if told else trees


def _verdict(answer: Stability) -> str:
    said: dict[str, list[str]] = {"much the same": [], "only roughly the same": [], "something else": []}
    for one in answer.predictions:
        kind = 0 if one.alike >= STEADY else 2 if one.alike < LOOSE else 1
        said[list(said)[kind]].append(one.name)
    parts = [f"{what} about {all_of(names)}" for what, names in said.items() if names]
    return f"Another log would say {', and '.join(parts)}." if parts else ""


def _split(answer: Stability, split: FirstSplit) -> str:
    feature = answer.schema.features[split.feature]
    what = clause(feature, -np.inf, split.threshold)
    told = f"{WHERE[split.path]}: {what}, on the same feature in {split.same} of {split.trees} trees"
    if split.low is not None and split.high is not None and 2 * split.same >= split.trees:
        if feature.kind == "binary":
            return f"{told}."
        low, high = within(split.low, split.high)
        where = "just there, too" if low == high else f"between {low} and {high}{unit(feature.unit)}"
        return f"{told}; another log would put it {where}."
    other = "" if split.instead is None else f", most others on {answer.schema.features[split.instead].name}"
    return f"{told}{other}: do not build on it."


def _reasons(answer: Stability) -> str:
    return (
        f"Asked why, two of them name the same feature first in {percent(answer.first_reason)} of the states, and have "
        f"{percent(answer.reasons)} of the features that they name in common."
    )
