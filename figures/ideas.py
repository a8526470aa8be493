"""What the paper's diagrams explain, drawn from real trees: the world, foils, from slice to projection."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from figures import lander, road
from tripletree import plot
from tripletree.demos import road as world
from tripletree.leaves.project import extents
from tripletree.plot.picture import Picture, SheetPicture
from tripletree.scenes import overlays
from tripletree.scenes.colours import HERE, INK, PLACES
from tripletree.scenes.leaf_map import leaf_map
from tripletree.scenes.types import Arrows, Axis, Entry, Labels, Lines, Points, Rectangles, Scene, Sheet
from tripletree.scenes.view import read_view


def road_world() -> Any:
    """Figure 2: a vehicle between two walls."""
    one = np.ones(1)
    paid = world.VARIANTS["left"]
    marks = (
        Rectangles(0 * one, world.LENGTH * one, -0.12 * one, 0 * one, fill="#d9dde2"),
        Rectangles(-0.06 * one, 0 * one, -0.12 * one, 1 * one, fill=PLACES[0]),
        Rectangles(world.LENGTH * one, (world.LENGTH + 0.06) * one, -0.12 * one, 1 * one, fill=PLACES[1]),
        Lines((np.array([[0.05, -0.06], [world.LENGTH - 0.05, -0.06]]),), "#ffffff", 1.0, dashed=True),
        Rectangles(1.25 * one, 1.55 * one, 0.08 * one, 0.3 * one, fill=INK),
        Points(np.array([1.32, 1.48]), np.array([0.08, 0.08]), size=7, colour=INK, edge="#ffffff"),
        Arrows(1.6 * one, 0.19 * one, 0.35 * one, 0 * one, colour=HERE, centred=False, width=1.4),
        Labels(np.array([1.4, 1.8]), np.array([0.48, 0.3]), ("acc = ±0.001 each step", "speed")),
        Labels(np.array([0.06]), np.array([0.78]), (f"left wall:\nreward {paid.left:g}, the end",), align="left"),
        Labels(
            np.array([world.LENGTH - 0.06]),
            np.array([0.78]),
            (f"right wall:\nreward {paid.right:g}, the end",),
            align="right",
        ),
    )
    scene = Scene(
        title="The road: a vehicle between two walls",
        subtitle=f"Reward of every other step: {paid.speed:g} x |speed|, which is at most {world.TOP_SPEED:g}",
        x=Axis("pos", -0.06, world.LENGTH + 0.06, ticks=(0, 1, 2, 3), tick_labels=("0", "1", "2", "3")),
        y=Axis("", -0.12, 1.0, ticks=(-0.12,), tick_labels=("",)),
        marks=marks,
    )
    return Picture(scene, size=(3.3, 1.9))


def foils() -> Any:
    """Appendix B, figure 2: the nearest points of the leaves that meet the foil."""
    tree, state = road.tree("left"), np.array([1.2, 0.03])
    answer = tree.explain(state.tolist(), {"action": "-0.001"})
    fitted = tree.fitted_
    boxes = extents(fitted.tree, fitted.feature_min, fitted.feature_max, np.zeros(2, bool))
    meets = np.flatnonzero(fitted.attributes.action_count[fitted.tree.leaf_nodes].argmax(axis=1) == 0)
    nearest = np.clip(state, boxes.lower[meets], boxes.upper[meets])
    low, high = np.array([0.8, -0.005]), np.array([1.75, 0.075])
    shown = ((nearest >= low) & (nearest <= high)).all(axis=1)
    nearest = nearest[shown]
    picture = plot.leaf_map(tree, "pos", "speed").explanation(answer).zoom((low[0], high[0]), (low[1], high[1]))
    ways = tuple(np.stack([state, point]) for point in nearest)
    layer = overlays.Layer(
        (
            Lines(ways, INK, 0.5, np.full(len(ways), 0.5)),
            Points(nearest[:, 0], nearest[:, 1], 2.6, INK, edge="#ffffff"),
        ),
        (Entry("nearest points of such leaves", INK, "disc"),),
    )
    return picture.draw(layer)


def slice_to_projection() -> Any:
    """Appendix C: one plane with the other features fixed, limited ever less, and averaged over."""
    tree, names = lander.tree(), lander.tree().fitted_.schema.feature_names
    state = dict(zip(names, [0.0, 0.6, 0.0, -0.2, 0.0, 0.0, 0, 0], strict=True))
    span = tree.fitted_.feature_max - tree.fitted_.feature_min
    scenes = []
    for width, title in ((0.0, "Fixed: a slice"), (0.1, "Within 10 % of the range"), (None, "Averaged: a projection")):
        where: dict[str, Any] = {}
        for f, name in enumerate(names[:6]):
            if name not in ("y", "v_y") and width is not None:
                reach = width * span[f] / 2
                where[name] = (state[name] - reach, state[name] + reach) if width else state[name]
        if width is not None:
            where |= dict.fromkeys(names[6:], 0)
        scene = leaf_map(read_view(tree, "y", "v_y", where=where), "main engine", limits=(-1, 1))
        scenes.append(replace(scene, title=title, subtitle=scene.subtitle.partition(",")[0].partition(" on")[0]))
    sheet = Sheet(
        "From a slice to the projection: mean main engine by y and v_y",
        (tuple(scenes),),
        "The other features stand still in mid-air above the pad, move a little, or are averaged over.",
        colours=scenes[0].colours,
    )
    return SheetPicture(sheet, size=(6.9, 2.5))


FIGURES: dict[str, Callable[[], Any]] = {
    "road-world": road_world,
    "road-foils": foils,
    "lander-slice-to-projection": slice_to_projection,
}
