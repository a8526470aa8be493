"""`read_log`: finds out what it was given (a file, a folder, a name, an object), and reads it as a log."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from tripletree.checks import did_you_mean, listing
from tripletree.errors import LogError, LogNotFoundError, ParameterError
from tripletree.log.build import RESCALE
from tripletree.log.coerce import LARGEST
from tripletree.log.csv_reader import read_csv
from tripletree.log.findings import Findings
from tripletree.log.folders import read_folder
from tripletree.log.hdf5_reader import read_hdf5
from tripletree.log.interpretation import describe
from tripletree.log.lerobot_reader import is_lerobot, read_lerobot
from tripletree.log.log import Log
from tripletree.log.minari_data import NAME, find_minari, is_minari, read_minari_folder
from tripletree.log.npz_reader import WRITER, read_npz
from tripletree.log.objects import OBJECTS
from tripletree.log.parquet_reader import read_parquet
from tripletree.log.roles import Roles, check_options
from tripletree.log.schema import Schema
from tripletree.log.sources import Reader, Table
from tripletree.log.tables import from_table
from tripletree.text import Message, Option, joined, message_of
from tripletree.writing import open_regular, reason, shown

FORMATS = {
    **dict.fromkeys((".csv", ".tsv"), "csv"),
    **dict.fromkeys((".parquet", ".pq"), "parquet"),
    ".npz": "npz",
    **dict.fromkeys((".h5", ".hdf5"), "hdf5"),
}
# The first bytes show that the name of a file is wrong.
MAGIC = {b"PAR1": "parquet", b"PK\x03\x04": "npz", b"\x89HDF": "hdf5"}
GZIP = b"\x1f\x8b"
# Formats that others read: what to do with files of them.
ELSEWHERE = {
    ".pkl": "A pickle can run any code, so it is never loaded. Load it yourself, and type Log.from_dict(...).",
    ".zip": "If it is a model of Stable-Baselines3, let it act: tripletree record ENV --agent FILE -o LOG.",
    ".onnx": "It is an agent: let it act with tripletree record ENV --agent FILE -o LOG.",
    ".xlsx": "Save the sheet as CSV.",
    ".json": "Load it with json, and type Log.from_dict(...) or Log.from_episodes(...).",
    ".npy": "Save all arrays together: np.savez('log.npz', states=..., actions=..., rewards=..., terminated=...).",
    ".mcap": "Convert it first; the manual shows how (Getting your log in, RLDS and MCAP).",
    ".tfrecord": "Convert it first; the manual shows how (Getting your log in, RLDS and MCAP).",
}
ELSEWHERE |= {".pickle": ELSEWHERE[".pkl"], ".pt": ELSEWHERE[".pkl"], ".jsonl": ELSEWHERE[".json"]}


def _is_format(kind: str) -> Any:
    return lambda path: isinstance(path, Path) and not path.is_dir() and _format(path) == kind


READERS = (
    Reader("LeRobot", lambda path: isinstance(path, Path) and is_lerobot(path), lambda path, _: read_lerobot(path)),
    Reader("Minari", lambda path: isinstance(path, Path) and is_minari(path), lambda path, _: read_minari_folder(path)),
    Reader("folder", lambda path: isinstance(path, Path) and path.is_dir(), lambda path, text: _read_all(path, text)),
    Reader("CSV", _is_format("csv"), lambda path, encoding: read_csv(path, encoding)),
    Reader("Parquet", _is_format("parquet"), lambda path, _: read_parquet(path)),
    Reader("NPZ", _is_format("npz"), lambda path, _: read_npz(path)),
    Reader("HDF5", _is_format("hdf5"), lambda path, _: read_hdf5(path)),
    *OBJECTS,
)
"""Everything that is read, in the order in which it is recognised."""


def read_log(source: Any, *, encoding: str = "utf-8", **roles: Unpack[Roles]) -> Log:
    """Read a log from a file, a folder, a Minari dataset or an object in memory.

    The roles of columns are guessed from their names unless given; ``log.reading`` says in words what was read as what.

    Parameters
    ----------
    source : path, str or object
        A file: ``.csv`` or ``.tsv`` with a header line (also gzipped), ``.parquet``, ``.npz``, or ``.hdf5`` in the
        layout of D4RL, robomimic, Minari or d3rlpy. A folder of CSV or of Parquet files, a LeRobot dataset, or a Minari
        dataset, which may be given by its name. Or an object: a dict of columns, a table (pandas, polars, Arrow), a
        replay or rollout buffer of Stable-Baselines3, a dataset of d3rlpy or Minari, a list of transitions or of
        episodes.
        Compressed files may unpack to 100 times their size, or to 256 MB. Pipes and devices are refused.
    encoding : str
        Encoding of CSV files.
    **roles
        As in :meth:`Log.from_dict`: ``episode=``, ``action=``, ``features=[...]``, ``ignore=[...]``, ...

    Returns
    -------
    Log

    Raises
    ------
    LogError
        With a list of all problems found; a ``FileNotFoundError``, too, if there is no such file.
    MissingDependencyError
        If a library is needed and not installed: pyarrow for Parquet, LeRobot and Minari's Arrow files, h5py for HDF5.
    """
    if isinstance(source, Log):
        return source
    options: dict[str, Any] = {**roles}
    if isinstance(source, tuple) and len(source) == 3:
        return Log.from_arrays(*source, **options)
    if isinstance(source, (str, os.PathLike)):
        check_options(roles, Roles)
    table = _table(source, encoding)
    if table is None:
        return Log.from_episodes(source, **options)
    findings = Findings(table.source if isinstance(source, (str, os.PathLike)) else "This log")
    try:
        if table.schema is not None:
            log = _restore(table, roles)
            if log is not None:
                return log
        fields = from_table(table, roles, findings)
    finally:
        # Arrow keeps what it has freed for its next table, which may never come: a gigabyte for ten million rows. Not
        # before the columns, which are views of its memory, are free as well.
        table.columns.clear()
        if "pyarrow" in sys.modules:
            sys.modules["pyarrow"].default_memory_pool().release_unused()
    return Log._announced(fields, findings)


def read_table(path: str | os.PathLike[str], encoding: str = "utf-8") -> dict[str, Any]:
    """Return the columns of a file by name: a table that need not be a log, such as states to ask about."""
    if not isinstance(path, (str, os.PathLike)):
        raise LogError(f"Expected a path, got {type(path).__name__}.")
    table = _table(path, encoding)
    return {} if table is None else dict(zip(table.names, table.columns, strict=True))


def _table(source: Any, encoding: str) -> Table | None:
    """Return what the first reader that recognises a source makes of it; None for a list of episodes."""
    name = shown(source) if isinstance(source, (str, os.PathLike)) else "The log"
    try:
        place = _resolved(source) if isinstance(source, (str, os.PathLike)) else source
        for reader in READERS:
            if reader.recognises(place):
                return reader.read(place, encoding)
    except LogError:
        raise
    except OSError as error:
        raise LogError(f"{name} cannot be read: {reason(error)}.") from error
    except MemoryError:
        raise LogError(f"{name} does not fit in memory. Read only some of its rows.") from None
    if isinstance(source, Iterable) and not isinstance(source, (bytes, np.ndarray)):
        return None
    raise LogError(f"Expected a path, a table, a buffer or a list of episodes, got {type(source).__name__}.")


def _resolved(source: str | os.PathLike[str]) -> Path:
    """Return the file or folder that a path or a name stands for; raises if there is none."""
    path = Path(source)
    try:
        if path.exists():
            return path
    except ValueError:
        pass  # a name that no file can have: opening it says so
    if NAME.fullmatch(str(source)):
        return find_minari(str(source))
    names = [p.name for p in path.parent.iterdir()] if path.parent.is_dir() else []
    raise LogNotFoundError(f"There is no file {shown(path)}.{did_you_mean(path.name, names)}")


def _format(path: Path) -> str:
    """Return the format of a file; raises if its content is not what its name says."""
    with open_regular(path) as file:
        first = file.read(4)
    content = MAGIC.get(first)
    packed = first.startswith(GZIP)
    named = path.with_suffix("") if packed and path.suffix.lower() == ".gz" else path
    kind = FORMATS.get(named.suffix.lower())
    name = shown(path.name)
    if kind is None:
        known = ", ".join(FORMATS)
        fix = ELSEWHERE.get(named.suffix.lower()) or (
            "Rename the file, or load it yourself and type Log.from_frame(...) or Log.from_dict(...)."
        )
        ending = f"ends in `{shown(named.suffix)}`" if named.suffix else "has no ending"
        raise LogError(f"{name} {ending}; logs are read from {known}. {fix}")
    if packed and kind != "csv":
        raise LogError(f"{name} is compressed with gzip, which is read for CSV only. Unpack it first: gunzip {name}")
    if content is not None and content != kind:
        raise LogError(f"{name} is named as {kind}, but its content is {content}; rename it to end in .{content}.")
    return kind


def _read_all(folder: Path, encoding: str) -> Table:
    """Return the CSV files or the Parquet files of a folder as one table."""
    files = [file for file in folder.iterdir() if not file.name.startswith(".") and file.is_file()]
    kinds: dict[str, list[Path]] = {}
    for file in files:
        name = file.with_suffix("") if file.suffix.lower() == ".gz" else file
        kinds.setdefault(FORMATS.get(name.suffix.lower(), ""), []).append(file)
    others = kinds.pop("", [])
    if len(kinds) > 1:
        held = " and ".join(f"{len(found)} {kind}" for kind, found in sorted(kinds.items()))
        raise LogError(
            f"{shown(folder)} holds files of several formats ({held}). Give one of them, or a folder of one format."
        )
    if not kinds:
        inside = sorted(shown(file.name) for file in folder.iterdir())
        held = f"It holds {listing(inside)}" if inside else "It is empty"
        raise LogError(
            f"{shown(folder)} is a folder without a CSV or Parquet file, and no LeRobot or Minari dataset. {held}."
        )
    kind, found = next(iter(kinds.items()))
    if kind not in ("csv", "parquet"):
        first = min(found)
        raise LogError(
            f"{shown(folder)} is a folder of {kind} files; only CSV and Parquet are read by the folder. Give one file: "
            f"{shown(first)}"
        )
    for file in found:
        _format(file)
    read = (lambda file: read_csv(file, encoding)) if kind == "csv" else read_parquet
    table = read_folder(folder, found, read)
    table.beside |= {shown(file.name): "no table" for file in sorted(others)}
    return table


def _repeats(roles: Roles, schema: Schema) -> bool:
    """Return whether options only say what the schema says, as those of a model that was grown on such a log do."""
    said: dict[str, Any] = {
        "features": list(schema.feature_names),
        "action": [column for name in schema.action.names for column in name.split(", ")],
        "action_kind": schema.action.kind,
    }
    return all(role in said and said[role] == given for role, given in roles.items())


def _restore(table: Table, roles: Roles) -> Log | None:
    """Return the log that one of our own writers wrote; None for a table that was changed since, or read otherwise."""
    name = table.source
    try:
        content = json.loads(str(table.schema))
        repeated = _repeats(roles, Schema.from_dict(content))
        if not repeated and table.writer == WRITER:
            raise ParameterError(
                Message(
                    "{} was written by {} and has its own schema; {} cannot be given. Read it without options.",
                    name,
                    WRITER,
                    joined(", ", map(Option, roles)),
                )
            )
        fields = table.restore(table, content) if repeated else None
        if fields is None:
            return None
        log = Log(**fields, reading=describe(fields, name))
        for key in ("states", "actions", "rewards", "final_states"):
            numbers = getattr(log, key)
            # NaN is no largest number to fmax; the absolute values would be one more copy of the log.
            if max(-np.fmin.reduce(numbers, axis=None), np.fmax.reduce(numbers, axis=None)) > LARGEST:
                raise LogError(f"Log.{key} goes beyond {LARGEST:g}; its squares would overflow. {RESCALE}")
        return log
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, RecursionError) as error:
        if isinstance(error, ParameterError):
            raise
        if isinstance(error, LogError):
            raise LogError(Message("{} is damaged: {}", name, message_of(error))) from None
        raise LogError(
            f"{name} is damaged: it does not hold what {table.writer} writes ({error}). Write it again with "
            f"{table.writer}."
        ) from None
