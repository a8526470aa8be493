"""Growth on logs on disk: processor time, memory and trees beside those in memory, and a scan of the same files."""

from __future__ import annotations

import hashlib
import json
import math
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import Options, Report, say

TITLE = "Logs on disk: 8 features, 2 continuous actions, 500 leaves, beside the same in memory"
LENGTH = 250
"""Steps in an episode; files end where they end, in the middle of one."""
SIZES = (10**5, 10**6, 10**7, 4 * 10**7)
DOUBLES = (10**6, 10**7)
"""Rows of the logs that are written and scanned in double precision, too: most logs are."""
GAIN = (10**5, 10**6, 4 * 10**7)
"""Rows of the logs that trees are grown on by gain, too, and not by impurity alone."""
FILES = 50
BLOCK = 10**6
METHODS = ("scan", "scan of doubles", "memory", "threads", "processes", "dask")

# What one case does, in a process of its own so that memory is its own; prints one line of JSON.
CASE = """
import hashlib, json, resource, sys, time, warnings
from pathlib import Path
warnings.simplefilter("ignore")
method, folder, cache, priority = sys.argv[1:5]
most = [0]
def progress(what, done, total, size, who):
    if what.startswith("growing") and not most[0]:  # all of the cache is there
        most[0] = sum(path.stat().st_size for path in Path(cache).rglob("*-*") if path.is_file())
start = time.process_time(), time.perf_counter()
found = {"method": method, "priority": priority, "digests": {}}
if method.startswith("scan"):
    import pyarrow.parquet as parquet
    for file in sorted(Path(folder).iterdir()):
        with parquet.ParquetFile(file) as opened:
            for batch in opened.iter_batches(65536, use_threads=False):
                found["rows"] = found.get("rows", 0) + batch.num_rows
else:
    from tripletree import TripleTree, open_log, read_log
    log = read_log(folder) if method == "memory" else open_log(
        folder, executor=method, workers=2, cache=cache, progress=progress
    )
    tree = TripleTree(500, mode="histogram", leaf_model="mean", keep="leaves", priority=priority, threads=2).fit(log)
    fitted = tree.fitted_
    found["digests"] = {}
    for part in (fitted.tree, fitted.attributes, fitted.transitions):
        digest = hashlib.sha256()
        for name, value in sorted(vars(part).items()):
            if hasattr(value, "tobytes") and not name.startswith("_") and name in type(part).__dataclass_fields__:
                digest.update(name.encode() + value.tobytes())
        found["digests"][type(part).__name__] = digest.hexdigest()[:12]
own, others = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
found["processor"] = own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime
found["wall"] = time.perf_counter() - start[1]
found["memory"] = own.ru_maxrss / 1024
found["cache"] = most[0]
found["worker memory"] = others.ru_maxrss / 1024
print(json.dumps(found))
"""


def write(folder: Path, rows: int, files: int, seed: int = 0, kind: type[np.floating[Any]] = np.float32) -> None:
    """Write a log of an agent that steers eight numbers towards 0 with two thrusters, in the encoding that is usual."""
    import pyarrow
    from pyarrow import parquet

    rng = np.random.default_rng(seed)
    borders = [rows * k // files for k in range(files + 1)]
    writer, at = None, 0
    number = 0
    for begin in range(0, rows, BLOCK):
        n = min(BLOCK, rows - begin)
        place = np.arange(begin, begin + n)
        step = place % LENGTH
        phase = np.repeat(rng.normal(size=(-(-n // LENGTH) + 1, 8)), LENGTH, axis=0)[(begin % LENGTH) :][:n]
        fade = np.exp(-step / 80)[:, None]
        states = phase * fade * np.cos(step[:, None] * np.linspace(0.02, 0.2, 8)) + 0.02 * rng.normal(size=(n, 8))
        states[:, 7] = states[:, 0] > 0.5
        main = np.where(states[:, 1] < -0.1, 1.0, np.clip(-states[:, 1] - states[:, 3], 0, 1))
        side = np.clip(-2 * states[:, 0] - states[:, 2] * (states[:, 4] > 0), -1, 1)
        reward = -np.abs(states[:, :4]).sum(axis=1) - 0.1 * main
        columns = {f"s{k}": states[:, k].astype(kind) for k in range(8)}
        columns |= {"action_0": main.astype(kind), "action_1": side.astype(kind), "reward": reward}
        columns |= {"episode": place // LENGTH, "step": step, "terminated": step == LENGTH - 1}
        table = pyarrow.table(columns)
        while at < begin + n:
            stop = min(borders[number + 1], begin + n)
            part = table.slice(at - begin, stop - at)
            if writer is None:
                writer = parquet.ParquetWriter(folder / f"part-{number:04d}.parquet", table.schema)
            writer.write_table(part)
            at = stop
            if at == borders[number + 1]:
                writer.close()
                writer, number = None, number + 1


def measured(method: str, folder: Path, cache: Path, priority: str = "impurity") -> dict[str, Any]:
    """Run one case in a process of its own."""
    command = [sys.executable, "-c", CASE, method, str(folder), str(cache), priority]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    shutil.rmtree(cache, ignore_errors=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def cases(options: Options) -> Iterator[tuple[int, str, str]]:
    """Yield rows, who works and priority of all cases that are asked for, such as ``--only "10000000 threads"``."""
    for rows in SIZES[:1] if options.quick else SIZES:
        for method in METHODS:
            if method == "scan of doubles" and rows not in DOUBLES:
                continue
            for priority in ("impurity", "gain") if rows in GAIN and "scan" not in method else ("impurity",):
                if options.wants(f"{rows} {method} {priority}"):
                    yield rows, method, priority


def files_of(rows: int) -> int:
    """Return the number of files that a log of so many rows is written to."""
    return FILES if rows >= 10**6 else 5


def written(folder: Path, rows: int, kind: str) -> None:
    """Write a log in a process of its own: the largest memory of this one counts for all that it starts."""
    code = f"import numpy, pathlib; from benchmarks.scaling import write; write(pathlib.Path({str(folder)!r}), {rows}, "
    subprocess.run([sys.executable, "-c", f"{code}{files_of(rows)}, kind=numpy.{kind})"], check=True)


def run(options: Options, report: Report) -> None:
    """Measure every size and every executor."""
    found: list[dict[str, Any]] = []
    for rows, some in groupby(cases(options), key=lambda case: case[0]):
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place) / "log"
            folder.mkdir()
            say(f"  {rows:,} rows: writing")
            written(folder, rows, "float32")
            for _, method, priority in some:
                say(f"  {rows:,} rows: {method}, {priority}")
                if method == "scan of doubles":
                    twice = Path(place) / "doubles"
                    twice.mkdir()
                    written(twice, rows, "float64")
                    found.append(measured(method, twice, Path(place) / "cache") | {"rows": rows})
                    shutil.rmtree(twice)
                else:
                    found.append(measured(method, folder, Path(place) / "cache", priority) | {"rows": rows})
                tell(report, found)


def tell(report: Report, found: Sequence[dict[str, Any]]) -> None:
    """Fill the report with what was measured: beside a scan of the same files, and beside memory."""
    report.rows.clear()
    report.notes.clear()
    by = {(one["rows"], one["method"], one["priority"]): one for one in found}
    for (rows, method, priority), got in by.items():
        scan, memory = by.get((rows, "scan", "impurity")), by.get((rows, "memory", priority))
        same = [one for key, one in by.items() if (key[0], key[2]) == (rows, priority) and one["digests"]]
        report.rows.append(
            {
                "rows": rows,
                "who": method,
                "priority": priority,
                "processor s": got["processor"],
                "wall s": got["wall"],
                "times a scan": got["processor"] / scan["processor"] if scan else None,
                "times memory": got["processor"] / memory["processor"] if memory and "scan" not in method else None,
                "MB of memory": got["memory"],
                "MB a worker": got["worker memory"],
                "bytes a row on disk": got["cache"] / rows if got["cache"] else None,
                "same": "" if "scan" in method else "yes" if got["digests"] == same[0]["digests"] else "NO",
                "tree": got["digests"].get("Tree", ""),
            }
        )
    times: dict[str, dict[int, float]] = {}
    for (rows, method, priority), got in by.items():
        times.setdefault(f"{method} {priority}", {})[rows] = got["processor"]
    for who, of in times.items():
        for (a, first), (b, second) in pairwise(sorted(of.items())):
            report.notes.append(
                f"{who}: from {a:,} to {b:,} rows, time grows like n^{math.log(second / first, b / a):.2f}."
            )
    most = max((one for one in found if one["method"] == "threads"), key=lambda one: int(one["rows"]), default=None)
    if most is not None:
        each, size = most["processor"] / most["rows"], most["cache"] / most["rows"]
        report.notes.append(
            f"On paper, at {1e6 * each:.2f} microseconds and {size:.0f} bytes a step (threads, {most['rows']:,} rows): "
            f"a billion steps take {1e9 * each / 3600:.1f} core-hours and {size:.0f} GB of cache, a hundred billion "
            f"{1e11 * each / 3600:.0f} core-hours and {size / 10:.1f} TB. Not tried."
        )
    digest = hashlib.sha256(CASE.encode()).hexdigest()[:8]
    report.notes.append(f"Processor seconds of the process and its children; the case is {digest}.")
