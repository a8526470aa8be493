"""What a page is sent: places, ticks, colours and legends as scenes has them."""

from __future__ import annotations

import base64
import gzip
import json
import warnings
from dataclasses import replace

import numpy as np
import pytest

from tests.logs import make_log, random_log
from tests.scenes.models import gears, road_tree, walk
from tripletree import TripleTree, TripleTreeWarning
from tripletree.asking.foils import read_foil
from tripletree.frontend.payload import _quartiles, _short, packed, payload, usual_foils
from tripletree.scenes.guides import marked
from tripletree.scenes.leaf_map import leaf_map
from tripletree.scenes.support import EXPECTED, RECORDED
from tripletree.scenes.view import View, leaf_boxes, read_view


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


@pytest.mark.parametrize(
    ("means", "count", "quartiles"),
    [
        ([1, 2, 3, 4], [25, 25, 25, 25], (1, 3)),
        ([4, 3, 2, 1], [25, 25, 25, 25], (1, 3)),
        ([1, 2, 3, 4], [24, 26, 24, 26], (2, 4)),  # a quarter is reached in the second, three in the last
        ([1, 2, 3], [80, 10, 10], (1, 1)),
        ([7], [5], (7, 7)),
    ],
)
def test_a_quarter_of_the_samples_lies_below_and_above_the_usual_foils(means, count, quartiles):
    assert _quartiles(np.array(means, float), np.array(count)) == quartiles


def test_readers_are_offered_every_label_and_a_high_and_a_low_value():
    # Forty steps with values 0 to 39 in forty leaves: quarters end at 9 and 29.
    fitted = grown(np.arange(40.0)[:, None], np.arange(40.0), 40)
    assert list(usual_foils(fitted)) == ["action = a", "action = b", "value >= 29", "value < 9"]
    rounded = grown(np.arange(40.0)[:, None], 1000 + np.arange(40.0), 40)
    # Two digits are enough to ask for.
    assert list(usual_foils(rounded))[2:] == ["value >= 1000", "value < 1000"]
    engines = usual_foils(walk(features=2, dimensions=2))
    assert [text.split()[0] for text in engines] == ["a0", "a0", "a1", "a1", "value", "value"]


def test_numbers_are_sent_as_exactly_as_they_are_shown():
    assert [_short(x) for x in (1234567.0, 0.123456, -1 / 3, 3)] == [1234567.0, 0.1235, -0.3333, 3]


def test_a_page_begins_at_the_busiest_leaf_or_where_it_is_told():
    fitted = gears()
    tree = payload(fitted)
    leaf = int(fitted.leaves.count.argmax())
    assert fitted.tree.apply(np.array([tree["start"]]))[0] == leaf
    # Whole features begin at whole numbers.
    assert all(float(x).is_integer() for x in tree["start"][1:])
    state = np.array([0.25, 1.0, 3.0])
    assert payload(fitted, start=state)["start"] == state.tolist()


def test_texts_are_sent_once_and_found_by_their_number():
    fitted = gears()
    tree = payload(fitted)
    assert len(tree["texts"]) == len(set(tree["texts"]))
    whole = tree["facts"]["action"]["whole"]
    assert any(number >= 0 for number in whole)
    for leaf, number in enumerate(whole):
        label = fitted.schema.action.labels[fitted.leaves.mode[leaf]]
        # Where the label depends on the state, the sentence is put together in the browser.
        assert number < 0 or tree["texts"][number].startswith(f"Action = {label} because ")
    for name, foil in usual_foils(fitted).items():
        wanted = read_foil(fitted, foil).mask.tolist()
        sent = tree["foils"][name]
        assert [number >= 0 for number in sent["support"]] == wanted
        assert [number >= 0 for number in sent["already"]] == wanted


def test_what_must_hold_to_enter_a_leaf():
    tree = payload(gears())
    shape = (len(tree["count"]), 3)
    rise, fall = (np.array(tree[key]).reshape(shape) for key in ("riseText", "fallText"))
    lower, upper = gears().bounds
    assert ((rise >= 0) == np.isfinite(lower)).all()
    assert ((fall >= 0) == np.isfinite(upper)).all()
    assert {tree["texts"][k] for k in rise[:, 1][rise[:, 1] >= 0]} <= {"on"}
    assert {tree["texts"][k] for k in fall[:, 1][fall[:, 1] >= 0]} <= {"not on"}
    assert all(tree["texts"][k].startswith("gear <= ") for k in fall[:, 2][fall[:, 2] >= 0])


def test_a_payload_is_packed_and_can_be_unpacked():
    tree = payload(gears())
    text = packed(tree)
    assert packed(tree) == text
    assert json.loads(gzip.decompress(base64.b64decode(text))) == json.loads(json.dumps(tree))


def test_a_log_decides_what_is_faded_on_the_map_of_every_pair():
    fitted, log = gears(), random_log(4, lengths=(30,), features=3)
    log = replace(log, schema=fitted.schema, states=np.column_stack([log.states[:, 0], np.tile([0, 1], 15), [3] * 30]))
    sent = payload(fitted, log=log)
    assert sorted(sent["veil"]["hidden"]) == ["0 1", "0 2", "1 2"]
    sizes = [len(edges) - 1 for edges in sent["veil"]["edges"]]
    for axes, bits in sent["veil"]["hidden"].items():
        i, j = map(int, axes.split())
        mask = np.unpackbits(np.frombuffer(base64.b64decode(bits), np.uint8))[: sizes[i] * sizes[j]].reshape(
            sizes[i], -1
        )
        veil = leaf_map(View(fitted, leaf_boxes(fitted), (i, j), {}), "value", log=log).marks[-1]
        assert mask.astype(bool).T.tolist() == veil.hidden.tolist()
    assert (sent["faded"], payload(fitted)["faded"]) == (f"{RECORDED}.", f"{EXPECTED}.")


def test_with_many_features_leaves_are_faded_instead():
    fitted = walk(features=17, leaves=5)
    log = random_log(5, lengths=(60, 50, 40), features=17)
    assert payload(fitted, log=log)["veil"] is None
    assert payload(walk(features=16, leaves=5), log=random_log(5, lengths=(60,), features=16))["veil"] is not None
