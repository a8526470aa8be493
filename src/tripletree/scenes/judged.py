"""How a tree was judged, as pictures: calibration, and how numbers are spread."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tripletree.answers.judgement import CONFIDENCE, Calibration
from tripletree.scenes.colours import ATTRIBUTE_COLOURS, FAINT, PAPER
from tripletree.scenes.types import Axis, Entry, Lines, Mark, Points, Rectangles, Scene

F64 = npt.NDArray[np.float64]

MOST_BARS = 24


def calibration_scene(answer: Calibration) -> Scene:
    """Return predictions across, observations up, with 95 % intervals and the diagonal on which both are the same."""
    error = 1.96 * answer.error
    ends = np.concatenate([answer.predicted, answer.observed - error, answer.observed + error])
    low, high = float(ends.min()), float(ends.max())
    if answer.about == CONFIDENCE:
        low, high = max(low, 0.0), 1.0
    pad = 0.05 * (high - low) or 0.5
    low, high = low - pad, high + pad
    colour = ATTRIBUTE_COLOURS[1 if answer.about == "value" else 0]
    bars = tuple(
        np.array([[x, y - e], [x, y + e]]) for x, y, e in zip(answer.predicted, answer.observed, error, strict=True)
    )
    marks: tuple[Mark, ...] = (
        Lines((np.array([[low, low], [high, high]]),), FAINT, 0.9, dashed=True),
        Lines(bars, colour, 1.0),
        Points(answer.predicted, answer.observed, 5.0, colour, edge=PAPER),
    )
    sure = answer.about == CONFIDENCE
    return Scene(
        "Action: how sure and how often right" if sure else f"{answer.about.capitalize()}: predicted and observed",
        Axis("how sure the tree is" if sure else f"{answer.about} predicted", low, high),
        Axis("share that is right" if sure else f"{answer.about} observed", low, high),
        marks,
        str(answer),
        legend=(
            Entry("groups of steps with about the same prediction, 95 % interval", colour, "disc"),
            Entry("both the same", FAINT, "dashes"),
        ),
    )


def spread_scene(title: str, label: str, numbers: F64) -> Scene:
    """Return how often numbers of some size come: bars of equal width, about as many as the numbers deserve."""
    low, high = float(numbers.min()), float(numbers.max())
    if low == high:
        low, high = low - 0.5 * max(abs(low), 1.0), high + 0.5 * max(abs(high), 1.0)
    bars = int(np.clip(np.sqrt(len(numbers)) * 1.5, 4, MOST_BARS))
    count, edges = np.histogram(numbers, bars, (low, high))
    nothing = np.zeros(bars)
    tiles = Rectangles(edges[:-1], edges[1:], nothing, count.astype(np.float64), fill=ATTRIBUTE_COLOURS[0], edge=PAPER)
    return Scene(title, Axis(label, low, high), Axis("episodes", 0.0, 1.08 * float(count.max())), (tiles,))
