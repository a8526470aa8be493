"""The threshold put between the largest value on the left and the smallest on the right."""

from __future__ import annotations

from decimal import ROUND_FLOOR, Decimal, localcontext

DIGITS = 17


def midpoint(lo: float, hi: float) -> float:
    """Half way, or ``hi`` where no double lies between the two."""
    huge = max(abs(lo), abs(hi)) >= 1e300  # hi - lo may not be a double
    middle = lo / 2 + hi / 2 if huge else lo + (hi - lo) / 2
    return middle if middle > lo else hi


def short(lo: float, hi: float) -> float:
    """Return the shortest decimal tau with lo < tau <= hi.

    Shortest means a multiple of the coarsest power of ten that has one in the gap; of several, the one nearest to the
    middle, and of two as near, the smaller. A decimal counts as the double that a reader gets by typing it: 0.3 lies in
    (0.25, 0.3], and not in (0.3, 0.35]; distances are those of the doubles.
    """
    if lo < 0.0 <= hi:
        return 0.0
    top = Decimal(max(abs(lo), abs(hi))).adjusted() + 1
    middle = midpoint(lo, hi)
    with localcontext() as context:
        context.prec = 1200  # doubles are finite decimals: nothing below is rounded, except where it says so
        for exponent in range(top, top - DIGITS - 1, -1):
            unit = Decimal(1).scaleb(exponent)
            # One more on either side, as the double of a decimal outside the gap may fall on its border.
            first = int((Decimal(lo) / unit).to_integral_value(ROUND_FLOOR))
            last = int((Decimal(hi) / unit).to_integral_value(ROUND_FLOOR)) + 1
            inside = [tau for k in range(first, last + 1) if lo < (tau := float(k * unit)) <= hi]
            if inside:
                return min(inside, key=lambda tau: abs(tau - middle))
    return hi
