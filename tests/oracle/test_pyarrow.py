"""CSV files that are no riddle: every reader must find the same columns in them, and pyarrow's is widely used."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pyarrow import csv

from tripletree.log.csv_reader import read_csv


def column(rng: np.random.Generator, rows: int) -> list[str]:
    kind = rng.integers(5)
    if kind == 0:
        return [str(value) for value in rng.integers(-(10 ** int(rng.integers(1, 18))), 10**18, rows)]
    if kind == 1:
        return [repr(float(value)) for value in rng.normal(size=rows) * 10.0 ** rng.integers(-300, 300)]
    if kind == 2:
        return [f"{value:.{int(rng.integers(1, 20))}e}" for value in rng.normal(size=rows)]
    if kind == 3:
        return ["1.5", *("" if rng.random() < 0.2 else f"{value:.3f}" for value in rng.normal(size=rows - 1))]
    return [str(word) for word in rng.choice(["left", "right", "höher", "no op", "x" * 50], rows)]


@pytest.mark.parametrize("seed", range(200))
def test_plain_files_are_read_as_pyarrow_reads_them(tmp_path: Path, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows, width = int(rng.integers(1, 40)), int(rng.integers(2, 6))
    table = [column(rng, rows) for _ in range(width)]
    end = str(rng.choice(["\n", "\r\n"]))
    lines = [",".join(f"n{k}" for k in range(width)), *map(",".join, zip(*table, strict=True))]
    (tmp_path / "log.csv").write_bytes((end.join(lines) + end).encode())
    read = read_csv(tmp_path / "log.csv", "utf-8")
    expected: Any = csv.read_csv(tmp_path / "log.csv")
    assert read.names == expected.column_names
    for mine, theirs in zip(read.columns, expected.columns, strict=True):
        other = theirs.to_numpy()
        assert mine.dtype == other.dtype
        np.testing.assert_array_equal(mine, other)
