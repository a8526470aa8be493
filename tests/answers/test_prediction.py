"""Predictions in words: of one state, and of several."""

from __future__ import annotations

import numpy as np
import pytest

from tripletree import Action, Feature, Schema
from tripletree.answers.prediction import Prediction

LABELS = Schema((Feature("pos"),), Action("discrete", labels=("left", "right")))
ENGINES = Schema((Feature("pos"),), Action("continuous", ("main engine", "side"), (), ("N", "")))


def discrete(**given) -> Prediction:
    usual = {
        "action": "left",
        "action_probability": np.array([0.75, 0.25]),
        "action_std": None,
        "value": 1.25,
        "value_std": 0.31,
        "derivative": None,
        "derivative_std": None,
        "leaf": 3,
        "count": 12,
        "outside": False,
        "schema": LABELS,
    }
    return Prediction(**{**usual, **given})


def test_a_label_with_its_share():
    assert str(discrete()) == "Action = left (75 %), value = 1.25 ± 0.31 (leaf 3, 12 samples)."
    assert str(discrete(count=1)).endswith("(leaf 3, 1 sample).")
    assert str(discrete(outside=True)).endswith("(leaf 3, 12 samples); the state lies outside the range of the log.")


def test_numbers_with_their_spread_and_unit():
    numbers = {"action_probability": None, "action": np.array([0.5, -2.0]), "schema": ENGINES}
    both = discrete(**numbers, action_std=np.array([0.25, 0.0]))
    assert str(both) == "Main engine = 0.5 ± 0.25 N, side = -2, value = 1.25 ± 0.31 (leaf 3, 12 samples)."


@pytest.mark.parametrize(
    ("leaf", "outside", "text"),
    [
        ([3], [False], "1 state in 1 leaf."),
        ([3, 3, 5], [False] * 3, "3 states in 2 leaves."),
        ([3, 3, 5], [True, False, False], "3 states in 2 leaves, 1 of them outside the range of the log."),
        ([], [], "0 states in 0 leaves."),
    ],
)
def test_several_states_are_counted(leaf, outside, text):
    assert str(discrete(leaf=np.array(leaf, int), outside=np.array(outside, bool))) == text
