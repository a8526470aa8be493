"""Effects as pictures: one small curve for each feature, over the histogram of its states."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.answers.effects import ONE_WAY, Effect, Effects
from tripletree.errors import ParameterError
from tripletree.language.numbers import all_of
from tripletree.model.evaluate import check_log, in_labels
from tripletree.model.fit import available_cores
from tripletree.questions.effects import effects as find_effects
from tripletree.scenes.colours import ATTRIBUTE_COLOURS, FAINT, PALE
from tripletree.scenes.guides import category_scale
from tripletree.scenes.types import Axis, Band, Entry, Lines, Mark, Points, Rectangles, Scene, Sheet
from tripletree.scenes.view import named, read_model
from tripletree.text import Message, Option, count

F64 = npt.NDArray[np.float64]

ACROSS = 4
"""Curves beside each other."""
MOST = 8
"""Curves of one column, at most, unless features are named."""
FOOT = 0.22
"""Height of the histogram, as a share of the picture."""
MIXED = "goes either way"
MOST_LABELS = 6
"""Labels that have curves, at most: those that are predicted most often."""


def effects(model: Any, log: Any = None, about: Any = "action", features: Any = None) -> Sheet:
    """Return a picture for each feature that matters, the strongest first; each column of numbers has its own rows.

    Parameters
    ----------
    model : TripleTree, Fitted or Effects
        The tree; or what ``TripleTree.effects`` returned, which is drawn as it is.
    log : Log or None
        Where states come from; None: those that the model keeps.
    about, features
        As in ``TripleTree.effects``.
    """
    if isinstance(model, Effects):
        return effects_sheet(model)
    fitted = read_model(model)
    check_log(log, "log", none="the states that the model keeps")
    recorded = None if log is None else in_labels(fitted.schema, log)
    return effects_sheet(find_effects(fitted, recorded, about, features, available_cores()))


def effects_sheet(found: Effects) -> Sheet:
    """Return the sheet of an answer."""
    groups = [list(range(len(found.names)))] if found.labels else [[column] for column in range(len(found.names))]
    rows: list[tuple[Scene, ...]] = []
    hidden: set[str] = {found.name(one) for one in found.curves}
    for columns in groups:
        one = None if found.labels else columns[0]
        curves = found.shown(one)[: None if found.asked else MOST]
        hidden -= {found.name(curve) for curve in curves}
        heights = [_height(curve, columns) for curve in curves]
        most = max(heights, default=1.0) or 1.0
        drawn = [_scene(found, curve, columns, most, k % ACROSS == 0) for k, curve in enumerate(curves)]
        rows += [tuple(drawn[k : k + ACROSS]) for k in range(0, len(drawn), ACROSS)]
    if not rows:
        raise ParameterError(
            Message(
                "No feature has an effect on {} that is worth a curve. To see one all the same, name it: {}.",
                found.about,
                Option("features", [found.schema.feature_names[0]]),
            )
        )
    legend = [Entry("states", PALE)]
    if any(one.low is not None for one in found.curves):
        legend.append(Entry("where another log's curve would be", _colour(found), "area", 0.25))
    if found.labels:
        legend = [*_label_entries(found), *legend]
    dashed = (mark for row in rows for scene in row for mark in scene.marks if isinstance(mark, Lines) and mark.dashed)
    if any(dashed):
        legend.append(Entry("no states there", FAINT, "dashes"))
    left = f"; hardly any effect: {all_of(sorted(hidden, key=found.schema.feature_names.index))}" if hidden else ""
    return Sheet(
        _title(found),
        tuple(rows),
        f"All else fixed: the effect of small changes, added up from left to right (accumulated local effects) over "
        f"{count(found.samples, 'state')}; 0 is the average{left}",
        legend=tuple(legend),
    )


def _title(found: Effects) -> str:
    if found.labels:
        return "How likely each action is, feature by feature"
    what = found.names[0] if len(found.names) == 1 else f"the {found.about}"
    return f"How {what} moves with each feature"


def _colour(found: Effects) -> str:
    return ATTRIBUTE_COLOURS[1 if found.about == "value" else 2 if found.about.startswith("derivative") else 0]


def _labels(found: Effects) -> list[tuple[int, str]]:
    """Return the labels that have curves, with their colours."""
    scale = category_scale("action", found.names, found.mean)
    order = np.argsort(-found.mean, kind="stable")[:MOST_LABELS]
    return [(k, scale.stops[k]) for k in sorted(order.tolist())]


def _label_entries(found: Effects) -> list[Entry]:
    return [Entry(f"action = {found.names[k]}", colour, "line") for k, colour in _labels(found)]


def _height(curve: Effect, columns: list[int]) -> float:
    """Return how far a curve and its band reach from 0 where most of the states are."""
    seen = curve.usual
    parts = [curve.curve, *(side for side in (curve.low, curve.high) if side is not None)]
    return max(float(np.abs(part[seen][:, columns]).max()) for part in parts)


def _scene(found: Effects, curve: Effect, columns: list[int], height: float, first: bool) -> Scene:
    feature = found.schema.features[curve.feature]
    # The axis ends where all but a few states are, or one far off would leave no room for the others.
    low, high = (float(curve.grid[0]), float(curve.grid[-1])) if curve.few else curve.middle
    pad = (0.06 if curve.few else 0.02) * (high - low)
    top, bottom = 1.08 * height, -1.08 * height - FOOT * 2.4 * height
    marks: list[Mark] = [_histogram(curve, bottom, FOOT * 2.16 * height, low, high)]
    marks.append(Lines((np.array([[low - pad, 0.0], [high + pad, 0.0]]),), PALE, 0.6))
    for column, colour in _labels(found) if found.labels else [(columns[0], _colour(found))]:
        marks += _line(curve, column, colour)
    ticks: dict[str, Any] = {}
    if feature.kind == "binary":
        ticks = {"ticks": (0.0, 1.0), "tick_labels": ("no", "yes")}
    what = "the share" if found.labels else named(found.names[columns[0]], found.units[columns[0]])
    return Scene(
        feature.name,
        Axis(feature.unit, low - pad, high + pad, **ticks),
        # All of a row are on one scale: its name beside the first will do.
        Axis(f"effect on {what}" if first else "", bottom, top),
        tuple(marks),
        MIXED if not found.labels and curve.one_way[columns[0]] < ONE_WAY else "",
    )


def _histogram(curve: Effect, foot: float, height: float, low: float, high: float) -> Rectangles:
    if curve.few:
        gap = float(np.diff(curve.bars).min()) if len(curve.bars) > 1 else 1.0
        left, right = curve.bars - 0.1 * gap, curve.bars + 0.1 * gap
    else:
        left, right = curve.bars[:-1], curve.bars[1:]
    left, right = np.clip(left, low - (high - low), high), np.clip(right, low, high + (high - low))
    tall = np.sqrt(curve.count / max(int(curve.count.max()), 1))
    bottom = np.full(len(left), foot)
    return Rectangles(left, right, bottom, bottom + height * tall, fill=PALE)


def _line(curve: Effect, column: int, colour: str) -> list[Mark]:
    marks: list[Mark] = []
    if curve.low is not None and curve.high is not None:
        marks.append(Band(curve.grid, curve.low[:, column], curve.high[:, column], colour))
    # Cut where bars end, so that every piece of the line is above one of them.
    at = curve.grid if curve.few else np.union1d(curve.grid, curve.bars)
    points = np.column_stack([at, np.interp(at, curve.grid, curve.curve[:, column])])
    faint = curve.empty((at[1:] + at[:-1]) / 2)
    for blank, style in ((False, {"colour": colour, "width": 1.3}), (True, {"colour": FAINT, "dashed": True})):
        pieces = _pieces(points, faint == blank)
        if pieces:
            marks.append(Lines(tuple(pieces), **style))  # type: ignore[arg-type]
    if curve.few:
        marks.append(Points(curve.grid, curve.curve[:, column], 3.0, colour))
    return marks


def _pieces(points: F64, wanted: npt.NDArray[np.bool_]) -> list[F64]:
    """Return the stretches of a line whose pieces are all wanted."""
    change = np.flatnonzero(np.diff(np.concatenate([[False], wanted, [False]]).astype(np.int8)))
    return [points[a : b + 1] for a, b in zip(change[::2], change[1::2], strict=True)]
