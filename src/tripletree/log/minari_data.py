"""Minari datasets to tables and back: read from their files, by name or by path, without Minari; written with it."""

from __future__ import annotations

import json
import os
import re
import warnings
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tripletree.checks import did_you_mean, listing
from tripletree.errors import LogError, LogNotFoundError, ParameterError
from tripletree.log.coerce import Array, plain
from tripletree.log.endings import TERMINATED, TRUNCATED
from tripletree.log.frames import OWN, described
from tripletree.log.hdf5_reader import BESIDE, feature_name, opened, read_minari, state_columns
from tripletree.log.npz_reader import refuse_bomb
from tripletree.log.parquet_reader import INSTALL, number_of_values
from tripletree.log.schema import Schema
from tripletree.log.sources import Stack, Table, library, natural, refuse_images
from tripletree.text import Message, Option
from tripletree.writing import open_regular, reason, shown

if TYPE_CHECKING:
    from tripletree.log.log import Log

NAME = re.compile(r"(?:[\w.-]+/)*[\w.-]+-v\d+")
MOST_BYTES = 2**26
ENDINGS = (".arrow", ".parquet")


def is_minari(folder: Path) -> bool:
    """Return whether a folder is a Minari dataset, or the folder `data` of one."""
    return _data(folder) is not None


def _data(folder: Path) -> Path | None:
    return next((place for place in (folder / "data", folder) if (place / "metadata.json").is_file()), None)


def local_folder() -> Path:
    """Return the folder in which Minari keeps its datasets."""
    return Path(os.environ.get("MINARI_DATASETS_PATH") or Path.home() / ".minari" / "datasets")


def find_minari(name: str) -> Path:
    """Return the folder of a local dataset; if there is none, the error lists those that there are."""
    root = local_folder()
    if is_minari(root / name):
        return root / name
    local = sorted(
        str(file.parent.parent.relative_to(root)) for file in root.glob("**/data/metadata.json") if file.is_file()
    )
    held = f"It has {listing(local, 8)}." if local else "It has none."
    raise LogNotFoundError(
        f"There is no file {name}, and no Minari dataset of this name in {shown(root)}. {held}"
        f"{did_you_mean(name, local)} To fetch one: minari download {name}"
    )


def read_minari_folder(folder: Path, chosen: Collection[int] | None = None) -> Table:
    """Return the steps of a Minari dataset, kept as HDF5, Arrow or Parquet; ``chosen`` are episodes by number."""
    data = _data(folder) or folder
    metadata = _metadata(data / "metadata.json")
    source = str(metadata.get("dataset_id") or shown(folder.name))
    _refuse_image_space(metadata.get("observation_space"), source)
    main = data / "main_data.hdf5"
    files = sorted(
        (file for ending in ENDINGS for file in data.glob(f"[0-9]*/*{ending}")), key=lambda f: natural(str(f))
    )
    if main.is_file():
        with opened(main) as file:
            table = read_minari(file, source, main, chosen)
    elif files:
        wanted = [file for file in files if chosen is None or int(file.parent.name) in chosen]
        table = _read_arrow(wanted, source)
    else:
        raise LogError(
            f"{shown(folder)} is an incomplete Minari dataset: {shown(data)} has no main_data.hdf5 and no Arrow files. "
            "Download it again."
        )
    if OWN in metadata:
        table.schema, table.writer, table.restore = metadata[OWN], "Log.to_minari", _restored
    return table


def _read_arrow(files: Sequence[Path], source: str) -> Table:
    """Return episodes that are kept in a file each; their last row holds the final state, and nothing else."""
    stack = Stack(source)
    features: list[str] = []
    beside: dict[str, str] = {}
    for file in files:
        columns: dict[str, Array] = {}
        for name, column in _leaves(_arrow_table(file)).items():
            if name.partition("/")[0] in ("infos", "episode_id"):
                beside["infos"] = BESIDE
                continue
            columns[feature_name(name)] = np.asarray(plain(column))
        features = features or state_columns(columns, source)
        rows = len(columns.get("rewards", ()))
        stack.add(rows - 1, {k: v if k in features else v[:-1] for k, v in columns.items()}, int(file.parent.name))
    return stack.table(features, beside={name: why for name, why in beside.items() if name == "infos"})


def _arrow_table(path: Path) -> Any:
    arrow = library("pyarrow", "Reading Minari's Arrow files", INSTALL)
    try:
        if path.suffix == ".parquet":
            parquet = library("pyarrow.parquet", "Reading Parquet files", INSTALL)
            with open_regular(path) as stream, parquet.ParquetFile(stream) as file:
                refuse_bomb(path, 8 * number_of_values(file.metadata), "load it with Minari yourself")
                return file.read()
        with open_regular(path) as stream, arrow.ipc.open_file(stream) as file:
            batches, size = [], 0
            for number in range(file.num_record_batches):
                batches.append(file.get_batch(number))
                size += batches[-1].nbytes
                refuse_bomb(path, size, "load it with Minari yourself")
            return arrow.Table.from_batches(batches, file.schema)
    except (arrow.ArrowException, ValueError) as error:
        if isinstance(error, LogError):
            raise
        raise LogError(f"{shown(path)} is damaged: {reason(error)}. Download the dataset again.") from None


def _leaves(table: Any, prefix: str = "") -> dict[str, Any]:
    """Return the columns of a table, those inside structs by their paths."""
    found: dict[str, Any] = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        if hasattr(column.type, "get_all_field_indices"):  # a struct: fields by name
            inner = library("pyarrow", "Reading Minari's Arrow files", INSTALL).Table.from_struct_array(column)
            found |= _leaves(inner, f"{prefix}{name}/")
        else:
            found[f"{prefix}{name}"] = column
    return found


def _refuse_image_space(described: Any, source: str) -> None:
    """Refuse images by the description of the space: as data they may be compressed, and look like anything."""
    try:
        space = json.loads(described) if isinstance(described, str) else described
    except (ValueError, RecursionError):
        return
    spaces = [space]
    while spaces:
        one = spaces.pop()
        if isinstance(one, list):
            spaces += one
        elif isinstance(one, dict):
            shape = one.get("shape")
            if one.get("type") == "Box" and isinstance(shape, list) and len(shape) > 2:
                refuse_images("observations", (0, *shape), source)
            spaces += [value for value in one.values() if isinstance(value, (dict, list))]


def _metadata(path: Path) -> dict[str, Any]:
    with open_regular(path) as file:
        text = file.read(MOST_BYTES)
    try:
        metadata = json.loads(text)
    except (ValueError, RecursionError):
        metadata = None
    if not isinstance(metadata, dict):
        raise LogError(f"{shown(path)} is damaged: expected a JSON object. Download the dataset again.")
    return metadata


def write_minari(log: Log, name: str) -> Any:
    """Write a log as a local Minari dataset, which keeps the schema in its metadata. Needs Minari (an extra)."""
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise ParameterError(
            Message(
                "{} must be the name of a Minari dataset, with a version at the end; got {!r}. Try {}.",
                Option("name"),
                name,
                Option("name", "my/log-v0"),
            )
        )
    minari = library("minari", "Writing Minari datasets", '"tripletree[minari]"')
    spaces = library("gymnasium.spaces", "Writing Minari datasets", '"tripletree[gym]"')
    labels = log.schema.action.labels
    width = len(log.schema.action.names)
    moves = spaces.Discrete(len(labels)) if labels else spaces.Box(-np.inf, np.inf, (width,), np.float64)
    buffers = []
    for number, (begin, end) in enumerate(pairwise(log.starts.tolist())):
        flags = np.zeros((2, end - begin), bool)
        flags[:, -1] = log.endings[number] == TERMINATED, log.endings[number] == TRUNCATED
        buffers.append(
            minari.data_collector.EpisodeBuffer(
                id=number,
                observations=np.vstack([log.states[begin:end], log.final_states[number]]),
                actions=log.actions[begin:end].astype(np.int64 if labels else np.float64),
                rewards=log.rewards[begin:end],
                terminations=flags[0],
                truncations=flags[1],
            )
        )
    if log.weights is not None:
        raise LogError(
            "A Minari dataset has no place for the weights of steps. Write the log with to_npz or to_parquet, or "
            "without them: log.weighted(None).to_minari(...)."
        )
    own = {**json.loads(described(log)), "episode_ids": log.episode_ids.tolist()}
    if log.groups is not None:
        own["groups"] = log.groups.tolist()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about an author and a link that a log does not have
            dataset = minari.create_dataset_from_buffers(
                name,
                buffers,
                action_space=moves,
                observation_space=spaces.Box(-np.inf, np.inf, (log.n_features,), np.float64),
                description=f"Features: {', '.join(log.schema.feature_names)}.",
            )
            dataset.storage.update_metadata({OWN: json.dumps(own)})
    except (OSError, ValueError) as error:
        raise LogError(
            f"The Minari dataset {name} cannot be written: {reason(error)}. Choose another name, or delete the old "
            f"one: minari delete {name}"
        ) from error
    return dataset


def _restored(table: Table, content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of the log that `write_minari` wrote."""
    columns = dict(zip(table.names, table.columns, strict=True))
    if table.starts is None or table.finals is None:
        raise KeyError("episodes")
    last = table.starts[1:] - 1
    grouped = {}
    if "groups" in content:
        grouped = {"groups": np.array(content["groups"])[table.ids], "group_name": content["group"]}
    ended = [columns["terminations"][last], columns["truncations"][last]]
    return {
        "states": columns["observations"],
        "actions": columns["actions"],
        "rewards": columns["rewards"],
        "starts": table.starts,
        "final_states": table.finals["observations"],
        "endings": np.select(ended, [TERMINATED, TRUNCATED]).astype(np.uint8),
        "episode_ids": np.array(content["episode_ids"])[table.ids],
        "schema": Schema.from_dict(content),
        **grouped,
    }
