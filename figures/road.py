"""The road: losses, maps, explanations and trajectories of its four agents (paper, figures 3 to 6)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np

from tripletree import Log, TripleTree, plot
from tripletree.demos import road
from tripletree.plot.picture import SheetPicture
from tripletree.scenes.charts import curves
from tripletree.scenes.leaf_map import leaf_map
from tripletree.scenes.types import Sheet
from tripletree.scenes.view import read_view

COMPROMISE = (0.2, 0.6, 0.2)
THETAS = {"action only": (1, 0, 0), "value only": (0, 1, 0), "derivative only": (0, 0, 1), "all three": (1, 1, 1)}
LEAVES = 200


@cache
def log(agent: str) -> Log:
    """Return 10,000 steps of an agent."""
    return road.record(agent)


@cache
def tree(agent: str, theta: tuple[float, float, float] = COMPROMISE) -> TripleTree:
    """Return the paper's tree of an agent."""
    return TripleTree(LEAVES, theta, road.GAMMA).fit(log(agent))


def rewards(agent: str) -> str:
    """Return what an agent is paid, in words."""
    paid = road.VARIANTS[agent]
    return f"paid {paid.left:g} at the left wall, {paid.right:g} at the right wall, {paid.speed:g} x |speed| a step"


def losses(agent: str) -> Any:
    """Figure 3: three losses by leaf count, for trees grown on one attribute or on all three."""
    sheet = curves({name: tree(agent, theta) for name, theta in THETAS.items()}, None, None)
    return SheetPicture(replace(sheet, title=f"Losses for the agent that is {rewards(agent)}"), size=(6.9, 2.4))


def maps(agent: str) -> Any:
    """Figure 4: action, value, moves, impurity and density of one tree."""
    view = read_view(tree(agent), "pos", "speed")
    scenes = [
        leaf_map(view, "action"),
        leaf_map(view, "value"),
        leaf_map(view, None, arrows=True),
        leaf_map(view, "impurity of derivative"),
        leaf_map(view, "density"),
        leaf_map(view, "impurity of value"),
    ]
    scenes = [replace(scene, title=scene.title.partition(" by ")[0], subtitle="") for scene in scenes]
    sheet = Sheet(f"The agent that is {rewards(agent)}", (scenes[:3], scenes[3:]), f"A tree of {LEAVES} leaves.")
    return SheetPicture(sheet, size=(6.9, 5.0))


def samples() -> Any:
    """Return the samples that a tree was grown on, and the longest episode."""
    longest = int(np.diff(log("left").starts).argmax())
    return plot.leaf_map(tree("left"), "pos", "speed").samples(log("left")).episodes(log("left"), longest)


def counterfactual() -> Any:
    """Figure 5a: why not the other action."""
    state = [1.2, 0.03]
    answer = tree("left").explain(state, {"action": "-0.001"})
    return plot.leaf_map(tree("left"), "pos", "speed").explanation(answer).zoom((0.7, 2.1), (-0.005, 0.08))


def change() -> Any:
    """Figure 5a: why the action changed from one step to the next."""
    states = log("left").states
    said = tree("left").predict(states).action
    ends = set((log("left").starts[1:] - 1).tolist())
    steps = [t for t in np.flatnonzero(said[:-1] != said[1:]).tolist() if t not in ends and 0.02 < states[t, 1] < 0.05]
    step = steps[len(steps) // 2]
    answer = tree("left").explain_change(states[step], states[step + 1])
    middle, reach = states[step], np.array([0.09, 0.004])
    low, high = middle - reach, middle + reach
    picture = plot.leaf_map(tree("left"), "pos", "speed").explanation(answer)
    return picture.zoom((low[0], high[0]), (low[1], high[1]))


def value() -> Any:
    """Figure 5b: what would make the value small."""
    answer = tree("left").explain([2.3, 0.01], {"value": (None, 0.3)})
    return (
        plot.leaf_map(tree("left"), "pos", "speed", colour="value").explanation(answer).zoom((1.8, 3.0), (-0.03, 0.08))
    )


def trajectories(agent: str, ways: tuple[tuple[Any, Any], ...]) -> Any:
    """Figure 6: the paper's trajectories among the moves of the leaves."""
    picture = plot.leaf_map(tree(agent), "pos", "speed", colour=None, arrows=True)
    for start, end in ways:
        picture.trajectories(tree(agent).simulate(start, end, method="paper"))
    return picture


FIGURES: dict[str, Callable[[], Any]] = {
    **{f"road-losses-{agent}": partial(losses, agent) for agent in road.VARIANTS},
    **{f"road-maps-{agent}": partial(maps, agent) for agent in road.VARIANTS},
    "road-overview": lambda: plot.overview(tree("left")),
    "road-value": lambda: plot.leaf_map(tree("left"), "pos", "speed", colour="value", arrows=True),
    "road-samples": samples,
    "road-along-pos": lambda: plot.leaf_map(tree("left"), "pos", colour="action"),
    "road-why-not": counterfactual,
    "road-why-changed": change,
    "road-why-value": value,
    "road-trajectories-either": partial(
        trajectories, "either", (([0.6, 0.0], [2.2, 0.0]), ([1.0, 0.04], [0.5, -0.05]))
    ),
    "road-trajectories-alive": partial(trajectories, "alive", (([0.6, 0.0], [2.2, 0.0]), ([2.4, 0.0], [0.8, 0.0]))),
}
