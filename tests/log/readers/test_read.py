"""read_log: paths that lead nowhere, or to something else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tripletree.errors import LogError, ParameterError
from tripletree.log import read_log

GOOD = "episode,x,action,reward\n0,0.5,1,2\n"


def test_a_directory(tmp_path: Path) -> None:
    with pytest.raises(LogError, match=r"is a directory; a file is needed. It holds no CSV"):
        read_log(tmp_path)
    (tmp_path / "run.csv").write_text(GOOD)
    with pytest.raises(LogError, match=r"is a directory; a file is needed. Did you mean `.*run.csv`"):
        read_log(tmp_path)


def test_a_mistyped_name(tmp_path: Path) -> None:
    (tmp_path / "lander.csv").write_text(GOOD)
    with pytest.raises(LogError, match=r"There is no file .*landr.csv. Did you mean `lander.csv`"):
        read_log(tmp_path / "landr.csv")
    with pytest.raises(LogError, match=r"There is no file .*zzz.csv\.$"):
        read_log(tmp_path / "nowhere" / "zzz.csv")


@pytest.mark.parametrize("name", ["log.xlsx", "log.txt", "log", "log.pkl"])
def test_another_ending(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(GOOD)
    with pytest.raises(LogError, match=r"logs are read from \.csv, \.tsv, \.parquet, \.pq, \.npz"):
        read_log(tmp_path / name)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("log.csv", b"PAR1....", "named as csv, but its content is parquet"),
        ("log.parquet", b"PK\x03\x04...", "named as parquet, but its content is npz"),
    ],
)
def test_a_wrong_ending(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(LogError, match=message):
        read_log(tmp_path / name)


def test_endings_in_capitals(tmp_path: Path) -> None:
    (tmp_path / "LOG.CSV").write_text(GOOD)
    assert len(read_log(tmp_path / "LOG.CSV")) == 1


@pytest.mark.parametrize("path", [None, 3, {"x": [1]}, ["a"]])
def test_no_path_at_all(path: Any) -> None:
    with pytest.raises(LogError, match=r"A path is needed, .* came"):
        read_log(path)


def test_unknown_options_come_before_the_file() -> None:
    with pytest.raises(ParameterError, match=r"There is no option `rewards`. Did you mean `reward`"):
        read_log("nowhere.csv", rewards="r")  # type: ignore[call-arg]


def test_a_file_that_may_not_be_read(ordinary_user: Path) -> None:
    (ordinary_user / "log.csv").write_text(GOOD)
    (ordinary_user / "log.csv").chmod(0)
    with pytest.raises(LogError, match="cannot be read: Permission denied"):
        read_log(ordinary_user / "log.csv")
