"""From columns of any source to a log: lengths, finite numbers, kinds and names."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.log.raw import ACTIONS, REWARDS, STATES, make
from tripletree.errors import LogError


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        ([True, False] * 2, "binary"),
        ([0, 0, 0, 0], "binary"),
        ([0, 1, 2, 3], "integer"),
        ([0, 1, -1, 0], "integer"),
        ([2.0, 3.0, 2.0, 2.0], "integer"),
        ([0, 1, 0.5, 1], "real"),
    ],
)
def test_kinds_are_guessed_from_values(column: list[float], kind: str) -> None:
    assert make(column).schema.features[0].kind == kind


def test_final_states_count_for_kinds() -> None:
    assert make([0, 1, 0, 1], final_states=[0.5, np.nan]).schema.features[0].kind == "real"


def test_kinds_units_and_names_can_be_given() -> None:
    log = make(feature_names=["phi", "gear"], kinds={"phi": "angle"}, units={"phi": "rad", "action": "N"})
    assert [(f.name, f.unit, f.kind) for f in log.schema.features] == [("phi", "rad", "angle"), ("gear", "", "binary")]
    assert log.schema.action.units == ("N",)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"states": [1.0, None, 2.0, 3.0]}, r"NaN or infinite values: `s0` in 1 row \(first in row 1\)"),
        ({"states": np.array([10, 1, 2, 3], np.longdouble) ** 400}, r"`s0` in 1 row \(first in row 0\)"),
        ({"states": [1e101, 1, 2, 3]}, r"`s0` goes beyond 1e\+100"),
        (
            {"states": [[0, np.nan], [0, np.inf], [np.nan, 0], [0, 0]]},
            r"`s0` in 1 row .*row 2\), `s1` in 2 rows .*row 0\)",
        ),
        ({"states": np.ma.masked_array(STATES, [[0, 0], [1, 0], [0, 0], [0, 0]])}, r"`s0` in 1 row \(first in row 1\)"),
        ({"states": STATES[:3]}, "4 rewards, but feature `s0` has 3, feature `s1` has 3"),
        ({"actions": ACTIONS[:3]}, "4 rewards, but action `action` has 3"),
        (
            {"rewards": REWARDS[:3]},
            "3 rewards, but feature `s0` has 4, feature `s1` has 4, action `action` has 4, `episode` has 4;",
        ),
        ({"rewards": [0, np.nan, np.inf, 0]}, "The reward is NaN or infinite in 2 rows, first in row 1"),
        ({"rewards": [0, 1e200, 0, 0]}, r"The reward goes beyond 1e\+100"),
        ({"rewards": ["a"] * 4}, r"The reward holds text \(first in row 0: 'a'\)"),
        ({"states": [], "actions": [], "rewards": [], "episodes": []}, "The log holds no samples"),
        ({"episodes": [0, 0, 1]}, "4 rewards, but `episode` has 3;"),
        ({"episodes": None, "starts": [0, 2], "episode_ids": ["a"]}, "Got 1 episode id for 2 episodes"),
        ({"feature_names": ["x", "x"]}, "feature names must differ; `x` occurs more than once"),
        ({"units": {"S0": "m"}}, r"no feature `S0` \(in units=\). Did you mean `s0`"),
        ({"units": {"s0": 3}}, "unit of feature `s0` is 3; it must be a string"),
        ({"kinds": {"s9": "angle"}}, r"no feature `s9` \(in kinds=\)"),
        ({"kinds": {"s0": "angel"}}, "Did you mean `angle`"),
        ({"kinds": {"s0": "binary"}}, r"`s0` was given as binary, but its values are real"),
        ({"kinds": {"s0": "integer"}}, r"`s0` was given as integer, but its values are real"),
    ],
)
def test_wrong_columns_and_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(LogError, match=message):
        make(**options)


def test_all_errors_come_at_once() -> None:
    with pytest.raises(LogError, match="4 errors") as caught:
        make([[np.nan, 1]] * 4, [0.5, np.nan, 0, 0], [np.inf, 0, 0, 0], episodes=None)
    text = str(caught.value)
    assert [text.index(part) for part in ("Nothing says where", "States hold", "Action `action`", "The reward is")]
