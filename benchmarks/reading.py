"""Reading logs of every format, beside a bare read by the library that wrote the file: columns in memory, no log."""

from __future__ import annotations

import contextlib
import os
import statistics
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import Options, Report, interleave, ratio, say

TITLE = "Read logs of 12 columns or 8 features, beside a bare read"
LENGTH = 200
"""Steps in an episode."""
FEATURES = 8

Case = Callable[[Path, int], tuple[str, Any, Callable[[], Any]]]
"""Writes a log of n steps in a folder; returns who reads it barely, the source for read_log, and the bare read."""


def run(options: Options, report: Report) -> None:
    """Measure every format whose library is there."""
    from tripletree import read_log

    n = 10**5 if options.quick else 3 * 10**5
    for name, case in CASES.items():
        if not options.wants(name):
            continue
        rows = n // 10 if name in SLOW else n
        with tempfile.TemporaryDirectory() as folder, _datasets(folder):
            say(f"  {name}: writing")
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    base, source, bare = case(Path(folder), rows)
            except ImportError as error:
                report.notes.append(f"{name}: not measured ({error}).")
                continue
            methods = {base: bare, "read_log": lambda source=source: read_log(source)}
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                timings, _ = interleave(methods, options.repetitions(5))
        own, other = timings["read_log"], timings[base]
        report.rows.append(
            {
                "format": name,
                "rows": rows,
                "rows a second": rows / statistics.median(own.seconds),
                "bare read": base,
                "rows a second, bare": rows / statistics.median(other.seconds),
                "times": ratio(own.seconds, other.seconds),
                "times, processor": ratio(own.processor, other.processor),
                "_seconds": own.seconds,
                "_bare": other.seconds,
            }
        )
    report.notes.append(
        "A bare read leaves columns as they are. read_log also finds the roles of columns and the episodes, looks for "
        "columns that give the answer away, checks every number, and makes one matrix of doubles of the states."
    )


@contextlib.contextmanager
def _datasets(folder: str) -> Iterator[None]:
    before = os.environ.get("MINARI_DATASETS_PATH")
    os.environ["MINARI_DATASETS_PATH"] = folder
    yield
    os.environ.pop("MINARI_DATASETS_PATH")
    if before is not None:
        os.environ["MINARI_DATASETS_PATH"] = before


def columns_of(n: int) -> dict[str, Any]:
    """Return a log of n steps: an episode, a step, eight features, an action in words, a reward."""
    rng = np.random.default_rng(0)
    columns = {"episode": np.arange(n) // LENGTH, "step": np.arange(n) % LENGTH}
    columns |= {f"f{k}": rng.normal(size=n).cumsum() / 100 for k in range(6)}
    columns |= {f"contact{k}": rng.integers(0, 2, n) for k in range(2)}
    return columns | {"action": rng.choice(["left", "right", "main", "none"], n), "reward": rng.normal(size=n)}


def arrays_of(n: int) -> dict[str, Any]:
    """Return a log of n steps as offline datasets have it: float32 blocks, and flags at the end of episodes."""
    rng = np.random.default_rng(0)
    return {
        "observations": rng.normal(size=(n, FEATURES)).astype(np.float32),
        "actions": rng.normal(size=(n, 2)).astype(np.float32),
        "rewards": rng.normal(size=n).astype(np.float32),
        "terminals": np.arange(n) % LENGTH == LENGTH - 1,
        "timeouts": np.zeros(n, bool),
    }


def write(path: Path, n: int, columns: dict[str, Any] | None = None) -> None:
    """Write a CSV file."""
    table = columns_of(n) if columns is None else columns
    with path.open("w", encoding="utf-8") as file:
        file.write(",".join(table) + "\n")
        file.writelines(
            ",".join(map(str, row)) + "\n" for row in zip(*(c.tolist() for c in table.values()), strict=True)
        )


def _csv(folder: Path, n: int) -> tuple[str, Any, Any]:
    from pyarrow import csv

    path = folder / "log.csv"
    write(path, n)
    return "pyarrow", path, lambda: [column.to_numpy() for column in csv.read_csv(path).columns]


def _gzipped(folder: Path, n: int) -> tuple[str, Any, Any]:
    import gzip
    import shutil

    from pyarrow import csv

    write(folder / "log.csv", n)
    path = folder / "log.csv.gz"
    with (folder / "log.csv").open("rb") as source, gzip.open(path, "wb", 6) as target:
        shutil.copyfileobj(source, target)
    return "pyarrow", path, lambda: [column.to_numpy() for column in csv.read_csv(path).columns]


def _cells(folder: Path, n: int) -> tuple[str, Any, Any]:
    import pandas

    arrays = arrays_of(n)
    rows = arrays["observations"]
    path = folder / "log.csv"
    with path.open("w") as file:
        file.write("episode,obs,action,reward\n")
        file.writelines(f'{k // LENGTH},"{row.tolist()}",{k % 3},1.5\n' for k, row in enumerate(rows))

    def bare() -> Any:
        frame = pandas.read_csv(path)
        return np.array([np.fromstring(cell[1:-1], sep=",") for cell in frame["obs"]])

    return "pandas, np.fromstring", path, bare


def _folder(folder: Path, n: int) -> tuple[str, Any, Any]:
    from pyarrow import csv

    place = folder / "runs"
    place.mkdir()
    columns = columns_of(n)
    size = n // 10
    for part in range(10):
        rows = slice(part * size, (part + 1) * size)
        write(place / f"run{part}.csv", size, {name: column[rows] for name, column in columns.items()})
    files = sorted(place.iterdir())
    return "pyarrow", place, lambda: [[c.to_numpy() for c in csv.read_csv(file).columns] for file in files]


def _parquet(folder: Path, n: int) -> tuple[str, Any, Any]:
    import pyarrow as pa
    from pyarrow import parquet

    path = folder / "log.parquet"
    parquet.write_table(pa.table(columns_of(n)), path)
    return "pyarrow", path, lambda: [column.to_numpy() for column in parquet.read_table(path).columns]


def _lists(folder: Path, n: int) -> tuple[str, Any, Any]:
    import pyarrow as pa
    from pyarrow import parquet

    arrays, path = arrays_of(n), folder / "log.parquet"
    obs = pa.FixedSizeListArray.from_arrays(arrays["observations"].reshape(-1), FEATURES)
    columns = {
        "episode": np.arange(n) // LENGTH,
        "obs": obs,
        "action": arrays["actions"][:, 0],
        "reward": arrays["rewards"],
    }
    parquet.write_table(pa.table(columns), path)
    return "pyarrow", path, lambda: _flat(parquet.read_table(path))


def _flat(table: Any) -> list[Any]:
    columns = [column.combine_chunks() for column in table.columns]
    return [c.flatten().to_numpy() if hasattr(c, "flatten") else c.to_numpy(zero_copy_only=False) for c in columns]


def _npz(folder: Path, n: int) -> tuple[str, Any, Any]:
    path = folder / "log.npz"
    np.savez(path, **arrays_of(n))
    return "NumPy", path, lambda: dict(np.load(path))


def _hdf5(folder: Path, n: int) -> tuple[str, Any, Any]:
    import h5py

    path = folder / "log.hdf5"
    with h5py.File(path, "w") as file:
        for name, array in arrays_of(n).items():
            file.create_dataset(name, data=array, compression="gzip")

    def bare() -> Any:
        with h5py.File(path) as file:
            return {name: file[name][()] for name in file}

    return "h5py", path, bare


def _robomimic(folder: Path, n: int) -> tuple[str, Any, Any]:
    import h5py

    arrays, path = arrays_of(n), folder / "demo.hdf5"
    with h5py.File(path, "w") as file:
        for demo in range(n // LENGTH):
            rows = slice(demo * LENGTH, (demo + 1) * LENGTH)
            group = file.create_group(f"data/demo_{demo}")
            group["actions"], group["rewards"] = arrays["actions"][rows], arrays["rewards"][rows]
            group["dones"] = arrays["terminals"][rows]
            group["obs/eef"], group["obs/object"] = np.split(arrays["observations"][rows], 2, axis=1)

    def bare() -> Any:
        found: list[Any] = []
        with h5py.File(path) as file:
            file.visititems(lambda _, item: found.append(item[()]) if isinstance(item, h5py.Dataset) else None)
        return found

    return "h5py", path, bare


def _minari(data_format: str) -> Case:
    def case(_: Path, n: int) -> tuple[str, Any, Any]:
        import minari
        from gymnasium import spaces
        from minari.data_collector import EpisodeBuffer

        arrays = arrays_of(n)
        flags = np.arange(LENGTH) == LENGTH - 1
        buffers = []
        for episode in range(n // LENGTH):
            rows = slice(episode * LENGTH, (episode + 1) * LENGTH)
            obs = arrays["observations"][rows]
            part = {name: arrays[name][rows] for name in ("actions", "rewards")}
            ends = {"terminations": flags, "truncations": np.zeros(LENGTH, bool)}
            buffers.append(EpisodeBuffer(id=episode, observations=np.vstack([obs, obs[:1]]), **part, **ends))
        made = minari.create_dataset_from_buffers(
            "bench-v0",
            buffers,
            observation_space=spaces.Box(-99, 99, (FEATURES,)),
            action_space=spaces.Box(-99, 99, (2,)),
            data_format=data_format,
        )
        return "Minari", "bench-v0", lambda: list(made.iterate_episodes())

    return case


def _lerobot(folder: Path, n: int) -> tuple[str, Any, Any]:
    import json

    import pyarrow as pa
    from pyarrow import parquet

    arrays, place = arrays_of(n), folder / "robot"
    data = place / "data" / "chunk-000"
    data.mkdir(parents=True)
    (place / "meta").mkdir()
    state = {"dtype": "float32", "shape": [FEATURES], "names": [f"motor{k}" for k in range(FEATURES)]}
    features = {"observation.state": state, "action": {"dtype": "float32", "shape": [2], "names": None}}
    (place / "meta" / "info.json").write_text(json.dumps({"codebase_version": "v3.0", "features": features}))
    table = pa.table(
        {
            "observation.state": pa.FixedSizeListArray.from_arrays(arrays["observations"].reshape(-1), FEATURES),
            "action": pa.FixedSizeListArray.from_arrays(arrays["actions"].reshape(-1), 2),
            "next.reward": arrays["rewards"],
            "next.done": arrays["terminals"],
            "frame_index": np.arange(n) % LENGTH,
            "episode_index": np.arange(n) // LENGTH,
        }
    )
    parquet.write_table(table, data / "file-000.parquet")
    return "pyarrow", place, lambda: _flat(parquet.read_table(data / "file-000.parquet"))


def _sb3(_: Path, n: int) -> tuple[str, Any, Any]:
    from gymnasium import spaces
    from stable_baselines3.common.buffers import ReplayBuffer

    arrays = arrays_of(n)
    buffer = ReplayBuffer(n, spaces.Box(-99, 99, (FEATURES,)), spaces.Box(-99, 99, (2,)), device="cpu")
    buffer.observations[:, 0], buffer.actions[:, 0] = arrays["observations"], arrays["actions"]
    buffer.next_observations[:-1, 0] = arrays["observations"][1:]
    buffer.rewards[:, 0], buffer.dones[:, 0] = arrays["rewards"], arrays["terminals"]
    buffer.full = True
    names = ("observations", "next_observations", "actions", "rewards", "dones", "timeouts")
    return "a copy of its arrays", buffer, lambda: [getattr(buffer, name).copy() for name in names]


def _d3rlpy(folder: Path, n: int) -> tuple[str, Any, Any]:
    import d3rlpy

    arrays, path = arrays_of(n), folder / "data.h5"
    data = d3rlpy.dataset.MDPDataset(*(arrays[name] for name in ("observations", "actions", "rewards", "terminals")))
    with path.open("w+b") as file:
        data.dump(file)

    def bare() -> Any:
        with path.open("rb") as file:
            return d3rlpy.dataset.ReplayBuffer.load(file, d3rlpy.dataset.InfiniteBuffer())

    return "d3rlpy", path, bare


def _polars(_: Path, n: int) -> tuple[str, Any, Any]:
    import polars

    frame = polars.DataFrame(columns_of(n))
    return "polars, to NumPy", frame, lambda: [frame.to_series(k).to_numpy() for k in range(frame.width)]


def _transitions(_: Path, n: int) -> tuple[str, Any, Any]:
    arrays = arrays_of(n)
    obs = arrays["observations"]
    parts = obs, arrays["actions"], arrays["rewards"].tolist(), np.roll(obs, -1, axis=0), arrays["terminals"].tolist()
    steps = list(zip(*parts, strict=True))
    return "np.array of each part", steps, lambda: [np.array([step[k] for step in steps]) for k in range(5)]


CASES: dict[str, Case] = {
    "CSV": _csv,
    "CSV, gzipped": _gzipped,
    "CSV, rows in cells": _cells,
    "folder of CSV": _folder,
    "Parquet": _parquet,
    "Parquet, lists": _lists,
    "NPZ": _npz,
    "HDF5 (D4RL)": _hdf5,
    "HDF5 (robomimic)": _robomimic,
    "Minari, HDF5": _minari("hdf5"),
    "Minari, Arrow": _minari("arrow"),
    "LeRobot": _lerobot,
    "SB3 replay buffer": _sb3,
    "d3rlpy": _d3rlpy,
    "polars": _polars,
    "transitions": _transitions,
}
SLOW = frozenset({"CSV, rows in cells", "HDF5 (robomimic)", "Minari, HDF5", "Minari, Arrow", "d3rlpy", "transitions"})
"""Formats whose own library takes so long that a tenth of the rows is enough."""
