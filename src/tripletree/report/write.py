"""The report: a tree and a log, from top to bottom in one HTML file that fetches nothing."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from tripletree.checks import check_ending
from tripletree.errors import ParameterError
from tripletree.frontend import assets
from tripletree.log.log import Log
from tripletree.markup import Markup, tag
from tripletree.model.evaluate import check_same_schema, in_labels
from tripletree.model.fitted import Fitted
from tripletree.report import words
from tripletree.report.about_agent import (
    behaviour_section,
    episodes_section,
    fortune_section,
    moves_section,
    rhythm_section,
)
from tripletree.report.about_log import log_section
from tripletree.report.about_tree import belief_section, made_section
from tripletree.report.case import Case, Section
from tripletree.report.front import front_page
from tripletree.text import Message, Option
from tripletree.writing import reason, replace_file

# In the order in which a reader asks.
SECTIONS = (
    behaviour_section,
    rhythm_section,
    fortune_section,
    moves_section,
    episodes_section,
    belief_section,
    log_section,
    made_section,
)


def report_html(
    fitted: Fitted, log: Log, title: str | None = None, threads: int = 1, success: str | None = None
) -> str:
    """Return the report as text.

    Parameters
    ----------
    fitted : Fitted
        The tree.
    log : Log
        The log to report on: the one that the tree was grown on, or another one with the same features and actions.
    title : str or None
        The heading.
    threads : int
        Threads to use.
    success : str or None
        Which episodes succeed, as a condition; None: as far as the log says.
    """
    check_same_schema(fitted.schema, log, "log")
    case = Case(fitted, in_labels(fitted.schema, log), threads, success)
    sections = [section(case) for section in SECTIONS]
    return page(title or words.TITLE, case, [one for one in sections if one is not None])


def write_report(
    fitted: Fitted,
    log: Log,
    path: str | os.PathLike[str],
    title: Any = None,
    threads: int = 1,
    success: str | None = None,
) -> None:
    """Write the report to a file, whole or not at all."""
    if title is not None and not isinstance(title, str):
        raise ParameterError(Message("{} must be text; got {}.", Option("title"), type(title).__name__))
    target = check_ending(path, (".html", ".htm"))
    text = report_html(fitted, log, title, threads, success)
    try:
        replace_file(target, text.encode())
    except OSError as error:
        raise ParameterError(f"The report cannot be written to {target}: {reason(error)}.") from error


def page(title: str, case: Case, sections: Sequence[Section]) -> str:
    """Return the whole file."""
    style = assets.read("page.css") + assets.read("explorer.css")
    script = assets.script()
    # The page loads nothing, and runs only the script and style that are hashed here: even if a name in a log were to
    # become markup by some mistake of ours, it could do nothing.
    policy = (
        "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; "
        f"style-src {assets.fingerprint(style)}; script-src {assets.fingerprint(script)}"
    )
    contents = tag("ol", *(tag("li", tag("a", one.title, href=f"#{one.name}")) for one in sections))
    body = (
        tag("a", "Skip to the text", href="#text", class_="skip"),
        tag(
            "header",
            tag("h1", title),
            tag("p", words.lead(case.fitted, case.log), class_="lead"),
            tag(
                "dl",
                *(
                    tag("div", tag("dt", name), tag("dd", fact))
                    for name, fact in words.key_facts(case.log, case.returns, case.held_out, case.outcome.share)
                ),
                class_="facts",
            ),
        ),
        tag(
            "main",
            front_page(case),
            tag("nav", tag("h2", "More", id="contents"), contents, aria_labelledby="contents"),
            *(_section(one) for one in sections),
            id="text",
        ),
        tag("footer", tag("p", words.FOOTER)),
        Markup(f'<script type="module">{script}</script>'),
    )
    head = (
        Markup('<meta charset="utf-8">'),
        Markup(f'<meta http-equiv="Content-Security-Policy" content="{policy}">'),
        Markup('<meta name="viewport" content="width=device-width, initial-scale=1">'),
        Markup('<meta name="color-scheme" content="light dark">'),
        # An empty icon: without one, browsers ask the server of the page for it.
        Markup('<link rel="icon" href="data:,">'),
        tag("title", title),
        Markup(f"<style>{style}</style>"),
    )
    return f'<!doctype html>\n<html lang="en">{tag("head", *head)}{tag("body", *body)}</html>\n'


def _section(one: Section) -> Markup:
    return tag("section", tag("h2", one.title, id=one.name), one.content, aria_labelledby=one.name)
