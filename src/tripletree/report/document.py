"""One HTML file that fetches nothing: its head, and pages that are read from top to bottom without the explorer."""

from __future__ import annotations

import os
from collections.abc import Sequence

from tripletree.checks import check_ending
from tripletree.errors import ParameterError
from tripletree.frontend import assets
from tripletree.markup import Markup, tag
from tripletree.report.case import Section
from tripletree.writing import reason, replace_file


def document(title: str, body: Sequence[Markup], style: str, script: str = "") -> str:
    """Return a whole file, with its style and its script inside.

    Parameters
    ----------
    title : str
        What a browser's tab says.
    body : sequence of Markup
        What is on the page.
    style, script : str
        A style sheet, and an ES module or nothing.
    """
    # The page loads nothing, and runs only the script and style that are hashed here: even if a name in a log were to
    # become markup by some mistake of ours, it could do nothing.
    policy = (
        f"default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; style-src {assets.fingerprint(style)}"
    )
    policy += f"; script-src {assets.fingerprint(script)}" if script else ""
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
    run = [Markup(f'<script type="module">{script}</script>')] if script else []
    return f'<!doctype html>\n<html lang="en">{tag("head", *head)}{tag("body", *body, *run)}</html>\n'


def heading(title: str, lead: str, facts: Sequence[tuple[str, str]]) -> Markup:
    """Return the top of a page: its title, what it is about, and a few numbers with their names."""
    told = (tag("div", tag("dt", name), tag("dd", fact)) for name, fact in facts)
    return tag("header", tag("h1", title), tag("p", lead, class_="lead"), tag("dl", *told, class_="facts"))


def contents(sections: Sequence[Section], title: str = "More") -> Markup:
    """Return the names of the sections that follow, to click on."""
    listed = tag("ol", *(tag("li", tag("a", one.title, href=f"#{one.name}")) for one in sections))
    return tag("nav", tag("h2", title, id="contents"), listed, aria_labelledby="contents")


def section(one: Section) -> Markup:
    """Return a section with its heading."""
    return tag("section", tag("h2", one.title, id=one.name), one.content, aria_labelledby=one.name)


SKIP = tag("a", "Skip to the text", href="#text", class_="skip")


def plain_page(
    title: str, lead: str, facts: Sequence[tuple[str, str]], sections: Sequence[Section], footer: str
) -> str:
    """Return a page to read, in the report's style and without a script.

    Parameters
    ----------
    title, lead : str
        The heading, and the sentence below it.
    facts : sequence of pairs of str
        Names and numbers below that.
    sections : sequence of Section
        What follows.
    footer : str
        The last line.
    """
    listed = [contents(sections, "Contents")] if len(sections) > 2 else []
    main = tag("main", *listed, *map(section, sections), id="text")
    body = (SKIP, heading(title, lead, facts), main, tag("footer", tag("p", footer)))
    return document(title, body, assets.read("page.css"))


def write_page(path: str | os.PathLike[str], text: str, what: str = "The report") -> None:
    """Write a page to a file, whole or not at all; ``what`` is what an error calls it."""
    target = check_ending(path, (".html", ".htm"))
    try:
        replace_file(target, text.encode())
    except OSError as error:
        raise ParameterError(f"{what} cannot be written to {target}: {reason(error)}.") from error
