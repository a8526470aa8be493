"""The sections on what episodes should do: why some fail, and whether they meet what is required of them."""

from __future__ import annotations

from tripletree.answers.failures import Briefings
from tripletree.markup import Markup, fold, tag, together
from tripletree.questions.failures import failures
from tripletree.questions.require import require
from tripletree.report import words
from tripletree.report.briefing import FOOTER, briefing_sections
from tripletree.report.case import Case, Section
from tripletree.report.requirements import at_a_glance, requirement_section


def failures_section(case: Case) -> Section | None:
    """Return why episodes fail, where somebody said what failure is, or success, and some of them do."""
    wanted = list(case.failures)
    if not wanted:
        if case.outcome.share in (None, 0.0, 1.0):
            return None
        wanted = [f"not ({case.success or case.log.schema.success})"]
    found = failures(case.log, wanted)
    content: list[Markup] = []
    for number, part in enumerate(found.parts if isinstance(found, Briefings) else (found,), 1):
        for one in briefing_sections(part, case.draw, tail=f"-{number}" if len(wanted) > 1 else ""):
            listed = one.name.startswith("episodes")
            content += [fold(one.title, one.content)] if listed else [tag("h3", one.title), one.content]
    return Section("failures", "Why episodes fail", together([*content, tag("p", FOOTER, class_="note")]))


def requirements_section(case: Case) -> Section | None:
    """Return whether the episodes meet what was required of them, if anything was."""
    if not case.requirements:
        return None
    found = require(case.log, case.requirements)
    content = [tag("p", words.REQUIRED), at_a_glance(found)]
    for number, one in enumerate(found, start=1):
        told = requirement_section(case.log, one, case.draw, number)
        content += [tag("h3", told.title), told.content]
    return Section("requirements", "What is required of it", together(content))
