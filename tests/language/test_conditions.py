from __future__ import annotations

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tripletree import Action, Feature, Schema
from tripletree.language import conditions


@pytest.mark.parametrize(
    ("kind", "low", "high", "text"),
    [
        ("real", 1.1, 1.32, "pos in [1.1, 1.32) m"),
        ("real", 1.48, inf, "pos >= 1.48 m"),
        ("angle", -inf, 0.03, "pos < 0.03 m"),
        ("real", -inf, inf, ""),
        ("binary", 0.5, inf, "pos"),
        ("binary", -inf, 0.5, "not pos"),
        ("binary", 0.5, 1, "pos in [0.5, 1) m"),
        ("binary", -1, 2, ""),
        ("binary", 1, 3, "pos"),
        ("integer", 2.5, 3.5, "pos = 3 m"),
        ("integer", 2, 3, "pos = 2 m"),
        ("integer", 1.5, 6, "pos = 2 to 5 m"),
        ("integer", 2.5, inf, "pos >= 3 m"),
        ("integer", -inf, 4, "pos <= 3 m"),
        ("integer", -inf, 3.5, "pos <= 3 m"),
        ("integer", 1.2, 1.8, "pos in [1.2, 1.8) m"),
    ],
)
def test_a_clause_is_said_in_the_words_of_its_kind(kind, low, high, text):
    assert conditions.clause(Feature("pos", "m", kind), low, high) == text


@pytest.mark.parametrize(
    ("name", "contrary"),
    [
        ("left leg in contact", "left leg not in contact"),
        ("left contact", "not left contact"),
        ("door is open", "door is not open"),
        ("door open", "door not open"),
        ("in reach", "not in reach"),
        ("is open", "is not open"),
        ("has key", "has no key"),
        ("is", "not is"),
        ("contact_l", "not contact_l"),
        ("up", "not up"),
    ],
)
def test_the_contrary_of_a_flag(name, contrary):
    assert conditions.negated(name) == contrary


@given(
    bounds=st.lists(st.tuples(st.sampled_from([-inf, -1, 0, 0.5, 1, 2.5]), st.sampled_from([inf, 3, 4.5])), min_size=4),
    kinds=st.lists(st.sampled_from(["real", "binary", "integer", "angle"]), min_size=4, max_size=4),
)
def test_no_clause_says_nothing_and_none_shows_an_infinite_bound(bounds, kinds):
    schema = Schema(
        tuple(Feature(f"x{f}", "", kind) for f, kind in enumerate(kinds)), Action("discrete", labels=("a",))
    )
    lower, upper = zip(*bounds[:4], strict=True)
    told = conditions.clauses(schema, lower, upper)
    assert all(told)
    assert "inf" not in " ".join(told)
    bounded = [(low, high) != (-inf, inf) for low, high in bounds[:4]]
    says = [kind != "binary" or low > 0 for (low, _), kind in zip(bounds, kinds, strict=False)]
    assert len(told) == sum(b and s for b, s in zip(bounded, says, strict=True))
    assert sorted(conditions.clauses(schema, lower, upper, order=[3, 1, 0, 2])) == sorted(told)
