"""The whole of ``TripleTree.fit(log)``: derive value and derivative, scale, grow, and describe every leaf."""

from __future__ import annotations

import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import worlds
from benchmarks.harness import Options, Report, fresh, interleave, peak_beyond, say

TITLE = "Fit: from a log to a model"
CASES = {
    "road": (worlds.road, 10**4, 200, 9),
    "lander-450": (worlds.lander, 10**5, 450, 5),
    "lander-1000": (worlds.lander, 10**5, 1000, 5),
    "wide": (worlds.plant, 10**5, 1000, 3),
    "long": (worlds.lander, 2 * 10**6, 1000, 3),
}


def log_of(recording: worlds.Recording) -> Any:
    """Make a log with continuous actions."""
    from tripletree import Log
    from tripletree.log.log import TERMINATED
    from tripletree.log.schema import Action, Feature, Schema

    episodes, d = recording.final_states.shape
    m = recording.actions.shape[1]
    return Log(
        states=recording.states,
        actions=recording.actions,
        rewards=recording.rewards,
        starts=recording.starts,
        final_states=recording.final_states,
        endings=np.full(episodes, TERMINATED, np.uint8),
        episode_ids=np.arange(episodes),
        schema=Schema(
            features=tuple(Feature(f"feature {i}") for i in range(d)),
            action=Action(kind="continuous", names=tuple(f"action {i}" for i in range(m)), units=("",) * m),
        ),
    )


def fit(log: Any, leaves: int, threads: int, mode: str = "exact") -> Any:
    """Fit with the default options."""
    from tripletree import TripleTree

    return TripleTree(max_leaves=leaves, threads=threads, mode=mode).fit(log)


METHODS = {
    "fit, 1 thread": {"threads": 1},
    "fit, 2 threads": {"threads": 2},
    "fit, histogram, 2 threads": {"threads": 2, "mode": "histogram"},
}


def run(options: Options, report: Report) -> None:
    """Measure every case."""
    report.notes.append(
        "'memory' is the peak beyond the log's arrays, in a process of its own, as a multiple of their size."
    )
    for name, (world, rows, leaves, usual) in CASES.items():
        if not options.wants(name):
            continue
        recording = world(rows // 10 if options.quick else rows)
        say(f"  {name}: {recording.states.shape}, {leaves} leaves")
        log = log_of(recording)
        chosen = options.chosen(list(METHODS))
        jobs = {m: lambda m=m, leaves=leaves, log=log: fit(log, leaves, **METHODS[m]) for m in chosen}
        inputs = list(vars(recording).values())
        timings, _ = interleave(jobs, options.repetitions(usual), inputs)
        size = sum(array.nbytes for array in inputs)
        for method in chosen:
            memory = None
            if options.memory:
                with tempfile.TemporaryDirectory() as folder:
                    for part, array in vars(recording).items():
                        np.save(Path(folder, part), array)
                    memory = fresh("benchmarks.fitting", method, folder, str(leaves)) / size
            report.rows.append(
                {
                    "case": name,
                    "size": f"{len(recording.states):,} x {recording.states.shape[1]}, {leaves} leaves",
                    "method": method,
                    "seconds": statistics.median(timings[method].seconds),
                    "processor": statistics.median(timings[method].processor),
                    "memory": memory,
                    "_seconds": timings[method].seconds,
                }
            )


def probe(method: str, folder: str, leaves: str) -> None:
    """Print the peak memory of one fit in this process."""
    parts = {name: np.load(Path(folder, f"{name}.npy")) for name in worlds.Recording.__dataclass_fields__}
    log = log_of(worlds.Recording(**parts))
    fit(log_of(worlds.road(1000)), 4, threads=2)
    print(peak_beyond(lambda: fit(log, int(leaves), **METHODS[method])))


if __name__ == "__main__":
    probe(*sys.argv[1:])
