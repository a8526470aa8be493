"""How costs grow: each size is doubled a few times, and the exponent compared with what is promised."""

from __future__ import annotations

import math
import statistics
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.harness import Options, Report, say

TITLE = "Costs: how they grow"
SPARE = 0.35
"""What an exponent may exceed its promise by: small sizes have fixed costs, and large ones miss the cache."""


def log_of(samples: int, features: int = 4, labels: int = 3, seed: int = 0) -> Any:
    """Return a random walk with labels that depend on it, in episodes of 100 steps or fewer."""
    from tripletree import Log

    rng = np.random.default_rng(seed)
    states = rng.normal(size=(samples, features)).cumsum(axis=0)
    actions = np.floor(labels * rng.random(samples)).astype(int)
    actions[: min(labels, samples)] = np.arange(min(labels, samples))
    starts = np.arange(0, samples, max(min(100, samples // 5), 1))
    return Log.from_arrays(states, actions, rng.normal(size=samples), starts=starts, ending="terminated")


def tree_of(leaves: int) -> Any:
    """Return a tree with so many leaves."""
    from tripletree import TripleTree

    return TripleTree(leaves, threads=1).fit(log_of(max(20 * leaves, 2_000)))


def _fit(log: Any, leaves: int) -> Callable[[], object]:
    from tripletree import TripleTree

    return lambda: TripleTree(leaves, threads=1).fit(log)


Case = tuple[str, tuple[int, ...], Callable[[int], Callable[[], object]], float]

CASES: tuple[Case, ...] = (
    ("fit, samples", (20_000, 40_000, 80_000, 160_000), lambda n: _fit(log_of(n), 50), 1.0),
    ("fit, features (10 samples)", (2_000, 4_000, 8_000, 16_000), lambda d: _fit(log_of(10, d), 8), 1.0),
    ("fit, labels (20,000 samples)", (50, 100, 200, 400), lambda a: _fit(log_of(20_000, labels=a), 50), 1.0),
    ("fit, leaves (20,000 samples)", (200, 400, 800, 1_600), lambda k: _fit(log_of(20_000), k), 1.0),
    ("explain, leaves", (500, 1_000, 2_000, 4_000), lambda k: _explain(tree_of(k)), 1.0),
    ("rules, leaves", (500, 1_000, 2_000, 4_000), lambda k: tree_of(k).rules, 1.0),
    ("chance, leaves", (250, 500, 1_000, 2_000), lambda k: _chance(tree_of(k)), 1.5),
    ("simulate between states, samples", (50_000, 100_000, 200_000, 400_000), lambda n: _simulate(n), 1.0),
    ("simulate between zones as in the paper, leaves", (250, 500, 1_000), lambda k: _search(tree_of(k)), 1.5),
)


def _explain(tree: Any) -> Callable[[], object]:
    state = np.zeros(4)
    return lambda: [tree.explain(state, f"action = {label}") for label in (0, 1, 2)]


def _chance(tree: Any) -> Callable[[], object]:
    return lambda: tree.chance("end", within=100)


def _simulate(samples: int) -> Callable[[], object]:
    from tripletree import TripleTree

    log = log_of(samples, 8)
    tree = TripleTree(50, threads=1).fit(log)
    start, end = log.states[[10, 60]] + 0.1
    tree.simulate(start, end)  # decodes the track, once
    return lambda: tree.simulate(start, end)


def _search(tree: Any) -> Callable[[], object]:
    return lambda: tree.simulate("s0 < 0", "s0 >= 0", pairs=20, method="paper")


def exponent(sizes: tuple[int, ...], seconds: list[float]) -> float:
    """Return the slope of the logarithms over the larger half of the sizes."""
    half = len(sizes) // 2
    return math.log(seconds[-1] / seconds[half - 1]) / math.log(sizes[-1] / sizes[half - 1])


def run(options: Options, report: Report) -> None:
    """Measure each case at each size, and name those that grow faster than promised."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, sizes, prepare, promised in CASES:
            if not options.wants(name):
                continue
            say(name)
            sizes = sizes[:2] if options.quick else sizes
            seconds = []
            for size in sizes:
                run_once, times = prepare(size), []
                for _ in range(options.repetitions(3)):
                    start = time.process_time()
                    run_once()
                    times.append(time.process_time() - start)
                seconds.append(max(statistics.median(times), 1e-6))
            found = exponent(sizes, seconds)
            report.rows.append(
                {
                    "cost": name,
                    "sizes": f"{sizes[0]:,} to {sizes[-1]:,}",
                    "first (s)": seconds[0],
                    "last (s)": seconds[-1],
                    "exponent": found,
                    "promised": promised,
                    "kept": "yes" if found <= promised + SPARE else "NO",
                }
            )
    report.notes.append(f"Processor seconds; an exponent may exceed its promise by {SPARE}.")
