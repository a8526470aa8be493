"""Pictures of what changed between two logs: by how much in each region, where these are, returns, and ground."""

from __future__ import annotations

from typing import Any

import numpy as np

from tripletree.answers.diff import CHANGED, Diff, RegionDiff
from tripletree.errors import ParameterError
from tripletree.language.numbers import percent
from tripletree.scenes.colours import DIVERGING, GREY, HERE, INK, MODELS, PALE, TRACK
from tripletree.scenes.types import Axis, ColourScale, Entry, Lines, Mark, Points, Rectangles, Scene, Sheet
from tripletree.text import Message, Option, shortened

OLD, NEW = MODELS[0], MODELS[1]
LETTERS = 20
"""Characters of what differs that the forest has room for beside its number."""


def change(answer: Any) -> Sheet:
    """Return all pictures of what changed that there are.

    Parameters
    ----------
    answer : Diff
        What ``diff(old, new)`` said.
    """
    if not isinstance(answer, Diff):
        raise ParameterError(
            Message("{} must be what diff(old, new) returns; got {}.", Option("answer"), type(answer).__name__)
        )
    found = [scene for scene in (forest(answer), region_map(answer), returns(answer), ground(answer)) if scene]
    rows = tuple(tuple(found[k : k + 2]) for k in range(0, len(found), 2))
    return Sheet("What changed", rows, f"Claimed: {answer.claimed}")


def told_regions(answer: Diff) -> list[tuple[str, RegionDiff]]:
    """Return the regions of all claimed causes, with the cause of each."""
    return [(cause.name, region) for cause in answer.causes if cause.status == CHANGED for region in cause.regions]


def forest(answer: Diff) -> Scene | None:
    """Return the differences of all regions with their intervals, in standard deviations; the tolerance is a band.

    Rows are numbered as regions are told, since their conditions are longer than any label may be.
    """
    regions = told_regions(answer)
    if not regions:
        return None
    size = len(regions)
    low, high = (np.array([region.interval[k] / region.scale for _, region in regions]) for k in (0, 1))
    middle = np.array([region.effect / region.scale for _, region in regions])
    place = np.arange(size, 0, -1.0)
    reach = 1.08 * max(float(np.abs([low, high]).max()), 1.2 * answer.tolerance, 1e-9)
    band = np.array([answer.tolerance])
    marks: list[Mark] = [
        Rectangles(-band, band, np.array([0.4]), np.array([size + 0.6]), fill=TRACK),
        Lines((np.array([[0.0, 0.4], [0.0, size + 0.6]]),), GREY, 0.8),
        Lines(tuple(np.array([[a, y], [b, y]]) for a, b, y in zip(low, high, place, strict=True)), INK, 1.2),
        Points(middle, place, 5.0, HERE),
    ]
    names = tuple(f"{number}. {shortened(region.what, LETTERS)}" for number, (_, region) in enumerate(regions, 1))
    y = Axis("", 0.4, size + 0.6, ticks=tuple(place.tolist()), tick_labels=names)
    return Scene(
        "By how much",
        Axis("new less old, in standard deviations", -reach, reach),
        y,
        tuple(marks),
        "95 % intervals of regions found on other episodes; they hold together",
        legend=(Entry("within the tolerance", PALE),),
    )


def region_map(answer: Diff) -> Scene | None:
    """Return where regions are, on the two features that bound most of them."""
    regions = [region for cause, region in told_regions(answer) if cause != "start" and region.when]
    count = len(answer.schema.features)
    if not regions or count < 2:
        return None
    bounded = np.sum([np.isfinite(r.lower[:count]) | np.isfinite(r.upper[:count]) for r in regions], axis=0)
    spans = np.array(answer.spans)
    first, second = sorted(np.lexsort((np.arange(count), -bounded))[:2].tolist())
    corner = {
        f: (
            np.maximum([r.lower[f] for r in regions], spans[f, 0]),
            np.minimum([r.upper[f] for r in regions], spans[f, 1]),
        )
        for f in (first, second)
    }
    value = np.array([region.effect / region.scale for region in regions])
    reach = max(float(np.abs(value).max()), 1e-9)
    order = np.argsort(-(corner[first][1] - corner[first][0]) * (corner[second][1] - corner[second][0]))
    marks: tuple[Mark, ...] = (
        Rectangles(
            corner[first][0][order],
            corner[first][1][order],
            corner[second][0][order],
            corner[second][1][order],
            value=value[order],
            edge=INK,
            edge_width=0.8,
            opacity=0.85,
        ),
    )

    def axis(f: int) -> Axis:
        feature = answer.schema.features[f]
        low, high = spans[f].tolist()
        label = f"{feature.name} ({feature.unit})" if feature.unit else feature.name
        return Axis(label, low, high if high > low else low + 1)

    return Scene(
        "Where",
        axis(first),
        axis(second),
        marks,
        "Regions that changed, on the two features that bound most of them; other conditions are not shown",
        ColourScale("new less old, in standard deviations", DIVERGING, -reach, reach),
    )


def returns(answer: Diff) -> Scene | None:
    """Return the share of episodes with at most each return, for both logs."""
    both = answer.outcome.returns
    if both is None:
        return None
    low, high = (float(end) for end in (min(one[0] for one in both), max(one[-1] for one in both)))
    if not high > low:
        return None
    marks: list[Mark] = []
    for numbers, colour in zip(both, (OLD, NEW), strict=True):
        x = np.repeat(numbers, 2)
        y = 100 * np.append(np.repeat(np.arange(1, len(numbers)) / len(numbers), 2), 1.0)
        steps = np.column_stack([x, np.append(0.0, y)])
        line = np.concatenate([[[low, 0.0]], steps, [[high, 100.0]]])
        marks.append(Lines((line,), colour, 1.4))
    return Scene(
        "Returns",
        Axis("return", low, high),
        Axis("episodes with at most that (%)", 0.0, 100.0),
        tuple(marks),
        legend=(Entry("old", OLD, "line"), Entry("new", NEW, "line")),
    )


def ground(answer: Diff) -> Scene | None:
    """Return how much of the ground both logs share, and each has for itself."""
    if answer.ground is None:
        return None
    shares = [answer.ground.old_alone, answer.ground.overlap, answer.ground.new_alone]
    names = ("old alone", "shared", "new alone")
    place = np.array([3.0, 2.0, 1.0])
    marks: tuple[Mark, ...] = tuple(
        Rectangles(np.zeros(1), np.array([100 * share]), np.array([y - 0.35]), np.array([y + 0.35]), fill=colour)
        for share, y, colour in zip(shares, place, (OLD, PALE, NEW), strict=True)
    )
    return Scene(
        "Visited",
        Axis("share of steps (%)", 0.0, 100.0),
        Axis("", 0.4, 3.6, ticks=tuple(place.tolist()), tick_labels=names),
        marks,
        f"{percent(answer.ground.new_alone)} of the new steps are where the old log hardly goes",
    )
