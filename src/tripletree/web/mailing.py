"""The explorer as one file to mail: a browser computes what it can, the rest is frozen, and the page says which."""

from __future__ import annotations

import inspect
import os
from typing import Any

import numpy as np

from tripletree.checks import check_ending
from tripletree.errors import ParameterError
from tripletree.frontend import assets
from tripletree.frontend.payload import packed as inlined
from tripletree.markup import Markup, tag
from tripletree.web.ask import QUESTIONS, ask
from tripletree.web.errors import AskError
from tripletree.web.house import House
from tripletree.writing import reason, replace_file

ENTRY = "mailed.js"
STYLE = "explore.css"
EPISODES = 12
"""Episodes that are frozen whole: the best, the worst, and some in between."""
LISTED = 500
"""Episodes in the list."""


def frozen(house: House) -> list[dict[str, Any]]:
    """Return questions of a page with their answers, as far as they can be foreseen."""
    found: list[dict[str, Any]] = []

    def keep(question: str, **args: Any) -> dict[str, Any]:
        try:
            answer = ask(house, question, args)
        except AskError:  # what is missing here is missing there
            return {}
        found.append({"question": question, "args": args, "answer": answer})
        return answer

    hello = keep("hello")
    hello["can"] = dict.fromkeys(hello["can"], False)
    hello["agent"], hello["models"] = None, hello["models"][:1]
    for question in ("tree", "facts", "curve", "importance", "rules"):
        keep(question)
    machine = keep("machine")
    keep("machine", level="leaves")
    for one in machine.get("phases", []):
        keep("machine", level="leaves", region=one["region"])
    listed = keep("episodes", count=LISTED).get("rows", [])
    order = sorted(range(len(listed)), key=lambda k: (listed[k]["return"] or 0.0, listed[k]["length"]))
    for place in np.unique(np.linspace(0, len(order) - 1, min(EPISODES, len(order))).round().astype(int)).tolist():
        keep("episode", episode=listed[order[place]]["episode"])
    return found


def defaults() -> dict[str, dict[str, Any]]:
    """Return what arguments of questions are where a page leaves them out."""
    return {
        name: {
            one.name: one.default
            for one in inspect.signature(function).parameters.values()
            if one.kind is one.KEYWORD_ONLY and one.default is not one.empty and not isinstance(one.default, tuple)
        }
        for name, function in QUESTIONS.items()
    }


def mailed_html(house: House) -> str:
    """Return the page as text; like a report, it loads nothing."""
    style, script = assets.read(STYLE), assets.script(ENTRY)
    policy = (
        "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data: blob:; "
        f"style-src {assets.fingerprint(style)}; script-src {assets.fingerprint(script)}"
    )
    content = inlined({"answers": frozen(house), "defaults": defaults()})
    head = (
        Markup('<meta charset="utf-8">'),
        Markup(f'<meta http-equiv="Content-Security-Policy" content="{policy}">'),
        Markup('<meta name="viewport" content="width=device-width, initial-scale=1">'),
        Markup('<meta name="color-scheme" content="light dark">'),
        Markup('<link rel="icon" href="data:,">'),
        tag("title", f"{house.models['a'].name} - tripletree"),
        Markup(f"<style>{style}</style>"),
    )
    body = (
        tag("main", id="explore"),
        Markup(f'<script type="application/gzip" id="frozen">{content}</script>'),
        Markup(f'<script type="module">{script}</script>'),
    )
    return f'<!doctype html>\n<html lang="en">{tag("head", *head)}{tag("body", *body)}</html>\n'


def write_mailed(house: House, path: str | os.PathLike[str]) -> None:
    """Write the page to a file, whole or not at all."""
    target = check_ending(path, (".html", ".htm"))
    try:
        replace_file(target, mailed_html(house).encode())
    except OSError as error:
        raise ParameterError(f"The page cannot be written to {target}: {reason(error)}.") from error
