"""Overlays, which can be drawn on a map: samples, episodes, explanations, zones, trajectories, notes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.asking.places import read_zone
from tripletree.asking.states import read_states
from tripletree.checks import check_whole, is_integer, is_number, listing
from tripletree.errors import ParameterError
from tripletree.language.conditions import read_interval
from tripletree.language.numbers import percent
from tripletree.leaves.project import within
from tripletree.model.evaluate import check_log
from tripletree.questions.fan import evenly
from tripletree.scenes.colours import HERE, INK, PAPER, PLACES, THERE
from tripletree.scenes.fan import fan_of, said
from tripletree.scenes.types import Arrows, Entry, Labels, Lines, Mark, Points, Rectangles, Scene
from tripletree.scenes.view import View
from tripletree.text import Message, Option, count

F64 = npt.NDArray[np.float64]

FAINTEST = 0.12
"""Opacity of the least probable trajectories: they must still be visible."""
THIN, THICK = 0.6, 2.4
"""Widths of the ways in a fan that stand for the fewest and for the most episodes."""
MOST_EPISODES = 30
"""Episodes that are drawn at once, unless the caller asks for more."""
MOST_DOTS = 1_000
"""Visits that are drawn where they are some steps later."""
CALM = 6.0
"""Length up to which lines are drawn in full, in widths of the map. The longer they are, the thinner and paler they
become: at full width a few hundred steps to and fro would cover the map."""


@dataclass(frozen=True, eq=False)
class Layer:
    """Marks to add to a scene, what they mean, and a remark."""

    marks: tuple[Mark, ...]
    legend: tuple[Entry, ...] = ()
    note: str = ""


def add(scene: Scene, *layers: Layer) -> Scene:
    """Return the scene with layers on top; what its legend or note says already is not repeated."""
    for layer in layers:
        known = {entry.label for entry in scene.legend}
        notes = [scene.note] + [layer.note] * (layer.note not in scene.note)
        scene = replace(
            scene,
            marks=(*scene.marks, *layer.marks),
            legend=(*scene.legend, *(entry for entry in layer.legend if entry.label not in known)),
            note=". ".join(note.rstrip(".") for note in notes if note),
        )
    return scene


def samples(view: View, log: Any, most: int = 2_000) -> Layer:
    """Return the samples of a log in the leaves and limits of the view, evenly thinned when there are many."""
    _check_plane(view)
    _check_log(view, log)
    check_whole(most, "most", 1, example=2_000)
    states = np.ascontiguousarray(log.states)
    seen = _seen(view, states, view.fitted.tree.apply(states))
    rows = _thinned(np.flatnonzero(seen), most)
    x, y = view.axes
    points = Points(log.states[rows, x], log.states[rows, y], size=1.6, colour=INK, opacity=0.45)
    return Layer((points,), (Entry(f"{len(rows):,} of {count(int(seen.sum()), 'sample')}", INK, "disc"),))


def seen_rows(view: View, states: F64, leaf: npt.NDArray[np.int32], most: int) -> npt.NDArray[np.int64]:
    """Return the rows of recorded states in the leaves and limits of a view, evenly thinned when there are many."""
    return _thinned(np.flatnonzero(_seen(view, states, leaf)), most)


def _seen(view: View, states: F64, leaf: npt.NDArray[np.int32]) -> npt.NDArray[np.bool_]:
    seen: npt.NDArray[np.bool_] = within(view.boxes, view.limits)[leaf] > 0
    # Hardly any sample lies exactly on a slice; those in its leaves are shown instead.
    for f, (low, high) in view.limits.items():
        if low < high:
            seen &= (states[:, f] >= low) & (states[:, f] < high)
    return seen


def _thinned(rows: npt.NDArray[np.int64], most: int) -> npt.NDArray[np.int64]:
    # Evenly, not at random: the same log gives the same picture, and every episode keeps its share.
    return rows[np.linspace(0, len(rows) - 1, most).astype(np.int64)] if len(rows) > most else rows


def episodes(view: View, log: Any, which: Any = 0, most: int = MOST_EPISODES) -> Layer:
    """Return the course of one or several episodes, numbered from 0 on, with a disc where each begins.

    Of more than ``most`` episodes, some are drawn, evenly chosen. Long lines are thin and pale.
    """
    _check_plane(view)
    _check_log(view, log)
    check_whole(most, "most", 1, example=MOST_EPISODES)
    asked = [which] if is_integer(which) else list(which)
    for number in asked:
        check_whole(number, "which", 0, log.n_episodes - 1)
    numbers = asked
    if len(asked) > most:
        numbers = [asked[k] for k in np.linspace(0, len(asked) - 1, most).astype(np.int64).tolist()]
    courses = []
    for number in numbers:
        states = log.states[log.starts[number] : log.starts[number + 1]]
        final = log.final_states[number]
        # A log need not know the state after the last step of an episode.
        courses.append(np.vstack([states, final[None]] if np.isfinite(final).all() else [states])[:, list(view.axes)])
    begin = np.array([course[0] for course in courses])
    # By the root: half the width and half the ink of a line look a quarter as heavy together.
    calm = min(float(np.sqrt(CALM / max(lengths(view, courses), CALM))), 1.0)
    marks = (
        Lines(tuple(courses), THERE, max(1.1 * calm, 0.35), np.full(len(courses), max(calm, 0.3))),
        Points(begin[:, 0], begin[:, 1], size=4, colour=THERE, edge=PAPER),
    )
    name = count(len(asked), "episode")
    if len(numbers) < len(asked):
        name = f"{len(numbers):,} of {name}"
    elif len(numbers) == 1:
        name = f"episode {log.episode_ids[numbers[0]]}"
    return Layer(marks, (Entry(f"{name}, from the disc on", THERE, "line"),))


def lengths(view: View, courses: Iterable[F64]) -> float:
    """Return how long lines are together, in widths of the map."""
    span = (view.boxes.high - view.boxes.low)[list(view.axes)]
    return float(sum(np.hypot(*(np.diff(course, axis=0) / span).T).sum() for course in courses))


def state(view: View, states: Any, label: str = "state") -> Layer:
    """Return one or several states as stars."""
    _check_plane(view)
    array, _ = read_states(states, view.fitted.schema)
    x, y = view.axes
    star = Points(array[:, x], array[:, y], size=8, colour=HERE, symbol="star", edge=PAPER)
    return Layer((star,), (Entry(label, HERE, "star"),))


def explanation(view: View, answer: Any) -> Layer:
    """Return a counterfactual (``explain(state, foil)``) or a change (``explain_change(before, after)``) as marks."""
    _check_plane(view)
    if hasattr(answer, "foil_state"):
        return _counterfactual(view, answer)
    if hasattr(answer, "turning"):
        return _change(view, answer)
    raise ParameterError(
        f"An explanation is what explain(state, foil) or explain_change(before, after) returns; got "
        f"{type(answer).__name__}."
    )


def _counterfactual(view: View, answer: Any) -> Layer:
    """Return a star at the state, an arrow to the nearest state that meets the foil, and that leaf outlined."""
    here = state(view, answer.state)
    if answer.foil_state is None or answer.foil_leaf is None:
        return Layer(here.marks, here.legend, str(answer))
    (x, y), start, end = view.axes, answer.state, answer.foil_state
    foil_leaf = np.array([answer.foil_leaf])
    # Black on white, so that it is visible on dark colours too.
    marks: list[Mark] = [_leaf_boxes(view, foil_leaf, PAPER, 2.6), _leaf_boxes(view, foil_leaf, THERE, 1.3)]
    # A change of other features alone does not move on this plane, and an arrow of no length points nowhere.
    if (start[[x, y]] != end[[x, y]]).any():
        move = (end - start)[[x, y]]
        marks.append(
            Arrows(start[[x]], start[[y]], move[[0]], move[[1]], colour=THERE, centred=False, width=1.2),
        )
    foil = Points(end[[x]], end[[y]], size=4.5, colour=THERE, symbol="diamond", edge=PAPER)
    names = view.fitted.schema.feature_names
    unseen = [names[f] for f in answer.changed if f not in view.axes]
    text = "nearest state that would" + (f" ({' and '.join(unseen)} must change too)" if unseen else "")
    legend = (*here.legend, Entry(text, THERE, "diamond"), Entry("its leaf", THERE, "outline"))
    return Layer((*marks, foil, *here.marks), legend, str(answer))


def _change(view: View, answer: Any) -> Layer:
    """Return both states, the point where it turned, and the box from there on that explains the change."""
    (x, y), before, after = view.axes, answer.before, answer.after
    marks: list[Mark] = [Lines((np.stack([before, after])[:, [x, y]],), colour=THERE, width=0.9, dashed=True)]
    legend = [Entry("state before", HERE, "star"), Entry("state after", THERE, "disc")]
    if answer.turning is not None:
        corner = np.stack([answer.turning, after])
        low, high = corner.min(axis=0), corner.max(axis=0)
        box = Rectangles(low[[x]], high[[x]], low[[y]], high[[y]], fill=HERE, opacity=0.25)
        # A mark of its own, because opacity is for a whole mark and the rim should not be pale.
        rim = Rectangles(low[[x]], high[[x]], low[[y]], high[[y]], edge=HERE, edge_width=0.9)
        turning = answer.turning
        marks += [
            box,
            rim,
            Points(turning[[x]], turning[[y]], size=4.5, colour=THERE, symbol="diamond", edge=PAPER),
        ]
        legend += [
            Entry("where it turned", THERE, "diamond"),
            Entry("box that meets only such leaves", HERE, "outline"),
        ]
    marks += [
        Points(after[[x]], after[[y]], size=4.5, colour=THERE, edge=PAPER),
        Points(before[[x]], before[[y]], size=8, colour=HERE, symbol="star", edge=PAPER),
    ]
    return Layer(tuple(marks), tuple(legend), str(answer))


def zone(view: View, place: Any, label: str | None = None, number: int = 0) -> Layer:
    """Return a zone: its box when it is made of features alone, otherwise its leaves, outlined."""
    _check_plane(view)
    found = read_zone(view.fitted, place)
    names, colour = view.fitted.schema.feature_names, PLACES[number % len(PLACES)]
    if isinstance(place, Mapping) and all(key in names for key in place):
        low, high = view.boxes.low.copy(), view.boxes.high.copy()
        for key, wish in place.items():
            f = names.index(key)
            low[f], high[f] = view.boxes.band(
                f, *read_interval(wish, f"zone[{key!r}]", float(view.fitted.feature_max[f]))
            )
        (x, y) = view.axes
        corners = low[[x]], high[[x]], low[[y]], high[[y]]
        rims = tuple(Rectangles(*corners, edge=ink, edge_width=width) for ink, width in ((PAPER, 2.8), (colour, 1.4)))
    else:
        rims = tuple(_leaf_boxes(view, found.leaves, ink, width) for ink, width in ((PAPER, 2.2), (colour, 1.0)))
    return Layer(rims, (Entry(label or found.text, colour, "outline"),))


def trajectories(view: View, found: Any, label: str | None = None, number: int = 0) -> Layer:
    """Return simulated trajectories: in a fan, the more episodes one stands for, the wider; else by probability."""
    _check_plane(view)
    listed = list(found) if isinstance(found, Iterable) else [found]
    if not all(hasattr(one, "nodes") and hasattr(one, "probability") for one in listed):
        raise ParameterError(f"trajectories must be what simulate(...) returns; got {type(found).__name__}.")
    if not listed:
        raise ParameterError(f"There is no trajectory to draw: {found}")
    if any(one.nodes is None for one in listed):
        raise ParameterError("These are paths, which have leaves but no states to draw; simulate(...) has both.")
    colour = PLACES[number % len(PLACES)]
    weights, note = _weights(listed)
    relative = weights / weights.max()
    order = np.argsort(weights, kind="stable")  # the most important on top
    paths = tuple(listed[k].nodes[:, list(view.axes)] for k in order)
    if "episodes" in note:
        # By the root, so that the ink of a line, its width times its opacity, grows as its share does.
        root = np.sqrt(relative[order])
        lines = Lines(paths, colour, THIN + (THICK - THIN) * root, np.clip(root, 2 * FAINTEST, 1.0))
    else:
        lines = Lines(paths, colour, 1.3, np.clip(relative, FAINTEST, 1.0)[order])
    ends = np.array([one.nodes[-1, list(view.axes)] for one in listed])
    discs = Points(ends[:, 0], ends[:, 1], size=2.2, colour=colour, opacity=0.7)
    if label is None:
        start, end = getattr(found, "start", ""), getattr(found, "end", "")
        many = count(len(listed), "trajectory", "trajectories")
        label = f"{many} from {start} to {end}" if start else many
    return Layer((lines, discs), (Entry(label, colour, "line"),), note)


def _weights(listed: Sequence[Any]) -> tuple[F64, str]:
    """Return how much each trajectory counts, and what its line says; those without a number count alike."""
    shares = [getattr(one, "share", None) for one in listed]
    if None not in shares:
        differ = len(set(shares)) > 1
        return np.array(shares, np.float64), "The wider, the more episodes went that way" if differ else ""
    chances = [one.probability for one in listed]
    if None in chances:
        return np.ones(len(listed)), ""
    return np.array(chances, np.float64), "The more opaque, the more probable" if len(listed) > 1 else ""


def after(
    view: View, steps: Any, start: Any = None, log: Any = None, label: str | None = None, number: int = 0
) -> Layer:
    """Return where recorded episodes are some steps later, and the medians on the way there.

    Parameters
    ----------
    view : View
        The map.
    steps, start, log
        As in ``plot.after``.
    label : str or None
        What the start is called; None: nothing at first, then by its conditions.
    number : int
        Number of the colour.
    """
    _check_plane(view)
    found, colour = fan_of(view.fitted, steps, start, log), PLACES[number % len(PLACES)]
    axes = list(view.axes)
    (x0, y0), (x, y), (x1, y1) = found.quantiles[:, -1][:, axes]
    way = found.quantiles[1][:, axes]
    last = found.last[evenly(len(found.last), MOST_DOTS)][:, axes]
    cross = np.array([[x0, y], [x1, y]]), np.array([[x, y0], [x, y1]])
    begin = way[0] if found.state is None else found.state[axes]
    symbol, size = ("disc", 5.0) if found.state is None else ("star", 8.0)
    paths = tuple(path[:, axes] for path in found.paths)
    marks: list[Mark] = [
        Lines(paths, colour, 0.5, np.full(len(paths), 0.6)),
        Points(last[:, 0], last[:, 1], size=2.4, colour=colour, opacity=0.5),
        # Dark on white, so that they are visible on any colour.
        *(Lines(lines, ink, width) for lines in ((way,), cross) for ink, width in ((PAPER, 2.8), (colour, 1.3))),
        Points(begin[[0]], begin[[1]], size=size, colour=HERE, symbol=symbol, edge=PAPER),
    ]
    later, told = count(int(found.times[len(way) - 1]), "step"), count(int(steps), "step")
    # A zone may be visited for many steps of one episode.
    visits = count(found.seen.visits, "episode" if found.seen.visits == found.seen.episodes else "visit")
    # What is drawn after something else must be told from it.
    label = label or (found.seen.start if number else "")
    whose = f"{label}: " if label else ""
    legend = (
        Entry("where they are at first (median)" if found.state is None else "state", HERE, symbol),
        Entry(f"{whose}{len(last):,} of {visits}, {told} later", colour, "disc"),
        Entry(f"{whose}medians, and 10 to 90 % after {later}", colour, "line"),
    )
    gone = f"; {percent(float(found.ended[-1]))} are over by then" if found.ended[-1] else ""
    return Layer(tuple(marks), legend, f"{said(found)}{gone}; thin lines are {len(paths)} of them")


def mark(view: View, text: str, x: Any, y: Any) -> Layer:
    """Return a note at a place: two numbers give a point, an interval gives a line, two give a box (a landing pad)."""
    _check_plane(view)
    ends = [_ends(place, name) for place, name in ((x, "x"), (y, "y"))]
    (x0, x1), (y0, y1) = ends
    middle = np.array([(x0 + x1) / 2]), np.array([(y0 + y1) / 2])
    shape: Mark
    if x0 < x1 and y0 < y1:
        shape = Rectangles(np.array([x0]), np.array([x1]), np.array([y0]), np.array([y1]), edge=HERE, edge_width=1.2)
    elif x0 < x1 or y0 < y1:
        shape = Lines((np.array([[x0, y0], [x1, y1]]),), HERE, 2.4)
    else:
        shape = Points(*middle, size=4, colour=HERE, edge=PAPER)
    words = Labels(*middle, (text,), colour=HERE, shift=(0, 7), framed=True)
    return Layer((shape, words))


def _ends(place: Any, name: str) -> tuple[float, float]:
    if is_number(place):
        return float(place), float(place)
    if isinstance(place, Sequence) and len(place) == 2 and all(map(is_number, place)) and place[0] < place[1]:
        return float(place[0]), float(place[1])
    raise ParameterError(Message("{} must be a number or (low, high); got {!r}.", Option(name), place))


def _leaf_boxes(view: View, leaves: npt.NDArray[np.int64], colour: str, width: float) -> Rectangles:
    boxes, (x, y) = view.boxes, view.axes
    return Rectangles(
        boxes.lower[leaves, x],
        boxes.upper[leaves, x],
        boxes.lower[leaves, y],
        boxes.upper[leaves, y],
        edge=colour,
        edge_width=width,
        leaf=leaves,
    )


def _check_plane(view: View) -> None:
    if len(view.axes) != 2:
        raise ParameterError(Message("Overlays need a map of two features: give {} as well.", Option("y")))


def _check_log(view: View, log: Any) -> None:
    check_log(log, "log")
    wanted, came = view.fitted.schema.feature_names, log.schema.feature_names
    if came != wanted:
        raise ParameterError(
            Message("{} has the features {}; the tree has {}.", Option("log"), listing(came, 12), listing(wanted, 12))
        )
