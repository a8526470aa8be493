"""The transition graph: leaves as nodes, moves between them as arrows; if there are many, the most frequent ones."""

from __future__ import annotations

import heapq
import textwrap
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.answers.outline import Outline
from tripletree.checks import check_number, check_whole
from tripletree.errors import ParameterError
from tripletree.graph.transitions import Transitions
from tripletree.language.numbers import percent
from tripletree.model.evaluate import check_log, transitions_on
from tripletree.model.fit import available_cores
from tripletree.model.fitted import Fitted
from tripletree.scenes.colouring import colour_scale, read_colour
from tripletree.scenes.colours import INK, ON_DARK, ON_LIGHT, OTHER, PAPER, PHASES, dark
from tripletree.scenes.guides import shade_of, shades
from tripletree.scenes.layout import hops, layout
from tripletree.scenes.types import Axis, Entry, Labels, Links, Mark, Points, Scene
from tripletree.scenes.view import leaf_boxes, read_model, read_view
from tripletree.text import Message, Option, count

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

SMALLEST, NUMBERED, LARGEST, END = 4.0, 11.0, 18.0, 15.0
"""Diameters in points: of the smallest leaf, without and with a number in it, of the largest, and of the end."""
THINNEST, THICKEST = 0.4, 2.6
"""Widths of arrows of probability 0 and 1, in points."""
ASPECT = 1.25
"""Width of a layout whose height is 1."""
MOST_NUMBERED = 45
"""With more nodes than this there is no room for their numbers."""
NAMED, LETTERS = 1.6, 22
"""How much larger the disc of a region is, and letters in a line of its name."""
DIGITS = 6.2
"""Size of the numbers in nodes, in points: three digits fit in the smallest node that has one."""


@dataclass(frozen=True, eq=False)
class Part:
    """The strongest moves of a log: which edges, the leaves (and the end) that they connect, and their share of all."""

    edges: I64
    nodes: I64
    flow: float


def strongest(moves: Transitions, share: float, most: int) -> Part:
    """Return the most frequent moves that are connected, until they make up ``share`` of all or there are ``most``.

    After the most frequent move, the next is always the most frequent one that touches a leaf already shown: so the
    picture is in one piece, not in splinters. Only when none touches any, another piece begins. When episodes end, at
    least one move to the end is included.
    """
    total = int(moves.count.sum())
    if not total:
        return Part(np.zeros(0, np.int64), np.flatnonzero(moves.samples > 0)[: most + 1], 1.0)
    # The heap holds ranks, so that what comes off it is the most frequent edge, and ties have an order.
    order = np.argsort(-moves.count, kind="stable")
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    around: list[list[int]] = [[] for _ in range(moves.n_leaves + 1)]
    for edge, (source, target) in enumerate(zip(moves.source.tolist(), moves.target.tolist(), strict=True)):
        around[source].append(edge)
        around[target].append(edge)
    kept: list[int] = []
    taken = np.zeros(len(order), bool)
    seen: set[int] = set()
    waiting: list[int] = []
    flow = 0
    # Less a hair: 0.07 * 100 is more than 7 in floating point, and would ask for one edge too many.
    while len(kept) < min(most, len(order)) and flow < (share - 1e-12) * total:
        edge = int(order[heapq.heappop(waiting)]) if waiting else int(order[np.flatnonzero(~taken[order])[0]])
        # An edge waits twice when both of its leaves are shown.
        if taken[edge]:
            continue
        taken[edge] = True
        kept.append(edge)
        flow += int(moves.count[edge])
        # All episodes meet at the end, which would connect everything: nothing is found through it.
        for node in {int(moves.source[edge]), int(moves.target[edge])} - seen - {moves.end}:
            seen.add(node)
            for near in around[node]:
                if not taken[near]:
                    heapq.heappush(waiting, int(rank[near]))
    ends = [int(edge) for edge in order if moves.target[edge] == moves.end]
    if ends and not taken[ends].any():
        # The end is always shown, reached from a leaf that is there already if one leads to it.
        shown = [edge for edge in ends if int(moves.source[edge]) in seen]
        kept = [*kept[: most - 1], (shown or ends)[0]]
    edges = np.sort(np.array(kept, np.int64))
    nodes = np.unique(np.concatenate([moves.source[edges], moves.target[edges]])).astype(np.int64)
    return Part(edges, nodes, float(moves.count[edges].sum() / total))


def transitions(
    model: Any,
    x: Any = None,
    y: Any = None,
    *,
    colour: Any = "value",
    share: Any = 0.9,
    most: Any = 100,
    log: Any = None,
) -> Scene:
    """Return the transition graph.

    Parameters
    ----------
    model : TripleTree or Fitted
        The tree.
    x, y : str or None
        Features that place each leaf, by its middle; None: a layout that keeps neighbours close.
    colour : str
        What is shown by colour, as in a leaf map.
    share : float
        Show the most frequent moves until they are this share of all ...
    most : int
        ... or there are this many arrows.
    log : Log or None
        Whose moves; None: the training log's.
    """
    fitted = read_model(model)
    if (x is None) != (y is None):
        raise ParameterError(
            Message("Give both {} and {} to place leaves by two features, or neither.", Option("x"), Option("y"))
        )
    check_number(share, "share", most=1, above=0, example=0.9)
    check_whole(most, "most", 1, example=100)
    check_log(log, "log", none="the training log")
    moves = transitions_on(fitted, log, available_cores())
    part = strongest(moves, float(share), int(most))
    end_shown = bool(len(part.nodes)) and part.nodes[-1] == moves.end
    leaves = part.nodes[:-1] if end_shown else part.nodes
    n = len(leaves)
    size = node_sizes(moves, leaves, numbered=n <= MOST_NUMBERED)
    place, ends, axes = by_layout(moves, part, n) if x is None else _by_features(fitted, moves, part, n, x, y)
    pictured = read_colour(fitted, leaf_boxes(fitted), colour)
    categories = pictured.scale == "categories"
    value = pictured.mean[leaves].argmax(axis=1).astype(np.float64) if categories else pictured.mean[leaves, 0]
    marks: list[Mark] = []
    if len(part.edges):
        marks.append(arrows(moves, part, place, ends, size))
    # Small ones on top, where leaves have the same place.
    top = np.argsort(-size[:n], kind="stable")
    marks.append(Points(place[top, 0], place[top, 1], size[top], value=value[top], edge=PAPER, leaf=leaves[top]))
    if end_shown:
        marks.append(Points(place[n:, 0], place[n:, 1], END, INK, symbol="square", edge=PAPER))
        marks.append(Labels(place[n:, 0], place[n:, 1], ("end",) * (len(place) - n), 5.5, PAPER))
    scale = colour_scale(pictured, value)
    if n <= MOST_NUMBERED:
        marks += _numbers(leaves, place[:n], [shades(scale)[code] for code in shade_of(scale, value)])
    note = "Width: probability of the move; size: time spent in the leaf" if len(part.edges) else ""
    return Scene(
        "How the agent moves from leaf to leaf",
        *axes,
        tuple(marks),
        _said(moves, part, n),
        scale,
        (Entry("end of the episode", INK, "square"),) if end_shown else (),
        note,
    )


def regions(found: Outline) -> Scene:
    """Return the regions of an outline as a graph, with their names; moves that hardly ever happen are left out."""
    every, n = found.regions, len(found.regions)
    moves, part = region_moves(found)
    end_shown = len(part.nodes) > n
    place, last, axes = by_layout(moves, part, n)
    size = node_sizes(moves, part.nodes[:n], numbered=True) * NAMED
    marks: list[Mark] = [arrows(moves, part, place, last, size)] if len(part.edges) else []
    for one in every:
        colour = PHASES[one.number] if one.number < len(PHASES) else OTHER
        at = place[[one.number]]
        marks.append(Points(at[:, 0], at[:, 1], float(size[one.number]), colour, edge=INK))
        marks.append(Labels(at[:, 0], at[:, 1], (percent(one.share),), DIGITS, ON_LIGHT))
        for line, text in enumerate(textwrap.wrap(one.name, LETTERS)):
            below = (0.0, -size[one.number] / 2 - 6.0 - 8.0 * line)
            marks.append(Labels(at[:, 0], at[:, 1], (text,), 7.0, ON_LIGHT, shift=below, framed=True))
    if end_shown:
        marks.append(Points(place[n:, 0], place[n:, 1], END, INK, symbol="square", edge=PAPER))
        marks.append(Labels(place[n:, 0], place[n:, 1], ("end",) * (len(place) - n), 5.5, PAPER))
    # Names stand below their discs and may be long.
    across, up = _padded(axes[0], 0.08, 0.08), _padded(axes[1], 0.12, 0.0)
    return Scene("How the agent moves from region to region", across, up, tuple(marks))


def region_moves(found: Outline) -> tuple[Transitions, Part]:
    """Return the moves between the regions of an outline, as if regions were leaves; and all of them, with the end."""
    n = len(found.regions)
    source, target, count = [], [], []
    for one in found.regions:
        for to, share in one.following:
            source.append(one.number)
            target.append(n if to is None else to)
            count.append(max(round(share * (one.visits - one.cut)), 1))
    none = np.zeros(n, np.int64)
    edges = np.array(count, np.int64)
    ends = (np.array(source, np.int32), np.array(target, np.int32))
    time = np.array([round(one.share * 1e6) for one in found.regions], np.int64)
    moves = Transitions(n, *ends, edges, edges, none, none, none, none, time)
    return moves, Part(np.arange(len(edges)), np.arange(n + (n in target)), 1.0)


def _numbers(leaves: I64, place: F64, fills: list[str]) -> list[Mark]:
    """Return the numbers in the nodes, dark on light colours and light on dark ones."""
    marks: list[Mark] = []
    deep = np.array([dark(fill) for fill in fills], bool)
    for which, ink in ((~deep, ON_LIGHT), (deep, ON_DARK)):
        if which.any():
            marks.append(Labels(place[which, 0], place[which, 1], tuple(map(str, leaves[which])), DIGITS, ink))
    return marks


def _said(moves: Transitions, part: Part, leaves: int) -> str:
    if not len(part.edges):
        return "The log shows no move from one leaf to another"
    arrows, n = count(len(moves.count), "arrow"), len(part.edges)
    if n == len(moves.count):
        return f"All {arrows}, {count(moves.n_leaves, 'leaf', 'leaves')}"
    return (
        f"{n:,} of {arrows}, {percent(part.flow)} of all moves, between {leaves:,} of "
        f"{count(moves.n_leaves, 'leaf', 'leaves')}"
    )


def node_sizes(moves: Transitions, leaves: I64, numbered: bool) -> F64:
    """Return diameters whose squares grow with the time spent: a reader compares areas."""
    smallest = NUMBERED if numbered else SMALLEST
    share = moves.samples[leaves] / max(float(moves.samples.max()), 1.0)
    return np.sqrt(smallest**2 + (LARGEST**2 - smallest**2) * share)


def arrows(moves: Transitions, part: Part, place: F64, ends: I64, size: F64) -> Links:
    """Return the arrows; ``ends`` is the row of ``place`` where each of them ends if it ends at the end."""
    source = np.searchsorted(part.nodes, moves.source[part.edges])
    target = np.searchsorted(part.nodes, moves.target[part.edges])
    target = np.where(moves.target[part.edges] == moves.end, ends, target)
    flow = moves.count[part.edges] / moves.count[part.edges].max()
    # The least frequent are drawn first, so that they lie below.
    order = np.argsort(flow, kind="stable")
    source, target = source[order], target[order]
    width = np.append(size, np.full(len(place) - len(size), END))
    return Links(
        place[source, 0],
        place[source, 1],
        place[target, 0],
        place[target, 1],
        width=THINNEST + (THICKEST - THINNEST) * moves.probability[part.edges][order],
        # By the root, because counts differ by orders of magnitude and rare moves must still be seen.
        opacity=0.25 + 0.6 * np.sqrt(flow[order]),
        gap0=width[source] / 2,
        gap1=width[target] / 2 + 0.5,
    )


Placement = tuple[F64, I64, tuple[Axis, Axis]]
"""Places of the leaves, then of the end; the row of the end for every edge; the axes."""


def by_layout(moves: Transitions, part: Part, n: int) -> Placement:
    """Place nodes by all moves, also those not drawn: the more frequent, the nearer."""
    # A move that is ten times rarer is one longer.
    lengths = 1 + np.log10(moves.count.max() / moves.count) if len(moves.count) else np.zeros(0)
    apart = hops(moves.n_leaves + 1, moves.source, moves.target, lengths)[np.ix_(part.nodes, part.nodes)]
    place = layout(apart, ASPECT)
    # A layout may as well be mirrored; one is chosen in which time runs from left to right, to the end if it is shown.
    source = np.searchsorted(part.nodes, moves.source[part.edges])
    target = np.searchsorted(part.nodes, moves.target[part.edges])
    flow = moves.count[part.edges] @ (place[target, 0] - place[source, 0])
    if (place[n, 0] < ASPECT / 2) if len(place) > n else flow < 0:
        place[:, 0] = ASPECT - place[:, 0]
    axes = (Axis("", -0.06, ASPECT + 0.06, shown=False), Axis("", -0.06, 1.06, shown=False))
    return place, np.full(len(part.edges), n), axes


def _by_features(fitted: Fitted, moves: Transitions, part: Part, n: int, x: Any, y: Any) -> Placement:
    """Place leaves by their middle. The end is no state: it is drawn beside the plane, on the sides nearest to it."""
    view = read_view(fitted, x, y)
    boxes, leaves = view.boxes, part.nodes[:n]
    place = (boxes.lower[leaves] + boxes.upper[leaves])[:, list(view.axes)] / 2
    # Thin leaves lie at the very border, and their discs need room.
    across, up = (_padded(view.axis(k), 0.03, 0.03) for k in (0, 1))
    ends = np.full(len(part.edges), n)
    last = moves.target[part.edges] == moves.end
    if not last.any():
        return place, ends, (across, up)
    width, middle = across.high - across.low, (across.high + across.low) / 2
    source = np.searchsorted(part.nodes, moves.source[part.edges])
    right = place[source, 0] >= middle
    # Twice, if episodes end at both sides: arrows to one end would cross the whole picture.
    sides = [side for side in (False, True) if (last & (right == side)).any()]
    for row, side in enumerate(sides):
        mine = last & (right == side)
        height = float(np.average(place[source[mine], 1], weights=moves.count[part.edges][mine]))
        at = [across.high + 0.06 * width if side else across.low - 0.06 * width, height]
        place = np.vstack([place, at])
        ends[mine] = n + row
    return place, ends, (_padded(across, 0.12 * (False in sides), 0.12 * (True in sides)), up)


def _padded(axis: Axis, before: float, after: float) -> Axis:
    width = axis.high - axis.low
    return replace(axis, low=axis.low - before * width, high=axis.high + after * width)
