"""Factual explanations in words: what, why, how sure, and whether the log knows such states."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from tripletree import Action, Feature, Schema
from tripletree.answers.factual import Factual

SCHEMA = Schema((Feature("pos", "m"), Feature("speed")), Action("discrete", ("gear",), ("left", "right"), ("",)))


def factual(**given) -> Factual:
    usual = {
        "about": "action",
        "names": ("gear",),
        "units": ("",),
        "state": np.array([0.5, 1.0]),
        "leaf": 3,
        "prediction": "left",
        "spread": 1.0,
        "runner_up": None,
        "count": 50,
        "lower": np.array([-np.inf, 0.0]),
        "upper": np.array([1.0, np.inf]),
        "because": ("pos < 1 m", "speed >= 0"),
        "beyond": np.zeros(2),
        "limits": np.array([[0.0, -1.0], [2.0, 3.0]]),
        "schema": SCHEMA,
    }
    return Factual(**{**usual, **given})


def test_a_label_because_of_the_bounds_of_its_leaf():
    assert str(factual()) == "Action = left because pos < 1 m and speed >= 0. All 50 samples in this leaf agree."
    assert str(factual(units=("R",))).startswith("Action = left R because ")
    assert str(factual(because=())).startswith("Action = left always: the tree has only one leaf. ")


@pytest.mark.parametrize(
    ("count", "sure"),
    [
        (1, "Only 1 sample says so."),
        (2, "All of only 2 samples agree."),
        (9, "All of only 9 samples agree."),
        (10, "All 10 samples in this leaf agree."),
        (1_234, "All 1,234 samples in this leaf agree."),
    ],
)
def test_fewer_than_ten_samples_are_called_few(count, sure):
    assert str(factual(count=count)).endswith(sure)


@pytest.mark.parametrize(
    ("count", "sure"),
    [
        (9, "78 % of only 9 samples in this leaf agree; 22 % are right."),
        (10, "78 % of 10 samples in this leaf agree; 22 % are right."),
    ],
)
def test_a_label_that_others_contest_has_its_share(count, sure):
    assert str(factual(count=count, spread=7 / 9, runner_up=("right", 2 / 9))).endswith(sure)


@pytest.mark.parametrize(
    ("count", "sure"),
    [
        (0, "The log does not show what follows in this leaf; the numbers are those of the leaves around it."),
        (1, "Only 1 sample says so."),
        (9, "This is the mean of only 9 samples."),
        (10, "This is the mean of 10 samples."),
    ],
)
def test_numbers_are_means_of_samples(count, sure):
    value = factual(about="value", names=("value",), prediction=np.array([1.25]), spread=np.array([0.31]), count=count)
    assert str(value) == f"Value = 1.25 ± 0.31 because pos < 1 m and speed >= 0. {sure}"


def test_several_numbers_each_with_its_unit():
    both = factual(
        names=("main engine", "side"), units=("N", ""), prediction=np.array([0.5, -2.0]), spread=np.array([0.0, 0.5])
    )
    assert str(both).startswith("Main engine = 0.5 N and side = -2 ± 0.5 because ")


def test_of_derivatives_only_what_moves_is_told():
    still = {"about": "derivative", "names": ("change of pos", "change of speed"), "units": ("m per step", "per step")}
    one = factual(**still, prediction=np.array([0.25, 0.0]), spread=np.array([0.0, 0.0]))
    assert str(one).startswith("Change: pos 0.25 m per step because ")
    both = factual(**still, prediction=np.array([0.25, 0.0]), spread=np.array([0.0, 0.5]))
    assert str(both).startswith("Change: pos 0.25 m and speed 0 ± 0.5 per step because ")
    none = factual(**still, prediction=np.zeros(2), spread=np.zeros(2))
    assert str(none).startswith("Nothing changes because ")


def test_a_state_beyond_the_log_is_told_on_its_side():
    high = factual(state=np.array([2.5, 1.0]), beyond=np.array([0.5, 0.0]))
    assert high.outside
    assert str(high).endswith(
        "Careful, no such state is in the log: pos = 2.5 m is 0.5 m above its largest value in the log (2 m)."
    )
    low = factual(state=np.array([0.5, -4.0]), beyond=np.array([0.0, -3.0]))
    assert str(low).endswith("no such state is in the log: speed = -4 is 3 below its smallest value in the log (-1).")
    both = factual(state=np.array([2.5, -4.0]), beyond=np.array([0.5, -3.0]))
    assert "(2 m) and speed = -4 is 3 below" in str(both)
    assert not factual().outside
    assert "Careful" not in str(factual())


def test_data_are_json():
    data = json.loads(json.dumps(factual().to_dict(), allow_nan=False))
    assert data["lower"] == [None, 0.0]
    assert "schema" not in data
    assert replace(factual(), leaf=4).to_dict()["leaf"] == 4
