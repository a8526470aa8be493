"""Growth on logs on disk: processor time, memory and trees beside those in memory, and a scan of the same files."""

from __future__ import annotations

import hashlib
import json
import math
import subprocess
import sys
import tempfile
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import Options, Report, say

TITLE = "Logs on disk: 8 features, 2 continuous actions, 500 leaves, beside the same in memory"
LENGTH = 250
"""Steps in an episode; files end where they end, in the middle of one."""
SIZES = (10**5, 10**6, 10**7)
FILES = 50
BLOCK = 10**6
METHODS = ("scan", "memory", "threads", "processes", "dask")

# What one case does, in a process of its own so that memory is its own; prints one line of JSON.
CASE = """
import hashlib, json, resource, sys, time, warnings
warnings.simplefilter("ignore")
method, folder, cache, priority = sys.argv[1:5]
start = time.process_time(), time.perf_counter()
found = {}
if method == "scan":
    import pyarrow.parquet as parquet
    from pathlib import Path
    for file in sorted(Path(folder).iterdir()):
        with parquet.ParquetFile(file) as opened:
            for batch in opened.iter_batches(65536, use_threads=False):
                found["rows"] = found.get("rows", 0) + batch.num_rows
else:
    from tripletree import TripleTree, open_log, read_log
    log = read_log(folder) if method == "memory" else open_log(folder, executor=method, workers=2, cache=cache)
    tree = TripleTree(500, mode="histogram", leaf_model="mean", keep="leaves", priority=priority, threads=2).fit(log)
    fitted = tree.fitted_
    for part in (fitted.tree, fitted.attributes, fitted.transitions):
        digest = hashlib.sha256()
        for name, value in sorted(vars(part).items()):
            if hasattr(value, "tobytes") and not name.startswith("_") and name in type(part).__dataclass_fields__:
                digest.update(name.encode() + value.tobytes())
        found[type(part).__name__] = digest.hexdigest()[:12]
own, others = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
found["processor"] = own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime
found["wall"] = time.perf_counter() - start[1]
found["memory"] = own.ru_maxrss / 1024
found["worker memory"] = others.ru_maxrss / 1024
print(json.dumps(found))
"""


def write(folder: Path, rows: int, files: int, seed: int = 0) -> None:
    """Write a log of an agent that steers eight numbers towards 0 with two thrusters, in single precision."""
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
        columns = {f"s{k}": states[:, k].astype(np.float32) for k in range(8)}
        columns |= {"action_0": main.astype(np.float32), "action_1": side.astype(np.float32), "reward": reward}
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
    done = subprocess.run(
        [sys.executable, "-c", CASE, method, str(folder), str(cache), priority],
        capture_output=True,
        text=True,
        check=True,
    )
    return dict(json.loads(done.stdout.splitlines()[-1]))


def run(options: Options, report: Report) -> None:
    """Measure every size and every executor."""
    found: dict[str, dict[int, float]] = {}
    for rows in SIZES[:1] if options.quick else SIZES:
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place) / "log"
            folder.mkdir()
            say(f"  {rows:,} rows: writing")
            write(folder, rows, FILES if rows >= 10**6 else 5)
            size = sum(file.stat().st_size for file in folder.iterdir())
            scan = math.nan
            digests: dict[str, Any] = {}
            for method in METHODS:
                if not options.wants(method):
                    continue
                for priority in (
                    ("impurity", "gain") if method not in ("scan", "dask") and rows <= 10**6 else ("impurity",)
                ):
                    say(f"  {rows:,} rows: {method}, {priority}")
                    cache = Path(place) / f"cache-{method}-{priority}"
                    cache.mkdir()
                    got = measured(method, folder, cache, priority)
                    if method == "scan":
                        scan = got["processor"]
                    told = {name: got.get(name) for name in ("Tree", "Attributes", "Transitions")}
                    if method != "scan":
                        digests.setdefault(priority, told)
                    found.setdefault(f"{method} {priority}", {})[rows] = got["processor"]
                    report.rows.append(
                        {
                            "rows": rows,
                            "MB": size / 1e6,
                            "who": method,
                            "priority": priority,
                            "processor s": got["processor"],
                            "times a scan": got["processor"] / scan,
                            "MB of memory": got["memory"],
                            "MB a worker": got["worker memory"],
                            "same": "yes" if method == "scan" or told == digests[priority] else "NO",
                            "tree": told["Tree"] or "",
                        }
                    )
    for who, of in found.items():
        for (a, first), (b, second) in pairwise(sorted(of.items())):
            report.notes.append(
                f"{who}: from {a:,} to {b:,} rows, time grows like n^{math.log(second / first, b / a):.2f}."
            )
    digest = hashlib.sha256(CASE.encode()).hexdigest()[:8]
    report.notes.append(f"Processor seconds of the process and its children; the case is {digest}.")
