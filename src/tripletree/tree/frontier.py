"""Grows the tree of histogram mode on a log in parts, pass after pass over all of them: the same tree as in memory.

A pass counts histograms of the nodes that growth will most likely split next, within a budget of memory. Growth itself
is then replayed: nodes are committed strictly in its order (priorities in single precision, of equals the older node),
as far as what is known allows. So which nodes were counted ahead of time changes the number of passes, not the tree.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from tripletree import _kernel
from tripletree.tree.edges import Edges
from tripletree.tree.grow import NO_DEPTH_LIMIT, Progress
from tripletree.tree.structure import Tree

I32 = npt.NDArray[np.int32]
I64 = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Lanes:
    """What a histogram adds up of each row: targets, whether there is a derivative, 1, and squares."""

    n_plain: int
    n_derivative: int
    fine: bool

    @property
    def columns(self) -> int:
        """Integers of a row's targets: with a fine grid, two of each."""
        return (self.n_plain + self.n_derivative) * (2 if self.fine else 1)

    @property
    def width(self) -> int:
        """Integers of a record of sums."""
        return -(-(self.columns + 2 + (6 if self.fine else 2)) // 8) * 8


@dataclass(frozen=True, eq=False)
class Wanted:
    """The part of a tree that rows are sent down in a pass; bins up to ``cut`` go left.

    ``slot`` is the number of the histogram that a node has, -1 for none.
    """

    feature: I32
    cut: I32
    left: I32
    slot: I32

    @property
    def slots(self) -> int:
        """Number of histograms."""
        return int(self.slot.max()) + 1


Count = Callable[[Wanted], I64]
"""Returns the histograms of the nodes that are wanted, over all parts: shape (slots, all bins, lanes)."""


def first_bins(edges: Edges) -> I64:
    """Return where the bins of each feature begin in a histogram, closed by their number."""
    return np.append(0, np.cumsum(edges.bins)).astype(np.int64)


def nothing_but_the_root() -> Wanted:
    """Return what the first pass counts."""
    none = np.full(1, -1, np.int32)
    return Wanted(none, none, none, np.zeros(1, np.int32))


@dataclass(eq=False)
class _Node:
    depth: int
    sums: I64
    priority: float
    parent: _Node | None = None
    histogram: I64 | None = None
    searched: bool = False
    feature: int = -1
    below: int = 0
    above: int = 0
    gain: float = 0.0
    children: list[_Node] = field(default_factory=list)
    committed: bool = False
    score: float = 0.0  # how soon growth may want it, at best

    @property
    def sibling(self) -> _Node | None:
        if self.parent is None:
            return None
        return self.parent.children[self.parent.children[0] is self]


@dataclass(frozen=True)
class Limits:
    """When growth ends; all of them as in `tree.grow.grow`."""

    max_leaves: int
    max_depth: int | None
    min_samples_leaf: int
    min_gain: float
    by_gain: bool


class Growth:
    """One growth, from the histogram of the root on.

    Parameters
    ----------
    lanes, edges
        What the histograms hold.
    root : int64 array of shape (all bins, lanes)
        The histogram of the whole log.
    limits : Limits
        When growth ends.
    room : int
        Histograms that may be in memory at a time, at least 4.
    """

    def __init__(self, lanes: Lanes, edges: Edges, root: I64, limits: Limits, room: int) -> None:
        self._lanes, self._edges, self._room = lanes, edges, max(room, 4)
        self._first_bin = first_bins(edges)
        self._given = (lanes.n_plain, lanes.n_derivative, lanes.fine)
        sums = root[: self._first_bin[1]].sum(axis=0)
        self.rows = int(sums[lanes.columns + 1])
        self._missing = bool(lanes.n_derivative and sums[lanes.columns] < self.rows)
        self._limits = limits
        self._root = self._node(0, sums, None)
        self._root.histogram, self._root.committed = root, True
        self._nodes = [self._root]
        self._queue: list[tuple[np.float32, int]] = []
        self._waiting: list[_Node] = []
        self._left: list[int] = []
        self._known = [self._root]
        self.passes = 0
        if not self._root.searched:
            self._search(self._root, root)
        self._add(0)

    def grow(self, count: Count, progress: Progress | None = None) -> tuple[Tree, I64]:
        """Grow to the end; returns the tree, whose qualities are gains by sample, and the samples of each node."""
        most = min(self._limits.max_leaves, self.rows)
        while self._commit(most, progress):
            nodes = self._choose(most)
            if not nodes:
                continue
            wanted, slots = self._route(nodes)
            self._receive(slots, count(wanted))
            self.passes += 1
        return self._tree()

    def _node(self, depth: int, sums: I64, parent: _Node | None) -> _Node:
        node = _Node(depth, sums, _kernel.priority_of(sums, *self._given, self._missing), parent)
        least = min(self._limits.min_samples_leaf, self.rows)
        deepest = NO_DEPTH_LIMIT if self._limits.max_depth is None else self._limits.max_depth
        # As in memory: nothing to search for.
        node.searched = node.priority <= 0 or int(sums[self._lanes.columns + 1]) < 2 * least or depth >= deepest
        node.score = node.priority if parent is None else min(node.priority, parent.score)
        return node

    def _search(self, node: _Node, histogram: I64) -> None:
        """Find the split of a node by its histogram, and make its children."""
        least = min(self._limits.min_samples_leaf, self.rows)
        node.searched = True
        node.feature, node.below, node.above, node.gain, left = _kernel.split_histogram(
            histogram, self._first_bin, *self._given, self._missing, least, self._limits.min_gain
        )
        if node.feature < 0:
            return
        if self._limits.by_gain:
            node.score = min(node.gain, node.score)
        node.children = [self._node(node.depth + 1, sums, node) for sums in (left, node.sums - left)]
        self._known += node.children

    def _add(self, number: int) -> None:
        """Queue a leaf of the tree, or note that it has to be searched before its place in the queue is known."""
        node = self._nodes[number]
        if self._limits.by_gain and not node.searched:
            self._waiting.append(node)
        elif not (node.searched and node.feature < 0) and node.priority > 0:
            key = np.float32(node.gain if self._limits.by_gain else node.priority)
            heapq.heappush(self._queue, (-key, number))

    def _commit(self, most: int, progress: Progress | None) -> bool:
        """Split leaves in the order of growth; returns whether another pass is needed to go on."""
        while (len(self._nodes) + 1) // 2 < most:
            for node in [node for node in self._waiting if node.searched]:
                self._waiting.remove(node)
                self._add(self._nodes.index(node))
            if not self._queue:
                return bool(self._waiting)
            # No split gains more than the node's impurity; with room for rounding errors.
            bound = max((node.priority for node in self._waiting), default=0.0) * (1 + 1e-6)
            key, number = self._queue[0]
            node = self._nodes[number]
            if not node.searched or -float(key) <= float(np.float32(bound)):
                return True
            heapq.heappop(self._queue)
            if node.feature < 0:
                continue
            self._left += [number]
            for child in node.children:
                child.committed = True
                self._nodes.append(child)
                self._add(len(self._nodes) - 1)
            if progress is not None:
                progress((len(self._nodes) + 1) // 2, self._limits.max_leaves)
        return False

    def _choose(self, most: int) -> list[_Node]:
        """Return the nodes to count: of those not yet searched the ones that growth may want first."""
        self._known = [node for node in self._known if not node.searched or node.children]
        open_nodes = sorted((node for node in self._known if not node.searched), key=lambda node: -node.score)
        remaining = most - (len(self._nodes) + 1) // 2
        slots: list[_Node] = []
        covered: set[int] = set()
        limit = max(self._room // 4, 1)
        for node in open_nodes[: 2 * remaining + 2]:
            if len(slots) >= limit:
                break
            if id(node) in covered:
                continue
            other, parent = node.sibling, node.parent
            covered.add(id(node))
            if other is not None and parent is not None and parent.histogram is not None and not other.searched:
                # The larger child follows by subtraction.
                covered.add(id(other))
                size = self._lanes.columns + 1
                slots.append(node if node.sums[size] <= other.sums[size] else other)
            else:
                slots.append(node)
        return slots

    def _route(self, nodes: list[_Node]) -> tuple[Wanted, list[_Node]]:
        """Return the part of the tree above some nodes."""
        slot = {id(node): k for k, node in enumerate(nodes)}
        above: set[int] = set()
        for node in nodes:
            step = node.parent
            while step is not None and id(step) not in above:
                above.add(id(step))
                step = step.parent
        order, table = [self._root], []
        for node in order:
            if id(node) in above:
                table.append((node.feature, node.below, len(order), -1))
                order += node.children
            else:
                table.append((-1, -1, -1, slot.get(id(node), -1)))
        columns = np.array(table, np.int32).T
        return Wanted(*(np.ascontiguousarray(column) for column in columns)), nodes

    def _receive(self, slots: list[_Node], histograms: I64) -> None:
        fresh = []
        for node, histogram in zip(slots, histograms, strict=True):
            other, parent = node.sibling, node.parent
            # A copy of its own: so that the memory of others can be given back.
            node.histogram = histogram.copy()
            fresh.append(node)
            if other is not None and not other.searched and parent is not None and parent.histogram is not None:
                if other not in slots:
                    other.histogram = parent.histogram - histogram
                    fresh.append(other)
                parent.histogram = None
        for node in fresh:
            if node.histogram is not None:
                self._search(node, node.histogram)
            if not node.children:
                node.histogram = None
        held = [node for node in self._known if node.histogram is not None]
        for node in sorted(held, key=lambda node: -node.score):
            if not any(not child.searched for child in node.children):
                node.histogram = None
        held = sorted((node for node in held if node.histogram is not None), key=lambda node: -node.score)
        for node in held[self._room // 2 :]:
            node.histogram = None

    def _tree(self) -> tuple[Tree, I64]:
        size, lane = len(self._nodes), self._lanes.columns + 1
        feature, left = np.full(size, -1, np.int32), np.full(size, -1, np.int32)
        threshold, gain = np.zeros(size), np.zeros(size)
        for k, number in enumerate(self._left):
            node = self._nodes[number]
            feature[number], left[number], gain[number] = node.feature, 2 * k + 1, node.gain
            # Of the edges between the two sides, where bins between them are empty, the one in the middle.
            place = int(self._edges.first[node.feature]) + node.below + (node.above - node.below - 1) // 2
            threshold[number] = self._edges.numbers[place]
        samples = np.array([int(node.sums[lane]) for node in self._nodes], np.int64)
        return Tree(feature, threshold, left, gain / samples), samples
