"""Margins of a requirement: those of all episodes, from the worst to the best, and along the worst of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.answers.requirements import VERDICTS, Requirement, Requirements
from tripletree.errors import ParameterError
from tripletree.language.formula import Formula, Timed, Until
from tripletree.language.requirement import read_requirement
from tripletree.log.log import Log
from tripletree.model.evaluate import check_log
from tripletree.questions.robustness import Places, Scale, bounds
from tripletree.questions.violations import always_demanded
from tripletree.scenes.colours import ATTRIBUTE_COLOURS, FAINT, HERE, INK, PALE
from tripletree.scenes.types import Axis, Entry, Lines, Mark, Points, Rectangles, Scene, Sheet
from tripletree.text import Message, Option, count, plural, shortened

F64 = npt.NDArray[np.float64]

MET, MISSED, OPEN = ATTRIBUTE_COLOURS[0], ATTRIBUTE_COLOURS[1], PALE
MOST_BARS = 400
"""Episodes that are drawn one by one, at most."""
LETTERS, TITLES = 90, 40
"""Characters of a requirement that the title of a sheet has room for, and that of a picture."""
OPEN_ENTRY = Entry("cannot tell: anything in the bar is possible", OPEN)


def requirements(log: Any, answer: Any) -> Sheet:
    """Return two pictures for each requirement: all episodes, and the worst one.

    Parameters
    ----------
    log : Log
        The episodes.
    answer : Requirements, Requirement or str
        What ``require(log, ...)`` said of them, or requirements.
    """
    check_log(log, "log")
    parts = answer.parts if isinstance(answer, Requirements) else (answer,)
    for one in parts:
        if not isinstance(one, Requirement):
            raise ParameterError(
                Message("{} must be what require(log, ...) returns; got {}.", Option("answer"), type(one).__name__)
            )
        if one.episodes != log.n_episodes:
            raise ParameterError("These requirements were checked on another log; ask require(log, ...) first.")
    rows = tuple((all_episodes(one, shortened(one.text, TITLES)), worst_episode(log, one)) for one in parts)
    if len(parts) == 1:
        rows = ((all_episodes(parts[0]), rows[0][1]),)
    held = sum(one.holds is True for one in parts)
    title = "Requirements" if len(parts) > 1 else f"{VERDICTS[parts[0].holds]}: {shortened(parts[0].text, LETTERS)}"
    told = f"{held} of {count(len(parts), 'requirement holds', 'requirements hold')}" if len(parts) > 1 else ""
    return Sheet(title, rows, told, legend=legend(parts))


def legend(parts: Sequence[Requirement]) -> tuple[Entry, ...]:
    """Return what the colours mean."""
    found = [Entry("holds", MET), Entry("violated", MISSED)]
    found += [OPEN_ENTRY] if any(one.undecided for one in parts) else []
    return (*found, Entry("what decides", HERE, "ring"))


def all_episodes(one: Requirement, title: str = "All episodes") -> Scene:
    """Return a bar for every episode, the worst first."""
    low, high = np.split(_measured(np.concatenate([one.low, one.high])), 2)
    bottom, top = _limits(np.concatenate([low, high]))
    # By what is known: the decided by their margins, the others between them.
    known = np.where(one.low > 0, low, np.where(one.high < 0, high, 0.0))
    order = np.argsort(known, kind="stable")
    thin = order[np.unique(np.linspace(0, len(order) - 1, MOST_BARS).astype(int))] if len(order) > MOST_BARS else order
    place = np.linspace(0, one.episodes, len(thin) + 1)
    marks: list[Mark] = []
    for colour, part in ((MISSED, one.high < 0), (OPEN, (one.low < 0) & (one.high > 0)), (MET, one.low > 0)):
        chosen = part[thin]
        if not chosen.any():
            continue
        begin, end = np.zeros(chosen.sum()), np.clip(known[thin][chosen], bottom, top)
        if colour == OPEN:
            begin, end = np.clip(low[thin][chosen], bottom, top), np.clip(high[thin][chosen], bottom, top)
        down, up = np.minimum(begin, end), np.maximum(begin, end)
        least = 0.006 * (top - bottom)  # a margin of almost nothing can still be seen
        down, up = np.where(end < 0, np.minimum(down, -least), down), np.where(end > 0, np.maximum(up, least), up)
        marks.append(Rectangles(place[:-1][chosen], place[1:][chosen], down, up, fill=colour))
    marks.append(Lines((np.array([[0.0, 0.0], [float(one.episodes), 0.0]]),), INK, 0.8))
    note = f"{MOST_BARS} of {one.episodes:,} episodes, evenly chosen" if len(thin) < len(order) else ""
    x = Axis("episodes, the worst first", 0.0, float(one.episodes))
    held = f"{one.held:,} of {count(one.episodes, 'episode')} {plural(one.held, 'meets', 'meet')} it"
    return Scene(
        title,
        x,
        _axis(one, np.append(one.low, one.high), bottom, top),
        tuple(marks),
        f"{VERDICTS[one.holds]}; {held}",
        note=note,
    )


def worst_episode(log: Log, one: Requirement) -> Scene:
    """Return the margin at every step of the worst episode; if none is decided, of the one that is worst so far."""
    decided = one.worst[0].number if one.worst else int(np.argmin(one.high))
    formula = read_requirement(one.text, log.schema)
    places = Places(log.select([decided]), one.as_recorded)
    inside, told = _inside(formula)
    found = bounds(places, inside, Scale(one.unit, one.ranges))
    last = int(places.last(found.final)[0])
    # Of what is open, the better: what it is below is violated for good.
    margin = _measured(found.high[: last + 1])
    bottom, top = _limits(margin)
    line = np.column_stack([np.arange(last + 1.0), np.clip(margin, bottom, top)])
    marks: list[Mark] = [
        Lines((np.array([[0.0, 0.0], [max(last, 1.0), 0.0]]),), FAINT, 0.8, dashed=True),
        Lines((line,), INK, 1.0) if len(line) > 1 else Points(line[:, 0], line[:, 1], 4.0, INK),
    ]
    bad = margin < 0
    if bad.any():
        marks.append(Points(line[bad, 0], line[bad, 1], 2.5, MISSED))
    if one.worst and one.worst[0].step is not None:
        step = min(one.worst[0].step, last)
        marks.append(Points(line[[step], 0], line[[step], 1], 6.0, HERE, symbol="ring"))
    name = log.episode_ids[decided]
    width = max(float(last), 1.0)
    return Scene(
        f"Episode {name}, the {'worst' if one.violated else 'closest'}",
        Axis("step", -0.015 * width, 1.015 * width),
        _axis(one, found.high[: last + 1], bottom, top),
        tuple(marks),
        told,
    )


def _inside(formula: Formula) -> tuple[Formula, str]:
    """Return what is followed along an episode, and what it is: what must hold at some step, or at every one."""
    body = always_demanded(formula)
    if body is not None:
        return body, "What must hold at every step"
    if isinstance(formula, Until):
        return formula.right, "What it waits for, at every step"
    if isinstance(formula, Timed):
        return formula.part, f"What `{formula.operator}` is about, at every step"
    return formula, "The requirement, from each step on"


def _measured(margin: F64) -> F64:
    """Return margins with a number for those that have no distance, where none has one."""
    return margin if np.isfinite(margin).any() else np.sign(margin)


def _limits(margin: F64) -> tuple[float, float]:
    finite = margin[np.isfinite(margin)]
    bottom, top = min(float(finite.min(initial=0.0)), 0.0), max(float(finite.max(initial=0.0)), 0.0)
    pad = 0.06 * (top - bottom) or 1.0
    return bottom - pad, top + pad


def _axis(one: Requirement, margin: F64, bottom: float, top: float) -> Axis:
    if not np.isfinite(margin).any():
        return Axis("", bottom, top, ticks=(-1.0, 1.0), tick_labels=("no", "yes"))
    if one.ranges is not None:
        return Axis("margin, in parts of the ranges", bottom, top)
    return Axis(f"margin ({one.unit})" if one.unit else "margin", bottom, top)
