from __future__ import annotations

from math import inf, nextafter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tripletree import Action, Feature, Schema
from tripletree.language import conditions
from tripletree.language.numbers import exact


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


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (-inf, 1.5, "pos < 1.5 m"),
        (-inf, nextafter(1.5, inf), "pos <= 1.5 m"),
        (1.5, inf, "pos >= 1.5 m"),
        (nextafter(1.5, inf), inf, "pos > 1.5 m"),
        (1.0, 2.0, "pos in [1, 2) m"),
        (nextafter(1.0, inf), nextafter(2.0, inf), "pos in (1, 2] m"),
        (1.5, 1.5, "pos = 1.5 m"),
        (-inf, inf, "any pos"),
        (0.1, 0.30000000000000004, "pos in [0.1, 0.3] m"),  # the next number above 0.3
        (1 / 3, 2 / 3, "pos in [0.333333, 0.666667) m"),
    ],
)
def test_an_interval_is_written_as_people_write_it(low, high, text):
    assert conditions.condition("pos", low, high, "m") == text


@given(st.floats(-1e6, 1e6).map(lambda x: round(x, 2)))
def test_the_next_number_above_a_short_one_is_read_as_the_short_one(number):
    assert conditions.readable(number) == (exact(number), False)
    assert conditions.readable(nextafter(number, inf)) == (exact(number), True)


@pytest.mark.parametrize(
    ("numbers", "text"),
    [
        ([3], "leaf 3"),
        ([3, 4], "leaves 3 and 4"),
        ([1, 2, 3, 4, 5, 6], "leaves 1, 2, 3, 4, 5 and 6"),
        ([1, 2, 3, 4, 5, 6, 7], "7 leaves"),
    ],
)
def test_six_leaves_are_named_and_more_are_counted(numbers, text):
    assert conditions.leaves(numbers) == text


def test_a_state_is_reminded_of_with_four_digits():
    schema = Schema((Feature("pos", "m"), Feature("speed")), Action("discrete", labels=("a",)))
    assert conditions.state(schema, [1.23456, -0.000123456]) == "pos = 1.235 m, speed = -0.0001235"
    assert conditions.state(schema, [1234567.0, 0.0]) == "pos = 1235000 m, speed = 0"


@pytest.mark.parametrize(
    ("low", "high", "inside", "outside"),
    [
        (1.0, 2.0, [1.0, 1.999], [0.999, 2.0]),
        (1.0, 1.0, [1.0], [0.999, 1.001]),
        (-inf, 2.0, [-1e300, 1.999], [2.0]),
        (1.0, inf, [1.0, 1e300], [0.999]),
    ],
)
def test_an_interval_holds_its_lower_end_and_not_its_upper_one(low, high, inside, outside):
    interval = conditions.Interval(low, high)
    assert interval.holds(np.array(inside)).all()
    assert not interval.holds(np.array(outside)).any()


def test_labels_and_changed_features_in_words():
    assert conditions.actions(["left"]) == "action = left"
    assert conditions.actions(["left", "right"]) == "action = left or right"
    assert conditions.changed_clause(Feature("pos", "m"), "<=", 1.5) == "pos <= 1.5 m"
