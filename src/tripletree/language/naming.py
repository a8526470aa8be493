"""Words for parts of the state space: "y high", "x falling fast", "no leg in contact"; and how they make a name."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tripletree.language.conditions import clause, contrary
from tripletree.log.schema import Feature, Schema

F64 = npt.NDArray[np.float64]

EVERYWHERE = "throughout"
"""The name of the only region that there is."""
LOW, VERY = 0.3, 0.1
"""Shares of the samples that are "low" and "very low" where no border says otherwise; "high" likewise."""
NEUTRAL = 0.15
"""How far from the middle a border may lie such that one side of it is low and the other high."""
SIGNED = 0.05
"""Share of the samples that must lie on either side of 0 for "positive" and "negative" to say something."""


class Word(NamedTuple):
    """Something that may be true of a state.

    Attributes
    ----------
    about : str
        What it is about: a feature, or what the feature is the rate of; empty for words that stand alone.
    text : str
        The rest: "high", "falling fast", "no leg in contact".
    limits : tuple of (int, float, float)
        What must hold, ``low <= feature < high`` for each.
    plain : bool
        Whether it is a word at all, and not a condition with a number in it.
    """

    about: str
    text: str
    limits: tuple[tuple[int, float, float], ...]
    plain: bool = True

    def holds(self, states: F64) -> npt.NDArray[np.bool_]:
        """Return in which states it is true."""
        parts = [(states[:, f] >= low) & (states[:, f] < high) for f, low, high in self.limits]
        return np.asarray(np.all(parts, axis=0))


def vocabulary(
    schema: Schema, states: F64, borders: Sequence[Iterable[float]], rate_of: dict[int, int], rounded: Sequence[F64]
) -> list[Word]:
    """Return the words for states, each of which has one meaning.

    Parameters
    ----------
    schema : Schema
        Names and kinds of the features.
    states : float64 array of shape (samples, features)
        Where quantiles come from.
    borders : sequence of iterables of float
        For each feature, numbers that words should begin and end at if they can.
    rate_of : dict of int to int
        Which features are the rate of which others.
    rounded : sequence of float64 arrays
        Round numbers of each feature, from small to large.
    """
    found: list[Word] = []
    for f, feature in enumerate(schema.features):
        if feature.kind == "binary":
            found.append(Word("", feature.name, ((f, 0.5, math.inf),)))
            found.append(Word("", contrary(feature), ((f, -math.inf, 0.5),)))
            continue
        numbers = _Numbers(f, np.sort(states[:, f]), tuple(sorted(set(borders[f]))), rounded[f])
        if not len(rounded[f]):
            continue
        base = schema.features[rate_of[f]].name if f in rate_of else feature.name
        found += [Word(base, text, limits) for text, limits in (_rates(numbers) if f in rate_of else _sizes(numbers))]
    return [*found, *_together(schema.features)]


def plain_words(feature: Feature, f: int, low: float, high: float) -> list[Word]:
    """Return the conditions on a feature as words of the last resort: "y >= 0.3"."""
    text = clause(feature, low, high)
    about = feature.name if text.startswith(f"{feature.name} ") and feature.kind != "binary" else ""
    told = text.removeprefix(f"{about} ") if about else text
    return [Word(about, told, ((f, low, high),), plain=False)] if text else []


def joined(words: Sequence[Word]) -> str:
    """Return a name made of words: "no leg in contact, y high and falling fast"."""
    alone = [word.text for word in words if not word.about]
    told: dict[str, list[str]] = {}
    # "y < 0.3 and falling", not "y falling and < 0.3".
    for word in sorted(words, key=lambda one: one.plain):
        if word.about:
            told.setdefault(word.about, []).append(word.text)
    return ", ".join([*alone, *(f"{about} {' and '.join(texts)}" for about, texts in told.items())])


class _Numbers(NamedTuple):
    """A feature, its numbers from small to large, the borders that words should have, and other round numbers."""

    f: int
    sorted: F64
    borders: tuple[float, ...]
    rounded: F64

    def share(self, border: float) -> float:
        """Return the share of the samples below a border."""
        return float(np.searchsorted(self.sorted, border) / len(self.sorted))

    def place(self, border: float) -> float:
        """Return where a border lies between low (0) and high (1): by the samples below it, and by its size."""
        low, high = self.sorted[[len(self.sorted) // 100, -1 - len(self.sorted) // 100]].tolist()
        size = (border - low) / (high - low) if low < high else 0.5
        return (self.share(border) + min(max(size, 0.0), 1.0)) / 2

    def near(self, share: float) -> float:
        """Return the round number with about this share of the samples below."""
        shares = np.searchsorted(self.sorted, self.rounded) / len(self.sorted)
        return float(self.rounded[np.abs(shares - share).argmin()])

    def word(self, text: str, low: float, high: float) -> Found:
        """Return a word for an interval that holds some of the samples, but not all."""
        return [(text, ((self.f, low, high),))] if 0 < self.share(high) - self.share(low) < 1 else []


Found = list[tuple[str, tuple[tuple[int, float, float], ...]]]


def _sizes(of: _Numbers) -> Found:
    """Return low, medium and high, also very much so, and the sign."""
    low = [border for border in of.borders if of.place(border) <= 0.5][-2:]
    high = [border for border in of.borders if of.place(border) > 0.5][:2]
    if not of.borders:
        low, high = [of.near(VERY), of.near(LOW)], [of.near(1 - LOW), of.near(1 - VERY)]
    found: Found = []
    if SIGNED <= of.share(0.0) <= 1 - SIGNED:
        found += of.word("negative", -math.inf, 0.0) + of.word("positive", 0.0, math.inf)
    if low:
        found += of.word("low", -math.inf, low[-1])
        # What is not low is high only if the border lies in the middle.
        text = "high" if not high and of.place(low[-1]) > 0.5 - NEUTRAL else "medium or high"
        found += of.word(text, low[-1], math.inf)
    if high:
        found += of.word("high", high[0], math.inf)
        text = "low" if not low and of.place(high[0]) < 0.5 + NEUTRAL else "low or medium"
        found += of.word(text, -math.inf, high[0])
    if low and high:
        found += of.word("medium", low[-1], high[0])
    if len(low) > 1 and low[0] < low[1]:
        found += of.word("very low", -math.inf, low[0]) + of.word("fairly low", *low)
    if len(high) > 1 and high[0] < high[1]:
        found += of.word("very high", high[1], math.inf) + of.word("fairly high", *high)
    return found


def _rates(of: _Numbers) -> Found:
    """Return rising, falling and steady, also fast and slowly."""
    usual = float(np.abs(of.sorted).mean())
    near = [border for border in of.borders if abs(border) <= NEUTRAL * 2 * usual]
    zero = (near[0] if near and near[0] < 0 else 0.0, near[-1] if near and near[-1] > 0 else 0.0)
    fall = max((border for border in of.borders if border < min(zero[0], -NEUTRAL * 2 * usual)), default=of.near(VERY))
    rise = min(
        (border for border in of.borders if border > max(zero[1], NEUTRAL * 2 * usual)), default=of.near(1 - VERY)
    )
    found = of.word("falling", -math.inf, zero[0]) + of.word("rising", zero[1], math.inf)
    if zero[0] < 0:
        found += of.word("steady or rising", zero[0], math.inf)
    if zero[1] > 0:
        found += of.word("steady or falling", -math.inf, zero[1])
    if zero[0] < zero[1]:
        found += of.word("steady", *zero)
    if fall < zero[0]:
        found += of.word("falling fast", -math.inf, fall) + of.word("falling slowly", fall, zero[0])
        found += of.word("not falling fast", fall, math.inf)
    if rise > zero[1]:
        found += of.word("rising fast", rise, math.inf) + of.word("rising slowly", zero[1], rise)
        found += of.word("not rising fast", -math.inf, rise)
    return found


def _together(features: Sequence[Feature]) -> list[Word]:
    """Return words for several flags at once: "no leg in contact", "both legs in contact"."""
    flags: dict[tuple[str, ...], list[int]] = {}
    split = {f: tuple(re.split(r"[ _]", one.name)) for f, one in enumerate(features) if one.kind == "binary"}
    for (f, one), (g, other) in combinations(split.items(), 2):
        different = [k for k, (a, b) in enumerate(zip(one, other, strict=False)) if a != b]
        if len(one) == len(other) and len(different) == 1 and not features[f].column:
            rest = (*one[: different[0]], *one[different[0] + 1 :])
            flags.setdefault(rest, []).extend(k for k in (f, g) if k not in flags.get(rest, []))
    found = []
    for rest, members in flags.items():
        if not rest:
            continue
        several = " ".join([f"{rest[0]}s", *rest[1:]])
        found.append(Word("", f"no {' '.join(rest)}", tuple((f, -math.inf, 0.5) for f in members)))
        all_of_them = "both" if len(members) == 2 else "all"
        found.append(Word("", f"{all_of_them} {several}", tuple((f, 0.5, math.inf) for f in members)))
    return found
