"""The agent as a machine: phases or leaves as nodes, moves as edges, for pages on which each can be pointed at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.answers.outline import Outline
from tripletree.asking.regions import Regions
from tripletree.checks import check_number, check_whole
from tripletree.graph.transitions import Transitions
from tripletree.language.conditions import clauses
from tripletree.language.numbers import percent
from tripletree.log.endings import TERMINATED
from tripletree.model.fitted import Fitted
from tripletree.questions.evidence import Evidence
from tripletree.questions.outline import does
from tripletree.scenes.colouring import colour_scale, read_colour
from tripletree.scenes.colours import OTHER, PHASES
from tripletree.scenes.graph import NAMED, Part, arrows, by_layout, node_sizes, region_moves, strongest
from tripletree.scenes.guides import shade_of, shades
from tripletree.scenes.types import ColourScale, Plain
from tripletree.scenes.view import leaf_boxes
from tripletree.text import count

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Node(Plain):
    """A phase or a leaf.

    Attributes
    ----------
    key : str
        What edges call it.
    name, text : str
        What it is called, and what is to be said of it.
    share : float
        Share of the time that is spent there.
    x, y, size : float
        Its place, in a picture of height 1, and its diameter in points.
    colour : str
        Its colour.
    leaf, region : int or None
        Its number among the leaves, and that of its phase.
    leaves : int64 array
        The leaves that belong to it.
    begins, ends : float
        Share of the episodes that begin there, and of those that end whose last state lies there.
    state : float64 array of shape (features,), or None
        A typical state.
    """

    key: str
    name: str
    text: str
    share: float
    x: float
    y: float
    size: float
    colour: str
    leaf: int | None
    region: int | None
    leaves: I64
    begins: float
    ends: float
    state: F64 | None


@dataclass(frozen=True, eq=False)
class Edge(Plain):
    """Moves from one node to another, or to the end: their share of what follows the node, and how often it was."""

    source: str
    target: str
    share: float
    count: int
    width: float
    opacity: float


@dataclass(frozen=True, eq=False)
class Machine(Plain):
    """All of it: edges the heaviest first; where the end is drawn, or None; what colours mean, or None."""

    level: str
    text: str
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    end: tuple[float, float] | None
    colours: ColourScale | None = None


END = "end"
"""What edges call the end of an episode."""


def phases(fitted: Fitted, found: Outline, regions: Regions) -> Machine:
    """Return the regions of an outline as a machine; ``regions`` are those that it was made from."""
    moves, part = region_moves(found)
    n = len(found.regions)
    place, _, _ = by_layout(moves, part, n)
    size = node_sizes(moves, part.nodes[:n], numbered=True) * NAMED
    home = home_of(fitted, regions)
    nodes = tuple(
        Node(
            key=f"p{one.number}",
            name=one.name,
            text=str(one),
            share=one.share,
            x=float(place[one.number, 0]),
            y=float(place[one.number, 1]),
            size=float(size[one.number]),
            colour=PHASES[one.number] if one.number < len(PHASES) else OTHER,
            leaf=None,
            region=one.number,
            leaves=np.flatnonzero(home == one.number),
            begins=one.begins,
            ends=one.ends,
            state=one.inside,
        )
        for one in found.regions
    )
    ends = tuple(place[n].tolist()) if len(place) > n else None
    return Machine("phases", str(found), nodes, _edges(moves, part, place, size, "p"), ends)


def home_of(fitted: Fitted, regions: Regions) -> I64:
    """Return the region that each leaf belongs to: that of its samples' mean, or of its middle."""
    middle = fitted.leaves.state_mean
    states = fitted.entry_points.middle.T if middle is None else middle
    return regions.of(np.ascontiguousarray(states, np.float64))


def leaves(
    fitted: Fitted,
    found: Evidence,
    moves: Transitions,
    home: I64,
    *,
    region: int | None = None,
    colour: Any = "value",
    share: Any = 0.9,
    most: Any = 100,
) -> Machine:
    """Return the leaves, or those of one region, with the most frequent moves between them.

    Parameters
    ----------
    fitted : Fitted
        The tree.
    found : Evidence
        The recorded episodes.
    moves : Transitions
        How they move.
    home : int64 array of shape (leaves,)
        The region of each leaf.
    region : int or None
        Show only leaves of this region, the moves between them, and those to the end.
    colour : str
        What is shown by colour, as on a map.
    share, most : float and int
        Show the most frequent moves until they are this share of all, or there are so many.
    """
    check_number(share, "share", most=1, above=0, example=0.9)
    check_whole(most, "most", 1, example=100)
    inside = moves
    if region is not None:
        mine = np.append(home == region, True)
        kept = mine[moves.source] & mine[moves.target]
        # Shares stay those of all moves: what leaves the region has not become less frequent.
        inside = replace(
            moves,
            **{name: getattr(moves, name)[kept] for name in ("source", "target", "count", "steps")},
            weight=None,
            weighted_steps=None,
        )
    part = strongest(inside, float(share), int(most))
    if region is not None and not len(part.edges):
        own = np.flatnonzero((home == region) & (moves.samples > 0))
        part = Part(part.edges, own[np.argsort(-moves.samples[own], kind="stable")][: int(most)], 1.0)
        part = replace(part, nodes=np.sort(part.nodes))
    end_shown = bool(len(part.nodes)) and part.nodes[-1] == moves.end
    shown = part.nodes[:-1] if end_shown else part.nodes
    n = len(shown)
    place, _, _ = by_layout(inside, part, n)
    size = node_sizes(moves, shown, numbered=True)
    pictured = read_colour(fitted, leaf_boxes(fitted), colour)
    value = pictured.mean.argmax(axis=1).astype(np.float64) if pictured.scale == "categories" else pictured.mean[:, 0]
    scale = colour_scale(pictured, value)
    fills = np.array(shades(scale), object)[shade_of(scale, value[shown])] if n else ()
    last = found.leaf[found.recording.starts[1:] - 1][found.recording.endings == TERMINATED]
    ending = np.bincount(last, minlength=moves.n_leaves) / max(len(last), 1)
    begins = moves.starts / max(moves.n_episodes, 1)
    time, middle = moves.samples / max(int(moves.samples.sum()), 1), fitted.leaves.state_mean
    lower, upper = fitted.bounds
    nodes = tuple(
        Node(
            key=f"l{leaf}",
            name=f"leaf {leaf}",
            text=leaf_text(fitted, leaf, float(time[leaf]), clauses(fitted.schema, *_box(lower, upper, leaf))),
            share=float(time[leaf]),
            x=float(place[k, 0]),
            y=float(place[k, 1]),
            size=float(size[k]),
            colour=str(fills[k]),
            leaf=leaf,
            region=int(home[leaf]),
            leaves=np.array([leaf]),
            begins=float(begins[leaf]),
            ends=float(ending[leaf]),
            state=None if middle is None else middle[leaf],
        )
        for k, leaf in enumerate(shown.tolist())
    )
    ends = tuple(place[n].tolist()) if end_shown else None
    told = _told(inside, part, n, region)
    return Machine("leaves", told, nodes, _edges(inside, part, place, size, "l", moves), ends, scale)


def leaf_text(fitted: Fitted, leaf: int, time: float, when: Sequence[str]) -> str:
    """Return what is to be said of a leaf: where it is, what is done there, and how much of the time."""
    where = " and ".join(when) or "everywhere"
    done = f"{does(fitted, leaf)}; " if fitted.schema.has_action else ""
    samples = count(int(fitted.leaves.count[leaf]), "sample")
    return f"Leaf {leaf}: {where}. {done}{percent(time)} of the time, {samples}."


def _box(lower: F64, upper: F64, leaf: int) -> tuple[list[float], list[float]]:
    return lower[leaf].tolist(), upper[leaf].tolist()


def _told(moves: Transitions, part: Part, leaves: int, region: int | None) -> str:
    where = "" if region is None else " of this phase"
    if not len(part.edges):
        return f"No recorded move leads from one leaf{where} to another."
    moved = f"{count(len(part.edges), 'arrow')} of {len(moves.count):,}, {percent(part.flow)} of all moves"
    return f"{moved} between {leaves:,} leaves{where}."


def _edges(
    moves: Transitions, part: Part, place: F64, size: F64, letter: str, every: Transitions | None = None
) -> tuple[Edge, ...]:
    """Return the edges, the heaviest first."""
    if not len(part.edges):
        return ()
    drawn = arrows(moves, part, place, np.full(len(part.edges), len(size)), size)
    order = np.argsort(moves.count[part.edges] / moves.count[part.edges].max(), kind="stable")
    # Of what follows a node as a whole, also where only a part of it is shown.
    whole = (moves if every is None else every).sequences
    return tuple(
        Edge(
            source=f"{letter}{moves.source[edge]}",
            target=END if moves.target[edge] == moves.end else f"{letter}{moves.target[edge]}",
            share=float(moves.count[edge] / whole[moves.source[edge]]),
            count=int(moves.count[edge]),
            width=float(drawn.width[k]),
            opacity=float(drawn.opacity[k]),
        )
        for k, edge in reversed(list(enumerate(part.edges[order].tolist())))
    )
