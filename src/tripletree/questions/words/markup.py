"""How answers look in a notebook: a small box in the notebook's own colours, light or dark; all text is escaped."""

from __future__ import annotations

from html import escape

_BOX = "max-width:62em;border-left:3px solid #8a8a8a;padding:.2em .9em;line-height:1.5;white-space:pre-line"


def box(text: str) -> str:
    """Return text in a box."""
    return f'<div style="{_BOX}">{escape(text)}</div>'
