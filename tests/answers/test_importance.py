"""Importance in words: one line for each attribute, its features from the most important on."""

from __future__ import annotations

import numpy as np

from tripletree.answers.importance import Importance


def importance(*rows, removed=(0.5, 0.25, 0.75)) -> Importance:
    share = np.array(rows, float)
    features = tuple("abcdefgh"[: share.shape[1]])
    return Importance(share, np.array(removed), ("action", "value", "derivative"), features)


def test_features_come_in_the_order_of_their_shares():
    found = importance([0.2, 0.5, 0.3], [1, 0, 0], [0, 0, 0])
    assert str(found).splitlines() == [
        "Action: b 50 %, c 30 %, a 20 %.",
        "Value: a 100 %.",
        "Derivative: no split tells anything about it.",
    ]


def test_five_features_are_named_and_the_others_summed_up():
    five = [0.3, 0.25, 0.2, 0.15, 0.1]
    six = [0.3, 0.25, 0.2, 0.15, 0.07, 0.03]
    eight = [0.3, 0.25, 0.2, 0.1, 0.05, 0.04, 0.04, 0.02]
    assert str(importance(five, five, five)).splitlines()[0] == ("Action: a 30 %, b 25 %, c 20 %, d 15 %, e 10 %.")
    assert ", e 7 %, 1 other 3 %." in str(importance(six, six, six)).splitlines()[1]
    assert ", e 5 %, 3 others 10 %." in str(importance(eight, eight, eight)).splitlines()[2]


def test_features_that_removed_nothing_are_left_out():
    text = str(importance([0, 0.5, 0.5, 0], [0.25] * 4, [0, 0, 0, 1]))
    assert text.splitlines()[0] == "Action: b 50 %, c 50 %."
    assert text.splitlines()[2] == "Derivative: d 100 %."


def test_the_table_has_a_row_for_each_feature():
    table = importance([0.2, 0.8], [0.5, 0.5], [1, 0]).table
    assert table.to_dict() == {
        "feature": ["a", "b"],
        "action": [0.2, 0.8],
        "value": [0.5, 0.5],
        "derivative": [1.0, 0.0],
    }
