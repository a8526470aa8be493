from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from tripletree.asking.states import read_finite_states, read_state, read_states
from tripletree.errors import ParameterError
from tripletree.log.schema import Action, Feature, Schema

SCHEMA = Schema((Feature("pos"), Feature("speed")), Action("discrete", labels=("a", "b")))


@pytest.mark.parametrize(
    "states",
    [
        [1, 2],
        (1.0, 2.0),
        np.array([1, 2], np.float32),
        {"pos": 1, "speed": 2.0},
        {"speed": 2, "pos": 1, "reward": "not a feature"},
        pd.Series([1, 2]),
    ],
)
def test_one_state(states):
    array, single = read_states(states, SCHEMA)
    assert array.tolist() == [[1.0, 2.0]]
    assert array.dtype == np.float64
    assert single


@pytest.mark.parametrize(
    "states",
    [
        [[1, 2], [3, 4]],
        np.array([[1, 2], [3, 4]], np.float32),
        np.array([[1, 3], [2, 4]]).T,
        {"pos": [1, 3], "speed": np.array([2, 4])},
        pd.DataFrame({"episode": ["x", "y"], "speed": [2, 4], "pos": [1, 3]}),
    ],
)
def test_several_states(states):
    array, single = read_states(states, SCHEMA)
    assert array.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert array.flags.c_contiguous
    assert not single


def test_no_states():
    array, single = read_states(np.zeros((0, 2)), SCHEMA)
    assert array.shape == (0, 2)
    assert not single


@pytest.mark.parametrize(
    ("states", "message"),
    [
        ([1, 2, 3], r"states must have 2 features \(`pos`, `speed`\): shape \(2,\) for one state .* got shape \(3,\)"),
        ([[1], [2]], r"got shape \(2, 1\)"),
        (3.0, r"got shape \(\)"),
        (np.zeros((1, 1, 2)), r"got shape \(1, 1, 2\)"),
        ([[1, 2], [3]], "states must be numbers; got a list"),
        (["a", "b"], "states must be numbers; got a list"),
        ([1 + 2j, 3], "states must be numbers"),
        ([None, "x"], "states must be numbers"),
        ([1, np.nan], "feature `speed` is NaN"),
        ([[1, 2], [np.nan, 2]], "feature `pos` of state 1 is NaN"),
        ({"pos": 1, "sped": 2}, r"states must have the feature `speed`; got `pos`, `sped`\. Did you mean `speed`\?"),
        (pd.DataFrame({"pos": [1]}), "states must have the feature `speed`"),
        ({"pos": [1, 2], "speed": [1]}, r"columns of one length; got the shapes `pos` \(2,\), `speed` \(1,\)"),
        ({"pos": "fast", "speed": 1}, "feature `pos` must be numbers"),
    ],
)
def test_what_is_no_state_is_explained(states, message):
    with pytest.raises(ParameterError, match=message):
        read_states(states, SCHEMA)


def test_numbers_up_to_ten_to_the_hundred_have_distances():
    assert read_state([1e100, -1e100], SCHEMA).tolist() == [1e100, -1e100]
    assert read_finite_states([[1e99, 0], [0, 1e100]], SCHEMA).shape == (2, 2)
    beyond = math.nextafter(1e100, math.inf)
    for wrong in (beyond, -beyond, math.inf):
        with pytest.raises(ParameterError, match="before must hold finite numbers only, none beyond 1e100; feature"):
            read_state([0, wrong], SCHEMA, "before")
        with pytest.raises(ParameterError, match=r"none beyond 1e100; feature `pos` of state 1 is"):
            read_finite_states([[0, 0], [wrong, 0]], SCHEMA)
    # Where nothing is measured, a state may be anywhere.
    assert read_state([0, math.inf], SCHEMA, finite=False)[1] == math.inf


def test_one_state_is_asked_for():
    assert read_state(np.array([1.0, 2.0]), SCHEMA).tolist() == [1, 2]
    given = np.array([1.0, 2.0])
    assert read_state(given, SCHEMA) is not given
    with pytest.raises(ParameterError, match=r"start must be one state; got 2 of them. Ask for each in turn."):
        read_state([[1, 2], [3, 4]], SCHEMA, "start")
    assert read_finite_states([1, 2], SCHEMA).tolist() == [[1, 2]]
