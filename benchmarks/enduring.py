"""Growth on logs on disk that is disturbed: workers killed, other files, Ctrl-C, a full disk; always the same tree."""

from __future__ import annotations

import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import Options, Report, say
from benchmarks.scaling import write

TITLE = "Disturbed: the same tree after killed workers, in other files, after Ctrl-C; nothing stays behind"
ROWS, QUICK = 2 * 10**6, 10**5
FILES = (1, 7, 50)
INTERRUPTS, RESUMED = 20, 7
"""How often Ctrl-C is pressed, and every how many-th time the run goes on to its end."""
LIMIT, HANGS = 2.0, 20.0
"""Seconds in which Ctrl-C must have ended everything, and after which nobody waits any longer."""

# Fits a log on disk and prints a digest of tree, leaves and transitions; if asked to, kills one worker in every pass.
CASE = """
import hashlib, json, multiprocessing, sys, warnings
warnings.simplefilter("ignore")

def main():
    from tripletree import TripleTree, open_log
    executor, folder, cache, killing = sys.argv[1:5]
    killed = []
    def progress(what, done, total, size, who):
        if done == 0:
            print(what.partition(" (")[0], file=sys.stderr, flush=True)
        if killing == "yes" and done < total and what not in killed and (workers := multiprocessing.active_children()):
            killed.append(what)
            workers[0].kill()
    given = {} if cache == "-" else {"cache": cache}
    log = open_log(folder, executor=executor, workers=2, progress=progress, **given)
    fitted = TripleTree(500, leaf_model="mean", keep="leaves").fit(log).fitted_
    digest = hashlib.sha256()
    for part in (fitted.tree, fitted.attributes, fitted.transitions):
        for name, value in sorted(vars(part).items()):
            if hasattr(value, "tobytes") and name in type(part).__dataclass_fields__:
                digest.update(name.encode() + value.tobytes())
    print(json.dumps({"digest": digest.hexdigest()[:12], "killed": len(killed)}))

if __name__ == "__main__":
    main()
"""


def fitted(script: Path, folder: Path, cache: str, executor: str = "threads", *, killing: bool = False) -> Any:
    """Fit in a process of its own; returns what it prints."""
    command = [sys.executable, str(script), executor, str(folder), cache, "yes" if killing else "no"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def children(pid: int) -> set[int]:
    """Return all processes that descend from one."""
    parents: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
        except (OSError, IndexError, ValueError):
            continue
    found, more = set[int](), {pid}
    while more:
        found |= more
        more = {child for child, parent in parents.items() if parent in found} - found
    return found - {pid}


def alive(pid: int) -> bool:
    """Tell whether a process is there and no zombie, which has ended and waits for its parent to notice."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def interrupted(script: Path, folder: Path, home: Path, executor: str, after: float) -> dict[str, Any]:
    """Start a fit, send Ctrl-C after some seconds, and tell what it was at and how it ended."""
    command = [sys.executable, str(script), executor, str(folder), "-", "no"]
    # Where this runs in the background of a shell, Ctrl-C is ignored, by the fit as well.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with tempfile.TemporaryFile("w+") as told:
        fit = subprocess.Popen(
            command,
            env=os.environ | {"XDG_CACHE_HOME": str(home)},
            stdout=subprocess.DEVNULL,
            stderr=told,
            start_new_session=True,
        )
        time.sleep(after)
        told.seek(0)
        passes = told.read().splitlines()
        below = children(fit.pid)
        over = fit.poll() is not None
        begin = time.perf_counter()
        if not over:
            os.killpg(fit.pid, signal.SIGINT)
        try:
            fit.wait(HANGS)
        except subprocess.TimeoutExpired:
            os.killpg(fit.pid, signal.SIGKILL)
            fit.wait()
        seconds = time.perf_counter() - begin
    while below and time.perf_counter() - begin < max(LIMIT, seconds + 0.5):
        time.sleep(0.05)
        below = {pid for pid in below if alive(pid)}
    stray = [path.name for path in home.rglob("*") if path.is_file() and not path.name.startswith("log-")]
    at = passes[-1] if passes else "starting"
    return {"over": over, "at": at, "seconds": seconds, "orphans": len(below), "stray": stray}


def interrupts(script: Path, folder: Path, place: Path, executor: str, expected: str) -> dict[str, Any]:
    """Press Ctrl-C at moments that are spread over a whole run; sometimes, go on from what is left behind."""
    begin = time.perf_counter()
    fitted(script, folder, str(place / "whole"), executor)
    length = time.perf_counter() - begin
    shutil.rmtree(place / "whole")
    rng = np.random.default_rng(0)
    ends, same, left = [], True, 0
    for number in range(INTERRUPTS):
        home = place / f"home{number}"
        home.mkdir()
        after = max((number + rng.random()) / INTERRUPTS * length, 0.2)
        ends.append(interrupted(script, folder, home, executor, after))
        say(f"    {executor} after {after:.1f} of {length:.1f} s: {ends[-1]}")
        if number % RESUMED == RESUMED - 1:
            os.environ["XDG_CACHE_HOME"] = str(home)
            same &= fitted(script, folder, "-", executor)["digest"] == expected
            left += sum(path.is_file() for path in home.rglob("*"))
        shutil.rmtree(home)
    heard = [end for end in ends if not end["over"]]
    return {
        "same": same,
        "slowest end, s": max(end["seconds"] for end in heard),
        "median": statistics.median(end["seconds"] for end in heard),
        "late": sum(end["seconds"] > LIMIT for end in heard),
        "orphans": sum(end["orphans"] for end in ends),
        "stray files": sum(len(end["stray"]) for end in ends) + left,
        "were over": len(ends) - len(heard),
        "passes": len({end["at"] for end in heard}),
    }


def run(options: Options, report: Report) -> None:
    """Disturb fits in every way."""
    rows = QUICK if options.quick else ROWS
    with tempfile.TemporaryDirectory() as place:
        script = Path(place) / "case.py"
        script.write_text(CASE)
        folders = {}
        for files in FILES:
            folders[files] = Path(place) / f"log{files}"
            folders[files].mkdir()
            write(folders[files], rows, files)
        cache = Path(place) / "cache"
        expected = fitted(script, folders[FILES[-1]], str(cache))["digest"]

        def told(case: str, same: bool, **more: Any) -> None:
            say(f"  {case}: {'the same' if same else 'NOT THE SAME'} {more or ''}")
            report.rows.append({"rows": rows, "case": case, "same": "yes" if same else "NO", **more})

        for files in FILES[:-1]:
            if options.wants("files"):
                got = fitted(script, folders[files], str(cache / str(files)))
                told(f"{files} files", got["digest"] == expected)
        for executor in ("processes", "dask"):
            if options.wants(f"killed {executor}"):
                got = fitted(script, folders[7], str(cache / executor), executor, killing=True)
                told(f"{executor}: a worker killed in each pass", got["digest"] == expected, killed=got["killed"])
        for executor in ("threads", "processes", "dask"):
            if options.wants(f"interrupts {executor}"):
                got = interrupts(script, folders[7], Path(place), executor, expected)
                told(f"{executor}: Ctrl-C {INTERRUPTS} times", got.pop("same"), **got)
