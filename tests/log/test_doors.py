"""No value changes in silence on its way in, through whichever door it comes: it stays what it is, or it is refused."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from tests.log.raw import write_csv
from tripletree.errors import LogError, TripleTreeWarning
from tripletree.log import Log, check, read_log

TABLE: dict[str, Any] = {
    "episode": ["a", "a", "b", "b"],
    "step": [0, 1, 0, 1],
    "pos": [0.5, 1, 2, 3.5],
    "action": ["l", "r", "l", "r"],
    "reward": [0.0, 1, 2, 3.5],
}


def by_dict(columns: dict[str, Any], _: Path) -> Log:
    return Log.from_dict(columns)


def by_arrays(columns: dict[str, Any], _: Path) -> Log:
    return Log.from_arrays(
        columns["pos"], columns["action"], columns["reward"], episodes=columns["episode"], steps=columns["step"]
    )


def by_pandas(columns: dict[str, Any], _: Path) -> Log:
    return Log.from_frame(pd.DataFrame(columns))


def by_arrow(columns: dict[str, Any], _: Path) -> Log:
    return Log.from_frame(pa.table(pd.DataFrame(columns)))


def by_batch(columns: dict[str, Any], _: Path) -> Log:
    return Log.from_frame(pa.RecordBatch.from_pandas(pd.DataFrame(columns)))


def by_parquet(columns: dict[str, Any], folder: Path) -> Log:
    parquet.write_table(pa.table(pd.DataFrame(columns)), folder / "log.parquet")
    return read_log(folder / "log.parquet")


def by_csv(columns: dict[str, Any], folder: Path) -> Log:
    pd.DataFrame(columns).to_csv(folder / "log.csv", index=False)
    return read_log(folder / "log.csv")


def by_npz(columns: dict[str, Any], folder: Path) -> Log:
    np.savez(folder / "log.npz", **{name: np.asarray(column) for name, column in columns.items()})
    return read_log(folder / "log.npz")


Door = Callable[[dict[str, Any], Path], Log]
FRAMES: list[Door] = [by_dict, by_arrays, by_pandas, by_arrow, by_batch, by_parquet]
ALL: list[Door] = [*FRAMES, by_csv, by_npz]


def doors(chosen: list[Door]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("door", chosen, ids=lambda door: door.__name__)


MISSING = {
    "category-action": {"action": pd.Categorical(["l", None, "r", "r"])},
    "category-episode": {"episode": pd.Categorical(["a", None, "b", "b"])},
    "category-numbers": {"action": pd.Categorical([0, None, 2, 2])},
    "category-ids": {"episode": pd.Categorical([7, None, 9, 9])},
    "nullable-text": {"action": pd.array(["l", None, "r", "r"], "string")},
    "nullable-ids": {"episode": pd.array([2**53 + 1, None, 7, 7], "Int64")},
    "nullable-flags": {"action": [True, None, False, True]},
    "nan-action": {"action": [0.0, np.nan, 1.0, 1.0]},
    "nan-state": {"pos": [0.5, None, 2, 3.5]},
}


@doors([*FRAMES, by_csv])
@pytest.mark.parametrize("columns", MISSING.values(), ids=MISSING)
def test_a_missing_value_is_missing(door: Door, columns: dict[str, Any], tmp_path: Path) -> None:
    # A warning where the row can be left out, an error where it cannot: warnings are errors here.
    with pytest.raises((LogError, TripleTreeWarning), match=r"in 1 row.*first in row 1|missing( \(Na[NT]\))? in row 1"):
        door(TABLE | columns, tmp_path)


@doors([*FRAMES, by_npz])
@pytest.mark.parametrize("column", ["step", "action", "episode"])
def test_a_missing_date_is_missing(door: Door, column: str, tmp_path: Path) -> None:
    dates = pd.to_datetime(["2024-01-01", None, "2024-01-01", "2024-01-02"])
    for times in (dates, dates - dates[0]):
        with pytest.raises((LogError, TripleTreeWarning), match=r"in 1 row.*first in row 1|missing \(NaT\) in row 1"):
            door(TABLE | {column: times}, tmp_path)


KEPT: dict[str, tuple[str, list[Any]]] = {
    "zeros in front": ("episode", ["007", "007", "7", "7"]),
    "large": ("episode", [2**53 + 1, 2**53 + 1, 2**53, 2**53]),
    "beyond int64": ("episode", [2**64 - 1, 2**64 - 1, 2**64 - 2, 2**64 - 2]),
    "negative": ("episode", [-(2**62) - 1, -(2**62) - 1, -(2**62), -(2**62)]),
    "case": ("episode", ["A", "A", "a", "a"]),
    "accents": ("episode", ["e\u0301", "e\u0301", "\xe9", "\xe9"]),
}


@doors(ALL)
@pytest.mark.parametrize(("name", "ids"), KEPT.values(), ids=KEPT)
def test_different_ids_stay_different(door: Door, name: str, ids: list[Any], tmp_path: Path) -> None:
    log = door(TABLE | {name: ids}, tmp_path)
    assert list(map(str, log.episode_ids.tolist())) == [str(ids[0]), str(ids[2])]


@doors(ALL)
def test_labels_stay_different(door: Door, tmp_path: Path) -> None:
    log = door(TABLE | {"action": ["01", "1", "001", "1"]}, tmp_path)
    assert log.schema.action.labels == ("001", "01", "1")


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "nul-ids": ({"episode": ["a\0", "a\0", "a", "a"]}, "holds text with a NUL character"),
    "nul-labels": ({"action": ["a\0", "a\0", "a", "a"]}, "holds text with a NUL character"),
    "bytes": ({"action": [b"a", b"\xff", b"\xfe", b"a"]}, "holds bytes that are not UTF-8"),
    "floats": ({"episode": [2.0**53, 2.0**53, 1, 1]}, "different ids may have become equal"),
    "decimals": ({"episode": [Decimal(2**53 + 1)] * 2 + [Decimal(2**53)] * 2}, "different ids may have become equal"),
}


@doors(FRAMES)
@pytest.mark.parametrize(("columns", "message"), REFUSED.values(), ids=REFUSED)
def test_what_could_become_equal_is_refused(door: Door, columns: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(LogError, match=message):
        door(TABLE | columns, tmp_path)


def test_bytes_that_are_not_utf8_in_a_numpy_file(tmp_path: Path) -> None:
    with pytest.raises(LogError, match="Column `action` holds bytes that are not UTF-8"):
        by_npz(TABLE | {"action": [b"a", b"\xff", b"\xfe", b"a"]}, tmp_path)


@doors([by_dict, by_arrays, by_pandas])
@pytest.mark.parametrize("name", ["episode", "action"])
def test_numbers_among_text_are_refused(door: Door, name: str, tmp_path: Path) -> None:
    with pytest.raises(LogError, match=r"mixes numbers and text \(1 in row 0, '1' in row 2\)"):
        door(TABLE | {name: [1, 1, "1", "1"]}, tmp_path)


def test_a_list_of_episodes_whose_ids_are_numbers_and_text() -> None:
    episode = {"states": [[0.5], [1.5]], "actions": [0, 1], "rewards": [0, 1]}
    with pytest.raises(LogError, match="`episode_ids` mixes numbers and text"):
        Log.from_episodes([episode | {"id": 1}, episode | {"id": "1"}])


def test_ids_of_only_some_episodes_are_said() -> None:
    episode = {"states": [[0.5], [1.5]], "actions": [0, 1], "rewards": [0, 1]}
    log = Log.from_episodes([episode | {"id": 7}, episode])
    assert log.episode_ids.tolist() == [0, 1]
    assert [finding.text for finding in log.findings] == ["1 of 2 episodes has an id; all are numbered from 0 instead."]


def test_gaps_between_small_integers_are_counted_right() -> None:
    with pytest.warns(TripleTreeWarning, match="the step counter jumps by 1 to 200"):
        Log.from_dict(TABLE | {"step": np.array([-100, 100, 0, 1], np.int8)})


def test_large_integers_in_a_list_of_episodes_are_said() -> None:
    with pytest.warns(TripleTreeWarning, match=r"`s0` holds integers beyond 2\*\*53"):
        Log.from_episodes([{"states": [[2**60], [1]], "actions": [0, 1], "rewards": [0, 1]}])


@doors([by_dict, by_arrays, by_pandas, by_arrow, by_batch, by_parquet])
def test_time_zones_are_one_time(door: Door, tmp_path: Path) -> None:
    """In autumn an hour comes twice: by the clock on the wall, these steps would be out of order."""
    hours = pd.to_datetime(["2024-10-27 00:30", "2024-10-27 01:10"] * 2).tz_localize("UTC").tz_convert("Europe/Berlin")
    log = door(TABLE | {"step": hours}, tmp_path)
    assert log.states[:, 0].tolist() == TABLE["pos"]


def test_steps_may_be_large_integers() -> None:
    log = Log.from_dict(TABLE | {"step": np.array([1, 0, 1, 0]) + 1_700_000_000_000_000_000})
    assert log.states[:, 0].tolist() == [1, 0.5, 3.5, 2]
    assert [finding.code for finding in log.findings] == ["sorted"]


def test_a_feature_with_zeros_in_front_is_a_number(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "log.csv", TABLE | {"hour": ["00", "01", "09", "10"], "step": ["00", "01", "00", "01"]})
    log = read_log(path)
    assert log.schema.feature_names == ("pos", "hour")
    assert log.states[:, 1].tolist() == [0, 1, 9, 10]


def test_zeros_in_front_far_down_a_file(tmp_path: Path) -> None:
    rows = "".join(f"{e},{s},{s}.5,1,1\n" for e in range(2000) for s in range(2)) + "007,0,0.5,1,1\n"
    (tmp_path / "log.csv").write_text("episode,step,pos,action,reward\n" + rows)
    log = read_log(tmp_path / "log.csv")
    assert log.n_episodes == 2001
    assert log.episode_ids[[7, -1]].tolist() == ["7", "007"]


def test_minus_zero_is_no_label_of_its_own() -> None:
    for actions in ([-0.0, 0.0, 1.0, 1.0], [0.0, -0.0, 1.0, 1.0], [-0.0, -0.0, 1.0, 1.0]):
        log = Log.from_dict(TABLE | {"action": actions}, action_kind="discrete")
        assert log.schema.action.labels == ("0", "1")


def test_combinations_that_read_the_same_are_refused() -> None:
    columns = {name: column for name, column in TABLE.items() if name != "action"}
    columns |= {"action_x": ["a, b", "a", "a", "a"], "action_y": ["c", "b, c", "d", "d"]}
    with pytest.raises(LogError, match="different combinations have the same label `a, b, c`"):
        Log.from_dict(columns)


@doors([by_dict, by_arrays, by_pandas, by_arrow, by_batch, by_parquet, by_npz])
def test_labels_that_differ_only_by_spaces_are_said(door: Door, tmp_path: Path) -> None:
    with pytest.warns(TripleTreeWarning, match=r"differ only by spaces, and count as different: 'l', 'l '\."):
        log = door(TABLE | {"action": ["l", "l ", "r", "r"]}, tmp_path)
    assert log.schema.action.labels == ("l", "l ", "r")


@doors(ALL)
@pytest.mark.parametrize("word", ["nan", "NaT", "NULL", "<NA>"])
def test_labels_that_may_be_missing_are_said(door: Door, word: str, tmp_path: Path) -> None:
    if door is by_csv:
        word = f" {word}"
    with pytest.warns(TripleTreeWarning, match=f"`{word.strip()}` is a label of action `action`, like any other"):
        door(TABLE | {"action": ["l", word.strip(), "r", "r"]}, tmp_path)


def test_none_may_well_be_an_action() -> None:
    assert Log.from_dict(TABLE | {"action": ["l", "none", "None", "r"]}).findings == ()


def test_a_value_that_two_labels_name() -> None:
    with pytest.raises(LogError, match=r"names a value twice, as a number and as text"):
        Log.from_dict(TABLE | {"action": [0, 1, 0, 1]}, labels={0: "l", "0": "x", 1: "r"})


@pytest.mark.parametrize("order", [("obs", "obs_0"), ("obs_0", "obs")])
def test_a_block_does_not_replace_a_column(order: tuple[str, str]) -> None:
    columns = {"obs": np.arange(8.0).reshape(4, 2), "obs_0": [9.0, 9, 8, 7]}
    report = check(TABLE | {name: columns[name] for name in order})
    assert report.errors[0].text.startswith("`obs_0` is the name of more than one column")
