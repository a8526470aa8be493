"""From columns of any source to a log: lengths, finite numbers, kinds and names."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.log.raw import ACTIONS, REWARDS, STATES, make
from tripletree.errors import LogError
from tripletree.log import Log, build


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
        ({"units": {"S0": "m"}}, r"no feature `S0` \(in units\). Did you mean `s0`"),
        ({"units": {"s0": 3}}, "unit of feature `s0` is 3; it must be a string"),
        ({"kinds": {"s9": "angle"}}, r"no feature `s9` \(in kinds\)"),
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


@given(
    data=st.data(),
    rows=st.integers(1, 30),
    features=st.integers(1, 4),
    block=st.integers(1, 9),
)
def test_survey(data: st.DataObject, rows: int, features: int, block: int) -> None:
    number = st.sampled_from([0.0, 1.0, -2.0, 0.5, 7.25, np.nan, np.inf, -np.inf])
    size = rows * features
    matrix = np.array(data.draw(st.lists(number, min_size=size, max_size=size))).reshape(rows, features)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build, "BLOCK", block)
        seen = build.survey(matrix)
    for f in range(features):
        column = matrix[:, f]
        bad = np.flatnonzero(~np.isfinite(column))
        good = column[np.isfinite(column)]
        assert seen.bad_count[f] == len(bad)
        assert seen.bad_row[f] == (bad[0] if len(bad) else 0)
        assert seen.low[f] == (good.min() if len(good) else 0)
        assert seen.high[f] == (good.max() if len(good) else 0)
        assert seen.integral[f] == all(value.is_integer() for value in good.tolist())


@given(rows=st.integers(1, 30), features=st.integers(1, 8), block=st.integers(1, 9), shuffled=st.booleans())
def test_fill(rows: int, features: int, block: int, shuffled: bool) -> None:
    rng = np.random.default_rng(0)
    kinds = (np.float64, np.int32, bool, np.float32, ">f4", np.float16)
    columns = [rng.integers(9, size=rows).astype(kind) for kind in kinds]
    # Every other number, and numbers that begin in the middle of a word.
    columns.append(rng.integers(9, size=2 * rows).astype(np.float32)[::2])
    columns.append(np.zeros(rows, [("one", "i1"), ("number", "f8")])["number"])
    columns = columns[-features:]
    order = rng.permutation(rows) if shuffled else None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build, "BLOCK", block)
        matrix = build.fill(columns, order)
    expected = np.stack(columns, axis=1).astype(np.float64)
    np.testing.assert_array_equal(matrix, expected if order is None else expected[order])
    assert matrix.flags.c_contiguous


def test_many_bad_features_are_cut_short() -> None:
    with pytest.raises(LogError, match=r"`s7` in 4 rows \(first in row 0\) and 3 more; only finite"):
        make(np.full((4, 11), np.nan))


def test_rows_in_messages_are_those_of_the_source() -> None:
    with pytest.raises(LogError, match=r"`s0` in 1 row \(first in row 3\)"):
        make([1, 2, 3, np.nan], episodes=[0, 1, 0, 0], steps=[3, 0, 2, 1])


def test_many_columns_of_another_length_are_cut_short() -> None:
    with pytest.raises(LogError, match=r"4 rewards, but feature `s0` has 3, .*feature `s7` has 3 and 3 more; every"):
        make(np.zeros((3, 11)))


def test_one_row_of_many_is_counted_in_the_singular() -> None:
    with pytest.raises(LogError, match="1 reward, but feature `s0` has 4"):
        make(rewards=[1])


def test_ids_of_episodes() -> None:
    ids = np.array(["a", "bcd"], object)
    log = make(episodes=None, starts=[0, 2], episode_ids=ids)
    assert log.episode_ids.tolist() == ["a", "bcd"]
    assert log.episode_ids.dtype.kind == "U"
    assert make(episodes=None, starts=[0, 2], episode_ids=[7, 9]).episode_ids.tolist() == [7, 9]


def test_units_of_an_action_that_several_columns_make() -> None:
    log = make(actions=[[0, 1], [1, 1], [0, 0], [0, 1]], action_names=["gas", "brake"], units={"gas, brake": "N"})
    assert log.schema.action.units == ("N",)
    assert make(actions=[[0, 1]] * 4, action_names=["gas", "brake"], units={"gas": "N"}).schema.action.units == ("",)


def test_a_fresh_matrix_becomes_the_logs_own() -> None:
    states = np.array(STATES)
    log = Log.from_episodes([{"states": states, "actions": ACTIONS, "rewards": REWARDS}])
    assert not np.shares_memory(log.states, states)
    np.testing.assert_array_equal(log.states, states)
