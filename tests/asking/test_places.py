from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.logs import make_log
from tripletree import Log, ParameterError, TripleTree
from tripletree.asking.places import read_start, read_zone
from tripletree.graph.markov import count_transitions

# Leaves by pos: 0: [0, 1), 1: [1, 2), 2: [2, 3].
POS = [0.0, 0.9, 1.1, 1.9, 2.1, 3.0]


@pytest.fixture(scope="module")
def log():
    states = [[x, 7.0 + (x > 2)] for x in POS]
    return make_log(states, [0, 0, 1, 1, 2, 2], [0] * 5 + [9], endings=[1], labels=("a", "b", "c"), names=("pos", "up"))


@pytest.fixture(scope="module")
def fitted(log):
    fitted = TripleTree(3, (1, 0, 0), 0.0).fit(log).fitted_
    assert fitted.tree.n_leaves == 3
    assert fitted.tree.threshold[fitted.tree.left >= 0].tolist() == [1, 2]
    return fitted


@pytest.mark.parametrize(
    ("zone", "leaves", "text"),
    [
        ({"pos": (0, 1)}, [0], "pos in [0, 1)"),
        ({"pos": (1, None)}, [1, 2], "pos >= 1"),
        ({"pos": (None, 1.5)}, [0], "pos < 1.5"),  # the samples of leaf 1 are at 1.5 on average
        ({"pos": (None, 1.6)}, [0, 1], "pos < 1.6"),
        ({"pos": (0.2, 1.2)}, [0], "pos in [0.2, 1.2)"),
        ({"pos": (0.2, 0.3)}, [0], "pos in [0.2, 0.3)"),
        ({"pos": 1}, [1], "pos = 1"),
        ({"pos": 3.0}, [2], "pos = 3"),
        ({"pos": (None, None)}, [0, 1, 2], "any pos"),
        ({"pos": (0, 2), "action": "b"}, [1], "pos in [0, 2) and action = b"),
        ({"action": ["a", "c"]}, [0, 2], "action = a or c"),
        ({"value": (1, None)}, [2], "value >= 1"),
        ("pos <= 1", [0], "pos <= 1"),
        ("pos > 1 and action = b", [1], "pos > 1 and action = b"),
        ("value >= 1", [2], "value >= 1"),
        ("derivative of pos >= 0.85", [2], "derivative of pos >= 0.85"),
        ("leaves 0, 2", [0, 2], "leaves 0 and 2"),
        (1, [1], "leaf 1"),
        (np.int64(2), [2], "leaf 2"),
        ({2, 0}, [0, 2], "leaves 0 and 2"),
        (np.array([0, 1]), [0, 1], "leaves 0 and 1"),
    ],
)
def test_zones(fitted, zone, leaves, text):
    found = read_zone(fitted, zone)
    assert found.leaves.tolist() == leaves
    assert not found.end
    assert found.text == text
    assert read_zone(fitted, found) is found


@pytest.mark.parametrize(
    ("zone", "inside"),
    [
        ({"pos": (1, None)}, [0, 0, 1, 1, 1, 1]),
        ("pos < 1.5 and up = 7", [1, 1, 1, 0, 0, 0]),
        ({"pos": (0.5, 2.5), "action": "b"}, [0, 0, 1, 1, 0, 0]),
        ("value >= 1", [0, 0, 0, 0, 1, 1]),
        ({0, 2}, [1, 1, 0, 0, 1, 1]),
        ("end", [0] * 6),
    ],
)
def test_zones_are_tested_on_states_and_predictions(fitted, log, zone, inside):
    found = read_zone(fitted, zone)
    assert found.holds(log.states, fitted.tree.apply(log.states)).tolist() == [bool(one) for one in inside]


def test_a_zone_may_lie_where_the_log_has_never_been(fitted, log):
    leaf = fitted.tree.apply(log.states)
    for zone in ({"pos": (4, 5)}, {"pos": (0, 1), "action": "c"}):
        found = read_zone(fitted, zone, may_be_empty=True)
        assert not found.mask.any()
        assert not found.holds(log.states, leaf).any()


def test_a_binary_feature_goes_by_the_majority_of_a_leafs_samples():
    # Leaf 0 has the flag in 1 of 4 samples, leaf 1 in 3 of 4, and no split asks for it.
    states = [[x, flag] for x, flags in ((0.0, (0, 0, 0, 1)), (1.0, (1, 1, 1, 0))) for flag in flags]
    kinds = ("real", "binary")
    names = ("pos", "flag")
    log = make_log(states, [0] * 4 + [1] * 4, [0] * 8, endings=[1], labels=("a", "b"), names=names, kinds=kinds)
    fitted = TripleTree(2, (1, 0, 0), 0.0).fit(log).fitted_
    assert fitted.leaves.state_mean.tolist() == [[0.0, 0.25], [1.0, 0.75]]
    for zone, leaves in (
        ({"flag": 1}, [1]),
        ({"flag": (0, 0.5)}, [0]),
        ({"flag": (0, 1)}, [0, 1]),
        ("flag >= 1", [1]),
        ({"pos": 0, "flag": 1}, [0]),
    ):
        found = read_zone(fitted, zone)
        assert found.leaves.tolist() == leaves


def test_a_model_without_mean_states_counts_every_leaf_that_touches_a_zone(fitted):
    old = replace(fitted, attributes=replace(fitted.attributes, state_mean=None))
    found = read_zone(old, {"pos": (None, 1.5)})
    assert found.leaves.tolist() == [0, 1]


def test_the_end_is_a_zone(fitted):
    found = read_zone(fitted, "end")
    assert (found.leaves.tolist(), found.end, found.text) == ([], True, "the end")


@pytest.mark.parametrize(
    ("zone", "message"),
    [
        ({"Pos": (0, 1)}, r"zone has no 'Pos'; it may have `pos`, `up`, `value`, `action`. Did you mean `pos`\?"),
        ({"pos": (4, 5)}, r"zone is empty: it wants pos in \[4, 5\), and in the log `pos` goes from 0 to 3."),
        ({"pos": (None, -1)}, r"zone is empty: it wants pos < -1"),
        ({"pos": (2, 1)}, r"zone\['pos'\] is empty: 2 is above 1. Try \(1, 2\)."),
        (
            {"pos": "left"},
            r"zone\['pos'\] must be \(low, high\) with None for no bound, such as .*, or a number; got 'left'.",
        ),
        ({"pos": (0, float("nan"))}, r"must be \(low, high\)"),
        ({"pos": (0, 1), "action": "c"}, r"zone is empty: no leaf has pos in \[0, 1\) and action = c."),
        ({"action": "d"}, "zone\\['action'\\] is 'd', an action that the tree does not know; it knows `a`, `b`, `c`."),
        ({}, "zone is an empty dict"),
        ([], "zone is empty: it names no leaf"),
        (3, "zone has leaf 3; leaves go from 0 to 2."),
        ([0, -1], "zone has leaf -1; leaves go from 0 to 2."),
        ("start", r"zone has no `start`; it may have `pos`, `up`, `value`, `action`.\n  start\n  \^\^\^\^\^"),
        ("0.5, 1.5", "zone is a list that names no places"),
        (1.5, "zone is a float that names no places"),
        ([0.5], "zone is a list that names no places"),
    ],
)
def test_zones_that_are_none(fitted, zone, message):
    with pytest.raises(ParameterError, match=message):
        read_zone(fitted, zone)


def test_conditions_on_continuous_actions():
    log = make_log([[x] for x in POS], POS, [0] * 5 + [9], endings=[1], names=("pos",))
    fitted = TripleTree(3, (1, 0, 0), 0.0).fit(log).fitted_
    assert read_zone(fitted, {"a0": (2, None)}).leaves.tolist() == [2]
    with pytest.raises(ParameterError, match="zone has no 'action'; it may have `pos`, `value`, `a0`"):
        read_zone(fitted, {"action": "b"})


def test_conditions_on_derivatives(fitted):
    mean = fitted.attributes.derivative_mean[fitted.tree.leaf_nodes, 0]
    found = read_zone(fitted, f"derivative of pos in [{mean.min()}, {mean.max()})")
    assert found.leaves.tolist() == np.flatnonzero(mean < mean.max()).tolist()
    assert found.text.startswith("derivative of pos in [")
    with pytest.raises(ParameterError, match="Did you mean `derivative of pos`"):
        read_zone(fitted, {"derivative of Pos": (0, None)})


def test_of_a_feature_of_whole_numbers_only_these_count():
    # The shortest threshold between 0 and 1 is 1: [0, 1) must not count as holding some of 0.5 and more.
    legs, height = [0, 0, 0, 1, 1, 1], [5.0, 4, 3, 2, 1, 0]
    states = np.column_stack([legs, height])
    actions = [str(leg) for leg in legs]
    log = Log.from_arrays(states, actions, [0] * 6, starts=[0], terminated=[0] * 5 + [1], feature_names=["leg", "y"])
    fitted = TripleTree(2, (1, 0, 0), 0.0).fit(log).fitted_
    assert fitted.schema.features[0].kind == "binary"
    for zone, leaves in (
        ((0.5, None), [1]),
        ((None, 0.5), [0]),
        ((0.5, 7), [1]),
        ((0, 0.9), [0]),
        ((0, 1), [0, 1]),
        ((0, 1.5), [0, 1]),
    ):
        found = read_zone(fitted, {"leg": zone})
        assert found.leaves.tolist() == leaves
    with pytest.raises(ParameterError, match=r"`leg` is a whole number, and none has leg in \[0\.2, 0\.8\)"):
        read_zone(fitted, {"leg": (0.2, 0.8)})


@pytest.mark.parametrize(
    ("start", "share", "text"),
    [
        (None, [1, 0, 0, 0], "where episodes begin"),
        ([1.5, 7], [0, 1, 0, 0], "pos = 1.5, up = 7"),
        ({"pos": 2.5, "up": 8}, [0, 0, 1, 0], "pos = 2.5, up = 8"),
        ("up = 8, pos = 2.5", [0, 0, 1, 0], "pos = 2.5, up = 8"),
        ("1.5, 7", [0, 1, 0, 0], "pos = 1.5, up = 7"),
        ("pos < 2", [0.5, 0.5, 0, 0], "pos < 2"),
        (1, [0, 1, 0, 0], "leaf 1"),
        ({1, 2}, [0, 0.5, 0.5, 0], "leaves 1 and 2"),
        ({"pos": (0, 2)}, [0.5, 0.5, 0, 0], "pos in [0, 2)"),
        ({"pos": 1.5}, [0, 1, 0, 0], "pos = 1.5"),
    ],
)
def test_starts(fitted, log, start, share, text):
    found = read_start(fitted, count_transitions(fitted.tree, log), start)
    assert found.share.tolist() == share
    assert found.text == text


def test_starts_that_are_none(fitted, log):
    found = count_transitions(fitted.tree, log)
    with pytest.raises(ParameterError, match="start must hold a leaf: nothing follows the end"):
        read_start(fitted, found, "end")
    with pytest.raises(ParameterError, match="start must be one state; got 2 of them"):
        read_start(fitted, found, [[1, 7], [2, 7]])
    with pytest.raises(ParameterError, match="start must have 2 features"):
        read_start(fitted, found, [1.0])


@pytest.mark.parametrize(
    ("zone", "leaves"),
    [
        # The gears of the leaves are 0.5, 2.5 and 1.5 on average; halves belong to the number above.
        ({"gear": (1, 2.9)}, [0, 2]),
        ({"gear": (1, 3)}, [0, 1, 2]),  # with 3, the largest on record
        ({"gear": (2, 4)}, [1, 2]),
        ({"gear": (None, 2)}, [0]),
        ({"gear": (3, None)}, [1]),
        ({"gear": 1}, [0]),
        ({"gear": 2}, [2]),
        ({"gear": 3}, [1]),
        ("gear in [1, 2]", [0, 2]),
    ],
)
def test_whole_numbers_go_by_the_nearest_one_to_a_leafs_mean(zone, leaves):
    states = [[x, gear] for x, gears in ((0.0, (0, 1)), (1.0, (2, 3)), (2.0, (1, 2))) for gear in gears * 2]
    actions = np.repeat([0, 1, 2], 4)
    kinds, names = ("real", "integer"), ("pos", "gear")
    log = make_log(states, actions, [0.0] * 12, endings=[1], labels=("a", "b", "c"), names=names, kinds=kinds)
    fitted = TripleTree(3, (1, 0, 0), 0.0).fit(log).fitted_
    assert fitted.leaves.state_mean[:, 1].tolist() == [0.5, 2.5, 1.5]
    assert read_zone(fitted, zone).leaves.tolist() == leaves


@pytest.mark.parametrize("zone", [{"pos": (None, 0)}, {"pos": (-1, 0)}, "pos < 0", {"pos": (3.001, None)}, "pos > 3"])
def test_zones_just_outside_the_log_are_empty(fitted, zone):
    with pytest.raises(ParameterError, match=r"zone is empty: it wants .*, and in the log `pos` goes from 0 to 3"):
        read_zone(fitted, zone)


def test_zones_at_the_very_ends_of_the_log_are_not(fitted):
    assert read_zone(fitted, "pos <= 0").leaves.tolist() == [0]
    assert read_zone(fitted, {"pos": (3, None)}).leaves.tolist() == [2]
    assert read_zone(fitted, {"pos": 0}).leaves.tolist() == [0]


def test_an_upper_bound_does_not_touch_the_leaf_that_begins_there(fitted):
    old = replace(fitted, attributes=replace(fitted.attributes, state_mean=None))
    assert read_zone(old, {"pos": (0, 1)}).leaves.tolist() == [0]
    assert read_zone(old, {"pos": (0, 1.001)}).leaves.tolist() == [0, 1]
    assert read_zone(old, {"pos": 1}).leaves.tolist() == [1]
    assert read_zone(old, "pos <= 1").leaves.tolist() == [0, 1]


def test_a_zone_that_the_log_never_visits_begins_in_all_its_leaves_alike(fitted, log):
    elsewhere = make_log(log.states[:2], [0, 0], [0, 0], labels=("a", "b", "c"), names=("pos", "up"))
    moves = count_transitions(fitted.tree, elsewhere)
    assert read_start(fitted, moves, {1, 2}).share.tolist() == [0, 0.5, 0.5, 0]
    assert read_start(fitted, moves, {0, 2}).share.tolist() == [1, 0, 0, 0]
