"""The whole way: what ``fit`` costs beside growth, and a command beside a bare read of its file."""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import fitting, worlds
from benchmarks.harness import Options, Report, fresh, interleave, peak_beyond, ratio, say

TITLE = "From a file to a model: beside growth, and beside reading"

TARGETS = {"bare": {"road": 2.2}, "whole": {}}
USUALLY = {"bare": 1.5, "whole": 3.0}
"""How much longer than growth the bare tree may take, and a tree with linear models and a track."""
ROWS = 10**6
LONG = 10**7
READING, TELLING, MEMORY = 2.0, 3.0, 2.2
"""Times a bare read that ``grow`` may take; seconds of a report; memory of a fit, as a multiple of the log's."""

BARE = {
    "csv": "import pyarrow.csv; pyarrow.csv.read_csv({path!r})",
    "parquet": "import pyarrow.parquet; pyarrow.parquet.read_table({path!r})",
    "npz": "import numpy; [part for part in numpy.load({path!r}).values()]",
}


def run(options: Options, report: Report) -> None:
    """Measure every case."""
    warnings.simplefilter("ignore")
    report.notes += [
        "Seconds are those of the processor, in all threads; ratios are medians of interleaved repetitions on one. "
        "'target' is the most that the ratio (or the seconds of a report) should be.",
        'growth: encoding, targets and `grow`; bare: `fit` with `leaf_model="mean", keep="nothing"`; whole: `fit` with '
        "the defaults, which also fits linear models, finds words for actions and keeps a track.",
        f"Files have {ROWS:,} steps of 8 features, 500 leaves are grown; the bare read has a process of its own, "
        "too. `grow` reads, grows, judges a second tree on unseen episodes and saves.",
    ]
    for name in fitting.CASES:
        if options.wants(name):
            _fits(name, options, report)
    if options.wants("file"):
        _files(options, report)
    if options.memory and options.wants("memory") and not options.quick:
        size, peak = fresh("benchmarks.whole", "memory", str(LONG))
        _add(report, "memory", f"fit of {LONG:,} x 8, 500 leaves", None, peak / size, MEMORY)


def _add(
    report: Report, case: str, what: str, seconds: float | None, times: float | None, target: float | None
) -> None:
    least = times if times is not None else seconds
    met = "" if target is None or least is None else ("yes" if least <= target else "no")
    report.rows.append({"case": case, "what": what, "processor": seconds, "times": times, "target": target, "met": met})


def growth(log: Any, leaves: int, threads: int = 1) -> Any:
    """Grow the tree that ``fit`` grows, and nothing else."""
    from tripletree import TripleTree
    from tripletree.model.fit import grow_settled
    from tripletree.tree.grow import encode

    parameters = {**TripleTree(max_leaves=leaves).get_params(), "truncation": "zero"}
    codes = encode(log, parameters["mode"], parameters["bins"], threads)
    return grow_settled(log, codes, parameters, threads)


def _fits(name: str, options: Options, report: Report) -> None:
    from tripletree import TripleTree

    world, rows, leaves, usual = fitting.CASES[name]
    recording = world(rows // 10 if options.quick else rows)
    log = fitting.log_of(recording)
    say(f"  {name}: {recording.states.shape}, {leaves} leaves")
    jobs: dict[str, Callable[[], Any]] = {
        "growth": lambda: growth(log, leaves),
        "bare": lambda: TripleTree(leaves, threads=1, leaf_model="mean", keep="nothing").fit(log),
        "whole": lambda: TripleTree(leaves, threads=1).fit(log),
    }
    timings, _ = interleave(jobs, options.repetitions(usual), list(vars(recording).values()))
    for method, timing in timings.items():
        grown = method == "growth"
        times = None if grown else ratio(timing.processor, timings["growth"].processor)
        target = None if grown else TARGETS[method].get(name, USUALLY[method])
        _add(report, name, method, statistics.median(timing.processor), times, target)


def _files(options: Options, report: Report) -> None:
    with tempfile.TemporaryDirectory() as folder:
        paths = _written(Path(folder), ROWS // 10 if options.quick else ROWS)
        model = Path(folder, "model.tripletree")
        for kind, path in paths.items():
            say(f"  file: {kind}")
            jobs: dict[str, Callable[[], float]] = {
                "read": lambda kind=kind, path=path: _spent("-c", BARE[kind].format(path=str(path))),
                "grow": lambda path=path: _spent(
                    "-m", "tripletree", "grow", str(path), "-o", str(model), "--max-leaves", "500"
                ),
            }
            spent: dict[str, list[float]] = {job: [] for job in jobs}
            for _ in range(options.repetitions(3) + 1):
                for job, run_it in jobs.items():
                    spent[job].append(run_it())
            # The first process compiles modules, and finds the file on the disk.
            spent = {job: seconds[1:] for job, seconds in spent.items()}
            _add(report, kind, "bare read", statistics.median(spent["read"]), None, None)
            _add(
                report,
                kind,
                "tripletree grow",
                statistics.median(spent["grow"]),
                ratio(spent["grow"], spent["read"]),
                READING,
            )
        told = [
            _spent(
                "-m", "tripletree", "report", str(model), "--log", str(paths["parquet"]), "-o", f"{folder}/page.html"
            )
            for _ in range(options.repetitions(3) + 1)
        ]
        _add(report, "parquet", "tripletree report", statistics.median(told[1:]), None, TELLING)


def _written(folder: Path, rows: int) -> dict[str, Path]:
    import pyarrow
    import pyarrow.csv
    import pyarrow.parquet

    made = worlds.lander(rows)
    columns = {
        "episode": np.repeat(np.arange(len(made.starts) - 1), np.diff(made.starts)),
        **{f"x{k}": column for k, column in enumerate(made.states.T)},
        **{f"action_{k}": column for k, column in enumerate(made.actions.T)},
        "reward": made.rewards,
    }
    table = pyarrow.table(columns)
    paths = {kind: folder / f"log.{kind}" for kind in BARE}
    pyarrow.csv.write_csv(table, paths["csv"])
    pyarrow.parquet.write_table(table, paths["parquet"])
    np.savez(paths["npz"], **columns)
    return paths


def _spent(*arguments: str) -> float:
    """Return the processor seconds of a Python process, which has its modules compiled as an installed package has."""
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, *arguments],
        check=True,
        capture_output=True,
        env={**env, "PYTHONWARNINGS": "ignore"},
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def probe(rows: str) -> None:
    """Print the size of a log, and the peak memory of a fit beyond what there was before the log, in this process."""
    from tripletree import TripleTree

    warnings.simplefilter("ignore")
    recording = worlds.lander(int(rows))
    log = fitting.log_of(recording)
    size = sum(array.nbytes for array in vars(recording).values())
    TripleTree(4, threads=2).fit(fitting.log_of(worlds.road(1000)))
    beyond = peak_beyond(lambda: TripleTree(500, threads=2).fit(log))
    print([size, size + beyond])


if __name__ == "__main__":
    probe(sys.argv[2])
