"""The episode strip: all features, action and value over time, on bands that are the phases, which have names."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.answers.story import Phase, Story, fits, steps
from tripletree.answers.story import phase as phase_text
from tripletree.asking.features import read_features
from tripletree.asking.levels import Wanted
from tripletree.checks import check_whole
from tripletree.language.numbers import rounded
from tripletree.log.log import Log
from tripletree.model.evaluate import check_log, known_codes, log_values
from tripletree.model.fitted import Fitted
from tripletree.questions.story import story
from tripletree.scenes.colours import ATTRIBUTE_COLOURS, GREY, HERE, INK, ON_LIGHT, OTHER, PALE, PAPER, PHASES
from tripletree.scenes.types import Axis, Entry, Labels, Lines, Mark, Points, Rectangles, Scene, Sheet
from tripletree.scenes.view import named, read_model
from tripletree.text import count, shortened
from tripletree.tree.columns import state_columns
from tripletree.tree.spread import measure

F64 = npt.NDArray[np.float64]

MOST_FEATURES = 12
"""Features that are shown at most, unless the caller names them."""
MOST_DIMENSIONS = 6
"""Action dimensions that are shown."""
PHASE_BAR, ROW, WORDS = 0.3, 0.7, 0.27
"""Height of the bar of phases, of a feature or an action, and of a line of words, in units of one row."""
LETTERS = 112
"""Characters that fit in a line of words across a page."""
LONGEST_NAME, MOST_LINES = 60, 6
"""Letters of an episode's name in the title, and lines of words for a phase."""
LETTER = 0.0088
"""Width of a letter, as a share of the picture; a phase that is narrower than its name has room for its number only."""
SHADE = 0.45
"""How strong the bands of phases are behind lines."""


def episode(
    model: Any,
    log: Any,
    number: Any = 0,
    *,
    features: Any = None,
    about: str = "action",
    levels: Wanted = "auto",
    shortest: int = 3,
    most: int = 6,
    told: Story | None = None,
) -> Sheet:
    """Return rows over time: phases, features, action, value; and the story in words.

    Parameters
    ----------
    model : TripleTree or Fitted
        The tree.
    log : Log
        Where the episode is.
    number : int
        Its position in the log.
    features : sequence of str or None
        Which features; None: all, or of more than twelve those that vary most in the log.
    about, levels, shortest, most
        As in ``TripleTree.story``.
    told : Story or None
        What that returns, where it is known.
    """
    fitted = read_model(model)
    check_log(log, "log")
    check_whole(number, "number", 0, log.n_episodes - 1)
    if told is None:
        told = story(fitted, number, log, about=about, levels=levels, shortest=shortest, most=most)
    one = log.select([int(number)])
    columns = _features(fitted, log, features)
    end = float(one.n_samples)
    leaf = fitted.tree.apply(one.states)
    predictions = fitted.told(one.states, leaf)
    rows = [_phases(told, end)]
    rows += [_feature(fitted, one, told, f, end) for f in columns]
    legend = [Entry("recorded", GREY, "line")]
    if fitted.schema.has_action:
        rows += _actions(fitted, one, predictions[:, fitted.targets["action"]], told, end)
        legend.append(Entry("predicted action", ATTRIBUTE_COLOURS[0], "line"))
    recorded, predicted = log_values(fitted, one), predictions[:, fitted.targets["value"]][:, 0]
    marks = _both(recorded, predicted, ATTRIBUTE_COLOURS[1])
    across = Axis("step", 0.0, end)
    if fitted.schema.has_reward:
        rows.append(
            Scene("", across, _axis("value", [recorded, predicted]), (*_borders(told, recorded, predicted), *marks))
        )
        legend.append(Entry("predicted value", ATTRIBUTE_COLOURS[1], "line"))
    rows.append(_words(told))
    legend += [Entry("why the next phase begins", HERE, "disc")] if told.changes else []
    heights = (PHASE_BAR, *([ROW] * (len(rows) - 2)), WORDS * rows[-1].y.high)
    return Sheet(_title(told), tuple((row,) for row in rows), _subtitle(told), legend=tuple(legend), heights=heights)


def _title(told: Story) -> str:
    return (
        f"{shortened(told.title, LONGEST_NAME)}: {count(int(told.steps), 'step')}, {count(len(told.phases), 'phase')}"
    )


def _subtitle(told: Story) -> str:
    ending = {"terminated": "it ended", "truncated": "it was cut off"}.get(told.ending or "", "how it ended is unknown")
    paid = "" if told.total is None else f"Sum of rewards {rounded(told.total)}; "
    agreed = fits(told).rstrip(".")
    return f"{paid}{ending}{f'. {agreed}' if agreed else ''}"


def _features(fitted: Fitted, log: Log, wanted: Any) -> list[int]:
    """Return the features to show: the same for every episode of a log."""
    chosen = read_features(fitted, wanted)
    if chosen is not None:
        return chosen
    if log.n_features <= MOST_FEATURES:
        return list(range(log.n_features))
    varied = measure(state_columns(log)).std / fitted.span
    return sorted(int(f) for f in np.argsort(-varied, kind="stable")[:MOST_FEATURES] if varied[f] > 0)


def _colour(phase: Phase) -> str:
    """Return the colour of a region, which is the same in every episode."""
    return PHASES[phase.region] if phase.region < len(PHASES) else OTHER


def _bands(told: Story, low: float, high: float, opacity: float = 1.0) -> list[Mark]:
    """Return a band for each phase, coloured by its region."""
    marks: list[Mark] = []
    for colour in dict.fromkeys(_colour(one) for one in told.phases):
        mine = [one for one in told.phases if _colour(one) == colour]
        begin = np.array([float(one.begin) for one in mine])
        stop = np.array([float(one.end) for one in mine])
        ends = np.full(len(mine), low), np.full(len(mine), high)
        marks.append(Rectangles(begin, stop, *ends, fill=colour, edge=PAPER, edge_width=0.8, opacity=opacity))
    return marks


def _phases(told: Story, end: float) -> Scene:
    """Return the bar of phases with their names, or their numbers where there is no room."""
    marks = _bands(told, 0.0, 1.0)
    texts, middles = [], []
    for number, one in enumerate(told.phases, 1):
        room = (one.end - one.begin) / (LETTER * end)
        text = next((text for text in (f"{number} {one.name}", str(number)) if len(text) <= room), "")
        if text:
            texts.append(text)
            middles.append((one.begin + one.end) / 2)
    marks.append(Labels(np.array(middles), np.full(len(texts), 0.5), tuple(texts), 6.5, ON_LIGHT))
    return Scene(
        "",
        Axis("", 0.0, end, shown=False),
        Axis("phase", 0.0, 1.0, ticks=(0.5,), tick_labels=("",), upright=True),
        tuple(marks),
    )


def _feature(fitted: Fitted, one: Log, told: Story, f: int, end: float) -> Scene:
    """Return a feature over time, with a disc where it began a phase."""
    feature, values = fitted.schema.features[f], one.states[:, f]
    begun = [p for p in told.phases if any(f in change.changed for change in p.changes)]
    marks: list[Mark] = [*_borders(told, values), Lines((_line(values),), INK, 0.9)]
    if begun:
        at = np.array([phase.begin for phase in begun])
        borders = {
            (phase.begin, border)
            for phase in begun
            for change in phase.changes
            for g, border in zip(change.changed, change.borders, strict=True)
            if g == f
        }
        ticks = [np.array([[max(t - 0.03 * end, 0), b], [min(t + 0.03 * end, end), b]]) for t, b in sorted(borders)]
        marks.append(Lines(tuple(ticks), HERE, 0.9))
        marks.append(Points(at + 0.5, values[at], 3.6, HERE, edge=PAPER))
        # A border may lie beyond all values of the episode; the axis should reach it.
        values = np.append(values, [border for _, border in borders])
    return Scene("", Axis("", 0.0, end, shown=False), _axis(named(feature.name, feature.unit), [values]), tuple(marks))


def _actions(fitted: Fitted, one: Log, predictions: F64, told: Story, end: float) -> list[Scene]:
    action = fitted.schema.action
    across = Axis("", 0.0, end, shown=False)
    if action.kind == "discrete":
        codes = known_codes(fitted, one).astype(np.float64)
        # A label that the tree does not know has no place on the axis.
        codes[codes < 0] = np.nan
        predicted = predictions.argmax(axis=1).astype(np.float64)
        # All labels while there is room for them, then only those that the tree predicts here.
        labels = range(len(action.labels)) if len(action.labels) <= 6 else sorted({int(code) for code in predicted})
        axis = Axis(
            named(action.names[0], action.units[0]),
            -0.4,
            len(action.labels) - 0.6,
            ticks=tuple(float(code) for code in labels),
            tick_labels=tuple(action.labels[code] for code in labels),
            upright=True,
        )
        marks = (*_borders(told, np.array([axis.low, axis.high])), *_both(codes, predicted, ATTRIBUTE_COLOURS[0]))
        return [Scene("", across, axis, marks)]
    found = []
    for k, (name, unit) in enumerate(zip(action.names, action.units, strict=True)):
        if k == MOST_DIMENSIONS:
            break
        recorded, predicted = one.actions[:, k].astype(np.float64), predictions[:, k]
        marks = (*_borders(told, recorded, predicted), *_both(recorded, predicted, ATTRIBUTE_COLOURS[0]))
        found.append(Scene("", across, _axis(named(name, unit), [recorded, predicted]), marks))
    return found


def _both(recorded: F64, predicted: F64, colour: str) -> list[Mark]:
    return [Lines((_steps(recorded),), GREY, 0.7), Lines((_steps(predicted),), colour, 1.1)]


def _line(values: F64) -> F64:
    """Return a line through the middles of the steps."""
    return np.column_stack([np.arange(len(values)) + 0.5, values])


def _steps(values: F64) -> F64:
    """Return the corners of stairs: an action or a value holds for a whole step."""
    edges = np.arange(len(values) + 1, dtype=np.float64)
    return np.column_stack([np.repeat(edges, 2)[1:-1], np.repeat(values, 2)])


def _span(values: Sequence[F64]) -> tuple[float, float]:
    low = min(float(np.nanmin(part)) for part in values)
    high = max(float(np.nanmax(part)) for part in values)
    pad = 0.1 * (high - low) or 0.5 * max(abs(low), 1.0)
    return low - pad, high + pad


def _axis(label: str, values: Sequence[F64]) -> Axis:
    low, high = _span(values)
    return Axis(label, low, high, upright=True)


def _borders(told: Story, *values: F64) -> list[Mark]:
    """Return the bands of the phases behind a row, and vertical lines where they begin."""
    low, high = _span(values)
    starts = [float(phase.begin) for phase in told.phases[1:]]
    # Longer than the row, which cuts them off: what is drawn later may make the row higher.
    reach = 10 * (high - low)
    verticals = tuple(np.array([[t, low - reach], [t, high + reach]]) for t in starts)
    bands = _bands(told, low - reach, high + reach, SHADE)
    return [*bands, Lines(verticals, PALE, 0.6)] if verticals else bands


def _words(told: Story) -> Scene:
    """Return the story: the number of each phase, and beside it what it is, in a line or more."""
    lines: list[str] = []
    first: list[int] = []
    for one in told.phases:
        first.append(len(lines))
        lines += textwrap.wrap(_sentence(one, told), LETTERS, max_lines=MOST_LINES, placeholder=" …")
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


def _sentence(one: Phase, told: Story) -> str:
    return f"{steps(one)}  {phase_text(one, told.explained)}"
