"""Files to logs: `read_log` finds the format by the ending of a name, and reads CSV, Parquet and NPZ."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO, Unpack

import numpy as np

from tripletree.checks import did_you_mean
from tripletree.errors import LogError, LogNotFoundError, MissingDependencyError, ParameterError
from tripletree.log.build import RESCALE, freeze
from tripletree.log.coerce import LARGEST, Array, plain
from tripletree.log.csv_reader import read_csv
from tripletree.log.findings import Findings
from tripletree.log.frames import OWN, fields_of
from tripletree.log.interpretation import describe
from tripletree.log.log import Log
from tripletree.log.npz_reader import read_npz, refuse_bomb
from tripletree.log.roles import Roles, check_options
from tripletree.log.schema import Schema, is_unicode
from tripletree.log.tables import from_columns
from tripletree.text import Message, Option, joined, message_of
from tripletree.writing import open_regular, reason, shown

FORMATS = {".csv": "csv", ".tsv": "csv", ".parquet": "parquet", ".pq": "parquet", ".npz": "npz"}
# The first bytes show that the name of a file is wrong.
MAGIC = {b"PAR1": "parquet", b"PK\x03\x04": "npz"}


def read_log(path: str | os.PathLike[str], *, encoding: str = "utf-8", **roles: Unpack[Roles]) -> Log:
    """Read a log from a CSV, Parquet or NPZ file.

    The roles of columns are guessed from their names unless given; ``log.reading`` says in words what was read as what.

    Parameters
    ----------
    path : path
        The file; ``.csv`` or ``.tsv`` with a header line, ``.parquet`` (needs ``pip install "tripletree[parquet]"``),
        or ``.npz``, written by ``Log.to_npz`` or with arrays named like the columns of :meth:`Log.from_dict`.
        Compressed files may unpack to 100 times their size, or to 256 MB. Pipes and devices are refused.
    encoding : str
        Encoding of a CSV file.
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
        If the file is Parquet and pyarrow is not installed.
    """
    check_options(roles, Roles)
    file = _path(path)
    findings = Findings(shown(file.name))
    names, columns = _columns(file, encoding, findings)
    try:
        if OWN in names:
            schema = columns.pop(names.index(OWN))
            names.remove(OWN)
            log = _restore(dict(zip(names, columns, strict=True)), schema, shown(file.name), roles)
            if log is not None:
                return log
        fields = from_columns(names, columns, roles, findings, shown(file.name))
    finally:
        # Arrow keeps what it has freed for its next table, which may never come: a gigabyte for ten million rows. Not
        # before the columns, which are views of its memory, are free as well.
        columns.clear()
        if "pyarrow" in sys.modules:
            sys.modules["pyarrow"].default_memory_pool().release_unused()
    return Log._announced(fields, findings)


def read_table(path: str | os.PathLike[str], encoding: str = "utf-8") -> dict[str, Any]:
    """Return the columns of a file by name: a table that need not be a log, such as states to ask about."""
    file = _path(path)
    names, columns = _columns(file, encoding, Findings(shown(file.name)))
    return dict(zip(names, columns, strict=True))


def _path(path: str | os.PathLike[str]) -> Path:
    try:
        return Path(path)
    except TypeError:
        raise LogError(f"Expected a path, got {type(path).__name__}. For a dict type Log.from_dict(...).") from None


def _columns(file: Path, encoding: str, findings: Findings) -> tuple[list[str], list[Any]]:
    """Return the names and columns of a file of any format."""
    try:
        kind = _format(file)
        if kind == "csv":
            return read_csv(file, encoding, findings)
        return read_parquet(file) if kind == "parquet" else read_npz(file)
    except LogError:
        raise
    except OSError as error:
        raise LogError(f"{shown(file)} cannot be read: {reason(error)}.") from error
    except MemoryError:
        raise LogError(f"{shown(file)} does not fit in memory. Read only some of its rows.") from None


def _format(path: Path) -> str:
    """Return the format of a file; raises if there is no such file, or if its content is not what its name says."""
    if path.is_dir():
        inside = sorted(p.name for p in path.iterdir() if p.suffix.lower() in FORMATS)
        raise LogError(
            f"{shown(path)} is a folder; expected a file. "
            + (f"Did you mean `{path / inside[0]}`?" if inside else "It holds no CSV, Parquet or NPZ file.")
        )
    if not path.exists():
        names = [p.name for p in path.parent.iterdir()] if path.parent.is_dir() else []
        raise LogNotFoundError(f"There is no file {shown(path)}.{did_you_mean(path.name, names)}")
    with open_regular(path) as file:
        first = file.read(4)
    content = MAGIC.get(first)
    kind = FORMATS.get(path.suffix.lower())
    name = shown(path.name)
    if first.startswith(b"\x1f\x8b"):
        raise LogError(f"{name} is compressed with gzip. Unpack it first: gunzip")
    if kind is None:
        raise LogError(
            f"{name} ends in `{shown(path.suffix)}`; logs are read from {', '.join(FORMATS)}. "
            "Rename the file, or load it yourself and type Log.from_frame(...) or Log.from_dict(...)."
        )
    if content is not None and content != kind:
        raise LogError(f"{name} is named as {kind}, but its content is {content}; rename it to end in .{content}.")
    return kind


def read_parquet(path: Path) -> tuple[list[str], list[Array]]:
    """Return the names and columns of a Parquet file; raises LogError if it is damaged. Needs pyarrow (an extra)."""
    try:
        import pyarrow  # type: ignore[import-untyped]
        from pyarrow.parquet import ParquetFile  # type: ignore[import-untyped]
    except ImportError:
        raise MissingDependencyError(
            'Reading Parquet files needs pyarrow. Type: pip install "tripletree[parquet]"'
        ) from None
    try:
        with open_regular(path) as stream, ParquetFile(_name_for_arrow(path, stream)) as file:
            names = list(file.schema_arrow.names)
            # Repeated values take next to no room in a file; as columns they take 8 bytes each.
            instead = "load it yourself and type Log.from_frame(...)"
            refuse_bomb(path, 8 * file.metadata.num_rows * len(names), instead)
            # One column at a time: at no moment are the file's table and the columns both in memory.
            if len(set(names)) == len(names):
                # A thread of Arrow's would gain nothing here, and hold some memory until it gets round to freeing it.
                columns = [plain(file.read(columns=[name], use_threads=False).column(0)) for name in names]
                schema = (file.schema_arrow.metadata or {}).get(OWN.encode())
                return (names, columns) if schema is None else ([*names, OWN], [*columns, schema.decode()])
            return names, [plain(column) for column in file.read(use_threads=False).columns]
    except (pyarrow.ArrowException, ValueError) as error:
        if isinstance(error, LogError):
            raise
        raise LogError(f"{shown(path)} is not a Parquet file, or damaged: {reason(error)}. Write it again.") from None


def _name_for_arrow(path: Path, stream: BinaryIO) -> str:
    """Return a name that Arrow can open: it takes only UTF-8, so any other file goes by the number it is open as."""
    return str(path) if is_unicode(str(path)) else f"/dev/fd/{stream.fileno()}"


def _restore(arrays: Mapping[str, Any], schema: Any, name: str, roles: Roles) -> Log | None:
    """Return the log that Log.to_npz or Log.to_parquet wrote; None for a table that was changed since."""
    # NumPy's files hold the text as an array.
    table = isinstance(schema, str)
    if roles and not table:
        raise ParameterError(
            Message(
                "{} was written by Log.to_npz and has its own schema; {} cannot be given. Read it without options.",
                name,
                joined(", ", map(Option, roles)),
            )
        )
    try:
        content = json.loads(str(schema))
        group = content.pop("group", None)
        known = Schema.from_dict(content)
        fields: dict[str, Any] | None
        if table:
            fields = None if roles else fields_of(arrays, known, group)
        else:
            fields = {**{key: freeze(value) for key, value in arrays.items()}, "schema": known}
            fields |= {} if group is None else {"group_name": group}
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
        if isinstance(error, LogError):
            raise LogError(Message("{} is damaged: {}", name, message_of(error))) from None
        writer = "to_parquet" if table else "to_npz"
        raise LogError(
            f"{name} is damaged: it does not hold what Log.{writer} writes ({error}). Write it again with Log.{writer}."
        ) from None
