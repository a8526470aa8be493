"""The page: sections of text, tables, figures and claims, written as HTML and as Markdown."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tripletree.writing import replace_file

HOLDS, PARTLY, FAILS = "holds", "holds in part", "does not hold"


@dataclass(frozen=True)
class Text:
    """A paragraph."""

    text: str

    def html(self) -> str:
        """Return the paragraph as HTML."""
        return f"<p>{html.escape(self.text, quote=False)}</p>"

    def markdown(self) -> str:
        """Return the paragraph as Markdown."""
        return _plain(self.text)


@dataclass(frozen=True)
class Sentences:
    """What the tree itself says, each with the question that it answers."""

    said: Sequence[tuple[str, str]]

    def html(self) -> str:
        """Return question and answer side by side."""
        rows = "".join(f"<dt>{_code(ask)}</dt><dd>{html.escape(say, quote=False)}</dd>" for ask, say in self.said)
        return f"<dl>{rows}</dl>"

    def markdown(self) -> str:
        """Return one item for each."""
        return "\n".join("\n  ".join([f"- `{ask}`  ", *_plain(say).splitlines()]) for ask, say in self.said)


@dataclass(frozen=True)
class Table:
    """Rows of cells under a caption; cells that look like numbers stand on the right."""

    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]

    def html(self) -> str:
        """Return the table as HTML."""
        head = "".join(f"<th>{html.escape(name, quote=False)}</th>" for name in self.head)
        body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in self.rows)
        caption = html.escape(self.caption, quote=False)
        return f"<table><caption>{caption}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def markdown(self) -> str:
        """Return the table as Markdown."""
        lines = [self.head, ["---"] * len(self.head), *self.rows]
        table = "\n".join("| " + " | ".join(_plain(cell).replace("|", "\\|") for cell in line) + " |" for line in lines)
        return f"{_plain(self.caption)}\n\n{table}"


@dataclass(frozen=True)
class Figures:
    """Pictures in files beside the page, as many side by side as there is room for, under one caption."""

    files: Sequence[str]
    caption: str

    def html(self) -> str:
        """Return the figure as HTML; a click opens a picture alone."""
        alt = html.escape(self.caption)
        columns = {1: "one", 2: "two", 4: "two"}.get(len(self.files), "three")
        pictures = "".join(f'<a href="{file}"><img src="{file}" alt="{alt}"></a>' for file in self.files)
        caption = html.escape(self.caption, quote=False)
        return f'<figure class="{columns}"><div>{pictures}</div><figcaption>{caption}</figcaption></figure>'

    def markdown(self) -> str:
        """Return the figure as Markdown."""
        pictures = "\n".join(f"![{_plain(self.caption)}]({file})" for file in self.files)
        return f"{pictures}\n\n*{_plain(self.caption)}*"


@dataclass(frozen=True)
class Claim:
    """What the paper says, what came out here with its numbers, and whether the two agree."""

    said: str
    found: str
    verdict: str

    def html(self) -> str:
        """Return the claim as a box whose edge shows the verdict."""
        kind = self.verdict.replace(" ", "-")
        return (
            f'<div class="claim {kind}"><p class="said"><b>The paper:</b> {html.escape(self.said, quote=False)}</p>'
            f'<p><b class="verdict">{self.verdict.capitalize()}.</b> {html.escape(self.found, quote=False)}</p></div>'
        )

    def markdown(self) -> str:
        """Return the claim as a quotation and an answer."""
        return f"> {_plain(self.said)}\n\n**{self.verdict.capitalize()}.** {_plain(self.found)}"


Block = Text | Sentences | Table | Figures | Claim


@dataclass(frozen=True)
class Section:
    """A part of the page."""

    title: str
    blocks: Sequence[Block]


def judged(*conditions: bool) -> str:
    """Return the verdict on a claim of several parts: all of them hold, some, or none.

    >>> judged(True, True), judged(True, False), judged(False)
    ('holds', 'holds in part', 'does not hold')
    """
    return HOLDS if all(conditions) else PARTLY if any(conditions) else FAILS


def claims(sections: Sequence[Section]) -> list[Claim]:
    """Return all claims of a page, in order."""
    return [block for section in sections for block in section.blocks if isinstance(block, Claim)]


def write(sections: Sequence[Section], title: str, introduction: str, folder: Path) -> Path:
    """Write index.html and index.md to a folder that exists, and return the path of the first."""
    found = claims(sections)
    counts = [sum(claim.verdict == verdict for claim in found) for verdict in (HOLDS, PARTLY, FAILS)]
    total = (
        f"Of {len(found)} claims of the paper {_number(counts[0], 'holds', 'hold')} here, "
        f"{_number(counts[1], 'holds', 'hold')} in part and {_number(counts[2], 'does', 'do')} not."
    )
    contents = "".join(
        f'<li><a href="#part-{i}">{html.escape(section.title)}</a>{_dots(section)}</li>'
        for i, section in enumerate(sections)
    )
    parts = "".join(
        "<section "
        f'id="part-{i}"><h2>{html.escape(section.title)}</h2>{"".join(b.html() for b in section.blocks)}</section>'
        for i, section in enumerate(sections)
    )
    page = folder / "index.html"
    document = (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{STYLE}</style></head><body>'
        f"<h1>{html.escape(title)}</h1><p>{html.escape(introduction, quote=False)}</p>"
        f'<p class="total">{total}</p><nav><ol>{contents}</ol></nav>{parts}</body></html>\n'
    )
    replace_file(page, document.encode())
    text = [f"# {title}", _plain(introduction), f"**{total}**"]
    for section in sections:
        text += [f"## {section.title}", *(block.markdown() for block in section.blocks)]
    replace_file(folder / "index.md", ("\n\n".join(text) + "\n").encode())
    return page


def _number(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}"


def _dots(section: Section) -> str:
    """Return a coloured dot for every claim of a section."""
    return "".join(
        f'<i class="{claim.verdict.replace(" ", "-")}" title="{html.escape(claim.said)}: {claim.verdict}"></i>'
        for claim in claims([section])
    )


def _cell(text: str) -> str:
    number = text.lstrip("-+").replace(",", "").replace(".", "").rstrip(" %").isdigit()
    return f"<td{' class=number' if number else ''}>{html.escape(text, quote=False)}</td>"


def _code(text: str) -> str:
    return f"<code>{html.escape(text, quote=False)}</code>"


def _plain(text: str) -> str:
    return text.replace("*", "\\*").replace("_", "\\_").replace("<", "&lt;")


STYLE = """
body{max-width:58rem;margin:2rem auto;padding:0 1rem;font:16px/1.55 system-ui,sans-serif;color:#222;background:#fff}
h1{font-size:1.9rem;line-height:1.2}
h2{margin-top:3rem;padding-top:.5rem;border-top:1px solid #ddd;font-size:1.35rem}.total{font-weight:600}
nav li{margin:.15rem 0}nav i{display:inline-block;width:.6rem;height:.6rem;border-radius:50%;margin-left:.35rem}
nav i.holds{background:#1b7f5c}nav i.holds-in-part{background:#d99a1c}nav i.does-not-hold{background:#b5322e}
.claim{border-left:.35rem solid;padding:.1rem 1rem;margin:1.2rem 0;background:#fafafa}.claim p{margin:.5rem 0}
.claim.holds{border-color:#1b7f5c}.claim.holds-in-part{border-color:#d99a1c}
.claim.does-not-hold{border-color:#b5322e}.holds .verdict{color:#1b7f5c}.holds-in-part .verdict{color:#966400}
.does-not-hold .verdict{color:#b5322e}.said{color:#555}figure{margin:1.5rem 0}
figure div{display:grid;gap:1rem}

@media(min-width:40rem){.two div{grid-template-columns:1fr 1fr}.three div{grid-template-columns:1fr 1fr 1fr}}
img{width:100%}figcaption{color:#555;font-size:.9rem;text-align:left}
table{border-collapse:collapse;margin:1.2rem 0;font-size:.9rem;display:block;overflow-x:auto}
caption{text-align:left;color:#555;padding:.3rem 0}
th,td{padding:.2rem .7rem;border-bottom:1px solid #e5e5e5;text-align:left;vertical-align:top}
td.number{text-align:right;font-variant-numeric:tabular-nums}dt{margin-top:.7rem;color:#555}
dd{margin:.1rem 0 .1rem 1.2rem;white-space:pre-line}code{font-size:.85em;background:#f3f3f3;padding:.1em .3em}
"""
