"""Alignment: the piecewise straight path through a sequence of boxes that follows their derivatives best.

The paper ("Trajectory Simulation") puts one node on the boundary of every box, visible from the node before, and
descends on the sum of squared angles between segments and derivatives. Once it is said which face each node lies on,
that is a smooth problem whose constraints are bounds: a node stays on its face, and the node before stays on the outer
side of that face. So there are two parts: several searches that join candidates on all faces (``candidates``), and a
quasi-Newton method with bounds that finishes on the faces found (``descent``). The results are joined once more, for
each may be the best somewhere. All of this works on many paths at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tripletree.graph.candidates import FIRST, NO_FACE, SHORTEST, Corridors, join, search
from tripletree.graph.descent import descend

F64 = npt.NDArray[np.float64]
Bool = npt.NDArray[np.bool_]
Int = npt.NDArray[np.int64]

STARTS = 3
"""Searches for every path, each with other candidates."""

_ROUGHLY, _ITERATIONS = 20, 40
_FINISHED, _SEARCHED = 30_000, 400_000


@dataclass(frozen=True, eq=False)
class Alignment:
    """A path of straight segments, one node a box.

    Attributes
    ----------
    nodes : float64 array of shape (nodes, features)
        Where the path enters each box; a given start or end stands as it was given.
    faces : int array of shape (nodes,)
        Face that each node lies on: ``2 * feature`` is the lower one, ``2 * feature + 1`` the upper one; NO_FACE for a
        node that was given.
    angles : float64 array of shape (nodes - 1,)
        Angle between each segment and its direction, in radians; NaN where there is no direction.
    objective : float
        Sum of the squared angles.
    """

    nodes: F64
    faces: Int
    angles: F64
    objective: float


def objective(nodes: F64, directions: F64, weight: F64) -> tuple[float, F64]:
    """Return the sum of squared angles between segments and directions, and its gradient.

    Parameters
    ----------
    nodes : float64 array of shape (nodes, features)
        The path.
    directions : float64 array of shape (nodes - 1, features)
        The derivative that each segment should follow; one of zeros asks for nothing.
    weight : float64 array of shape (features,)
        What both are multiplied by before angles are taken: 1 / sigma, or 0 for features that do not count.
    """
    angle, gradient = _angles((nodes * weight)[None], _unit(directions * weight)[None])
    return float(np.dot(angle[0], angle[0])), gradient[0] * weight


def _angles(nodes: F64, unit: F64) -> tuple[F64, F64]:
    """Return the angle of every segment (0 where there is no direction), and the gradient of their squares' sum.

    All is scaled already; the first axis counts paths.
    """
    segment = nodes[:, 1:] - nodes[:, :-1]
    square = np.einsum("bij,bij->bi", segment, segment) + SHORTEST**2
    length = np.sqrt(square)
    cosine = np.minimum(np.maximum(np.einsum("bij,bij->bi", segment, unit) / length, -1.0), 1.0)
    known = unit.any(axis=2)
    angle = np.arccos(cosine) * known
    sine = np.sqrt((1 - cosine) * (1 + cosine))
    # angle / sin(angle) goes to 1 for small angles, and to infinity for a segment that goes straight back.
    slope = -2 * known * np.where(cosine > 1 - 1e-12, 1.0, angle / np.maximum(sine, 1e-6))
    change = (slope / length)[..., None] * unit - (slope * cosine / square)[..., None] * segment
    gradient = np.zeros_like(nodes)
    gradient[:, 1:] += change
    gradient[:, :-1] -= change
    return angle, gradient


def visible(previous: F64, lower: F64, upper: F64) -> Bool:
    """Return which faces of a box can be seen from a point outside, shape (2 * features,).

    The lower face of a feature can be seen from below it, the upper one from above; a point in the plane of a face
    counts as both. A point on or outside the boundary sees at least one face.
    """
    return np.stack([previous <= lower, previous >= upper], axis=-1).reshape(-1)


def align(
    lower: F64, upper: F64, directions: F64, weight: F64, *, start: F64 | None = None, end: F64 | None = None
) -> Alignment:
    """Return the path through boxes whose segments follow the directions best.

    Parameters
    ----------
    lower, upper : float64 arrays of shape (boxes, features)
        The boxes in the order of the path; finite, and no box overlaps the next.
    directions : float64 array of shape (segments, features)
        What each segment should follow. There is a segment from every node to the next: one fewer than boxes, and one
        more when ``end`` is given.
    weight : float64 array of shape (features,)
        1 / sigma of each feature, 0 for features that do not count for angles.
    start, end : float64 arrays of shape (features,), optional
        Begin at this point of the first box instead of anywhere on its boundary; go on to this point of the last box.

    Returns
    -------
    Alignment
    """
    every = directions if end is not None else np.vstack([directions, np.zeros((1, lower.shape[1]))])
    return align_all(lower, upper, every, weight, [np.arange(len(lower))], start=start, end=end)[0]


def align_all(
    lower: F64,
    upper: F64,
    directions: F64,
    weight: F64,
    paths: Sequence[Int],
    *,
    start: F64 | None = None,
    end: F64 | None = None,
    starts: int = STARTS,
    progress: Callable[[int, int], None] | None = None,
) -> list[Alignment]:
    """Return the best path through each of several sequences of boxes; up to rounding, each as it would be alone.

    Parameters
    ----------
    lower, upper, directions : float64 arrays of shape (boxes, features)
        All boxes, and what a segment that begins on a box should follow.
    weight, start, end
        As in :func:`align`.
    paths : sequence of int arrays
        The boxes of each path, in order.
    starts : int
        How many searches for each; with several, their results are joined once more.
    progress : function of (paths so far, all), or None
        Called now and then.
    """
    unit = _unit(directions * weight)
    found: dict[int, Alignment] = {}
    order = sorted(range(len(paths)), key=lambda number: -len(paths[number]))
    while len(found) < len(order):
        # Paths of about the same length go together.
        longest = len(paths[order[len(found)]])
        size = max(_FINISHED // (longest * starts * lower.shape[1]), 1)
        some = [n for n in order[len(found) : len(found) + size] if len(paths[n]) > 0.75 * longest]
        corridors = _corridors(lower, upper, unit, weight, [paths[number] for number in some], start, end)
        nodes, faces, angles = _solve(corridors, starts)
        for row, number in enumerate(some):
            n = len(paths[number]) + (end is not None)
            angle = np.where(corridors.unit[row, : n - 1].any(axis=1), angles[row, : n - 1], np.nan)
            found[number] = Alignment(nodes[row, :n], faces[row, :n], angle, float(np.dot(angles[row], angles[row])))
        if progress is not None:
            progress(len(found), len(paths))
    return [found[number] for number in range(len(paths))]


def _unit(vectors: F64) -> F64:
    length = np.sqrt((vectors * vectors).sum(axis=-1))[..., None]
    unit: F64 = np.divide(vectors, length, out=np.zeros_like(vectors), where=length > 0)
    return unit


def _corridors(
    lower: F64, upper: F64, unit: F64, weight: F64, paths: Sequence[Int], start: F64 | None, end: F64 | None
) -> Corridors:
    count = np.array([len(path) for path in paths])
    n = count.max() + (end is not None)
    boxes = np.stack([np.append(path, np.full(n - len(path), path[-1])) for path in paths])
    low, high, unit = lower[boxes], upper[boxes], unit[boxes[:, :-1]]
    # A face counts when it can be seen from somewhere in the box before; all of them do for the first box.
    seen = np.ones((len(paths), n, 2 * lower.shape[1]), bool)
    seen[:, 1:, ::2], seen[:, 1:, 1::2] = low[:, :-1] <= low[:, 1:], high[:, :-1] >= high[:, 1:]
    allowed, n_allowed = np.argsort(~seen, axis=2, kind="stable"), seen.sum(axis=2)
    given = np.arange(n) >= count[:, None]
    high[given] = low[given] = low[given] if end is None else end
    unit[np.arange(n - 1) >= count[:, None] - (end is None)] = 0.0
    if start is not None:
        low[:, 0] = high[:, 0] = start
        given[:, 0] = True
    allowed[given], n_allowed[given] = NO_FACE, 1
    return Corridors(low, high, unit, np.asarray(weight, np.float64), allowed, n_allowed)


def _solve(corridors: Corridors, starts: int) -> tuple[F64, Int, F64]:
    """Return nodes, faces and angles of the best path through each corridor."""
    paths, n, d = corridors.lower.shape
    many, number = corridors[np.repeat(np.arange(paths), starts)], np.tile(np.arange(starts), paths)
    # So few at once that their numbers stay near the processor.
    size = max(_SEARCHED // (n * FIRST**2), 1)
    parts = [search(many[row : row + size], number[row : row + size]) for row in range(0, len(number), size)]
    nodes, faces = (np.concatenate(part) for part in zip(*parts, strict=True))
    if starts > 1:
        # Each may be the best somewhere: half finished, their nodes are candidates once more.
        nodes = _polish(many, nodes, faces, _ROUGHLY)
        nodes, faces = nodes.reshape(paths, starts, n, d), faces.reshape(paths, starts, n)
        nodes, faces = join(corridors, nodes.swapaxes(1, 2).copy(), faces.swapaxes(1, 2))
    nodes = _polish(corridors, nodes, faces, _ITERATIONS)
    angles, _ = _angles(nodes * corridors.weight, corridors.unit)
    return nodes, faces, angles


def limits(corridors: Corridors, faces: Int) -> tuple[F64, F64]:
    """Return the bounds of every node that keep it on its face and every next face visible from it."""
    plane = corridors.planes(faces[..., None])
    on = (np.maximum(faces, 0) // 2)[..., None] == np.arange(corridors.lower.shape[2])
    on &= faces[..., None] != NO_FACE
    low, high = np.where(on, plane, corridors.lower), np.where(on, plane, corridors.upper)
    up = (faces % 2 == 1)[..., None]
    before = slice(None, -1)
    low[:, before] = np.where((on & up)[:, 1:], np.maximum(low[:, before], plane[:, 1:]), low[:, before])
    high[:, before] = np.where((on & ~up)[:, 1:], np.minimum(high[:, before], plane[:, 1:]), high[:, before])
    return low, high


def _polish(corridors: Corridors, nodes: F64, faces: Int, iterations: int) -> F64:
    """Return the nodes after a descent that keeps every node on its face."""
    low, high = limits(corridors, faces)
    b, n, d = nodes.shape
    counts = corridors.weight > 0
    scale = np.where(counts, corridors.weight, 1.0)

    def function(position: F64, rows: Int) -> tuple[F64, F64]:
        angle, gradient = _angles(position.reshape(-1, n, d) * counts, corridors.unit[rows])
        return np.einsum("bi,bi->b", angle, angle), (gradient * counts).reshape(-1, n * d)

    flat = (b, n * d)
    bounds = (low * scale).reshape(flat), (high * scale).reshape(flat)
    position = descend(function, (nodes * scale).reshape(flat), *bounds, iterations)
    return np.clip(position.reshape(nodes.shape) / scale, low, high)
