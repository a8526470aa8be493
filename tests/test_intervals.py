"""The one rule of intervals (docs/glossary.md): a pair means ``low <= x < high`` in foils, zones and pictures.

The largest value on record counts as inside an upper bound that it equals. Text means what it says.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.logs import make_log, random_log
from tests.questions.trees import random_fitted
from tests.test_api import quietly_fitted
from tripletree import ParameterError
from tripletree.asking.agents import confirms
from tripletree.asking.attribute import read_attribute
from tripletree.asking.foils import read_foil
from tripletree.asking.places import read_zone
from tripletree.language.conditions import Interval, read_interval
from tripletree.scenes import overlays
from tripletree.scenes.view import read_view


def by_the_rule(numbers, low, high, largest):
    """What the glossary says, number by number."""
    found = []
    for x in np.asarray(numbers).tolist():
        above = low is None or x >= low
        below = high is None or x < high or (x == high == largest)
        found.append(above and below)
    return found


def zone_is(fitted, zone, expected):
    """Check that a zone has just the expected leaves; one without any is refused."""
    if np.any(expected):
        assert read_zone(fitted, zone).mask.tolist() == [*np.asarray(expected).tolist(), False]
        return
    with pytest.raises(ParameterError, match="zone is empty: no leaf has"):
        read_zone(fitted, zone)


def bounds_near(numbers):
    """Bounds of which many equal one of some numbers, so that ends matter."""
    near = st.sampled_from(sorted(set(np.asarray(numbers).tolist())))
    return st.none() | near | st.floats(-3, 3).map(lambda x: round(x, 1))


def pair_near(data, numbers):
    low, high = data.draw(bounds_near(numbers), "low"), data.draw(bounds_near(numbers), "high")
    assume(low is not None or high is not None)
    assume(low is None or high is None or low < high)
    return low, high


@pytest.mark.parametrize(
    ("wanted", "inside", "outside"),
    [
        ((0.5, 1.0), [0.5, 0.75, 1.0], [0.499, 1.001]),  # 1.0 is the largest on record
        ((0.5, 0.75), [0.5, 0.7], [0.75, 1.0]),
        ((0.5, 2.0), [0.5, 1.0, 1.5], [2.0]),
        ((None, 1.0), [-9.0, 1.0], [1.001]),
        ((0.5, None), [0.5, 1.0, 9.0], [0.4]),
        (1.0, [1.0], [0.999, 1.001]),
        ([0.25, 0.5], [0.25], [0.5]),
        (Interval(0.5, 1.0), [0.5], [1.0]),  # what text becomes is as it says
    ],
)
def test_what_a_pair_and_a_number_mean(wanted, inside, outside):
    found = read_interval(wanted, "zone['x']", 1.0)
    assert found.holds(np.array(inside)).all()
    assert not found.holds(np.array(outside)).any()


def test_where_the_record_is_of_means_larger_numbers_are_inside_too():
    """No leaf does more than 0.9 on average, and yet the agent may do 1.0."""
    assert read_interval((0.5, 1.0), "foil['x']", 0.9, means=True).holds(np.array([1.0])).all()
    assert read_interval((0.5, 0.9), "foil['x']", 0.9, means=True).holds(np.array([0.9])).all()
    assert not read_interval((0.5, 0.8), "foil['x']", 0.9, means=True).holds(np.array([0.8])).any()
    assert not read_interval((0.5, 1.0), "foil['x']", 0.9).holds(np.array([1.0])).any()


@given(data=st.data(), seed=st.integers(0, 999), discrete=st.booleans())
def test_a_foil_and_a_zone_with_the_same_dict_select_the_same_leaves(data, seed, discrete):
    fitted = random_fitted(seed, 2, 10, discrete=discrete)
    keys = ["value", *(f"derivative of {name}" for name in fitted.schema.feature_names)]
    keys += [] if discrete else ["main", "side"]
    wanted = {}
    for key in data.draw(st.lists(st.sampled_from(keys), min_size=1, max_size=2, unique=True), "keys"):
        wanted[key] = pair_near(data, read_attribute(fitted, key).leaves)
    if discrete and data.draw(st.booleans(), "action"):
        wanted["action"] = data.draw(st.sampled_from(["left", ["right", "brake"]]), "labels")
    foil = read_foil(fitted, wanted)
    zone_is(fitted, wanted, foil.mask)
    # And both are what the rule says of each leaf's prediction.
    expected = np.ones(fitted.tree.n_leaves, bool)
    for key, one in wanted.items():
        attribute = read_attribute(fitted, key)
        if attribute.labels:
            names = np.array(attribute.labels)[attribute.leaves]
            expected &= np.isin(names, one)
        else:
            expected &= by_the_rule(attribute.leaves, *one, attribute.leaves.max())
    assert foil.mask.tolist() == expected.tolist()


@given(data=st.data(), seed=st.integers(0, 999))
def test_text_on_predictions_means_what_it_says_in_foils_and_zones(data, seed):
    fitted = random_fitted(seed, 2, 10)
    value = read_attribute(fitted, "value").leaves
    number = data.draw(st.sampled_from(sorted(set(value.tolist()))), "number")
    for sign, holds in (("<", value < number), ("<=", value <= number), (">", value > number), (">=", value >= number)):
        text = f"value {sign} {number!r}"
        assert read_foil(fitted, text).mask.tolist() == holds.tolist()
        zone_is(fitted, text, holds)
    least = float(value.min())
    for closing, holds in ((")", value < number), ("]", value <= number)):
        if least < number or closing == "]":
            text = f"value in [{least!r}, {number!r}{closing}"
            assert read_foil(fitted, text).mask.tolist() == holds.tolist()
            zone_is(fitted, text, holds)


def throttle():
    """Full throttle, 1.0, from 2 on; below that half of it and nothing."""
    pos = [0.0, 0.5, 1.0, 1.5, 2.0, 2.5]
    push = [0.0, 0.0, 0.5, 0.5, 1.0, 1.0]
    log = make_log([[x] for x in pos], push, push, np.arange(7), names=("pos",))
    return quietly_fitted(log, theta=(1, 0, 0), gamma=0.0, max_leaves=3).fitted_


@pytest.mark.parametrize(
    ("wanted", "leaves"),
    [
        ({"a0": (0.5, 1.0)}, [1, 2]),
        ({"a0": (0.5, 0.99)}, [1]),
        ({"a0": (0, 0.5)}, [0]),
        ({"a0": 1.0}, [2]),
        ({"value": (0.5, 1.0)}, [1, 2]),
        ("a0 in [0.5, 1]", [1, 2]),
        ("a0 in [0.5, 1)", [1]),
        ("a0 < 1", [0, 1]),
        ("a0 <= 1", [0, 1, 2]),
        ("a0 > 0.5", [2]),
        ("value in [0.5, 1)", [1]),
    ],
)
def test_full_throttle_lies_in_half_to_full(wanted, leaves):
    fitted = throttle()
    assert np.flatnonzero(read_foil(fitted, wanted).mask).tolist() == leaves
    assert read_zone(fitted, wanted).leaves.tolist() == leaves


def test_an_agent_at_full_throttle_confirms_what_no_leaf_does_on_average():
    """The engine does 0.9 at most on average; agents that do 1.0 do what (0.5, 1.0) asks for, and 0.8 is below 0.9."""
    fitted = random_fitted(3, 2, 6, discrete=False)
    at = fitted.attributes
    mean = at.action_mean.copy()
    mean[:, 0] = np.linspace(0.1, 0.9, len(mean))
    mean[fitted.tree.leaf_nodes[0], 0] = 0.9
    fitted = replace(fitted, attributes=replace(at, action_mean=mean))
    actions = np.array([[0.4, 0.0], [0.5, 0.0], [0.8, 0.0], [1.0, 0.0], [1.1, 0.0]])

    def held(foil):
        return confirms(read_foil(fitted, foil), actions).tolist()

    assert held({"main": (0.5, 1.0)}) == [False, True, True, True, False]
    assert held({"main": (0.5, 0.8)}) == [False, True, False, False, False]
    assert held("main in [0.5, 1)") == [False, True, True, False, False]
    assert held("main in [0.5, 1]") == [False, True, True, True, False]


# Features: zones and pictures. A picture shows the leaves that lie in its limits with some of their width.


def line(fitted, wanted):
    """The leaves that a picture along x0 shows where x1 is limited."""
    return read_view(fitted, "x0", where=wanted).leaves.tolist()


@settings(max_examples=50)
@given(data=st.data(), seed=st.integers(0, 999), grid=st.sampled_from([0, 1]))
def test_a_zone_and_a_picture_with_the_same_dict_hold_the_same_leaves(data, seed, grid):
    log = random_log(seed, lengths=(30, 20), features=2, grid=grid)
    fitted = quietly_fitted(log, max_leaves=12).fitted_
    assume(fitted.feature_min[1] < fitted.feature_max[1])
    # Without the mean states of its leaves, a zone holds every leaf that touches it, as a picture does.
    fitted = replace(fitted, attributes=replace(fitted.attributes, state_mean=None))
    inner = fitted.tree.threshold[(fitted.tree.left >= 0) & (fitted.tree.feature == 1)]
    low, high = pair_near(
        data, np.concatenate([inner, fitted.feature_min[1:], fitted.feature_max[1:], log.states[:3, 1]])
    )
    least, most = fitted.feature_min[1], fitted.feature_max[1]
    assume(low is None or low <= most)
    assume(high is None or high > least)
    wanted = {"x1": (low, high)}
    held = read_zone(fitted, wanted).leaves.tolist()
    inside = by_the_rule(log.states[:, 1], low, high, most)
    assert set(fitted.tree.apply(log.states[inside]).tolist()) <= set(held)
    if low != most:  # a picture cannot show a band without width
        assert line(fitted, wanted) == held


@pytest.fixture(scope="module")
def rungs():
    """The log of a tree with leaves by x1: below 1, from 1 on, and 3, the largest value on record, alone."""
    states = [[3, 0.0, 0], [1, 0.5, 1], [4, 1.0, 2], [0, 2.0, 0], [5, 3.0, 1], [2, 3.0, 2]]
    return make_log(states, [0, 0, 1, 1, 2, 2], [0] * 6, labels=("a", "b", "c"))


@pytest.fixture(scope="module")
def ladder(rungs):
    fitted = quietly_fitted(rungs, theta=(1, 0, 0), gamma=0.0, max_leaves=3).fitted_
    inner = fitted.tree.left >= 0
    assert sorted(zip(fitted.tree.feature[inner], fitted.tree.threshold[inner], strict=True)) == [(1, 1.0), (1, 3.0)]
    return fitted


@pytest.mark.parametrize(
    ("wanted", "leaves", "shown"),
    [
        ((0, 1), [0], [0]),
        ((0, 1.5), [0], [0, 1]),  # the samples of leaf 1 are at 1.5 on average: not in the zone, but in the picture
        ((1, 3), [1, 2], [1, 2]),  # with the largest value on record
        ((1, 2.9), [1], [1]),
        ((3, None), [2], [2]),
        (3.0, [2], [2]),
        ((None, 3), [0, 1, 2], [0, 1, 2]),
        ("x1 < 3", [0, 1], [0, 1]),
        ("x1 <= 3", [0, 1, 2], [0, 1, 2]),
        ("x1 in [1, 3)", [1], [1]),
        ("x1 in [1, 3]", [1, 2], [1, 2]),
        ("x1 >= 3", [2], [2]),
        ("0 <= x1 < 1", [0], [0]),
    ],
)
def test_the_largest_value_on_record_in_zones_and_pictures(ladder, wanted, leaves, shown):
    place = wanted if isinstance(wanted, str) else {"x1": wanted}
    assert read_zone(ladder, place).leaves.tolist() == leaves
    assert read_view(ladder, "x0", where=place).leaves.tolist() == shown


@pytest.mark.parametrize(
    ("wanted", "seen"),
    [
        ({"x1": (1, 3)}, [1.0, 2.0, 3.0, 3.0]),
        ({"x1": (1, 2)}, [1.0]),
        ({"x1": (None, 3)}, [0.0, 0.5, 1.0, 2.0, 3.0, 3.0]),
        ("x1 < 3", [0.0, 0.5, 1.0, 2.0]),
        ("x1 <= 3", [0.0, 0.5, 1.0, 2.0, 3.0, 3.0]),
        ("x1 in [1, 2]", [1.0, 2.0]),
        ("x1 > 2", [3.0, 3.0]),
    ],
)
def test_samples_on_a_picture_keep_to_the_rule(ladder, rungs, wanted, seen):
    (points,) = overlays.samples(read_view(ladder, "x0", "x2", where=wanted), rungs).marks
    # Every sample has an x0 of its own.
    assert sorted(rungs.states[np.isin(rungs.states[:, 0], points.x), 1].tolist()) == seen


def test_a_zone_on_a_picture_is_drawn_up_to_its_bound(ladder):
    view = read_view(ladder, "x0", "x1")
    *_, box = overlays.zone(view, {"x1": (1, 2)}).marks
    assert (box.y0[0], box.y1[0]) == (1, 2)
    *_, rest = overlays.zone(view, {"x1": (1, 3)}).marks
    assert rest.y1[0] == math.nextafter(3, math.inf)


@given(low=st.floats(-5, 5), high=st.floats(-5, 5), largest=st.floats(-5, 5), x=st.floats(-5, 5))
def test_reading_a_pair_is_the_rule(low, high, largest, x):
    assume(low < high)
    numbers = np.array([x, low, high, largest, math.nextafter(high, -math.inf), math.nextafter(high, math.inf)])
    held = read_interval((low, high), "zone['x']", largest).holds(numbers[numbers <= largest])
    assert held.tolist() == by_the_rule(numbers[numbers <= largest], low, high, largest)


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ((1, 1), "zone is empty: no number is at least 1 and below 1. For 1 itself, write 1 instead of the pair."),
        ((2, 1), r"zone is empty: 2 is above 1. Try \(1, 2\)."),
        ((math.nan, 1), r"zone must be \(low, high\) with None for no bound"),
        ((1,), r"zone must be \(low, high\)"),
        ("1", r"zone must be \(low, high\).* got '1'"),
        (True, r"zone must be \(low, high\).* got True"),
        (math.inf, r"zone must be \(low, high\).* got inf"),
    ],
)
def test_what_is_no_interval(wanted, message):
    with pytest.raises(ParameterError, match=message):
        read_interval(wanted, "zone", 9.0)


def test_infinite_bounds_are_none():
    assert read_interval((-math.inf, 1), "zone", 9.0) == (-math.inf, 1)
    assert read_interval((1, math.inf), "zone", 9.0) == (1, math.inf)
    assert read_interval((None, None), "zone", 9.0) == (-math.inf, math.inf)
