"""A log in a notebook."""

from __future__ import annotations

import numpy as np

from tests.parsed import lines
from tripletree import Log


def test_every_column_has_a_row():
    log = Log.from_arrays(
        [[0.5, 1], [1.5, 0], [2.5, 1]],
        ["up", "down", "up"],
        [0, 1, 0],
        starts=[0, 2],
        terminated=[True, False],
        feature_names=["<pos>", "on"],
        units={"<pos>": "m"},
    )
    assert lines(log._repr_html_()) == [
        "Log of 3 samples in 2 episodes",
        "Endings: 1 terminated, 1 truncated",
        "|kind|unit|values|",
        "<pos>|real|m|0.5 to 2.5|",
        "on|binary||0 to 1|",
        "action|discrete action||up 67\N{NO-BREAK SPACE}%, down 33\N{NO-BREAK SPACE}%|",
        "reward|||0 to 1|",
    ]


def test_continuous_actions_have_ranges():
    log = Log.from_arrays([[0.5], [1.5]], [[0.25, -1.0], [0.5, 1.0]], [2, 2], starts=[0], action_names=["main", "side"])
    assert lines(log._repr_html_())[1:] == [
        "Endings: 1 unknown",
        "|kind|unit|values|",
        "s0|real||0.5 to 1.5|",
        "main|continuous action||0.25 to 0.5|",
        "side|continuous action||-1 to 1|",
        "reward|||2 to 2|",
    ]


def test_many_features_and_labels_are_summed_up():
    log = Log.from_arrays(np.random.default_rng(0).normal(size=(20, 40)), np.arange(20), np.zeros(20), starts=[0])
    shown = lines(log._repr_html_())
    assert shown[14].startswith("s11|")
    assert shown[15:17] == [
        "and 28 more features||||",
        f"action|discrete action||{', '.join(f'{k} 5' + chr(160) + '%' for k in range(6))} and 14 more|",
    ]
