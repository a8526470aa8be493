"""One tree on a small cluster beside XGBoost and LightGBM on Dask: time, memory, unseen episodes, a lost worker."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from benchmarks.harness import Options, Report, say
from benchmarks.scaling import write

TITLE = "One tree of 500 leaves on Dask, two workers of one thread: beside XGBoost and LightGBM"
ROWS = 10**6
UNSEEN = 10**5
FILES = (50, 7)
LEAVES = 500
TARGETS = ("value", "action_0", "action_1")
HANGS = 300.0
LOST = 60.0, 10.0
"""Seconds after which a run is given up; with a worker killed, these, or so many times what it takes without."""
METHODS = ("tripletree", "tripletree, value and actions", "XGBoost", "XGBoost, a tree each", "LightGBM, a tree each")
NOTES = (
    "Targets of the others are the value, which they are given as a column, and two actions; XGBoost has all of them "
    "in units of their deviations, which it would not find by itself. tripletree makes the value itself, and has eight "
    "derivatives as targets besides, the statistics of all leaves, and transitions; 'value and actions' leaves the "
    "derivatives out of the quality of splits.",
    "XGBoost grows one tree for several targets (multi_output_tree), or one for each; LightGBM has only the latter, "
    "in a model for each. Neither knows episodes: derivatives, values and transitions are not theirs.",
    "Processor seconds of client and workers, reading included, the start of the cluster not; the largest memory of a "
    "worker and of the client. Unexplained: mean squared error / variance on 100,000 rows of other episodes. 'killed': "
    "one of the workers is killed after half the time that the first run took, and the run given up after a minute, or "
    "ten times that time.",
)

# One case in a process of its own: reads what is asked as JSON, prints one line of JSON.
CASE = """
import hashlib, json, os, resource, signal, sys, threading, time, warnings
warnings.simplefilter("ignore")

def used():
    own = resource.getrusage(resource.RUSAGE_SELF)
    return os.getpid(), own.ru_utime + own.ru_stime, own.ru_maxrss / 1024

def read(path, names):
    import numpy as np
    from pyarrow import parquet
    table = parquet.read_table(path, columns=names)
    return np.stack([table[name].to_numpy() for name in names], axis=1).astype(np.float32)

def arrays(folder, names, scale=1.0):
    import dask, dask.array as da
    import numpy as np
    from pathlib import Path
    from pyarrow import parquet
    parts = []
    for path in sorted(Path(folder).iterdir()):
        rows = parquet.ParquetFile(path).metadata.num_rows
        part = da.from_delayed(dask.delayed(read)(str(path), names), (rows, len(names)), "float32")
        parts.append(part / np.asarray(scale, np.float32))
    return da.concatenate(parts)

STATES = [f"s{k}" for k in range(8)]
TARGETS = ["value", "action_0", "action_1"]

def fit(method, folder, leaves, client, cache, scale):
    if method.startswith("tripletree"):
        from tripletree import TripleTree, open_log
        theta = (1, 1, 0) if method.endswith("actions") else (1, 1, 1)
        log = open_log(folder, scheduler=client.scheduler.address, workers=2, cache=cache, ignore=["value"])
        tree = TripleTree(leaves, theta=theta, gamma=0.99, leaf_model="mean", keep="leaves", threads=2).fit(log)
        def told(states):
            import numpy as np
            found = tree.fitted_.told(states, tree.apply(states))
            part = tree.fitted_.targets
            return np.column_stack([found[:, part["value"]], found[:, part["action"]]])
        return told
    states = arrays(folder, STATES)
    if method.startswith("XGBoost"):
        import xgboost, xgboost.dask
        options = {
            "tree_method": "hist", "grow_policy": "lossguide", "max_leaves": leaves, "max_depth": 0, "max_bin": 256,
            "learning_rate": 1.0, "reg_lambda": 0.0, "min_child_weight": 0.0, "objective": "reg:squarederror",
            "nthread": 1, "verbosity": 0,
        }
        whole = "multi_output_tree" if method == "XGBoost" else "one_output_per_tree"
        data = xgboost.dask.DaskQuantileDMatrix(client, states, arrays(folder, TARGETS, scale), max_bin=256)
        made = xgboost.dask.train(client, {**options, "multi_strategy": whole}, data, 1)["booster"]
        return lambda given: made.predict(xgboost.DMatrix(given)) * scale
    import lightgbm, numpy as np
    made = []
    for name in TARGETS:
        model = lightgbm.DaskLGBMRegressor(
            n_estimators=1, num_leaves=leaves, learning_rate=1.0, min_child_samples=1, min_child_weight=0.0,
            max_bin=255, min_split_gain=0.0, tree_learner="data", n_jobs=1, verbose=-1, client=client, time_out=10,
        )
        model.fit(states, arrays(folder, [name])[:, 0])
        made.append(model.to_local())
    return lambda given: np.column_stack([one.predict(given) for one in made])

def main():
    asked = json.loads(sys.argv[1])
    import distributed, numpy as np
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0", silence_logs=50
    )
    client = distributed.Client(cluster)
    before = {pid: seconds for pid, seconds, _ in client.run(used).values()}
    if asked["kill"]:
        def kill():
            time.sleep(asked["kill"])
            os.kill(sorted(before)[0], signal.SIGKILL)
        threading.Thread(target=kill, daemon=True).start()
    mine, begin = time.process_time(), time.perf_counter()
    told = fit(asked["method"], asked["folder"], asked["leaves"], client, asked["cache"], asked["scale"])
    wall, own = time.perf_counter() - begin, time.process_time() - mine
    after = list(client.run(used).values())
    unseen, targets = read(asked["unseen"], STATES), read(asked["unseen"], TARGETS).astype(float)
    guessed = np.asarray(told(unseen.astype(float)), float).reshape(targets.shape)
    left = ((guessed - targets) ** 2).mean(axis=0) / targets.var(axis=0)
    print(json.dumps({
        "seconds": wall, "processor": own + sum(seconds - before.get(pid, 0) for pid, seconds, _ in after),
        "worker": max(memory for _, _, memory in after), "client": used()[2], "left": left.tolist(),
        "digest": hashlib.sha256(guessed.tobytes()).hexdigest()[:12],
    }), flush=True)
    os._exit(0)

if __name__ == "__main__":
    main()
"""


def valued(folder: Path, rows: int, files: int, seed: int = 0) -> Path:
    """Write a log with the discounted value of every step as a column, which the others cannot make."""
    import pyarrow
    from pyarrow import parquet

    from tripletree import read_log
    from tripletree.log.derive import values

    folder.mkdir()
    write(folder, rows, files, seed)
    value = values(read_log(folder), 0.99).astype("float32")
    at = 0
    for path in sorted(folder.iterdir()):
        table = parquet.read_table(path)
        parquet.write_table(table.append_column("value", pyarrow.array(value[at : at + len(table)])), path)
        at += len(table)
    return folder


def measured(script: Path, asked: dict[str, Any], limit: float) -> dict[str, Any]:
    """Run one case; what takes longer than the limit is ended, with all that it has started."""
    run = subprocess.Popen(
        [sys.executable, str(script), json.dumps(asked)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        out, errors = run.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        return {"failed": f"nothing after {limit:.0f} s"}
    finally:
        # Workers of a case that has ended otherwise, too.
        with suppress(ProcessLookupError):
            os.killpg(run.pid, signal.SIGKILL)
        run.wait()
    if run.returncode:
        lines = [line for line in errors.splitlines() if line and not line.startswith(" ")]
        return {"failed": lines[-1][:100] if lines else f"ended with {run.returncode}"}
    return dict(json.loads(out.splitlines()[-1]))


def run(options: Options, report: Report) -> None:
    """Measure every library, in other files, and with a worker lost."""
    report.notes += NOTES
    rows = UNSEEN if options.quick else ROWS
    with tempfile.TemporaryDirectory() as made:
        place = Path(made)
        script = place / "case.py"
        script.write_text(CASE)
        unseen = next(valued(place / "unseen", UNSEEN, 1, seed=1).iterdir())
        folders = {files: valued(place / f"{files} files", rows, files) for files in FILES}
        for method in options.chosen(METHODS):
            if options.wants(method):
                _all_of(report, script, place, folders, unseen, rows, method)


def _all_of(
    report: Report, script: Path, place: Path, folders: dict[int, Path], unseen: Path, rows: int, method: str
) -> None:
    from pyarrow import parquet

    columns = parquet.read_table(unseen, columns=list(TARGETS))
    scale = [float(columns[name].to_numpy().std()) for name in TARGETS]
    first: dict[str, Any] = {}
    for case, files, killed in (("", FILES[0], False), ("other files", FILES[1], False), ("killed", FILES[0], True)):
        asked = {"method": method, "folder": str(folders[files]), "unseen": str(unseen), "leaves": LEAVES}
        asked |= {"scale": scale, "cache": str(place / f"cache {method} {case}"), "kill": 0}
        if killed:
            if "seconds" not in first:
                continue
            asked["kill"] = first["seconds"] / 2
        found = measured(script, asked, max(LOST[0], LOST[1] * first["seconds"]) if killed else HANGS)
        first = first or found
        row: dict[str, Any] = {"rows": rows, "method": method, "case": case or f"{files} files"}
        if "failed" in found:
            row["result"] = found["failed"]
        else:
            row |= {"processor s": found["processor"], "wall s": found["seconds"]}
            row |= {"worker MB": found["worker"], "client MB": found["client"]}
            row |= {f"unexplained {name}": left for name, left in zip(TARGETS, found["left"], strict=True)}
            same = found["digest"] == first.get("digest")
            row["result"] = "" if not case else "the same" if same else "another tree"
        say(f"  {row}")
        report.rows.append(row)
