"""The page around the sections: one HTML file that fetches nothing, by its content security policy."""

from __future__ import annotations

from collections.abc import Sequence

from tripletree.frontend import assets
from tripletree.language.markup import Markup, tag
from tripletree.report import words
from tripletree.report.case import Case, Section


def page(title: str, case: Case, sections: Sequence[Section]) -> str:
    """Return the whole file."""
    style = assets.read("page.css") + assets.read("explorer.css")
    script = assets.script()
    policy = (
        "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; "
        f"style-src {assets.fingerprint(style)}; script-src {assets.fingerprint(script)}"
    )
    contents = tag("ol", *(tag("li", tag("a", one.title, href=f"#{one.name}")) for one in sections))
    body = (
        tag("a", "To the text", href="#text", class_="skip"),
        tag(
            "header",
            tag("h1", title),
            tag("p", words.lead(case.fitted, case.log), class_="lead"),
            tag(
                "dl",
                *(
                    tag("div", tag("dt", name), tag("dd", fact))
                    for name, fact in words.key_facts(case.fitted, case.log, case.returns)
                ),
                class_="facts",
            ),
        ),
        tag("nav", tag("h2", "Contents", id="contents"), contents, aria_labelledby="contents"),
        tag("main", *(_section(one) for one in sections), id="text"),
        tag("footer", tag("p", words.FOOTER)),
        Markup(f'<script type="module">{script}</script>'),
    )
    head = (
        Markup('<meta charset="utf-8">'),
        Markup(f'<meta http-equiv="Content-Security-Policy" content="{policy}">'),
        Markup('<meta name="viewport" content="width=device-width, initial-scale=1">'),
        Markup('<meta name="color-scheme" content="light dark">'),
        Markup('<link rel="icon" href="data:,">'),
        tag("title", title),
        Markup(f"<style>{style}</style>"),
    )
    return f'<!doctype html>\n<html lang="en">{tag("head", *head)}{tag("body", *body)}</html>\n'


def _section(one: Section) -> Markup:
    return tag("section", tag("h2", one.title, id=one.name), one.content, aria_labelledby=one.name)
