"""Segments: the stretches of recorded episodes that lead from one place to another, and the most typical of them.

A place is a state or a zone. Near a state, each episode has one best stretch: the rows i < j for which the distance of
row i from the start plus that of row j from the end is least. Bent onto both states it is a way that somebody really
went. Between zones every passage counts, from the last row in the start zone to the first one in the goal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tripletree.log.derive import wrapped

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
Periods = Sequence[float]
Bool = npt.NDArray[np.bool_]

WITHIN = 1.5
"""Segments up to this multiple of the best gap may be followed: the medoid of more is farther from unseen paths."""

AROUND, AT_LEAST = 3.0, 10
"""Multiple of the best gap, and number of segments, for durations: with fewer their spread is too narrow."""

MOST = 100
"""Most segments that are compared with each other; of more, as many are taken at equal distances."""

POINTS = 33
"""Points along each segment at which two are compared."""

ROUNDS = 50
"""How often a rounded path is averaged with its neighbours: enough for stairs of ten steps or so."""

TOGETHER = 4096
"""Segments that are laid out in memory at once."""


@dataclass(frozen=True, eq=False)
class Segments:
    """Stretches of episodes.

    Attributes
    ----------
    episode : int64 array of shape (segments,)
        The episode of each, counted from 0.
    first, last : int64 arrays of shape (segments,)
        Rows of the log where each begins and ends; ``first < last``.
    start_gap, end_gap : float64 arrays of shape (segments,)
        Scaled distances of these rows from the start and from the end; 0 at a zone.
    """

    episode: I64
    first: I64
    last: I64
    start_gap: F64
    end_gap: F64

    def __len__(self) -> int:
        return len(self.episode)

    def __getitem__(self, which: slice | I64 | Bool) -> Segments:
        """Return some of the segments, in the order given."""
        return Segments(
            self.episode[which], self.first[which], self.last[which], self.start_gap[which], self.end_gap[which]
        )

    @property
    def gap(self) -> F64:
        """Sum of the gaps at both ends."""
        return self.start_gap + self.end_gap

    @property
    def steps(self) -> I64:
        """How long each lasts."""
        return self.last - self.first

    @property
    def votes(self) -> F64:
        """Weight of each segment, so that every episode has one vote however often it went there."""
        return np.asarray(1.0 / np.bincount(self.episode)[self.episode], np.float64)


def distances(states: F64, place: F64 | Bool, scale: F64, periods: Periods = ()) -> F64:
    """Return the scaled distance of each row from a place: the sum over the features.

    With the root of the sum of squares instead, the segments found are farther from unseen paths: on flights from
    start to end by a third, elsewhere by less or not at all.

    Parameters
    ----------
    states : float64 array of shape (rows, features)
        The rows.
    place : float64 array of shape (features,) or bool array of shape (rows,)
        A state, or the rows in a zone: those are at distance 0, and all others infinitely far.
    scale : float64 array of shape (features,)
        What counts as a distance of 1 in each feature, such as its range; a feature with 0 does not count.
    periods : sequence of float
        The periods of angles, which are as far apart as on the circle, and 0 for other features; none by default.
    """
    if place.dtype == np.bool_:
        return np.where(place, 0.0, np.inf)
    total = np.zeros(len(states))
    # One feature at a time: four times as fast as a table of all differences.
    with np.errstate(over="ignore"):  # a place may be so far away that its distance is infinite
        for f in np.flatnonzero(scale > 0).tolist():
            away = states[:, f] - place[f]
            total += np.abs(wrapped(away, periods[f]) if periods else away) / scale[f]
    return total


def nearest_segments(
    states: F64, starts: I64, a: F64 | Bool, b: F64 | Bool, scale: F64, periods: Periods = ()
) -> Segments:
    """Return the best segment of each episode, the one with the least gap first.

    Of equally good pairs of rows in an episode, the one that arrives first counts, and of those with the same distance
    from the start the one that leaves last. Episodes with the same gap stay in their order. An episode of one row has
    no segment, and neither has one that misses a zone.

    Parameters
    ----------
    states : float64 array of shape (rows, features)
        The recorded states.
    starts : int64 array of shape (episodes + 1,)
        Episode ``e`` is rows ``starts[e]`` to ``starts[e + 1]``.
    a, b, scale, periods
        Where from, where to, and the units; as in :func:`distances`. Between two zones see :func:`crossings`.
    """
    from_a, to_b = distances(states, a, scale, periods), distances(states, b, scale, periods)
    begins, rows = starts[:-1], np.arange(len(states))
    episode = np.repeat(np.arange(len(begins)), np.diff(starts))
    # Complex numbers are compared by their real parts first: each episode is below all before it, and begins anew.
    key = np.empty(len(states), np.complex128)
    key.real, key.imag = -episode, from_a
    so_far = np.append(np.inf, np.minimum.accumulate(key).imag[:-1])
    so_far[begins] = np.inf
    total = so_far + to_b
    best = np.minimum.reduceat(total, begins)
    found = np.flatnonzero(np.isfinite(best))
    hits = np.flatnonzero(total == best[episode])
    last = hits[np.searchsorted(episode[hits], found)]
    arrival, least = np.full(len(begins), -1), np.full(len(begins), np.nan)
    arrival[found], least[found] = last, so_far[last]
    hits = np.flatnonzero((from_a == least[episode]) & (rows < arrival[episode]))
    first = hits[np.searchsorted(episode[hits], found, side="right") - 1]
    return _by_gap(Segments(found, first, last, from_a[first], to_b[last]))


def crossings(starts: I64, from_rows: Bool, to_rows: Bool) -> Segments:
    """Return all segments that leave one zone and arrive at another next, in the order of the log.

    Each begins in the last row of a visit to the start zone and ends in the first row in the goal. Rows in both zones
    are in the goal already: none begins there.

    Parameters
    ----------
    starts : int64 array of shape (episodes + 1,)
        Episode ``e`` is rows ``starts[e]`` to ``starts[e + 1]``.
    from_rows, to_rows : bool arrays of shape (rows,)
        The rows in each zone.
    """
    events = np.flatnonzero(from_rows | to_rows)
    episode = np.searchsorted(starts, events, side="right") - 1
    goal = to_rows[events]
    passes = np.flatnonzero(~goal[:-1] & goal[1:] & (episode[:-1] == episode[1:]))
    nothing = np.zeros(len(passes))
    return Segments(episode[passes], events[passes], events[passes + 1], nothing, nothing)


def leaf_runs(
    states: F64,
    starts: I64,
    leaves: npt.NDArray[np.integer],
    a: F64 | Bool,
    b: F64 | Bool,
    ends: tuple[Bool, Bool],
    scale: F64,
    periods: Periods = (),
) -> Segments:
    """Return the segments from one leaf to another, or between sets of them, those nearest to both states first.

    Parameters
    ----------
    leaves : int array of shape (rows,)
        The leaf of each row.
    ends : two bool arrays of shape (leaves,)
        The leaves of ``a`` and those of ``b``; nothing leads from a leaf to itself.
    states, starts, a, b, scale, periods
        As in :func:`nearest_segments`; there is no gap at a zone.
    """
    runs = crossings(starts, ends[0][leaves], ends[1][leaves])
    gaps = gap_from(states[runs.first], a, scale, periods), gap_from(states[runs.last], b, scale, periods)
    return _by_gap(Segments(runs.episode, runs.first, runs.last, *gaps))


def gap_from(rows: F64, place: F64 | Bool, scale: F64, periods: Periods = ()) -> F64:
    """Return the distance of some rows from a state; 0 where the place is a zone."""
    return np.zeros(len(rows)) if place.dtype == np.bool_ else distances(rows, place, scale, periods)


def within(segments: Segments, factor: float = WITHIN, least: int = 1) -> Segments:
    """Return those of some segments, the best first, whose gap is at most ``factor`` times the best; ``least`` if any.

    For durations take ``within(segments, AROUND, AT_LEAST)``.
    """
    near = np.count_nonzero(segments.gap <= factor * segments.gap.min(initial=np.inf))
    return segments[: max(near, least)]


def bent(path: F64, a: F64 | None, b: F64 | None, scale: F64, periods: Periods = ()) -> tuple[F64, F64]:
    """Return paths that are bent onto their end points, and how far each was moved.

    The shift goes linearly in time from that of the first row to that of the last.

    Parameters
    ----------
    path : float64 array of shape (..., rows, features)
        One path or several.
    a, b : float64 arrays of shape (features,) or None
        Where each should begin and end; None: where it does.
    scale : float64 array of shape (features,)
        The ranges of the features.
    periods : sequence of float
        As in :func:`distances`: an angle is moved the shorter way round, and may leave its range on the way.

    Returns
    -------
    bent : float64 array of the shape of ``path``
    moved : float64 array of shape (...)
        The largest shift of a feature in any row, as a share of its range.
    """
    first = np.zeros_like(path[..., 0, :]) if a is None else a - path[..., 0, :]
    last = np.zeros_like(first) if b is None else b - path[..., -1, :]
    for f, period in enumerate(periods):
        first[..., f], last[..., f] = wrapped(first[..., f], period), wrapped(last[..., f], period)
    progress = np.linspace(0.0, 1.0, path.shape[-2])[:, None]
    moved = path + ((1 - progress) * first[..., None, :] + progress * last[..., None, :])
    # Rounding must not leave an end a hair off the state that was asked for.
    moved[..., 0, :], moved[..., -1, :] = path[..., 0, :] if a is None else a, path[..., -1, :] if b is None else b
    return moved, (np.maximum(np.abs(first), np.abs(last)) / _units(scale)).max(axis=-1)


def smoothed(path: F64, low: F64, high: F64) -> F64:
    """Return a path without the stairs that rounding made of it; its ends stay where they are.

    Parameters
    ----------
    path : float64 array of shape (rows, features)
        Rounded states, one after the other.
    low, high : float64 arrays of the same shape
        What each may have been: nothing is moved beyond.
    """
    path = path.copy()
    for _ in range(ROUNDS):
        path[1:-1] = np.clip(path[1:-1] / 2 + (path[:-2] + path[2:]) / 4, low[1:-1], high[1:-1])
    return path


def resample(states: F64, segments: Segments, points: int = POINTS) -> F64:
    """Return each segment at equal steps of time, shape (segments, points, features)."""
    at = segments.first[:, None] + np.linspace(0.0, 1.0, points) * segments.steps[:, None]
    row = np.minimum(at.astype(np.int64), segments.last[:, None] - 1)
    share = (at - row)[..., None]
    return np.asarray(states[row] * (1 - share) + states[row + 1] * share, np.float64)


def duration(segments: Segments) -> tuple[int, int, int]:
    """Return the durations that 10, 50 and 90 % of the episodes do not exceed, in steps; all of them were recorded."""
    order = np.argsort(segments.steps, kind="stable")
    share = np.cumsum(segments.votes[order])
    # A hair less, so that a sum of rounded votes still reaches its share.
    at = np.searchsorted(share, np.array([0.1, 0.5, 0.9]) * share[-1] * (1 - 1e-12))
    low, middle, high = segments.steps[order[at]].tolist()
    return low, middle, high


def typical(
    states: F64,
    segments: Segments,
    scale: F64,
    k: int = 1,
    *,
    a: F64 | None = None,
    b: F64 | None = None,
    periods: Periods = (),
) -> tuple[I64, F64]:
    """Return segments that stand for all, and the share of the episodes that each stands for.

    The first is the medoid: the one with the least mean distance from the others at the same progress in time, every
    episode having one vote. Each further one is of another episode, and brings the rest nearest to those chosen. There
    are fewer than ``k`` when no other would.

    Parameters
    ----------
    states : float64 array of shape (rows, features)
        The recorded states.
    segments : Segments
        At least one. Of more than ``MOST``, some are chosen from, and all are counted.
    scale : float64 array of shape (features,)
        The units; as in :func:`distances`.
    periods : sequence of float
        The periods of angles, as in :func:`distances`.
    k : int
        How many at most.
    a, b : float64 arrays of shape (features,) or None
        Compare the segments as bent onto these states.

    Returns
    -------
    chosen : int64 array of shape (k or fewer,)
        Positions in ``segments``.
    shares : float64 array of the same shape
        They add up to 1.
    """
    votes = segments.votes / segments.votes.sum()
    compared = np.unique(np.linspace(0, len(segments) - 1, min(MOST, len(segments))).astype(np.int64))

    def paths(some: Segments) -> F64:
        return np.asarray(bent(resample(states, some), a, b, scale, periods)[0] / _units(scale), np.float64)

    turns = tuple((np.array(periods) / _units(scale)).tolist()) if periods else ()
    few, of = paths(segments[compared]), segments.episode[compared]
    table = np.stack([_apart(few, one, turns) for one in few])
    nearest, chosen = np.full(len(compared), np.inf), list[int]()
    for _ in range(k):
        brought = np.minimum(table, nearest)
        cost = brought @ votes[compared]
        cost[np.isin(of, of[chosen])] = np.inf
        if np.isinf(cost).all():
            break
        # The first of equal ones, however a machine rounds sums.
        best = int(np.argmax(cost <= cost.min() * (1 + 1e-12)))
        if chosen and not (brought[best] < nearest).any():
            break
        nearest = brought[best]
        chosen.append(best)
    if len(chosen) == 1:
        return compared[chosen], np.ones(1)
    like = []
    for begin in range(0, len(segments), TOGETHER):
        some = paths(segments[begin : begin + TOGETHER])
        like.append(np.stack([_apart(some, few[one], turns) for one in chosen]).argmin(axis=0))
    return compared[chosen], np.asarray(np.bincount(np.concatenate(like), votes, len(chosen)), np.float64)


def alternatives(segments: Segments, chosen: int) -> I64:
    """Return the positions of the best segment of every episode but that of the chosen one, in their order."""
    _, best = np.unique(segments.episode, return_index=True)
    return np.sort(best[segments.episode[best] != segments.episode[chosen]])


def _apart(paths: F64, one: F64, periods: Periods) -> F64:
    """Return the mean distance of each path from one of them, point by point."""
    step = paths - one
    for f, period in enumerate(periods):
        step[..., f] = wrapped(step[..., f], period)
    return np.asarray(np.sqrt(np.einsum("ijk,ijk->ij", step, step)).mean(axis=1), np.float64)


def _by_gap(segments: Segments) -> Segments:
    return segments[np.argsort(segments.gap, kind="stable")]


def _units(scale: F64) -> F64:
    """Return what to divide by: a feature without a scale becomes 0."""
    return np.where(scale > 0, scale, np.inf)
