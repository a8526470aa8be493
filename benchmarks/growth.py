"""Growth against scikit-learn, XGBoost and the reference: time, ratios, peak memory, distance from the limit.

The limit is a lower bound on memory traffic, divided by what one thread moves at best. With d features, K targets in
rows of R integers (K + 4 rounded up to 8), any algorithm that works on histograms and derives the larger sibling by
subtraction touches at least

    8 n (d + K)                          the features and targets, read once
    4 n (d + R)                          codes and target rows, written once
    4 (d + R) (n + sum over splits of the rows of the smaller child)    codes and target rows, read for the histograms
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import worlds
from benchmarks.growers import GROWERS, leaf_of_rows, unexplained
from benchmarks.harness import Options, Report, bandwidth, fresh, interleave, peak_beyond, ratio, say

TITLE = "Growth: from features and target columns to a tree"
BASE = "scikit-learn"


@dataclass(frozen=True)
class Case:
    """A problem: its data, how many target columns are not derivatives, and how many leaves."""

    make: Callable[[int], tuple[np.ndarray, np.ndarray]]
    rows: int
    n_plain: int
    leaves: int
    repeat: int
    leave_out: tuple[str, ...] = ("reference",)


def recorded(world: Callable[[int], worlds.Recording]) -> Callable[[int], tuple[np.ndarray, np.ndarray]]:
    """Turn a world into features and targets."""

    def make(n: int) -> tuple[np.ndarray, np.ndarray]:
        recording = world(n)
        return recording.states, recording.targets()

    return make


# XGBoost's multi-output trees slow down with the product of targets, features and leaves: on "wide" it needs so long
# that its ratio is taken by hand, with --methods.
XGBOOST = ("XGBoost, 1 thread", "XGBoost, 2 threads")

CASES = {
    "road": Case(recorded(worlds.road), 10**4, 2, 200, 9, ()),
    "lander-450": Case(recorded(worlds.lander), 10**5, 3, 450, 9),
    "lander-1000": Case(recorded(worlds.lander), 10**5, 3, 1000, 9),
    "wide": Case(recorded(worlds.plant), 10**5, 8, 1000, 3, ("reference", *XGBOOST)),
    "long": Case(recorded(worlds.lander), 2 * 10**6, 3, 1000, 3),
    "noise": Case(worlds.noise, 10**5, 3, 1000, 5),
}


def bytes_to_touch(result: tuple[np.ndarray, ...], d: int, k: int) -> int:
    """Return the bytes of this module's formula for the tree at hand."""
    _, _, left, _, node = result
    n = len(node)
    count = np.bincount(node, minlength=len(left))
    smaller = 0
    for child in sorted(left[left >= 0].tolist(), reverse=True):
        parent = int(np.flatnonzero(left == child)[0])
        count[parent] = count[child] + count[child + 1]
        smaller += int(min(count[child], count[child + 1]))
    width = -(-(k + 4) // 8) * 8
    return 8 * n * (d + k) + 4 * n * (d + width) + 4 * (d + width) * (n + smaller)


def run(options: Options, report: Report) -> None:
    """Measure every case."""
    speed = bandwidth(64 if options.quick else 256)
    report.notes += [
        "'faster' is the median over the repetitions of scikit-learn's time / this time, same repetition.",
        "Before every run five times the memory of the inputs is used for a moment, and the inputs are read: what a "
        "virtual machine takes to get pages from its host is not measured; runs below a tenth of a second follow one "
        "without the clock.",
        "'processor' is the seconds of all cores together: a busy machine disturbs it less than the clock.",
        "'unexplained' is the share of the targets' variance left within the leaves.",
        "'memory' is the peak beyond the input arrays, in a process of its own, as a multiple of their size.",
        f"'x limit' is the time / (bytes that must be touched / {speed / 1e9:.1f} GB/s, one thread's measured best); "
        "the formula is in benchmarks/growth.py.",
    ]
    for name, case in CASES.items():
        if options.wants(name):
            measure(name, case, options, report, speed)


def measure(name: str, case: Case, options: Options, report: Report, speed: float) -> None:
    """Measure one case with all methods."""
    n = case.rows // 10 if options.quick else case.rows
    states, targets = case.make(n)
    shape = f"{len(states):,} x {states.shape[1]}, {targets.shape[1]} targets, {case.leaves} leaves"
    say(f"  {name}: {shape}")
    chosen = [m for m in options.chosen(list(GROWERS)) if m not in case.leave_out]
    repeat = options.repetitions(case.repeat)

    def job(method: str) -> Callable[[], Any]:
        return lambda: GROWERS[method](states, targets, case.n_plain, case.leaves)

    # A first small tree loads libraries and starts thread pools outside the clock.
    for method in chosen:
        GROWERS[method](states[:500], targets[:500], case.n_plain, 4)
    timings, made = interleave({method: job(method) for method in chosen}, repeat, (states, targets))
    memory = peaks(chosen, states, targets, case) if options.memory else {}
    exact = made.get("exact, 1 thread")
    limit = bytes_to_touch(exact, states.shape[1], targets.shape[1]) / speed if exact is not None else None
    for method in chosen:
        left, leaves = unexplained(targets, leaf_of_rows(made[method], states))
        median = statistics.median(timings[method].seconds)
        report.rows.append(
            {
                "case": name,
                "size": shape,
                "method": method,
                "seconds": median,
                "processor": statistics.median(timings[method].processor),
                "faster": ratio(timings[BASE].seconds, timings[method].seconds) if BASE in timings else None,
                "memory": memory[method] / (states.nbytes + targets.nbytes) if method in memory else None,
                "x limit": median / limit if limit else None,
                "unexplained": left,
                "leaves": leaves,
                "_seconds": timings[method].seconds,
                "_processor": timings[method].processor,
                "_memory_bytes": memory.get(method),
            }
        )


def peaks(methods: list[str], states: np.ndarray, targets: np.ndarray, case: Case) -> dict[str, int]:
    """Return the peak memory of every method, each in a fresh process that has only loaded the arrays."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder, "states.npy"), states)
        np.save(Path(folder, "targets.npy"), targets)
        for method in methods:
            found[method] = fresh("benchmarks.growth", method, folder, str(case.n_plain), str(case.leaves))
            say(f"    memory {method}: {found[method] / 2**20:.0f} MB")
    return found


def probe(method: str, folder: str, n_plain: str, leaves: str) -> None:
    """Print the peak memory of one growth in this process."""
    states, targets = np.load(Path(folder, "states.npy")), np.load(Path(folder, "targets.npy"))
    GROWERS[method](states[:500], targets[:500], int(n_plain), 4)
    print(peak_beyond(lambda: GROWERS[method](states, targets, int(n_plain), int(leaves))))


if __name__ == "__main__":
    probe(*sys.argv[1:])
