"""Typical slips with files: each is one line that says what came, and what to do."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tripletree import read_log
from tripletree.errors import LogError, MissingDependencyError, ParameterError
from tripletree.log.csv_reader import GZIP

GOOD = "episode,x,action,reward\n0,0.5,1,2\n0,1.5,0,2\n"


def named(name: str, content: str | bytes = GOOD) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        path = folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def folder(*names: str) -> Callable[[Path], Path]:
    def write(place: Path) -> Path:
        for name in names:
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_text(GOOD)
        return place

    return write


def arrays(**content: Any) -> Callable[[Path], Path]:
    def write(place: Path) -> Path:
        np.savez(place / "log.npz", **content)
        return place / "log.npz"

    return write


def lists(place: Path) -> Path:
    pd.DataFrame({"obs": [[1.0, 2.0], [1.0]], "action": [0, 1], "reward": [0, 1]}).to_parquet(place / "log.parquet")
    return place / "log.parquet"


IMAGES = np.zeros((3, 4, 4, 3), np.uint8)
SLIPS: dict[str, tuple[Callable[[Path], Any], str]] = {
    "a spreadsheet": (named("log.xlsx"), r"ends in `.xlsx`; logs are read from \.csv.*Save the sheet as CSV"),
    "a pickle": (named("log.pkl"), r"A pickle can run any code, so it is never loaded.*Log\.from_dict"),
    "a single array": (named("log.npy"), r"ends in `.npy`.*np\.savez\('log\.npz', states="),
    "a robot's bag": (named("log.mcap"), r"ends in `.mcap`.*Convert it first; the manual shows how"),
    "JSON": (named("log.json", "[]"), r"ends in `.json`.*Load it with json"),
    "a gzipped archive": (
        named("log.npz.gz", gzip.compress(b"x")),
        "which is read for CSV only. Unpack it first: gunzip",
    ),
    "HDF5 as CSV": (
        named("log.csv", b"\x89HDF\r\n\x1a\n"),
        "named as csv, but its content is hdf5; rename it to end in",
    ),
    "half a gzipped file": (
        named("log.csv.gz", gzip.compress(GOOD.encode())[:-9]),
        "log.csv.gz is damaged: Compressed",
    ),
    "a broken gzipped file": (named("log.csv.gz", GZIP + b"x" * 99), "log.csv.gz is damaged: .*download it again"),
    "an empty folder": (
        folder(),
        "is a folder without a CSV or Parquet file, and no LeRobot or Minari dataset. It is empty",
    ),
    "a folder of folders": (
        folder("a/run.csv", "b/run.csv"),
        "is a folder without a CSV or Parquet file.*It holds `a`, `b`",
    ),
    "a mixed folder": (folder("a.csv", "b.parquet"), r"files of several formats \(1 csv and 1 parquet\). Give one"),
    "a folder of archives": (folder("a.npz"), "is a folder of npz files; only CSV and Parquet.*Give one file: .*a.npz"),
    "a name of a dataset": (
        lambda _: "mujoco/hopper/expert-v0",
        "To fetch one: minari download mujoco/hopper/expert-v0",
    ),
    "a name that is none": (lambda place: place / "lander.csv", r"There is no file .*lander.csv\.$"),
    "images": (
        arrays(observations=IMAGES, actions=[0, 1, 0], rewards=[0, 1, 0], terminals=[0, 0, 1]),
        r"Column `observations` has shape \(3, 4, 4, 3\).*a pixel does not. Log the state as well",
    ),
    "objects": (
        lambda place: arrays(states=np.array([{"x": 1}], object))(place),
        "holds Python objects in `states`. They are never loaded",
    ),
    "lists of different lengths": (lists, "Column `obs` is ragged: .*every row must hold the same number of values"),
    "arrays cut short": (
        named("log.csv", "episode,obs,action,reward\n0,[0.1 ... 0.9],1,2\n"),
        r"`obs` of log.csv is cut short: it holds `...` where NumPy has left values out.*array.tolist\(\)",
    ),
    "ragged cells": (
        named("log.csv", "episode,obs,action,reward\n0,[0.1 0.2],1,2\n0,[0.1],1,2\n"),
        "`obs` of log.csv is ragged: it has 2 values in row 0 and 1 in row 1",
    ),
}


@pytest.mark.parametrize(("make", "message"), SLIPS.values(), ids=SLIPS)
def test_one_line_with_the_cure(
    make: Callable[[Path], Any], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "none"))
    with pytest.raises(LogError, match=message) as caught:
        read_log(make(tmp_path))
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500


def test_libraries_that_are_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name, install in (
        ("h5py", "log.hdf5", "hdf5"),
        ("pyarrow", "log.parquet", "parquet"),
    ):
        monkeypatch.setitem(__import__("sys").modules, module, None)
        (tmp_path / name).write_bytes(b"\x89HDF" if module == "h5py" else b"PAR1")
        with pytest.raises(
            MissingDependencyError, match=rf'needs {module}\. Type: pip install "tripletree\[{install}\]"'
        ):
            read_log(tmp_path / name)


def test_writing_without_minari_or_under_a_strange_name(monkeypatch: pytest.MonkeyPatch) -> None:
    log = read_log({"episode": [0, 0], "x": [0.5, 1.5], "action": [0, 1], "reward": [1, 2]})
    with pytest.raises(
        ParameterError, match=r"""name must be the name of a Minari dataset, .*; got 'log'\. Try name="my/log"""
    ):
        log.to_minari("log")
    monkeypatch.setitem(__import__("sys").modules, "minari", None)
    with pytest.raises(MissingDependencyError, match=r'needs minari\. Type: pip install "tripletree\[minari\]"'):
        log.to_minari("my/log-v0")


def test_a_bomb_of_zeros(tmp_path: Path) -> None:
    row = "0,0.5,1,2\n" * 100_000
    with gzip.open(tmp_path / "log.csv.gz", "wb") as file:
        file.write(b"episode,x,action,reward\n")
        for _ in range(300):
            file.write(row.encode())
    with pytest.raises(LogError, match=r"would unpack to .*If you trust it, unpack it first, with gunzip"):
        read_log(tmp_path / "log.csv.gz")
