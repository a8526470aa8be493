"""What a user waits for before anything happens: importing the package, loading a model file."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks import worlds
from benchmarks.fitting import fit, log_of
from benchmarks.harness import Options, Report, interleave, say

TITLE = "Import and load"
HEAVY = ("scipy", "scipy.optimize", "matplotlib", "pandas", "pyarrow", "sklearn", "rich", "click")
PROBE = """
import json, sys, time
begin = time.perf_counter()
import {module}
print(json.dumps([time.perf_counter() - begin, [m for m in {heavy!r} if m in sys.modules]]))
"""


def run(options: Options, report: Report) -> None:
    """Measure imports in fresh interpreters, then loading a tree of 1,000 leaves."""
    found: dict[str, list[float]] = {"nothing": [], "numpy": [], "tripletree": []}
    whole: dict[str, list[float]] = {name: [] for name in found}
    loaded: dict[str, list[str]] = {}
    for _ in range(options.repetitions(11)):
        for module in found:
            code = PROBE.format(module="sys" if module == "nothing" else module, heavy=HEAVY)
            begin = time.perf_counter()
            output = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
            whole[module].append(time.perf_counter() - begin)
            seconds, loaded[module] = json.loads(output)
            found[module].append(seconds)
    for module, times in found.items():
        report.rows.append(
            {
                "what": f"import {module}",
                "seconds": statistics.median(times),
                "whole process": statistics.median(whole[module]),
                "heavy modules loaded": ", ".join(loaded[module]) or "none",
                "_seconds": times,
            }
        )
    load(options, report)


def load(options: Options, report: Report) -> None:
    """Measure saving and loading a model."""
    from tripletree import TripleTree

    say("  a model of 1,000 leaves")
    log = log_of(worlds.lander(20_000 if options.quick else 100_000))
    model = fit(log, leaves=1000, threads=2)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.tripletree")
        model.save(path)
        timings, _ = interleave(
            {"save": lambda: model.save(path), "load": lambda: TripleTree.load(path)}, options.repetitions(11)
        )
        size = path.stat().st_size
    for name, timing in timings.items():
        times = timing.seconds
        report.rows.append(
            {"what": f"{name} a model, {size / 2**20:.2f} MB", "seconds": statistics.median(times), "_seconds": times}
        )
