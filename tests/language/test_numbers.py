from __future__ import annotations

import pytest

from tripletree.language import numbers


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (1.48, "1.48"),
        (3.0, "3"),
        (-0.0, "0"),
        (0.1234567, "0.1234567"),
        (0.0312499997, "0.03125"),
        (1 / 3, "0.333333"),
        (1e-7, "1e-07"),
        (123456789.0, "1.23457e+08"),
        (120000000.0, "120000000"),
        (1e12, "1e+12"),
        (float("inf"), "inf"),
    ],
)
def test_a_number_with_few_digits_is_printed_exactly(number, text):
    assert numbers.exact(number) == text


def test_counts_shares_and_lists():
    assert [numbers.count(n, "leaf", "leaves") for n in (1, 2, 1200)] == ["1 leaf", "2 leaves", "1,200 leaves"]
    assert [numbers.percent(share) for share in (0.004, 0.123, 0.994, 0.996, 1)] == [
        "0.4 %",
        "12 %",
        "99.4 %",
        "99.6 %",
        "100 %",
    ]
    assert [numbers.all_of(list("abc")[:n]) for n in range(4)] == ["", "a", "a and b", "a, b and c"]
    assert (numbers.unit("m"), numbers.unit("")) == (" m", "")


@pytest.mark.parametrize(
    ("text", "begun"),
    [
        ("main engine = 1", "Main engine = 1"),
        ("pos = 1", "pos = 1"),
        ("v_x = 1", "v_x = 1"),
        ("Speed", "Speed"),
        ("", ""),
    ],
)
def test_a_sentence_does_not_rename_a_variable(text, begun):
    assert numbers.capital(text) == begun


@pytest.mark.parametrize(
    ("mean", "std", "text"),
    [
        (12.3456, 2.06, "12.3 ± 2.1"),
        (12.3456, 0, "12.35"),
        (-0.0003, 0.31, "0 ± 0.31"),
        (1234.5, 210.0, "1230 ± 210"),
        (5.0, 1e-17, "5"),
        (5.0, float("inf"), "5"),
    ],
)
def test_a_mean_has_as_many_places_as_its_spread_deserves(mean, std, text):
    assert numbers.measured(mean, std) == text


def test_what_is_almost_all_is_not_all():
    assert [numbers.percent(x) for x in (0.9999, 0.999996, 1 - 1e-12)] == ["99.99 %", "99.9996 %", "100 %"]
