"""One cycle of a rhythm, enlarged: actions and features along it, mean and spread over all cycles, and its parts."""

from __future__ import annotations

import textwrap
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.answers.rhythm import Rhythm, steps_text
from tripletree.checks import check_names
from tripletree.errors import ParameterError
from tripletree.log.log import Log
from tripletree.model.evaluate import check_log
from tripletree.questions.rhythm import rhythm
from tripletree.scenes.colours import ATTRIBUTE_COLOURS, CATEGORIES, GREY, INK, ON_LIGHT, PALE, PAPER, PHASES
from tripletree.scenes.types import Axis, Band, Entry, Labels, Lines, Mark, Rectangles, Scene, Sheet
from tripletree.scenes.view import named
from tripletree.text import Message, Option

F64 = npt.NDArray[np.float64]

FEWEST_BINS, MOST_BINS = 12, 48
"""Places of the cycle that means are taken at: one for each step of it, within these limits."""
BAR, WORDS = 0.3, 0.27
"""Height of the bar of parts, and of a line of words, in units of one row."""
LETTERS = 112
"""Characters that fit in a line of words across a page."""
MOST_LABELS = 6
"""Labels of a discrete action that are drawn, the commonest ones."""


def cycle(log: Any, found: Rhythm | None = None, *, features: Any = None, most: int | None = None) -> Sheet:
    """Return rows along one cycle: parts, actions, features; and the parts in words.

    Parameters
    ----------
    log : Log
        The recording.
    found : Rhythm or None
        What ``rhythm(log)`` said of it; None: asked here.
    features : sequence of str or None
        Which features; None: all.
    most : int or None
        Without ``features``: at most so many, those that go with the cycle most.
    """
    check_log(log, "log")
    answer = rhythm(log) if found is None else found
    if not isinstance(answer, Rhythm):
        raise ParameterError(
            Message("{} must be what rhythm(log) returns; got {}.", Option("answer"), type(answer).__name__)
        )
    if not answer:
        raise ParameterError(f"There is no cycle to draw. {answer}")
    if len(answer.phase) != log.n_samples:
        raise ParameterError("This rhythm is that of another log; leave it out, or ask rhythm(log) first.")
    rows = [
        _bar(answer),
        *_actions(log, answer),
        *(_feature(log, answer, f) for f in _which(log, answer, features, most)),
    ]
    rows[-1] = replace(rows[-1], x=replace(rows[-1].x, label="steps of a cycle", shown=True))
    rows.append(_words(answer))
    action = log.schema.action
    labels = _labels(log) if log.schema.has_action and action.kind == "discrete" else []
    legend = [Entry(action.labels[code], CATEGORIES[k], "line") for k, code in enumerate(labels)]
    legend += [Entry("mean and spread over all cycles", INK, "line")]
    heights = (BAR, *([1.0] * (len(rows) - 2)), WORDS * rows[-1].y.high)
    title = f"One cycle: {steps_text(answer.period)} steps"
    return Sheet(
        title, tuple((row,) for row in rows), answer.headline.rstrip("."), legend=tuple(legend), heights=heights
    )


def _which(log: Log, answer: Rhythm, features: Any, most: int | None) -> list[int]:
    names = log.schema.feature_names
    if features is not None:
        wanted = [features] if isinstance(features, str) else list(features)
        check_names(wanted, names, "The log")
        return [names.index(name) for name in wanted]
    if most is None or most >= len(names):
        return list(range(len(names)))
    share = [_share(answer, column) for column in log.states.T]
    return sorted(np.argsort(-np.array(share), kind="stable")[:most].tolist())


def _share(answer: Rhythm, column: F64) -> float:
    """Return the share of a column's variance that the place in the cycle explains."""
    known = ~np.isnan(answer.phase)
    bins = _bins(answer)
    mean, _ = _means(answer, column)
    place = (answer.phase[known] * bins).astype(np.int64) % bins
    total = float(column[known].var())
    return 1 - float(np.mean((column[known] - mean[place]) ** 2)) / total if total > 0 else 0.0


def _bins(answer: Rhythm) -> int:
    return int(np.clip(round(answer.period), FEWEST_BINS, MOST_BINS))


def _means(answer: Rhythm, column: F64) -> tuple[F64, F64]:
    """Return mean and standard deviation at each place of the cycle."""
    known, bins = ~np.isnan(answer.phase), _bins(answer)
    place = (answer.phase[known] * bins).astype(np.int64) % bins
    count = np.bincount(place, minlength=bins)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.bincount(place, column[known], bins) / count
        left = np.bincount(place, (column[known] - mean[place]) ** 2, bins) / count
    return mean, np.sqrt(left)


def _closed(values: F64) -> F64:
    """Return the values once around, with the last one before the first and the first one after the last."""
    return np.concatenate([values[-1:], values, values[:1]])


def _across(answer: Rhythm) -> F64:
    bins = _bins(answer)
    return (np.arange(-1, bins + 1) + 0.5) / bins * answer.period


def _row(answer: Rhythm, y: Axis, marks: list[Mark]) -> Scene:
    reach = 10 * (y.high - y.low)
    borders = tuple(
        np.array([[part.begin * answer.period, y.low - reach], [part.begin * answer.period, y.high + reach]])
        for part in answer.parts[1:]
    )
    lines: list[Mark] = [Lines(borders, PALE, 0.6)] if borders else []
    return Scene("", Axis("", 0.0, answer.period, shown=False), y, (*lines, *marks))


def _curve(answer: Rhythm, column: F64, label: str, colour: str) -> Scene:
    mean, spread = map(_closed, _means(answer, column))
    known = ~np.isnan(mean)
    x, mean, spread = _across(answer)[known], mean[known], spread[known]
    low, high = float((mean - spread).min()), float((mean + spread).max())
    pad = 0.08 * (high - low) or 0.5 * max(abs(low), 1.0)
    marks: list[Mark] = [
        Band(x, mean - spread, mean + spread, colour),
        Lines((np.column_stack([x, mean]),), colour, 1.2),
    ]
    return _row(answer, Axis(label, low - pad, high + pad, upright=True), marks)


def _feature(log: Log, answer: Rhythm, f: int) -> Scene:
    feature = log.schema.features[f]
    return _curve(answer, log.states[:, f], named(feature.name, feature.unit), GREY)


def _labels(log: Log) -> list[int]:
    counts = np.bincount(log.actions)
    commonest = np.argsort(-counts, kind="stable")[:MOST_LABELS]
    return sorted(int(code) for code in commonest if counts[code])


def _actions(log: Log, answer: Rhythm) -> list[Scene]:
    action = log.schema.action
    if not log.schema.has_action:
        return []
    if action.kind == "continuous":
        named_columns = zip(action.names, action.units, log.actions.T, strict=True)
        return [_curve(answer, column, named(name, unit), ATTRIBUTE_COLOURS[0]) for name, unit, column in named_columns]
    marks: list[Mark] = []
    for k, code in enumerate(_labels(log)):
        share = _closed(_means(answer, (log.actions == code).astype(np.float64))[0])
        known = ~np.isnan(share)
        marks.append(Lines((np.column_stack([_across(answer)[known], 100 * share[known]]),), CATEGORIES[k], 1.2))
    y = Axis(f"{action.names[0]} (%)", -5.0, 105.0, ticks=(0.0, 100.0), tick_labels=("0", "100"), upright=True)
    return [_row(answer, y, marks)]


def _bar(answer: Rhythm) -> Scene:
    """Return the bar of parts, numbered."""
    begin, end = (np.array([getattr(part, name) for part in answer.parts]) * answer.period for name in ("begin", "end"))
    flat = np.zeros(1)
    marks: list[Mark] = [
        Rectangles(begin[[k]], end[[k]], flat, flat + 1, fill=PHASES[k % len(PHASES)], edge=PAPER, edge_width=0.8)
        for k in range(len(begin))
    ]
    numbers = tuple(str(k + 1) for k in range(len(begin)))
    marks.append(Labels((begin + end) / 2, np.full(len(begin), 0.5), numbers, 6.5, ON_LIGHT))
    return Scene(
        "",
        Axis("", 0.0, answer.period, shown=False),
        Axis("part", 0.0, 1.0, ticks=(0.5,), tick_labels=("",), upright=True),
        tuple(marks),
    )


def _words(answer: Rhythm) -> Scene:
    """Return the parts in words, each with its number."""
    lines: list[str] = []
    first: list[int] = []
    for part in answer.parts:
        first.append(len(lines))
        lines += textwrap.wrap(str(part), LETTERS)
    n = len(lines)
    at = n - 0.5 - np.arange(n, dtype=np.float64)
    numbers = tuple(str(k) for k in range(1, len(first) + 1))
    return Scene(
        "",
        Axis("", 0.0, 1.0, shown=False),
        Axis("", 0.0, float(n), shown=False),
        (
            Labels(np.full(n, 0.022), at, tuple(lines), 6.2, INK, "left"),
            Labels(np.full(len(first), 0.012), at[first], numbers, 6.2, GREY, "right"),
        ),
    )
