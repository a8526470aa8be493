"""The HTML around the explorer, and the files that it may load: nothing else is ever sent."""

from __future__ import annotations

from functools import cache

from tripletree.frontend import assets
from tripletree.markup import Markup, tag

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""What a browser may do on a page of the server: load its own files, ask its own server, and nothing else."""
STYLES = ("explore.css",)
ENTRY = "serve.js"


@cache
def files() -> dict[str, tuple[bytes, str]]:
    """Return every file that a page may load: its bytes and its type, by name."""
    # All modules as one: dozens of them, each found in another, would keep the first map waiting.
    scripts = {ENTRY: (assets.script(ENTRY).encode(), "text/javascript; charset=utf-8")}
    return scripts | {name: (assets.read(name).encode(), "text/css; charset=utf-8") for name in STYLES}


def html(title: str) -> bytes:
    """Return the page that loads the explorer.

    Parameters
    ----------
    title : str
        What stands in the browser's tab.
    """
    head = (
        Markup('<meta charset="utf-8">'),
        Markup('<meta name="viewport" content="width=device-width, initial-scale=1">'),
        Markup('<meta name="color-scheme" content="light dark">'),
        Markup('<link rel="icon" href="data:,">'),
        *(Markup(f'<link rel="stylesheet" href="static/{name}">') for name in STYLES),
        tag("title", title),
        Markup(f'<script type="module" src="static/{ENTRY}"></script>'),
    )
    body = (
        tag("main", tag("p", "Loading ...", class_="tx-loading"), id="explore"),
        tag("noscript", tag("p", "This page draws with JavaScript, which is turned off in this browser.")),
    )
    return f'<!doctype html>\n<html lang="en">{tag("head", *head)}{tag("body", *body)}</html>\n'.encode()
