"""Entry points: where a state that must move into a leaf ends up, one feature at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

F64 = npt.NDArray[np.float64]

STEP = 1e-3
"""How far inside an upper bound, which is not part of the leaf, a state lands at most: a share of the range."""


@dataclass(frozen=True, eq=False)
class EntryPoints:
    """The nearest values inside each leaf, all arrays of shape (features, leaves).

    A leaf holds ``lower <= x < upper``. From below a state lands on the lower bound. From above it cannot land on the
    upper bound itself: it lands on a short decimal number just inside, at most a thousandth of the feature's range
    and half of the leaf away. Features with whole numbers land on whole numbers.

    Attributes
    ----------
    lower, upper : float64 arrays
        The bounds; infinite where no split made one.
    near_low, near_high : float64 arrays
        The borders that distances are measured to, from below and from above.
    land_low, land_high : float64 arrays
        Where a state lands, from below and from above.
    middle : float64 array
        The middle of the leaf; unbounded sides end at the log's minimum and maximum.
    """

    lower: F64
    upper: F64
    near_low: F64
    near_high: F64
    land_low: F64
    land_high: F64
    middle: F64


def entry_points(
    lower: F64,
    upper: F64,
    feature_min: F64,
    feature_max: F64,
    span: F64,
    whole: npt.NDArray[np.bool_],
    margin: F64 | None = None,
    short: bool = False,
) -> EntryPoints:
    """Return where states land in each leaf.

    Parameters
    ----------
    lower, upper : float64 arrays of shape (leaves, features)
        Bounds of the leaves.
    feature_min, feature_max, span : float64 arrays of shape (features,)
        Range of the features over the log.
    whole : bool array of shape (features,)
        Which features hold whole numbers only.
    margin : float64 array of shape (features,), or None
        Distance to keep from the border that is crossed, in the feature's own units; never past the middle of the
        leaf, whose unbounded sides end at the log's minimum and maximum. Whole numbers keep none.
    short : bool
        Whether a margin may be a little wider, so that states land on numbers with few digits.
    """
    low, high = np.ascontiguousarray(lower.T), np.ascontiguousarray(upper.T)
    inside = np.nextafter(high, -np.inf)
    # The middle of the leaf, as far as the log goes.
    bottom = np.where(np.isinf(low), np.minimum(feature_min[:, None], inside), low)
    top = np.where(np.isinf(high), np.maximum(feature_max[:, None], low), high)
    middle = np.clip(bottom / 2 + top / 2, low, inside)
    near_low, near_high, land_low = low, high, low
    land_high = _short_below(high, np.minimum(STEP * span[:, None], high - middle))
    if margin is not None and margin.any():
        kept = margin[:, None] > 0
        begin, end, furthest = low + margin[:, None], high - margin[:, None], middle
        if short:
            begin, end, furthest = neat(begin, span, np.ceil), neat(end, span, np.floor), neat(middle, span, np.rint)
            furthest = np.where((furthest >= low) & (furthest <= inside), furthest, middle)
        from_low = np.where(begin > middle, furthest, begin)
        from_high = np.minimum(np.where(end < middle, furthest, end), inside)
        near_low, land_low = np.where(kept, from_low, near_low), np.where(kept, from_low, land_low)
        near_high, land_high = np.where(kept, from_high, near_high), np.where(kept, from_high, land_high)
    if whole.any():
        # A leaf without a whole number inside (a feature that was said to be whole and is not) is treated as real.
        first, last = np.ceil(low), np.ceil(high) - 1
        fits = whole[:, None] & (first < high) & (last >= low)
        near_low, land_low = np.where(fits, first, near_low), np.where(fits, first, land_low)
        near_high, land_high = np.where(fits, last, near_high), np.where(fits, last, land_high)
    return EntryPoints(low, high, near_low, near_high, land_low, land_high, middle)


def decimal_scale(span: F64) -> F64:
    """Return the power of ten whose inverse is about a thousandth of each feature's range."""
    scale: F64 = 10.0 ** (3 - np.ceil(np.log10(span)))
    return scale


def neat(numbers: F64, span: F64, rounding: np.ufunc) -> F64:
    """Return numbers, shape (features, ...), rounded to a thousandth of their feature's range: more digits say nothing.

    Infinite ones, and those too large for it, stay as they are.
    """
    scale = decimal_scale(span)[:, None]
    with np.errstate(all="ignore"):
        # A number that has so few digits already must not move by one because of a rounding error.
        near = np.rint(numbers * scale)
        whole = np.where(np.abs(numbers * scale - near) < 1e-6, near, rounding(numbers * scale))
        # Dividing by a whole power of ten gives the number that its digits mean; multiplying by its inverse does not.
        short = np.where(scale >= 1, whole / scale, whole * np.rint(1 / scale))
    return np.where(np.isfinite(short), short, numbers)


def _short_below(upper: F64, width: F64) -> F64:
    """Return a short decimal number in ``[upper - width, upper)``, or the next number below ``upper``."""
    with np.errstate(all="ignore"):
        digits = np.ceil(-np.log10(width))
        scale = 10.0 ** np.abs(digits)
        fine = (np.ceil(upper * scale) - 1) / scale
        coarse = (np.ceil(upper / scale) - 1) * scale
        short = np.where(digits > 0, fine, coarse)
        good = (short >= upper - width) & (short < upper) & np.isfinite(short)
    return np.where(good, short, np.nextafter(upper, -np.inf))
