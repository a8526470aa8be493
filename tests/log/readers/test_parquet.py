"""Parquet files, and what happens without pyarrow."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tripletree.errors import LogError, MissingDependencyError
from tripletree.log import read_log

TABLE = {"episode": [0, 0, 1], "x": [0.5, 1, 2], "action": ["up", "down", "up"], "reward": [1, 2, 3]}


def write(path: Path, table: pa.Table) -> Path:
    pq.write_table(table, path)
    return path


def test_types_of_columns(tmp_path: Path) -> None:
    table = pa.table(TABLE | {"ok": [True, False, True], "small": np.array([1, 2, 3], np.float32) / 8})
    log = read_log(write(tmp_path / "log.pq", table))
    assert log.schema.feature_names == ("x", "ok", "small")
    assert log.states[:, 2].tolist() == [0.125, 0.25, 0.375]
    assert log.schema.action.labels == ("down", "up")


def test_words_in_a_dictionary_and_states_in_lists(tmp_path: Path) -> None:
    states = pa.array([[0.5, 1], [2, 3], [4, 5]], pa.list_(pa.float64()))
    words = pa.array(TABLE["action"]).dictionary_encode()
    log = read_log(write(tmp_path / "log.parquet", pa.table(TABLE | {"action": words, "x": states})))
    assert log.states.tolist() == [[0.5, 1], [2, 3], [4, 5]]
    assert log.schema.action.labels == ("down", "up")


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (pa.table(TABLE | {"x": [0.5, None, 1]}), r"`x` 1 time \(first in row 1\)"),
        (pa.table(TABLE | {"x": [[1], [1, 2], [3]]}), "Column `x` is ragged"),
        (pa.table(TABLE | {"x": [{"a": 1}] * 3}), r"Column `x` holds Python objects \(dict\)"),
        (pa.table(TABLE | {"episode": [0, None, 1]}), r"`episode` is missing \(NaN\) in row 1"),
        (pa.table({name: pa.array([], pa.float64()) for name in TABLE}), "holds no samples"),
        (
            pa.table([[0], [1.5], [2.5], [1], [2]], ["episode", "x", "x", "action", "reward"]),
            "`x` came as a column name",
        ),
    ],
)
def test_bad_tables(tmp_path: Path, table: pa.Table, message: str) -> None:
    with pytest.raises(LogError, match=message):
        read_log(write(tmp_path / "log.parquet", table))


def test_damaged_files(tmp_path: Path) -> None:
    path = write(tmp_path / "log.parquet", pa.table(TABLE))
    content = path.read_bytes()
    for damaged in (b"", b"PAR1", content[:-20], b"PAR1" + b"\xff" * 200 + b"PAR1"):
        path.write_bytes(damaged)
        with pytest.raises(LogError, match=r"is no Parquet file, or damaged|cannot be read"):
            read_log(path)


def test_without_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "log.parquet", pa.table(TABLE))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingDependencyError, match=r'pip install "tripletree\[parquet\]"'):
        read_log(path)
