"""A log as a table of rows, for pandas and Parquet, and back."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow
import pytest
from pyarrow import parquet

from tests.logs import make_log
from tripletree import Log, LogError, MissingDependencyError, ParameterError, read_log
from tripletree.demos import road
from tripletree.log.frames import column_names, fields_of, table_of

MIXED = {"terminated": [True, False, False], "truncated": [False, True, True]}


def mixed(**options) -> Log:
    """Three episodes with two endings, names of their own, and two of three final states."""
    return Log.from_arrays(
        np.arange(12.0).reshape(6, 2) / 7,
        ["left", "right", "left", "left", "right", "left"],
        [0.5, 1, 2, 3, 4, 5],
        starts=[0, 2, 3],
        **MIXED,
        final_states=[[9, 9], [np.nan, np.nan], [8, 8]],
        feature_names=["pos", "phi"],
        units={"pos": "m"},
        kinds={"phi": "angle"},
        episode_ids=["b", "a", "c"],
        **options,
    )


def test_a_log_becomes_a_data_frame():
    frame = mixed().to_pandas()
    assert list(frame) == [
        *("episode", "step", "pos", "phi", "action", "reward", "terminated", "truncated", "next_pos", "next_phi"),
    ]
    assert frame["episode"].tolist() == ["b", "b", "a", "c", "c", "c"]
    assert frame["step"].tolist() == [0, 1, 0, 0, 1, 2]
    assert frame["action"].tolist() == ["left", "right", "left", "left", "right", "left"]
    assert frame["terminated"].tolist() == [False, True, False, False, False, False]
    assert frame["truncated"].tolist() == [False, False, True, False, False, True]
    np.testing.assert_array_equal(frame["next_pos"], np.array([2, 63, np.nan, 8, 10, 56]) / 7)
    frame.loc[0, "pos"] = 3.0  # the frame is the user's own


def test_a_data_frame_becomes_a_log_again():
    log = road.record("left", n_samples=300)
    back = Log.from_frame(log.to_pandas(), action="acc")
    assert back.schema.action.labels == log.schema.action.labels
    for name in ("states", "actions", "rewards", "starts", "final_states", "endings", "episode_ids"):
        np.testing.assert_array_equal(getattr(back, name), getattr(log, name))


def same(log: Log, folder: Path) -> bool:
    log.to_parquet(folder / "log.parquet")
    return read_log(folder / "log.parquet").fingerprint() == log.fingerprint()


def test_a_parquet_file_gives_the_same_log(tmp_path):
    assert same(mixed(labels=["up", "right", "left"]), tmp_path)
    assert same(mixed().select([2, 0, 2]), tmp_path)
    assert same(road.record("either", n_samples=300), tmp_path)
    actions = np.random.default_rng(0).normal(size=(5, 2))
    assert same(Log.from_arrays(np.zeros((5, 1)), actions, [0] * 5, starts=[0, 2]), tmp_path)


def test_names_that_are_taken_do_not_hide_a_column(tmp_path):
    names = ("reward", "episode", "next_episode", "action", "reward_")
    log = make_log(np.arange(10.0).reshape(2, 5), [0, 1], [1, 2], names=names)
    assert len(table_of(log)) == len(column_names(log.schema)) == 2 + 5 + 1 + 3 + 5
    assert same(log, tmp_path)


def test_other_programs_find_columns(tmp_path):
    log = mixed()
    log.to_parquet(tmp_path / "log.pq")
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "log.pq"), log.to_pandas())


def rewritten(path: Path, change) -> Path:
    """Change the table in a file as another program would that keeps what stands beside the columns."""
    parquet.write_table(change(parquet.read_table(path)), path)
    return path


def test_a_table_that_was_changed_is_read_like_any_other(tmp_path):
    path = tmp_path / "log.parquet"
    log = mixed()
    log.to_parquet(path)
    # Without the first rows, steps no longer tell the episodes apart: ids do.
    read = read_log(rewritten(path, lambda table: table.slice(1)))
    assert read.starts.tolist() == [0, 1, 2, 5]
    assert read.reading.startswith("Read 5 samples in 3 episodes from log.parquet.\n  episode      episode (guessed)")
    log.to_parquet(path)
    read = read_log(rewritten(path, lambda table: table.drop_columns(["phi", "next_phi"])))
    assert read.schema.feature_names == ("pos",)


def test_options_are_followed(tmp_path):
    path = tmp_path / "log.parquet"
    mixed().to_parquet(path)
    assert read_log(path, ignore=["phi", "next_phi"]).schema.feature_names == ("pos",)


@pytest.mark.parametrize("schema", ["{", "{}", json.dumps({"features": 3, "action": None})])
def test_a_damaged_schema_is_reported(tmp_path, schema):
    path = tmp_path / "log.parquet"
    mixed().to_parquet(path)
    with pytest.raises(LogError, match=r"log\.parquet is damaged: "):
        read_log(rewritten(path, lambda table: table.replace_schema_metadata({"tripletree_log": schema})))


def test_a_label_that_the_schema_lacks_is_reported(tmp_path):
    path = tmp_path / "log.parquet"
    mixed().to_parquet(path)
    unknown = pyarrow.array(["left", "right", "up", "left", "right", "left"])
    with pytest.raises(LogError, match=r"damaged: it does not hold what Log\.to_parquet writes \('up'\)"):
        read_log(rewritten(path, lambda table: table.set_column(4, "action", unknown)))


def test_steps_that_do_not_count_are_no_log_of_ours():
    log = mixed()
    table = table_of(log)
    assert fields_of(table, log.schema) is not None
    for steps in ([0, 1, 0, 0, 2, 1], [1, 2, 0, 0, 1, 2], [0, 1, 2, 4, 5, 6]):
        assert fields_of({**table, "step": np.array(steps)}, log.schema) is None


def test_places_that_cannot_be_written(tmp_path):
    with pytest.raises(
        ParameterError, match=r"path must end in \.parquet or \.pq; got 'log\.csv'\. Try path=.log\.par"
    ):
        mixed().to_parquet("log.csv")
    with pytest.raises(LogError, match=r"The log cannot be written to .*: No such file or directory\."):
        mixed().to_parquet(tmp_path / "nowhere" / "log.parquet")


@pytest.mark.parametrize(("library", "method"), [("pandas", "to_pandas"), ("pyarrow", "to_parquet")])
def test_a_missing_library_has_its_command(library, method, monkeypatch):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingDependencyError, match=rf"needs {library}\. Type: pip install"):
        getattr(mixed(), method)(*["log.parquet"] if method == "to_parquet" else [])
