"""Grows a tree on the targets of a log."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from tripletree import _kernel
from tripletree.errors import ParameterError
from tripletree.log.log import Log
from tripletree.text import Message, Option
from tripletree.tree.structure import Tree
from tripletree.tree.targets import Targets
from tripletree.tree.weights import Weighing

Progress = Callable[[int, int], None]

NO_DEPTH_LIMIT = 2**31 - 1

ROWS_PER_BIN = 2**20
"""Most samples for each bin that the kernel's codes have room for."""


def encode(log: Log, mode: str, bins: int, threads: int, weighing: Weighing | None = None) -> npt.NDArray[np.uint32]:
    """Return the codes that growth compares instead of the states' values; near-equal values share one.

    They are those of the samples that count. Bins hold about equally many of these, whatever their weights.
    """
    exact = mode == "exact"
    states = log.states if weighing is None else weighing.take(log.states)
    if not exact and len(states) > bins * ROWS_PER_BIN:
        least = -(-len(states) // ROWS_PER_BIN)
        raise ParameterError(
            Message(
                "{} must be at least {} for {:,} samples; got {}. Try {}.",
                Option("bins"),
                least,
                len(states),
                bins,
                Option("bins", 1024),
            )
        )
    return _kernel.encode(states, exact_bins(*states.shape) if exact else bins, exact, threads)


def exact_bins(samples: int, features: int) -> int:
    """Return how many bins exact growth should start its search from: they change its speed, not the tree."""
    if features >= 32:
        return 128  # a histogram of many features and targets must not outgrow the cache
    return 256 if samples < 1_000_000 else 512


def grow(
    log: Log,
    codes: npt.NDArray[np.uint32],
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

    ``codes`` and ``targets`` are those of the samples that count, all of them without a ``weighing``. The other
    parameters are TripleTree's, checked. ``KeyboardInterrupt``, and whatever ``progress`` raises, stop growth.
    """
    if targets.n_plain + targets.n_derivative == 0:
        none = np.full(1, -1, np.int32)
        return Tree(none, np.zeros(1), none, np.zeros(1)), np.zeros(log.n_samples, np.int32)
    weighing = weighing or Weighing()
    states = weighing.take(log.states)
    feature, threshold, left, gain, node = _kernel.grow(
        states,
        codes,
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
    )
    tree = Tree(feature, threshold, left, gain)
    count = np.bincount(node, weighing.counts, tree.n_nodes)
    tree.add_up(count)
    if weighing.rows is not None:
        everywhere = tree.leaf_nodes[tree.apply(log.states, threads)].astype(np.int32)
        everywhere[weighing.rows] = node
        node = everywhere
    return Tree(feature, threshold, left, gain / count / targets.scale / targets.scale), node
