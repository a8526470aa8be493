"""HDF5 files to tables: the flat layout of D4RL, and episodes in groups as robomimic, Minari and d3rlpy write them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from tripletree.checks import listing
from tripletree.errors import LogError
from tripletree.log.coerce import Array
from tripletree.log.npz_reader import refuse_bomb
from tripletree.log.sources import MOST_DIMENSIONS, Stack, Table, library, natural, refuse_images
from tripletree.writing import open_regular, shown

INSTALL = '"tripletree[hdf5]"'
MOST_DEPTH = 6
"""Groups inside groups that are looked into."""
_DEMO = re.compile(r"demo_\d+")
_EPISODE = re.compile(r"episode_\d+")
_OFFLINE = re.compile(r"observations_\d+")
_AGAIN = "Download or write it again"
BESIDE = "recorded beside the state"
"""Why infos are not read."""
_PARTS = ("actions", "rewards", "terminations", "truncations")


@contextmanager
def opened(path: Path) -> Iterator[Any]:
    """Open an HDF5 file for reading; whatever goes wrong in it is one LogError."""
    h5py = library("h5py", "Reading HDF5 files", INSTALL)
    try:
        open_regular(path).close()
        with h5py.File(path, "r") as file:
            yield file
    except (OSError, RuntimeError, KeyError, ValueError, TypeError, OverflowError, AttributeError) as error:
        if isinstance(error, (LogError, FileNotFoundError, PermissionError, IsADirectoryError)):
            raise
        why = str(error).strip("'\"").partition("\n")[0]
        raise LogError(f"{shown(path)} is not an HDF5 file, or damaged: {why}. {_AGAIN}.") from None


def read_hdf5(path: Path) -> Table:
    """Return the steps in an HDF5 file of a known layout; otherwise the error lists what is in it."""
    with opened(path) as file:
        source = shown(path.name)
        names = list(file)
        if "data" in file and _is_group(file, "data") and any(map(_DEMO.fullmatch, file["data"])):
            return _read_robomimic(file["data"], source, path)
        if any(map(_EPISODE.fullmatch, names)):
            return read_minari(file, source, path)
        if any(map(_OFFLINE.fullmatch, names)) and "actions_0" in names:
            return _read_d3rlpy(file, source, path)
        return _read_flat(file, source, path)


def contents(group: Any, prefix: str = "", seen: set[int] | None = None) -> dict[str, Any]:
    """Return all datasets below a group by their path; links to other files are refused."""
    h5py = library("h5py", "Reading HDF5 files", INSTALL)
    place = h5py.h5o.get_info(group.id).addr
    seen = set() if seen is None else seen
    found: dict[str, Any] = {}
    # Links may lead in circles, and groups may be linked so that there are more paths than anyone can follow.
    if place in seen or prefix.count("/") > MOST_DEPTH:
        return found
    seen.add(place)
    for name in group:
        item = _item(group, name)
        if _is_dataset(item):
            found[prefix + name] = item
        else:
            found |= contents(item, f"{prefix}{name}/", seen)
    return found


def values(dataset: Any, source: str, row: Any = ()) -> Array:
    """Return what a dataset holds, or a row of it: numbers or text, from this file alone."""
    # A dataset may name other files on this disk, and would read them.
    if dataset.is_virtual or dataset.external:
        raise LogError(f"{source}: `{dataset.name}` takes its values from another file, which is never read.")
    if dataset.dtype.kind == "O":
        h5py = library("h5py", "Reading HDF5 files", INSTALL)
        if h5py.check_string_dtype(dataset.dtype) is None:
            raise LogError(
                f"{source} holds objects in `{dataset.name}` ({dataset.dtype}); only plain numbers and text are read. "
                "Save arrays of numbers, every row of the same length."
            )
    elif dataset.dtype.kind not in "biufSU":
        raise LogError(
            f"{source} holds records in `{dataset.name}` ({dataset.dtype!s:.60}); only plain numbers and text are "
            "read. Save each field as a dataset of its own."
        )
    return np.asarray(dataset[row])


def read_minari(file: Any, source: str, path: Path, chosen: Collection[int] | None = None) -> Table:
    """Return the episodes of a Minari dataset; ``chosen`` are those that are wanted, by number."""
    stack = Stack(source)
    groups = sorted(filter(_EPISODE.fullmatch, file), key=natural)
    numbers = {name: int(name.partition("_")[2]) for name in groups}
    wanted = [name for name in groups if chosen is None or numbers[name] in chosen]
    parts = {name: contents(_item(file, name)) for name in wanted}
    _refuse_bomb(path, [data for part in parts.values() for name, data in part.items() if not _beside(name)])
    features: list[str] = []
    for name in wanted:
        columns = {key: values(data, source) for key, data in parts[name].items() if not _beside(key)}
        columns = {feature_name(key): column for key, column in columns.items()}
        features = features or state_columns(columns, source)
        stack.add(len(columns.get("rewards", ())), columns, numbers[name])
    beside = {key.partition("/")[0] for part in parts.values() for key in part if _beside(key)}
    return stack.table(features, beside=dict.fromkeys(sorted(beside), BESIDE))


def _beside(name: str) -> bool:
    return name.partition("/")[0] == "infos"


def feature_name(path: str) -> str:
    """Return a column's name from its path: "observations/goal/x" is goal.x."""
    # In HDF5, Minari names the parts of tuples like this.
    top, _, rest = path.replace("_index_", "").partition("/")
    return rest.replace("/", ".") if top == "observations" and rest and rest not in _PARTS else path.replace("/", ".")


def state_columns(columns: Mapping[str, Array], source: str) -> list[str]:
    """Return the columns that are the state, which must not be images."""
    features = [name for name in columns if name.partition(".")[0] not in _PARTS]
    for name in features:
        refuse_images(name, columns[name].shape, source)
    return features


def _read_robomimic(data: Any, source: str, path: Path) -> Table:
    stack = Stack(source)
    demos = sorted(filter(_DEMO.fullmatch, data), key=natural)
    parts = {name: contents(_item(data, name)) for name in demos}
    observed = [key for key in parts[demos[0]] if key.startswith("obs/")]
    flat = [key for key in observed if parts[demos[0]][key].ndim <= MOST_DIMENSIONS]
    if observed and not flat:
        refuse_images(observed[0], parts[demos[0]][observed[0]].shape, source)
    # Without observations, the simulator's own state is all there is.
    state = flat or [key for key in ("states",) if key in parts[demos[0]]]
    wanted = [*state, *(key for key in ("actions", "rewards") if key in parts[demos[0]])]
    _refuse_bomb(path, [part[key] for part in parts.values() for key in wanted if key in part])
    for name, part in parts.items():
        columns = {key.removeprefix("obs/"): values(part[key], source) for key in wanted if key in part}
        steps = len(columns.get("actions", ()))
        finals = {
            key.removeprefix("obs/"): values(part[f"next_{key}"], source, -1)
            for key in state
            if f"next_{key}" in part and steps
        }
        if "dones" in part and steps:
            # Demonstrations go on for some steps after the task is done.
            columns["dones"] = (np.arange(steps) == steps - 1) & bool(values(part["dones"], source, -1))
        stack.add(steps, columns, name, finals)
    beside = {key: "images are no features of a tree" for key in observed if key not in flat}
    rest = [key for key in parts[demos[0]] if key not in observed and key not in wanted and not key.startswith("next_")]
    beside |= {key: "the simulator's, not what the agent saw" for key in rest if key != "dones"}
    return stack.table([key.removeprefix("obs/") for key in state], beside=beside)


def _read_d3rlpy(file: Any, source: str, path: Path) -> Table:
    stack = Stack(source)
    _refuse_bomb(path, [_item(file, name) for name in file])
    for number in sorted(int(name.rpartition("_")[2]) for name in filter(_OFFLINE.fullmatch, file)):
        columns = {
            name: values(_item(file, f"{name}_{number}"), source) for name in ("observations", "actions", "rewards")
        }
        add_d3rlpy(stack, columns, bool(values(_item(file, f"terminated_{number}"), source)), number)
    return stack.table(["observations"])


def add_d3rlpy(stack: Stack, columns: dict[str, Array], terminated: bool, number: int) -> None:
    """Add an episode of d3rlpy, which has a flag for its end and no final state."""
    refuse_images("observations", columns["observations"].shape, stack.source)
    steps = len(columns["rewards"])
    last = np.arange(steps) == steps - 1
    stack.add(steps, {**columns, "terminated": last & terminated, "truncated": last & (not terminated)}, number)


def _read_flat(file: Any, source: str, path: Path) -> Table:
    found = contents(file)
    rows = {name: data for name, data in found.items() if data.ndim}
    top = [name for name in rows if "/" not in name]
    lengths = [rows[name].shape[0] for name in top]
    if not lengths:
        raise LogError(
            f"{source} has no layout that is known (D4RL, robomimic, Minari, d3rlpy). It holds {_overview(found)}. "
            "Load it with h5py, and type Log.from_dict({...}) with columns for episode, state, action and reward."
        )
    n = max(lengths, key=lengths.count)
    beside = {name.partition("/")[0]: "no value for each step" for name in found if name not in rows}
    for name in ("observations", "observation", "obs", "states"):
        if name in rows:
            refuse_images(name, rows[name].shape, source)
    columns: dict[str, Array] = {}
    _refuse_bomb(path, [rows[name] for name in top])
    for name in top:
        if rows[name].shape[0] == n:
            columns[name] = values(rows[name], source)
        else:
            beside[name] = "no value for each step"
    beside |= {name.partition("/")[0]: BESIDE for name in rows if "/" in name}
    return Table(list(columns), list(columns.values()), source, beside=beside)


def _overview(found: Mapping[str, Any]) -> str:
    return listing([f"{name} {data.shape}" for name, data in found.items()], 12) or "nothing"


def _item(group: Any, name: str) -> Any:
    h5py = library("h5py", "Reading HDF5 files", INSTALL)
    if isinstance(group.get(name, getlink=True), h5py.ExternalLink):
        raise LogError(
            f"{shown(Path(group.file.filename).name)}: `{name}` is a link to another file, which is never followed. "
            "Copy the data into this file."
        )
    return group[name]


def _is_dataset(item: Any) -> bool:
    return hasattr(item, "dtype") and hasattr(item, "shape")


def _is_group(group: Any, name: str) -> bool:
    return not _is_dataset(_item(group, name))


def _refuse_bomb(path: Path, datasets: list[Any]) -> None:
    """Refuse datasets that claim far more than the file holds: what was never written takes no room in it."""
    refuse_bomb(path, sum(data.size * data.dtype.itemsize for data in datasets), "load it with h5py yourself")
