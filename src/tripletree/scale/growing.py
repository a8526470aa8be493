"""Growth on a log on disk: targets are measured and rounded, rows binned, and nodes counted pass after pass."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.errors import ParameterError
from tripletree.log.derive import NOISE
from tripletree.log.ranks import Ranks
from tripletree.model.bootstrap import settles
from tripletree.model.fit import grow_settled
from tripletree.scale import passes
from tripletree.scale.pieces import Settled, Work
from tripletree.scale.session import Session, merged
from tripletree.tree.edges import SAMPLE, Edges, choose_edges, few_values
from tripletree.tree.frontier import Growth, Limits, Wanted
from tripletree.tree.grow import encode
from tripletree.tree.parts import Measured, Model, Rounding, at_ranks, middle_ranks, middle_span, rounding, units_for
from tripletree.tree.rotation import WORTHWHILE
from tripletree.tree.structure import Tree
from tripletree.tree.weights import weigh

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]


class Growing:
    """One growth: what is measured, and chosen once for all trees of a fit.

    ``value_size`` is the largest size of a value, of those that were measured last.
    """

    def __init__(self, session: Session, model: Model, parameters: Mapping[str, Any], slots: int) -> None:
        self.session, self.model, self.parameters, self.slots = session, model, parameters, slots
        self.seen, self.n = session.seen, session.n_counted
        self.edges: Edges | None = None
        self.value_size = 0.0
        self._start_size = 0.0
        self._ranges = Measured()
        self._states = session.seen.states
        self._few: dict[tuple[int, int], dict[float, int]] = {}

    def _flattened(self, work: Work) -> Work:
        """Measure ranges, and make values that differ by rounding errors only the same, as `log.derive.values` does."""
        work = replace(work, flat=None)
        self._ranges = merged(self.session.each("measuring ranges", passes.measure_ranges, (work, self.model)))
        lowest, highest = self._ranges.lowest[1], self._ranges.highest[1]
        low, high = float(lowest[0]), float(highest[0])
        if work.grid is not None:
            whole = merged(self.session.each("measuring ranges", passes.measure_whole, work))
            self._states = whole.closed(0)
            low, high = (float(of[0]) for of in whole.closed(1))
        if high - low <= NOISE * max(abs(low), abs(high), self.seen.rewards):
            low = high = lowest[0] = highest[0] = low / 2 + high / 2
            work = replace(work, flat=low)
        self.value_size = max(abs(low), abs(high))
        return work

    def _measured(self, work: Work) -> Rounding:
        """Measure how action, value and derivative spread; the first time, choose edges as well."""
        ranges = self._ranges
        units = units_for(ranges, self._states)
        bins = int(self.parameters["bins"])
        known: list[F64 | None] = [None] * self.session.disk.n_features
        if self.edges is None and self.n > SAMPLE:
            known = [values for _, sample in self.session.noted("sample") for values in few_values(sample, bins)]
        how = passes.Units(self.model, units, self._total(work), known, bins)
        sums: Measured | None = None
        more = [np.empty(0)] * self.session.disk.n_features
        for part, found in self.session.each("measuring spreads", passes.measure_sums, (work, how)):
            more = [np.union1d(a, b) for a, b in zip(more, found, strict=True)]
            if sums is None:
                sums = part
            else:
                sums.merge(part)
        if self.edges is None:
            kind = str(self.parameters["thresholds"])
            parts = [choose_edges(sample, more[some], bins, kind) for some, sample in self.session.noted("sample")]
            self.edges = Edges.joined(parts)
        sums = sums or Measured()
        self._few = sums.few
        return rounding(self.model, ranges, sums, self._states, work.weights)

    def _total(self, work: Work) -> int:
        """Return what all steps that count do so together."""
        return self.n if work.weights is None else work.total_weight

    def _grow(self, work: Work) -> tuple[Tree, Rounding]:
        """Grow a tree on the values of this work."""
        how = self._measured(work)
        edges = self.edges
        if edges is None:
            raise ValueError("edges are chosen when targets are measured")
        if not sum(map(len, how.used)):
            none = np.full(1, -1, np.int32)
            return Tree(none, np.zeros(1), none, np.zeros(1)), how
        while True:
            root: I64 | None = None
            lie: I64 | None = None
            for histogram, part in self.session.each("binning", passes.count_root, (work, how, edges)):
                root = histogram if root is None else root + histogram
                lie = part if lie is None else lie + part
            if lie is None or (how.fine and not how.weighted):
                break
            before, how = how, how.told(self._steps(work, how, how.narrow(lie)))
            if how.fine == before.fine:
                break
        if root is None:
            raise ValueError("no pieces")
        given = self.parameters
        limits = Limits(
            min(int(given["max_leaves"]), self.n),
            given["max_depth"],
            int(given["min_samples_leaf"]),
            float(given["min_quality"]) * how.grid * how.grid,
            given["priority"] == "gain",
        )

        def counted(wanted: Wanted) -> I64:
            what = f"growing ({leaves[0]} of at most {given['max_leaves']} leaves)"
            found: I64 | None = None
            for part in self.session.each(
                what, passes.count_nodes, (work, how, edges, wanted), self.session.workers.number
            ):
                found = part if found is None else np.add(found, part, out=found)
            if found is None:
                raise ValueError("no pieces")
            return found

        leaves = [1]

        def progress(number: int, most: int) -> None:
            leaves[0] = number
            if given["progress"] is not None:
                given["progress"](number, most)

        least = 1 if how.weights is None else how.weights[0]
        growth = Growth(how.lanes, edges, root[0], limits, self.slots, self.session.workers.number, least)
        tree, _ = growth.grow(counted, progress)
        quality = tree.quality / how.grid / how.grid
        return Tree(tree.feature, tree.threshold, tree.left, quality), how

    def _steps(self, work: Work, how: Rounding, narrow: list[tuple[int, int]]) -> dict[tuple[int, int], float]:
        """Return how many steps of the grid the middle of some columns spans."""
        steps = {name: how.steps(name, 0.0) for name in narrow if name[0] == 0 and self.model.labelled}
        wanted = {name: middle_ranks(how.spreads[name[0]].count) for name in narrow if name not in steps}
        places = {name: [rank for pair in pairs for rank in pair] for name, pairs in wanted.items()}
        found = {name: at_ranks(self._few[name], places[name]) for name in wanted if name in self._few}
        found |= self._select(work, {name: ranks for name, ranks in places.items() if name not in found})
        for name, numbers in found.items():
            pairs = list(zip(numbers[::2], numbers[1::2], strict=True))
            steps[name] = how.steps(name, middle_span(pairs, float(how.spreads[name[0]].per_unit[name[1]])))
        return {name: steps[name] for name in narrow}

    def _select(self, work: Work, wanted: dict[tuple[int, int], list[int]]) -> dict[tuple[int, int], list[float]]:
        """Return the numbers at some places of sorted columns, exactly."""
        ranks = {name: Ranks.of(places) for name, places in wanted.items()}
        while not all(one.found for one in ranks.values()):
            counts: dict[tuple[int, int], I64] = {}
            for part in self.session.each("looking at outliers", passes.count_places, (work, (self.model, ranks))):
                counts = {name: counts.get(name, 0) + more for name, more in part.items()}
            ranks = {name: one.narrowed(counts[name]) for name, one in ranks.items()}
        return {name: one.numbers for name, one in ranks.items()}

    def grow_settled(self, work: Work) -> tuple[Tree, Work, Rounding]:
        """As `model.fit.grow_settled`: with truncated episodes, once more on the values that the tree settles."""
        start = self._flattened(self.session.weighed(work))
        self._start_size = self.value_size
        # In memory such targets are rotated, unless they have weights.
        if start.weights is None and WORTHWHILE * self.n < self.session.disk.n_features:
            raise ParameterError(
                "There are many more features than samples that count: read the log into memory, with read_log."
            )
        tree, how = self._grow(start)
        if settles(self.parameters) and self.session.truncated():
            tree, how = self._grow(self._settled(start, tree))
            return tree, self._settled(start, tree), how
        return tree, start, how

    def _settled(self, start: Work, tree: Tree) -> Work:
        """Return the work with the values that a tree settles."""
        unit = max(self._start_size, float(np.finfo(np.float64).tiny))
        how = passes.Tails(tree, unit, self._total(start))
        found = merged(
            part for part in self.session.each("settling values", passes.settle, (start, how)) if part is not None
        )
        settled = Settled(tree, found.settled(tree.n_leaves) * unit)
        return self._flattened(replace(start, settled=settled, flat=None).carried(self.session.spans))

    def grow_on_sample(self, work: Work) -> tuple[Tree, Work, Rounding]:
        """Grow on some episodes in memory; how its targets spread is measured on the whole log."""
        most = int(self.session.disk.how.sample or 0)
        log, _ = self.session.gathered(work, most)
        threads = self.session.workers.number
        given = self.parameters
        weighing = weigh(log.weights)
        codes = encode(log, given["mode"], given["bins"], threads, weighing, given["thresholds"])
        grown = grow_settled(log, codes, given, threads, weighing)
        start = self._flattened(self.session.weighed(work))
        self._start_size = self.value_size
        if settles(given) and self.session.truncated():
            start = self._settled(start, grown.tree)
        return grown.tree, start, self._measured(start)
