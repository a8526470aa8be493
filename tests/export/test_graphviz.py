"""A tree in DOT: every node, every condition, and no name that is an order."""

from __future__ import annotations

import re

import pytest

from tests.export.models import fitted_on, grown
from tests.hostile.names import NAMES, hostile_log
from tests.scenes.models import gears
from tripletree.export.graphviz import to_dot

STRING = r'"(?:[^"\\\n]|\\\\|\\"|\\n)*"'
LINE = re.compile(rf"  (n\d+ \[label={STRING}(, style=rounded)?\];|n\d+ -> n\d+ \[label={STRING}\];)")


def test_it_says_what_the_tree_says():
    fitted = fitted_on("road", 3)
    lines = to_dot(fitted).splitlines()
    assert lines[0] == "digraph tree {"
    assert lines[-1] == "}"
    assert '  n0 [label="speed < 0.05\\n2,000 samples"];' in lines
    assert '  n0 -> n1 [label="yes"];' in lines
    assert sum("style=rounded" in line for line in lines) == 3
    assert sum(" -> " in line for line in lines) == 4
    assert any(
        re.search(r'"leaf 2\\nacc = -0.001 \(\d+ %\)\\nvalue = .*change of pos = .* per step.*\d samples"', line)
        for line in lines
    )


def test_about_one_attribute():
    text = to_dot(fitted_on("lander", 5), about="main engine")
    assert text.count("main engine = ") == 5
    assert not re.search("value|change|side", text)


def test_kinds_of_features_are_put_in_words():
    text = to_dot(gears())
    assert "not on" in text
    assert "gear <= 2" in text


def test_one_leaf():
    assert " -> " not in to_dot(fitted_on("road").truncate(1))


@pytest.mark.parametrize("discrete", [True, False])
@pytest.mark.parametrize("begin", range(0, len(NAMES), 4))
def test_names_are_only_text(begin, discrete):
    text = to_dot(grown(hostile_log(begin, discrete), 10))
    for line in text.splitlines()[3:-1]:
        assert LINE.fullmatch(line), line
        assert not re.search(r"&(?!amp;)", line)
    assert all(character == "\n" or character.isprintable() or character == "\u200d" for character in text)
