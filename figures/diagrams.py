"""Diagrams of the road's and the lander's trees: boxes, graphs, bars, the simplex of weights, and episodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from figures import lander, road
from tripletree import compare_weights, plot

LEAVES = (20, 50, 100, 200)


def flight() -> int:
    """Return the position of an episode of middle length: neither a fall nor a long wait on the ground."""
    length = np.diff(lander.logs()[1].starts)
    return int(np.argsort(length, kind="stable")[len(length) // 4])


def steady() -> Any:
    """Return the effects of the side engine's features with bands, by the training log."""
    return lander.tree().effects(lander.logs()[0], about="side engine", stability=True)


FIGURES: dict[str, Callable[[], Any]] = {
    **{
        f"road-weights-{agent}": lambda agent=agent: plot.simplex(compare_weights(road.log(agent), leaves=LEAVES))
        for agent in ("left", "either", "hurry", "alive")
    },
    "road-tree": lambda: plot.tree(road.tree("left")),
    "road-importance": lambda: plot.importance(road.tree("left")),
    "road-graph": lambda: plot.transitions(road.tree("either").truncate(40), log=road.log("either"), colour="action"),
    "road-graph-pos-speed": lambda: plot.transitions(road.tree("either"), "pos", "speed", colour="action"),
    "road-episode": lambda: plot.episode(road.tree("alive"), road.log("alive"), 3),
    "lander-tree": lambda: plot.tree(lander.tree()),
    "lander-importance": lambda: plot.importance(lander.tree()),
    "lander-effects": lambda: plot.effects(lander.tree(), about="side engine"),
    "lander-attribution": lambda: plot.attribution(lander.tree(), lander.logs()[1].states[100], about="main engine"),
    "lander-beeswarm": lambda: plot.beeswarm(lander.tree(), lander.logs()[1], about="main engine", dots=500),
    "lander-stability": lambda: plot.effects(steady()),
    "lander-graph": lambda: plot.transitions(lander.tree()),
    "lander-episode": lambda: plot.episode(lander.tree(), lander.logs()[1], flight()),
}
