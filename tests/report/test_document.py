"""A page without the explorer: whole, in order, and closed to whatever a log's names hold."""

from __future__ import annotations

import pytest

from tests.parsed import Parsed
from tripletree.errors import ParameterError
from tripletree.markup import tag
from tripletree.report.case import Section
from tripletree.report.document import plain_page, write_page

NAME = '<script>alert("x")</script>'
SECTIONS = [Section(f"part-{k}", f"Part {k}", tag("p", f"{NAME} {k}")) for k in range(3)]


def test_a_plain_page_has_its_parts_in_order_and_runs_nothing():
    page = Parsed(plain_page("Title", f"About {NAME}.", [("episodes", "12")], SECTIONS, "The last line."))
    names = [name for name, _ in page.elements]
    assert "script" not in names
    assert names.index("header") < names.index("nav") < names.index("section") < names.index("footer")
    policy = next(given["content"] for name, given in page.elements if name == "meta" and "http-equiv" in given)
    assert "script-src" not in policy
    assert policy.startswith("default-src 'none'")
    assert f"About {NAME}." in page.said
    links = [given["href"] for name, given in page.elements if name == "a"]
    assert links == ["#text", "#part-0", "#part-1", "#part-2"]
    assert {given["id"] for _, given in page.elements if "id" in given} >= {"text", "part-0", "part-1", "part-2"}


def test_a_short_page_has_no_contents():
    assert "nav" not in [name for name, _ in Parsed(plain_page("T", "", [], SECTIONS[:2], "")).elements]


def test_a_page_goes_to_an_html_file_or_nowhere(tmp_path):
    write_page(tmp_path / "page.html", "text")
    assert (tmp_path / "page.html").read_text() == "text"
    with pytest.raises(ParameterError, match=r"\.html"):
        write_page(tmp_path / "page.pdf", "text")
    with pytest.raises(ParameterError, match="The page cannot be written to"):
        write_page(tmp_path / "nowhere" / "page.html", "text", "The page")
