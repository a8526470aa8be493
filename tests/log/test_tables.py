"""Log.from_dict and Log.from_frame: tables of all sorts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from tests.log.raw import BASE, TABLE
from tripletree.errors import LogError, ParameterError, TripleTreeWarning
from tripletree.log import TERMINATED, TRUNCATED, Log


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


def test_ignored_columns_are_not_looked_at() -> None:
    log = Log.from_dict(TABLE | {"junk": object()}, ignore=["junk", "speed"])
    assert log.schema.feature_names == ("pos",)
    assert Log.from_dict(TABLE | {"junk": None}, ignore="junk").n_features == 2


@pytest.mark.parametrize("rows", [[0, 1, 2], [5, 6, 7]])
def test_row_counters_are_dropped(rows: list[int]) -> None:
    for name in ("", "Unnamed: 0", "index", "__index_level_0__"):
        assert Log.from_dict({name: rows} | TABLE).schema.feature_names == ("pos", "speed")
    assert Log.from_dict({"index": rows} | TABLE, features=["index"]).schema.feature_names == ("index",)


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        ({}, {}, "The table has no columns"),
        ({"reward": [1]}, {}, r"No column is left for the state.*features="),
        (BASE, {}, "Nothing says where episodes begin or end"),
        (TABLE, {"reward": "rewad"}, r"no column `rewad` \(given as reward\). Did you mean `reward`"),
        (TABLE, {"features": ["pos", "Speed"]}, r"no column `Speed` \(given as features\). Did you mean `speed`"),
        (TABLE, {"ignore": ["zzz"]}, r"no column `zzz` \(given as ignore\). Choose from `episode`, `pos`"),
        (TABLE, {"features": ["pos"], "action": "pos"}, "`pos` was given as features and as action"),
        (
            TABLE,
            {"next_state": "after_"},
            r"No column is called `after_` \(given as next_state\) followed by the name",
        ),
        (TABLE | {"due": pd.to_datetime(["2024-01-01"] * 3)}, {}, r"`due` holds dates or times.*ignore=\[.due.\]"),
        (TABLE | {"who": ["x", "y", "3"]}, {}, r"`who` holds text \(first in row 0: 'x'\).*ignore=\[.who.\]"),
        (TABLE | {"image": np.zeros((3, 2, 2))}, {}, r"Column `image` has shape \(3, 2, 2\)"),
        (TABLE | {"k": 3}, {}, r"Column `k` has shape \(\)"),
        (TABLE | {"pos": [1, 2]}, {}, "3 rewards, but feature `pos` has 2"),
        (TABLE | {"": [1, 1, 2]}, {}, "Column 6 has no name, and it does more than number the rows"),
        (BASE | {"prev": [-1, 0, 7]}, {}, "previous-row pointer of row 2 is 7; it must be from 0 to 2, or -1 for none"),
    ],
)
def test_what_cannot_be_read_is_told(columns: dict[str, Any], options: dict[str, Any], message: str) -> None:
    with pytest.raises(LogError, match=message):
        Log.from_dict(columns, **options)


def test_not_a_table() -> None:
    with pytest.raises(LogError, match="Expected a dict of columns, got list"):
        Log.from_dict([1, 2])  # type: ignore[arg-type]
    for thing in (3, "text", [1, 2], {"a": [1]}):
        with pytest.raises(LogError, match=r"Expected a DataFrame \(pandas, polars\) or an Arrow table, got"):
            Log.from_frame(thing)
    for option in ("ignore", "features", "action", "episode"):
        with pytest.raises(ParameterError, match=rf"{option}=3 cannot be used; type {option}="):
            Log.from_dict(TABLE, **{option: 3})  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match=r"There is no option `rewards`. Did you mean `reward`"):
        Log.from_dict(TABLE, rewards="reward")  # type: ignore[call-arg]


def test_doubled_names_in_a_frame() -> None:
    frame = pd.DataFrame([[0, 1.5, 2.5, 1, 0]], columns=["episode", "x", "x", "action", "reward"])
    with pytest.raises(LogError, match="`x` is the name of more than one column; names must differ"):
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
    with pytest.warns(TripleTreeWarning, match=r"`speed` in 1 row \(first in row 1\)"):
        assert Log.from_frame(frame).n_samples == 2
    frame = pd.DataFrame(TABLE | {"action": ["a", None, "b"]})
    with pytest.warns(TripleTreeWarning, match=r"`action` in 1 row \(first in row 1\)"):
        assert Log.from_frame(frame).schema.action.labels == ("a", "b")


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


def test_names_of_several_levels_are_joined() -> None:
    frame = pd.DataFrame(
        {("arm", "x"): [0.5, 1], ("arm", "y"): [1.5, 2], ("action", ""): [0, 1], ("reward", ""): [0, 1]}
    )
    log = Log.from_frame(frame, action="action_", reward="reward_", endless=True)
    assert log.schema.feature_names == ("arm_x", "arm_y")


def test_the_reading_names_the_library() -> None:
    assert Log.from_frame(pd.DataFrame(TABLE)).reading.startswith("Read 3 samples in 2 episodes from a pandas table.")
    assert Log.from_frame(pa.table(TABLE)).reading.startswith("Read 3 samples in 2 episodes from a pyarrow table.")


def test_several_names_that_occur_twice() -> None:
    frame = pd.DataFrame([[0, 1, 2, 3]], columns=["x", "x", "y", "y"])
    with pytest.raises(LogError, match=r"^`x`, `y` are the name of more than one column; names must differ"):
        Log.from_frame(frame)


def test_the_place_of_an_unnamed_column_counts_those_that_were_dropped() -> None:
    with pytest.raises(
        LogError, match=r"^Column 2 has no name, and it does more than number the rows\. Give it a name\.$"
    ):
        Log.from_dict({"index": [0, 1, 2], " ": [1, 1, 2]} | TABLE)


def test_a_block_of_one_column_keeps_its_name() -> None:
    assert Log.from_dict(TABLE | {"height": [[0.5], [1], [2]]}).schema.feature_names == ("pos", "speed", "height")
