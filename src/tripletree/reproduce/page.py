"""The page: sections of text, tables, figures and claims, written as HTML and as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tripletree.markup import Markup, empty, tag
from tripletree.text import count
from tripletree.writing import replace_file

HOLDS, PARTLY, FAILS = "holds", "holds in part", "does not hold"


@dataclass(frozen=True)
class Text:
    """A paragraph."""

    text: str

    def html(self) -> Markup:
        """Return the paragraph as HTML."""
        return tag("p", self.text)

    def markdown(self) -> str:
        """Return the paragraph as Markdown."""
        return _plain(self.text)


@dataclass(frozen=True)
class Sentences:
    """What the tree itself says, each with the question that it answers."""

    said: Sequence[tuple[str, str]]

    def html(self) -> Markup:
        """Return question and answer side by side."""
        rows = (part for ask, say in self.said for part in (tag("dt", tag("code", ask)), tag("dd", say)))
        return tag("dl", *rows)

    def markdown(self) -> str:
        """Return one item for each."""
        return "\n".join("\n  ".join([f"- `{ask}`  ", *_plain(say).splitlines()]) for ask, say in self.said)


@dataclass(frozen=True)
class Table:
    """Rows of cells under a caption; cells that look like numbers stand on the right."""

    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]

    def html(self) -> Markup:
        """Return the table as HTML."""
        head = tag("thead", tag("tr", *(tag("th", name) for name in self.head)))
        body = tag("tbody", *(tag("tr", *map(_cell, row)) for row in self.rows))
        return tag("table", tag("caption", self.caption), head, body)

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

    def html(self) -> Markup:
        """Return the figure as HTML; a click opens a picture alone."""
        # Four pictures would leave two gaps in rows of three.
        columns = {1: "one", 2: "two", 4: "two"}.get(len(self.files), "three")
        pictures = (tag("a", empty("img", src=file, alt=self.caption), href=file) for file in self.files)
        return tag("figure", tag("div", *pictures), tag("figcaption", self.caption), class_=columns)

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

    def html(self) -> Markup:
        """Return the claim as a box whose edge shows the verdict."""
        said = tag("p", tag("b", "The paper:"), " ", self.said, class_="said")
        found = tag("p", tag("b", f"{self.verdict.capitalize()}.", class_="verdict"), " ", self.found)
        return tag("div", said, found, class_=f"claim {self.verdict.replace(' ', '-')}")

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
        f"Of {len(found)} claims of the paper {count(counts[0], 'holds', 'hold')} here, "
        f"{count(counts[1], 'holds', 'hold')} in part and {count(counts[2], 'does', 'do')} not."
    )
    contents = (
        tag("li", tag("a", section.title, href=f"#part-{i}"), *_dots(section)) for i, section in enumerate(sections)
    )
    parts = (
        tag("section", tag("h2", section.title), *(block.html() for block in section.blocks), id=f"part-{i}")
        for i, section in enumerate(sections)
    )
    head = (
        empty("meta", charset="utf-8"),
        tag("title", title),
        empty("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("style", Markup(STYLE)),
    )
    body = (
        tag("h1", title),
        tag("p", introduction),
        tag("p", total, class_="total"),
        tag("nav", tag("ol", *contents)),
        *parts,
    )
    page = folder / "index.html"
    document = f'<!doctype html><html lang="en">{tag("head", *head)}{tag("body", *body)}</html>\n'
    replace_file(page, document.encode())
    text = [f"# {title}", _plain(introduction), f"**{total}**"]
    for section in sections:
        text += [f"## {section.title}", *(block.markdown() for block in section.blocks)]
    replace_file(folder / "index.md", ("\n\n".join(text) + "\n").encode())
    return page


def _dots(section: Section) -> list[Markup]:
    """Return a coloured dot for every claim of a section."""
    return [
        tag("i", class_=claim.verdict.replace(" ", "-"), title=f"{claim.said}: {claim.verdict}")
        for claim in claims([section])
    ]


def _cell(text: str) -> Markup:
    # Numbers are compared digit below digit, so they are aligned at the right.
    number = text.lstrip("-+").replace(",", "").replace(".", "").rstrip(" %").isdigit()
    return tag("td", text, class_="number" if number else None)


def _plain(text: str) -> str:
    # Names such as v_y, and comparisons, would be read as emphasis and as HTML.
    return text.replace("*", "\\*").replace("_", "\\_").replace("<", "&lt;")


# Inlined, so that the page is one file beside its pictures.
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
