"""Arguments checked at the door: each mistake has its message."""

from __future__ import annotations

import re

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
)
from tripletree.errors import ParameterError
from tripletree.text import Message, Option


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        (
            "theta",
            (1, 2),
            r"theta must be three non-negative numbers, not all zero, up to 1e100; got \(1, 2\)\. Try theta=\(1, 1, 1",
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
        ("max_leaves", 0, r"max_leaves must be a whole number from 1 to 2,147,483,647; got 0\. Try max_leaves=200\."),
        ("max_leaves", 2.5, "a whole number from 1 to 2,147,483,647; got 2.5"),
        ("max_leaves", True, "a whole number from 1 to 2,147,483,647; got True"),
        ("max_leaves", 2**100, "from 1 to 2,147,483,647; got 1267650600228229401496703205376"),
        ("min_samples_leaf", 2**100, "from 1 to 2,147,483,647; got 126765"),
        ("max_depth", 2**100, "from 0 to 2,147,483,647, or max_depth=None"),
        ("gamma", 1.5, r"gamma must be a number from 0 to 1; got 1.5\. Try gamma=0.99\."),
        ("gamma", "0.9", "a number from 0 to 1; got '0.9'"),
        ("priority", "gian", r"priority must be 'impurity' or 'gain'; got 'gian'\. Did you mean `gain`\?"),
        ("priority", None, r"'impurity' or 'gain'; got None\. Try priority=\"impurity\"\."),
        ("mode", "Histogram", r"Did you mean `histogram`\?"),
        ("bins", 1, "from 2 to 1,024; got 1"),
        ("thresholds", "mid", "'short' or 'midpoint'"),
        ("derivative_scale", "sgima", r"Did you mean `sigma`\?"),
        ("truncation", "boot", "'paper' or 'bootstrap'"),
        (
            "costs",
            {("left", "right"): -1},
            r"or costs=None \(every wrong label costs 1\); got {\('left', 'right'\): -1}",
        ),
        ("costs", {("left", "right"): float("nan")}, r"a number from 0 to 1e100.*Try costs={\('left', 'right'\): 3}"),
        ("costs", {"left": 3}, "a dict of .true label, predicted label. to a number from 0 to 1e100"),
        ("costs", [[0, 1, 2], [1, 0, 2]], "or a square array of such numbers"),
        ("costs", 3, "a square array of such numbers, or costs=None"),
        ("keep", "trak", r"'track', 'leaves' or 'nothing'; got 'trak'\. Did you mean `track`\?"),
        ("min_samples_leaf", 0, "from 1 to 2,147,483,647; got 0"),
        ("max_depth", -1, r"from 0 to 2,147,483,647, or max_depth=None \(no limit\); got -1\. Try max_depth=20"),
        ("min_quality", -0.1, r"a number of at least 0; got -0.1\. Try min_quality=0.0\."),
        ("early_stopping", 1, "True or False; got 1"),
        ("threads", 0, r"from 1 to 1,024, or threads=None \(all cores\); got 0"),
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


WRONG = [
    (check_whole, 0, (1,), {}, "n must be a whole number of at least 1; got 0. Try n=1."),
    (check_whole, 7, (0, 6), {"example": 3}, "n must be a whole number from 0 to 6; got 7. Try n=3."),
    (check_whole, -1, (0, 10**6), {}, "n must be a whole number from 0 to 1,000,000; got -1. Try n=0."),
    (check_whole, 2.0, (1,), {}, "n must be a whole number of at least 1; got 2.0. Try n=1."),
    (check_whole, True, (0,), {}, "n must be a whole number of at least 0; got True. Try n=0."),
    (check_whole, None, (1,), {}, "n must be a whole number of at least 1; got None. Try n=1."),
    (
        check_whole,
        "3",
        (1,),
        {"none": "all of them", "example": 5},
        "n must be a whole number of at least 1, or n=None (all of them); got '3'. Try n=5.",
    ),
    (check_number, "x", (), {}, "n must be a number; got 'x'."),
    (check_number, float("nan"), (), {"example": 0.5}, "n must be a number; got nan. Try n=0.5."),
    (check_number, float("inf"), (0,), {}, "n must be a number of at least 0; got inf. Try n=0."),
    (check_number, 1.5, (0, 1), {"example": 0.9}, "n must be a number from 0 to 1; got 1.5. Try n=0.9."),
    (
        check_number,
        0,
        (None, 1),
        {"above": 0, "example": 0.5},
        "n must be a number above 0 and at most 1; got 0. Try n=0.5.",
    ),
    (check_number, 1, (), {"above": 0, "below": 1}, "n must be a number above 0 and below 1; got 1."),
    (
        check_number,
        -2,
        (-1,),
        {"none": "free"},
        "n must be a number of at least -1, or n=None (free); got -2. Try n=-1.",
    ),
    (check_number, False, (0,), {}, "n must be a number of at least 0; got False. Try n=0."),
    (check_flag, 1, (), {}, "n must be True or False; got 1. Try n=True."),
    (check_flag, None, (False,), {}, "n must be True or False; got None. Try n=False."),
    (check_choice, "lift", (("left", "right"),), {}, "n must be 'left' or 'right'; got 'lift'. Did you mean `left`?"),
    (check_choice, 3, (("left", "right"),), {}, "n must be 'left' or 'right'; got 3. Try n=\"left\"."),
    (
        check_choice,
        "x",
        (("up", "down"), "down"),
        {"none": "either"},
        "n must be 'up' or 'down', or n=None (either); got 'x'. Try n=\"down\".",
    ),
    (check_choice, "z", ("abcdef",), {}, "n must be one of `a`, `b`, `c`, `d`, `e`, `f`; got 'z'. Try n=\"a\"."),
]


@pytest.mark.parametrize(("check", "value", "limits", "more", "message"), WRONG)
def test_each_check_says_what_came_what_is_allowed_and_what_to_type(check, value, limits, more, message):
    with pytest.raises(ParameterError, match=f"^{re.escape(message)}$") as caught:
        check(value, "n", *limits, **more)
    assert isinstance(caught.value.args[0], Message)
    # The argument's name is an option wherever it stands, so that a front end has its own words for it.
    assert not re.search(r"\bn\b", caught.value.args[0].worded(lambda option: "OPTION"))


@pytest.mark.parametrize(
    ("check", "value", "limits", "more"),
    [
        (check_whole, np.int32(3), (1, 3), {}),
        (check_whole, None, (1,), {"none": "all"}),
        (check_number, np.float32(0.5), (0, 1), {}),
        (check_number, 0, (0,), {}),
        (check_number, 1, (None, 1), {"above": 0}),
        (check_number, None, (), {"none": "free"}),
        (check_flag, False, (), {}),
        (check_choice, "down", (("up", "down"),), {}),
        (check_choice, None, (("up", "down"),), {"none": "either"}),
    ],
)
def test_each_check_lets_through_what_is_allowed(check, value, limits, more):
    check(value, "n", *limits, **more)


def test_names():
    check_names(["a"], ["a", "b"], "The table")
    with pytest.raises(
        ParameterError, match=r"The table has no 'cout'; it has `count`, `leaf`\. Did you mean `count`\?"
    ):
        check_names(["cout"], ["count", "leaf"], "The table")
    with pytest.raises(ParameterError, match="fixed has no 'x'; it may have `pos`") as caught:
        check_names(["x"], ["pos"], Option("fixed"))
    assert caught.value.args[0].worded(lambda option: f"--{option.name}").startswith("--fixed has no 'x'")


def test_did_you_mean_only_what_is_close():
    assert did_you_mean("spede", ["speed", "pos"]) == " Did you mean `speed`?"
    assert did_you_mean("xyz", ["speed", "pos"]) == ""


def test_long_listings_are_cut():
    assert listing(["a", "b"]) == "`a`, `b`"
    assert listing([str(k) for k in range(10)], 3) == "`0`, `1`, `2` and 7 more"


def test_seven_names_are_listed_and_of_more_the_first_six():
    names = [str(k) for k in range(9)]
    assert listing(names[:7]) == "`0`, `1`, `2`, `3`, `4`, `5`, `6`"
    assert listing(names[:8]) == "`0`, `1`, `2`, `3`, `4`, `5` and 2 more"
