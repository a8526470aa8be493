"""Places the nodes of a graph on a plane so that neighbours are near; the same graph gives the same picture."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

F64 = npt.NDArray[np.float64]

ROUNDS = 300
"""Rounds of SMACOF at most: large graphs still move by tiny amounts then, which nobody sees."""
ROOM = 0.75
"""Least distance between nodes, as a share of what it would be if they stood on a regular grid."""


def layout(distance: F64, aspect: float = 1.0) -> F64:
    """Return a place for each node in a box of width ``aspect`` and height 1, shape (nodes, 2).

    Distances on the plane come as near as they can to the given ones, near pairs counting most (stress, made least by
    SMACOF from classical scaling); then the longer side is turned along x, the box is filled, and what is too close is
    pushed apart.

    Parameters
    ----------
    distance : float64 array of shape (nodes, nodes)
        Wanted distances, symmetric.
    aspect : float
        Width of the box.
    """
    if len(distance) < 2:
        return np.full((len(distance), 2), [aspect / 2, 0.5])
    at = _turned(_stress(distance))
    box = np.array([aspect, 1.0])
    return _pushed(_filled(at, box), box)


def hops(n: int, source: npt.NDArray[Any], target: npt.NDArray[Any], length: F64) -> F64:
    """Return the length of the shortest path between all pairs of nodes, ignoring the direction of the edges.

    Pairs without a path are a little further apart than the furthest that have one.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import shortest_path

    # Where edges go both ways, the shorter one counts.
    dense = np.full((n, n), np.inf)
    np.minimum.at(dense, (source, target), length)
    dense = np.minimum(dense, dense.T)
    np.fill_diagonal(dense, np.inf)
    row, column = np.nonzero(np.isfinite(dense))
    graph: Any = coo_array((dense[row, column], (row, column)), shape=(n, n)).tocsr()
    found: F64 = shortest_path(graph, directed=False)
    known = np.isfinite(found)
    return np.where(known, found, 1.2 * max(float(found[known].max(initial=0.0)), 1.0))


def _stress(distance: F64) -> F64:
    """Return places whose distances are near to ``distance``, with weights 1 / distance^2."""
    at = _classical(distance)
    weight = np.where(distance > 0, 1 / np.maximum(distance, 1e-9) ** 2, 0.0)
    # A pseudo-inverse, because the matrix is singular: moving all nodes together changes no distance.
    solve = np.linalg.pinv(np.diag(weight.sum(axis=1)) - weight)
    for _ in range(ROUNDS):
        apart = np.linalg.norm(at[:, None] - at[None], axis=2)
        pull = np.where(apart > 0, weight * distance / np.maximum(apart, 1e-9), 0.0)
        # One step of SMACOF (Guttman transform): stress never rises, so there is no step size to choose.
        moved = solve @ ((np.diag(pull.sum(axis=1)) - pull) @ at)
        done = np.abs(moved - at).max() < 1e-4
        at = moved
        if done:
            break
    return at


def _classical(distance: F64) -> F64:
    """Return the places of classical scaling, and nodes that would share a place a little apart."""
    n = len(distance)
    centre = np.eye(n) - 1 / n
    value, vector = np.linalg.eigh(-0.5 * centre @ distance**2 @ centre)
    # Distances along edges need not fit any plane: the second eigenvalue may be negative.
    at = vector[:, -2:][:, ::-1] * np.sqrt(np.maximum(value[-2:][::-1], 1e-3))
    # The signs of eigenvectors depend on the linear algebra library; fixed, the same graph gives the same picture.
    at *= np.sign(at[np.abs(at).argmax(axis=0), [0, 1]])
    # Where two nodes are in one place, SMACOF has no direction in which to move them.
    placed: F64 = at + 0.05 * _circle(n)
    return placed


def _circle(n: int) -> F64:
    """Return directions that differ for all nodes, without random numbers: steps of the golden angle."""
    angle = 2 * np.pi * 0.381966 * np.arange(n)
    return np.column_stack([np.cos(angle), np.sin(angle)])


def _turned(at: F64) -> F64:
    """Return the places with the longer side along x."""
    centred = at - at.mean(axis=0)
    axes = np.linalg.svd(centred, full_matrices=False)[2]
    axes = axes * np.sign(axes[[0, 1], np.abs(axes).argmax(axis=1)])[:, None]
    turned: F64 = centred @ axes.T
    return turned


def _filled(at: F64, box: F64) -> F64:
    """Return the places stretched to the box; what has no width stays in the middle."""
    low, high = at.min(axis=0), at.max(axis=0)
    span = np.where(high - low > 1e-9 * max(float((high - low).max()), 1e-9), high - low, np.inf)
    return np.where(np.isinf(span), box / 2, (at - low) / span * box)


def _pushed(at: F64, box: F64) -> F64:
    """Return the places with those that are too close moved apart, within the box."""
    n = len(at)
    least = ROOM * np.sqrt(box.prod() / n)
    for _ in range(100):
        away = at[:, None] - at[None]
        apart = np.linalg.norm(away, axis=2)
        missing = np.where(apart < least, least - apart, 0.0)
        np.fill_diagonal(missing, 0.0)
        if missing.max() < 0.02 * least:
            break
        same = apart < 1e-9
        direction = (
            np.where(same[..., None], _circle(n)[:, None] - _circle(n)[None], away)
            / np.where(same, 1, apart)[..., None]
        )
        # Both nodes of a pair move by a quarter of what is missing, not by half: a node may be pushed from many sides.
        at = np.clip(at + 0.25 * (missing[..., None] * direction).sum(axis=1), 0.0, box)
    return at
