"""Writes a report: a tree and a log, told from top to bottom in one HTML file."""

from __future__ import annotations

import os
from typing import Any

from tripletree.errors import ParameterError
from tripletree.files import reason, replace_file
from tripletree.log.log import Log
from tripletree.model.fitted import Fitted
from tripletree.model.judge import check_same_schema
from tripletree.report import words
from tripletree.report.about_agent import behaviour_section, episodes_section, fortune_section, moves_section
from tripletree.report.about_log import log_section
from tripletree.report.about_tree import made_section, overview_section, quality_section, trust_section
from tripletree.report.case import Case
from tripletree.report.page import page
from tripletree.report.svg import Drawer
from tripletree.text import Message, Option

SECTIONS = (
    log_section,
    quality_section,
    overview_section,
    behaviour_section,
    fortune_section,
    moves_section,
    episodes_section,
    trust_section,
    made_section,
)


def report_html(fitted: Fitted, log: Log, title: str | None = None, threads: int = 1) -> str:
    """Return the report as text.

    Parameters
    ----------
    fitted : Fitted
        The tree.
    log : Log
        The log to tell of: the one that the tree was grown on, or another one with the same features and actions.
    title : str or None
        The heading.
    threads : int
        Threads to use.
    """
    check_same_schema(fitted.schema, log, "log")
    case = Case(fitted, log, Drawer(), threads)
    return page(title or words.TITLE, case, [section(case) for section in SECTIONS])


def write_report(fitted: Fitted, log: Log, path: str | os.PathLike[str], title: Any = None, threads: int = 1) -> None:
    """Write the report to a file, whole or not at all."""
    if title is not None and not isinstance(title, str):
        raise ParameterError(Message("{} must be text; got {}.", Option("title"), type(title).__name__))
    text = report_html(fitted, log, title, threads)
    try:
        replace_file(path, text.encode())
    except OSError as error:
        raise ParameterError(f"The report cannot be written to {os.fspath(path)}: {reason(error)}.") from error
