"""The grown tree as parallel arrays; no node objects."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree import _kernel
from tripletree.checks import check_whole


@dataclass(frozen=True, eq=False)
class Tree:
    """A binary tree whose nodes are numbered in the order of growth.

    Growth step ``s`` (from 0) splits one leaf and creates the nodes ``2 s + 1`` (left, ``x < threshold``) and
    ``2 s + 2`` (right, ``x >= threshold``). So children come after their parents, and the first ``2 k - 1`` nodes are
    the tree as it was with ``k`` leaves.

    Attributes
    ----------
    feature : int32 array of shape (nodes,)
        Feature that the node splits on, -1 at a leaf.
    threshold : float64 array of shape (nodes,)
        Where it splits, 0 at a leaf.
    left : int32 array of shape (nodes,)
        Number of the left child, -1 at a leaf; the right child is ``left + 1``.
    quality : float64 array of shape (nodes,)
        The hybrid quality Q* of the split, 0 at a leaf.
    """

    feature: npt.NDArray[np.int32]
    threshold: npt.NDArray[np.float64]
    left: npt.NDArray[np.int32]
    quality: npt.NDArray[np.float64]

    @property
    def n_nodes(self) -> int:
        """Number of nodes, inner and leaves."""
        return len(self.feature)

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return (self.n_nodes + 1) // 2

    @cached_property
    def split_order(self) -> npt.NDArray[np.int64]:
        """Inner nodes in the order in which growth split them."""
        inner = np.flatnonzero(self.left >= 0)
        return inner[np.argsort(self.left[inner])]

    @cached_property
    def parent(self) -> npt.NDArray[np.int64]:
        """Parent of each node, -1 for the root."""
        parent = np.full(self.n_nodes, -1, np.int64)
        parent[1:] = np.repeat(self.split_order, 2)
        return parent

    @cached_property
    def levels(self) -> tuple[npt.NDArray[np.int64], ...]:
        """Inner nodes at depth 0, 1, ...: whatever climbs or descends the tree works on one level at a time."""
        levels = []
        inner = np.flatnonzero(self.left[:1] >= 0)
        while len(inner):
            levels.append(inner)
            children = (self.left[inner, None] + np.arange(2)).ravel()
            inner = children[self.left[children] >= 0]
        return tuple(levels)

    @cached_property
    def leaf_nodes(self) -> npt.NDArray[np.int64]:
        """Node number of each leaf, leaves counted from left to right: leaf ``i`` is node ``leaf_nodes[i]``."""
        return _kernel.leaves_in_order(self.left)

    @cached_property
    def depth(self) -> npt.NDArray[np.int64]:
        """Number of splits above each node."""
        depth = np.zeros(self.n_nodes, np.int64)
        for level, nodes in enumerate(self.levels):
            depth[self.left[nodes]] = depth[self.left[nodes] + 1] = level + 1
        return depth

    def add_up(self, totals: npt.NDArray[Any]) -> None:
        """Add to the row of every inner node the rows of all nodes below it, in place; they are float64 or int64."""
        _kernel.add_up(self.left, totals[:, None] if totals.ndim == 1 else totals)

    def check_size(self, n_leaves: int) -> None:
        """Raise ParameterError unless ``n_leaves`` is a size that growth passed through."""
        check_whole(n_leaves, "n_leaves", 1, self.n_leaves, example=self.n_leaves)

    def truncate(self, n_leaves: int) -> Tree:
        """Return the tree as it was when growth had made ``n_leaves`` leaves."""
        self.check_size(n_leaves)
        keep = 2 * n_leaves - 1
        leaf = self.left[:keep] >= keep
        return Tree(
            feature=np.where(leaf, np.int32(-1), self.feature[:keep]),
            threshold=np.where(leaf, 0.0, self.threshold[:keep]),
            left=np.where(leaf, np.int32(-1), self.left[:keep]),
            quality=np.where(leaf, 0.0, self.quality[:keep]),
        )

    @cached_property
    def leaf_number(self) -> npt.NDArray[np.int32]:
        """Leaf that each node is, counted from left to right, -1 for inner nodes."""
        number = np.full(self.n_nodes, -1, np.int32)
        number[self.leaf_nodes] = np.arange(self.n_leaves, dtype=np.int32)
        return number

    def apply(self, states: npt.NDArray[np.float64], threads: int = 1) -> npt.NDArray[np.int32]:
        """Return the leaf (counted from left to right) of each row of ``states``."""
        return _kernel.apply(states, self.feature, self.threshold, self.left, self.leaf_number, threads)
