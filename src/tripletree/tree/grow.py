"""Grows a tree on the targets of a log."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tripletree import _kernel
from tripletree.log.log import Log
from tripletree.tree.edges import Edges, find_edges
from tripletree.tree.structure import Tree
from tripletree.tree.targets import Targets
from tripletree.tree.weights import Weighing

Progress = Callable[[int, int], None]

NO_DEPTH_LIMIT = 2**31 - 1
LONG = 2**25
"""From so many codes on, memory counts more than time: 8 bits have to do for a bin, and 16 for a place inside it."""
FEW = 60_000
"""Samples of a bin that so many bits can tell apart, with room for bins that are larger than others."""


@dataclass(frozen=True, eq=False)
class Encoded:
    """What growth compares instead of the states' values.

    Attributes
    ----------
    codes : _kernel.Codes
        A number for each sample and feature, as growth holds them. They keep the order of the values; near-equal values
        share one. In histogram mode, all values of a bin do.
    edges : Edges or None
        Between the bins, in histogram mode: thresholds are among them.
    """

    codes: _kernel.Codes
    edges: Edges | None = None

    def take(self, rows: npt.NDArray[np.int64] | None) -> Encoded:
        """Return the same for some samples only; None: for all."""
        return self if rows is None else Encoded(self.codes.take(rows), self.edges)


def encode(
    log: Log, mode: str, bins: int, threads: int, weighing: Weighing | None = None, thresholds: str = "short"
) -> Encoded:
    """Return the codes of the samples that count. Bins hold about equally many of these, whatever their weights."""
    states = log.states if weighing is None else weighing.take(log.states)
    if mode == "exact":
        codes = _kernel.encode(states, exact_bins(*states.shape), threads)
        return Encoded(_kernel.Codes(codes, threads, states.size >= LONG))
    edges = find_edges(states, bins, thresholds, threads)
    return Encoded(_kernel.Codes(_kernel.encode_edges(states, edges.numbers, edges.first, threads), threads), edges)


def exact_bins(samples: int, features: int) -> int:
    """Return how many bins exact growth should start its search from: they change its speed, not the tree."""
    if features >= 32:
        bins = 128  # a histogram of many features and targets must not outgrow the cache
    elif samples < 1_000_000 or samples * features >= LONG:
        bins = 256
    else:
        bins = 512
    while samples > FEW * bins and bins < 1024:
        bins *= 2
    return bins


def grow(
    log: Log,
    encoded: Encoded,
    targets: Targets,
    *,
    max_leaves: int,
    max_depth: int | None,
    min_samples_leaf: int,
    min_quality: float,
    priority: str,
    thresholds: str,
    threads: int,
    progress: Progress | None,
    weighing: Weighing | None = None,
) -> tuple[Tree, npt.NDArray[np.int32]]:
    """Grow best-first and return the tree and the node of the leaf that each sample falls in.

    ``encoded`` and ``targets`` are those of the samples that count, all of them without a ``weighing``. The other
    parameters are TripleTree's, checked. ``KeyboardInterrupt``, and whatever ``progress`` raises, stop growth.
    """
    if targets.n_plain + targets.n_derivative == 0:
        none = np.full(1, -1, np.int32)
        return Tree(none, np.zeros(1), none, np.zeros(1)), np.zeros(log.n_samples, np.int32)
    weighing = weighing or Weighing()
    states = weighing.take(log.states)
    feature, threshold, left, gain, node = _kernel.grow(
        states,
        encoded.codes,
        targets.rows,
        n_plain=targets.n_plain,
        n_derivative=targets.n_derivative,
        max_leaves=min(max_leaves, len(states)),
        max_depth=NO_DEPTH_LIMIT if max_depth is None else min(max_depth, NO_DEPTH_LIMIT),
        min_samples_leaf=min(min_samples_leaf, len(states)),
        min_gain=min_quality * targets.scale * targets.scale,
        by_gain=priority == "gain",
        midpoint=thresholds == "midpoint",
        threads=threads,
        progress=progress,
        fine=targets.fine,
        weighted=targets.weighted,
        edges=None if encoded.edges is None else encoded.edges.numbers,
        first_edge=None if encoded.edges is None else encoded.edges.first,
    )
    tree = Tree(feature, threshold, left, gain)
    count = np.bincount(node, weighing.counts, tree.n_nodes)
    tree.add_up(count)
    if weighing.rows is not None:
        everywhere = tree.leaf_nodes[tree.apply(log.states, threads)].astype(np.int32)
        everywhere[weighing.rows] = node
        node = everywhere
    return Tree(feature, threshold, left, gain / count / targets.scale / targets.scale), node
