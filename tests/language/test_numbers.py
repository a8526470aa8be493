"""Numbers as people read them: as many digits as they deserve, shares that are never rounded up to all."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tripletree.language import numbers


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (1.48, "1.48"),
        (3.0, "3"),
        (-0.0, "0"),
        (0.1234567, "0.1234567"),
        (0.12345678, "0.12345678"),  # eight digits are few enough
        (0.123456789, "0.123457"),
        (12345678.0, "12345678"),
        (-1234.56789, "-1234.57"),
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


def test_shares_and_lists():
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


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.0, "0 %"),
        (0.00012, "0.012 %"),
        (0.0994, "9.9 %"),
        (0.125, "12 %"),
        (0.5, "50 %"),
        (0.984, "98 %"),
        (0.9899, "99 %"),
        (0.99, "99 %"),
        (0.9949, "99.5 %"),
        (0.995, "99.5 %"),
        (0.9951, "99.5 %"),
        (0.999, "99.9 %"),
        (0.99999, "99.999 %"),
        (1 - 1e-8, "99.999999 %"),
        (1 - 1e-10, "100 %"),
        (1.0, "100 %"),
        (1.3, "100 %"),
    ],
)
def test_shares_have_two_digits_and_nearly_all_has_as_many_nines_as_it_needs(share, text):
    assert numbers.percent(share) == text


@given(st.floats(0, 1))
def test_a_share_below_all_is_never_called_all_and_never_far_off(share):
    text = numbers.percent(share)
    shown = float(text.removesuffix(" %")) / 100
    assert (shown == 1) == (share >= 1 - 1e-9)
    assert shown == pytest.approx(share, rel=0.051)


@given(st.floats(0, 1), st.floats(0, 1))
def test_larger_shares_are_not_shown_as_smaller_ones(one, other):
    low, high = sorted((one, other))
    assert float(numbers.percent(low).removesuffix(" %")) <= float(numbers.percent(high).removesuffix(" %"))


@pytest.mark.parametrize(
    ("std", "text"),
    [
        (1e-11, "0.123457 ± 1e-11"),  # of more than eight digits six are left
        (9.9e-12, "0.1235"),  # the spread is rounding error
        (0.096, "0.123 ± 0.096"),
        (0.1, "0.12 ± 0.1"),
        (0.99, "0.12 ± 0.99"),
        (1.0, "0.1 ± 1"),
        (10.0, "0 ± 10"),
        (float("nan"), "0.1235"),
    ],
)
def test_a_mean_has_the_places_of_the_second_digit_of_its_spread(std, text):
    assert numbers.measured(0.123456789012, std) == text


@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e6))
def test_a_mean_is_off_by_less_than_a_tenth_of_its_spread(mean, std):
    shown, _, spread = numbers.measured(mean, std).partition(" ± ")
    # Six digits are left of very long numbers.
    assert float(shown) == pytest.approx(mean, abs=0.1 * std + 1e-5 * abs(mean))
    assert float(spread) == pytest.approx(std, rel=0.06)


def test_rounded_numbers_have_four_digits():
    assert [numbers.rounded(x) for x in (1.23456, 0.000123456, 123456.0, -0.0)] == ["1.235", "0.0001235", "123500", "0"]
    assert numbers.rounded(1.23456, 2) == "1.2"


@pytest.mark.parametrize(
    ("text", "begun"),
    [("gas = 1", "gas = 1"), ("gear = 1", "Gear = 1"), ("gear2 = 1", "gear2 = 1"), ("  ", "  "), ("gEar", "gEar")],
)
def test_words_of_four_letters_begin_a_sentence_and_shorter_ones_are_variables(text, begun):
    assert numbers.capital(text) == begun


def test_intervals_have_three_digits():
    assert numbers.between((0.12345, 0.98765)) == " (95 % interval 0.123 to 0.988)"
    assert numbers.between(None) == ""


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_is_never_far_from_what_is_printed(number):
    shown = float(numbers.exact(number))
    assert shown == pytest.approx(number, rel=5e-6, abs=0)
    assert not math.copysign(1, shown) < 0 or number < 0


@pytest.mark.parametrize(
    ("number", "digits", "result"),
    [
        (1.2345, 3, 1.23),
        (-0.00012345, 2, -0.00012),
        (1234.5, 2, 1200.0),
        (0.0, 4, 0.0),
        (9.99, 2, 10.0),
        (1e300, 1, 1e300),
    ],
)
def test_significant_digits(number, digits, result):
    assert numbers.significant(number, digits) == result
    assert numbers.rounded(number, digits) == numbers.exact(result)


@pytest.mark.parametrize(
    ("low", "high", "end"),
    [
        (-1.0, 1.0, 0.0),
        (-1.0, 0.0, 0.0),  # 0 itself lies above -1
        (0.0, 1.0, 0.5),
        (1.0, 2.0, 2.0),  # with one digit, the middle is 2
        (0.31, 0.32, 0.32),
        (0.3141, 0.3199, 0.317),
        (-2.0, -1.0, -1.5),  # -2 itself is not above -2
        (1e-9, 2e-9, 2e-9),
        (6.0, 11.0, 8.0),  # where the kernel, which counts places from 11, takes 10
    ],
)
def test_between_two_numbers_lies_zero_or_a_short_one(low, high, end):
    assert numbers.short_between(low, high) == end


@given(low=st.floats(-1e6, 1e6), width=st.floats(1e-9, 1e6))
def test_what_lies_between_is_above_the_lower_and_at_most_the_upper(low, width):
    for high in (max(low + width, math.nextafter(low, math.inf)), math.nextafter(low, math.inf)):
        assert low < numbers.short_between(low, high) <= high


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (98_312.4, "98,300"),
        (1_000.4, "1,000"),
        (999.4, "999"),
        (12.345, "12.3"),
        (0.5, "0.5"),
        (0.0, "0"),
        (1.23456e9, "1,230,000,000"),
        (math.inf, "inf"),
    ],
)
def test_estimates_are_counted_as_people_count(number, text):
    assert numbers.estimate(number) == text


@pytest.mark.parametrize(
    ("number", "text"),
    [(-384.2, "-380"), (412.0, "410"), (99.7, "100"), (996.0, "1,000"), (12.3, "12"), (0.0123, "0.012")],
)
def test_two_digits_need_no_exponent(number, text):
    assert numbers.estimate(number, 2) == text


def test_intervals_of_estimates():
    assert numbers.between((1_234.5, 98_312.0)) == " (95 % interval 1,230 to 98,300)"
    assert numbers.between((0.1234, 0.5)) == " (95 % interval 0.123 to 0.5)"
    assert numbers.between(None) == ""


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=2, max_size=6))
def test_numbers_told_apart_read_differently(given_numbers):
    found = sorted(set(given_numbers))
    digits = numbers.digits_apart(found)
    for a, b in itertools.pairwise(found):
        assert b <= math.nextafter(a, math.inf) or numbers.exact(a, digits) != numbers.exact(b, digits)


@pytest.mark.parametrize(
    ("one", "other", "texts"),
    [
        (0.5, 2.25, ("0.5", "2.25")),
        (1000.12, 1000.37, ("1000.1", "1000.4")),
        (-1000.12, 1000.12, ("-1000", "1000")),
        (7.0, 7.0, ("7", "7")),
        (0.1 + 0.2, 0.3, ("0.30000000000000004", "0.3")),
    ],
)
def test_two_numbers_that_differ_read_differently(one, other, texts):
    assert numbers.rounded_apart(one, other) == texts


@given(st.floats(-1e12, 1e12), st.floats(-1e12, 1e12))
def test_any_two_numbers_that_differ_read_differently(one, other):
    first, second = numbers.rounded_apart(one, other)
    assert (first == second) == (one == other)
