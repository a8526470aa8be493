"""Views: which features a picture shows, what holds for the others, and how axes are marked."""

from __future__ import annotations

import numpy as np
import pytest

from tests.logs import make_log
from tests.scenes.models import _fit, gears, walk
from tripletree import ParameterError
from tripletree.scenes.view import named, read_model, read_view


def counter(most, kind="integer", least=0):
    """A tree on a feature with all whole numbers up to ``most``, and one beside it."""
    numbers = np.arange(least, most + 1)
    states = np.column_stack([numbers, np.sqrt(np.abs(numbers) + 1.0)])
    actions = np.arange(len(numbers)) % 2
    log = make_log(states, actions, actions, labels=("a", "b"), names=("gear", "x"), kinds=(kind, "real"))
    return _fit(log, 3).fitted_


@pytest.mark.parametrize(("most", "ticks"), [(4, 5), (11, 12), (12, 0), (30, 0)])
def test_up_to_twelve_whole_numbers_have_a_tick_each(most, ticks):
    axis = read_view(counter(most), "gear").axis(0)
    assert axis.ticks == tuple(float(k) for k in range(ticks))
    assert axis.tick_labels == tuple(str(k) for k in range(ticks))
    assert (axis.low, axis.high) == (-0.5, most + 0.5)


def test_negative_whole_numbers_have_a_real_minus():
    assert read_view(counter(1, least=-2), "gear").axis(0).tick_labels == ("−2", "−1", "0", "1")


def test_real_numbers_have_no_ticks_of_their_own():
    axis = read_view(counter(4), "x").axis(0)
    assert axis.ticks == ()
    assert (axis.low, axis.high) == (1.0, pytest.approx(np.sqrt(5)))
    assert (named("pos", "m"), named("pos", "")) == ("pos (m)", "pos")


def test_what_holds_for_the_others_is_told_with_four_digits():
    low = walk(3).feature_min[2]
    view = read_view(walk(3), "x0", where={"x2": (low + 0.123456, low + 2.0)})
    (text,) = view.conditions
    assert text == f"x2 in [{float(f'{low + 0.123456:.4g}'):g}, {float(f'{low + 2.0:.4g}'):g})"
    fixed = read_view(walk(3), "x0", where={"x2": low + 1.234567})
    assert fixed.conditions == [f"x2 = {float(f'{low + 1.234567:.4g}'):g}"]


def test_whole_numbers_are_told_in_the_words_of_their_kind():
    fitted = gears()
    assert read_view(fitted, "x", where={"gear": (1, 3)}).conditions == ["gear = 1 to 2"]
    assert read_view(fitted, "x", where={"gear": 2}).conditions == ["gear = 2"]
    assert read_view(fitted, "x", where={"on": 1}).conditions == ["on"]
    assert read_view(fitted, "x", where={"on": 0, "gear": (3, None)}).conditions == ["not on", "gear >= 3"]


def test_features_are_averaged_limited_or_fixed():
    fitted = walk(4)
    state = (fitted.feature_min + fitted.feature_max) / 2
    view = read_view(fitted, "x1", "x3", where={"x0": (state[0], None)}, at=state)
    assert (view.axes, view.others, view.averaged) == ((1, 3), [0, 2], [0])
    assert not view.direct
    assert read_view(fitted, "x1", "x3", at=state).direct
    assert read_view(fitted, "x1", "x3").averaged == [0, 2]
    assert read_view(fitted, "x1", where={"x0": state[0]}).averaged == [2, 3]


def test_only_leaves_within_the_limits_are_seen():
    fitted = walk(3)
    lower, upper = fitted.bounds
    number = float((fitted.feature_min[2] + fitted.feature_max[2]) / 2)
    fixed = read_view(fitted, "x0", where={"x2": number}).leaves
    assert fixed.tolist() == np.flatnonzero((lower[:, 2] <= number) & (number < upper[:, 2])).tolist()
    above = read_view(fitted, "x0", where={"x2": (number, None)}).leaves
    assert above.tolist() == np.flatnonzero(upper[:, 2] > number).tolist()
    below = read_view(fitted, "x0", where=f"x2 < {number!r}").leaves
    assert below.tolist() == np.flatnonzero(lower[:, 2] < number).tolist()


@pytest.mark.parametrize(
    ("where", "message"),
    [
        (
            {"x2": (1e9, None)},
            "it asks for x2 >= 1000000000, but in the log `x2` ranges from",
        ),
        ({"x2": (None, -1e9)}, "where lies outside the data"),
        ("x2 > 1e9", "where lies outside the data: it asks for x2 > 1000000000"),
        ("end", r"where must limit features; got 'end'. Try where=\"x1 > 0\""),
        ({"x0": (0, 1)}, "where limits `x0`, an axis of the picture; it may limit other features only"),
        ({"value": (0, 1)}, "The tree has no feature 'value'; it has `x0`, `x1`, `x2`"),
    ],
)
def test_limits_that_are_wrong(where, message):
    with pytest.raises(ParameterError, match=message):
        read_view(walk(3), "x0", where=where)


def test_a_limit_at_the_very_end_of_the_log_is_not_outside():
    fitted = walk(3)
    least, most = float(fitted.feature_min[2]), float(fitted.feature_max[2])
    assert len(read_view(fitted, "x0", where={"x2": most}).leaves)
    assert len(read_view(fitted, "x0", where={"x2": least}).leaves)


def test_a_model_is_a_fitted_tree():
    assert read_model(walk(3)) is walk(3)
    with pytest.raises(ParameterError, match="model must be a fitted TripleTree; got dict"):
        read_model({})
