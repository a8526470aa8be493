from __future__ import annotations

import numpy as np
import pytest

from tripletree.checks import PARAMETERS, check_names, check_parameters, did_you_mean, listing
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
        ("bins", 1, "from 2 to 1024; got 1"),
        ("thresholds", "mid", "'short' or 'midpoint'"),
        ("derivative_scale", "sgima", r"Did you mean `sigma`\?"),
        ("truncation", "boot", "'paper' or 'bootstrap'"),
        ("min_samples_leaf", 0, "at least 1; got 0"),
        ("max_depth", -1, r"at least 0, or None \(no limit\); got -1"),
        ("min_quality", -0.1, "a non-negative number"),
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
