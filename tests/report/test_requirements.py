"""The page of requirements: what it says is what the answer says, and it is closed to what a log's names hold."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.parsed import Parsed
from tests.questions.test_require import steps
from tripletree import Feature, ParameterError, require

LOG = steps([1, 2, 3], [3, -1, 2], [2, 2], [-3, 5], [4, 4], endings=[1, 1, 1, 1, 2])


def test_the_page_has_the_sentences_and_two_pictures_for_each(tmp_path):
    found = require(LOG, "always (a > 0)", "always (c)", path=tmp_path / "page.html")
    page = Parsed((tmp_path / "page.html").read_text(encoding="utf-8"))
    assert sum(name == "svg" and given.get("role") == "img" for name, given in page.elements) == 4
    said = " ".join(page.said.replace("\N{NO-BREAK SPACE}", " ").split())
    for one in found:
        for line in str(one).splitlines():
            assert " ".join(line.split()) in said
    assert "0 of 2 requirements hold in 5 episodes of 12 steps." in said
    assert "Episodes with the smallest margins" in said


def test_names_are_text(tmp_path):
    name = "<b>x</b>"
    features = (Feature(name), *LOG.schema.features[1:])
    log = replace(LOG, schema=replace(LOG.schema, features=features))
    require(log, f"always ('{name}' > 0)", path=tmp_path / "page.html")
    page = Parsed((tmp_path / "page.html").read_text(encoding="utf-8"))
    assert "b" not in [element for element, _ in page.elements]


def test_a_page_is_html(tmp_path):
    with pytest.raises(ParameterError, match=r"\.html"):
        require(LOG, "always (a > 0)", path=tmp_path / "page.pdf")
