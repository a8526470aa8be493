"""What all measurements share: interleaved repetitions, peak memory, the machine, tables on screen and on disk."""

from __future__ import annotations

import gc
import importlib.metadata
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

RESULTS = Path(__file__).parent / "results"
SLOW = 60.0
SHORT = 0.1
PAUSE = 0.25


@dataclass(frozen=True)
class Options:
    """What the command line asks for."""

    only: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    repeat: int | None = None
    quick: bool = False
    memory: bool = True
    logs: tuple[str, ...] = ()
    leaves: int = 200
    seed: int = 0

    def wants(self, case: str) -> bool:
        """Whether a case was asked for by a part of its name (all, when none was named)."""
        return not self.only or any(part in case for part in self.only)

    def chosen(self, methods: Sequence[str]) -> list[str]:
        """Return the methods asked for by a part of their names."""
        return [m for m in methods if not self.methods or any(part in m for part in self.methods)]

    def repetitions(self, usual: int) -> int:
        """How often to measure."""
        return self.repeat or (1 if self.quick else usual)


@dataclass
class Report:
    """One subject's table, filled row by row so that an interrupted run still shows what it has."""

    subject: str
    title: str
    notes: list[str] = field(default_factory=list)
    rows: list[dict[str, Any]] = field(default_factory=list)

    def markdown(self) -> str:
        """Return the table, one line a row, with the notes below."""
        lines = [f"## {self.title}", ""]
        names = list(dict.fromkeys(name for row in self.rows for name in row if not name.startswith("_")))
        if names:
            lines += ["| " + " | ".join(names) + " |", "|" + "|".join("---" for _ in names) + "|"]
            lines += ["| " + " | ".join(text(row.get(name)) for name in names) + " |" for row in self.rows]
        return "\n".join([*lines, "", *(f"- {note}" for note in self.notes), ""])


def text(value: object) -> str:
    """Show a number with three digits."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def say(message: str) -> None:
    """Tell the reader on the error stream what is going on."""
    print(message, file=sys.stderr, flush=True)


@dataclass
class Timing:
    """What the repetitions of one method took: by the clock, and of all cores together."""

    seconds: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)


def prepare(inputs: Sequence[np.ndarray]) -> None:
    """Use five times the memory of the inputs for a moment, then read them.

    A virtual machine gets pages that were not used for a while from its host only slowly (half a gigabyte a second has
    been seen), and whoever runs first would pay for that.
    """
    np.empty(5 * sum(array.nbytes for array in inputs), np.uint8)[::4096] = 0
    for array in inputs:
        array.max()


def interleave(
    methods: dict[str, Callable[[], Any]], repeat: int, inputs: Sequence[np.ndarray] = ()
) -> tuple[dict[str, Timing], dict[str, Any]]:
    """Time all methods in turn, so that a busy minute hits all of them; also return what they made.

    A method that needs more than a minute is measured once; one that needs less than a tenth of a second runs once
    without the clock before, because a processor that comes from a pause is slow at first. Every run finds memory and
    ``inputs`` in the same state.
    """
    timings = {name: Timing() for name in methods}
    made: dict[str, Any] = {}
    for repetition in range(repeat):
        for name, run in methods.items():
            if repetition and timings[name].seconds[0] > SLOW:
                continue
            made.pop(name, None)
            gc.collect()
            time.sleep(PAUSE)  # threads of the method before spin for a while; they must not take this one's core
            prepare(inputs)
            if repetition and timings[name].seconds[-1] < SHORT:
                run()
            used, begin = time.process_time(), time.perf_counter()
            made[name] = run()
            timings[name].seconds.append(time.perf_counter() - begin)
            timings[name].processor.append(time.process_time() - used)
            say(f"    {repetition + 1}/{repeat} {name}: {timings[name].seconds[-1]:.3f} s")
    return timings, made


def ratio(base: Sequence[float], other: Sequence[float]) -> float:
    """Return the median of base / other over the repetitions that both have."""
    return statistics.median(a / b for a, b in zip(base, other, strict=False))  # slow ones have but one repetition


def status(name: str) -> int:
    """Return one of the kernel's figures about this process's memory, in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"/proc/self/status has no {name}")


def peak_beyond(run: Callable[[], Any]) -> int:
    """Return how far the resident memory of this process rises above its present size while ``run`` runs."""
    gc.collect()
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # forget the peak so far
    before = status("VmRSS")
    kept = run()
    peak = status("VmHWM") - before
    del kept
    return peak


def fresh(module: str, *arguments: str) -> Any:
    """Run a module of this package in a fresh interpreter and return the JSON that it prints."""
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        check=True,
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[1],
    )
    return json.loads(done.stdout.splitlines()[-1])


def bandwidth(megabytes: int = 256) -> float:
    """Return the bytes per second that one thread reads and writes at best: the larger of a sum and a copy."""
    source = np.ones(megabytes * 2**17)
    target = np.zeros_like(source)
    best = 0.0
    for _ in range(5):
        begin = time.perf_counter()
        np.copyto(target, source)
        middle = time.perf_counter()
        source.sum()
        end = time.perf_counter()
        best = max(best, 2 * source.nbytes / (middle - begin), source.nbytes / (end - middle))
    return best


def machine() -> dict[str, Any]:
    """Describe the processor, its caches, the memory and the versions in use."""
    info = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    facts = dict(line.split(":", 1) for line in info.splitlines() if ":" in line)
    facts = {name.strip(): value.strip() for name, value in facts.items()}
    flags = set(facts.get("flags", "").split())
    versions = {"python": platform.python_version()}
    for name in ("tripletree", "numpy", "scikit-learn", "xgboost", "lightgbm", "dask"):
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            versions[name] = "not installed"
    return {
        "processor": facts.get("model name", platform.processor()),
        "cache": facts.get("cache size", "unknown"),
        "cores": len(os.sched_getaffinity(0)),
        "vectors": [name for name in ("avx2", "avx512f") if name in flags],
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "load_average": os.getloadavg()[0],
        "versions": versions,
    }


def save(reports: Sequence[Report], facts: dict[str, Any], interrupted: bool, keep: bool) -> str:
    """Write one Markdown and one JSON file for each subject, if they are to be kept; return the text of all."""
    versions = ", ".join(f"{name} {version}" for name, version in facts["versions"].items())
    head = (
        f"{facts['processor']}, {facts['cores']} cores, cache {facts['cache']}, {facts['memory_gb']} GB, "
        f"{' '.join(facts['vectors'])}; load {facts['load_average']:.1f} at the start; {versions}."
    )
    if interrupted:
        head += " Interrupted: what was measured until then."
    whole = [head, ""]
    for report in reports:
        if not report.rows:
            continue
        table = report.markdown()
        whole.append(table)
        if not keep:
            continue
        RESULTS.mkdir(exist_ok=True)
        (RESULTS / f"{report.subject}.md").write_text(f"{head}\n\n{table}")
        data = {"machine": facts, "title": report.title, "notes": report.notes, "rows": report.rows}
        (RESULTS / f"{report.subject}.json").write_text(json.dumps(data, indent=1) + "\n")
    return "\n".join(whole)
