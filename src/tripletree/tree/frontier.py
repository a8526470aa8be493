"""Grows the tree of histogram mode on a log in parts, pass after pass over all of them: the same tree as in memory.

A pass counts histograms of the nodes that growth will most likely split next, within a budget of memory. Growth itself
is then replayed: nodes are committed strictly in its order (priorities in single precision, of equals the older node),
as far as what is known allows. So which nodes were counted ahead of time changes the number of passes, not the tree.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
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
    """What a histogram adds up of each row: targets, whether there is a derivative, 1, and squares.

    With weights, all of these times the row's weight, and then 1.
    """

    n_plain: int
    n_derivative: int
    fine: bool
    weighted: bool = False

    @property
    def columns(self) -> int:
        """Integers of a row's targets: with a fine grid, two of each."""
        return (self.n_plain + self.n_derivative) * (2 if self.fine else 1)

    @property
    def count(self) -> int:
        """Where the number of rows is, or their weight."""
        return self.columns + 1

    @property
    def rows(self) -> int:
        """Where the number of rows is."""
        return self.count + self.weighted

    @property
    def width(self) -> int:
        """Integers of a record of sums."""
        return -(-(self.rows + 1 + (6 if self.fine else 2)) // 8) * 8


@dataclass(frozen=True, eq=False)
class Wanted:
    """The tree that rows are sent down in a pass; bins up to ``cut`` go left.

    ``slot`` is the number of the histogram that a node has, -1 for none. A node has the same number in every pass of a
    growth: rows may go on from where they were in any earlier one.
    """

    feature: I32
    cut: I32
    left: I32
    slot: I32

    @property
    def slots(self) -> int:
        """Number of histograms."""
        return int(self.slot.max()) + 1


AHEAD = 1.5
"""Nodes that are counted for each that growth is guessed to want: more of them cost time, fewer of them passes."""
Count = Callable[[Wanted], I64]
"""Returns the histograms of the nodes that are wanted, over all parts: shape (slots, all bins, lanes)."""


def first_bins(edges: Edges) -> I64:
    """Return where the bins of each feature begin in a histogram, closed by their number."""
    return np.append(0, np.cumsum(edges.bins)).astype(np.int64)


def nothing_but_the_root() -> Wanted:
    """Return what the first pass counts."""
    none = np.full(1, -1, np.int32)
    return Wanted(none, none, none, np.zeros(1, np.int32))


def no_counts(slots: int, edges: Edges, lanes: Lanes) -> I64:
    """Return histograms of nothing yet, shape (slots, all bins, lanes); they begin where a cache line does."""
    shape = slots, int(first_bins(edges)[-1]), lanes.width
    size = math.prod(shape)
    room = np.zeros(size + 8, np.int64)
    skip = -room.ctypes.data % 64 // 8
    return room[skip : skip + size].reshape(shape)


@dataclass(eq=False)
class _Node:
    number: int
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
    threads : int
        Threads that look for splits.
    least : int
        The smallest weight of a row.
    """

    def __init__(
        self, lanes: Lanes, edges: Edges, root: I64, limits: Limits, room: int, threads: int = 1, least: int = 1
    ) -> None:
        self._lanes, self._edges, self._room, self._threads = lanes, edges, max(room, 4), threads
        self._first_bin = first_bins(edges)
        self._given, self._least = (lanes.n_plain, lanes.n_derivative, lanes.fine, lanes.weighted), float(least)
        sums = root[: self._first_bin[1]].sum(axis=0)
        self.rows = int(sums[lanes.rows])
        self._missing = bool(lanes.n_derivative and sums[lanes.columns] < sums[lanes.count])
        self._limits = limits
        # The tree that rows go down: committed or not, nodes keep their numbers.
        self._feature, self._cut, self._child = [-1], [-1], [-1]
        self._root = self._node(0, 0, sums, None)
        self._root.histogram, self._root.committed = root, True
        self._nodes = [self._root]
        self._queue: list[tuple[np.float32, int]] = []
        self._waiting: list[_Node] = []
        self._left: list[int] = []
        self._known = [self._root]
        self._held = [self._root]
        self.passes = 0
        if not self._root.searched:
            self._found(self._root, self._split(root))
        self._add(0)

    def grow(self, count: Count, progress: Progress | None = None) -> tuple[Tree, I64]:
        """Grow to the end; returns the tree, whose qualities are gains by sample, and the samples of each node.

        With weights, both by weight.
        """
        most = min(self._limits.max_leaves, self.rows)
        while self._commit(most, progress):
            nodes = self._choose(most)
            if not nodes:
                continue
            self._receive(nodes, count(self._route(nodes)))
            self.passes += 1
        return self._tree()

    def _node(self, number: int, depth: int, sums: I64, parent: _Node | None) -> _Node:
        node = _Node(number, depth, sums, _kernel.priority_of(sums, *self._given, self._missing), parent)
        least = min(self._limits.min_samples_leaf, self.rows)
        deepest = NO_DEPTH_LIMIT if self._limits.max_depth is None else self._limits.max_depth
        # As in memory: nothing to search for.
        node.searched = node.priority <= 0 or int(sums[self._lanes.rows]) < 2 * least or depth >= deepest
        node.score = node.priority if parent is None else min(node.priority, parent.score)
        return node

    def _split(self, histogram: I64) -> tuple[int, int, int, float, I64]:
        least = min(self._limits.min_samples_leaf, self.rows)
        return _kernel.split_histogram(
            histogram, self._first_bin, *self._given, self._missing, self._least, least, self._limits.min_gain
        )

    def _found(self, node: _Node, split: tuple[int, int, int, float, I64]) -> None:
        """Note the split of a node, and make its children."""
        node.searched = True
        node.feature, node.below, node.above, node.gain, left = split
        if node.feature < 0:
            return
        if self._limits.by_gain:
            node.score = min(node.gain, node.score)
        first = len(self._feature)
        self._feature[node.number], self._cut[node.number], self._child[node.number] = node.feature, node.below, first
        for table in (self._feature, self._cut, self._child):
            table += (-1, -1)
        node.children = [
            self._node(first + k, node.depth + 1, sums, node) for k, sums in enumerate((left, node.sums - left))
        ]
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
        # What is split or cannot be is done with.
        self._known = [
            node for node in self._known if not node.searched or (node.children and not node.children[0].committed)
        ]
        nodes = sorted(self._known, key=lambda node: -node.score)
        reach = self._reach(nodes, most)
        open_nodes = [node for node in nodes[:reach] if not node.searched]
        # However wrong the guess, there is something to go on with.
        open_nodes = open_nodes or [node for node in nodes[reach:] if not node.searched][:1]
        slots: list[_Node] = []
        covered: set[int] = set()
        limit = max(self._room // 4, 1)
        for node in open_nodes:
            if len(slots) >= limit:
                break
            if id(node) in covered:
                continue
            other, parent = node.sibling, node.parent
            covered.add(id(node))
            if other is not None and parent is not None and parent.histogram is not None and not other.searched:
                # The larger child follows by subtraction.
                covered.add(id(other))
                size = self._lanes.rows
                slots.append(node if node.sums[size] <= other.sums[size] else other)
            else:
                slots.append(node)
        return slots

    def _reach(self, nodes: list[_Node], most: int) -> int:
        """Return how many of the known nodes growth will split before it ends, by a guess at what hides below them.

        They come by score, the order of growth. If children have half the impurity of their parent, a node of score s
        has s / t descendants that are split before a node of score t.
        """
        remaining = most - (len(self._nodes) + 1) // 2
        score = np.array([node.score for node in nodes])
        fresh = np.array([not node.searched for node in nodes])
        below = np.cumsum(np.where(fresh, score, 0.0)) / score + np.cumsum(~fresh)
        return max(int(np.searchsorted(below, AHEAD * remaining)), 1)

    def _route(self, nodes: list[_Node]) -> Wanted:
        """Return the tree as far as it is known, with the nodes to count."""
        slot = np.full(len(self._feature), -1, np.int32)
        slot[[node.number for node in nodes]] = np.arange(len(nodes))
        feature, cut, child = (np.array(table, np.int32) for table in (self._feature, self._cut, self._child))
        return Wanted(feature, cut, child, slot)

    def _receive(self, nodes: list[_Node], histograms: I64) -> None:
        """Search the nodes that were counted, and siblings that follow by subtraction."""
        fresh: list[tuple[_Node, I64]] = []
        for node, histogram in zip(nodes, histograms, strict=True):
            fresh.append((node, histogram))
            other, parent = node.sibling, node.parent
            if other is not None and not other.searched and parent is not None and parent.histogram is not None:
                if other not in nodes:
                    fresh.append((other, np.subtract(parent.histogram, histogram, out=parent.histogram)))
                parent.histogram = None
        with ThreadPoolExecutor(self._threads) as pool:
            splits = list(pool.map(self._split, [histogram for _, histogram in fresh]))
        kept = {id(node): histogram for node, histogram in fresh}
        for (node, _), split in zip(fresh, splits, strict=True):
            self._found(node, split)
        # Histograms that those of children may be made of, the ones first that growth may want first.
        held = [*self._held, *(node for node, _ in fresh)]
        useful = sorted((n for n in held if any(not child.searched for child in n.children)), key=lambda n: -n.score)
        self._held = useful[: self._room // 2]
        own = {id(node): kept[id(node)] if node.histogram is None else node.histogram for node in self._held}
        for node in held:
            found = own.get(id(node))
            # A copy, where it is part of many: so that the memory of the others can be given back.
            node.histogram = found if found is None or found.base is None else found.copy()

    def _tree(self) -> tuple[Tree, I64]:
        size, lane = len(self._nodes), self._lanes.count
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
