"""Intervals of counted shares and times: whole groups of episodes are independent, their steps are not."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

F64 = npt.NDArray[np.float64]

CONFIDENCE = 0.95

_ROUNDING = 1e-24  # squares of shares below this are zeros
_WIDEST = 100.0  # times the mean: an interval of times that reaches further says nothing


def share_bounds(share: float, influence: F64, size: F64) -> tuple[float, float]:
    """Return the interval of one share from each group's influence on it, and its visits with a known outcome."""
    change = influence * (jackknife(size) if size.any() else 1.0)
    square, fourth = np.array([(change**2).sum()]), np.array([(change**4).sum()])
    low, high = share_intervals(np.array([share]), square, fourth, size, float(size.sum()))[:, 0]
    return float(low), float(high)


def mean_bounds(mean: float, influence: F64, size: F64) -> tuple[float, float] | None:
    """Return the interval of a mean of times, on a logarithmic scale: times are skewed, and never negative."""
    groups = len(size)
    if groups < 2:
        return None
    change = influence * jackknife(size) / mean if mean else np.zeros(groups)
    square, fourth = np.asarray((change**2).sum()), np.asarray((change**4).sum())
    if square <= _ROUNDING:
        return mean, mean
    # Skewed times need fewer degrees of freedom than shares, which have a largest value. With less than two, one slow
    # episode would make any interval useless, and in simulated worlds none covers more often for it.
    freedom = np.maximum(_equals(square, fourth, groups), min(groups - 1, 2))
    error = np.sqrt((groups - 1) / groups * square)
    wide = float(_quantile(freedom) * error)
    return (mean * float(np.exp(-wide)), mean * float(np.exp(wide))) if wide < np.log(_WIDEST) else None


def share_intervals(share: F64, square: F64, fourth: F64, size: F64, most: float) -> F64:
    """Return Wilson's intervals of shares, shape (2, shares), with the number of independent visits they are worth.

    ``square`` and ``fourth`` are sums of powers of what leaving each group out changes, ``size`` says how much of the
    start each group is, and ``most`` is the number of visits.
    """
    held = size[size > 0]
    groups = len(held)
    if groups == 0:
        return np.tile([[0.0], [1.0]], len(share))
    never, always = share < 1e-9, share > 1 - 1e-9
    # The rule of three. A group with most of the visits leaves hardly more than one group to count.
    worth = held.sum() ** 2 / (held**2).sum()
    bound = 1.0 - (1.0 - CONFIDENCE) ** (1.0 / worth)
    if groups == 1:
        low, high = np.zeros(len(share)), np.ones(len(share))
    else:
        variance = (groups - 1) / groups * square
        spread = np.maximum(share * (1 - share), 0.0)
        some = variance * most > spread
        n = np.maximum(np.where(some, spread / np.where(some, variance, 1.0), most), 1e-9)
        # Normal variates give groups / 3 equals. In simulated worlds this covers 95 to 97 % on average, for 5 to 100
        # groups; groups - 1 degrees of freedom without the jackknife cover 92 %.
        low, high = _wilson(share, n, _quantile(2 * _equals(square, fourth, groups) - 1))
        # Steps of an episode can share no more than one fate. Without this bound a single episode in which it happened,
        # out of many, would leave one degree of freedom and an interval up to 51 %.
        one_fate = _wilson(share, np.minimum(n, worth), _quantile(np.asarray(groups - 1.0)))
        low, high = np.maximum(low, one_fate[0]), np.minimum(high, one_fate[1])
    low = np.where(never, 0.0, np.where(always, 1.0 - bound, np.maximum(low, 0.0)))
    high = np.where(always, 1.0, np.where(never, bound, np.minimum(high, 1.0)))
    return np.stack([low, high])


def jackknife(size: F64) -> F64:
    """Return the factor that makes each group's influence the change when the group is left out."""
    rest = 1.0 - size / size.sum()
    return np.asarray(1.0 / np.maximum(rest, 1e-9))


def _wilson(share: F64, n: F64, z: npt.NDArray[Any]) -> tuple[F64, F64]:
    """Return Wilson's interval of shares of ``n`` independent visits, with the quantile ``z`` of their error."""
    z2 = z**2 / n
    middle = (share + z2 / 2) / (1 + z2)
    half = np.sqrt(z2 * (np.maximum(share * (1 - share), 0.0) + z2 / 4)) / (1 + z2)
    return middle - half, middle + half


def _equals(square: npt.NDArray[Any], fourth: npt.NDArray[Any], groups: int) -> npt.NDArray[Any]:
    """Return how many groups would vary as much, with that kurtosis, if all contributed the same.

    When some groups contribute nearly all of the variance, it is known as badly as if there were only these: so this,
    and not the number of groups, says how well.
    """
    some = square > _ROUNDING
    return np.where(some, square**2 / np.where(some, fourth, 1.0), float(groups))


def _quantile(freedom: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return Student's quantile, with at least one degree of freedom."""
    from scipy.special import stdtrit

    return np.asarray(stdtrit(np.maximum(freedom, 1.0), (1 + CONFIDENCE) / 2))
