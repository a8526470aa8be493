"""Ticks, legends and shades, which matplotlib, the report and the browser have in common."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.scenes.models import gears, walk
from tripletree.scenes.colours import CATEGORIES, OTHER, VIRIDIS
from tripletree.scenes.guides import (
    LEVELS,
    bar_axis,
    category_entries,
    category_scale,
    log_numbers,
    marked,
    palette,
    power_of_ten,
    round_numbers,
    shade_of,
    shades,
    share,
    tick_texts,
)
from tripletree.scenes.leaf_map import leaf_map
from tripletree.scenes.tree import diagram
from tripletree.scenes.types import Axis, ColourScale, Rectangles
from tripletree.scenes.view import read_view

HEIGHT = ColourScale("height (m)", VIRIDIS, 0.0, 10.0)
finite = st.floats(-1e15, 1e15)


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0, 3, [0, 1, 2, 3]),
        (7e-6, 2.9999, [0, 1, 2, 3]),
        (-0.1, 0.1, [-0.1, -0.05, 0, 0.05, 0.1]),
        (0, 1.14, [0, 0.25, 0.5, 0.75, 1]),
        (0.2, 0.4, [0.2, 0.25, 0.3, 0.35, 0.4]),
        (5, 5, [5]),
    ],
)
def test_ticks_are_round_numbers(low, high, expected):
    assert round_numbers(low, high) == expected


@given(low=finite, size=st.floats(1e-9, 1e9), most=st.integers(2, 8))
def test_ticks_are_few_equally_far_apart_and_on_the_axis(low, size, most):
    high = low + size * max(abs(low), 1.0)
    ticks = round_numbers(low, high, most)
    assert 2 <= len(ticks) <= most + 2  # a range that ends a hair short of a round number on both sides has one more
    hair = 0.021 * (high - low)
    assert low - hair <= ticks[0] < ticks[-1] <= high + hair
    steps = np.diff(ticks)
    assert steps == pytest.approx([steps[0]] * len(steps), rel=1e-6)


@given(low=finite, size=st.floats(1e-9, 1e9), most=st.integers(2, 8))
def test_texts_of_ticks_tell_them_apart_and_give_them_back(low, size, most):
    axis = marked(Axis("x", low, low + size * max(abs(low), 1.0)), most)
    assert len(set(axis.tick_labels)) == len(axis.ticks)
    _, _, power = axis.label.partition(", in 1e")
    numbers = [float(text.replace("−", "-")) * 10.0 ** int(power or 0) for text in axis.tick_labels]
    step = axis.ticks[1] - axis.ticks[0]
    assert numbers == pytest.approx(list(axis.ticks), rel=1e-15, abs=0.01 * step)
    assert not any(text.strip("−0.") == "" and "−" in text for text in axis.tick_labels)


def test_texts_have_the_same_decimals_and_a_real_minus():
    assert marked(Axis("x", -0.3, 0.3), 4).tick_labels == ("−0.2", "0.0", "0.2")
    assert marked(Axis("x", 0.0, 1.1)).tick_labels == ("0.00", "0.25", "0.50", "0.75", "1.00")


@pytest.mark.parametrize(
    ("low", "high", "label", "texts"),
    [
        (1e-9, 9e-9, "x (m), in 1e-9", ("2", "4", "6", "8")),
        (0, 2.5e7, "x (m), in 1e7", ("0.0", "0.5", "1.0", "1.5", "2.0", "2.5")),
        (0, 9e4, "x (m)", ("0", "20000", "40000", "60000", "80000")),
        (-2e-3, 0, "x (m)", ("−0.0020", "−0.0015", "−0.0010", "−0.0005", "0.0000")),
        # Seconds since 1970: long texts are fewer.
        (1_700_000_000, 1_700_000_100, "x (m), in 1e9", ("1.70000000", "1.70000005", "1.70000010")),
    ],
)
def test_tiny_and_huge_numbers_have_their_power_in_the_label(low, high, label, texts):
    axis = marked(Axis("x (m)", low, high))
    assert axis.label == label
    assert axis.tick_labels == texts


@pytest.mark.parametrize(("low", "high"), [(0.0, 1e-310), (-1e308, 1e308)])
def test_ranges_beyond_all_bounds_have_one_tick(low, high):
    axis = marked(Axis("x", low, high))
    assert axis.ticks == (low,)
    assert len(axis.tick_labels) == 1


def test_low_pictures_have_few_ticks():
    assert len(marked(Axis("x", 0.0, 10.0)).ticks) == 6
    assert marked(Axis("x", 0.0, 10.0, upright=True)).ticks == (0, 5, 10)
    # One tick alone would not tell the scale.
    assert len(marked(Axis("x", -0.9, 0.8, upright=True)).ticks) == 3


def test_ticks_of_a_scenes_own_stay_as_far_as_they_are_seen():
    axis = Axis("gear", -0.5, 4.5, ticks=(0.0, 1.0, 2.0, 3.0, 4.0), tick_labels=tuple("abcde"))
    assert marked(axis).ticks == axis.ticks
    zoomed = marked(replace(axis, low=0.5, high=2.5))
    assert (zoomed.ticks, zoomed.tick_labels) == ((1.0, 2.0), ("b", "c"))


def test_marking_twice_changes_nothing():
    for axis in (Axis("x", 0.0, 3e7), Axis("x", 1.0, 1e4, log=True), Axis("x", 0.0, 1.0, upright=True)):
        assert marked(marked(axis)).to_dict() == marked(axis).to_dict()


@pytest.mark.parametrize(
    ("low", "high", "ticks", "texts"),
    [
        (1, 1000, [1, 10, 100, 1000], ("1", "10", "100", "1000")),
        (5, 5e8, [10.0**k for k in range(1, 9)], ("10¹", "10²", "10³", "10⁴", "10⁵", "10⁶", "10⁷", "10⁸")),
        (
            1e-12,
            1,
            [1e-12, 1e-10, 1e-8, 1e-6, 1e-4, 1e-2, 1],
            ("10⁻¹²", "10⁻¹⁰", "10⁻⁸", "10⁻⁶", "10⁻⁴", "10⁻²", "10⁰"),
        ),
        (2, 50, [2, 5, 10, 20, 50], ("2", "5", "10", "20", "50")),
        (2, 8, [2, 3, 4, 6, 8], ("2", "3", "4", "6", "8")),
        (90, 110, [90, 95, 100, 105, 110], ("90", "95", "100", "105", "110")),
        (1.2e8, 1.3e8, [1.2e8, 1.22e8, 1.24e8, 1.26e8, 1.28e8, 1.3e8], None),
    ],
)
def test_ticks_of_a_log_scale_are_powers_of_ten_or_round_numbers(low, high, ticks, texts):
    assert log_numbers(low, high) == pytest.approx(ticks)
    if texts is not None:
        assert marked(Axis("n", low, high, log=True)).tick_labels == texts


def test_powers_of_ten_may_be_multiplied():
    assert marked(Axis("n", 1.2e8, 1.3e8, log=True)).tick_labels[:2] == ("1.2×10⁸", "1.22×10⁸")


@given(low=st.floats(1e-12, 1e12), factor=st.floats(1.001, 1e12))
def test_ticks_of_a_log_scale_are_several_and_on_it(low, factor):
    axis = marked(Axis("n", low, low * factor, log=True))
    assert 2 <= len(axis.ticks) <= 12
    assert len(set(axis.tick_labels)) == len(axis.ticks)
    assert all(a < b for a, b in itertools.pairwise(axis.ticks))
    assert low * (1 - 1e-8) <= axis.ticks[0]
    assert axis.ticks[-1] <= low * factor * (1 + 1e-8)


def test_shares_of_an_axis():
    assert share(Axis("x", 2.0, 4.0), np.array([2.0, 2.5, 5.0])).tolist() == [0, 0.25, 1.5]
    assert share(Axis("n", 1.0, 1e4, log=True), np.array([1.0, 100.0])) == pytest.approx([0, 0.5])
    assert math.isfinite(share(Axis("n", 1.0, 1e4, log=True), np.array([0.0]))[0])


def test_the_axis_of_a_bar_is_that_of_its_scale():
    assert bar_axis(HEIGHT).tick_labels == ("0", "2", "4", "6", "8", "10")
    amount = bar_axis(ColourScale("samples", VIRIDIS, 1.0, 1000.0, "log"))
    assert amount.log
    assert amount.ticks == (1, 10, 100, 1000)


def test_few_labels_have_colours_of_their_own():
    scale = category_scale("acc", ("a", "b"), np.array([1.0, 2.0]))
    assert scale.stops == CATEGORIES[:2]
    assert [(entry.label, entry.colour) for entry in category_entries(scale)] == [
        ("acc = a", CATEGORIES[0]),
        ("acc = b", CATEGORIES[1]),
    ]


def test_the_rarest_of_many_labels_are_one_entry_at_the_end():
    labels = tuple("abcdefghijkl")
    scale = category_scale("act", labels, np.array([9, 1, 8, 7, 2, 6, 5, 4, 3, 1, 0, 0.0]))
    assert [name for name, stop in zip(labels, scale.stops, strict=True) if stop == OTHER] == list("bejkl")
    entries = category_entries(scale)
    assert [entry.label for entry in entries] == [*(f"act = {name}" for name in "acdfghi"), "5 others"]
    assert [entry.colour for entry in entries] == [*CATEGORIES, OTHER]


def test_an_eighth_label_keeps_its_name():
    entries = category_entries(category_scale("act", tuple("abcdefgh"), np.arange(8.0)))
    assert (entries[0].label, entries[0].colour) == ("act = a", OTHER)


def test_counts_that_were_shares_once_break_ties_as_counts():
    weight = np.full(9, 3.0)
    weight[1::2] -= 4e-16
    assert category_scale("act", tuple("abcdefghi"), weight).stops == (*CATEGORIES, OTHER, OTHER)


def test_numbers_have_no_categories():
    assert category_entries(HEIGHT) == category_entries(None) == ()


def test_shades_go_from_end_to_end_and_know_what_is_missing():
    code = shade_of(HEIGHT, np.array([0.0, 10.0, 99.0, np.nan]))
    assert (shades(HEIGHT)[code[0]], shades(HEIGHT)[code[1]]) == (VIRIDIS[0], VIRIDIS[-1])
    assert (code[2], code[3]) == (code[1], -1)
    log = ColourScale("n", VIRIDIS, 1.0, 100.0, "log")
    assert shade_of(log, np.array([10.0]))[0] == pytest.approx(len(shades(log)) / 2, abs=1)
    assert len(shades(HEIGHT)) == len(palette(HEIGHT)) == LEVELS


def test_a_thousand_labels_have_eight_shades():
    scale = category_scale("act", tuple(map(str, range(1000))), np.arange(1000.0))
    assert shades(scale) == (OTHER, *CATEGORIES)
    codes = shade_of(scale, np.array([0.0, 992.0, 993.0, 999.0, np.nan]))
    assert codes.tolist() == [0, 0, 1, 7, -1]
    assert palette(scale)[0].tolist() == [0xB3] * 3


def test_an_action_has_the_same_colour_on_a_map_and_in_the_tree():
    for fitted in (gears(), walk(features=2, labels=8)):
        names = fitted.schema.feature_names[:2]
        scale = leaf_map(read_view(fitted, *names, at=fitted.feature_min), "action").colours
        tree = diagram(fitted, 1)
        entries = {entry.label: entry.colour for entry in tree.legend}
        assert {entry.label: entry.colour for entry in category_entries(scale)}.items() <= entries.items()
        drawn = {mark.fill for mark in tree.marks if isinstance(mark, Rectangles)}
        assert set(scale.stops) <= drawn


def test_whole_numbers_have_a_tick_each_while_they_are_few():
    view = read_view(gears(), "gear", "on", at=[0.5, 0, 0])
    assert (view.axis(0).ticks, view.axis(0).tick_labels) == ((0, 1, 2, 3, 4), ("0", "1", "2", "3", "4"))
    assert view.axis(1).ticks == (0, 1)


@pytest.mark.parametrize(
    ("low", "high", "power"),
    [
        (0.0, 0.00099, -4),
        (0.0, 0.001, 0),  # three zeros are fine, four are not
        (0.0, 99_999.0, 0),
        (0.0, 100_000.0, 5),
        (-100_000.0, 0.0, 5),
        (0.0, 0.0, 0),
        (0.0, 1e-320, -300),
    ],
)
def test_numbers_have_at_most_five_digits_and_three_zeros(low, high, power):
    assert power_of_ten(Axis("x", low, high)) == power
    assert power_of_ten(Axis("x", max(low, 1e-320), max(high, 1e-319), log=True)) == 0


@pytest.mark.parametrize(
    ("ticks", "texts"),
    [
        ([0.001, 0.01, 0.1], ("0.001", "0.01", "0.1")),
        ([0.0001, 0.001, 0.01], ("10⁻⁴", "10⁻³", "10⁻²")),
        ([1000.0, 10_000.0], ("1000", "10000")),
        ([10_000.0, 100_000.0], ("10⁴", "10⁵")),
    ],
)
def test_powers_are_written_out_while_they_are_short(ticks, texts):
    assert tick_texts(Axis("n", ticks[0], ticks[-1], log=True), ticks) == texts


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (1e0, 1e1, [1, 2, 5, 10]),
        (1e0, 1e2, [1, 10, 100]),  # three powers are enough
        (1e0, 1e5, [1, 10, 1e2, 1e3, 1e4, 1e5]),
        (1e0, 1e9, [10.0**k for k in range(10)]),
        (1e0, 1e10, [10.0**k for k in range(0, 11, 2)]),  # from eleven on every second
        (1e0, 1e15, [10.0**k for k in range(0, 16, 3)]),
    ],
)
def test_of_many_powers_every_second_or_third_has_a_tick(low, high, ticks):
    assert log_numbers(low, high) == pytest.approx(ticks)


@pytest.mark.parametrize(
    ("low", "high", "first"),
    [
        (0.0, 10.0, 0),
        (0.15, 10.0, 0),  # a hair above 0: a range that nearly begins with it does
        (0.3, 10.0, 2),
    ],
)
def test_a_range_that_begins_a_hair_above_a_round_number_begins_with_it(low, high, first):
    assert round_numbers(low, high)[0] == first


def test_a_picture_has_room_for_five_intervals_and_a_low_one_for_two():
    assert len(round_numbers(0, 10)) - 1 == 5
    assert len(marked(Axis("x", 0.0, 6.0)).ticks) - 1 == 3  # steps of 2: those of 1 would be six
    assert len(marked(Axis("x", 0.0, 10.0, upright=True)).ticks) - 1 == 2
    assert marked(Axis("x", 0.0, 10.0, upright=True), most=1).ticks == (0, 10)


def test_texts_of_more_than_eight_characters_have_half_as_many_ticks():
    eight, nine = marked(Axis("x", 1.0, 1.00001)), marked(Axis("x", 1.0, 1.000001))
    assert [len(text) for text in eight.tick_labels] == [8] * 6
    assert [len(text) for text in nine.tick_labels] == [9] * 3


def test_every_shade_of_a_scale_is_different():
    assert len(set(shades(HEIGHT))) == 200
