"""Requirements as one page: verdicts at a glance, then each with its sentences, its pictures and its worst episodes."""

from __future__ import annotations

import math
import os

from tripletree.answers.requirements import VERDICTS, Requirement, Requirements
from tripletree.language.numbers import percent
from tripletree.log.log import Log
from tripletree.markup import Markup, paragraphs, table, tag, together
from tripletree.report.case import Section
from tripletree.report.document import plain_page, write_page
from tripletree.report.svg import Drawer
from tripletree.scenes.margins import all_episodes, legend, worst_episode
from tripletree.text import count

TITLE = "Requirements"
FOOTER = "Made with tripletree from the log alone. Intervals are 95 %; whole episodes, or groups of them, count as one."


def requirements_html(log: Log, found: Requirements, title: str = TITLE) -> str:
    """Return the page.

    Parameters
    ----------
    log : Log
        The episodes.
    found : Requirements
        What was found.
    title : str
        The heading.
    """
    draw = Drawer()
    sections = [Section("verdicts", "At a glance", at_a_glance(found))]
    sections += [requirement_section(log, one, draw, number) for number, one in enumerate(found, start=1)]
    held = sum(one.holds is True for one in found)
    lead = f"{held} of {count(len(found), 'requirement holds', 'requirements hold')} in {_log(log)}."
    facts = [
        ("verdict", VERDICTS[found.holds]),
        ("episodes", f"{log.n_episodes:,}"),
        ("steps", f"{log.n_samples:,}"),
        ("violated", f"{sum(one.holds is False for one in found)}"),
        ("cannot tell", f"{sum(one.holds is None for one in found)}"),
    ]
    return plain_page(title, lead, facts, sections, FOOTER)


def write_requirements(log: Log, found: Requirements, path: str | os.PathLike[str]) -> None:
    """Write the page to a file, whole or not at all."""
    write_page(path, requirements_html(log, found), "The page")


def _log(log: Log) -> str:
    return f"{count(log.n_episodes, 'episode')} of {count(log.n_samples, 'step')}"


def requirement_section(log: Log, one: Requirement, draw: Drawer, number: int) -> Section:
    """Return the section on one requirement."""
    drawn = tag("div", draw.figure(all_episodes(one)), draw.figure(worst_episode(log, one)), class_="figures")
    said = paragraphs(line.strip() for line in str(one).splitlines()[1:])
    content = together([said, drawn, draw.legend(legend([one])), _worst(one)])
    return Section(f"requirement-{number}", f"{VERDICTS[one.holds]}: {one.text}", content)


def at_a_glance(found: Requirements) -> Markup:
    """Return the table of all requirements."""
    rows = [
        (
            one.text,
            VERDICTS[one.holds],
            f"{one.held:,}",
            f"{one.violated:,}",
            f"{one.undecided:,}",
            f"{percent(one.interval[0])} to {percent(one.interval[1])}",
            "every episode" if one.share is None else f"at least {percent(one.share)}",
        )
        for one in found
    ]
    head = ("requirement", "verdict", "hold", "violate it", "cannot tell", "95 % interval", "wanted")
    return table("Requirements and how many episodes meet them", head, rows, numbers=(2, 3, 4))


def _worst(one: Requirement) -> Markup:
    def told(margin: float) -> str:
        short = one.in_words(margin)
        return f"missed by {short}" if margin < 0 else f"{short} to spare"

    rows = [
        (str(case.episode), "" if case.step is None else f"{case.step:,}", case.reading, told(case.margin))
        for case in one.worst
        if math.isfinite(case.margin)
    ]
    if not rows:
        return Markup()
    return table(
        "Episodes with the smallest margins", ("episode", "step", "recorded there", "margin"), rows, numbers=(1,)
    )
