"""The lander: losses, projections, slices with counterfactuals, and trajectories (paper, figures 7 to 10)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np

from tripletree import Log, TripleTree, plot
from tripletree.asking.places import read_zone
from tripletree.demos import lander
from tripletree.language.conditions import read_interval
from tripletree.leaves.project import within
from tripletree.plot.picture import SheetPicture
from tripletree.scenes import overlays
from tripletree.scenes.leaf_map import leaf_map
from tripletree.scenes.mixing import said_once
from tripletree.scenes.types import Scene, Sheet
from tripletree.scenes.view import read_view

PAD = ("landing pad", (-0.2, 0.2), 0)


@cache
def logs() -> tuple[Log, Log]:
    """Return training and validation episodes."""
    training, validation = lander.log().split(0.2, seed=0)
    return training, validation


@cache
def tree() -> TripleTree:
    """Return the tree that early stopping keeps."""
    return TripleTree(1000, gamma=lander.GAMMA).fit(*logs())


def losses() -> Any:
    """Figure 7: training and validation losses by leaf count, and the size kept."""
    return plot.curves(tree())


def projections(x: str, y: str, colours: Sequence[str | None], columns: int = 3) -> Any:
    """Figure 8: what the tree says on a plane, all other features averaged."""
    view = read_view(tree(), x, y)
    scenes: list[Scene] = []
    for colour in colours:
        scene = leaf_map(view, colour, arrows=10 if colour is None else False)
        if (x, y) == ("x", "y"):
            scene = overlays.add(scene, overlays.mark(view, *PAD))
        scenes.append(replace(scene, title=scene.title.partition(" by ")[0], subtitle=""))
    scenes, legend = said_once(scenes)
    rows = tuple(scenes[k : k + columns] for k in range(0, len(scenes), columns))
    title = f"The lander by {x} and {y}, averaged over its 6 other features"
    sheet = Sheet(title, rows, f"A tree of {tree().n_leaves_} leaves.", legend=legend)
    return SheetPicture(sheet, size=(6.9, 2.35 * len(rows) + 0.4))


def why_not(state: Sequence[float], foil: dict[str, Any], other: str) -> Any:
    """Figure 9: a counterfactual on the slice through the state, along what it changes (and one other feature)."""
    answer = tree().explain(list(state), foil)
    names = tree().fitted_.schema.feature_names
    x, y = [*(names[f] for f in answer.changed), other][:2]
    (about,) = foil
    return plot.leaf_map(tree(), x, y, colour=about, at=list(state)).explanation(answer)


def tutorial() -> Any:
    """Draw the counterfactual of docs/tutorial.md: why the main engine burns in the middle of a flight."""
    state = logs()[1].select([42]).states[60]
    answer = tree().explain(state, {"main engine": (None, 0)})
    return plot.leaf_map(tree(), "v_y", "y", colour="main engine", at=state).explanation(answer)


def linear() -> Any:
    """Draw the same slice twice: the means of the leaves, and their linear models."""
    state = logs()[1].select([42]).states[60]
    view = read_view(tree(), "phi", "v_phi", at=state)
    means, models = (leaf_map(view, "side engine", limits=(-1, 1), linear=shaded) for shaded in (False, True))
    rows = ((replace(means, title="Means", subtitle=""), replace(models, title="Linear models", subtitle="", note="")),)
    title = "The side engine by phi and v_phi, all other features fixed"
    return SheetPicture(Sheet(title, rows, means.subtitle), size=(6.9, 2.9))


Zone = dict[str, Any]

PLANES: dict[str, tuple[str, str, tuple[Zone, ...], Zone]] = {
    "approach": (
        "x",
        "y",
        ({"x": (None, -0.15), "y": (1.1, None)}, {"x": (0.15, None), "y": (1.1, None)}),
        {"x": (-0.2, 0.2), "y": (None, 0.1)},
    ),
    "speed": ("y", "v_y", ({"y": (1.2, None)},), {"y": (None, 0.1)}),
    "tilt": (
        "phi",
        "v_phi",
        ({"phi": (None, -0.2)}, {"phi": (0.15, None)}),
        {"phi": (-0.05, 0.05), "v_phi": (-0.1, 0.1)},
    ),
}


def searched(plane: str, start: Zone, most: int = 15) -> list[Any]:
    """Return the paper's most probable ways from recorded states of a start zone to the end zone.

    A leaf belongs to the end zone when it lies in it by more than half: most leaves have no bound in most features, so
    that they touch any zone.
    """
    x, y, _, end = PLANES[plane]
    boxes = read_view(tree(), x, y).boxes
    names, states = tree().fitted_.schema.feature_names, logs()[0].states

    def limits(zone: Zone) -> dict[int, tuple[float, float]]:
        found = {}
        for name, wish in zone.items():
            f = names.index(name)
            found[f] = read_interval(wish, name, float(states[:, f].max()))
        return found

    goal = set(np.flatnonzero(within(boxes, limits(end)) > 0.5).tolist())
    inside = np.all([(states[:, f] >= low) & (states[:, f] < high) for f, (low, high) in limits(start).items()], 0)
    rows = np.flatnonzero(inside)
    chosen = states[rows[np.linspace(0, len(rows) - 1, most).astype(int)]]
    return [way for state in chosen for way in tree().simulate(state, goal, method="paper")]


def trajectories(plane: str) -> Any:
    """Figure 10: the paper's ways from recorded states of a start zone to an end zone, as opaque as probable."""
    x, y, starts, end = PLANES[plane]
    picture = plot.leaf_map(tree(), x, y, colour=None, arrows=True)
    for start in starts:
        found = searched(plane, start)
        picture.trajectories(found, f"from {len(found)} states with {read_zone(tree().fitted_, start).text}")
    picture.zone(end, f"to {read_zone(tree().fitted_, end).text}")
    if plane == "approach":
        picture.mark(*PAD)
    return picture


def fans(most: int = 15) -> Any:
    """Figure 10 beside what recorded flights did: fans of ways between the same zones."""
    rows = []
    for method in ("recorded", "paper"):
        scenes: list[Scene] = []
        for plane, (x, y, starts, end) in PLANES.items():
            view = read_view(tree(), x, y)
            scene = leaf_map(view, None)
            for number, start in enumerate(starts):
                ways = tree().simulate(start, end, pairs=most) if method == "recorded" else searched(plane, start, most)
                label = f"from {read_zone(tree().fitted_, start).text}"
                scene = overlays.add(scene, overlays.trajectories(view, ways, label, number))
            scene = overlays.add(scene, overlays.zone(view, end, "to the box", len(starts)))
            scenes.append(replace(scene, title=f"{plane}, {method}", subtitle="", note=""))
        rows.append(tuple(scenes))
    title = "The lander between two zones: what recorded flights did, and the paper's search and alignment"
    note = (
        f"{most} ways from each zone. Recorded: the wider, the more flights; paper: the more opaque, the more probable."
    )
    return SheetPicture(Sheet(title, tuple(rows), note), size=(9.2, 6.4))


FIGURES: dict[str, Callable[[], Any]] = {
    "lander-losses": losses,
    "lander-overview": lambda: plot.overview(tree()),
    "lander-x-y": partial(
        projections, "x", "y", ("main engine", "side engine", "value", "density", None, "impurity of derivative")
    ),
    "lander-y-vy": partial(projections, "y", "v_y", ("main engine", "value", None)),
    "lander-phi": partial(projections, "phi", "v_phi", ("side engine", "value", None)),
    "lander-why-not-main": partial(why_not, [0.0, 0.6, 0.0, -0.3, 0.0, 0.0, 0, 0], {"main engine": (None, 0)}, "y"),
    "lander-why-not-side": partial(
        why_not, [0.05, 0.4, 0.0, -0.3, 0.1, 0.0, 0, 0], {"side engine": (None, -0.2)}, "phi"
    ),
    "lander-after": lambda: plot.after(tree(), 250),
    "lander-after-x-y": lambda: plot.leaf_map(tree(), "x", "y", colour="value").after(120).mark(*PAD),
    "lander-tutorial": tutorial,
    "lander-linear": linear,
    "lander-flight": lambda: plot.episode(tree(), logs()[1], 42),
    "lander-trajectories-x-y": partial(trajectories, "approach"),
    "lander-trajectories-y-vy": partial(trajectories, "speed"),
    "lander-trajectories-phi": partial(trajectories, "tilt"),
    "lander-fans": fans,
}
