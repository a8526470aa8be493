"""The simplex of weights: how large the worst of the three losses is for every theta (paper, Appendix A)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.answers.weights import Weights, theta
from tripletree.errors import ParameterError
from tripletree.language.numbers import percent
from tripletree.leaves.attributes import ATTRIBUTES
from tripletree.scenes.colours import ATTRIBUTE_COLOURS, FAINT, GREYS, INK, PAPER
from tripletree.scenes.types import Axis, ColourScale, Entry, Labels, Lines, Points, Scene, Sheet, Surface
from tripletree.text import Message, Option

F64 = npt.NDArray[np.float64]

CORNERS = np.array([[0.5, np.sqrt(0.75)], [1.0, 0.0], [0.0, 0.0]])
"""Where all weight is on action, value and derivative, as in the paper."""


def simplex(weights: Any) -> Sheet:
    """Return one triangle for each leaf count, all on one colour scale."""
    if not isinstance(weights, Weights):
        raise ParameterError(
            Message(
                "{} must be what compare_weights(log) returns; got {}. "
                "Type: plot.simplex(tripletree.compare_weights(log)).",
                Option("weights"),
                type(weights).__name__,
            )
        )
    low, high = float(weights.worst.min()), float(weights.worst.max())
    # A loss of 0 has no logarithm; an even scale still gets a little width.
    low = max(low, 1e-4 * high)
    scale = ColourScale("worst loss (one leaf: 1)", GREYS, low / 1.02, max(high, low * 1.02), kind="log")
    corner = place(weights.theta)
    triangle = triangles(round(1 / weights.theta[weights.theta > 0].min()))
    on = "held-out episodes" if weights.validation else "the training log"
    legend = [
        Entry(f"worst: {name}", colour, "disc") for name, colour in zip(ATTRIBUTES, ATTRIBUTE_COLOURS, strict=True)
    ]
    row = tuple(_triangle(weights, k, corner, triangle, scale) for k in range(len(weights.leaves)))
    return Sheet(
        "Which weights keep the worst loss small",
        (row,),
        f"Each of {len(corner)} dots is a tree grown with its own theta = [action, value, derivative]. Shown is the "
        f"worst of its three losses on {on}, each relative to a tree with one leaf",
        scale,
        (*legend, Entry("best weights", INK, "ring")),
    )


def place(points: F64) -> F64:
    """Return where weights are drawn, shape (points, 2)."""
    total = np.asarray(points, np.float64)
    at: F64 = total / total.sum(axis=-1, keepdims=True) @ CORNERS
    return at


def triangles(steps: int) -> npt.NDArray[np.int64]:
    """Return the small triangles between the points of ``questions.weights.simplex(steps)``, by their numbers."""
    number: dict[tuple[int, int], int] = {}
    for a in range(steps + 1):
        for b in range(steps + 1 - a):
            number[a, b] = len(number)
    up = [(number[a, b], number[a + 1, b], number[a, b + 1]) for a in range(steps) for b in range(steps - a)]
    down = [
        (number[a + 1, b], number[a, b + 1], number[a + 1, b + 1])
        for a in range(steps - 1)
        for b in range(steps - 1 - a)
    ]
    return np.array(up + down, np.int64)


def _triangle(weights: Weights, k: int, at: F64, triangle: npt.NDArray[np.int64], scale: ColourScale) -> Scene:
    worst, attribute, best = weights.worst[k], weights.worst_attribute[k], int(weights.best[k])
    outline = Lines((CORNERS[[0, 1, 2, 0]],), FAINT, 0.6)
    # Many dots are smaller, so that the shades between them are seen.
    size = float(np.clip(20 / np.sqrt(len(at)), 3.0, 4.4))
    dots = [
        Points(at[attribute == g, 0], at[attribute == g, 1], size, ATTRIBUTE_COLOURS[g], edge=PAPER)
        for g in range(3)
        if (attribute == g).any()
    ]
    ring = Points(at[[best], 0], at[[best], 1], 2 * size, INK, symbol="ring")
    top = Labels(CORNERS[:1, 0], CORNERS[:1, 1], ("action",), shift=(0, 8))
    right = Labels(CORNERS[1:2, 0], CORNERS[1:2, 1], ("value",), align="right", shift=(8, -9))
    left = Labels(CORNERS[2:, 0], CORNERS[2:, 1], ("derivative",), align="left", shift=(-8, -9))
    return Scene(
        f"{weights.leaves[k]:,} leaves",
        Axis("", -0.12, 1.12, shown=False),
        Axis("", -0.14, 1.0, shown=False),
        (Surface(at[:, 0], at[:, 1], triangle, np.maximum(worst, scale.low)), outline, *dots, ring, top, right, left),
        f"Best: {theta(weights.theta[best])}, {percent(float(worst[best]))}",
        scale,
        equal=True,
    )
