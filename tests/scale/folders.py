"""Small random logs as folders of Parquet files whose borders lie anywhere."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
from pyarrow import parquet

from tripletree import TripleTree


def random_columns(rng: np.random.Generator, episodes: int | None = None) -> dict[str, list[Any]]:
    """Return the columns of a random log: features of all kinds, discrete or continuous actions, outliers."""
    episodes = int(rng.integers(1, 12)) if episodes is None else episodes
    d, discrete = int(rng.integers(1, 4)), bool(rng.integers(2))
    names = [f"x{k}" for k in range(d)] + (["action"] if discrete else ["action_0", "action_1"])
    columns: dict[str, list[Any]] = {
        name: [] for name in (*names, "reward", "episode", "step", "terminated", "truncated")
    }
    style, outliers = rng.integers(0, 4, d), rng.random() < 0.3
    for episode in range(episodes):
        length, end = int(rng.integers(1, 40)), int(rng.integers(3))
        walk = rng.normal(size=(length, d)).cumsum(axis=0)
        for k in range(d):
            kinds = (walk[:, k], np.rint(walk[:, k]), (walk[:, k] > 0) * 1.0, np.float32(walk[:, k]).astype(float))
            columns[f"x{k}"] += kinds[style[k]].tolist()
        if discrete:
            columns["action"] += rng.integers(0, 3, length).tolist()
        else:
            columns["action_0"] += rng.normal(size=length).tolist()
            columns["action_1"] += np.clip(rng.normal(size=length), -1, 1).tolist()
        rewards = rng.normal(size=length)
        if outliers and rng.random() < 0.5:
            rewards[rng.integers(length)] = -1e5
        columns["reward"] += rewards.tolist()
        columns["episode"] += [episode] * length
        columns["step"] += range(length)
        columns["terminated"] += [False] * (length - 1) + [end == 1]
        columns["truncated"] += [False] * (length - 1) + [end == 2]
    return columns


def with_text(columns: dict[str, list[Any]], rng: np.random.Generator) -> dict[str, list[Any]]:
    """Return the same with text among the features, of which some is rare, and perhaps as the action."""
    n, columns = len(columns["reward"]), dict(columns)
    if n < 20:  # there must not be many more features than samples
        return columns
    names = ["auto", "a, b", "été", "Coast", "b"]
    share = rng.dirichlet(np.full(len(names), 0.3))
    texts = rng.choice(names, n, p=share)
    # Sorted, a text is in a few files only.
    columns["mode"] = (np.sort(texts) if rng.random() < 0.5 else texts).tolist()
    if rng.random() < 0.5:
        columns |= {"next_mode": [*columns["mode"][1:], "end"]}
        columns |= {f"next_{name}": [*columns[name][1:], 0.5] for name in list(columns) if name.startswith("x")}
    if "action" in columns and rng.random() < 0.6:
        words = ["10", "2", "go, left"]
        columns["action"] = [words[int(code)] for code in columns["action"]]
        if rng.random() < 0.5:  # two columns are one action
            columns["action_0"], columns["action_1"] = columns.pop("action"), rng.integers(0, 12, n).tolist()
    return columns


def with_times(columns: dict[str, Any], rng: np.random.Generator) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the same with times that gaps interrupt anywhere, and perhaps groups; and what must be said about them."""
    n, columns, roles = len(columns["reward"]), dict(columns), {}
    episode = np.array(columns["episode"])
    steps = rng.choice([100, 100, 150, 200], n) * (rng.random(n) < 0.9) + rng.integers(1, 60, n)
    far = (rng.random(n) < rng.choice([0, 0.02, 0.1])) * rng.integers(1, 30_000, n)
    again = rng.random(n) >= rng.choice([0, 0, 0.1, 0.5])  # or a row has the time of the row before
    passed = (again * (steps + far) + 10**6 * np.append(0, np.diff(episode) != 0)).cumsum()
    since = 1_700_000_000_000 + passed
    dates = since.astype("M8[ms]")
    kinds: dict[str, Any] = {
        "time_ms": passed,
        "timestamp": since,
        "ts": passed / 1e3,
        "datetime": pyarrow.array(dates.astype("M8[us]")),
        "utc": pyarrow.array(dates).cast(pyarrow.timestamp("ns", tz="Europe/Berlin")),
        "log_time": np.array([f"{date}Z" for date in dates.astype(str)], object),
        "event_timestamp_s": np.float32(passed % 10_000_000 / 1e3),
        "dt": rng.choice([0.1, 0.2, 0.35], n),
        "dt_ms": np.where(rng.random(n) < 0.1, np.nan, steps),
    }
    name = str(rng.choice(list(kinds)))
    columns[name] = kinds[name]
    if name.startswith("event") and (np.diff(columns[name])[np.diff(episode) == 0] <= 0).any():
        columns[name] = passed / 1e3  # too late for single precision
    if rng.random() < 0.6:
        del columns["step"]
    else:
        roles["dt" if name.startswith("dt") else "time"] = name
        if not name.startswith("dt") and rng.random() < 0.3:  # a clock that is set anew
            columns["time_ms"], roles["time"] = rng.permutation(n), "time_ms"
            columns.pop(name) if name != "time_ms" else None
    if rng.random() < 0.3 and not name.startswith("dt"):
        for column in rng.choice(["episode", "terminated", "truncated"], int(rng.integers(1, 4)), replace=False):
            del columns[column]
    if rng.random() < 0.3:
        roles["gap"] = float(rng.choice([0.3, 2, 15]))
    if rng.random() < 0.5 and "episode" in columns:
        columns["pilot"], roles["group"] = rng.choice(["Eva", "Bo", "Al"], 50)[episode].tolist(), "pilot"
    return columns, roles


def with_holes(columns: dict[str, Any], rng: np.random.Generator) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the same with values missing anywhere, and perhaps what is to be done about it."""
    n, columns = len(columns["reward"]), dict(columns)
    # Where there is no column of episodes, any rows will do for their ends.
    episode = np.array(columns.get("episode", np.arange(n) // 9))
    ends = np.append(np.diff(episode) != 0, True)
    begins = np.append(True, ends[:-1])
    share = float(rng.choice([0.01, 0.1, 0.3]))
    middle, length = int(rng.integers(n)), int(rng.integers(1, 40))
    places = {
        "anywhere": rng.random(n) < share,
        "begins": begins & (rng.random(n) < 0.5),
        "ends": ends & (rng.random(n) < 0.7),
        "long": (np.arange(n) >= middle) & (np.arange(n) < middle + length),
        "early": np.arange(n) - np.maximum.accumulate(np.where(begins, np.arange(n), 0)) < rng.integers(1, 5),
    }
    whole = rng.random(n) < 0.2 * share
    for name in list(columns):
        parts = name.startswith(("x", "next_", "action", "reward", "mode"))
        if not parts or rng.random() < (0.8 if name.startswith("next_") else 0.5):
            continue
        lost = whole | places[str(rng.choice(list(places), p=[0.4, 0.15, 0.2, 0.15, 0.1]))]
        values = list(columns[name])
        nothing: list[Any] = [None]
        if isinstance(values[0], float):
            nothing = [None, float("nan")] if rng.random() < 0.5 else [float("nan")]
        elif name.endswith("mode"):
            nothing = [None, "", "NA"] if rng.random() < 0.5 else [None]
        columns[name] = [nothing[int(rng.integers(len(nothing)))] if lost[k] else values[k] for k in range(n)]
    way = str(rng.choice(["", "split", "drop", "fill", "fill"]))
    return columns, {"missing": way} if way else {}


def with_weights(columns: dict[str, Any], rng: np.random.Generator) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the same with a weight for each step, and what must be said about it."""
    n = len(columns["reward"])
    episode = np.array(columns.get("episode", np.arange(n) // 9))
    kinds = {
        "whole": rng.integers(0, 5, n) * 0.3,
        "any": rng.random(n),
        "far apart": 10.0 ** rng.uniform(-9, 3, n),
        "some": (rng.random(n) < 0.7) * 2.0,
        "episodes": rng.choice([0.0, 0.5, 1.0, 3.7], int(episode.max()) + 1)[episode],
        "one episode": (episode == episode[0]) * 1.0,
        "alike": np.full(n, 0.1),
    }
    weights = kinds[str(rng.choice(list(kinds)))]
    weights[int(rng.integers(n))] = 1.0
    if n >= 20 > np.count_nonzero(weights):  # there must not be many more features than samples that count
        weights = kinds["any"]
    return {**columns, "importance": weights}, {"weight": "importance"}


def write_folder(folder: Path, columns: dict[str, list[Any]], rng: np.random.Generator, files: int) -> Path:
    """Write columns as so many files, or fewer; row groups are of any size."""
    table = pyarrow.table(columns)
    folder.mkdir(parents=True, exist_ok=True)
    cuts = np.unique(np.concatenate([[0, len(table)], rng.integers(0, len(table) + 1, files - 1)])).tolist()
    for number, (begin, end) in enumerate(pairwise(cuts)):
        groups, part = int(rng.choice([3, 20, 1_000])), table.slice(begin, end - begin)
        if "mode" in columns and rng.random() < 0.5:  # with words of the other files, which these rows do not use
            place = part.column_names.index("mode")
            part = part.set_column(place, "mode", part["mode"].dictionary_encode().unify_dictionaries())
        parquet.write_table(part, folder / f"part{number}.parquet", row_group_size=groups)
    return folder


def differences(first: TripleTree, second: TripleTree) -> list[str]:
    """Return in what two fitted trees differ: structure, leaves, transitions, losses, schema, provenance."""
    one, other = first.fitted_, second.fitted_
    found = []
    for part in ("tree", "attributes", "transitions"):
        mine, theirs = getattr(one, part), getattr(other, part)
        if (mine is None) != (theirs is None):
            found.append(part)
            continue
        for name in () if mine is None else type(mine).__dataclass_fields__:
            a, b = getattr(mine, name), getattr(theirs, name)
            if isinstance(a, np.ndarray) and not np.array_equal(a, b, equal_nan=a.dtype.kind == "f"):
                found.append(f"{part}.{name}")
    arrays = ("feature_min", "feature_max", "curve_training", "training_episodes", "derivative_scale")
    found += [name for name in arrays if not np.array_equal(getattr(one, name), getattr(other, name))]
    found += [name for name in ("schema", "options") if getattr(one, name) != getattr(other, name)]
    found += [name for name in one.provenance if one.provenance[name] != other.provenance.get(name)]
    return found
