"""Best-first growth, one split at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tests.reference.split import Node, Problem, split_by_sums
from tests.reference.thresholds import midpoint, short

NO_LIMIT = 2**31 - 1


@dataclass
class Grown:
    """The tree as parallel arrays, and the node in which each row ends."""

    feature: np.ndarray
    threshold: np.ndarray
    left: np.ndarray
    gain: np.ndarray
    node: np.ndarray


def grow(
    states: np.ndarray,
    codes: np.ndarray,
    rows: np.ndarray,
    n_plain: int,
    n_derivative: int,
    max_leaves: int = NO_LIMIT,
    max_depth: int = NO_LIMIT,
    min_samples_leaf: int = 1,
    min_gain: float = 0.0,
    by_gain: bool = False,
    midpoints: bool = False,
    weights: np.ndarray | None = None,
    edges: list[list[float]] | None = None,
    split: Callable[[Problem, np.ndarray, int], Node] = split_by_sums,
) -> Grown:
    """Split the leaf of largest impurity-sum (or largest gain) again and again; the older leaf when two are equal.

    In histogram mode codes are numbers of bins, and thresholds are among the ``edges`` of the feature.
    """
    weights = np.ones(len(states), np.int64) if weights is None else weights
    problem = Problem(codes, rows, n_plain, n_derivative, max_depth, min_samples_leaf, min_gain, weights)
    nodes = [split(problem, np.arange(len(states)), 0)]
    feature, threshold, left, gain = [-1], [0.0], [-1], [0.0]
    open_nodes = [0]
    while len(nodes) < 2 * max_leaves - 1:
        ready = [i for i in open_nodes if nodes[i].can_split]
        if not ready:
            break
        # In single precision, so that what is equal but for rounding ties.
        chosen = max(ready, key=lambda i: (np.float32(float(nodes[i].gain if by_gain else nodes[i].impurity)), -i))
        node = nodes[chosen]
        column = states[node.rows, node.feature]
        place = midpoint if midpoints else short
        feature[chosen] = node.feature
        if edges is None:
            threshold[chosen] = place(float(column[node.left].max()), float(column[~node.left].min()))
        else:
            # Of the edges between the two bins, where others between them are empty here, the one in the middle.
            here = codes[node.rows, node.feature].astype(int)
            below, above = int(here[node.left].max()), int(here[~node.left].min())
            threshold[chosen] = edges[node.feature][below + (above - below - 1) // 2]
        left[chosen] = len(nodes)
        gain[chosen] = float(node.gain)
        open_nodes.remove(chosen)
        for side in (node.left, ~node.left):
            open_nodes.append(len(nodes))
            nodes.append(split(problem, node.rows[side], node.depth + 1))
        feature += [-1, -1]
        threshold += [0.0, 0.0]
        left += [-1, -1]
        gain += [0.0, 0.0]
    ends = np.zeros(len(states), np.int32)
    for i in open_nodes:
        ends[nodes[i].rows] = i
    return Grown(np.array(feature, np.int32), np.array(threshold), np.array(left, np.int32), np.array(gain), ends)


def descend(grown: Grown, states: np.ndarray, n_leaves: int | None = None) -> np.ndarray:
    """Node in which each state ends, in the tree as it was with ``n_leaves`` leaves."""
    n_nodes = len(grown.feature) if n_leaves is None else 2 * n_leaves - 1
    ends = np.zeros(len(states), np.int32)
    for row, state in enumerate(states):
        node = 0
        while 0 <= grown.left[node] < n_nodes:
            node = grown.left[node] + int(not state[grown.feature[node]] < grown.threshold[node])
        ends[row] = node
    return ends
