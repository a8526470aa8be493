"""Edges between the bins of a feature in histogram mode."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from tests.reference.codes import OWN_SHARE, tolerance
from tests.reference.thresholds import midpoint, short


def edges(values: np.ndarray, bins: int, midpoints: bool = False) -> list[float]:
    """Divide the sorted values into at most so many bins, and put an edge between each two."""
    clusters = _clusters(np.sort(values))
    wanted = bins
    while len(parts := _divided(clusters, wanted)) > bins:
        # Bins for values that repeat a lot come on top.
        wanted = max(wanted - (len(parts) - bins), 1)
    found = []
    for below, above in pairwise(parts):
        # The edge may move by a quarter of the samples on either side, which leaves room for short numbers; beside a
        # bin of one value it stays in the gap.
        move = len(below) > 1 and len(above) > 1
        left, right = sum(map(len, below)), sum(map(len, above))
        lo = _at(below, left - 1 - move * (left // 4))[-1]
        hi = _at(above, move * (right // 4))[0]
        found.append((midpoint if midpoints else short)(lo, hi))
    return found


def _clusters(ordered: np.ndarray) -> list[list[float]]:
    """Near-equal values: each belongs to the first of its cluster."""
    near, clusters = tolerance(ordered), [[float(ordered[0])]]
    for value in ordered[1:].tolist():
        first = clusters[-1][0]
        if value - first > max(near, OWN_SHARE * abs(first)):
            clusters.append([])
        clusters[-1].append(value)
    return clusters


def _divided(clusters: list[list[float]], bins: int) -> list[list[list[float]]]:
    """Bins of equally many samples; a cluster that would fill one has one of its own."""
    if len(clusters) <= bins:
        return [[cluster] for cluster in clusters]
    n = sum(map(len, clusters))
    parts: list[list[list[float]]] = []
    before, full, closed = 0, 0, True
    for cluster in clusters:
        heavy = len(cluster) * bins >= n
        if closed or heavy or before * bins >= full:
            parts.append([])
            if before * bins >= full:
                full = (before * bins // n + 1) * n
        parts[-1].append(cluster)
        before += len(cluster)
        closed = heavy
    return parts


def _at(part: list[list[float]], place: int) -> list[float]:
    """Return the cluster that holds the sample at a place of a bin."""
    for cluster in part:
        if place < len(cluster):
            return cluster
        place -= len(cluster)
    raise AssertionError("no such place")


def bins_of(states: np.ndarray, found: list[list[float]]) -> np.ndarray:
    """Return the bin of each state: a value equal to an edge belongs to the bin above."""
    return np.stack(
        [np.searchsorted(np.array(e), column, side="right") for e, column in zip(found, states.T, strict=True)], axis=1
    )
