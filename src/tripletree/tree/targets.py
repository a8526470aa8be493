"""Turns a log into what growth works on: scaled target columns, rounded once to an integer grid."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from tripletree import _kernel
from tripletree.log.derive import has_successor
from tripletree.log.log import Log
from tripletree.log.schema import Schema
from tripletree.text import some_of
from tripletree.tree.columns import Columns, action_columns, derivative_columns, state_columns, value_column
from tripletree.tree.costs import GrowthCosts, embedded, growth_costs
from tripletree.tree.resolution import ENOUGH, LIMB, middle_spans
from tripletree.tree.rotation import WORTHWHILE, rotated
from tripletree.tree.spread import Spread, measure
from tripletree.tree.weights import Weighing

F64 = npt.NDArray[np.float64]

SPARE_LANES = 4
"""Lanes beyond the targets: "has a derivative", and three that the kernel uses for its own sums."""
BITS = 23
"""Of a target, without the sign, unless rows are fine."""
WEIGHTED_BITS = 45
"""Of a target times its weight, without the sign: what the kernel adds up exactly."""
MOST_BITS = 30
"""Of such a target by itself: then its mean, too, times the sum of all weights is exact."""


@dataclass(frozen=True, eq=False)
class Scales:
    """Spread of the action (0/1 columns of the labels when discrete), the value and the derivative over a whole log."""

    action: Spread
    value: Spread
    derivative: Spread


@dataclass(frozen=True, eq=False)
class Targets:
    """The target columns of a log, such that Q* of a split is the plain sum of their variance reductions.

    Attributes
    ----------
    rows : int32 array of shape (samples, lanes)
        Action and value columns, derivative columns, a 0/1 lane "has a derivative", zero padding.
    fine : bool
        Whether rows have a second half for what rounding to the first leaves, in units of 2^-22: then 46 bits a target.
    weighted : bool
        Whether rows are fine and hold, in place of each target, its product with the row's weight: both are whole
        numbers. Then the lane after "has a derivative" has the weight, and in the second half a 1.
    n_plain, n_derivative : int
        Number of action and value columns, and of derivative columns (at most as many as samples, where those are few).
    scale : float
        Grid units (of the second half, if there is one) per unit of a target, a power of two.
    scales : Scales
        Spread of the columns before scaling.
    notes : tuple of str
        A sentence for each attribute that had to be left out, or that even a fine grid does not resolve.
    """

    rows: npt.NDArray[np.int32]
    fine: bool
    weighted: bool
    n_plain: int
    n_derivative: int
    scale: float
    scales: Scales
    notes: tuple[str, ...]


def make_targets(
    log: Log,
    values: F64,
    theta: tuple[float, float, float],
    derivative_scale: str,
    weighing: Weighing | None = None,
    costs: F64 | None = None,
    threads: int = 1,
) -> Targets:
    """Scale and round the columns of a log; every attribute has impurity ``theta_g`` over the whole log.

    Parameters
    ----------
    log : Log
        The training log.
    values : float64 array of shape (samples,)
        Value of each sample.
    theta : three numbers
        Weights of action, value and derivative.
    derivative_scale : {"sigma", "paper"}
        Divide derivatives by their standard deviation, or by its root (the paper's printed formula).
    weighing : Weighing or None
        Which samples count, and how much; the rows are those of the samples that count. None: all, and the same.
    costs : float64 array of shape (labels, labels), or None
        What it costs to take one label for another (discrete actions only); None: 1.
    threads : int
        Threads to use; their number changes nothing.
    """
    weighing = weighing or Weighing()
    reconciled = None if costs is None else growth_costs(costs)
    points = None if reconciled is None else embedded(reconciled.matrix)
    columns = (action_columns(log, points), value_column(values), derivative_columns(log))
    sources = (weighing.columns(columns[0]), weighing.columns(columns[1]), weighing.columns(columns[2]))
    n_rows, weights = sources[1].n_rows, weighing.numbers
    spreads = (
        measure(sources[0], weights=weights, threads=threads),
        measure(sources[1], weights=weights, threads=threads),
        _news(measure(sources[2], weighing.columns(state_columns(log)), weights, threads), log.schema),
    )
    factors = (
        _action_factors(spreads[0], log.schema.action.kind, points) * math.sqrt(theta[0]),
        _factors(spreads[1].unit_std, spreads[1].unit_std) * math.sqrt(theta[1]),
        _derivative_factors(spreads[2], derivative_scale) * math.sqrt(theta[2]),
    )
    used = [np.flatnonzero(factor) for factor in factors]
    n_plain, n_derivative = len(used[0]) + len(used[1]), len(used[2])
    reach = max(float((factor * spread.unit_reach).max()) for factor, spread in zip(factors, spreads, strict=True))
    notes = _notes(theta, used, spreads[2].count, log.schema)
    if reconciled is not None and theta[0]:
        notes += _cost_notes(reconciled)
    names = _column_names(log.schema, points)
    # Scores of linear leaves are about 0/1 columns, whatever confusing labels costs.
    plain = spreads[0] if points is None else measure(weighing.columns(action_columns(log)), weights=weights)
    scales = Scales(plain, spreads[1], spreads[2])

    def coarse(narrow: list[npt.NDArray[np.bool_]], steps: list[F64]) -> list[str]:
        """Return a note where not even a fine grid tells usual samples apart."""
        return _outlier_notes([names[g][k] for g in range(3) for k in used[g][narrow[g]][steps[g] < ENOUGH].tolist()])

    def steps_of(narrow: list[npt.NDArray[np.bool_]], scale: float) -> list[F64]:
        return [
            _steps(log, g, sources[g], used[g][narrow[g]], spreads[g].per_unit, factors[g] * scale, points, threads)
            for g in range(3)
        ]

    if weights is not None:
        scale = weighted_scale(reach, int(weights.max()))
        rows = empty_rows(n_rows, n_plain + n_derivative, fine=True)
        lane = 0
        for source, spread, factor, kept in zip(sources, spreads, factors, used, strict=True):
            _put_weighted(source, spread, factor * scale, kept, weights, rows, lane)
            lane += len(kept)
        rows[:, lane] = weighing.take(has_successor(log)) * weights
        rows[:, lane + 1] = weights
        rows[:, rows.shape[1] // 2 + lane + 1] = 1
        every = [np.ones(len(kept), bool) for kept in used]
        notes += coarse(every, steps_of(every, scale))
        return Targets(rows, True, True, n_plain, n_derivative, scale, scales, tuple(notes))
    scale = _common_scale(reach=reach, squares=sum(theta[g] * spreads[g].count for g in range(3) if len(used[g])))

    def quantised(fine: bool) -> npt.NDArray[np.int32]:
        rows = empty_rows(n_rows, n_plain + n_derivative, fine)
        lane = 0
        for source, spread, factor, kept in zip(sources, spreads, factors, used, strict=True):
            if not len(kept):
                continue
            for part, numbers in source.sources():
                _kernel.quantise(
                    numbers,
                    kept,
                    spread.centre[kept],
                    spread.per_unit[kept],
                    spread.unit_mean[kept],
                    factor[kept] * scale,
                    rows[part],
                    lane,
                    fine,
                    threads,
                )
            lane += len(kept)
        rows[:, lane] = weighing.take(has_successor(log))
        return rows

    rows, lanes = quantised(fine=False), n_plain + n_derivative
    # One outlier sets the scale of all columns. Where it leaves too few steps for the others, targets get 22 bits more.
    narrow = np.split(
        _kernel.narrow_lanes(rows, n_plain, n_derivative, threads) > 0, np.cumsum([len(kept) for kept in used])[:2]
    )
    steps = steps_of(narrow, scale)
    fine = any((numbers < ENOUGH).any() for numbers in steps)
    if fine:
        del rows  # they are as large as the log
        rows = quantised(fine=True)
        scale *= LIMB
        notes += coarse(narrow, [numbers * LIMB for numbers in steps])
    elif n_derivative > WORTHWHILE * n_rows:
        turned, bits = rotated(rows[:, n_plain:lanes])
        fewer = empty_rows(n_rows, n_plain + n_rows)
        fewer[:, : n_plain + n_rows] = np.rint(np.hstack([rows[:, :n_plain], turned]) * 2.0**-bits)
        fewer[:, n_plain + n_rows] = rows[:, lanes]
        rows, n_derivative, scale = fewer, n_rows, scale * 2.0**-bits
    return Targets(rows, fine, False, n_plain, n_derivative, scale, scales, tuple(notes))


def _put_weighted(
    source: Columns,
    spread: Spread,
    factor: F64,
    kept: npt.NDArray[np.int64],
    weights: F64,
    rows: npt.NDArray[np.int32],
    lane: int,
) -> None:
    """Round some columns, multiply them by the weights, and put the two parts of the products into their lanes."""
    first, second = (slice(begin, begin + len(kept)) for begin in (lane, rows.shape[1] // 2 + lane))
    centre, per_unit, mean, scale = (
        numbers[kept, None] for numbers in (spread.centre, spread.per_unit, spread.unit_mean, factor)
    )
    for part, block in source.blocks():
        product = np.rint(np.nan_to_num(((block[kept] - centre) * per_unit - mean) * scale)) * weights[part]
        high = np.rint(product / LIMB)
        rows[part, first], rows[part, second] = high.T, (product - high * LIMB).T


def empty_rows(samples: int, targets: int, fine: bool = False) -> npt.NDArray[np.int32]:
    """Return rows of zeros for so many targets and the spare lanes; they begin where a cache line does."""
    width, line = -(-(targets + SPARE_LANES) // 8) * 8 * (2 if fine else 1), 16
    room = np.zeros(samples * width + line, np.int32)
    start = -(room.__array_interface__["data"][0] // room.itemsize) % line
    return room[start : start + samples * width].reshape(samples, width)


def _steps(
    log: Log,
    attribute: int,
    source: Columns,
    wanted: npt.NDArray[np.int64],
    per_unit: F64,
    scale: F64,
    points: F64 | None,
    threads: int,
) -> F64:
    """Return how many steps of the grid the middle of some columns spans."""
    if attribute == 0 and log.schema.action.kind == "discrete":
        # From one label to another, however rare they are: from 0 to 1, or as far as their points are apart.
        apart = 1.0 if points is None else np.ptp(points, axis=0)[wanted]
        return per_unit[wanted] * scale[wanted] * apart
    return middle_spans(source, wanted, per_unit, threads) * scale[wanted]


def _column_names(schema: Schema, points: F64 | None) -> tuple[list[str], list[str], list[str]]:
    action = schema.action
    return (
        [f"the action `{name}`" for name in (action.labels if action.kind == "discrete" else action.names)]
        if points is None
        else ["the action"] * points.shape[1],
        ["the value"],
        [f"the derivative of `{name}`" for name in schema.feature_names],
    )


def _outlier_notes(coarse: list[str]) -> list[str]:
    coarse = list(dict.fromkeys(coarse))  # with costs, several columns are one action
    if not coarse:
        return []
    return [
        f"Outliers are so large that growth cannot tell usual samples apart in {some_of(coarse, 8)}. Check the rewards "
        "and states for wrong numbers, or leave those episodes out."
    ]


def _factors(std: F64, divisor: F64 | float) -> F64:
    """Return 1 / divisor for the columns that vary, and 0, which drops them, for the others."""
    return np.where(std > 0, 1.0 / np.where(std > 0, divisor, 1.0), 0.0)


def _even_factors(spread: Spread) -> F64:
    """Return the factors that give every column the same variance, and all of them together variance 1."""
    return _factors(spread.unit_std, spread.unit_std * math.sqrt(max(int(np.count_nonzero(spread.unit_std)), 1)))


def _action_factors(spread: Spread, kind: str, points: F64 | None) -> F64:
    if kind == "continuous":
        return _even_factors(spread)
    if points is not None:
        # The generalised Gini index of the whole log.
        return _factors(spread.unit_std, math.sqrt((spread.std**2).sum())) * np.ldexp(1.0, spread.exponent)
    gini = float((spread.mean * (1 - spread.mean)).sum())
    std = spread.unit_std
    if len(std) == 2:
        # The two 0/1 columns mirror each other: one of them with twice the variance does.
        std, gini = np.array([0.0, std[1]]), gini / 2
    return _factors(std, math.sqrt(gini)) * np.ldexp(1.0, spread.exponent)


def _news(spread: Spread, schema: Schema) -> Spread:
    """Return the spread of derivatives with those of past features as constant, which drops them everywhere."""
    if not schema.lags:
        return spread
    now = np.array([not feature.lag for feature in schema.features])
    return replace(spread, unit_std=spread.unit_std * now, unit_reach=spread.unit_reach * now)


def _derivative_factors(spread: Spread, derivative_scale: str) -> F64:
    if derivative_scale == "sigma":
        return _even_factors(spread)
    # Divided by sqrt(sigma_f), column f has variance sigma_f: its share of the impurity is sigma_f / sum of all.
    share = spread.std / max(float(spread.std.max()), float(np.finfo(np.float64).tiny))
    return _factors(spread.unit_std, spread.unit_std) * np.sqrt(share / max(float(share.sum()), 1.0))


def _common_scale(reach: float, squares: float) -> float:
    """Return the largest power of two that keeps entries within 2^23 and the sum of all their squares within 2^61."""
    if not reach:
        return 1.0
    # A hair less than measured: rounding errors must not halve the scale of targets that are just 1 or 2.
    by_reach = BITS - _ceil_log2(reach * (1 - 1e-9))
    by_squares = (61 - _ceil_log2(squares * (1 - 1e-9))) // 2
    return math.ldexp(1.0, min(by_reach, by_squares))


def weighted_scale(reach: float, heaviest: int) -> float:
    """Return the largest power of two that leaves entries within what adds up exactly, times the weights as well."""
    return math.ldexp(1.0, bits_beside(heaviest) - _ceil_log2(reach * (1 - 1e-9))) if reach else 1.0


def bits_beside(heaviest: int) -> int:
    """Return the bits of a target, without the sign, that there is room for beside the largest weight."""
    return min(WEIGHTED_BITS - heaviest.bit_length(), MOST_BITS)


def _ceil_log2(number: float) -> int:
    mantissa, exponent = math.frexp(number)
    return exponent - 1 if mantissa == 0.5 else exponent


def _cost_notes(costs: GrowthCosts) -> list[str]:
    if not costs.added:
        return []
    return [
        f"No impurity has exactly these costs between actions: growth adds {costs.added:.4g} to each of them, the "
        "least that will do. Losses count the costs as given."
    ]


def _notes(
    theta: tuple[float, float, float], used: list[npt.NDArray[np.int64]], successors: int, schema: Schema
) -> list[str]:
    reasons = (
        "All actions in this log are the same: actions play no part in growth."
        if schema.has_action
        else "This log has no actions: they play no part in growth.",
        "All values in this log are the same (constant rewards?): values play no part in growth."
        if schema.has_reward
        else "This log has no rewards: values play no part in growth.",
        "All derivatives in this log are the same: derivatives play no part in growth."
        if successors
        else "No sample of this log has a successor state: derivatives play no part in growth.",
    )
    notes = [reason for reason, weight, lanes in zip(reasons, theta, used, strict=True) if weight and not len(lanes)]
    if not any(map(len, used)):
        notes.append("Nothing in this log varies that the tree could model: it stays a single leaf.")
    return notes
