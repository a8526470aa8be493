"""Alignment: the piecewise straight path through a sequence of boxes that follows their derivatives best.

The paper ("Trajectory Simulation") puts one node on the boundary of every box, visible from the node before, and
descends on the sum of squared angles between segments and derivatives. Once it is said which face each node lies on,
that is a smooth problem whose constraints are bounds: a node stays on its face, and the node before stays on the outer
side of that face. So the search has two parts. Candidates spread over all faces are joined by dynamic programming,
which picks the best of all their combinations, faces included, and is repeated with candidates closer and closer
around the best; then a quasi-Newton method with bounds finishes on the faces found.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

F64 = npt.NDArray[np.float64]
Bool = npt.NDArray[np.bool_]
Int = npt.NDArray[np.int64]

NO_FACE = -1
"""The face of a node that is given and does not move."""

SHORTEST = 1e-6
"""Segments much shorter than this (in standard deviations of the derivatives) have no direction: their angle is 90°."""

_FIRST, _CLOSER, _RAYS = 32, 12, 4
_RADII = (1.0, 0.4, 0.2, 0.1, 0.05)


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


def cosines(nodes: F64, directions: F64, weight: F64) -> F64:
    """Return the cosine between each segment and its direction; NaN where the direction is zero."""
    segment = np.diff(nodes, axis=0) * weight
    length = np.sqrt((segment * segment).sum(axis=1) + SHORTEST**2)
    unit, known = _unit(directions * weight)
    return np.where(known, (segment * unit).sum(axis=1) / length, np.nan)


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
    unit, _ = _unit(directions * weight)
    return _objective(nodes, unit, weight)


def _objective(nodes: F64, unit: F64, weight: F64) -> tuple[float, F64]:
    segment = (nodes[1:] - nodes[:-1]) * weight
    square = np.einsum("ij,ij->i", segment, segment) + SHORTEST**2
    length = np.sqrt(square)
    cosine = np.minimum(np.maximum(np.einsum("ij,ij->i", segment, unit) / length, -1.0), 1.0)
    angle = np.arccos(cosine)
    sine = np.sqrt((1 - cosine) * (1 + cosine))
    # angle / sin(angle) goes to 1 for small angles, and to infinity for a segment that goes straight back.
    slope = -2 * np.where(cosine > 1 - 1e-12, 1.0, angle / np.maximum(sine, 1e-6))
    known = unit.any(axis=1)
    slope *= known
    change = ((slope / length)[:, None] * unit - (slope * cosine / square)[:, None] * segment) * weight
    gradient = np.zeros_like(nodes)
    gradient[1:] += change
    gradient[:-1] -= change
    return float(np.dot(angle * known, angle)), gradient


def visible(previous: F64, lower: F64, upper: F64) -> Bool:
    """Return which faces of a box can be seen from a point outside, shape (2 * features,).

    The lower face of a feature can be seen from below it, the upper one from above; a point in the plane of a face
    counts as both. A point on or outside the boundary sees at least one face.
    """
    return np.stack([previous <= lower, previous >= upper], axis=-1).reshape(-1)


def align(
    lower: F64,
    upper: F64,
    directions: F64,
    weight: F64,
    *,
    start: F64 | None = None,
    end: F64 | None = None,
    starts: int = 2,
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
    starts : int
        How many searches, each with other candidates; the best path is finished.

    Returns
    -------
    Alignment
    """
    corridor = _corridor(lower, upper, directions, weight, start, end)
    found = [_search(corridor, number) for number in range(max(starts, 1))]
    best = min(found, key=lambda path: _objective(path[0], corridor.unit, corridor.weight)[0])
    value, nodes, faces = _polish(corridor, *best)
    angles = np.arccos(np.clip(cosines(nodes, directions, weight), -1.0, 1.0))
    return Alignment(nodes, faces, angles, value)


@dataclass(frozen=True, eq=False)
class _Corridor:
    """The boxes of all nodes (a given node is a box without width), and which faces each may lie on."""

    lower: F64
    upper: F64
    unit: F64
    weight: F64
    allowed: Int
    n_allowed: Int

    def deal(self, n: int, offset: int = 0) -> Int:
        """Return ``n`` faces for every node: its allowed ones in turn, from the ``offset``-th on."""
        turn = (np.arange(n) + offset) % self.n_allowed[:, None]
        return np.take_along_axis(self.allowed, turn, axis=1)


def _corridor(lower: F64, upper: F64, directions: F64, weight: F64, start: F64 | None, end: F64 | None) -> _Corridor:
    lower, upper = np.array(lower, np.float64), np.array(upper, np.float64)
    # A face counts when it can be seen from somewhere in the box before; all of them do for the first box.
    seen = np.ones((len(lower), 2 * lower.shape[1]), bool)
    seen[1:, ::2], seen[1:, 1::2] = lower[:-1] <= lower[1:], upper[:-1] >= upper[1:]
    allowed, n_allowed = np.argsort(~seen, axis=1, kind="stable"), seen.sum(axis=1)
    if end is not None:
        lower, upper = np.vstack([lower, end]), np.vstack([upper, end])
        allowed, n_allowed = np.vstack([allowed, np.full_like(allowed[:1], NO_FACE)]), np.append(n_allowed, 1)
    if start is not None:
        lower[0] = upper[0] = start
        allowed[0], n_allowed[0] = NO_FACE, 1
    unit, _ = _unit(directions * weight)
    return _Corridor(lower, upper, unit, np.asarray(weight, np.float64), allowed, n_allowed)


def _unit(vectors: F64) -> tuple[F64, Bool]:
    length = np.sqrt((vectors * vectors).sum(axis=-1))
    known = length > 0
    return vectors / np.where(known, length, 1.0)[..., None], known


def _spread(n: int, dimensions: int, offset: int) -> F64:
    """Return ``n`` points spread evenly over the unit cube, others for another offset (a Kronecker sequence)."""
    root = 2.0
    for _ in range(12):  # the generalised golden ratio: root ** (dimensions + 1) == root + 1
        root = (1 + root) ** (1 / (dimensions + 1))
    steps = root ** -np.arange(1.0, dimensions + 1)
    return (0.5 + steps * np.arange(offset * n, (offset + 1) * n)[:, None]) % 1.0


def _search(corridor: _Corridor, number: int) -> tuple[F64, Int]:
    """Return nodes and faces: the best combination of candidates, from far to near."""
    d = corridor.lower.shape[1]
    width = corridor.upper - corridor.lower
    # More than the width, then clipped: the best place is often an edge.
    place = np.clip(1.3 * _spread(_FIRST, d, number) - 0.15, 0.0, 1.0)
    points = corridor.lower[:, None] + place * width[:, None]
    faces = corridor.deal(_FIRST)
    nodes, chosen = _best(corridor, points, faces)
    for turn, radius in enumerate(_RADII):
        shift = radius * (2 * _spread(_CLOSER, d, number + turn) - 1)
        shift[0] = 0.0
        points = nodes[:, None] + shift * width[:, None]
        faces = corridor.deal(_CLOSER)
        faces[:, ::2] = chosen[:, None]  # half of them stay on their face, the others try the rest
        landing = corridor.deal(_RAYS, turn * _RAYS)
        points = np.concatenate([points, *_rays(corridor, nodes, landing)], axis=1)
        points = np.clip(points, corridor.lower[:, None], corridor.upper[:, None])
        nodes, chosen = _best(corridor, points, np.concatenate([faces, landing, landing], axis=1))
    return nodes, chosen


def _rays(corridor: _Corridor, nodes: F64, faces: Int) -> tuple[F64, F64]:
    """Return where rays from the nodes before, along the directions, and back from the nodes after meet some faces."""
    rows = np.arange(len(nodes))[:, None]
    feature = np.maximum(faces, 0) // 2
    plane = np.where(faces % 2 == 1, corridor.upper[rows, feature], corridor.lower[rows, feature])
    ray = np.divide(corridor.unit, corridor.weight, out=np.zeros_like(corridor.unit), where=corridor.weight > 0)
    made = []
    for here, there in ((slice(1, None), slice(None, -1)), (slice(None, -1), slice(1, None))):
        points = np.repeat(nodes[:, None], faces.shape[1], axis=1)
        origin, f = nodes[there], feature[here]
        along = np.take_along_axis(ray, f, axis=1)
        gap = plane[here] - np.take_along_axis(origin, f, axis=1)
        meets = gap * along > 0 if here.start else gap * along < 0
        reach = np.divide(gap, along, out=np.zeros_like(gap), where=meets)
        points[here] = np.where(meets[..., None], origin[:, None] + reach[..., None] * ray[:, None], points[here])
        made.append(points)
    return made[0], made[1]


def _best(corridor: _Corridor, points: F64, faces: Int) -> tuple[F64, Int]:
    """Return the best path that takes one candidate a node, by dynamic programming.

    Some path is always allowed: two boxes that do not overlap have a plane between them, and the face there is seen
    from all of the box before.
    """
    n, k, _ = points.shape
    rows = np.arange(n)[:, None], np.arange(k)[None, :]
    feature, up = np.maximum(faces, 0) // 2, faces % 2 == 1
    on_face = np.where(up, corridor.upper[rows[0], feature], corridor.lower[rows[0], feature])
    points[(*rows, feature)] = on_face
    if n == 1:
        return points[:, 0], faces[:, 0]
    step = (points[1:, None] - points[:-1, :, None]) * corridor.weight
    length = np.sqrt(np.einsum("nijd,nijd->nij", step, step) + SHORTEST**2)
    along = np.einsum("nijd,nd->nij", step, corridor.unit)
    cost = np.arccos(np.clip(along / length, -1.0, 1.0)) ** 2
    before = np.take_along_axis(points[:-1], feature[1:, None, :].repeat(k, axis=1), axis=2)
    face = on_face[1:, None, :]
    seen = np.where(up[1:, None, :], before >= face, before <= face) | (faces[1:, None, :] == NO_FACE)
    cost[~seen] = np.inf

    total = np.zeros(k)
    came_from = np.empty((n, k), np.int64)
    for j in range(n - 1):
        through = total[:, None] + cost[j]
        came_from[j + 1] = through.argmin(axis=0)
        total = through[came_from[j + 1], rows[1][0]]
    pick = np.empty(n, np.int64)
    pick[-1] = total.argmin()
    for j in range(n - 1, 0, -1):
        pick[j - 1] = came_from[j, pick[j]]
    return points[rows[0][:, 0], pick], faces[rows[0][:, 0], pick]


def limits(lower: F64, upper: F64, faces: Int) -> tuple[F64, F64]:
    """Return the bounds of every node that keep it on its face and every next face visible from it."""
    low, high = lower.copy(), upper.copy()
    for j, face in enumerate(faces):
        if face == NO_FACE:
            continue
        f, up = divmod(int(face), 2)
        plane = upper[j, f] if up else lower[j, f]
        low[j, f] = high[j, f] = plane
        if j and up:
            low[j - 1, f] = max(low[j - 1, f], plane)
        elif j:
            high[j - 1, f] = min(high[j - 1, f], plane)
    return low, high


def _polish(corridor: _Corridor, nodes: F64, faces: Int) -> tuple[float, F64, Int]:
    """Return objective, nodes and faces after a descent that keeps every node on its face."""
    from scipy.optimize import fmin_l_bfgs_b

    low, high = limits(corridor.lower, corridor.upper, faces)
    free = (low < high) & (corridor.weight > 0)
    if len(nodes) < 2 or not free.any():
        return _objective(nodes, corridor.unit, corridor.weight)[0], nodes, faces
    scale = np.broadcast_to(np.where(corridor.weight > 0, corridor.weight, 1.0), nodes.shape)[free]
    moved = nodes.copy()

    def function(position: F64) -> tuple[float, F64]:
        moved[free] = position / scale
        value, gradient = _objective(moved, corridor.unit, corridor.weight)
        return value, gradient[free] / scale

    bounds = np.stack([low[free], high[free]], axis=1) * scale[:, None]
    first = nodes[free] * scale
    position, value, _ = fmin_l_bfgs_b(function, first, bounds=bounds, maxiter=50, factr=1e8, pgtol=1e-5)
    before = _objective(nodes, corridor.unit, corridor.weight)[0]
    if not value < before:
        return before, nodes, faces
    result = nodes.copy()
    result[free] = np.clip(position / scale, low[free], high[free])
    return _objective(result, corridor.unit, corridor.weight)[0], result, faces
