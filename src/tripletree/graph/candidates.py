"""Candidates: the best of many paths through rows of boxes, put together from points on their faces.

Points on the faces that a node may lie on, some spread evenly, some where one comes by following the derivatives, are
joined by dynamic programming, which finds the best of all their combinations, faces included; this is repeated with
points closer and closer around the best. Many paths are searched at once, and none knows of the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

F64 = npt.NDArray[np.float64]
Int = npt.NDArray[np.int64]

NO_FACE = -1
"""The face of a node that is given and does not move."""

SHORTEST = 1e-6
"""Segments much shorter than this (in standard deviations of the derivatives) have no direction: their angle is 90°."""

FIRST = 32
"""Candidates of a node at first."""

_FORTH, _BACK = slice(0, 12), slice(12, 24)
_CLOSER, _RAYS = 12, 4
_RADII = (1.0, 0.4, 0.2, 0.1, 0.05)
_HIDDEN = np.float32(1e6)


@dataclass(frozen=True, eq=False)
class Corridors:
    """Rows of boxes, one for each path, with as many nodes as the longest has.

    A node that is given is a box without width. So are the nodes after the last of a shorter path, whose segments have
    no direction to follow.

    Attributes
    ----------
    lower, upper : float64 arrays of shape (paths, nodes, features)
        The boxes.
    unit : float64 array of shape (paths, nodes - 1, features)
        What each segment should follow, times the weight, of length 1; zeros where that is nothing.
    weight : float64 array of shape (features,)
        What differences are multiplied by before angles are taken.
    allowed : int64 array of shape (paths, nodes, 2 * features)
        Faces that a node may lie on, first the allowed ones.
    n_allowed : int64 array of shape (paths, nodes)
        How many these are.
    """

    lower: F64
    upper: F64
    unit: F64
    weight: F64
    allowed: Int
    n_allowed: Int

    def __getitem__(self, rows: slice | Int) -> Corridors:
        """Return some of the rows, perhaps repeatedly."""
        lower, upper, unit = self.lower[rows], self.upper[rows], self.unit[rows]
        return Corridors(lower, upper, unit, self.weight, self.allowed[rows], self.n_allowed[rows])

    @cached_property
    def rays(self) -> F64:
        """The directions that segments should have, in the units of the features, shape of ``unit``."""
        return np.divide(self.unit, self.weight, out=np.zeros_like(self.unit), where=self.weight > 0)

    @cached_property
    def seen(self) -> npt.NDArray[np.bool_]:
        """Whether each face is allowed, shape of ``allowed``."""
        mask = np.zeros(self.allowed.shape, np.bool_)
        rank = np.arange(2 * len(self.weight)) < self.n_allowed[..., None]
        np.put_along_axis(mask, np.maximum(self.allowed, 0), rank, axis=2)
        return mask

    def deal(self, n: int, offset: int = 0) -> Int:
        """Return ``n`` faces for every node: its allowed ones in turn, from the ``offset``-th on."""
        turn = (np.arange(n) + offset) % self.n_allowed[..., None]
        return np.take_along_axis(self.allowed, turn, axis=2)

    def put(self, points: F64, faces: Int) -> None:
        """Put points on their faces, in place; ``points`` has shape (paths, nodes, n, features)."""
        np.put_along_axis(points, np.maximum(faces, 0)[..., None] // 2, self.planes(faces)[..., None], axis=3)

    def planes(self, faces: Int) -> F64:
        """Return where on its axis each face lies; ``faces`` has shape (paths, nodes, n)."""
        feature = np.maximum(faces, 0) // 2
        low, high = (np.take_along_axis(bound, feature, axis=2) for bound in (self.lower, self.upper))
        return np.where(faces % 2 == 1, high, low)


def search(corridors: Corridors, number: Int) -> tuple[F64, Int]:
    """Return nodes and faces of the best combination of candidates, from far to near.

    Parameters
    ----------
    corridors : Corridors
        The boxes.
    number : int64 array of shape (paths,)
        Which candidates: others for another number.
    """
    d = corridors.lower.shape[2]
    width = corridors.upper - corridors.lower
    # More than the width, then clipped: the best place is often an edge.
    place = np.clip(1.3 * _spread(FIRST, d, number) - 0.15, 0.0, 1.0)
    points = corridors.lower[:, :, None] + place[:, None] * width[:, :, None]
    faces = corridors.deal(FIRST)
    corridors.put(points, faces)
    # Some go with the flow from the first box on, some against it from the last.
    points[:, :, _FORTH], faces[:, :, _FORTH] = _forth(corridors, points[:, 0, _FORTH], faces[:, 0, _FORTH])
    points[:, :, _BACK], faces[:, :, _BACK] = _back(corridors, points[:, :, _BACK], faces[:, :, _BACK])
    nodes, chosen = join(corridors, points, faces)
    for turn, radius in enumerate(_RADII):
        shift = radius * (2 * _spread(_CLOSER, d, number + turn) - 1)
        shift[:, 0] = 0.0
        points = nodes[:, :, None] + shift[:, None] * width[:, :, None]
        faces = corridors.deal(_CLOSER)
        faces[:, :, ::2] = chosen[..., None]  # half of them stay on their face, the others try the rest
        landing = corridors.deal(_RAYS, turn * _RAYS)
        points = np.concatenate([points, *_rays(corridors, nodes, landing)], axis=2)
        np.clip(points, corridors.lower[:, :, None], corridors.upper[:, :, None], out=points)
        nodes, chosen = join(corridors, points, np.concatenate([faces, landing, landing], axis=2))
    return nodes, chosen


def _spread(n: int, dimensions: int, number: Int) -> F64:
    """Return ``n`` points spread evenly over the unit cube for every number (a Kronecker sequence)."""
    root = 2.0
    for _ in range(12):  # the generalised golden ratio: root ** (dimensions + 1) == root + 1
        root = (1 + root) ** (1 / (dimensions + 1))
    steps = root ** -np.arange(1.0, dimensions + 1)
    return (0.5 + steps * (number[:, None] * n + np.arange(n))[..., None]) % 1.0


def _forth(corridors: Corridors, points: F64, faces: Int) -> tuple[F64, Int]:
    """Return paths that follow the directions from points of the first box, as well as the next boxes let them."""
    ray, made, on = corridors.rays, [points], [faces]
    for j in range(1, corridors.lower.shape[1]):
        here, low, high, along = made[-1], corridors.lower[:, j, None], corridors.upper[:, j, None], ray[:, j - 1, None]
        below, above = here <= low, here >= high
        gap = np.where(below, low - here, np.where(above, high - here, 0.0))
        time = np.divide(gap, along, out=np.zeros_like(gap), where=gap * along > 0)
        # It enters by the face that it comes to last, of those that it comes to at all.
        feature = np.where(below | above, time, -1.0).argmax(axis=2)[..., None]
        made.append(np.clip(here + np.take_along_axis(time, feature, axis=2) * along, low, high))
        face = 2 * feature + np.take_along_axis(above & ~below, feature, axis=2)
        on.append(np.where(corridors.allowed[:, j, :1] == NO_FACE, NO_FACE, face[..., 0]))
    return np.stack(made, axis=1), np.stack(on, axis=1)


def _back(corridors: Corridors, points: F64, faces: Int) -> tuple[F64, Int]:
    """Return paths that go back against the directions from points of the last box.

    Where there is no direction, as after the last box of a shorter path, the given ``points`` and ``faces`` stand.
    """
    ray, made, on = corridors.rays, [points[:, -1]], [faces[:, -1]]
    for j in range(corridors.lower.shape[1] - 2, -1, -1):
        low, high, along = corridors.lower[:, j, None], corridors.upper[:, j, None], ray[:, j, None]
        here = np.where(along.any(axis=2, keepdims=True), np.clip(made[-1], low, high), points[:, j])
        time = np.stack([here - low, here - high], axis=-1)
        np.divide(time, along[..., None], out=time, where=along[..., None] != 0)
        leads = np.stack([along > 0, along < 0], axis=-1) & corridors.seen[:, j, None].reshape(len(ray), 1, -1, 2)
        time = np.where(leads, time, np.inf).reshape(*here.shape[:2], -1)
        face = np.where(leads.any(axis=(2, 3)), time.argmin(axis=2), faces[:, j])[..., None]
        reach = np.take_along_axis(time, np.maximum(face, 0), axis=2)
        made.append(np.clip(here - np.where(np.isfinite(reach), reach, 0.0) * along, low, high))
        on.append(face[..., 0])
    return np.stack(made[::-1], axis=1), np.stack(on[::-1], axis=1)


def _rays(corridors: Corridors, nodes: F64, faces: Int) -> tuple[F64, F64]:
    """Return where rays from the nodes before, along the directions, and back from the nodes after meet some faces."""
    feature, plane = np.maximum(faces, 0) // 2, corridors.planes(faces)
    ray, made = corridors.rays, []
    for here, there in ((slice(1, None), slice(None, -1)), (slice(None, -1), slice(1, None))):
        points = np.repeat(nodes[:, :, None], faces.shape[2], axis=2)
        origin, f = nodes[:, there], feature[:, here]
        along = np.take_along_axis(ray, f, axis=2)
        gap = plane[:, here] - np.take_along_axis(origin, f, axis=2)
        meets = gap * along > 0 if here.start else gap * along < 0
        reach = np.divide(gap, along, out=np.zeros_like(gap), where=meets)
        landed = origin[:, :, None] + reach[..., None] * ray[:, :, None]
        points[:, here] = np.where(meets[..., None], landed, points[:, here])
        made.append(points)
    return made[0], made[1]


def join(corridors: Corridors, points: F64, faces: Int) -> tuple[F64, Int]:
    """Return nodes and faces of the best paths that take one candidate a node, by dynamic programming.

    Parameters
    ----------
    corridors : Corridors
        The boxes.
    points : float64 array of shape (paths, nodes, candidates, features)
        The candidates; they are put on their faces in place.
    faces : int64 array of shape (paths, nodes, candidates)
        The faces.

    Some path is always allowed: two boxes that do not overlap have a plane between them, and the face there is seen
    from all of the box before.
    """
    b, n, k, _ = points.shape
    corridors.put(points, faces)
    cost = _costs(corridors, points, faces)
    total = [np.zeros((b, k), np.float32)]
    for j in range(n - 1):
        total.append((total[-1][:, :, None] + cost[:, j]).min(axis=1))
    rows = np.arange(b)
    pick = np.empty((b, n), np.int64)
    pick[:, -1] = total[-1].argmin(axis=1)
    for j in range(n - 2, -1, -1):
        pick[:, j] = (total[j] + cost[rows, j, :, pick[:, j + 1]]).argmin(axis=1)
    chosen = np.take_along_axis(points, pick[..., None, None], axis=2)[:, :, 0]
    return chosen, np.take_along_axis(faces, pick[..., None], axis=2)[..., 0]


def _costs(corridors: Corridors, points: F64, faces: Int) -> npt.NDArray[np.float32]:
    """Return the squared angle of every segment between candidates, shape (paths, segments, from, to)."""
    centre = (corridors.lower + corridors.upper) / 2
    # Differences by products: about a point nearby they lose no digits that matter.
    scaled = (points - centre[:, :, None]) * corridors.weight
    here = scaled[:, :-1]
    there = scaled[:, 1:] + ((centre[:, 1:] - centre[:, :-1]) * corridors.weight)[:, :, None]
    unit = corridors.unit[..., None]
    length = _sums(-2 * here, there, _squares(here) + SHORTEST**2, _squares(there))
    np.sqrt(np.maximum(length, SHORTEST**2, out=length), out=length)
    along = _sums(here[..., :0], there[..., :0], -(here @ unit), there @ unit)
    # Single precision is enough to choose among candidates, and twice as fast.
    cost = np.divide(along, length, out=along).astype(np.float32)
    np.arccos(np.clip(cost, -1.0, 1.0, out=cost), out=cost)
    cost *= cost
    # A face is hidden from points on its inner side. The sign of a difference is exact.
    sign = np.where(faces == NO_FACE, 0.0, np.where(faces % 2 == 1, -1.0, 1.0))[:, 1:, :, None]
    inwards = sign * (faces[:, 1:, :, None] // 2 == np.arange(points.shape[3]))
    cost += (_sums(points[:, :-1], inwards, 0.0, -sign * corridors.planes(faces)[:, 1:, :, None]) > 0) * _HIDDEN
    return cost


def _squares(points: F64) -> F64:
    squares: F64 = np.einsum("bnkd,bnkd->bnk", points, points)
    return squares[..., None]


def _sums(left: F64, right: F64, of_left: F64 | float, of_right: F64) -> F64:
    """Return the products of all pairs of points, plus a number of the left and one of the right one.

    One product of matrices does it all: to add numbers along rows and columns afterwards takes longer.
    """
    b, n, k, d = left.shape
    first, second = np.ones((b, n, k, d + 2)), np.ones((b, n, k, d + 2))
    first[..., :d], second[..., :d] = left, right
    first[..., d:-1], second[..., -1:] = of_left, of_right
    sums: F64 = first @ second.transpose(0, 1, 3, 2)
    return sums
