from __future__ import annotations

import numpy as np
import pytest

from tripletree.checks import (
    PARAMETERS,
    check_choice,
    check_flag,
    check_names,
    check_number,
    check_parameters,
    check_whole,
    did_you_mean,
    listing,
    objection,
    one_of,
)
from tripletree.errors import ParameterError


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        (
            "theta",
            (1, 2),
            r"theta must be three non-negative numbers, not all zero; got \(1, 2\)\. Try theta=\(1, 1, 1\)\.",
        ),
        ("theta", (0, 0, 0), "not all zero"),
        ("theta", (1, -1, 1), "non-negative"),
        ("theta", "abc", "three non-negative numbers"),
        ("theta", {1, 2, 3}, "three non-negative numbers"),
        ("theta", iter((1, 1, 1)), "three non-negative numbers"),
        ("theta", np.float64(1), "three non-negative numbers"),
        ("theta", [[1], [1], [1]], "three non-negative numbers"),
        ("theta", 3, "three non-negative numbers"),
        ("theta", (1, 1, float("nan")), "three non-negative numbers"),
        ("max_leaves", 0, r"max_leaves must be a whole number of at least 1; got 0\. Try max_leaves=200\."),
        ("max_leaves", 2.5, "a whole number of at least 1; got 2.5"),
        ("max_leaves", True, "a whole number of at least 1; got True"),
        ("gamma", 1.5, r"gamma must be a number from 0 to 1; got 1.5\. Try gamma=0.99\."),
        ("gamma", "0.9", "a number from 0 to 1; got '0.9'"),
        ("priority", "gian", r"priority must be 'impurity' or 'gain'; got 'gian'\. Did you mean `gain`\?"),
        ("priority", None, r"'impurity' or 'gain'; got None\. Try priority='impurity'\."),
        ("mode", "Histogram", r"Did you mean `histogram`\?"),
        ("bins", 1, "from 2 to 1,024; got 1"),
        ("thresholds", "mid", "'short' or 'midpoint'"),
        ("derivative_scale", "sgima", r"Did you mean `sigma`\?"),
        ("truncation", "boot", "'paper' or 'bootstrap'"),
        ("min_samples_leaf", 0, "at least 1; got 0"),
        ("max_depth", -1, r"at least 0, or None \(no limit\); got -1"),
        ("min_quality", -0.1, "a number of at least 0; got -0.1"),
        ("early_stopping", 1, "True or False; got 1"),
        ("threads", 0, r"at least 1, or None \(all cores\); got 0"),
        ("progress", 3, r"a function of \(leaves so far, max_leaves\)"),
    ],
)
def test_a_wrong_parameter_is_explained(name, value, message):
    with pytest.raises(ParameterError, match=message):
        check_parameters({name: value})


@pytest.mark.parametrize("name", PARAMETERS)
def test_the_example_of_every_rule_passes(name):
    assert PARAMETERS[name].passes(PARAMETERS[name].example)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_leaves", np.int64(7)),
        ("theta", np.array([0.2, 0.6, 0.2])),
        ("theta", [0, 0, 1]),
        ("gamma", 1),
        ("gamma", np.float32(0.5)),
        ("max_depth", None),
        ("max_depth", 0),
        ("threads", None),
        ("progress", print),
    ],
)
def test_what_is_allowed(name, value):
    check_parameters({name: value})


def test_bootstrap_needs_a_discount():
    with pytest.raises(ParameterError, match="needs gamma below 1"):
        check_parameters({"truncation": "bootstrap", "gamma": 1.0})


def test_names():
    check_names(["a"], ["a", "b"], "The table")
    with pytest.raises(
        ParameterError, match=r"The table has no 'cout'; it has `count`, `leaf`\. Did you mean `count`\?"
    ):
        check_names(["cout"], ["count", "leaf"], "The table")


def test_did_you_mean_only_what_is_close():
    assert did_you_mean("spede", ["speed", "pos"]) == " Did you mean `speed`?"
    assert did_you_mean("xyz", ["speed", "pos"]) == ""


def test_long_listings_are_cut():
    assert listing(["a", "b"]) == "`a`, `b`"
    assert listing([str(k) for k in range(10)], 3) == "`0`, `1`, `2` and 7 more"


@pytest.mark.parametrize(
    ("value", "options", "message"),
    [
        (0, {"least": 1}, r"^k must be a whole number of at least 1; got 0\. Try k=1\.$"),
        (1.0, {"least": 1, "example": 3}, r"at least 1; got 1\.0\. Try k=3\.$"),
        (True, {"least": 0}, "got True"),
        (None, {"least": 1}, "at least 1; got None"),
        ("3", {"least": 1}, "got '3'"),
        (5_001, {"least": 1, "most": 5_000}, r"a whole number from 1 to 5,000; got 5001\. Try k=1\."),
        (0, {"least": 1, "most": 3, "none": "no limit"}, r"from 1 to 3, or None \(no limit\); got 0"),
    ],
)
def test_wrong_whole_numbers(value, options, message):
    with pytest.raises(ParameterError, match=message):
        check_whole(value, "k", **options)


def test_right_whole_numbers():
    for value in (1, 3, np.int64(2), np.uint8(1)):
        check_whole(value, "k", 1, 3)
    check_whole(10**30, "k", 0)
    check_whole(None, "k", 1, none="no limit")


@pytest.mark.parametrize(
    ("value", "options", "message"),
    [
        (-0.5, {"least": 0}, r"^share must be a number of at least 0; got -0\.5\. Try share=0\.2\.$"),
        (1.5, {"least": 0, "most": 1}, "a number from 0 to 1; got 1.5"),
        (1, {"least": 0, "most": 1, "ends": False}, "a number above 0 and below 1; got 1"),
        (0, {"least": 0, "ends": False}, r"a number above 0; got 0\."),
        (float("nan"), {"least": 0}, "got nan"),
        (float("inf"), {"least": 0}, "got inf"),
        (True, {"least": 0, "most": 1}, "got True"),
        ("0.2", {"least": 0, "most": 1}, "got '0.2'"),
        (None, {"least": 0}, "got None"),
        (1j, {"least": 0}, "got 1j"),
    ],
)
def test_wrong_numbers(value, options, message):
    with pytest.raises(ParameterError, match=message):
        check_number(value, "share", **options, example=0.2)


def test_right_numbers():
    for value in (0, 0.0, 0.5, 1, np.float32(0.25), np.int64(1)):
        check_number(value, "share", 0, 1, example=0.2)
    check_number(1e300, "share", 0, example=0.2)
    check_number(0.5, "share", 0, 1, example=0.2, ends=False)


@pytest.mark.parametrize("value", [0, 1, None, "yes", np.True_])
def test_flags_are_python_booleans(value):
    with pytest.raises(ParameterError, match=r"pairs must be True or False; got .*\. Try pairs=False\."):
        check_flag(value, "pairs", example=False)
    check_flag(True, "pairs")
    check_flag(False, "pairs")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("dwon", r"^way must be 'up', 'down' or 'any'; got 'dwon'\. Did you mean `down`\?$"),
        (None, r"got None\. Try way='up'\.$"),
        (["up"], r"got \['up'\]"),
        ("UP", r"got 'UP'\. Did you mean `up`\?"),
    ],
)
def test_wrong_choices(value, message):
    with pytest.raises(ParameterError, match=message):
        check_choice(value, "way", ("up", "down", "any"))
    check_choice("any", "way", ("up", "down", "any"))


def test_an_objection_is_text_for_errors_of_another_type():
    assert objection("real", "kind", one_of("real", "angle")) == ""
    assert objection("reel", "kind", one_of("real")) == "kind must be 'real'; got 'reel'. Did you mean `real`?"
