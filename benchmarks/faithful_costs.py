"""What faithfulness costs: time of a fit with and without linear leaves, of one action, and the size of files."""

from __future__ import annotations

import importlib
import statistics
import subprocess
import tempfile
import timeit
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from benchmarks import fitting, worlds
from benchmarks.faithful_cases import DEMO, names
from benchmarks.harness import Options, interleave, ratio, say
from tripletree import Log, TripleTree
from tripletree.store import save

Add = Callable[..., None]

LEAVES = 450
CALLS = 20_000
STATES = 20_000
DRIVER = """
#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "policy.h"
static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}
int main(int count, char **given) {
    int n = count > 2 ? atoi(given[2]) : 0;
    double *states = malloc(sizeof(double) * (size_t)n * POLICY_FEATURES), sum = 0, out[OUTPUTS];
    FILE *file = fopen(given[1], "rb");
    if (!file || fread(states, sizeof(double) * POLICY_FEATURES, (size_t)n, file) != (size_t)n) return 1;
    for (int r = 0; r < 9; ++r) {
        double begin = now();
        for (int i = 0; i < n; ++i) {
            const double *state = states + (size_t)i * POLICY_FEATURES;
            ACT;
            sum += out[0];
        }
        printf("%.2f\\n", (now() - begin) / n);
    }
    fprintf(stderr, "%g\\n", sum);
    return 0;
}
"""


def without(log: Log, leaves: int, threads: int) -> TripleTree:
    """Fit as before there were linear leaves: means, and nothing else."""
    fit = importlib.import_module("tripletree.model.fit")
    with mock.patch.object(fit, "fit_linear", return_value=(None, None)):
        return TripleTree(leaves, threads=threads, leaf_model="mean").fit(log)


def measure_fit(options: Options, add: Add) -> None:
    """Add how long a fit takes with and without linear leaves."""
    for name, (world, rows, leaves, usual) in fitting.CASES.items():
        if options.wants(f"fit {name}"):
            made = world(rows // 10 if options.quick else rows)
            _fit(f"fit {name}", name, fitting.log_of(made), leaves, options.repetitions(usual), add)
    if options.wants("fit LunarLander-v3"):
        log = names(options)["LunarLander-v3"]().log
        _fit("fit LunarLander-v3", "LunarLander-v3, labels", log, LEAVES, options.repetitions(5), add)


def _fit(case: str, name: str, log: Log, leaves: int, repeat: int, add: Add) -> None:
    say(f"  {case}: {log.n_samples:,} x {log.n_features}, {leaves} leaves")
    for threads in (1, 2):
        methods = {
            "with": lambda threads=threads: fitting.fit(log, leaves, threads),
            "without": lambda threads=threads: without(log, leaves, threads),
        }
        timings, _ = interleave(methods, repeat, [log.states])
        factor = ratio(timings["with"].seconds, timings["without"].seconds)
        seconds = {way: round(statistics.median(timings[way].seconds), 4) for way in ("without", "with")}
        size = f"{log.n_samples:,} x {log.n_features}, {leaves} leaves"
        place = {"case": name, "size": size, "threads": threads}
        kept = "yes" if factor <= 2 else "no"
        add("fit", case, **place, **seconds, ratio=round(factor, 2), target="<= 2", kept=kept)


def measure_speed(options: Options, add: Add) -> None:
    """Add the time of one action, in Python and in C, and the size of model files."""
    if options.wants("speed"):
        for name in (DEMO, "LunarLander-v3"):
            case = names(options)[name]()
            for model in ("mean", "linear"):
                tree = TripleTree(LEAVES, leaf_model=model).fit(case.log)
                what = f"{name}, {LEAVES} leaves, {model}"
                say(f"  speed {what}")
                _row(add, f"as_policy() on one state: {what}", microseconds(tree, case.log), "us", 5)
                _row(add, f"exported C on one state: {what}", nanoseconds(tree, case.log), "ns", 200)
    if options.wants("size"):
        log = fitting.log_of(worlds.lander(10**5))
        for leaves in (200, 450, 1000):
            fitted = TripleTree(leaves).fit(log).fitted_
            plain = replace(fitted, linear=None, options={**fitted.options, "leaf_model": "mean"})
            _row(add, f"model file, {leaves} leaves", megabytes(fitted), "MB", case="size")
            _row(add, f"model file, {leaves} leaves, without linear models", megabytes(plain), "MB", case="size")


def _row(add: Add, measure: str, number: float, unit: str, target: float | None = None, *, case: str = "speed") -> None:
    sign = "" if target is None else f"<= {target:g}"
    kept = "" if target is None else "yes" if number <= target else "no"
    add("speed", case, measure=measure, number=float(f"{number:.3g}"), unit=unit, target=sign, kept=kept)


def _shuffled(log: Log) -> np.ndarray:
    rng = np.random.default_rng(0)
    return np.ascontiguousarray(log.states[rng.choice(log.n_samples, STATES)])


def microseconds(tree: TripleTree, log: Log) -> float:
    """Return the median time of one call with an observation as Gymnasium gives them, in single precision."""
    act = tree.as_policy()
    states = list(_shuffled(log).astype(np.float32))

    def fly() -> None:
        for state in states:
            act(state)

    return 1e6 * statistics.median(timeit.repeat(fly, number=1, repeat=7)) / len(states)


def nanoseconds(tree: TripleTree, log: Log) -> float:
    """Return the median time of one action of the exported program."""
    labels = log.schema.action.labels
    act = "out[0] = policy_act(state)" if labels else "policy_act(state, out)"
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        tree.export(place / "policy.c", about="action")
        (place / "driver.c").write_text(DRIVER)
        _shuffled(log).tofile(place / "states")
        outputs = f"-DOUTPUTS={max(len(log.schema.action.names), 1)}"
        build: list[Any] = [
            "cc",
            "-O2",
            "-std=c99",
            outputs,
            f"-DACT={act}",
            "driver.c",
            "policy.c",
            "-lm",
            "-o",
            "run",
        ]
        subprocess.run(build, check=True, cwd=place)
        done = subprocess.run([place / "run", "states", str(STATES)], check=True, cwd=place, capture_output=True)
    return statistics.median(map(float, done.stdout.split()))


def megabytes(fitted: Any) -> float:
    """Return the size of a model file."""
    with tempfile.TemporaryDirectory() as folder:
        save(fitted, Path(folder) / "model.tripletree")
        return (Path(folder) / "model.tripletree").stat().st_size / 1e6
