"""CSV files: types, separators, marks, and files that are no tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.log.raw import write_csv
from tripletree.errors import LogError
from tripletree.log import csv_reader as reader
from tripletree.log import read_log
from tripletree.log.findings import Findings


def write(folder: Path, text: str | bytes, name: str = "log.csv") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def columns(folder: Path, text: str) -> dict[str, Any]:
    names, arrays = reader.read_csv(write(folder, text), "utf-8", Findings())
    return dict(zip(names, arrays, strict=True))


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1", "2"], np.array([1, 2])),
        (["007", "-3"], np.array(["007", "-3"], object)),
        (["+07", "7"], np.array(["+07", "7"], object)),
        (["0", "-0", "10"], np.array([0, 0, 10])),
        (["00.5", "1"], np.array([0.5, 1.0])),
        (["1.0", "2"], np.array([1.0, 2.0])),
        (["1e3", "2"], np.array([1000.0, 2.0])),
        (["0.1", ""], np.array([0.1, np.nan])),
        (["1", "NA"], np.array([1, np.nan])),
        (["inf", "-inf"], np.array([np.inf, -np.inf])),
        (["True", "false"], np.array([True, False])),
        (["left", "none"], np.array(["left", "none"], object)),
        (["left", ""], np.array(["left", None], object)),
        (["1_0", "0_1"], np.array(["1_0", "0_1"], object)),
        (["9007199254740993", "1"], np.array([9007199254740993, 1])),
        (["99999999999999999999", "1"], np.array(["99999999999999999999", "1"], object)),
        (['"a,b"', " c "], np.array(["a,b", "c"], object)),
        ([" 1 ", "2 "], np.array([1, 2])),
        (["", ""], np.array([np.nan, np.nan])),
        (["none", "NA"], np.array(["none", "NA"], object)),
        (["none", ""], np.array(["none", None], object)),
    ],
)
def test_types(tmp_path: Path, cells: list[str], expected: Any) -> None:
    column = columns(tmp_path, "x,y\n" + "".join(f"{cell},0\n" for cell in cells))["x"]
    assert column.dtype == expected.dtype
    np.testing.assert_array_equal(column, expected)


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_separators(tmp_path: Path, separator: str) -> None:
    path = write_csv(tmp_path / "log.csv", {"episode": [0], "x": [0.5], "action": [1], "reward": [2]}, separator)
    assert read_log(path).states.tolist() == [[0.5]]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_blank_lines_and_marks(tmp_path: Path, end: str) -> None:
    lines = ["", "episode,x,action,reward", "", "0,0.5,1,2", "", "0,1.5,0,2", ""]
    log = read_log(write(tmp_path, b"\xef\xbb\xbf" + end.join(lines).encode()))
    assert log.states.tolist() == [[0.5], [1.5]]


def test_text_that_comes_late_keeps_its_digits(tmp_path: Path) -> None:
    cells = ["01"] * (reader.BLOCK + 5) + ["x"]
    column = columns(tmp_path, "a,b\n" + "".join(f"{cell},1\n" for cell in cells))["a"]
    assert column.tolist() == cells


def test_floats_that_come_late(tmp_path: Path) -> None:
    cells = ["1"] * (reader.BLOCK + 5) + ["0.5"]
    column = columns(tmp_path, "a,b\n" + "".join(f"{cell},1\n" for cell in cells))["a"]
    assert column.dtype == np.float64
    assert column[-1] == 0.5


def test_another_encoding_can_be_named(tmp_path: Path) -> None:
    path = write(tmp_path, "episode,höhe,action,reward\n0,0.5,1,2\n".encode("latin-1"))
    with pytest.raises(LogError, match=r'is not utf-8 text: it holds byte 0xf6.*encoding="latin-1"'):
        read_log(path)
    assert read_log(path, encoding="latin-1").schema.feature_names == ("höhe",)
    with pytest.raises(LogError, match="There is no encoding 'klingon'"):
        read_log(path, encoding="klingon")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "log.csv is empty; expected a header line"),
        ("\n\n", "log.csv is empty"),
        ("episode,x,action,reward\n", "holds a header and no samples"),
        ("0,0.5,1,2\n0,0.7,1,2\n", r"has no header: its first line holds only numbers \(0, 0.5, 1, 2, ...\)"),
        (
            "episode,x,action,reward\n0,1,2\n0,1,2,3\n0,1\n",
            "2 rows of log.csv differ .*: row 0 has 3 cells, the header has 4",
        ),
        ("episode,x,x,action,reward\n0,1,1,2,3\n", "`x` is the name of more than one column"),
        ("episode,x,action,reward\n0,abc,2,3\n", r"`x` holds text \(first in row 0: 'abc'\)"),
        ("episode,x,action,reward\n0,1.5,2,3\n0,oops,2,3\n", r"`x` holds text \(first in row 1: 'oops'\)"),
        ("episode;x;action;reward\n0;1,5;2;3\n", r"`x` holds text \(first in row 0: '1,5'\)"),
        ("episode,x,action,reward\n0,,2,3\n", r"`x` in 1 row \(first in row 0\)"),
        ("episode,x,action,reward\n0,1,2,nan\n", "The reward is NaN or infinite in 1 row"),
        ("episode,x,,action,reward\n0,1,5,2,3\n0,1,5,2,3\n", "Column 3 has no name"),
        ('episode,x,action,reward\n0,1,"2,3\n', "differs from the header in length"),
        ("episode,x,action,reward\n0,1,2," + "9" * 200_000, "cannot be read as CSV: field larger than field limit"),
        ("just some words\nand more\n", "No column looks like the reward"),
    ],
)
def test_files_that_are_no_tables(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(LogError, match=message):
        read_log(write(tmp_path, text))


def test_binary_rubbish(tmp_path: Path) -> None:
    with pytest.raises(LogError, match="is not utf-8 text"):
        read_log(write(tmp_path, bytes(range(256)) * 10))
    with pytest.raises(LogError, match=r"NUL character|cannot be read as CSV"):
        read_log(write(tmp_path, "a,b\n\0,1\n"))


def test_a_trailing_separator_is_no_column(tmp_path: Path) -> None:
    log = read_log(write(tmp_path, "episode,x,action,reward,\n0,0.5,1,2,\n0,1.5,0,2,\n"))
    assert log.schema.feature_names == ("x",)


def test_one_row_that_differs(tmp_path: Path) -> None:
    with pytest.raises(
        LogError, match=r"^1 row of log.csv differs from the header in length: row 1 has 1 cell, the header"
    ):
        read_log(write(tmp_path, "episode,x,action,reward\n0,1,2,3\n7\n"))


@pytest.mark.parametrize("rows", [1, 2, 3, 7])
def test_blocks_of_any_size_give_the_same_columns(tmp_path: Path, rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "a,b,c\n" + "".join(f"{k},{k / 2},{'x' if k % 3 else k}\n" for k in range(7))
    expected = columns(tmp_path, text)
    monkeypatch.setattr(reader, "BLOCK", rows)
    for name, column in columns(tmp_path, text).items():
        assert column.dtype == expected[name].dtype
        assert column.tolist() == expected[name].tolist()


def test_equal_labels_share_their_memory(tmp_path: Path) -> None:
    column = columns(tmp_path, "a,b\n" + "left,1\nright,2\n" * 100)["a"]
    assert len({id(label) for label in column}) == 2
