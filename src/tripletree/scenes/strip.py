"""The episode strip: features, action and value over time, cut into phases, with the reason for every change."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.answers.change import because
from tripletree.answers.story import Phase, Story
from tripletree.asking.features import read_features
from tripletree.asking.levels import Wanted
from tripletree.checks import check_whole
from tripletree.language.numbers import rounded
from tripletree.log.log import Log
from tripletree.model.evaluate import check_log, known_codes, log_values
from tripletree.model.fitted import Fitted
from tripletree.questions.importance import importance
from tripletree.questions.story import story
from tripletree.scenes.colours import ATTRIBUTE_COLOURS, GREY, HERE, INK, ON_LIGHT, OTHER, PALE, PAPER, PHASES
from tripletree.scenes.types import Axis, Entry, Labels, Lines, Mark, Points, Rectangles, Scene, Sheet
from tripletree.scenes.view import named, read_model
from tripletree.text import count, shortened

F64 = npt.NDArray[np.float64]

MOST_FEATURES = 5
"""Features that are shown at most, unless the caller names them."""
MOST_DIMENSIONS = 3
"""Action dimensions that are shown."""
PHASE_BAR, WORDS = 0.3, 0.27
"""Height of the bar of phases, and of a line of words, in units of one row."""
LETTERS = 112
"""Characters that fit in a line of words across a page."""
LONGEST_NAME, MOST_LINES = 60, 6
"""Letters of an episode's name in the title, and lines of words for a phase."""
DIGIT = 0.012
"""Width of a digit, as a share of the picture; a phase that is narrower than its number has no room for it."""


def episode(
    model: Any,
    log: Any,
    number: Any = 0,
    *,
    features: Any = None,
    about: str = "action",
    levels: Wanted = "auto",
    shortest: int = 3,
    most: int = 12,
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
        Which features; None: those that explain most changes, at most five.
    about, levels, shortest, most
        As in ``TripleTree.story``.
    """
    fitted = read_model(model)
    check_log(log, "log")
    check_whole(number, "number", 0, log.n_episodes - 1)
    told = story(fitted, number, log, about=about, levels=levels, shortest=shortest, most=most)
    one = log.select([int(number)])
    columns = _features(fitted, told, features)
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
    heights = (PHASE_BAR, *([1.0] * (len(rows) - 2)), WORDS * rows[-1].y.high)
    return Sheet(_title(told), tuple((row,) for row in rows), _subtitle(told), legend=tuple(legend), heights=heights)


def _title(told: Story) -> str:
    return (
        f"{shortened(told.title, LONGEST_NAME)}: {count(int(told.steps), 'step')}, {count(len(told.phases), 'phase')}"
    )


def _subtitle(told: Story) -> str:
    ending = {"terminated": "it ended", "truncated": "it was cut off"}.get(told.ending or "", "how it ended is unknown")
    paid = "" if told.total is None else f"Sum of rewards {rounded(told.total)}; "
    agreed = (
        "" if told.agreement is None else f"; the tree agrees with the log at {100 * told.agreement:.3g} % of steps"
    )
    return f"{paid}{ending}{agreed}"


def _features(fitted: Fitted, told: Story, wanted: Any) -> list[int]:
    chosen = read_features(fitted, wanted)
    if chosen is not None:
        return chosen
    names = fitted.schema.feature_names
    uses = np.zeros(len(names))
    for change in told.changes:
        uses[list(change.changed)] += 1
    # Where several explain as many changes, those that the action depends on most.
    order = np.lexsort([np.arange(len(names)), -importance(fitted).share[0], -uses])
    # An episode of one phase has no change to explain; then the features that matter to the action are shown.
    kept = [int(f) for f in order if uses[f]] or [int(f) for f in order]
    return sorted(kept[:MOST_FEATURES])


def _phases(told: Story, end: float) -> Scene:
    """Return the bar of phases, numbered, with one colour for each behaviour."""
    known: dict[tuple[str, ...], str] = {}
    # By the set of outcomes: "left and right" is the same behaviour as "right and left".
    for phase in told.phases:
        key = tuple(sorted(phase.outcomes))
        known.setdefault(key, PHASES[len(known)] if len(known) < len(PHASES) else OTHER)
    marks: list[Mark] = []
    for key, colour in known.items():
        mine = [phase for phase in told.phases if tuple(sorted(phase.outcomes)) == key]
        begin = np.array([float(phase.begin) for phase in mine])
        stop = np.array([float(phase.end) for phase in mine])
        flat = np.zeros(len(mine))
        marks.append(Rectangles(begin, stop, flat, flat + 1, fill=colour, edge=PAPER, edge_width=0.8))
    wide = [(k, p) for k, p in enumerate(told.phases, 1) if p.end - p.begin >= DIGIT * len(str(k)) * end]
    middle = np.array([(phase.begin + phase.end) / 2 for _, phase in wide])
    marks.append(Labels(middle, np.full(len(wide), 0.5), tuple(str(k) for k, _ in wide), 6.5, ON_LIGHT))
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
    """Return vertical lines where phases begin."""
    low, high = _span(values)
    starts = [float(phase.begin) for phase in told.phases[1:]]
    # Longer than the row, which cuts them off: what is drawn later may make the row higher.
    reach = 10 * (high - low)
    verticals = tuple(np.array([[t, low - reach], [t, high + reach]]) for t in starts)
    return [Lines(verticals, PALE, 0.6)] if verticals else []


def _words(told: Story) -> Scene:
    """Return the story: the number of each phase, and beside it what it is, in a line or more."""
    lines: list[str] = []
    first: list[int] = []
    for phase in told.phases:
        first.append(len(lines))
        lines += textwrap.wrap(_sentence(phase, told), LETTERS, max_lines=MOST_LINES, placeholder=" …")
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


def _sentence(phase: Phase, told: Story) -> str:
    last = phase.end - 1
    steps = f"step {phase.begin}" if last == phase.begin else f"steps {phase.begin} to {last}"
    reason = because(*filter(None, phase.changes), among=told.explained)
    return f"{steps}: {phase.behaviour}{f' because {reason}' if reason else ''}"
