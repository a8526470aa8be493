"""Rules in words, as Markdown and as a table: by outcome, the first ones of each, the others summed up."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tripletree import Action, Feature, Schema
from tripletree.answers.rules import Rule, Rules, conditions
from tripletree.language.conditions import clauses

SCHEMA = Schema((Feature("pos"),), Action("discrete", labels=("left", "right")))


def rule(outcome, low, high, samples, accuracy=1.0) -> Rule:
    when = tuple(clauses(SCHEMA, [low], [high]))
    tested = 0 if accuracy is None else samples
    return Rule(outcome, when, np.array([low]), np.array([high]), samples, samples / 100, tested, accuracy, (0,))


def rules(most=2, accuracy=(1.0, 0.5, 0.75, 0.9)) -> Rules:
    """Three rules for going left, 70 samples of 100, and one for going right."""
    first, second, third, other = accuracy
    made = (
        rule("Action = left", -np.inf, 1.0, 40, first),
        rule("Action = left", 2.0, 3.0, 20, second),
        rule("Action = left", 5.0, np.inf, 10, third),
        rule("Action = right", 3.0, 5.0, 30, other),
    )
    return Rules("action", made, most, ("pos",), "unseen", SCHEMA)


def test_as_many_rules_are_shown_as_asked_for():
    # Right: 40 + 10 + 7.5 of 70 is 82 %; of the last two, 17.5 of 30 is 58 %.
    assert str(rules(most=1)).splitlines() == [
        "Action = left (70 % of the samples, 82 % right on unseen episodes)",
        "  when pos < 1 (40 %, 100 % right)",
        "  or in 2 more rules (30 %, 58 % right)",
        "Action = right (30 % of the samples, 90 % right on unseen episodes)",
        "  when pos in [3, 5) (30 %, 90 % right)",
    ]
    assert str(rules(most=2)).splitlines()[2:4] == [
        "  or when pos in [2, 3) (20 %, 50 % right)",
        "  or in 1 more rule (10 %, 75 % right)",
    ]
    assert "more rule" not in str(rules(most=3))


def test_markdown_and_notebooks_show_as_many():
    markdown = rules(most=2).to_markdown().splitlines()
    assert markdown[:7] == [
        "### Action = left",
        "",
        "70 % of the samples, 82 % right on unseen episodes.",
        "",
        "- pos \\< 1 (40 %, 100 % right)",
        "- pos in \\[2, 3) (20 %, 50 % right)",
        "- 1 more rule (10 %, 75 % right)",
    ]
    assert "more rule" not in rules(most=3).to_markdown()
    shown = rules(most=2)._repr_html_()
    rows = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in re.findall(r"<tr>(.*?)</tr>", shown)]
    assert rows[0] == ["outcome", "when", "samples", "right"]
    assert [row[:2] for row in rows[1:]] == [
        ["Action = left", "pos &lt; 1"],
        ["", "or pos in [2, 3)"],
        ["", "or 1 more rule"],
        ["Action = right", "pos in [3, 5)"],
    ]


def test_what_is_not_known_to_be_right_is_not_told():
    unknown = rules(accuracy=(None,) * 4)
    assert "right)" not in str(unknown)
    assert str(unknown).startswith("Action = left (70 % of the samples)\n  when pos < 1 (40 %)\n")
    assert np.isnan(unknown.table["accuracy"]).all()


def test_a_rule_without_conditions_holds_always():
    always = rule("Action = left", -np.inf, np.inf, 100)
    assert str(always) == "Action = left always (100 % of the samples, 100 % right on unseen episodes)."
    assert str(Rules("action", (always,), 5, ("pos",), "log", SCHEMA)) == str(always)
    assert conditions(()) == "always"
    assert str(rules()[3]) == (
        "Action = right when pos in [3, 5) (30 % of the samples, 90 % right on unseen episodes)."
    )


@pytest.mark.parametrize(
    ("pos", "number"), [(0.99, 0), (1.0, -1), (2.0, 1), (2.999, 1), (3.0, 3), (4.999, 3), (5.0, 2), (1e9, 2)]
)
def test_a_state_meets_the_rule_whose_bounds_hold_it(pos, number):
    # A lower bound belongs to its rule, an upper one does not; between 1 and 2 these rules say nothing.
    assert rules().apply([pos]) == number
    assert rules().apply([[pos], [0.0]]).tolist() == [number, 0]


def test_the_table_has_bounds_and_conditions():
    table = rules().table
    assert table["when"].tolist()[0] == "pos < 1"
    assert table["pos_min"].tolist() == [-np.inf, 2.0, 5.0, 3.0]
    assert table["pos_max"].tolist() == [1.0, 3.0, np.inf, 5.0]
    assert (len(rules()), len(table)) == (4, 4)
