"""The target columns whose summed variance is the hybrid impurity, and the integer grid they are rounded to."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np


def mean_and_spread(column: np.ndarray, source: np.ndarray | None = None) -> tuple[float, float]:
    """Mean and population standard deviation; the latter 0 for a constant, at any scale that a double can hold.

    A column that was computed from a ``source`` has its rounding errors.
    """
    if len(column) == 0:
        return 0.0, 0.0
    low, high = float(column.min()), float(column.max())
    size = max(abs(low), abs(high), 0.0 if source is None else float(np.abs(source).max()))
    if high / 2 - low / 2 <= 1e-12 * size / 2:
        return low, 0.0
    unit = 2.0 ** math.frexp(size)[1] if size < 1e300 else 2.0**1023
    scaled = [x / unit for x in column.tolist()]
    mean = math.fsum(scaled) / len(scaled)
    return mean * unit, math.sqrt(math.fsum((x - mean) ** 2 for x in scaled) / len(scaled)) * unit


@dataclass
class Columns:
    """Scaled columns: the plain group (action, value) of all rows, the derivative group of the rows that have one."""

    plain: np.ndarray  # (n, columns)
    derivative: np.ndarray  # (n, columns), NaN where missing
    has_derivative: np.ndarray  # (n,)


def action_columns(actions: np.ndarray, n_labels: int | None) -> list[np.ndarray]:
    """Columns whose variances sum to I(A): the Gini index of ``n_labels`` labels, or scaled continuous dimensions."""
    if n_labels is None:
        kept = [(column, mean_and_spread(column)[1]) for column in actions.T]
        return [column / sigma for column, sigma in kept if sigma > 0]
    if n_labels == 2:
        # Both one-hot columns have the same variance: one of them, doubled, does.
        columns = [math.sqrt(2) * (actions == 1)]
    else:
        columns = [(actions == label).astype(float) for label in range(n_labels)]
    return [column for column in columns if mean_and_spread(column)[1] > 0]


def derivative_columns(derivative: np.ndarray, scale: str, states: np.ndarray | None = None) -> list[np.ndarray]:
    """Columns whose variances sum to I(D)."""
    columns = []
    for f, column in enumerate(derivative.T):
        _, sigma = mean_and_spread(column[~np.isnan(column)], None if states is None else states[:, f])
        if sigma > 0:
            columns.append(column / (math.sqrt(sigma) if scale == "paper" else sigma))
    return columns


def columns(
    actions: np.ndarray,
    n_labels: int | None,
    value: np.ndarray,
    derivative: np.ndarray,
    theta: tuple[float, float, float] = (1.0, 1.0, 1.0),
    derivative_scale: str = "sigma",
    states: np.ndarray | None = None,
) -> Columns:
    """All columns, each attribute weighted so that it counts theta at the root. What does not vary drops out."""
    has = ~np.isnan(derivative).any(axis=1)
    groups = [
        action_columns(actions, n_labels),
        [value] if mean_and_spread(value)[1] > 0 else [],
        derivative_columns(derivative, derivative_scale, states),
    ]
    weighted: list[list[np.ndarray]] = []
    for group, weight in zip(groups, theta, strict=True):
        spreads = [mean_and_spread(column[~np.isnan(column)])[1] for column in group]
        # hypot: the square root of the summed variances, without their overflow
        root = math.hypot(*spreads) if spreads else 0.0
        weighted.append([column / root * math.sqrt(weight) for column in group] if root > 0 and weight > 0 else [])
    n = len(value)
    return Columns(stack(weighted[0] + weighted[1], n), stack(weighted[2], n), has)


def stack(columns: list[np.ndarray], n: int) -> np.ndarray:
    """Columns side by side, also when there are none."""
    return np.stack(columns, axis=1) if columns else np.zeros((n, 0))


@dataclass
class Grid:
    """Integer target rows: plain lanes, derivative lanes, one lane of 0/1 for a known derivative, zeros to 8.

    Fine rows are twice as long: a target is 2^22 times its lane plus the same lane of the second half.
    """

    rows: np.ndarray  # int32 (n, R), or (n, 2 R) if fine
    n_plain: int
    n_derivative: int
    scale: float
    fine: bool = False

    @property
    def targets(self) -> np.ndarray:
        """The rows as plain integers."""
        if not self.fine:
            return self.rows
        first, second = np.split(self.rows.astype(np.int64), 2, axis=1)
        k = self.n_plain + self.n_derivative
        return np.concatenate([(first[:, :k] << LIMB) + second[:, :k], first[:, k:]], axis=1)


LIMB = 22
ENOUGH = 2**12


def middle(column: np.ndarray) -> float:
    """Return the range of the middle seven eighths; where those are alike (but for 2^-20 of their size), of more."""
    ordered, last = np.sort(column), len(column) - 1
    outer = min(-(-len(column) // 16), last // 2)
    while True:
        low, high = float(ordered[outer]), float(ordered[last - outer])
        if not outer or high - low > 2.0**-20 * max(abs(low), abs(high)):
            return high - low
        outer //= 2


def grid(columns: Columns) -> Grid:
    """Centre every column, multiply all by one power of two, round half to even.

    Where the middle of a column is less than 2^12 steps wide, all get 22 bits more.
    """
    n_plain, n_derivative = columns.plain.shape[1], columns.derivative.shape[1]
    lanes = [column - mean_and_spread(column)[0] for column in columns.plain.T]
    for column in columns.derivative.T:
        centred = np.zeros(len(column))
        known = columns.has_derivative
        centred[known] = column[known] - mean_and_spread(column[known])[0]
        lanes.append(centred)
    scale = common_scale(lanes)
    present = [*columns.plain.T, *(column[columns.has_derivative] for column in columns.derivative.T)]
    fine = any(middle(column) * scale < ENOUGH for column in present)
    width = -(-(n_plain + n_derivative + 4) // 8) * 8  # room for what the kernel adds: a count and two sums of squares
    rows = np.zeros((len(columns.has_derivative), width), np.int32)
    for lane, column in enumerate(lanes):
        rows[:, lane] = np.rint(column * scale)
    rows[:, n_plain + n_derivative] = columns.has_derivative
    if not fine:
        return Grid(rows, n_plain, n_derivative, scale)
    second = np.zeros_like(rows)
    for lane, column in enumerate(lanes):
        second[:, lane] = np.rint((column * scale - rows[:, lane]) * 2.0**LIMB)
    return Grid(np.concatenate([rows, second], axis=1), n_plain, n_derivative, scale * 2.0**LIMB, True)


def common_scale(lanes: list[np.ndarray]) -> float:
    """Return the largest power of two that keeps entries within 2^23 and the sum of all squares within 2^61."""
    largest = max((float(np.abs(column).max()) for column in lanes), default=0.0)
    if largest == 0:
        return 1.0
    squares = math.fsum(x * x for column in lanes for x in column.tolist())
    exponent = 23 - math.frexp(largest)[1] + 2
    while largest * 2.0**exponent > 2.0**23 or squares * 4.0**exponent > 2.0**61:
        exponent -= 1
    return 2.0**exponent
