"""Folders: files in natural order, columns that differ, and episodes that go on from file to file or do not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.log.raw import write_csv
from tripletree import read_log
from tripletree.errors import LogError, TripleTreeWarning
from tripletree.log.sources import natural

ROWS = {"x": [0.5, 1.5], "action": [0, 1], "reward": [1.0, 2.0]}


def folder_of(place: Path, *tables: dict[str, Any], names: list[str] | None = None) -> Path:
    place.mkdir(exist_ok=True)
    for number, table in enumerate(tables):
        write_csv(place / (names[number] if names else f"part{number}.csv"), table)
    return place


def said(log: Any) -> str:
    return " ".join(finding.text for finding in log.findings if finding.code == "files")


def test_files_come_in_natural_order(tmp_path: Path) -> None:
    parts = [{"step": [2 * k, 2 * k + 1], **ROWS, "x": [k, k + 0.5]} for k in range(12)]
    folder_of(tmp_path, *parts, names=[f"run{k}.csv" for k in range(12)])
    log = read_log(tmp_path)
    assert log.states[::2, 0].tolist() == list(range(12))
    assert log.n_episodes == 1
    assert "from 12 files in" in log.reading
    assert said(log).startswith("An episode goes on from one file to the next at 11 places between 12 files")


def test_names_are_compared_as_people_do() -> None:
    names = ["run10", "run2", "2", "a", "run", "run2b", "10"]
    assert sorted(names, key=natural) == ["2", "10", "a", "run", "run2", "run2b", "run10"]


def test_a_step_that_starts_again_begins_an_episode(tmp_path: Path) -> None:
    part = {"step": [0, 1], **ROWS}
    log = read_log(folder_of(tmp_path, part, part, {"step": [2, 3], **ROWS}))
    assert log.starts.tolist() == [0, 2, 6]
    assert said(log).startswith("An episode goes on from one file to the next at 1 place between 3 files")


def test_without_any_marker_each_file_is_an_episode(tmp_path: Path) -> None:
    log = read_log(folder_of(tmp_path, ROWS, ROWS, names=["morning.csv", "noon.csv"]))
    assert log.episode_ids.tolist() == ["morning", "noon"]
    assert said(log) == "Each of the 2 files is one episode: no column says otherwise."


def test_flags_end_episodes_and_so_do_files(tmp_path: Path) -> None:
    part = {"x": [0.5, 1.5, 2.5], "action": [0, 1, 0], "reward": [1, 2, 3], "done": [False, True, False]}
    log = read_log(folder_of(tmp_path, part, part))
    assert log.starts.tolist() == [0, 2, 3, 5, 6]
    assert "at the end of each of the 2 files" in said(log)


def test_ids_that_differ_are_kept(tmp_path: Path) -> None:
    log = read_log(folder_of(tmp_path, {"episode": [3, 3], **ROWS}, {"episode": [4, 5], **ROWS}))
    assert log.episode_ids.tolist() == [3, 4, 5]
    assert said(log) == ""


def test_an_episode_that_goes_on_by_its_id(tmp_path: Path) -> None:
    first, second = {"episode": [3, 4], **ROWS}, {"episode": [4, 5], **ROWS}
    log = read_log(folder_of(tmp_path, first, second))
    assert log.episode_ids.tolist() == [3, 4, 5]
    assert log.starts.tolist() == [0, 1, 3, 4]
    assert "the episode's id and step go on there" in said(log)


def test_ids_that_count_anew_in_each_file(tmp_path: Path) -> None:
    part = {"episode": [0, 1], "step": [0, 0], **ROWS}
    log = read_log(folder_of(tmp_path, part, part))
    assert log.episode_ids.tolist() == ["part0/0", "part0/1", "part1/0", "part1/1"]
    assert "episodes of different files are kept apart" in said(log)


def test_ids_whose_steps_go_on(tmp_path: Path) -> None:
    first = {"episode": [0, 1], "step": [0, 0], **ROWS}
    second = {"episode": [0, 1], "step": [1, 1], **ROWS}
    log = read_log(folder_of(tmp_path, first, second))
    assert log.episode_ids.tolist() == [0, 1]
    assert log.starts.tolist() == [0, 2, 4]


def test_one_file_in_a_folder_is_that_file(tmp_path: Path) -> None:
    place = folder_of(tmp_path / "runs", {"episode": [0, 0], **ROWS})
    (place / "README.md").write_text("two steps")
    (place / ".hidden.csv").write_text("not,this")
    log = read_log(place)
    assert log.fingerprint() == read_log(place / "part0.csv").fingerprint()
    assert "README.md" in log.reading
    assert ".hidden.csv" not in log.reading


def test_columns_may_stand_in_another_order(tmp_path: Path) -> None:
    first = {"episode": [0, 0], **ROWS}
    second = dict(reversed({"episode": [1, 1], **ROWS}.items()))
    assert read_log(folder_of(tmp_path, first, second)).states[:, 0].tolist() == [0.5, 1.5, 0.5, 1.5]


def test_a_folder_of_parquet_equals_one_of_csv(tmp_path: Path) -> None:
    tables = [{"episode": [k, k], **ROWS} for k in range(3)]
    expected = read_log(folder_of(tmp_path / "csv", *tables)).fingerprint()
    (tmp_path / "parquet").mkdir()
    for number, table in enumerate(tables):
        pd.DataFrame(table).to_parquet(tmp_path / "parquet" / f"part{number}.parquet")
    assert read_log(tmp_path / "parquet").fingerprint() == expected


@pytest.mark.parametrize(
    ("second", "message"),
    [
        (
            {"episode": [1], "y": [1], "action": [0], "reward": [1]},
            "part1.csv lacks `x` and also has `y`, compared with",
        ),
        ({"episode": [1], "x": [1], "action": [0]}, "part1.csv lacks `reward`, compared with part0.csv.*same columns"),
        ({"episode": [1], "x": ["fast"], "action": [0], "reward": [1]}, "`x` holds numbers in part0.csv and text in"),
        (
            {"episode": [1], "x": ["[1 2]"], "action": [0], "reward": [1]},
            r"`x` holds numbers of shape one a row in part0.csv and numbers of shape \(2,\) a row in part1.csv",
        ),
    ],
)
def test_columns_that_differ(tmp_path: Path, second: dict[str, Any], message: str) -> None:
    with pytest.raises(LogError, match=message):
        read_log(folder_of(tmp_path, {"episode": [0, 0], **ROWS}, second))


def test_integers_and_floats_in_one_column(tmp_path: Path) -> None:
    log = read_log(folder_of(tmp_path, {"episode": [0, 0], **ROWS, "x": [1, 2]}, {"episode": [1, 1], **ROWS}))
    np.testing.assert_array_equal(log.states[:, 0], [1, 2, 0.5, 1.5])


def test_flags_and_lists_of_which_some_file_lacks_one(tmp_path: Path) -> None:
    for number, (flag, pair) in enumerate([(True, [1, 2]), (None, [3, None])]):
        rows = {"episode": number, "lamp": [False, flag], "pos": [[0, 1], pair], "action": [0, 1], "reward": 1.0}
        pd.DataFrame(rows).to_parquet(tmp_path / f"part{number}.parquet")
    with pytest.warns(TripleTreeWarning, match=r"`lamp` in 1 row \(first in row 3\), `pos_1` in 1 row"):
        log = read_log(tmp_path)
    np.testing.assert_array_equal(log.states, [[0, 0, 1], [1, 1, 2], [0, 0, 1]])
