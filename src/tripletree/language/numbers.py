"""The English of numbers: shares, intervals, and names at the beginning of a sentence."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from typing import Any

MOST_DIGITS = 8
"""A number with more digits than this is rounded; thresholds are short decimals and hardly ever are."""
DIGITS, ALL_DIGITS = 6, 17
"""Digits that such a number is rounded to, and those of a double: enough to tell any two apart."""


FEW = 10
"""Fewer samples than this are too few to trust, and sentences say "only"."""


def exact(number: float, digits: int = DIGITS) -> str:
    """Return "0.045": all digits of a number that has few, ``digits`` of any other."""
    whole = repr(float(number) + 0.0)
    mantissa = whole.partition("e")[0].lstrip("-").replace(".", "").strip("0")
    if len(mantissa) > MOST_DIGITS:
        return f"{number:.{digits}g}"
    return f"{float(whole):.10g}"


def digits_apart(numbers: Iterable[float]) -> int:
    """Return the fewest digits, at least six, with which :func:`exact` writes different numbers differently.

    >>> digits_apart([0.1, 0.2]), digits_apart([0.123456781, 0.123456789])
    (6, 8)
    """
    pairs = itertools.pairwise(sorted(set(numbers)))
    # Neighbours among doubles are one border: "x < b" ends where "x >= b" begins.
    distinct = [(a, b) for a, b in pairs if b > math.nextafter(a, math.inf)]
    enough = (k for k in range(DIGITS, ALL_DIGITS) if all(exact(a, k) != exact(b, k) for a, b in distinct))
    return next(enough, ALL_DIGITS)


def percent(share: float) -> str:
    """Return "12 %"; what is almost all is "99.7 %", never "100 %"."""
    part = 100 * share
    if share >= 1 - 1e-9 or share < 0.99:
        return f"{part:.2g} %" if part < 99.5 else "100 %"
    return f"{100 - float(f'{100 - part:.1g}'):.10g} %"


def between(interval: Any) -> str:
    """Return " (95 % interval 0.1 to 0.2)", or nothing without an interval."""
    return "" if interval is None else f" (95 % interval {estimate(interval[0])} to {estimate(interval[1])})"


def estimate(number: float, digits: int = 3) -> str:
    """Return an estimate with a few digits; a large one as people count, not with an exponent.

    >>> estimate(98_312.4), estimate(12.345), estimate(0.00012345), estimate(384.2, 2)
    ('98,300', '12.3', '0.000123', '380')
    """
    short = significant(number, digits)
    # Below 1,000 three digits show all that is left, and with fewer "g" would write 380 as 3.8e+02.
    return f"{short:,.0f}" if 1_000 <= abs(short) < math.inf else f"{short:.{max(digits, 3)}g}"


def unit(of: str) -> str:
    """Return " m" for the unit m, and nothing for none."""
    return f" {of}" if of else ""


def all_of(parts: Sequence[str]) -> str:
    """Return "a", "a and b" or "a, b and c"."""
    return f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else "".join(parts)


def capital(text: str) -> str:
    """Return the text as a sentence begins, except where that would change the name of a variable such as ``x``."""
    first = text.split(maxsplit=1)[0] if text.strip() else ""
    return text[0].upper() + text[1:] if len(first) > 3 and first.isalpha() and first.islower() else text


def measured(mean: float, std: float) -> str:
    """Return "12.3 ± 2.1": the mean to as many places as its spread deserves; without a spread, the mean alone."""
    places = spread_places(std)
    if places is None or not math.isfinite(mean):
        return rounded(mean)
    return f"{exact(round(mean, places))}{spread_text(std)}"


def spread_places(std: float) -> int | None:
    """Return how many decimal places a spread deserves: two of its digits; None without a spread."""
    if not 0 < std < math.inf:
        return None
    places = 1 - math.floor(math.log10(std))
    return places if places <= 12 else None  # beyond, the spread is rounding error


def spread_text(std: float) -> str:
    """Return " ± 2.1", or nothing without a spread."""
    places = spread_places(std)
    return "" if places is None else f" ± {exact(round(std, places))}"


def rounded(number: float, digits: int = 4) -> str:
    """Return a number with this many significant digits, in words."""
    return exact(significant(number, digits))


def rounded_apart(one: float, other: float, digits: int = 4) -> tuple[str, str]:
    """Return two numbers with this many significant digits, or as many more as tell them apart.

    >>> rounded_apart(0.5, 2.25), rounded_apart(1000.12, 1000.37)
    (('0.5', '2.25'), ('1000.1', '1000.4'))
    """
    for more in range(digits, ALL_DIGITS + 1):
        told = rounded(one, more), rounded(other, more)
        if told[0] != told[1] or one == other:
            return told
    return repr(one), repr(other)


def significant(number: float, digits: int) -> float:
    """Return a number rounded to this many significant digits."""
    return float(f"{number:.{digits}g}")


def within_range(number: float, span: float) -> float:
    """Return a number rounded to a thousandth of its feature's range: more digits say nothing.

    >>> within_range(0.123456, 2.5), within_range(-7.5e-11, 1.0)
    (0.12, 0.0)
    """
    if not span > 0:
        return float(number)
    return round(float(number), 3 - math.ceil(math.log10(span))) + 0.0


def short_between(low: float, high: float) -> float:
    """Return 0, or the number with the fewest digits near the middle of ``(low, high]``.

    The kernel chooses thresholds in much the same way (``short_decimal``), but it counts decimal places from the
    larger of the two bounds: between 6 and 11 it takes 10, and this takes 8.

    >>> short_between(0.1234, 0.1299), short_between(-1, 2)
    (0.127, 0.0)
    """
    if low < 0 <= high:
        return 0.0
    middle = low + (high - low) / 2
    tries = (significant(middle, digits) for digits in range(1, 18))
    return next((number for number in tries if low < number <= high), high)
