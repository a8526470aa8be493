"""The paper's ways: the most probable sequences of leaves from one place to another, and trajectories along them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.answers import trajectories
from tripletree.answers.trajectories import Trajectories, Trajectory
from tripletree.asking.places import is_state, read_place, read_zone
from tripletree.asking.states import read_state
from tripletree.checks import Rule, check_whole, is_integer
from tripletree.errors import ParameterError
from tripletree.graph.align import STARTS, Alignment, align_all
from tripletree.graph.paths import Graph, Path, all_pairs, best_paths
from tripletree.graph.segments import crossings
from tripletree.graph.transitions import Transitions
from tripletree.language import conditions
from tripletree.leaves.boxes import bounds
from tripletree.log.schema import Schema
from tripletree.model.fitted import Fitted
from tripletree.questions.evidence import Evidence
from tripletree.questions.ground import ground_of
from tripletree.text import Message, Option

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

FEW = 100
"""Up to so many trajectories are searched for with all care; more are lines of a picture, one search each."""


MOST = 100_000
"""Most paths of one question: more take minutes, and nobody looks at them."""

_PAIRS = Rule(
    lambda pairs: isinstance(pairs, bool) or (is_integer(pairs) and 1 <= pairs <= MOST),
    f"True, False or a whole number from 1 to {MOST:,}",
    100,
)


@dataclass(frozen=True, eq=False)
class _Place:
    """Leaves (or the end), the state itself when it was one, and words."""

    places: I64
    state: F64 | None
    text: str
    outside: bool


def check_number(k: Any, pairs: Any) -> None:
    """Raise ParameterError unless ``k`` and ``pairs`` are numbers of ways."""
    check_whole(k, "k", 1, MOST, 3)
    _PAIRS.check(pairs, "pairs")


def paper_ways(
    fitted: Fitted,
    transitions: Transitions,
    start: Any,
    end: Any,
    *,
    k: int = 1,
    pairs: bool | int = False,
    aligned: bool = True,
    found: Evidence | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Trajectories:
    """Return the most probable ways from ``start`` to ``end`` by the chain over leaves.

    Parameters
    ----------
    fitted : Fitted
        The tree.
    transitions : Transitions
        How a log moves over its leaves.
    start, end : state, leaf number or zone
        Where from and where to.
    k : int
        How many ways.
    pairs : bool or int
        Instead: the best way of every connected pair of a start and an end leaf; a number for so many at most.
    aligned : bool
        Whether to make trajectories; otherwise the sequences of leaves only.
    found : Evidence or None
        Recorded episodes, by which to tell whether a way's duration can be believed.
    progress : function of (trajectories so far, all), or None
        Called now and then.
    """
    check_number(k, pairs)
    if aligned and fitted.attributes.derivative_mean is None:
        raise ParameterError(
            "Trajectories follow derivatives, and this tree has none: no episode of its log has two states. "
            "paths(...) gives the leaves alone."
        )
    first, last = _read(fitted, start, "start"), _read(fitted, end, "end")
    if first.places[-1] == fitted.tree.n_leaves:
        raise ParameterError(Message("{} must hold leaves only: nothing follows the end.", Option("start")))
    graph = Graph(transitions)
    paths: list[Path] = []
    if pairs:
        paths = all_pairs(graph, first.places, last.places, MOST + 1 if pairs is True else int(pairs))
        if len(paths) > MOST:
            raise ParameterError(
                Message(
                    "More than {:,} pairs of leaves are connected. Type {} for the most probable of them, or give "
                    "smaller zones.",
                    MOST,
                    Option("pairs", 100),
                )
            )
    if not pairs or (not paths and np.isin(first.places, last.places).any()):
        # Also for pairs whose start and end are one leaf: it is there already.
        paths = best_paths(graph, first.places, last.places, k)
    boxes = _Boxes(fitted)
    made = _align(fitted, boxes, paths, first, last, progress) if aligned else [None] * len(paths)
    quickest = _quickest(found, first.places, last.places)
    ways = [_trajectory(fitted, boxes, path, first, last, one, quickest) for path, one in zip(paths, made, strict=True)]
    reachable = graph.reachable(first.places)
    inside = reachable[reachable < fitted.tree.n_leaves]
    if ways:
        # Ways from different leaves are no shares of one whole.
        together = None if len(first.places) > 1 else sum(path.probability for path in paths)
        text = ways[0].text + trajectories.others(len(ways) - 1, together)
    else:
        size = fitted.tree.n_leaves
        ranges = boxes.ranges(fitted.schema, inside)
        text = trajectories.nothing(first.text, last.text, len(inside), size, len(inside) < len(reachable), ranges)
    outside = first.outside or last.outside
    text += trajectories.outside() if outside else ""
    return Trajectories(tuple(ways), inside, first.text, last.text, outside, text)


def _read(fitted: Fitted, place: Any, name: str) -> _Place:
    place = read_place(fitted, place, name)
    if not is_state(fitted, place):
        zone = read_zone(fitted, place, name)
        return _Place(np.flatnonzero(zone.mask), None, zone.text, False)
    state = read_state(place, fitted.schema, name, finite=False)
    text = conditions.state(fitted.schema, state.tolist())
    return _Place(fitted.tree.apply(state[None]).astype(np.int64), state, text, bool(fitted.outside(state)))


class _Boxes:
    """The boxes of the leaves, cut to the range of the log."""

    def __init__(self, fitted: Fitted) -> None:
        lower, upper = bounds(fitted.tree, len(fitted.schema.features))
        self.lower = np.clip(lower, fitted.feature_min, fitted.feature_max)
        self.upper = np.clip(upper, fitted.feature_min, fitted.feature_max)
        sigma = fitted.derivative_scale
        self.weight = np.where(sigma > 0, 1 / np.where(sigma > 0, sigma, 1.0), 0.0)
        self.span = fitted.feature_max - fitted.feature_min

    def ranges(self, schema: Schema, leaves: I64) -> str:
        """Return the ranges that some leaves cover, in words."""
        low, high = self.lower[leaves].min(axis=0), self.upper[leaves].max(axis=0)
        return " and ".join(
            f"{feature.name} from {low[f]:.4g} to {high[f]:.4g}{f' {feature.unit}' if feature.unit else ''}"
            for f, feature in enumerate(schema.features)
        )


def _align(
    fitted: Fitted,
    boxes: _Boxes,
    paths: list[Path],
    first: _Place,
    last: _Place,
    progress: Callable[[int, int], None] | None,
) -> list[Alignment]:
    means = fitted.attributes.derivative_mean
    directions = np.zeros_like(boxes.lower) if means is None else means[fitted.tree.leaf_nodes]
    sequences = [path.leaves[path.leaves < fitted.tree.n_leaves] for path in paths]
    return align_all(
        boxes.lower,
        boxes.upper,
        directions,
        boxes.weight,
        sequences,
        start=first.state,
        end=last.state,
        starts=STARTS if len(paths) <= FEW else 1,
        progress=progress,
    )


def _quickest(found: Evidence | None, first: I64, last: I64) -> float:
    """Return the steps of the quickest recorded passage from some leaves to others; infinity where none is known."""
    if found is None:
        return np.inf
    size = found.fitted.tree.n_leaves
    ground = ground_of(found, to_end=bool((last == size).any()))
    ends = (np.isin(np.arange(size + 1), places)[ground.place] for places in (first, last))
    steps = crossings(ground.starts, *ends).steps
    return float(steps.min()) if len(steps) else np.inf


def _trajectory(
    fitted: Fitted,
    boxes: _Boxes,
    path: Path,
    first: _Place,
    last: _Place,
    made: Alignment | None,
    quickest: float,
) -> Trajectory:
    ends = bool(path.leaves[-1] == fitted.tree.n_leaves)
    leaves = path.leaves[:-1] if ends else path.leaves
    nodes = angles = objective = None
    way = (boxes.lower[leaves] + boxes.upper[leaves]) / 2
    if made is not None:
        nodes, angles, objective = made.nodes, made.angles, made.objective
        way = nodes
    start = first.text if first.state is not None else f"{conditions.leaves([int(leaves[0])])}{_in(first)}"
    end = conditions.END if ends else f"{conditions.leaves([int(leaves[-1])])}{_in(last)}"
    text = trajectories.tell(
        start,
        end,
        path.probability,
        # Mean stays add up to less than anybody took where only the quick go on: that is not printed.
        path.duration if round(path.duration) >= quickest else None,
        int(path.counts.min()) if len(path.counts) else None,
        len(leaves),
        _turns(fitted, leaves, way, boxes.span),
    )
    return Trajectory(leaves, ends, path.probability, path.duration, path.counts, nodes, angles, objective, text)


def _in(place: _Place) -> str:
    """Return " (the zone)" unless the place is just this leaf."""
    return f" ({place.text})" if len(place.places) > 1 or place.state is not None else ""


def _turns(fitted: Fitted, leaves: I64, way: F64, span: F64) -> list[str]:
    """Return the turns of a path: stretches of one action, or of one main direction when actions are numbers."""
    if len(way) < 2:
        return []
    at = fitted.attributes
    if at.mode is not None:
        action = fitted.schema.action
        name = action.names[0] if action.names else "action"
        best = at.mode[fitted.tree.leaf_nodes[leaves]]
        keys, labels = best, [f"{name} = {action.labels[code]}" for code in best]
    else:
        move = np.diff(way, axis=0) / np.where(span > 0, span, 1.0)
        main = np.abs(move).argmax(axis=1)
        keys = 2 * main + (move[np.arange(len(move)), main] > 0)
        labels = [""] * len(keys)
    turns, begin = [], 0
    for j in range(1, len(way)):
        if j == len(way) - 1 or keys[j] != keys[begin]:
            turns.append(trajectories.turn(fitted.schema, labels[begin], way[begin], way[j], span))
            begin = j
    return turns
