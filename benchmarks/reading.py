"""Reading a CSV file, against pyarrow, which has no types to guess in a log's way and leaves columns as it has them."""

from __future__ import annotations

import statistics
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import Options, Report, interleave, ratio, say

TITLE = "Read CSV: 12 columns of integers, floats and text"
BASE = "pyarrow read_csv"


def run(options: Options, report: Report) -> None:
    """Measure the reader, a whole log, and pyarrow on one file."""
    from pyarrow import csv

    from tripletree import read_log
    from tripletree.log.csv_reader import read_csv

    n = 10**5 if options.quick else 10**6
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.csv"
        say("  writing the file")
        write(path, n)
        methods: dict[str, Any] = {
            BASE: lambda: csv.read_csv(path),
            "pyarrow read_csv, to NumPy": lambda: [column.to_numpy() for column in csv.read_csv(path).columns],
            "columns": lambda: read_csv(path, "utf-8"),
            "read_log": lambda: read_log(path),
        }
        methods = {name: methods[name] for name in options.chosen(list(methods))}
        timings, _ = interleave(methods, options.repetitions(7))
        size = path.stat().st_size
    for name, timing in timings.items():
        report.rows.append(
            {
                "method": name,
                "rows": n,
                "MB": size / 1e6,
                "s": statistics.median(timing.seconds),
                "processor s": statistics.median(timing.processor),
                "processor, times pyarrow": ratio(timing.processor, timings[BASE].processor)
                if BASE in timings
                else None,
                "_seconds": timing.seconds,
            }
        )
    report.notes.append("pyarrow uses all cores, tripletree one: compare processor seconds.")


def write(path: Path, n: int) -> None:
    """Write a log of n steps: an episode, a step, eight features, an action in words, a reward."""
    rng = np.random.default_rng(0)
    columns = {"episode": np.arange(n) // 200, "step": np.arange(n) % 200}
    columns |= {f"f{k}": rng.normal(size=n).cumsum() / 100 for k in range(6)}
    columns |= {f"contact{k}": rng.integers(0, 2, n) for k in range(2)}
    columns |= {"action": rng.choice(["left", "right", "main", "none"], n), "reward": rng.normal(size=n)}
    with path.open("w", encoding="utf-8") as file:
        file.write(",".join(columns) + "\n")
        file.writelines(
            ",".join(map(str, row)) + "\n" for row in zip(*(c.tolist() for c in columns.values()), strict=True)
        )
