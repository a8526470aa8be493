"""The briefing after an incident: one HTML file on the failures of a log, in the report's style."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from tripletree.answers.failures import SURE, EpisodeRisk, FailedEpisode, Failures, sentences
from tripletree.answers.rules import conditions
from tripletree.language.numbers import percent, rounded
from tripletree.markup import Markup, fold, paragraphs, region, table, tag, together
from tripletree.report.case import Section
from tripletree.report.document import plain_page, write_page
from tripletree.report.svg import Drawer
from tripletree.scenes.risk import episode_risk, risk_calibration, risk_curves
from tripletree.text import count

MOST_ROWS = 200
"""Failures that the table lists."""
CAUSES = {"policy": "agent", "world": "world", "neither": "neither", "": "–"}
FOOTER = (
    "Everything about an episode comes from models that have not seen it, nor others of its group. They know states, "
    "not reasons: that such states failed less does not say that a change would have saved an episode."
)


def write_briefing(
    parts: Sequence[Failures], path: str | os.PathLike[str], name: str = "", episode: Any = None
) -> None:
    """Write the briefing to a file, whole or not at all.

    Parameters
    ----------
    parts : sequence of Failures
        One for each definition of failure.
    path : path
        The file.
    name : str
        What the log is called.
    episode : int, str or None
        The id of an episode to tell first.
    """
    write_page(path, briefing(parts, name, episode), "The briefing")


def briefing(parts: Sequence[Failures], name: str = "", episode: Any = None) -> str:
    """Return the briefing as text; arguments are those of `write_briefing`."""
    draw, sections = Drawer(), []
    for number, part in enumerate(parts, 1):
        sections += briefing_sections(part, draw, episode, f"-{number}" if len(parts) > 1 else "")
    first = parts[0]
    names = [f"failed: {part.when}" if len(parts) > 1 else "failed" for part in parts]
    failed = [(called, f"{part.failed:,}") for called, part in zip(names, parts, strict=True)]
    facts = [("episodes", f"{first.episodes:,}"), *failed]
    if len(parts) == 1 and first.how == "risk" and first.judged is not None:
        facts += [
            ("foreseen", f"{first.kinds.get('foreseen', 0):,}"),
            ("skill, held out", f"{first.judged.skill:.2f}"),
            ("calibration error", percent(first.judged.error)),
        ]
    lead = f"{name + ': ' if name else ''}which episodes failed, from when on, what crossed there, and what they share."
    return plain_page("Failures", lead, facts, sections, FOOTER)


def briefing_sections(part: Failures, draw: Drawer, episode: Any = None, tail: str = "") -> list[Section]:
    """Return the sections on one definition of failure.

    Parameters
    ----------
    part : Failures
        The briefing.
    draw : Drawer
        Draws its pictures.
    episode : int, str or None
        The id of an episode to tell first.
    tail : str
        What makes the names of these sections differ from those of others; with one, headings say what failed means.
    """
    about = f": {part.when}" if tail else ""
    found = []
    if episode is not None:
        told = part.episode(episode)
        shown = [_wide(draw, told)] if len(told.risk) else [tag("p", str(told))]
        found.append(Section(f"episode{tail}", f"Episode {told.id}{about}", together(shown)))
    found.append(Section(f"happened{tail}", f"What happened{about}", paragraphs(sentences(part))))
    if part.how == "risk" and part.judged is not None:
        pictures = [draw.figure(risk_curves(part)), draw.figure(risk_calibration(part.judged))]
        content = [tag("div", *pictures, class_="figures"), *_examples(part, draw)]
        found.append(Section(f"when{tail}", f"From when on{about}", together(content)))
    if part.routes:
        found.append(Section(f"routes{tail}", f"What they share{about}", _routes(part)))
    if part.cases:
        found.append(Section(f"episodes{tail}", f"The failures one by one{about}", _cases(part)))
    return found


def _examples(part: Failures, draw: Drawer) -> list[Markup]:
    """Return pictures of up to three failures: one with the median lead, the earliest turn, and one never foreseen."""
    foreseen = sorted((c for c in part.cases if c.kind == "foreseen"), key=lambda c: c.steps - (c.turning or 0))
    chosen: list[FailedEpisode] = []
    if foreseen:
        chosen += [foreseen[len(foreseen) // 2], foreseen[-1]]
    chosen += [case for case in part.cases if case.kind == "unforeseen"][:1]
    unique = list({case.episode: case for case in chosen}.values())
    drawn = [_wide(draw, part.episode(case.id)) for case in unique]
    return [tag("h3", "A typical one, the earliest turn, and one that was not foreseen"), *drawn] if drawn else []


def _wide(draw: Drawer, told: EpisodeRisk) -> Markup:
    return region("wide", f"Episode {told.id}", draw.figure(episode_risk(told), 720.0, 250.0))


def _routes(part: Failures) -> Markup:
    rows = [
        (
            conditions(route.when),
            f"{route.failing:,} of {part.counted_failed:,}",
            f"{route.passing:,}",
            f"{percent(route.failing / max(route.passing, 1))} ({' to '.join(map(percent, route.interval))})",
            rounded(route.lead, 3),
        )
        for route in part.routes
    ]
    head = ("where", "failures that pass", "episodes that pass", "of these fail (95 %)", "steps before the end")
    told = f"Chosen on one half of the episodes and counted on the other {part.counted:,}"
    return table(told, head, rows, numbers=(1, 2, 3, 4))


def _cases(part: Failures) -> Markup:
    def step(number: int | None, case: FailedEpisode) -> str:
        return "–" if number is None or number >= case.steps else f"{number:,}"

    rows = []
    for case in part.cases[:MOST_ROWS]:
        ends = (
            "–"
            if case.interval is None
            else " to ".join(step(one, case).replace("–", "never") for one in case.interval)
        )
        kind = {"start": "from the start", "unforeseen": "not foreseen"}.get(case.kind, step(case.turning, case))
        where = [step(case.novel, case)] if part.how == "novelty" else [kind, ends, step(case.no_return, case)]
        rows.append((str(case.id), f"{case.steps:,}", *where, case.because or "–", CAUSES[case.cause]))
    heads = ["novel from"] if part.how == "novelty" else ["turned at", "90 % interval", f"{percent(SURE)} from"]
    more = f", the first {MOST_ROWS} of {count(len(part.cases), 'failure')}" if len(part.cases) > MOST_ROWS else ""
    listed = table(
        f"Failures{more}",
        ("episode", "steps", *heads, "what crossed", "unlike it"),
        rows,
        numbers=tuple(range(1, 2 + len(heads))),
    )
    told = [tag("p", str(case)) for case in part.cases[: MOST_ROWS // 4]]
    return together([listed, fold("In sentences", *told)])
