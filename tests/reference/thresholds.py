"""The threshold put between the largest value on the left and the smallest on the right."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, Decimal, localcontext

DIGITS = 17


def midpoint(lo: float, hi: float) -> float:
    """Half way, or ``hi`` where no double lies between the two."""
    middle = centre(lo, hi)
    return middle if middle > lo else hi


def centre(lo: float, hi: float) -> float:
    """Return the middle as a double, also where ``hi - lo`` is not one."""
    return lo + (hi - lo) / 2 if math.isfinite(hi - lo) else lo / 2 + hi / 2


def short(lo: float, hi: float) -> float:
    """Return the shortest decimal tau with lo < tau <= hi.

    Shortest means a multiple of the coarsest power of ten that has one in the gap; of several, the one nearest to the
    middle, and of two as near, the smaller. Every comparison is between doubles, so a decimal counts as the double a
    reader gets by typing it: 0.3 lies in (0.25, 0.3], and not in (0.3, 0.35].
    """
    if lo < 0.0 <= hi:
        return 0.0
    top = Decimal(max(abs(lo), abs(hi))).adjusted() + 1
    middle = centre(lo, hi)
    with localcontext() as context:
        context.prec = (
            1200  # doubles are finite decimals: nothing below is rounded, except to integers where it says so
        )
        for exponent in range(top, top - DIGITS - 1, -1):
            unit = Decimal(1).scaleb(exponent)
            # One extra on either side, as the double of a decimal outside the gap may fall on its border.
            first = int((Decimal(lo) / unit).to_integral_value(ROUND_CEILING)) - 1
            last = int((Decimal(hi) / unit).to_integral_value(ROUND_CEILING)) + 1
            inside = [k for k in range(first, last + 1) if lo < float(k * unit) <= hi]
            if inside:
                best = inside[0]
                for k in inside[1:]:
                    if middle > float((k - Decimal("0.5")) * unit):
                        best = k
                return float(best * unit)
    return hi
