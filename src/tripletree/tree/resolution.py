"""Whether the grid that targets are rounded to tells the usual samples apart, or an outlier has set its scale."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tripletree.tree.columns import Columns

F64 = npt.NDArray[np.float64]

LIMB = 2.0**22
"""How much finer the grid becomes when targets are kept in two integers in place of one."""

ENOUGH = 2.0**12
"""Steps of the grid that the middle of a column should span. A tree has fewer leaves along one column."""

ALIKE = 2.0**-20
"""Numbers that differ by less than this share of their size are alike: an action that tanh brings to its limit."""


def middle_spans(columns: Columns, wanted: npt.NDArray[np.int64], per_unit: F64) -> F64:
    """Return the range of the middle seven eighths of some columns, each in its unit.

    Where the middle is all alike, half as many rows are left out at either end, then a quarter, until some differ: a
    column that is nearly always 0, or an action that is nearly always at its limit, is as wide as what it is otherwise.
    """
    units = per_unit[wanted].tolist()
    return np.array([_middle_span(columns, k, unit) for k, unit in zip(wanted.tolist(), units, strict=True)])


def _middle_span(columns: Columns, column: int, unit: float) -> float:
    numbers = columns.column(column)
    known = ~np.isnan(numbers)
    if not known.all():
        numbers = numbers[known]
    last = len(numbers) - 1
    outer = min(-(-len(numbers) // 16), last // 2)
    while True:
        low, high = np.partition(numbers, (outer, last - outer))[[outer, last - outer]]
        span = float(high * unit - low * unit)
        if span > ALIKE * unit * max(abs(float(low)), abs(float(high))) or not outer:
            return span
        outer //= 2
