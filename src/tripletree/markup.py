"""HTML for pages and notebooks: text is escaped unless it is Markup already, so nothing from a user becomes markup."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from tripletree.text import on_a_page

LONG = 24
"""Letters from which a cell of a table is given some width."""


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def text(part: object) -> Markup:
    """Return text as HTML; Markup is passed on."""
    return part if isinstance(part, Markup) else Markup(escape(_held(on_a_page(str(part)))))


def _held(sentence: str) -> str:
    """Return text in which a line does not break before a sign that belongs to the number before it."""
    return sentence.replace(" %", "\N{NO-BREAK SPACE}%").replace(" ± ", "\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}")


def tag(name: str, /, *children: object, **attributes: object) -> Markup:
    """Return an element; attributes of None are left out, ``class_`` and ``aria_label`` are written as HTML does."""
    return Markup(f"<{name}{given(attributes)}>{''.join(map(text, children))}</{name}>")


def empty(name: str, /, **attributes: object) -> Markup:
    """Return an SVG element without children."""
    return Markup(f"<{name}{given(attributes)}/>")


def given(attributes: dict[str, object]) -> str:
    """Return attributes as HTML."""
    return "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape(on_a_page(str(value)))}"'
        for name, value in attributes.items()
        if value is not None
    )


def together(parts: Iterable[object]) -> Markup:
    """Return several parts one after the other."""
    return Markup("".join(map(text, parts)))


def fold(label: str, *children: object) -> Markup:
    """Return what a reader opens when wanted; nothing where there is nothing to open."""
    inside = together(children)
    return tag("details", tag("summary", label), inside) if inside else Markup()


def paragraphs(sentences: Iterable[str]) -> Markup:
    """Return a paragraph for each text that is not empty."""
    return together(tag("p", sentence) for sentence in sentences if sentence)


def with_names(sentence: str) -> list[str | Markup]:
    """Return text in parts: what stands between backticks, the names of columns and what to type, is code."""
    parts = sentence.split("`")
    # A backtick without a partner belongs to a name in the log; guessing would make code of the wrong half.
    if len(parts) % 2 == 0:
        return [sentence]
    return [tag("code", part) if k % 2 else part for k, part in enumerate(parts)]


def table(caption: str, head: Sequence[str], rows: Iterable[Sequence[object]], numbers: Sequence[int] = ()) -> Markup:
    """Return a table whose first column names its rows; ``numbers`` are columns to be aligned at the right."""

    def cell(column: int, child: object) -> Markup:
        kind = "number" if column in numbers else "long" if len(str(child)) > LONG else None
        return tag("td", child, class_=kind) if column else tag("th", child, scope="row", class_=kind)

    columns = together(
        tag("th", name, scope="col", class_="number" if column in numbers else None) for column, name in enumerate(head)
    )
    body = together(tag("tr", *(cell(column, child) for column, child in enumerate(row))) for row in rows)
    inside = tag("table", tag("caption", caption), tag("thead", tag("tr", columns)), tag("tbody", body))
    return region("scroll", caption, inside)


def region(kind: str, label: str, *children: object) -> Markup:
    """Return a place that may be wider than the screen, which a keyboard can reach and scroll."""
    return tag("div", *children, class_=kind, tabindex="0", role="region", aria_label=label)


# Notebooks have colours of their own, light or dark, and none of our style sheets: nothing here colours text.
_BOX = "border-left:3px solid #8a8a8a;padding:.2em .9em;line-height:1.5;overflow-x:auto"
_TEXT = "max-width:62em;white-space:pre-line"
_CELL = "text-align:left;vertical-align:top;padding:.15em .8em .15em 0;white-space:pre-line"
_NUMBER = "text-align:right;padding:.15em .8em .15em 0;white-space:nowrap;font-variant-numeric:tabular-nums"


def notebook_box(*parts: object) -> Markup:
    """Return texts and tables one below the other in a box, as a notebook shows an answer; empty ones are left out."""
    shown = (part if isinstance(part, Markup) else tag("div", part, style=_TEXT) for part in parts if part)
    return tag("div", *shown, style=_BOX)


def notebook_table(header: Sequence[str], rows: Iterable[Sequence[object]], numbers: Sequence[int] = ()) -> Markup:
    """Return a small table, as a notebook shows it; ``numbers`` are columns to be aligned at the right."""

    def line(kind: str, cells: Sequence[object]) -> Markup:
        return tag("tr", *(tag(kind, cell, style=_NUMBER if k in numbers else _CELL) for k, cell in enumerate(cells)))

    head = [tag("thead", line("th", header))] if header else []
    return tag("table", *head, tag("tbody", *(line("td", row) for row in rows)), style="margin:.3em 0;border:none")
