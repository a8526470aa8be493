"""Attribution as pictures: bars of what each feature added to one prediction, and a swarm of dots over a log."""

from __future__ import annotations

import textwrap
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.answers.attribution import Attribution, feature_value, main_features, places_of, signed, what
from tripletree.asking.states import complete, read_state
from tripletree.checks import check_whole
from tripletree.errors import ParameterError
from tripletree.language.numbers import exact, unit
from tripletree.log.log import Log
from tripletree.model.evaluate import check_log, check_same_schema
from tripletree.model.fit import available_cores
from tripletree.questions.attribute import attribute, read_about, sample
from tripletree.scenes.charts import LETTERS
from tripletree.scenes.colours import FAINT, GREY, MODELS, VIRIDIS
from tripletree.scenes.types import Axis, ColourScale, Entry, Labels, Lines, Mark, Points, Rectangles, Scene
from tripletree.scenes.view import read_model
from tripletree.text import Message, Option, count, visible

F64 = npt.NDArray[np.float64]

UP, DOWN = MODELS[1], MODELS[0]
"""What raises a prediction, and what lowers it."""
SHADES = 8
"""Steps of colour from the lowest value of a feature to its highest."""
BAR = 0.36
"""Half the height of a bar, in rows."""
CELLS, HALF, STEP = 90, 0.42, 0.07
"""Places along a swarm, half its height, and the distance between dots where there are few; both in rows."""


def bars(model: Any, state: Any, about: Any, method: Any, background: Any, most: Any = 12) -> Scene:
    """Return what each feature added to one prediction, the largest on top; if there are many, a row sums up the rest.

    Parameters
    ----------
    model : TripleTree or Fitted
        The tree.
    state : state or text
        The state.
    about, method, background
        As in :func:`tripletree.questions.attribute.attribute`, one number at a time.
    most : int
        Maximum number of features shown one by one.
    """
    fitted = read_model(model)
    check_whole(most, "most", 1, example=12)
    read_about(fitted, about, single=True)
    where = read_state(complete(state, fitted).state, fitted.schema)
    answer = attribute(fitted, where, about, method, background, available_cores())
    parts, base, prediction = answer.column()
    shown, others = main_features(parts, most)
    sizes = parts[shown].tolist() + ([float(parts[others].sum())] if others else [])
    names = [feature_value(answer, f) for f in shown] + ([count(len(others), "other")] if others else [])
    rows, places, of = max(len(sizes), 1), places_of(parts), unit(answer.units[0]) if answer.labels is None else ""
    size, at = np.array(sizes, np.float64), rows - 1 - np.arange(len(sizes), dtype=np.float64)
    marks: list[Mark] = []
    for colour, chosen in ((UP, size >= 0), (DOWN, size < 0)):
        ends, middle = size[chosen], at[chosen]
        left, right = np.minimum(ends, 0.0), np.maximum(ends, 0.0)
        marks.append(Rectangles(left, right, middle - BAR, middle + BAR, fill=colour))
        told = tuple(signed(end, places) for end in ends.tolist())
        side, shift = ("left", 2.0) if colour == UP else ("right", -2.0)
        marks.append(Labels(ends, middle, told, 6.0, GREY, side, (shift, 0.0)))
    low, high = min(size.min(initial=0.0), 0.0), max(size.max(initial=0.0), 0.0)
    pad = 0.2 * (high - low) or 1.0  # for the numbers at the ends
    marks.append(Lines((np.array([[0.0, -0.5], [0.0, rows - 0.5]]),), FAINT, 0.8))
    name = what(answer)
    had, usual = (exact(round(float(one), places) + 0.0) + of for one in (prediction, base))
    said = f"On average it is {usual}; the bars add up to the difference"
    return Scene(
        f"Where {name} = {had} comes from" if answer.labels is None else f"Where {name}, {had}, comes from",
        Axis(f"contribution to {name}{f' ({of.strip()})' if of else ''}", low - pad, high + pad),
        _rows(names, rows),
        tuple(marks),
        said if sizes else f"{usual} everywhere: no feature makes a difference in this tree",
        legend=(Entry("raises it", UP), Entry("lowers it", DOWN)) if sizes else (),
    )


def beeswarm(
    model: Any, log: Any, about: Any, method: Any = None, background: Any = None, most: Any = 12, dots: Any = 1_000
) -> Scene:
    """Return a row a feature, the most important on top: dots for states, placed by contribution, coloured by value.

    Parameters
    ----------
    model : TripleTree or Fitted
        The tree.
    log : Log
        Whose states.
    about, method, background
        As in :func:`tripletree.questions.attribute.attribute`, one number at a time.
    most : int
        Maximum number of features shown one by one; the others are summed up in grey.
    dots : int
        Maximum number of states, drawn at random, the same each time.
    """
    fitted = read_model(model)
    check_log(log, "log")
    check_same_schema(fitted.schema, log, "log")
    check_whole(most, "most", 1, example=12)
    check_whole(dots, "dots", 2, example=1_000)
    read_about(fitted, about, single=True)
    states = np.ascontiguousarray(sample(log.states, dots))
    return swarm_of(attribute(fitted, states, about, method, background, available_cores()), log, most)


def swarm_of(answer: Attribution, log: Log, most: int = 12) -> Scene:
    """Return the swarm of what was answered about some states of a log."""
    parts, base, _ = answer.column()
    if answer.single:
        raise ParameterError(Message("{} needs several states.", Option("beeswarm")))
    size = np.abs(parts).mean(axis=0)
    shown, others = main_features(size, most)
    columns = [parts[:, f] for f in shown] + ([parts[:, others].sum(axis=1)] if others else [])
    names = [answer.schema.features[f].name for f in shown] + ([count(len(others), "other")] if others else [])
    rows = max(len(columns), 1)
    ends = np.array([0.0, *(column.min() for column in columns), *(column.max() for column in columns)])
    low, high = float(ends.min()), float(ends.max())
    pad = 0.04 * (high - low) or 1.0
    low, high = low - pad, high + pad
    cells = [np.clip(((column - low) / (high - low) * CELLS).astype(np.int64), 0, CELLS - 1) for column in columns]
    marks: list[Mark] = [Lines((np.array([[0.0, -0.5], [0.0, rows - 0.5]]),), FAINT, 0.8)]
    for row, (column, cell) in enumerate(zip(columns, cells, strict=True)):
        # As high as there is room for: rows have the same number of dots, and differ in where these lie.
        y = rows - 1 - row + min(STEP, 2 * HALF / int(np.bincount(cell).max())) * _places(cell)
        value = _by_rank(answer.states[:, shown[row]]) if row < len(shown) else None
        marks.append(Points(column, y, 2.2, colour=GREY, value=value, opacity=0.85))
    name, of = what(answer), unit(answer.units[0]) if answer.labels is None else ""
    usual = f"; the average, {exact(_short(float(base[0]), size))}{of}, is at 0" if np.ptp(base) == 0 else ""
    return Scene(
        f"What moves {name}",
        Axis(f"contribution to {name}{f' ({of.strip()})' if of else ''}", low, high),
        _rows(names, rows),
        tuple(marks),
        f"A dot in each row is one of {count(len(parts), 'state')} of {log.n_samples:,}{usual}"
        if columns
        else "No feature makes a difference in this tree",
        colours=ColourScale("value of the feature, by rank", VIRIDIS[:15], 0.0, 1.0) if shown else None,
    )


def _rows(names: list[str], rows: int) -> Axis:
    told = ("\n".join(textwrap.wrap(visible(name), LETTERS, max_lines=2, placeholder="…")) for name in names)
    ticks = tuple(float(rows - 1 - row) for row in range(len(names)))
    return replace(Axis("", -0.5, rows - 0.5), ticks=ticks, tick_labels=tuple(told))


def _places(cell: npt.NDArray[np.int64]) -> F64:
    """Return how far each dot lies from the middle of its row: 0, 1, -1, 2, ... within a cell."""
    order = np.argsort(cell, kind="stable")
    ordered = cell[order]
    rank = np.empty(len(cell), np.int64)
    rank[order] = np.arange(len(cell)) - np.searchsorted(ordered, ordered)
    return np.where(rank % 2 == 1, 1.0, -1.0) * ((rank + 1) // 2)


def _by_rank(values: F64) -> F64:
    """Return values from 0 for the lowest to 1 for the highest, by their order: outliers take no colours away."""
    ordered = np.sort(values)
    rank = np.searchsorted(ordered, values) + np.searchsorted(ordered, values, side="right")
    # In few shades: more would not be told apart, and each is a line of its own in a page.
    return np.asarray(np.round((rank - rank.min()) / max(int(np.ptp(rank)), 1) * SHADES) / SHADES)


def _short(number: float, size: F64) -> float:
    return round(number, places_of(size)) + 0.0
