"""The report: a tree and a log, from top to bottom in one HTML file that fetches nothing."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any

from tripletree.checks import check_ending
from tripletree.errors import ParameterError
from tripletree.frontend import assets
from tripletree.log.log import Log
from tripletree.markup import tag
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
from tripletree.report.about_episodes import failures_section, requirements_section
from tripletree.report.about_log import log_section
from tripletree.report.about_tree import belief_section, made_section
from tripletree.report.case import Case, Section
from tripletree.report.document import SKIP, contents, document, heading, section, write_page
from tripletree.report.front import front_page
from tripletree.text import Message, Option

# In the order in which a reader asks.
SECTIONS = (
    behaviour_section,
    rhythm_section,
    fortune_section,
    failures_section,
    requirements_section,
    moves_section,
    episodes_section,
    belief_section,
    log_section,
    made_section,
)
NEEDS = {fortune_section: ("criticality",), log_section: ("findings", "drift", "world")}
"""Parts of a study that another thread works out before a section, and those after it, need them."""


def report_html(
    fitted: Fitted,
    log: Log,
    title: str | None = None,
    threads: int = 1,
    success: str | None = None,
    failures: str | Sequence[str] | None = None,
    require: str | Sequence[str] | None = None,
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
    failures, require : str, sequence of str, or None
        Which episodes failed, as conditions, each briefed apart (None: those that do not succeed); what each must do.
    """
    check_same_schema(fitted.schema, log, "log")
    asked = _texts(failures, "failures"), _texts(require, "require")
    case = Case(fitted, in_labels(fitted.schema, log), threads, success, *asked)
    return page(title or words.TITLE, case, [one for one in _sections(case) if one is not None])


def _sections(case: Case) -> list[Section | None]:
    """Return all sections; where there are threads, one of them is ahead with what takes long and hangs on nothing."""
    found = []
    with ThreadPoolExecutor(1) as other:
        # In copies of the context, in which NumPy keeps what it does about numbers that are too large.
        ahead = {
            name: other.submit(copy_context().run, getattr, case, name)
            for names in (NEEDS.values() if case.threads > 1 else ())
            for name in names
        }
        try:
            for one in SECTIONS:
                for name in NEEDS.get(one, ()) if ahead else ():
                    ahead[name].result()
                found.append(one(case))
        finally:
            other.shutdown(cancel_futures=True)
    return found


def write_report(
    fitted: Fitted,
    log: Log,
    path: str | os.PathLike[str],
    title: Any = None,
    threads: int = 1,
    success: str | None = None,
    failures: str | Sequence[str] | None = None,
    require: str | Sequence[str] | None = None,
) -> None:
    """Write the report to a file, whole or not at all."""
    if title is not None and not isinstance(title, str):
        raise ParameterError(Message("{} must be text; got {}.", Option("title"), type(title).__name__))
    check_ending(path, (".html", ".htm"))  # before the work
    write_page(path, report_html(fitted, log, title, threads, success, failures, require))


def _texts(given: Any, name: str) -> tuple[str, ...]:
    """Return one text or several as several."""
    texts = () if given is None else (given,) if isinstance(given, str) else given
    if not isinstance(texts, list | tuple) or not all(isinstance(one, str) for one in texts):
        raise ParameterError(Message("{} must be text, or a list of texts; got {!r}.", Option(name), given))
    return tuple(texts)


def page(title: str, case: Case, sections: Sequence[Section]) -> str:
    """Return the whole file."""
    facts = words.key_facts(case.log, case.returns, case.held_out, case.outcome.share)
    body = (
        SKIP,
        heading(title, words.lead(case.fitted, case.log), facts),
        tag("main", front_page(case), contents(sections), *map(section, sections), id="text"),
        tag("footer", tag("p", words.FOOTER)),
    )
    return document(title, body, assets.read("page.css") + assets.read("explorer.css"), assets.script())
