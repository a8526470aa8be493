"""CSV files: types, separators, marks, and files that are no tables."""

from __future__ import annotations

import contextlib
import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.log.raw import write_csv
from tests.reference import csv_table
from tripletree import _kernel
from tripletree.errors import LogError
from tripletree.log import csv_reader as reader
from tripletree.log import read_log
from tripletree.log.findings import BadLogError


def write(folder: Path, text: str | bytes, name: str = "log.csv") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def columns(folder: Path, text: str) -> dict[str, Any]:
    table = reader.read_csv(write(folder, text), "utf-8")
    return dict(zip(table.names, table.columns, strict=True))


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1", "2"], np.array([1, 2])),
        (["007", "-3"], np.array([7, -3])),
        (["007", "7"], np.array(["007", "7"], object)),
        (["007", "7", "0.5"], np.array([7, 7, 0.5])),
        (["1e400", "-1e400", "1e-400"], np.array([np.inf, -np.inf, 0.0])),
        (["١٢", "\xa03"], np.array([12, 3])),
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


def test_text_that_comes_late_keeps_its_digits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "BLOCK", 64)
    cells = ["01"] * 100 + ["x"]
    column = columns(tmp_path, "a,b\n" + "".join(f"{cell},1\n" for cell in cells))["a"]
    assert column.tolist() == cells


def test_floats_that_come_late(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "BLOCK", 64)
    cells = ["1"] * 100 + ["0.5"]
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
    "encoding", [None, 5, b"utf-8", "", "undefined", "hex", "rot13", "utf-8\0", "\ud800", "klingon" * 1000, "../utf_8"]
)
def test_what_is_no_encoding(tmp_path: Path, encoding: Any) -> None:
    path = write_csv(tmp_path / "log.csv", {"episode": [0], "x": [0.5], "action": [1], "reward": [2]})
    with pytest.raises(LogError, match=r'There is no encoding .*Type encoding="utf-8" or encoding="latin-1"'):
        read_log(path, encoding=encoding)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32-be", "cp500", "utf-7", "shift-jis"])
def test_encodings_that_are_not_like_ascii(tmp_path: Path, encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "BLOCK", 3)
    path = write(tmp_path, "episode,x,action,reward\n0,0.5,1,2\n".encode(encoding))
    assert read_log(path, encoding=encoding).states.tolist() == [[0.5]]


@pytest.mark.parametrize(
    ("encoding", "text"),
    [("utf-16", "abc"), ("unicode_escape", r"a,b\n\ud800,1\n"), ("punycode", "a-é"), ("ascii", "é")],
)
def test_text_that_is_not_of_its_encoding(tmp_path: Path, encoding: str, text: str) -> None:
    with pytest.raises(LogError, match=r"log.csv is not .* text.*Save it as UTF-8, or name its encoding"):
        read_log(write(tmp_path, text), encoding=encoding)


def odd_file(rng: np.random.Generator) -> str:
    """Return a file with cells that readers of CSV disagree about."""
    separator, end = rng.choice([",", ",", ";", "\t", "|"]), rng.choice(["\n", "\n", "\r\n", "\r"])
    width = int(rng.integers(1, 5))
    lines = [separator.join(str(rng.choice(NAMES)) if rng.random() < 0.05 else f"n{k}" for k in range(width))]
    palettes = [rng.choice(CELLS, int(rng.integers(1, 5))) for _ in range(width)]
    for _ in range(int(rng.integers(0, 9))):
        cells = [str(rng.choice(palette)) for palette in palettes]
        lines.append(separator.join(cells[: -int(rng.random() < 0.01) or None]))
        lines += ["", " "][: int(rng.choice([0, 1, 2], p=[0.95, 0.045, 0.005]))]
    return str(end.join(lines) + end * (rng.random() < 0.7))


NAMES = ["", "é", " e ", '"q"', '"h\nh"', "1", "nan", "x"]
WORDS = """
0 1 -3 +5 7 007 00 0.5 .5 5. 1e3 1E-3 1e e5 - + --1 +-1 nan NaN -nan inf -Infinity INF infinit na NA n/a <NA> null None
true False TRUE left right 1_0 _ 0x10 1,5 1e999 -1e999 1e-999 4.9e-324 2.4703282292062327e-324 2.4703282292062328e-324
1.7976931348623159e308 0e99999999999999999999 1e99999999999999999999 0.000001e-99999999999 9007199254740993
9223372036854775807 9223372036854775808 -9223372036854775808 -9223372036854775809 18446744073709551616 # '1' nan(1)
0.1 0.30000000000000004 123456789.123456789 6.0221e+23 8.41470984807896504875657228695e-1 ٣ １２ −1 é 日本 2024-01-01
12:30 1\0 \0 "" "1" "a,b" "q""q" "ab"c a"b "ab"c"d" "
"""
CELLS = [
    *WORDS.split(),
    "",
    "  ",
    " 2 ",
    "\t3",
    "2\x1c",
    "\x1c",
    "\x0b4",
    "1 000",
    "\xa05",
    "\u20033",
    "\xa0NA",
    "\xa0",
    '"x\ny"',
    '" "',
]
CELLS += ["1" * 400, "0" * 400 + "7", "0." + "3" * 800, "1" * 300 + ".5e-290"]


@pytest.mark.parametrize("part", range(6))
def test_odd_files_are_read_as_defined(tmp_path: Path, part: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(part * 400, part * 400 + 400):
        rng = np.random.default_rng(seed)
        text = odd_file(rng)
        monkeypatch.setattr(reader, "BLOCK", int(rng.choice([1, 7, 64, 2**20])))
        expected = csv_table.read(text)
        if isinstance(expected, str):
            with pytest.raises(BadLogError, match=r"log\.csv") as caught:
                reader.read_csv(write(tmp_path, text), "utf-8")
            assert caught.value.report.errors[0].code == expected, (seed, text)
            continue
        table = reader.read_csv(write(tmp_path, text), "utf-8")
        names, arrays = table.names, table.columns
        assert names == expected[0], (seed, text)
        for column, right in zip(arrays, expected[1], strict=True):
            assert column.dtype == right.dtype, (seed, text)
            # As text, because there NaN equals NaN and 0 is not -0.
            assert repr(column.tolist()) == repr(right.tolist()), (seed, text)


def test_the_kernel_takes_any_bytes() -> None:
    alphabet = np.frombuffer(b'",;\r\n 0123456789.eE+-naNAinf_x\0\xff\xc3\xa9', np.uint8)
    for seed in range(2000):
        rng = np.random.default_rng(seed)
        data = rng.choice(alphabet, int(rng.integers(0, 60))).tobytes()
        last = bool(rng.integers(2))
        with contextlib.suppress(UnicodeDecodeError):
            found = _kernel.csv_header(data, ",", last)
            assert found is not None or not last or not data.strip(b"\r\n"), data
        with contextlib.suppress(UnicodeDecodeError):
            used, rows, (odd, _, _), table = _kernel.csv_columns(data, ",", last, bytes(int(rng.integers(1, 4))))
            assert used == len(data) if last else used <= len(data), data
            assert rows + odd <= len(data)
            assert all(len(values) == rows for values, _ in table), data


@pytest.mark.parametrize("digits", [1, 9, 15, 16, 17, 19, 25])
def test_numbers_are_the_nearest_doubles(tmp_path: Path, digits: int) -> None:
    rng = np.random.default_rng(digits)
    values = rng.integers(0, 2**64, 3000, np.uint64, endpoint=False).view(np.float64)
    cells = [f"{value:.{digits}g}" for value in values[np.isfinite(values)]]
    column = columns(tmp_path, "x,y\n" + "".join(f"{cell},0\n" for cell in cells))["x"]
    assert column.tolist() == [float(cell) for cell in cells]


@pytest.mark.parametrize("text", ["a,b\n" + "1," * 40, 'a,b\n"' + "x" * 40, "a" * 80])
def test_a_row_without_end_is_not_held(tmp_path: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "BLOCK", 8)
    monkeypatch.setattr(reader, "LONGEST_ROW", 32)
    with pytest.raises(LogError, match=r"it has a row of 32 bytes or more. Every step needs a line of its own"):
        read_log(write(tmp_path, text))


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
        ("episode,x,action,reward\n0,2,2,3\n0,abc,2,3\n", r"`x` holds text \(first in row 1: 'abc'\)"),
        ("episode,x,action,reward\n0,1.5,2,3\n0,oops,2,3\n", r"`x` holds text \(first in row 1: 'oops'\)"),
        ("episode;x;action;reward\n0;1,5;2;3\n", r"`x` holds text \(first in row 0: '1,5'\)"),
        ("episode,x,action,reward\n0,,2,3\n", r"`x` in 1 row \(first in row 0\)"),
        ("episode,x,action,reward\n0,1,2,nan\n", "The reward is NaN or infinite in 1 row"),
        ("episode,x,,action,reward\n0,1,5,2,3\n0,1,5,2,3\n", "Column 3 has no name"),
        ('episode,x,action,reward\n0,1,"2,3\n', "differs from the header in length"),
        ("episode,x,action,reward\n0,1,2," + "9" * 200_000, "cannot be read as CSV: field larger than field limit"),
        ("just some words\nand more\n", "No column is left for the state: all of them always hold the same text"),
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


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_blocks_of_any_size_give_the_same_columns(tmp_path: Path, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "a,b,c\n" + "".join(f"{k},{k / 2},{'x' if k % 3 else k}\n" for k in range(7))
    expected = columns(tmp_path, text)
    monkeypatch.setattr(reader, "BLOCK", size)
    for name, column in columns(tmp_path, text).items():
        assert column.dtype == expected[name].dtype
        assert column.tolist() == expected[name].tolist()


def test_equal_labels_share_their_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "BLOCK", 64)
    column = columns(tmp_path, "a,b\n" + "left,1\nright,2\n" * 100)["a"]
    assert len({id(label) for label in column}) == 2


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["[0.1 0.2]", "[3 -4e5]"], [[0.1, 0.2], [3, -4e5]]),
        (["[ 0.1  0.2 ]", "[1.   2. ]"], [[0.1, 0.2], [1, 2]]),
        (['"[0.1, 0.2]"', '"[1,2]"'], [[0.1, 0.2], [1, 2]]),
        (['"(0.1, 0.2)"', '"(nan, inf)"'], [[0.1, 0.2], [np.nan, np.inf]]),
        (['"[0.1\n 0.2]"', "[1 2]"], [[0.1, 0.2], [1, 2]]),
        (["[7]", "[8]"], [[7], [8]]),
    ],
)
def test_rows_that_are_written_in_a_cell(tmp_path: Path, cells: list[str], expected: Any) -> None:
    column = columns(tmp_path, "x,y\n" + "".join(f"{cell},0\n" for cell in cells))["x"]
    np.testing.assert_array_equal(column, np.array(expected))


@pytest.mark.parametrize(
    "cells", [["[left]", "[right]"], ["[1 2]", "wait"], ["[]", "[]"], ["[1 2]", ""], ["[a b]", "[1 2]"]]
)
def test_words_in_brackets_are_labels(tmp_path: Path, cells: list[str]) -> None:
    column = columns(tmp_path, "x,y\n" + "".join(f"{cell},0\n" for cell in cells))["x"]
    assert column.tolist() == [cell or None for cell in cells]


def test_what_numpy_prints_is_read(tmp_path: Path) -> None:
    rows = np.random.default_rng(0).normal(size=(50, 30))
    text = "episode,obs,action,reward\n" + "".join(f'0,"{row}",{k % 2},1\n' for k, row in enumerate(rows))
    assert "\n " in text
    log = read_log(write(tmp_path, text))
    np.testing.assert_allclose(log.states, rows, atol=1e-8)


@pytest.mark.parametrize("name", ["log.csv.gz", "log.tsv.gz", "log.csv", "LOG.CSV.GZ"])
def test_gzipped_files(tmp_path: Path, name: str) -> None:
    separator = "\t" if "tsv" in name else ","
    text = "episode,x,action,reward\n" + "".join(f"{k // 10},{k / 7},{k % 2},1\n" for k in range(5000))
    log = read_log(write(tmp_path, gzip.compress(text.replace(",", separator).encode()), name))
    assert log.fingerprint() == read_log(write(tmp_path, text, "plain.csv")).fingerprint()
