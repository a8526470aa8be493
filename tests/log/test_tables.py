"""Log.from_dict and Log.from_frame: the roles of columns, guessed and given."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from tripletree.errors import LogError, ParameterError, TripleTreeWarning
from tripletree.log import TERMINATED, TRUNCATED, Log

BASE: dict[str, Any] = {"pos": [0.5, 1.5, 2.5], "speed": [0.25, 0.5, 0.75], "action": [0, 1, 0], "reward": [1, 2, 3]}
TABLE: dict[str, Any] = {"episode": [0, 0, 1]} | BASE


def test_what_was_guessed_is_told(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "tripletree"):
        log = Log.from_dict(TABLE | {"index": [0, 1, 2]}, step="speed")
    assert log.reading.splitlines() == [
        "Read 3 samples in 2 episodes from a dict.",
        "  episode      episode (guessed)",
        "  step         speed",
        "  reward       reward (guessed)",
        "  features     pos (real)",
        "  action       action (discrete, 2 labels: 0, 1) (guessed)",
        "  endings      2 unknown",
        "  final state  not recorded",
        "  set aside    index",
        'To change a guess, name the column: episode="...", action=[...], features=[...], ignore=[...].',
    ]
    assert caplog.messages == [log.reading]


def test_long_readings_are_cut() -> None:
    columns = {f"x{i}": [0.5, 1, 2] for i in range(30)}
    assert "x11 and 20 more (real); pos" not in (reading := Log.from_dict(TABLE | columns).reading)
    assert "and 20 more (real)" in reading


@pytest.mark.parametrize("name", ["Episode", "ep", "traj_id", "episode id", "Rollout", "episode_index"])
def test_episode_by_other_names(name: str) -> None:
    log = Log.from_dict({name: ["a", "a", "b"]} | BASE)
    assert log.schema.feature_names == ("pos", "speed")
    assert log.episode_ids.tolist() == ["a", "b"]


def test_the_road_layout() -> None:
    """Row pointers, single letters and an unnamed row counter, as the paper's author wrote them."""
    log = Log.from_dict(
        {"": [0, 1, 2], "p": [0.5, 1, 2], "v": [0.5, 0, 1], "a": [0, 1, 1], "r": [0, 1, 2]}
        | {"prev": [-1, 0, -1], "next": [1, -1, -1]}
    )
    assert log.starts.tolist() == [0, 2, 3]
    assert log.schema.feature_names == ("p", "v")
    assert "  set aside    (unnamed)" in log.reading


def test_the_lander_layout() -> None:
    table = {"episode": [0, 0, 1], "step": [0, 1, 0], "x": [0.5, 1, 2], "action_main": [0.5, 0, 0]}
    table |= {"action_side": [1, 0, 1], "reward": [0, 0, 0], "terminated": [False, True, False]}
    log = Log.from_dict(table | {"truncated": [False, False, True], "next_x": [1, 7, 8]})
    assert log.schema.feature_names == ("x",)
    assert log.schema.action.names == ("action_main", "action_side")
    assert log.schema.action.kind == "continuous"
    assert log.final_states.tolist() == [[7], [8]]
    assert log.endings.tolist() == [TERMINATED, TRUNCATED]


def test_blocks_become_columns() -> None:
    states = np.arange(6.0).reshape(3, 2)
    log = Log.from_dict(
        {"observations": states, "actions": [[0.5], [1], [2]], "rewards": [1, 2, 3], "terminals": [0, 1, 0]}
        | {"timeouts": [0, 0, 0], "next_observations": states + 2}
    )
    assert log.schema.feature_names == ("observations_0", "observations_1")
    assert log.final_states.tolist() == [[4, 5], [6, 7]]
    assert log.endings.tolist() == [TERMINATED, TRUNCATED]


def test_columns_of_lists_become_blocks() -> None:
    frame = pd.DataFrame({"episode": [0, 0], "state": [[1.5, 2], [3, 4]], "action": [0, 1], "reward": [0, 1]})
    assert Log.from_frame(frame).states.tolist() == [[1.5, 2], [3, 4]]
    frame["state"] = [[1.5, 2], [3]]
    with pytest.raises(LogError, match="Column `state` is ragged: row 0 has 2 values, row 1 has 1 value"):
        Log.from_frame(frame)


def test_features_can_be_named() -> None:
    log = Log.from_dict(TABLE | {"when": ["a", "b", "c"], "t": [5, 6, 7]}, features=["t", "pos"])
    assert log.schema.feature_names == ("t", "pos")
    assert "set aside    speed, when" in log.reading


def test_ignored_columns_are_not_looked_at() -> None:
    log = Log.from_dict(TABLE | {"junk": object()}, ignore=["junk", "speed"])
    assert log.schema.feature_names == ("pos",)
    assert Log.from_dict(TABLE | {"junk": None}, ignore="junk").n_features == 2


def test_all_roles_can_be_given() -> None:
    columns = {"e": [1, 1, 2], "k": [0, 1, 0], "x": [0.5, 1, 2], "u": [0, 1, 0], "w": [1, 2, 3]}
    columns |= {"crash": [False, True, False], "limit": [False, False, True], "after x": [1, 8, 9]}
    log = Log.from_dict(
        columns,
        episode="e",
        step="k",
        action="u",
        reward="w",
        terminated="crash",
        truncated="limit",
        next_state="after ",
    )
    assert log.schema.feature_names == ("x",)
    assert log.endings.tolist() == [TERMINATED, TRUNCATED]
    assert log.final_states.tolist() == [[8], [9]]
    assert "guessed" not in log.reading


def test_an_exact_name_beats_a_prefix() -> None:
    log = Log.from_dict(TABLE | {"action_prob": [0.5, 0.5, 0.5]})
    assert log.schema.action.names == ("action",)
    assert log.schema.feature_names == ("pos", "speed")
    assert "set aside    action_prob" in log.reading


def test_a_second_column_for_a_role_is_set_aside_with_a_warning() -> None:
    with pytest.warns(TripleTreeWarning, match="`episode_id` set aside: the name means a role that another"):
        log = Log.from_dict(TABLE | {"episode_id": [7, 7, 8]})
    assert log.schema.feature_names == ("pos", "speed")


def test_everyday_names_stay_features_when_the_role_is_taken() -> None:
    log = Log.from_dict(TABLE | {"step": [0, 1, 0], "t": [0.5, 1, 2], "a": [1, 2, 3]})
    assert log.schema.feature_names == ("pos", "speed", "t", "a")


def test_next_columns_that_lack_some_feature_are_not_used() -> None:
    with pytest.warns(TripleTreeWarning, match=r"Final states are not used: `next_pos` came, but no .* for `speed`"):
        log = Log.from_dict(TABLE | {"next_pos": [1.5, 3, 3]})
    assert np.isnan(log.final_states).all()


def test_next_columns_without_a_feature_are_set_aside() -> None:
    following = {"next_pos": [1.5, 3, 3], "next_speed": [0.5, 3, 3], "next_wind": [1, 2, 3]}
    with pytest.warns(TripleTreeWarning, match="`next_wind` set aside: the name means a next state"):
        log = Log.from_dict(TABLE | following)
    assert log.schema.feature_names == ("pos", "speed")
    assert Log.from_dict(TABLE | {"next_wind": [1, 2, 3]}).schema.feature_names == ("pos", "speed", "next_wind")


@pytest.mark.parametrize("rows", [[0, 1, 2], [5, 6, 7]])
def test_row_counters_are_dropped(rows: list[int]) -> None:
    for name in ("", "Unnamed: 0", "index", "__index_level_0__"):
        assert Log.from_dict({name: rows} | TABLE).schema.feature_names == ("pos", "speed")
    assert Log.from_dict({"index": rows} | TABLE, features=["index"]).schema.feature_names == ("index",)


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        ({}, {}, "The table has no columns"),
        ({"reward": [1]}, {}, r"(?s)No column looks like the action.*No column is left for the state.*features="),
        (
            {"x": [0.5], "action": [1]},
            {},
            'No column looks like the reward. The columns are `x`, `action`. Type reward="',
        ),
        (BASE, {}, "Nothing says where episodes begin or end"),
        (TABLE, {"reward": "rewad"}, r"no column `rewad` \(given as reward=\). Did you mean `reward`"),
        (TABLE, {"features": ["pos", "Speed"]}, r"no column `Speed` \(given as features=\). Did you mean `speed`"),
        (TABLE, {"ignore": ["zzz"]}, r"no column `zzz` \(given as ignore=\). There is `episode`, `pos`"),
        (TABLE, {"features": ["pos"], "action": "pos"}, "`pos` came as features= and as action="),
        (TABLE, {"next_state": "after_"}, r"No column begins with `after_` \(given as next_state=\)"),
        (TABLE | {"when": pd.to_datetime(["2024-01-01"] * 3)}, {}, r"`when` holds dates or times.*ignore=\['when'\]"),
        (TABLE | {"who": ["x", "y", "z"]}, {}, r"`who` holds text, first 'x' in row 0.*ignore=\['who'\]"),
        (TABLE | {"image": np.zeros((3, 2, 2))}, {}, r"Column `image` has shape \(3, 2, 2\)"),
        (TABLE | {"k": 3}, {}, r"Column `k` has shape \(\)"),
        (TABLE | {"pos": [1, 2]}, {}, "the rewards have 3 rows, but feature `pos` 2"),
        (TABLE | {"": [1, 1, 2]}, {}, "Column 6 has no name and does not just number the rows"),
        (BASE | {"prev": [-1, 0, 7]}, {}, "previous-row pointer of row 2 is 7; -1 to 2 are allowed"),
    ],
)
def test_what_cannot_be_read_is_told(columns: dict[str, Any], options: dict[str, Any], message: str) -> None:
    with pytest.raises(LogError, match=message):
        Log.from_dict(columns, **options)


def test_not_a_table() -> None:
    with pytest.raises(LogError, match="A dict of columns is needed, list came"):
        Log.from_dict([1, 2])  # type: ignore[arg-type]
    for thing in (3, "text", [1, 2], {"a": [1]}):
        with pytest.raises(LogError, match=r"A DataFrame \(pandas, polars\) or an Arrow table is needed"):
            Log.from_frame(thing)
    for option in ("ignore", "features", "action", "episode"):
        with pytest.raises(ParameterError, match=rf"{option}=3 is not possible; type {option}="):
            Log.from_dict(TABLE, **{option: 3})  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match=r"There is no option `rewards`. Did you mean `reward`"):
        Log.from_dict(TABLE, rewards="reward")  # type: ignore[call-arg]


def test_doubled_names_in_a_frame() -> None:
    frame = pd.DataFrame([[0, 1.5, 2.5, 1, 0]], columns=["episode", "x", "x", "action", "reward"])
    with pytest.raises(LogError, match="`x` came as a column name more than once; names must differ"):
        Log.from_frame(frame)


def test_frames_of_all_sorts() -> None:
    expected = Log.from_dict(TABLE).fingerprint()
    frame = pd.DataFrame(TABLE)
    assert Log.from_frame(frame).fingerprint() == expected
    assert Log.from_frame(frame.convert_dtypes()).fingerprint() == expected
    assert Log.from_frame(pa.table(TABLE)).fingerprint() == expected
    assert Log.from_frame(PolarsLike(TABLE)).fingerprint() == expected
    assert Log.from_frame(Minimal(TABLE)).fingerprint() == expected
    words = pd.DataFrame(TABLE | {"action": pd.Categorical(["b", "a", "b"])})
    assert Log.from_frame(words).schema.action.labels == ("a", "b")
    numbered = pd.DataFrame([[0.5, 0, 1, 7], [1.5, 1, 2, 7]])
    assert Log.from_frame(numbered, action="1", reward="2", episode="3").schema.feature_names == ("0",)


def test_missing_values_in_a_frame() -> None:
    frame = pd.DataFrame(TABLE).convert_dtypes()
    frame.loc[1, "speed"] = pd.NA
    with pytest.raises(LogError, match=r"`speed` 1 time \(first in row 1\)"):
        Log.from_frame(frame)
    frame = pd.DataFrame(TABLE | {"action": ["a", None, "b"]})
    with pytest.raises(LogError, match="Action `action` is missing in 1 row, first in row 1"):
        Log.from_frame(frame)


class PolarsLike:
    """What polars offers: names, and columns by position."""

    def __init__(self, columns: dict[str, Any]) -> None:
        self._columns = columns
        self.columns = list(columns)

    def to_series(self, position: int) -> Any:
        return pd.Series(self._columns[self.columns[position]])


class Minimal:
    """The least a table can offer."""

    def __init__(self, columns: dict[str, Any]) -> None:
        self._columns = columns
        self.columns = tuple(columns)

    def __getitem__(self, name: str) -> Any:
        return self._columns[name]
