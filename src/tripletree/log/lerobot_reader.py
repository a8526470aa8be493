"""LeRobot datasets (v2.0, v2.1 and v3.0) to tables: names and episodes come from the folder's own metadata."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tripletree.checks import listing
from tripletree.errors import LogError
from tripletree.log.bookkeeping import folded
from tripletree.log.coerce import Array
from tripletree.log.folders import read_folder
from tripletree.log.parquet_reader import read_parquet
from tripletree.log.roles import SYNONYMS
from tripletree.log.sources import Table, natural, refuse_images
from tripletree.text import count
from tripletree.writing import open_regular, shown

MOST_BYTES = 2**26
"""The largest description that is read; real ones have a few kilobytes, and lists of episodes a few megabytes."""
_PICTURES = ("video", "image")
_SINGLE = {"reward": "next.reward", "done": "next.done", "episode": "episode_index", "step": "frame_index"}
_COUNTERS = ("timestamp", "index", "task_index", "next.success")


def is_lerobot(folder: Path) -> bool:
    """Return whether a folder is a LeRobot dataset."""
    return (folder / "meta" / "info.json").is_file()


def read_lerobot(folder: Path) -> Table:
    """Return the steps of a LeRobot dataset; pictures stay where they are, and are said to be left out."""
    source = shown(folder.name) or shown(folder)
    described = _features(folder)
    files = sorted((folder / "data").glob("chunk-*/*.parquet"), key=lambda file: natural(str(file)))
    if not files:
        raise LogError(
            f"{source} has no file data/chunk-*/*.parquet. Download the whole dataset, not only its description."
        )
    pictures = [name for name, feature in described.items() if feature.get("dtype") in _PICTURES]
    state = [name for name in described if name.startswith("observation") and name not in pictures]
    state = [name for name in state if described[name].get("dtype") != "string"]
    if not state and pictures:
        refuse_images(pictures[0], (0, *_shape(described[pictures[0]])), source)
    wanted = [*state, "action", *_SINGLE.values(), *_COUNTERS]
    table = read_folder(folder, files, lambda file: read_parquet(file, only=wanted))
    columns = dict(zip(table.names, table.columns, strict=True))
    lacking = [name for name in (*state, "action", "episode_index") if name not in columns]
    if lacking:
        raise LogError(
            f"{source} is incomplete: its files have no column {listing(lacking)}, which meta/info.json names. "
            "Download it again."
        )
    _check_lengths(folder, columns["episode_index"], source)
    named: dict[str, Array] = {}
    features: list[str] = []
    taken = {*columns, "action"}
    for name in state:
        short = _names(name.rpartition(".")[2], columns[name], described[name], taken)
        named |= short
        features += short
        taken |= set(short)
    moves = _names("action", columns["action"], described.get("action", {}), set(), "action.")
    rest = {name: column for name, column in columns.items() if name not in (*state, "action")}
    every = {**rest, **named, **moves}
    roles: dict[str, Any] = {role: name for role, name in _SINGLE.items() if name in columns}
    return Table(
        list(every),
        list(every.values()),
        source,
        features=features,
        roles={**roles, "action": list(moves)},
        beside=dict.fromkeys(pictures, "images are no features of a tree"),
    )


def _features(folder: Path) -> dict[str, dict[str, Any]]:
    path = folder / "meta" / "info.json"
    info = _json(_text(path), path)
    features = info.get("features") if isinstance(info, Mapping) else None
    if not isinstance(features, Mapping) or not all(isinstance(feature, Mapping) for feature in features.values()):
        raise LogError(
            f"{shown(path)} does not list the features of a LeRobot dataset (v2.0 to v3.0). Download it again."
        )
    return {str(name): dict(feature) for name, feature in features.items()}


def _text(path: Path) -> str:
    try:
        with open_regular(path) as file:
            data = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        return ""
    if len(data) > MOST_BYTES:
        raise LogError(f"{shown(path)} has more than {MOST_BYTES:,} bytes, which is more than any description needs.")
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise LogError(f"{shown(path)} is damaged: it is not UTF-8 text. Download it again.") from None


def _json(text: str, path: Path) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise LogError(f"{shown(path)} is damaged: it is not JSON. Download it again.") from None


def _shape(feature: Mapping[str, Any]) -> tuple[int, ...]:
    shape = feature.get("shape")
    return tuple(shape) if isinstance(shape, Sequence) else ()


def _names(name: str, column: Array, feature: Mapping[str, Any], taken: set[str], prefix: str = "") -> dict[str, Array]:
    """Return the columns of a matrix by the names that the description has for them, or by their numbers."""
    if column.ndim == 1:
        return {name: column}
    if column.ndim != 2:
        return {name: column}  # refused later, with its shape
    width = column.shape[1]
    given: Any = feature.get("names")
    if isinstance(given, Mapping):
        # {"motors": ["waist", ...]}, or a place for each name
        lists = [value for value in given.values() if isinstance(value, Sequence) and not isinstance(value, str)]
        given = [one for value in lists for one in value] or sorted(given, key=lambda one: str(given[one]))
    texts = [str(one) for one in given] if isinstance(given, Sequence) and not isinstance(given, str) else []
    if len(set(texts)) != width:
        return {name: column} if prefix == "" else {f"{name}_{k}": column[:, k] for k in range(width)}
    roles = {synonym for synonyms in SYNONYMS.values() for synonym in synonyms}
    if not prefix and any(text in taken or folded(text) in roles for text in texts):
        prefix = f"{name}."
    return {f"{prefix}{text}": column[:, k] for k, text in enumerate(texts)}


def _check_lengths(folder: Path, episodes: Array, source: str) -> None:
    """Compare the episodes in the files with the metadata: a download may have stopped half way."""
    claimed: dict[int, int] = {}
    listed = folder / "meta" / "episodes.jsonl"
    if listed.is_file():
        rows = [_json(line, listed) for line in _text(listed).splitlines() if line.strip()]
        if not all(isinstance(row, Mapping) for row in rows):
            raise LogError(f"{shown(listed)} is damaged: expected one object a line. Download it again.")
        claimed = {row.get("episode_index", -1): row.get("length", -1) for row in rows}
    else:
        for file in sorted(
            (folder / "meta" / "episodes").glob("chunk-*/*.parquet"), key=lambda file: natural(str(file))
        ):
            table = read_parquet(file, only=("episode_index", "length"))
            known = dict(zip(table.names, table.columns, strict=True))
            if len(known) == 2:
                claimed |= dict(zip(known["episode_index"].tolist(), known["length"].tolist(), strict=True))
    numbers, counts = np.unique(episodes, return_counts=True)
    found = dict(zip(numbers.tolist(), counts.tolist(), strict=True))
    odd = sorted(number for number in {*claimed, *found} if claimed.get(number, 0) != found.get(number, 0))
    if claimed and odd:
        raise LogError(
            f"{source} is incomplete: episode {odd[0]} has {count(found.get(odd[0], 0), 'row')} in the data and "
            f"{claimed.get(odd[0], 0)} in the metadata ({count(len(odd), 'episode')} in all). Download it again."
        )
