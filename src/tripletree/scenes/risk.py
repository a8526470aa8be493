"""Pictures of failures: the risk along all episodes, along one of them, and how far to believe it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.answers.failures import SURE, EpisodeRisk, Failures, RiskJudgement
from tripletree.errors import ParameterError
from tripletree.language.numbers import percent
from tripletree.scenes.colours import FAINT, GREY, HERE, MODELS, PALE, PAPER
from tripletree.scenes.types import Axis, Band, Entry, Lines, Mark, Points, Rectangles, Scene, Sheet
from tripletree.text import count

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

FAILED, FINE = MODELS[1], MODELS[0]
MOST_LINES = 40
"""Episodes that are drawn one by one, of each kind."""
LEAST_LEFT = 5
"""Episodes of a kind, at least, that are still on for their quartiles to be drawn."""
SHADE = 0.25
RISK = Axis("risk of failing (%)", 0.0, 100.0)


def risk_curves(answer: Failures) -> Scene:
    """Return the risk of all episodes, aligned at their ends: those that failed, and those that did not."""
    risk = np.zeros(0) if answer.risk is None else answer.risk
    lengths = np.diff(answer.starts)
    # What a quarter of the episodes reach: a single long one would press all others into a corner.
    reach = int(np.quantile(lengths, 0.75))
    marks: list[Mark] = []
    for kind, colour in ((~answer.fails, FINE), (answer.fails, FAILED)):
        curves = [100 * risk[answer.starts[e] : answer.starts[e + 1]][-reach:] for e in np.flatnonzero(kind).tolist()]
        soft = curves[:: -(-len(curves) // MOST_LINES) or 1]
        lines = tuple(np.column_stack([np.arange(-len(one), 0) + 1.0, one]) for one in soft)
        marks.append(Lines(lines, colour, 0.5, np.full(len(lines), 0.3)))
        marks += _quartiles(curves, reach, colour)
    marks.append(_level(answer.level, -reach))
    fine = answer.episodes - answer.failed
    return Scene(
        "The risk before the end",
        Axis("steps before the end", 1.0 - reach, 0.0),
        RISK,
        tuple(marks),
        "Each line is an episode, judged by models that have not seen it; lines end where the episode does",
        legend=(
            Entry(f"{count(answer.failed, 'episode')} that failed: median, quartiles", FAILED, "line"),
            Entry(f"{count(fine, 'episode')} that did not", FINE, "line"),
            Entry(f"turning points are at {percent(answer.level)}", GREY, "dashes"),
        ),
    )


def _quartiles(curves: list[F64], reach: int, colour: str) -> list[Mark]:
    """Return the middle of the episodes that are still on, at each number of steps before the end."""
    table = np.full((len(curves), reach), np.nan)
    for row, one in zip(table, curves, strict=True):
        row[reach - len(one) :] = one
    enough = np.isfinite(table).sum(axis=0) >= min(LEAST_LEFT, len(curves))
    steps = np.arange(-reach, 0)[enough] + 1.0
    if len(steps) < 2:
        return []
    low, middle, high = np.nanquantile(table[:, enough], (0.25, 0.5, 0.75), axis=0)
    return [Band(steps, low, high, colour, SHADE), Lines((np.column_stack([steps, middle]),), colour, 1.6)]


def episode_risk(told: EpisodeRisk) -> Scene:
    """Return the risk along one episode, with what nine of ten trees say, its turning point and its interval."""
    steps = np.arange(len(told.risk), dtype=np.float64)
    end = max(float(len(steps)) - 1, 1.0)
    colour = FAILED if told.failed else FINE
    marks: list[Mark] = []
    legend = [
        Entry("risk", colour, "line"),
        Entry("90 % of the trees", colour, "area", SHADE),
        Entry(f"turning points are at {percent(told.level)}", GREY, "dashes"),
    ]
    case = told.case
    if case is not None and case.interval is not None:
        low, high = (np.array([min(float(one), end)]) for one in case.interval)
        marks.append(Rectangles(low, high, np.zeros(1), np.full(1, 100.0), fill=PALE, opacity=0.5))
        legend.append(Entry("interval of the turning point, 90 %", PALE, "area", 0.5))
    marks += [
        _level(told.level, 0.0, end),
        Band(steps, 100 * told.low, 100 * told.high, colour, SHADE),
        Lines((np.column_stack([steps, 100 * told.risk]),), colour, 1.6),
    ]
    for at, symbol, label in (
        (None if case is None else case.turning, "disc", "turning point"),
        (None if case is None else case.no_return, "diamond", f"no return: {percent(SURE)} and more from here on"),
    ):
        if at is not None and at < len(steps):
            marks.append(Points(np.array([float(at)]), 100 * told.risk[[at]], 7.0, HERE, symbol=symbol, edge=PAPER))
            legend.append(Entry(label, HERE, symbol))
    said = str(told).removeprefix(f"Episode {told.id} ")
    return Scene(f"Episode {told.id}", Axis("step", 0.0, end), RISK, tuple(marks), f"It {said}", legend=tuple(legend))


def risk_calibration(judged: RiskJudgement) -> Scene:
    """Return the share that failed against the risk, in groups of steps with about the same risk."""
    bars = tuple(
        100 * np.array([[x, low], [x, high]])
        for x, low, high in zip(judged.predicted, judged.low, judged.high, strict=True)
    )
    marks: tuple[Mark, ...] = (
        Lines((np.array([[0.0, 0.0], [100.0, 100.0]]),), FAINT, 0.9, dashed=True),
        Lines(bars, FAILED, 1.0),
        Points(100 * judged.predicted, 100 * judged.observed, 5.0, FAILED, edge=PAPER),
    )
    return Scene(
        "Risk and what came of it",
        Axis("risk (%)", 0.0, 100.0),
        Axis("failed (%)", 0.0, 100.0),
        marks,
        str(judged),
        legend=(
            Entry("steps with about the same risk, 95 % interval", FAILED, "disc"),
            Entry("risk = share that failed", FAINT, "dashes"),
        ),
    )


def _level(level: float, low: float, high: float = 0.0) -> Lines:
    return Lines((np.array([[low, 100 * level], [high, 100 * level]]),), GREY, 0.8, dashed=True)


def failures_sheet(answer: Failures, episode: Any = None) -> Sheet:
    """Return the pictures of a briefing: all episodes with how far to believe the risk, or one episode.

    Parameters
    ----------
    answer : Failures
        The briefing.
    episode : int, str or None
        The id of an episode; None: all of them.
    """
    if answer.risk is None or answer.judged is None:
        raise ParameterError(f"There is no risk to draw. {answer.why}")
    if episode is not None:
        told = answer.episode(episode)
        return Sheet("The risk along an episode", ((replace(episode_risk(told), subtitle=""),),), str(told))
    curves, judged = replace(risk_curves(answer), subtitle=""), replace(risk_calibration(answer.judged), subtitle="")
    return Sheet("When episodes fail", ((curves, judged),), f"Failed means {answer.when}. {answer.judged}")
