"""A tree in JSON: whoever follows its rules gets what the tree says."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.export.models import MODELS, assert_close, fitted_on, grown, made_up, states_of, told_by
from tests.hostile.names import NAMES, hostile_log
from tripletree import Schema
from tripletree.export.rules_json import FORMAT, to_json


def read(text):
    return json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))


def holds(rule, state):
    return all(
        (part["low"] is None or state[part["feature"]] >= part["low"])
        and (part["high"] is None or state[part["feature"]] < part["high"])
        for part in rule["conditions"]
    )


def modelled(linear, model, state):
    told = model["centre"]
    for name in state:
        told += model["slopes"].get(name, 0.0) * (state[name] - linear["origin"][name])
    return min(max(told, model["low"]), model["high"])


def predicted(page, rule, state):
    """All targets in order, as a reader of the file would find them."""
    linear = rule.get("linear")
    if page["leaf_model"] == "mean":
        assert linear is None
        action = rule["action"].get("shares", rule["action"])
        return [*action.values(), rule["value"], *rule["derivative"].values()]
    parts = [*linear["action"].values(), linear["value"], *linear["derivative"].values()]
    return [modelled(linear, part, state) for part in parts]


@pytest.mark.parametrize("leaf_model", MODELS)
@pytest.mark.parametrize("name", ["road", "lander", "made up"])
def test_its_rules_say_what_the_tree_says(name, leaf_model):
    fitted = made_up(2, discrete=True) if name == "made up" else fitted_on(name, 40)
    page = read(to_json(fitted, leaf_model=leaf_model))
    assert (page["format"], page["format_version"], page["leaf_model"]) == ("tripletree rules", FORMAT, leaf_model)
    assert Schema.from_dict(page["schema"]) == fitted.schema
    states = states_of(fitted, 300)
    leaf, right = told_by(fitted, leaf_model, states)
    for row, number, told in zip(states.tolist(), leaf.tolist(), right, strict=True):
        state = dict(zip(fitted.schema.feature_names, row, strict=True))
        met = [rule for rule in page["rules"] if holds(rule, state)]
        assert [rule["leaf"] for rule in met] == [number]
        assert_close(predicted(page, met[0], state), told)


def test_samples_and_labels():
    fitted = fitted_on("road")
    rules = read(to_json(fitted))["rules"]
    assert [rule["samples"] for rule in rules] == fitted.leaves.count.tolist()
    assert sum(rule["share"] for rule in rules) == pytest.approx(1)
    labels = np.array(fitted.schema.action.labels)
    assert [rule["action"]["label"] for rule in rules] == labels[fitted.leaves.mode].tolist()


def test_about_one_attribute():
    rule = read(to_json(fitted_on("lander", 20), about="side engine", leaf_model="linear"))["rules"][3]
    assert list(rule["action"]) == ["side engine"]
    assert list(rule["linear"]) == ["origin", "action"]
    assert "value" not in rule
    rule = read(to_json(fitted_on("lander", 20), about="derivative of y", leaf_model="mean"))["rules"][3]
    assert list(rule["derivative"]) == ["y"]


def test_one_leaf_has_no_conditions():
    (rule,) = read(to_json(fitted_on("road").truncate(1)))["rules"]
    assert (rule["conditions"], rule["share"]) == ([], 1)


@pytest.mark.parametrize("begin", range(0, len(NAMES), 8))
def test_names_are_kept_and_can_be_seen(begin):
    fitted = grown(hostile_log(begin), 8)
    text = to_json(fitted)
    assert all(character == "\n" or character.isprintable() or character == "\u200d" for character in text)
    page = read(text)
    assert Schema.from_dict(page["schema"]) == fitted.schema
    assert list(page["rules"][0]["derivative"]) == list(fitted.schema.feature_names)
