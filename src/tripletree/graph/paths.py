"""Paths: the most probable sequences of leaves between leaves or sets of leaves."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from tripletree.graph.transitions import Transitions

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
TOGETHER = 64
"""Starts whose paths are looked for together: with all of them, memory would go with the square of the leaves."""
SPARE = 100
"""Paths that are kept beyond those wanted, since rounding may have put equal ones in another order."""


@dataclass(frozen=True, eq=False)
class Path:
    """A sequence of leaves without repetition, perhaps up to the end.

    Attributes
    ----------
    leaves : int64 array of shape (leaves,)
        The leaves, the first and the last included; a last number equal to the number of leaves is the end.
    probability : float
        Product of the probabilities of its transitions (1 for a path of one leaf).
    duration : float
        Sum of the mean lengths of the sequences that make these transitions, in steps; the stay in the last leaf, of
        which the path says nothing, does not count.
    counts : int64 array of shape (leaves - 1,)
        Sequences of the log that made each transition.
    """

    leaves: I64
    probability: float
    duration: float
    counts: I64


class Graph:
    """The transitions as lists of neighbours, with -log P as lengths; the end is a place like the leaves."""

    def __init__(self, transitions: Transitions) -> None:
        self.transitions = transitions
        self.n_places = transitions.n_leaves + 1
        self._source, self._target = transitions.source, transitions.target
        self._cost = np.maximum(-np.log(transitions.probability), 0.0)
        pairs = zip(self._source.tolist(), self._target.tolist(), strict=True)
        self._edge = {pair: edge for edge, pair in enumerate(pairs)}
        self._next: list[list[tuple[int, float]]] = [[] for _ in range(self.n_places)]
        for s, t, cost in zip(self._source.tolist(), self._target.tolist(), self._cost.tolist(), strict=True):
            self._next[s].append((t, cost))

    def path(self, leaves: Iterable[int]) -> Path:
        """Return the path through these leaves, each a neighbour of the one before."""
        sequence = list(leaves)
        edges = np.array([self._edge[pair] for pair in pairwise(sequence)], np.int64)
        moves = self.transitions
        return Path(
            np.array(sequence, np.int64),
            float(np.prod(moves.probability[edges])),
            float(moves.duration[edges].sum()),
            moves.count[edges],
        )

    def length(self, source: int, target: int) -> float:
        """Return -log P of a transition."""
        return float(self._cost[self._edge[source, target]])

    def reachable(self, starts: Iterable[int]) -> I64:
        """Return the places that can be reached from any of some leaves, themselves included, in order."""
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import breadth_first_order

        shape = (self.n_places, self.n_places)
        links = csr_array((np.ones(len(self._source)), (self._source, self._target)), shape=shape)
        seen = np.zeros(self.n_places, bool)
        for leaf in starts:
            if not seen[leaf]:
                seen[breadth_first_order(links, int(leaf), return_predecessors=False)] = True
        return np.flatnonzero(seen)

    def trees(self, starts: I64, limit: float = np.inf) -> tuple[F64, I64]:
        """Return -log P of the best path from each start to every leaf, and the leaf before it (negative: none).

        Paths whose -log P is more than ``limit`` are not looked for: infinite.
        """
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import dijkstra

        # A stored length of 0 (a certain transition) counts as no transition: the least positive length stands for it.
        lengths = np.maximum(self._cost, np.finfo(np.float64).tiny)
        graph = csr_array((lengths, (self._source, self._target)), shape=(self.n_places, self.n_places))
        cost, before = dijkstra(graph, indices=starts, return_predecessors=True, limit=limit)
        return cost, before.astype(np.int64)

    def best(
        self, start: int, ends: set[int], closed: frozenset[int] = frozenset(), cut: frozenset[int] = frozenset()
    ) -> tuple[float, list[int]] | None:
        """Return -log P and leaves of the best path that avoids the leaves ``closed`` and, at first, those ``cut``."""
        before = {start: start}
        done: set[int] = set()
        queue = [(0.0, 0, start)]
        number = 0
        least = {start: 0.0}
        while queue:
            cost, _, leaf = heapq.heappop(queue)
            if leaf in done:
                continue
            done.add(leaf)
            if leaf in ends:
                found = [leaf]
                while found[-1] != start:
                    found.append(before[found[-1]])
                return cost, found[::-1]
            for other, length in self._next[leaf]:
                if other in done or other in closed or (leaf == start and other in cut):
                    continue
                total = cost + length
                if total < least.get(other, np.inf):
                    least[other], before[other] = total, leaf
                    number += 1
                    heapq.heappush(queue, (total, number, other))
        return None


def most_probable(transitions: Transitions, start: int, end: int) -> Path | None:
    """Return the most probable path between two leaves, None when there is none (paper: Dijkstra's algorithm)."""
    graph = Graph(transitions)
    found = graph.best(start, {end})
    return None if found is None else graph.path(found[1])


def best_paths(graph: Graph, starts: Iterable[int], ends: Iterable[int], k: int = 1) -> list[Path]:
    """Return the ``k`` most probable paths without repeated leaves from some leaves to others, the best first.

    A path begins at a start leaf and ends at the first end leaf that it meets. There are fewer than ``k`` when no more
    exist, and none when nothing connects the two (Yen's algorithm).
    """
    targets = {int(leaf) for leaf in ends}
    # A path waits with the place at which it leaves those taken before: until there, others have been looked for.
    waiting: list[tuple[float, list[int], int]] = []
    for start in sorted({int(leaf) for leaf in starts}):
        if (found := graph.best(start, targets)) is not None:
            heapq.heappush(waiting, (*found, 0))
    taken: list[list[int]] = []
    followed: dict[tuple[int, ...], set[int]] = {}
    while waiting and len(taken) < k:
        _, leaves, branch = heapq.heappop(waiting)
        taken.append(leaves)
        if len(taken) == k:
            break
        cost = 0.0
        for at, spur in enumerate(leaves[:-1]):
            if at >= branch:
                cut = followed.setdefault(tuple(leaves[: at + 1]), set())
                cut.add(leaves[at + 1])
                found = graph.best(spur, targets, frozenset(leaves[:at]), frozenset(cut))
                if found is not None:
                    heapq.heappush(waiting, (cost + found[0], leaves[:at] + found[1], at))
            cost += graph.length(spur, leaves[at + 1])
    # Once more by the product itself: sums of logarithms may order equal paths the other way.
    return sorted(map(graph.path, taken), key=lambda path: -path.probability)


def all_pairs(graph: Graph, starts: Iterable[int], ends: Iterable[int], most: int | None = None) -> list[Path]:
    """Return the most probable path of every pair of a start and another end leaf that is connected, the best first.

    Of more than ``most`` pairs, those with the best paths: only these are made, and only what may still be among them
    is looked for.
    """
    first, last = (np.unique(np.fromiter(map(int, leaves), np.int64)) for leaves in (starts, ends))
    limit = np.inf
    waiting: list[tuple[float, list[int]]] = []
    for begin in range(0, len(first) if len(last) else 0, TOGETHER):
        block = first[begin : begin + TOGETHER]
        cost, before = graph.trees(block, limit)
        reach = cost[:, last]
        reach[block[:, None] == last] = np.inf
        rows, columns = np.nonzero(np.isfinite(reach))
        if most is not None and len(rows) > most:
            # In their order, so that of equal ones the first are kept.
            kept = np.sort(np.argsort(reach[rows, columns], kind="stable")[: most + SPARE])
            rows, columns = rows[kept], columns[kept]
        for row, column in zip(rows.tolist(), columns.tolist(), strict=True):
            leaves = [int(last[column])]
            while leaves[-1] != block[row]:
                leaves.append(int(before[row, leaves[-1]]))
            waiting.append((float(reach[row, column]), leaves[::-1]))
        if most is not None and len(waiting) > most:
            # Sorting is stable, here and below: pairs stay in the order of their leaves.
            waiting = sorted(waiting, key=lambda one: one[0])[: most + SPARE]
            limit = waiting[most - 1][0] * (1 + 1e-12)
    # What is equal up to rounding is put in order by the product itself.
    waiting.sort(key=lambda one: (one[1][0], one[1][-1]))
    found = sorted(map(graph.path, (leaves for _, leaves in waiting)), key=lambda path: -path.probability)
    return found[:most]
