"""What a map shows by colour: which scale, from where to where, and what leaves weigh."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.logs import make_log
from tests.scenes.models import _fit, gears, road_tree, walk
from tripletree import ParameterError
from tripletree.scenes.colouring import Colouring, colour_scale, known_colours, read_colour
from tripletree.scenes.colours import CIVIDIS, DIVERGING, EMBERS, SEA, VIRIDIS
from tripletree.scenes.view import read_view


def pictured(scale, *values):
    mean = np.array(values, float)[:, None]
    return Colouring("Title", "label", mean, np.ones(len(mean)), scale), mean[:, 0]


@pytest.mark.parametrize(
    ("scale", "values", "low", "high", "stops"),
    [
        ("values", (1, 3), 1, 3, VIRIDIS),
        ("values", (-1, 3), -1, 3, VIRIDIS),
        ("number", (0, 9), 0, 9, CIVIDIS),
        ("diverging", (-1, 3), -3, 3, DIVERGING),
        ("diverging", (-5, 3), -5, 5, DIVERGING),
        ("impurity", (0.2, 0.4), 0, 0.4, EMBERS),
        ("amount", (2, 50), 2, 50, SEA),
        # What is the same everywhere still gets a scale, with its colour in the middle.
        ("values", (3, 3), 1.5, 4.5, VIRIDIS),
        ("values", (0, 0), -0.5, 0.5, VIRIDIS),
        ("impurity", (0, 0), 0, 1, EMBERS),
        ("amount", (8, 8), 4, 16, SEA),
        # And what differs by a thousandth is not the same.
        ("values", (1, 1.001), 1, 1.001, VIRIDIS),
        ("amount", (1, 1.001), 1, 1.001, SEA),
    ],
)
def test_where_a_scale_begins_and_ends(scale, values, low, high, stops):
    found = colour_scale(*pictured(scale, *values))
    assert (found.low, found.high) == (low, high)
    assert found.stops == stops
    assert found.kind == ("log" if scale == "amount" else "linear")


def test_limits_of_ones_own_are_kept():
    for scale in ("values", "diverging", "impurity"):
        found = colour_scale(*pictured(scale, -1, 3), limits=(-2.0, 7.0))
        assert (found.low, found.high) == (-2, 7)


@pytest.mark.parametrize(
    ("push", "stops"),
    [([-1.0, 1.0], DIVERGING), ([0.0, 1.0], VIRIDIS), ([-1.0, 0.0], VIRIDIS), ([1.0, 2.0], VIRIDIS)],
)
def test_colours_diverge_where_some_numbers_are_below_zero_and_some_above(push, stops):
    log = make_log([[0.0], [0.0], [1.0], [1.0]], np.repeat(push, 2), [0.0] * 4, np.arange(5))
    fitted = _fit(log, 2).fitted_
    boxes = read_view(fitted, "x0").boxes
    found = read_colour(fitted, boxes, "a0")
    assert colour_scale(found, found.mean[:, 0]).stops == stops


def test_titles_labels_and_weights():
    fitted = gears()
    boxes = read_view(fitted, "x").boxes
    count = fitted.leaves.count.astype(float)
    assert read_colour(fitted, boxes, "value").label == "mean value (discounted rewards)"
    assert read_colour(fitted, boxes, "count").mean[:, 0].tolist() == count.tolist()
    assert read_colour(fitted, boxes, "leaf").mean[:, 0].tolist() == list(range(len(count)))
    assert not read_colour(fitted, boxes, "leaf").averages
    impurity = read_colour(fitted, boxes, "impurity of action")
    assert impurity.label == "impurity of action (Gini)"
    assert impurity.mean[:, 0].tolist() == fitted.leaves.impurity[:, 0].tolist()
    assert (
        read_colour(walk(2, dimensions=1), boxes, "impurity of action").label == "impurity of action (scaled variance)"
    )
    action = read_colour(fitted, boxes, "action")
    assert action.labels == ("a", "b", "c")
    np.testing.assert_allclose(action.mean.sum(axis=1), 1)
    change = read_colour(fitted, boxes, "derivative of gear")
    assert (change.title, change.label) == ("Mean change of gear", "mean change of gear (per step)")


def test_a_leaf_without_any_derivative_weighs_next_to_nothing():
    fitted = walk(2)
    at = fitted.attributes
    moved = at.count_derivative.copy()
    moved[fitted.tree.leaf_nodes[3]] = 0
    lost = replace(fitted, attributes=replace(at, count_derivative=moved))
    weights = read_colour(lost, read_view(lost, "x0").boxes, "derivative of x0").population
    assert 0 < weights[3] < 1e-190
    assert np.delete(weights, 3).tolist() == np.delete(moved[lost.tree.leaf_nodes], 3).tolist()


def test_every_name_is_known_once_and_understood():
    for fitted in (gears(), walk(3, dimensions=2), walk(2, dimensions=1), road_tree().fitted_):
        names = known_colours(fitted)
        assert len(names) == len(set(names))
        boxes = read_view(fitted, fitted.schema.feature_names[0]).boxes
        for name in names:
            if name != "action" or fitted.schema.action.kind == "discrete":
                assert len(read_colour(fitted, boxes, name).mean) == fitted.tree.n_leaves
    assert "derivative" not in known_colours(gears())
    with pytest.raises(ParameterError, match=r"colour must be one of `action`.*, `density`, `count`, `leaf`; got"):
        read_colour(gears(), read_view(gears(), "x").boxes, "gini")
