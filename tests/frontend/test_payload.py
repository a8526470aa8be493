"""What a page is sent: places, ticks, colours and legends as scenes has them."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest

from tests.logs import make_log
from tests.scenes.models import gears, road_tree, walk
from tripletree import TripleTree, TripleTreeWarning
from tripletree.frontend.payload import payload
from tripletree.scenes.guides import marked
from tripletree.scenes.view import read_view


def grown(states, rewards, leaves=6):
    log = make_log(states, np.arange(len(states)) % 2, rewards, np.arange(len(states) + 1), labels=("a", "b"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TripleTreeWarning)
        return TripleTree(leaves, theta=(0, 1, 0)).fit(log).fitted_


@pytest.mark.parametrize("fitted", [gears(), walk(features=3, dimensions=1), road_tree().fitted_], ids=["a", "b", "c"])
def test_leaves_and_axes_are_those_of_a_view(fitted):
    tree = payload(fitted)
    names = fitted.schema.feature_names
    boxes = read_view(fitted, names[0]).boxes
    assert tree["drawnLow"] == boxes.lower.ravel().tolist()
    assert tree["drawnHigh"] == boxes.upper.ravel().tolist()
    for name, feature in zip(names, tree["features"], strict=True):
        axis = marked(read_view(fitted, name).axis(0))
        assert feature["axis"] == {
            "label": axis.label,
            "low": axis.low,
            "high": axis.high,
            "ticks": list(zip(axis.ticks, axis.tick_labels, strict=True)),
        }


def test_the_name_of_a_feature_has_no_power_of_ten():
    states = np.linspace(1e7, 9e7, 40)[:, None]
    (feature,) = payload(grown(states, np.arange(40)))["features"]
    assert (feature["label"], feature["axis"]["label"]) == ("x0", "x0, in 1e7")


def test_every_leaf_has_a_shade_and_shades_are_sent_once():
    tree = payload(walk(features=3, dimensions=2))
    for colour in tree["colours"].values():
        known = tree["palettes"][colour["palette"]]
        assert len(colour["shades"]) == len(tree["count"])
        assert 0 <= min(colour["shades"]) <= max(colour["shades"]) < len(known)
    assert len(tree["palettes"]) == len(set(tree["palettes"])) < len(tree["colours"])


def test_shades_are_as_exact_as_the_values_even_when_their_texts_are_not():
    rewards = 1e6 + np.repeat([0.1, 0.2, 0.3, 0.4], 10)
    tree = payload(grown(np.arange(40.0)[:, None], rewards, 4))
    assert len(set(tree["colours"]["value"]["values"])) == 1
    assert len(set(tree["colours"]["value"]["shades"])) == 4


def test_colours_are_explained_by_a_legend_or_by_a_bar():
    tree = payload(gears())
    action, value, count = (tree["colours"][name] for name in ("action", "value", "count"))
    assert [text for text, _ in action["legend"]] == ["action = a", "action = b", "action = c"]
    assert (action["bar"], value["legend"]) == (None, [])
    assert value["bar"]["label"] == "mean value (discounted rewards)"
    for bar in (value["bar"], count["bar"]):
        places = [place for place, _ in bar["ticks"]]
        assert places == sorted(places)
        assert -0.03 <= places[0] < places[-1] <= 1.03


def test_it_is_json():
    tree = payload(gears())
    assert json.loads(json.dumps(tree, allow_nan=False))["palettes"] == [list(shades) for shades in tree["palettes"]]
