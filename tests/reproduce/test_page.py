"""The page: what is written is what was found, and markup cannot break out of it."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

from tripletree.reproduce.page import (
    FAILS,
    HOLDS,
    PARTLY,
    Claim,
    Figures,
    Section,
    Sentences,
    Table,
    Text,
    claims,
    judged,
    write,
)

SECTIONS = [
    Section(
        "One & only",
        [
            Text("a < b_c"),
            Claim("It *flies*.", "It does, by <3 m>.", HOLDS),
            Table("Numbers.", ("name", "share"), [["a|b", "1,234.5 %"], ["c", "-3"]]),
        ],
    ),
    Section(
        "Two",
        [
            Sentences([("tree.story(0)", "First left,\nthen right.")]),
            Figures(["figures/a.png", "figures/b.png"], 'A "quoted" caption.'),
            Claim("It lands.", "Never.", FAILS),
            Claim("It hovers.", "At times.", PARTLY),
        ],
    ),
]


class Reader(HTMLParser):
    """Checks that tags are closed in order, and collects text and attributes."""

    def __init__(self):
        super().__init__()
        self.open, self.text, self.seen = [], [], []

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        assert tag in ("meta", "img")  # only these have no end tag in HTML
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


@pytest.fixture
def page(tmp_path):
    return write(SECTIONS, "A title", "An introduction.", tmp_path)


def test_a_page_replaces_an_older_one_and_leaves_nothing_else(page, tmp_path):
    write(SECTIONS[:1], "Another title", "An introduction.", tmp_path)
    assert "Another title" in page.read_text(encoding="utf-8")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["index.html", "index.md"]


def test_the_html_is_whole_and_says_everything(page):
    reader = Reader()
    reader.feed(page.read_text(encoding="utf-8"))
    assert reader.open == []
    text = " ".join(reader.text).replace("\N{NO-BREAK SPACE}", " ")
    for part in ("A title", "a < b_c", "It *flies*.", "by <3 m>", "1,234.5 %", "First left,\nthen right."):
        assert part in text
    assert "Of 3 claims of the paper 1 holds here, 1 holds in part and 1 does not." in text
    assert [attrs["src"] for tag, attrs in reader.seen if tag == "img"] == ["figures/a.png", "figures/b.png"]
    assert [attrs["class"] for tag, attrs in reader.seen if tag == "figure"] == ["two"]
    assert [attrs["class"] for tag, attrs in reader.seen if tag == "i"] == ["holds", "does-not-hold", "holds-in-part"]
    assert [attrs.get("class") for tag, attrs in reader.seen if tag == "td"] == [None, "number", None, "number"]


def test_the_markdown_says_the_same(page):
    text = page.with_suffix(".md").read_text(encoding="utf-8")
    assert "## One & only" in text
    assert "> It \\*flies\\*.\n\n**Holds.** It does, by &lt;3 m>." in text
    assert "| a\\|b | 1,234.5 % |" in text
    assert "- `tree.story(0)`  \n  First left,\n  then right." in text
    assert '![A "quoted" caption.](figures/b.png)' in text


def test_claims_are_found_in_their_order():
    assert [claim.said for claim in claims(SECTIONS)] == ["It *flies*.", "It lands.", "It hovers."]


def test_a_verdict_on_several_parts():
    assert (judged(True, True), judged(False, True), judged(False, False)) == (HOLDS, PARTLY, FAILS)
