"""The whole way: what ``fit`` costs beside growth, and a command beside a bare read of its file."""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import fitting, worlds
from benchmarks.harness import Options, Report, Timing, fresh, interleave, peak_beyond, ratio, say

TITLE = "From a file to a model: beside growth, and beside reading"

TARGETS = {"bare": {"road": 2.2}, "whole": {}}
USUALLY = {"bare": 1.5, "whole": 3.0}
"""How much longer than growth the bare tree may take, and a tree with linear models and a track."""
ROWS = 10**6
LONG = 10**7
READING, TELLING, MEMORY = 2.0, 3.0, 2.2
"""Times a bare read that ``read_log`` and ``grow`` may take; seconds of a report; memory of a fit, in logs."""

BARE = {
    "csv": "import pyarrow.csv; pyarrow.csv.read_csv({path!r})",
    "parquet": "import pyarrow.parquet; pyarrow.parquet.read_table({path!r})",
    "npz": "import numpy; [part for part in numpy.load({path!r}).values()]",
}
LOG = "import tripletree; tripletree.read_log({path!r})"
START = "import tripletree.api"


def run(options: Options, report: Report) -> None:
    """Measure every case."""
    warnings.simplefilter("ignore")
    report.notes += [
        "Seconds are those of the processor, in all threads; ratios are medians of interleaved repetitions on one. "
        "'target' is the most that the ratio should be, or the seconds by the clock that somebody waits for a report.",
        'growth: encoding, targets and `grow`; bare: `fit` with `leaf_model="mean", keep="nothing"`; whole: `fit` with '
        "the defaults, which also fits linear models, finds words for actions and keeps a track.",
        f"Files have {ROWS:,} steps of 8 features, 500 leaves are grown. Bare reads, `read_log` and commands have a "
        "process each, and their seconds begin with its start; 'clock' is what passes meanwhile, on all cores. `grow` "
        "reads, grows, judges a second tree on unseen episodes and saves.",
        "start: what a process needs that only imports tripletree; two trees: growth alone, of both trees that `grow` "
        "grows, on a log that is there.",
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
    report: Report,
    case: str,
    what: str,
    seconds: float | None,
    times: float | None,
    target: float | None,
    clock: float | None = None,
) -> None:
    least = times if times is not None else clock
    met = "" if target is None or least is None else ("yes" if least <= target else "no")
    row = {"case": case, "what": what, "processor": seconds, "clock": clock}
    report.rows.append({**row, "times": times, "target": target, "met": met})


def growth(log: Any, leaves: int, threads: int = 1) -> Any:
    """Grow the tree that ``fit`` grows, and nothing else."""
    from tripletree import TripleTree
    from tripletree.model.fit import grow_settled
    from tripletree.tree.grow import encode

    parameters = {**TripleTree(max_leaves=leaves).get_params(), "truncation": "zero"}
    codes = encode(log, parameters["mode"], parameters["bins"], threads)
    return grow_settled(log, codes, parameters, threads)


def _fits(name: str, options: Options, report: Report) -> None:
    from threadpoolctl import threadpool_limits

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
    # On one thread, linear algebra as well: threads that wait for each other take processor time, too.
    with threadpool_limits(1):
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
            jobs = {
                "bare read": ("-c", BARE[kind].format(path=str(path))),
                "read_log": ("-c", LOG.format(path=str(path))),
                "tripletree grow": ("-m", "tripletree", "grow", str(path), "-o", str(model), "--max-leaves", "500"),
            }
            timings = _timed(jobs, options)
            bare = timings["bare read"].processor
            for what, timing in timings.items():
                reads = what == "bare read"
                times, target = (None, None) if reads else (ratio(timing.processor, bare), READING)
                _add(report, kind, what, _middle(timing.processor), times, target, _middle(timing.seconds))
        say("  file: start, growth and report")
        timing = _timed({"": ("-c", START)}, options)[""]
        _add(report, "any", "start", _middle(timing.processor), None, None, _middle(timing.seconds))
        _two_trees(paths["npz"], options, report)
        page = ("report", str(model), "--log", str(paths["parquet"]), "-o", f"{folder}/page.html")
        timing = _timed({"": ("-m", "tripletree", *page)}, options)[""]
        clock = _middle(timing.seconds)
        _add(report, "parquet", "tripletree report", _middle(timing.processor), None, TELLING, clock)


def _two_trees(path: Path, options: Options, report: Report) -> None:
    """Measure what no reading and no saving can take away from ``grow``."""
    from tripletree import read_log

    log = read_log(path)
    parts = [log.split(0.2, seed)[0] for seed in (0, 1)]
    arrays = [log.states, log.actions, log.rewards]
    threads = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    jobs = {"trees": lambda: [growth(part, 500, threads) for part in parts]}
    timing = interleave(jobs, options.repetitions(3), arrays)[0]["trees"]
    _add(report, "any", "two trees", _middle(timing.processor), None, None, _middle(timing.seconds))


def _middle(seconds: list[float]) -> float:
    return statistics.median(seconds)


def _timed(jobs: dict[str, tuple[str, ...]], options: Options) -> dict[str, Timing]:
    """Run Python processes by turns; the first of each finds its modules and its file on the disk, and is left out."""
    timings = {job: Timing() for job in jobs}
    for turn in range(options.repetitions(3) + 1):
        for job, arguments in jobs.items():
            begun = time.perf_counter()
            processor = _spent(*arguments)
            if turn:
                timings[job].seconds.append(time.perf_counter() - begun)
                timings[job].processor.append(processor)
    return timings


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
