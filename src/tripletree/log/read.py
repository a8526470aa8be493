"""read_log: a file, by the ending of its name, to a Log."""

from __future__ import annotations

import difflib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Unpack

from tripletree.errors import LogError, ParameterError
from tripletree.log.log import Log
from tripletree.log.readers.csv import read_csv
from tripletree.log.readers.npz import read_npz
from tripletree.log.readers.parquet import read_parquet
from tripletree.log.reading import describe
from tripletree.log.report import Findings
from tripletree.log.roles import Roles, check_options
from tripletree.log.schema import Schema
from tripletree.log.table import from_columns

FORMATS = {".csv": "csv", ".tsv": "csv", ".parquet": "parquet", ".pq": "parquet", ".npz": "npz"}
# The first bytes tell when a file's name is wrong.
MAGIC = {b"PAR1": "parquet", b"PK\x03\x04": "npz"}


def read_log(path: str | os.PathLike[str], *, encoding: str = "utf-8", **roles: Unpack[Roles]) -> Log:
    """Read a log from a CSV, Parquet or NPZ file.

    Column roles are guessed from the names unless given; ``log.reading`` tells in words what was read as what.

    Parameters
    ----------
    path : path
        The file; ``.csv`` or ``.tsv`` with a header line, ``.parquet`` (needs ``pip install "tripletree[parquet]"``),
        or ``.npz``, written by ``Log.to_npz`` or with arrays named as the columns of :meth:`Log.from_dict`.
    encoding : str
        Of a CSV file.
    **roles
        As in :meth:`Log.from_dict`: ``episode=``, ``action=``, ``features=[...]``, ``ignore=[...]``, ...

    Returns
    -------
    Log

    Raises
    ------
    LogError
        With a list of all problems found.
    MissingDependencyError
        When a Parquet file is read without pyarrow installed.
    """
    check_options(roles, Roles)
    file = _path(path)
    findings = Findings(file.name)
    names, columns = _columns(file, encoding, findings)
    if "tripletree_log" in names:
        return _restore(dict(zip(names, columns, strict=True)), file, roles)
    return Log._announced(from_columns(names, columns, roles, findings, file.name), findings)


def read_table(path: str | os.PathLike[str], encoding: str = "utf-8") -> dict[str, Any]:
    """Return the columns of a file by name: a table that need not be a log, such as states to ask about."""
    file = _path(path)
    names, columns = _columns(file, encoding, Findings(file.name))
    return dict(zip(names, columns, strict=True))


def _path(path: str | os.PathLike[str]) -> Path:
    try:
        return Path(path)
    except TypeError:
        raise LogError(f"A path is needed, {type(path).__name__} came; for a dict type Log.from_dict(...).") from None


def _columns(file: Path, encoding: str, findings: Findings) -> tuple[list[str], list[Any]]:
    """Return the names and columns of a file of any format."""
    try:
        kind = _format(file)
        if kind == "csv":
            return read_csv(file, encoding, findings)
        return read_parquet(file) if kind == "parquet" else read_npz(file)
    except OSError as error:
        raise LogError(f"{file} cannot be read: {error.strerror or error}.") from error
    except MemoryError:
        raise LogError(f"{file} does not fit in memory; read a part of it.") from None


def _format(path: Path) -> str:
    """Return the format of a file; raises when there is no such file or it is of another format than its name says."""
    if path.is_dir():
        inside = sorted(p.name for p in path.iterdir() if p.suffix.lower() in FORMATS)
        raise LogError(
            f"{path} is a directory; a file is needed. "
            + (f"Did you mean `{path / inside[0]}`?" if inside else "It holds no CSV, Parquet or NPZ file.")
        )
    kind = FORMATS.get(path.suffix.lower())
    if not path.exists():
        names = [p.name for p in path.parent.iterdir()] if path.parent.is_dir() else []
        close = difflib.get_close_matches(path.name, names, n=1)
        raise LogError(f"There is no file {path}." + (f" Did you mean `{close[0]}`?" if close else ""))
    if kind is None:
        raise LogError(
            f"{path.name} ends in `{path.suffix}`; logs are read from {', '.join(FORMATS)}. "
            "Rename the file, or load it yourself and type Log.from_frame(...) or Log.from_dict(...)."
        )
    with path.open("rb") as file:
        content = MAGIC.get(file.read(4))
    if content is not None and content != kind:
        raise LogError(f"{path.name} is named as {kind}, but its content is {content}; rename it to end in .{content}.")
    return kind


def _restore(arrays: Mapping[str, Any], path: Path, roles: Roles) -> Log:
    """Return the log that Log.to_npz wrote."""
    if roles:
        raise ParameterError(
            f"{path.name} was written by Log.to_npz and holds its own schema; {', '.join(roles)} cannot be given."
        )
    fields: dict[str, Any] = {key: value for key, value in arrays.items() if key != "tripletree_log"}
    try:
        fields["schema"] = Schema.from_dict(json.loads(str(arrays["tripletree_log"])))
        return Log(**fields, reading=describe(fields, path.name))
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        if isinstance(error, LogError):
            raise LogError(f"{path.name} is damaged: {error}") from None
        raise LogError(f"{path.name} is damaged: it does not hold what Log.to_npz writes ({error}).") from None
