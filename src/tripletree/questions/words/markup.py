"""How answers look in a notebook: small, in the notebook's own colours, light or dark; all text is escaped."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

_BOX = "max-width:62em;border-left:3px solid #8a8a8a;padding:.2em .9em;line-height:1.5;white-space:pre-line"
_CELL = "text-align:left;vertical-align:top;padding:.15em .8em;white-space:normal"


def box(text: str) -> str:
    """Return text in a box."""
    return f'<div style="{_BOX}">{escape(text)}</div>'


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table."""
    lines = [_row("th", header), *(_row("td", row) for row in rows)]
    return f'<table style="max-width:70em">{"".join(lines)}</table>'


def _row(tag: str, cells: Sequence[str]) -> str:
    opened = f'<{tag} style="{_CELL}">'
    return f"<tr>{''.join(f'{opened}{escape(cell)}</{tag}>' for cell in cells)}</tr>"
