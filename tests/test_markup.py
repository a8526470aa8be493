"""HTML of pages and notebooks: nothing that a user named becomes markup."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.parsed import Parsed
from tripletree.markup import (
    Markup,
    empty,
    notebook_box,
    notebook_table,
    paragraphs,
    table,
    tag,
    text,
    together,
)  # fmt: skip
from tripletree.markup import (
    given as attributes_of,
)
from tripletree.text import on_a_page

NBSP = "\N{NO-BREAK SPACE}"


def test_text_is_escaped_and_markup_is_passed_on():
    assert text("<b> & 'c' \"d\"") == "&lt;b&gt; &amp; &#x27;c&#x27; &quot;d&quot;"
    assert text(Markup("<b>")) == "<b>"
    assert text(3) == "3"
    assert text(text("<")) == "&lt;"


def test_a_line_does_not_break_before_a_sign_that_belongs_to_a_number():
    assert text("12 % of 1.2 ± 0.3") == f"12{NBSP}% of 1.2{NBSP}±{NBSP}0.3"


TURNING = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
NAMES = st.text(
    st.characters(exclude_categories=("Cc", "Cs"), exclude_characters=TURNING) | st.sampled_from("<>&\"'/;# %±"),
    max_size=40,
)


@given(NAMES, NAMES)
def test_nothing_from_a_user_becomes_markup(child, value):
    parsed = Parsed(tag("p", child, title=value))
    assert parsed.elements == [("p", {"title": on_a_page(value)})]
    assert parsed.said == on_a_page(child).replace(" %", f"{NBSP}%").replace(" ± ", f"{NBSP}±{NBSP}")


def test_attributes_are_written_as_html_does():
    assert attributes_of({"class_": "a b", "aria_label": "<x>", "href": None, "width": 3}) == (
        ' class="a b" aria-label="&lt;x&gt;" width="3"'
    )
    assert tag("a", "x", href=None) == "<a>x</a>"
    assert empty("rect", stroke_width=0.5) == '<rect stroke-width="0.5"/>'


def test_parts_one_after_the_other():
    assert together(["<", tag("b", "x"), 1]) == "&lt;<b>x</b>1"
    assert paragraphs(["one", "", "two"]) == "<p>one</p><p>two</p>"


@pytest.mark.parametrize(("letters", "kind"), [(1, None), (24, None), (25, "long"), (80, "long")])
def test_a_cell_of_more_than_twenty_four_letters_is_given_some_width(letters, kind):
    parsed = Parsed(table("Caption", ("name", "what"), [("row", "x" * letters)]))
    cells = [attributes.get("class") for name, attributes in parsed.elements if name == "td"]
    assert cells == [kind]
    names = Parsed(table("Caption", ("name",), [("x" * letters,)]))
    assert [a.get("class") for name, a in names.elements if name == "th" and a["scope"] == "row"] == [kind]


def test_a_table_has_a_caption_named_rows_and_numbers_at_the_right():
    made = table("What & how", ("name", "count"), [("a", "1,200"), ("b", 7)], numbers=(1,))
    parsed = Parsed(made)
    assert parsed.elements[0] == (
        "div",
        {"class": "scroll", "tabindex": "0", "role": "region", "aria-label": "What & how"},
    )
    heads = [(attributes["scope"], attributes.get("class")) for name, attributes in parsed.elements if name == "th"]
    assert heads == [("col", None), ("col", "number"), ("row", None), ("row", None)]
    assert [attributes for name, attributes in parsed.elements if name == "td"] == [{"class": "number"}] * 2
    assert parsed.said == "What & hownamecounta1,200b7"


def test_what_cannot_be_seen_gets_a_sign():
    assert text("a\x00b\x1b[31mc\rd") == "a\\x00b\\x1b[31mc\\rd"
    seen = text("\x7f\x9f" + TURNING + "\ud83d")
    assert seen.startswith("\\x7f\\x9f\\u202a")
    assert seen.isascii()
    assert text("one\ntwo") == "one\ntwo"
    assert attributes_of({"title": "\x1b\u202e"}) == ' title="\\x1b\\u202e"'


def test_notebooks_get_boxes_and_tables_without_classes():
    box = Parsed(notebook_box("One.\n<Two>"))
    assert [name for name, _ in box.elements] == ["div", "div"]
    assert box.said == "One.\n<Two>"
    assert "pre-line" in box.elements[1][1]["style"]
    assert Parsed(notebook_box("", tag("b", "x"), "", "y")).elements[1][0] == "b"
    made = Parsed(notebook_table(("a", "b"), [("1", "<2>")], numbers=(1,)))
    assert [name for name, _ in made.elements] == ["table", "thead", "tr", "th", "th", "tbody", "tr", "td", "td"]
    assert ["right" in a["style"] for name, a in made.elements if name == "td"] == [False, True]
    assert "thead" not in notebook_table((), [("1", "2")])
    assert made.said == "ab1<2>"
    assert not any("class" in attributes for _, attributes in made.elements)
