"""Targets of a log in parts: measured by sums that add up exactly, and rounded as `make_targets` rounds them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
import numpy.typing as npt

from tripletree import _kernel
from tripletree.log.exact import grids_of
from tripletree.log.log import Log
from tripletree.log.schema import Schema
from tripletree.tree.columns import Columns, action_columns, derivative_columns, value_column
from tripletree.tree.costs import GrowthCosts, embedded, growth_costs
from tripletree.tree.edges import Edges
from tripletree.tree.frontier import Lanes, Wanted
from tripletree.tree.resolution import ALIKE, ENOUGH, LIMB
from tripletree.tree.spread import Spread, Units, WeightedSums, add_weighted, finished, units_of
from tripletree.tree.targets import (
    BITS,
    Scales,
    _action_factors,
    _column_names,
    _common_scale,
    _cost_notes,
    _derivative_factors,
    _factors,
    _news,
    _notes,
    _outlier_notes,
    bits_beside,
    weighted_scale,
)
from tripletree.tree.weights import Weighing

F64 = npt.NDArray[np.float64]
I32 = npt.NDArray[np.int32]
I64 = npt.NDArray[np.int64]

BUCKET_BITS = 12
BUCKETS = 2**BUCKET_BITS + 1
"""Over the whole grid: enough to see whether a column is narrow (see `src/kernel/resolution.hpp`)."""
FEW = 64
"""Values of a column that are counted one by one: what most rows have in common is then known."""


@dataclass(frozen=True, eq=False)
class Model:
    """What targets are made of: the schema, costs of confusing labels, and weights of the attributes."""

    schema: Schema
    theta: tuple[float, float, float]
    derivative_scale: str
    costs: F64 | None = None

    @property
    def reconciled(self) -> GrowthCosts | None:
        """The costs that growth uses."""
        return None if self.costs is None else growth_costs(self.costs)

    @property
    def points(self) -> F64 | None:
        """A point for each label, where costs differ."""
        return None if self.reconciled is None else embedded(self.reconciled.matrix)

    @property
    def labelled(self) -> bool:
        """Whether actions have labels."""
        return self.schema.action.kind == "discrete"

    def columns(self, log: Log, values: F64, weighing: Weighing) -> list[Columns]:
        """Return action, value and derivative of the samples that count; with costs the action by itself as well."""
        points = self.points
        found = [action_columns(log, points), value_column(values), derivative_columns(log)]
        found += [] if points is None else [action_columns(log)]
        return [weighing.columns(part) for part in found]


@dataclass(eq=False)
class Measured:
    """Ranges of columns, or sums in their units: of a part, and of more when merged.

    ``few`` has the columns that have few values, by attribute and number, and how often each value is there;
    ``weighted`` the sums by weight, where there are weights.
    """

    lowest: list[F64] = field(default_factory=list)
    highest: list[F64] = field(default_factory=list)
    sums: list[F64] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    few: dict[tuple[int, int], dict[float, int]] = field(default_factory=dict)
    weighted: list[WeightedSums] = field(default_factory=list)

    @classmethod
    def ranges(cls, columns: Sequence[Columns]) -> Self:
        """Return the ranges of some columns."""
        made = cls()
        for group in columns:
            lowest, highest = np.full(group.n_columns, np.inf), np.full(group.n_columns, -np.inf)
            for _, source in group.sources():
                _kernel.widen_ranges(source, lowest, highest)
            made.lowest.append(lowest)
            made.highest.append(highest)
        return made

    @classmethod
    def added(
        cls, columns: Sequence[Columns], units: Sequence[tuple[F64, F64]], total: int, weights: F64 | None, labels: bool
    ) -> Self:
        """Return the sums of some columns, each with its centre and the units in 1.

        ``total`` is what the rows of the whole log count: their number, or their weight if there are ``weights``. The
        action's columns may be ``labels``; how these are rounded is known without counting their values.
        """
        made = cls()
        for group, (centre, per_unit) in zip(columns, units, strict=True):
            if weights is not None:
                made.weighted.append(add_weighted(group, weights, centre, per_unit, total))
                made.counts.append(made.weighted[-1].count)
                continue
            grids = grids_of(total)
            sums, number = np.zeros((group.n_columns, 4)), 0
            for _, source in group.sources():
                number += _kernel.add_sums(source, centre, per_unit, grids, sums)
            made.sums.append(sums)
            made.counts.append(number)
        for place, group in enumerate(columns[:3]):
            if place == 0 and labels:
                continue
            if not group.n_rows:
                made.few |= {(place, k): {} for k in range(group.n_columns)}
                continue
            head = group.read(0, min(group.n_rows, 4 * FEW))
            for k, numbers in enumerate(head):
                if len(_kernel.tally(np.ascontiguousarray(numbers), FEW)[0]) or np.isnan(numbers).all():
                    values, often = _kernel.tally(np.ascontiguousarray(group.column(k)), FEW)
                    if len(values) or not made.counts[place]:
                        made.few[place, k] = dict(zip(values.tolist(), often.tolist(), strict=True))
        return made

    def merge(self, other: Measured) -> None:
        """Add what was measured elsewhere; exact, so that no order matters."""
        for weighted, more in zip(self.weighted, other.weighted, strict=True):
            weighted.merge(more)
        for mine, theirs in zip(self.lowest, other.lowest, strict=True):
            np.minimum(mine, theirs, out=mine)
        for mine, theirs in zip(self.highest, other.highest, strict=True):
            np.maximum(mine, theirs, out=mine)
        for mine, theirs in zip(self.sums, other.sums, strict=True):
            mine += theirs
        self.counts = [mine + theirs for mine, theirs in zip(self.counts, other.counts, strict=True)]
        joined = {}
        for name in self.few.keys() & other.few.keys():
            one, two = self.few[name], other.few[name]
            joined[name] = {value: one.get(value, 0) + two.get(value, 0) for value in one | two}
        self.few = {name: of for name, of in joined.items() if len(of) <= FEW}

    def closed(self, group: int) -> tuple[F64, F64]:
        """Return the range of a group, 0 where no row has the attribute."""
        low, high = self.lowest[group], self.highest[group]
        return (low, high) if (low <= high).all() else (np.zeros_like(low), np.zeros_like(low))


@dataclass(frozen=True, eq=False)
class Rounding:
    """How numbers become the integers of growth, the same for every part; ``weights``: the least and the most."""

    model: Model
    spreads: tuple[Spread, ...]
    factors: tuple[F64, F64, F64]
    used: tuple[I64, I64, I64]
    scale: float
    fine: bool
    scales: Scales
    notes: tuple[str, ...]
    weights: tuple[int, int] | None = None

    @property
    def weighted(self) -> bool:
        """Whether targets are multiplied by weights."""
        return self.weights is not None

    @property
    def bits(self) -> int:
        """Of a target, without the sign, before weights and what a fine grid adds."""
        return BITS if self.weights is None else bits_beside(self.weights[1])

    @property
    def lanes(self) -> Lanes:
        """What histograms hold."""
        return Lanes(len(self.used[0]) + len(self.used[1]), len(self.used[2]), self.fine, self.weighted)

    @property
    def grid(self) -> float:
        """Grid units per unit of a target."""
        return self.scale * LIMB if self._halves == 2 else self.scale

    @property
    def _halves(self) -> int:
        """Integers that a target is rounded to. What weights make of it is divided afterwards."""
        return 2 if self.fine and not self.weighted else 1

    def _numbers(self, group: int) -> tuple[I64, F64, F64, F64, F64]:
        """Return what the kernel rounds an attribute by: columns that count, their centre, units, mean and scale."""
        kept, spread, factor = self.used[group], self.spreads[group], self.factors[group]
        return kept, spread.centre[kept], spread.per_unit[kept], spread.unit_mean[kept], factor[kept] * self.scale

    def _rounded(self, group: int, numbers: F64) -> I32:
        """Return the targets that numbers of an attribute become, on a fine grid followed by what rounding leaves."""
        rows = np.zeros((len(numbers), len(self.used[group]) * self._halves), np.int32)
        if rows.size:
            _kernel.quantise(_kernel.Source(numbers.T), *self._numbers(group), rows, 0, self._halves == 2)
        return rows

    def of_values(self, values: F64) -> I32:
        """Return the targets of some values."""
        return self._rounded(1, values[:, None])

    def counter(self, edges: Edges, wanted: Wanted, histograms: I64, lie: I64 | None = None) -> _kernel.Counter:
        """Return what adds rows to the histograms of the nodes that they fall into.

        Where targets lie on the grid is added to ``lie``, shape (targets, BUCKETS).
        """
        labels, action = np.zeros((0, 0), np.int32), self._numbers(0)
        if self.model.labelled:
            points, none = self.model.points, np.empty(0)
            labels = self._rounded(0, np.eye(len(self.model.schema.action.labels)) if points is None else points)
            action = (np.empty(0, np.int64), none, none, none, none)
        return _kernel.Counter(
            edges.numbers,
            edges.first,
            action,
            labels,
            self._numbers(2),
            wanted.feature,
            wanted.cut,
            wanted.left,
            wanted.slot,
            self.lanes.n_plain,
            self.lanes.n_derivative,
            self.fine,
            self.weighted,
            self.bits + 1 - BUCKET_BITS,
            histograms,
            np.zeros((0, 0), np.int64) if lie is None else lie,
        )

    def narrow(self, spans: I64) -> list[tuple[int, int]]:
        """Return which columns, as attribute and number, may be too coarse on this grid."""
        names = [(group, int(k)) for group in range(3) for k in self.used[group]]
        found = []
        for name, of in zip(names, spans, strict=True):
            known = int(of.sum())
            outer = min(-(-known // 16), (known - 1) // 2) if known else 0
            low = int(np.searchsorted(np.cumsum(of), outer, side="right"))
            high = BUCKETS - 1 - int(np.searchsorted(np.cumsum(of[::-1]), outer, side="right"))
            if min(high, BUCKETS - 1) - min(low, BUCKETS - 1) < 2:
                found.append(name)
        return found

    def steps(self, name: tuple[int, int], middle: float) -> float:
        """Return how many steps of the grid the middle of a column spans."""
        group, k = name
        if group == 0 and self.model.labelled:
            points = self.model.points
            apart = 1.0 if points is None else float(np.ptp(points, axis=0)[k])
            return float(self.spreads[0].per_unit[k] * self.factors[0][k] * self.scale * apart)
        return middle * float(self.factors[group][k] * self.scale)

    def told(self, steps: dict[tuple[int, int], float]) -> Rounding:
        """Return the same on a finer grid, if some column needs it, and say where even that is too coarse."""
        if not any(number < ENOUGH for number in steps.values()):
            return self
        names = _column_names(self.model.schema, self.model.points)
        finer = 1 if self.fine else LIMB
        coarse = [names[g][k] for (g, k), number in steps.items() if number * finer < ENOUGH]
        return replace(self, fine=True, notes=(*self.notes, *_outlier_notes(coarse)))


def units_for(measured: Measured, states: tuple[F64, F64]) -> list[tuple[F64, F64]]:
    """Return centre and units of the columns, by their ranges."""
    return [(units.centre, units.per_unit) for units in _units(measured, states)]


def _units(measured: Measured, states: tuple[F64, F64]) -> list[Units]:
    size = np.maximum(*map(np.abs, states))
    return [units_of(*measured.closed(group), size if group == 2 else None) for group in range(len(measured.lowest))]


def rounding(
    model: Model,
    ranges: Measured,
    sums: Measured,
    states: tuple[F64, F64],
    weights: tuple[int, int] | None = None,
) -> Rounding:
    """Return how targets are rounded, by what was measured of the whole log; ``weights`` are the least and most."""
    units = _units(ranges, states)
    if weights is None:
        spreads = [finished(*of) for of in zip(units, sums.counts, sums.sums, strict=True)]
    else:
        spreads = [added.spread(of) for of, added in zip(units, sums.weighted, strict=True)]
    spreads[2] = _news(spreads[2], model.schema)
    theta = model.theta
    reconciled, points = model.reconciled, model.points
    factors = (
        _action_factors(spreads[0], model.schema.action.kind, points) * math.sqrt(theta[0]),
        _factors(spreads[1].unit_std, spreads[1].unit_std) * math.sqrt(theta[1]),
        _derivative_factors(spreads[2], model.derivative_scale) * math.sqrt(theta[2]),
    )
    used = [np.flatnonzero(factor) for factor in factors]
    reach = max(float((f * s.unit_reach).max()) for f, s in zip(factors, spreads[:3], strict=True))
    if weights is None:
        scale = _common_scale(reach, sum(theta[g] * spreads[g].count for g in range(3) if len(used[g])))
    else:
        scale = weighted_scale(reach, weights[1])
    notes = _notes(theta, used, spreads[2].count, model.schema)
    if reconciled is not None and theta[0]:
        notes += _cost_notes(reconciled)
    return Rounding(
        model,
        tuple(spreads[:3]),
        factors,
        (used[0], used[1], used[2]),
        scale,
        weights is not None,
        Scales(spreads[0] if points is None else spreads[3], spreads[1], spreads[2]),
        tuple(notes),
        weights,
    )


def middle_ranks(known: int) -> list[tuple[int, int]]:
    """Return the places in the sorted column that its middle may lie between, the first choice first."""
    last = known - 1
    outer = min(-(-known // 16), last // 2)
    found = []
    while True:
        found.append((outer, last - outer))
        if not outer:
            return found
        outer //= 2


def at_ranks(few: dict[float, int], ranks: Sequence[int]) -> list[float]:
    """Return the numbers at some places of the sorted column, of which the values and their counts are known.

    >>> at_ranks({1.0: 2, -1.0: 3}, [0, 2, 3, 4])
    [-1.0, -1.0, 1.0, 1.0]
    """
    values = sorted(few)
    until = np.cumsum([few[value] for value in values])
    return [values[int(np.searchsorted(until, rank, side="right"))] for rank in ranks]


def middle_span(pairs: Sequence[tuple[float, float]], unit: float) -> float:
    """Return the first of some spans whose ends are not all alike, in units; see `tree.resolution`."""
    for low, high in pairs:
        span = high * unit - low * unit
        if span > ALIKE * unit * max(abs(low), abs(high)):
            return span
    return span
