"""The fan: where the agent is over the next steps, a row for each feature, and how many episodes are over by then."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.answers.futures import far
from tripletree.asking.features import read_features
from tripletree.language.conditions import STARTS
from tripletree.model.evaluate import check_log, in_labels
from tripletree.model.fitted import Fitted
from tripletree.questions.evidence import evidence
from tripletree.questions.fan import Fan, fan
from tripletree.scenes.colours import ATTRIBUTE_COLOURS, FAINT, GREY, HERE, PALE, PAPER
from tripletree.scenes.types import Axis, Band, Entry, Lines, Mark, Points, Scene, Sheet
from tripletree.scenes.view import named, read_model
from tripletree.text import count

F64 = npt.NDArray[np.float64]

MOST_FEATURES = 8
"""Features that are shown at most, unless the caller names them."""
PATHS = 8
"""Episodes that are drawn as they were."""
STRIP = 0.6
"""Height of the row of episodes that are over, in units of another row."""
COLOUR, SHADE = ATTRIBUTE_COLOURS[0], 0.28


def after(
    model: Any, steps: Any, start: Any = None, *, features: Any = None, log: Any = None, paths: int = PATHS
) -> Sheet:
    """Return rows over time: 10, 50 and 90 % of each feature, and the share of episodes that are over.

    Parameters
    ----------
    model : TripleTree or Fitted
        The tree.
    steps : int
        How far to look ahead.
    start : None, state, leaf or zone
        Where from, as in ``TripleTree.chance``.
    features : sequence of str or None
        Which features; None: those that move most, at most eight.
    log : Log or None
        Whose episodes to count; None: those that the model keeps.
    paths : int
        How many episodes to draw as they were, at most.
    """
    fitted = read_model(model)
    found = fan_of(fitted, steps, start, log, paths)
    chosen = read_features(fitted, features)
    shown = moving(fitted, found) if chosen is None else chosen
    rows = [_feature(fitted, found, f) for f in shown]
    heights = [1.0] * len(rows)
    legend = [
        Entry("10 to 90 % of those that go on", COLOUR, "area", SHADE),
        Entry("their median", COLOUR, "line"),
    ]
    if found.paths:
        legend.append(Entry(f"{len(found.paths)} of them", FAINT, "line"))
    if found.seen.distance is not None:
        legend.append(Entry("the state asked about", HERE, "star"))
    if found.ended.any() or found.unresolved.any():
        rows.append(_over(found))
        heights.append(STRIP)
        legend.append(Entry("already over", GREY, "area", 0.75))
    if found.unresolved.any():
        legend.append(Entry("the record ends too early to tell", PALE))
    rows[-1] = _with_steps(rows[-1])
    return Sheet(
        f"Where it is over the next {count(int(found.times[-1]), 'step')}",
        tuple((row,) for row in rows),
        _said(fitted, found, len(shown), features is None),
        legend=tuple(legend),
        heights=tuple(heights),
    )


def fan_of(fitted: Fitted, steps: Any, start: Any, log: Any, paths: int = PATHS) -> Fan:
    """Return the fan of a log, or of the episodes that the model keeps."""
    check_log(log, "log", none="the episodes that the model keeps")
    return fan(evidence(fitted, None if log is None else in_labels(fitted.schema, log)), steps, start, paths)


def moving(fitted: Fitted, found: Fan) -> list[int]:
    """Return the features that move most, relative to their range, in the order of the schema."""
    moved = np.abs(found.quantiles - found.quantiles[:, :1]).max(axis=(0, 1)) / fitted.span
    return sorted(np.argsort(-moved, kind="stable")[:MOST_FEATURES].tolist())


def said(found: Fan) -> str:
    """Return who was seen at the start: "From where episodes begin: 60 recorded episodes"."""
    seen = found.seen
    told = count(seen.episodes, "recorded episode")
    if seen.distance is not None:
        told += f" near it, {far(seen.distance)}"
        told += ", though this state lies outside the range of the log" if seen.outside else ""
    elif seen.start != STARTS:
        told = f"{seen.episodes:,} of {count(seen.recorded, 'recorded episode')}, {count(seen.visits, 'step')} there"
    return f"From {seen.start}: {told}"


def _said(fitted: Fitted, found: Fan, shown: int, chosen: bool) -> str:
    told = [said(found)]
    features = len(fitted.schema.features)
    if chosen and shown < features:
        told.append(f"{shown} of {features} features, those that move most")
    if found.quantiles.shape[1] < len(found.times):
        last = int(found.times[found.quantiles.shape[1] - 1])
        told.append(f"After {count(last, 'step')} too few go on to tell")
    return ". ".join(told)


def _feature(fitted: Fitted, found: Fan, f: int) -> Scene:
    feature, (low, middle, high) = fitted.schema.features[f], found.quantiles[:, :, f]
    times = found.times[: len(middle)].astype(np.float64)
    if feature.kind == "binary":
        # Quantiles of 0 and 1 would jump between them.
        share = Lines((np.column_stack([times, found.mean[:, f]]),), COLOUR, 1.3)
        y = Axis(f"{feature.name} (share)", -0.1, 1.1, upright=True)
        return Scene("", _across(found), y, (share,))
    soft = np.full(len(found.paths), 0.7)
    marks: list[Mark] = [
        Band(times, low, high, COLOUR, SHADE),
        Lines(tuple(np.column_stack([np.arange(len(p)), p[:, f]]) for p in found.paths), FAINT, 0.4, soft),
        Lines((np.column_stack([times, middle]),), COLOUR, 1.3),
    ]
    values = [low.min(), high.max(), *(end for path in found.paths for end in (path[:, f].min(), path[:, f].max()))]
    if found.state is not None:
        marks.append(Points(np.zeros(1), found.state[[f]], 7.0, HERE, symbol="star", edge=PAPER))
        values.append(found.state[f])
    least, most = float(min(values)), float(max(values))
    pad = 0.1 * (most - least) or 0.5 * max(abs(least), 1.0)
    y = Axis(named(feature.name, feature.unit), least - pad, most + pad, upright=True)
    return Scene("", _across(found), y, tuple(marks))


def _over(found: Fan) -> Scene:
    """Return the share of episodes that are over, and above it what the record does not tell, in percent."""
    times, over = found.times.astype(np.float64), 100 * found.ended
    marks: list[Mark] = [Band(times, np.zeros(len(times)), over, GREY, 0.75)]
    if found.unresolved.any():
        marks.append(Band(times, over, over + 100 * found.unresolved, PALE, 1.0))
    y = Axis("episodes over (%)", 0.0, 100.0, ticks=(0.0, 100.0), tick_labels=("0", "100"), upright=True)
    return Scene("", _across(found), y, tuple(marks))


def _across(found: Fan) -> Axis:
    # A little to the left of 0, so that the star of a state is whole.
    width = float(found.times[-1])
    return Axis("", -0.01 * width, width, shown=False)


def _with_steps(row: Scene) -> Scene:
    return replace(row, x=replace(row.x, label="steps later", shown=True))
