"""Guides, by which a picture is read: ticks and their labels, what colours mean, and which colour a value has."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from tripletree.language.numbers import exact, rounded
from tripletree.scenes.colours import CATEGORIES, OTHER
from tripletree.scenes.types import Axis, ColourScale, Entry
from tripletree.text import count

F64 = npt.NDArray[np.float64]
U8 = npt.NDArray[np.uint8]

TICKS = 5
"""Intervals between ticks that a picture has room for, unless its renderer says otherwise."""
TICKS_OF_LOW_PICTURES = 2
LONG_TEXT = 8
"""Texts at ticks with more characters than this need twice the room."""
STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
"""Round distances between ticks, times a power of ten."""
LOG_STEPS = ((1, 2, 5), (1, 2, 3, 4, 6, 8))
"""Ticks between powers of ten; the first of these lists that puts three or more on the axis is taken."""
MOST_DECIMALS = 17
"""As many as a floating-point number has digits."""
# Below 256: the report draws grids as pictures with one byte a pixel, and one of its values is "nothing here".
LEVELS = 200
"""Colours of a continuous scale: more than an eye can tell apart."""
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
MINUS = "\N{MINUS SIGN}"


def marked(axis: Axis, most: int = TICKS) -> Axis:
    """Return an axis with its ticks and their texts; very large or small numbers are divided by a power of ten.

    Parameters
    ----------
    axis : Axis
        The axis; ticks of its own are kept as far as they lie on it.
    most : int
        Maximum number of intervals between ticks.
    """
    if axis.ticks:
        kept = [k for k, tick in enumerate(axis.ticks) if axis.low <= tick <= axis.high]
        return replace(
            axis, ticks=tuple(axis.ticks[k] for k in kept), tick_labels=tuple(axis.tick_labels[k] for k in kept)
        )
    if axis.log:
        ticks = log_numbers(axis.low, axis.high)
        return replace(axis, ticks=tuple(ticks), tick_labels=tick_texts(axis, ticks))
    most = min(most, TICKS_OF_LOW_PICTURES) if axis.upright else most
    ticks = round_numbers(axis.low, axis.high, most)
    if max(map(len, tick_texts(axis, ticks)), default=0) > LONG_TEXT:
        ticks = round_numbers(axis.low, axis.high, max(most // 2, 1))
    power = power_of_ten(axis)
    label = f"{axis.label}, in 1e{power}" if power else axis.label
    return replace(axis, label=label, ticks=tuple(ticks), tick_labels=tick_texts(axis, ticks))


def round_numbers(low: float, high: float, most: int = TICKS) -> list[float]:
    """Return two or more round numbers from ``low`` to ``high``, if possible with at most ``most`` intervals."""
    width = (high - low) / most
    # Too narrow or too wide for the logarithms and divisions below.
    if not 1e-300 < width < math.inf:
        return [low]
    exponent = math.floor(math.log10(width))
    steps = [step * 10.0**power for power in (exponent - 1, exponent) for step in STEPS]
    wide = next(k for k, step in enumerate(steps) if step >= width * 0.999)
    # From the widest step that is wanted to narrower ones, until two ticks lie on the axis: one alone shows no scale.
    for step in reversed(steps[: wide + 1]):
        # A range that begins a hair above a round number begins with it.
        hair = 0.02 * (high - low) / step
        first, last = math.ceil(low / step - hair), math.floor(high / step + hair)
        if first < last:
            break
    # Rounded, or 3 * 0.1 would be 0.30000000000000004; adding 0.0 makes 0 of -0.
    return [round(k * step, 2 - exponent) + 0.0 for k in range(first, last + 1)]


def log_numbers(low: float, high: float) -> list[float]:
    """Return powers of ten, every second or third when there are many; round numbers between when there are few."""
    # The logarithm of a power of ten may come out a hair below a whole number.
    first, last = math.floor(math.log10(low) + 1e-9), math.floor(math.log10(high) + 1e-9)
    within = low * (1 - 1e-9), high * (1 + 1e-9)
    powers = [10.0**k for k in range(first, last + 1) if 10.0**k >= within[0]]
    if len(powers) > 2:
        return powers[:: max(1, (len(powers) - 1) // 5)]
    for steps in LOG_STEPS:
        found = [step * 10.0**k for k in range(first, last + 1) for step in steps]
        seen = [number for number in found if within[0] <= number <= within[1]]
        if len(seen) > 2:
            return seen
    return [number for number in round_numbers(low, high) if within[0] <= number <= within[1]]


def power_of_ten(axis: Axis) -> int:
    """Return the power of ten that very large or small numbers are divided by; the label then names it."""
    largest = max(abs(axis.low), abs(axis.high))
    if axis.log or largest == 0 or 1e-3 <= largest < 1e5:
        return 0
    # Not below: 10.0 ** -324 is 0, and ticks are divided by it.
    return max(math.floor(math.log10(largest)), -300)


def tick_texts(axis: Axis, ticks: Sequence[float]) -> tuple[str, ...]:
    """Return what is written at ticks of an axis: all with the same number of decimals, as few as show them exactly."""
    if axis.log:
        plain = all(1e-4 < tick < 1e5 for tick in ticks)
        return tuple(exact(tick) if plain else _power_text(tick) for tick in ticks)
    shown = [tick / 10.0 ** power_of_ten(axis) for tick in ticks]
    near = 1e-3 * min((b - a for a, b in itertools.pairwise(shown)), default=1.0)
    exactly = (k for k in range(MOST_DECIMALS) if all(abs(round(number, k) - number) <= near for number in shown))
    decimals = next(exactly, MOST_DECIMALS)
    return tuple(f"{number + 0.0:.{decimals}f}".replace("-", MINUS) for number in shown)


def _power_text(tick: float) -> str:
    """Return "10⁸" or "2×10⁸"."""
    exponent = math.floor(math.log10(tick) + 1e-9)
    times = rounded(tick / 10.0**exponent, 6)
    return f"{'' if times == '1' else f'{times}×'}10{str(exponent).translate(SUPERSCRIPTS)}"


def share(axis: Axis, values: F64) -> F64:
    """Return how far along an axis values lie: 0 where it begins, 1 where it ends."""
    if not axis.log:
        linear: F64 = (values - axis.low) / (axis.high - axis.low)
        return linear
    # A 0 has no logarithm; the least positive number lies far off the axis.
    logs = np.log10(np.maximum(values, np.finfo(float).tiny))
    low, high = np.log10([axis.low, axis.high])
    logarithmic: F64 = (logs - low) / (high - low)
    return logarithmic


def bar_axis(scale: ColourScale) -> Axis:
    """Return the axis along the bar of a continuous scale, with its ticks."""
    return marked(Axis(scale.label, scale.low, scale.high, log=scale.kind == "log"))


def category_entries(scale: ColourScale | None) -> tuple[Entry, ...]:
    """Return what the colours of categories mean; labels without a colour of their own are one entry."""
    if scale is None or scale.kind != "categories":
        return ()
    named: dict[str, list[str]] = {}
    for colour, name in zip(scale.stops, scale.categories, strict=True):
        named.setdefault(colour, []).append(name)
    return tuple(
        Entry(f"{scale.label} = {names[0]}" if len(names) == 1 else count(len(names), "other"), colour)
        for colour, names in sorted(named.items(), key=lambda entry: len(entry[1]) > 1)
    )


def category_scale(label: str, names: tuple[str, ...], weight: F64) -> ColourScale:
    """Return the colours of labels; if there are many, those with small weights share one."""
    # Weights that were counts once are so again: otherwise rounding errors would decide between equals.
    frequent = set(np.argsort(-np.round(weight, 6), kind="stable")[: len(CATEGORIES)].tolist())
    # In the order of the labels, not of their weights: so a few labels have the same colours for every log.
    own = iter(CATEGORIES)
    stops = tuple(next(own) if code in frequent else OTHER for code in range(len(names)))
    return ColourScale(label, stops, 0, len(names) - 1, "categories", names)


def shades(scale: ColourScale) -> tuple[str, ...]:
    """Return the colours that a scale is shown with."""
    if scale.kind == "categories":
        return tuple(dict.fromkeys(scale.stops))  # a thousand labels have eight colours
    return tuple("#" + bytes(colour).hex() for colour in palette(scale).tolist())


def palette(scale: ColourScale) -> U8:
    """Return the :func:`shades` as red, green and blue, shape (shades, 3)."""
    colours = shades(scale) if scale.kind == "categories" else scale.stops
    stops = np.array([[int(colour[k : k + 2], 16) for k in (1, 3, 5)] for colour in colours], np.float64)
    if scale.kind == "categories":
        return stops.astype(np.uint8)
    at = np.linspace(0, len(stops) - 1, LEVELS)
    return np.stack([np.interp(at, np.arange(len(stops)), part) for part in stops.T], axis=1).round().astype(np.uint8)


def shade_of(scale: ColourScale, values: F64) -> npt.NDArray[np.int64]:
    """Return which of the :func:`shades` each value has; -1 for what is not a number."""
    known = np.isfinite(values)
    safe = np.where(known, values, scale.low)
    if scale.kind == "categories":
        own = shades(scale)
        code = np.array([own.index(stop) for stop in scale.stops])[np.round(safe).astype(np.int64)]
    else:
        code = np.round(np.clip(share(bar_axis(scale), safe), 0, 1) * (LEVELS - 1)).astype(np.int64)
    return np.where(known, code, -1)
