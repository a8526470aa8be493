"""Limits of counterfactuals: what may change, how far from the border, and which leaves have support."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.questions.trees import random_fitted
from tripletree import ParameterError
from tripletree.asking.foils import read_foil
from tripletree.asking.limits import read_limits


@pytest.fixture(scope="module")
def fitted():
    """Leaves with 5, 10, 20 and 40 samples, of which 3, 9, 10 and 40 turn left; features span 2 and 4."""
    made = random_fitted(7, 2, 4, real=True)
    at, nodes = made.attributes, made.tree.leaf_nodes
    table, count = at.action_count.copy(), at.count.copy()
    table[nodes] = [[3, 2, 0], [9, 1, 0], [10, 5, 5], [40, 0, 0]]
    count[nodes] = [5, 10, 20, 40]
    return replace(
        made,
        attributes=replace(at, action_count=table, count=count),
        feature_min=np.array([-1.0, 0.0]),
        feature_max=np.array([1.0, 4.0]),
    )


def limits(fitted, **given):
    return read_limits(fitted, read_foil(fitted, {"action": "left"}), **given)


def test_without_options_all_leaves_of_the_foil_may_be_entered(fitted):
    found = limits(fitted)
    assert found.leaves.all()
    assert (found.max_changes, found.margin, found.limited) == (2, False, False)
    assert (found.no_rise.tolist(), found.no_fall.tolist()) == ([], [])


@pytest.mark.parametrize(
    ("least", "leaves"), [(1, [0, 1, 2, 3]), (2, [0, 1, 2, 3]), (10, [1, 2, 3]), (11, [2, 3]), (41, [])]
)
def test_leaves_need_as_many_samples_as_asked_for(fitted, least, leaves):
    found = limits(fitted, min_samples=least)
    assert np.flatnonzero(found.leaves).tolist() == leaves
    assert found.limited == (least > 1)


@pytest.mark.parametrize(
    ("least", "leaves"), [(0, [0, 1, 2, 3]), (0.5, [0, 1, 2, 3]), (0.51, [0, 1, 3]), (0.9, [1, 3]), (1, [3])]
)
def test_leaves_need_as_much_agreement_as_asked_for(fitted, least, leaves):
    found = limits(fitted, min_purity=least)
    assert np.flatnonzero(found.leaves).tolist() == leaves
    assert found.limited == (least > 0)


def test_features_that_are_fixed_go_neither_way_and_others_one(fitted):
    found = limits(fitted, fixed=["speed"])
    assert (found.no_rise.tolist(), found.no_fall.tolist()) == ([1], [1])
    up = limits(fitted, one_way={"pos": "up"})
    assert (up.no_rise.tolist(), up.no_fall.tolist()) == ([], [0])
    down = limits(fitted, one_way={"pos": "down"}, fixed=("speed",))
    assert (down.no_rise.tolist(), down.no_fall.tolist()) == ([0, 1], [1])
    assert found.limited
    assert up.limited
    assert limits(fitted, max_changes=2).limited


def test_a_margin_is_a_share_of_the_range_or_in_the_features_own_units(fitted):
    plain, share, own = limits(fitted), limits(fitted, margin=0.01), limits(fitted, margin={"speed": 0.03})
    for f, (of_range, of_its_own) in enumerate(((0.02, 0.0), (0.04, 0.03))):
        bounded = np.isfinite(plain.entry_points.lower[f])
        begin, middle = plain.entry_points.lower[f][bounded], plain.entry_points.middle[f][bounded]
        for found, width in ((share, of_range), (own, of_its_own)):
            expected = np.minimum(begin + width, middle) if width else begin
            np.testing.assert_allclose(found.entry_points.land_low[f][bounded], expected)
    # A margin changes where one lands, and not which leaves there are.
    assert (share.margin, share.limited, plain.margin) == (True, False, False)
    assert limits(fitted, margin=0.999).margin


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"min_samples": 0}, "min_samples must be a whole number of at least 1; got 0. Try min_samples=20."),
        ({"min_samples": 2.5}, "min_samples must be a whole number"),
        ({"min_purity": 1.01}, "min_purity must be a number from 0 to 1; got 1.01. Try min_purity=0.9."),
        ({"min_purity": -0.1}, "min_purity must be a number from 0 to 1"),
        ({"min_purity": "high"}, "min_purity must be a number from 0 to 1; got 'high'"),
        (
            {"max_changes": 0},
            r"max_changes must be a whole number of at least 1, or max_changes=None \(no limit\); got 0",
        ),
        ({"max_changes": True}, "max_changes must be a whole number"),
        ({"fixed": "speed"}, r"fixed must be a list of features; got 'speed'. Try fixed=\[.speed.\]."),
        ({"fixed": ["sped"]}, r"fixed has no 'sped'; it may have `pos`, `speed`. Did you mean `speed`\?"),
        ({"one_way": "up"}, r'one_way must be a dict; got .up.. Try one_way=\{"pos": "down"\}'),
        ({"one_way": {"gas": "up"}}, "one_way has no 'gas'"),
        (
            {"one_way": {"pos": "donw"}},
            r"Feature `pos`: one_way must be 'up' or 'down'; got 'donw'. Did you mean `down`\?",
        ),
        ({"margin": 1}, "margin must be a share of each feature's range, from 0 to below 1, .* got 1"),
        ({"margin": -0.1}, "margin must be a share"),
        (
            {"margin": {"pos": -1}},
            "Feature `pos`: margin must be a number of at least 0, in the feature's own units; got -1",
        ),
        ({"margin": {"gas": 1}}, "margin has no 'gas'"),
    ],
)
def test_options_that_are_wrong(fitted, options, message):
    with pytest.raises(ParameterError, match=message):
        limits(fitted, **options)
