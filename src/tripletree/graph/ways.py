"""Ways: what a way between two places can follow, from a recorded segment down to episodes joined at their leaves.

First comes a segment that passes near both states, or from one zone to the other. Where no episode does, a run from
the leaf of the one to the leaf of the other is followed, and where there is no run either, a bridge: stretches of
several episodes, each handed over to the next where both enter the same leaf from the same leaf. What remains is left
to the caller.

Of segments and runs, follow the medoid (``typical``) of those ``within`` reach of the best, ``bent`` onto both states;
of a bridge, what ``joined`` makes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tripletree.graph.segments import (
    Periods,
    Segments,
    bent,
    crossings,
    distances,
    gap_from,
    leaf_runs,
    nearest_segments,
)

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]
Leaves = npt.NDArray[np.integer]

FAR = 0.7
"""Gap from which on a segment is not near: bent, it is nearer to an unseen path than a straight line hardly more often
than not. Half of it where one end is a zone, at which there is no gap."""

SEGMENT, LEAVES, BRIDGE, NONE = "segment", "leaves", "bridge", "none"
"""What a way may follow, in the order in which it is tried."""

START, END, APART, NO_RUN, NO_BRIDGE = "start", "end", "apart", "no run", "no bridge"
"""Why something else is tried: no episode comes near the start (or into it, if it is a zone), or near the end; some
come near each, but none near the start and later near the end; none goes from the leaf of the start to that of the
end; nor do several, joined."""


@dataclass(frozen=True, eq=False)
class Found:
    """What a way between two places can follow.

    Attributes
    ----------
    method : str
        ``SEGMENT``, ``LEAVES``, ``BRIDGE`` or ``NONE``.
    reasons : tuple of str
        Why it is not what is tried before: some of ``START``, ``END``, ``APART``, ``NO_RUN``, ``NO_BRIDGE``.
    segments : Segments
        All there are, the best first, and one an episode for ``SEGMENT`` near a state; for ``BRIDGE`` the stretches of
        the one way.
    """

    method: str
    reasons: tuple[str, ...]
    segments: Segments


def find(
    states: F64,
    starts: I64,
    leaves: Leaves,
    a: F64 | Bool,
    b: F64 | Bool,
    ends: tuple[Bool, Bool],
    scale: F64,
    far: float = FAR,
    periods: Periods = (),
) -> Found:
    """Return what a way between two places can follow, and why nothing better.

    Parameters
    ----------
    states, starts, leaves, a, b, ends, scale
        As in :func:`~tripletree.graph.segments.leaf_runs`.
    far : float
        Gap from which on a segment is not near.
    periods : sequence of float
        The periods of angles, as in :func:`~tripletree.graph.segments.distances`.
    """
    zones = [place.dtype == np.bool_ for place in (a, b)]
    if all(zones):
        near = crossings(starts, np.asarray(a, bool), np.asarray(b, bool))
    else:
        near = nearest_segments(states, starts, a, b, scale, periods)
        near = near[near.gap < (far / 2 if any(zones) else far)]
    if len(near):
        return Found(SEGMENT, (), near)
    # With half of it at each end an episode would be near, if it were the same one and in this order.
    away = [
        reason for reason, place in ((START, a), (END, b)) if distances(states, place, scale, periods).min() >= far / 2
    ]
    reasons = tuple(away or [APART])
    runs = leaf_runs(states, starts, leaves, a, b, ends, scale, periods)
    if len(runs):
        return Found(LEAVES, reasons, runs)
    stretches = bridge(states, starts, leaves, a, b, ends, scale)
    if len(stretches):
        return Found(BRIDGE, (*reasons, NO_RUN), stretches)
    return Found(NONE, (*reasons, NO_RUN, NO_BRIDGE), stretches)


def bridge(
    states: F64, starts: I64, leaves: Leaves, a: F64 | Bool, b: F64 | Bool, ends: tuple[Bool, Bool], scale: F64
) -> Segments:
    """Return the stretches of a way that several episodes go together, in its order; nothing where there is none.

    It is the one with the least sum of hand-overs and of the gaps at its two ends, and of several such ones the
    shortest; nothing leads from a leaf to itself. Only runs that came from the same leaf hand over to each other, so
    that the way remembers where it came from. A gap is the distance from ``a``, from ``b``, or from the middle of a
    hand-over.

    Parameters
    ----------
    states, starts, leaves, a, b, ends, scale
        As in :func:`~tripletree.graph.segments.leaf_runs`.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    begins = np.append(True, leaves[1:] != leaves[:-1])
    begins[starts[:-1]] = True
    first = np.flatnonzero(begins)
    runs, leaf = np.arange(len(first)), leaves[first].astype(np.int64)
    opening = np.isin(first, starts[:-1])
    before = np.where(opening, -1, np.roll(leaf, 1))
    kinds, kind = np.unique(before * (leaf.max() + 1) + leaf, return_inverse=True)
    hub = len(runs) + kind
    source, target = len(runs) + len(kinds), len(runs) + len(kinds) + 1
    on = np.flatnonzero(~opening)  # runs that another one goes on to
    entered, arriving = on[ends[0][before[on]]], runs[(ends[1] & ~ends[0])[leaf]]
    # SciPy takes a stored zero for no edge, and of two equal ways the shorter is to win: so every step costs a little.
    little = 1e-3 / len(states)
    edges = [
        (on - 1, on, (first[on] - first[on - 1]) * little),
        (runs, hub, np.ones(len(runs))),
        (hub, runs, np.full(len(runs), little)),
        (np.full(len(entered), source), entered, gap_from(states[first[entered] - 1], a, scale) + little),
        (arriving, np.full(len(arriving), target), gap_from(states[first[arriving]], b, scale) + little),
    ]
    rows, columns, cost = (np.concatenate(parts) for parts in zip(*edges, strict=True))
    graph = csr_array((cost, (rows, columns)), shape=(target + 1, target + 1))
    _, previous = dijkstra(graph, indices=source, return_predecessors=True)
    way = [target]
    while previous[way[-1]] >= 0:
        way.append(int(previous[way[-1]]))
    # Between two hubs the way stays in one episode.
    inner = np.array(way[-2:0:-1], np.int64)
    stays = [part[part < len(runs)] for part in np.split(inner, np.flatnonzero(inner >= len(runs)))]
    pairs = np.array([(first[part[0]], first[part[-1]]) for part in stays if len(part)], np.int64).reshape(-1, 2)
    pairs[:1, 0] -= 1
    begin, end = pairs[pairs[:, 0] < pairs[:, 1]].T
    places, nothing = _places(states, begin, end, a, b), np.zeros_like(scale)
    return Segments(
        np.searchsorted(starts, begin, side="right") - 1,
        begin,
        end,
        distances(states[begin] - places[:-1], nothing, scale),
        distances(states[end] - places[1:], nothing, scale),
    )


def joined(states: F64, stretches: Segments, a: F64 | Bool, b: F64 | Bool, scale: F64) -> tuple[F64, float]:
    """Return the stretches of a bridge as one path, bent onto each other, and how far they were moved at most.

    Parameters
    ----------
    states, a, b, scale
        As in :func:`bridge`.
    stretches : Segments
        What it returned.

    Returns
    -------
    path : float64 array of shape (steps + 1, features)
        From ``a`` to ``b``, or from where it leaves one zone to where it enters another; at a hand-over it goes
        through the middle of the two states.
    moved : float
        The largest shift of a feature, as a share of its range.
    """
    places = _places(states, stretches.first, stretches.last, a, b)
    ways = [
        bent(states[first : last + 1], here, there, scale)
        for first, last, here, there in zip(stretches.first, stretches.last, places[:-1], places[1:], strict=True)
    ]
    path = np.concatenate([ways[0][0], *(way[1:] for way, _ in ways[1:])])
    return path, max(float(moved) for _, moved in ways)


def _places(states: F64, first: I64, last: I64, a: F64 | Bool, b: F64 | Bool) -> F64:
    """Return where the stretches of a bridge begin and end, shape (stretches + 1, features)."""
    if not len(first):
        return np.empty((1, states.shape[1]))
    ends = [states[row] if place.dtype == np.bool_ else place for row, place in ((first[0], a), (last[-1], b))]
    return np.vstack([ends[0], (states[last[:-1]] + states[first[1:]]) / 2, ends[1]])
