"""The Parquet files of a log on disk: what they hold, by their own descriptions, and some of their rows."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tripletree.checks import did_you_mean, listing
from tripletree.errors import LogError, LogNotFoundError
from tripletree.log.coerce import Array, as_array, plain
from tripletree.log.findings import Findings
from tripletree.log.frames import OWN
from tripletree.log.parquet_reader import INSTALL
from tripletree.log.schema import Schema
from tripletree.log.sources import library, natural
from tripletree.writing import reason, shown

BATCH = 2**16
"""Rows that are decoded at a time."""
ENDINGS = (".parquet", ".pq")
TEXT = ("string", "large_string", "string_view", "binary", "large_binary")
"""Arrow's types of text, and of bytes that may be text."""
FLOATS = ("double", "float", "halffloat")


@dataclass(frozen=True)
class File:
    """One file: where it is, its first row in the log, and the rows of its row groups."""

    path: str
    begin: int
    groups: tuple[int, ...]
    size: int
    changed: int

    @property
    def rows(self) -> int:
        """Number of rows."""
        return sum(self.groups)


def files_of(path: Path) -> tuple[list[File], dict[str, bool], dict[str, Any]]:
    """Return the files of a log, the columns that all of them have, and the roles that they tell by themselves.

    Of each column it is told whether it is text.
    """
    arrow = library("pyarrow", "Reading Parquet files", INSTALL)
    parquet = library("pyarrow.parquet", "Reading Parquet files", INSTALL)
    try:
        if not path.exists():
            names = [p.name for p in path.parent.iterdir()] if path.parent.is_dir() else []
            raise LogNotFoundError(f"There is no file or folder {shown(path)}.{did_you_mean(path.name, names)}")
        inside = list(path.iterdir()) if path.is_dir() else [path]
    except OSError as error:
        if isinstance(error, LogNotFoundError):
            raise
        raise LogError(f"{shown(path)} cannot be read: {reason(error)}.") from error
    found = [p for p in inside if p.suffix.lower() in ENDINGS and not p.name.startswith(".") and p.is_file()]
    if not found:
        held = f"It holds {listing(sorted(shown(p.name) for p in inside))}" if inside else "It is empty"
        what = "is a folder without a Parquet file" if path.is_dir() else "is no Parquet file"
        raise LogError(
            f"{shown(path)} {what}. {held}. Logs on disk are Parquet; others are read into memory: read_log."
        )
    files: list[File] = []
    first: Any = None
    begin = 0
    for one in sorted(found, key=lambda p: natural(p.name)):
        try:
            with parquet.ParquetFile(one) as opened:
                schema, metadata = opened.schema_arrow, opened.metadata
        except (arrow.ArrowException, ValueError, OSError) as error:
            raise LogError(
                f"{shown(one)} is not a Parquet file, or damaged: {reason(error)}. Write it again, or move it away."
            ) from None
        if first is None:
            first = schema
        _same_columns(path, found[0].name if not files else Path(files[0].path).name, one, first, schema)
        groups = tuple(metadata.row_group(k).num_rows for k in range(metadata.num_row_groups))
        status = one.stat()
        if sum(groups):
            files.append(File(str(one), begin, groups, status.st_size, status.st_mtime_ns))
            begin += sum(groups)
    if not files:
        raise LogError(f"{shown(path)} holds no samples; a log needs at least one step.")
    columns = {name: str(_plain(first.field(name).type)) in TEXT for name in first.names}
    return files, columns, _own_roles(first, alone=path.is_file())


def _plain(kind: Any) -> Any:
    """Return the type of a column's values, however they are written: one by one, by a dictionary, or in lists."""
    while hasattr(kind, "value_type"):
        kind = kind.value_type
    return kind


def _own_roles(schema: Any, alone: bool) -> dict[str, Any]:
    """Return which columns are features and actions, where `Log.to_parquet` has written that down.

    A file that is ``alone``, not one of a folder, also tells units, kinds, categories and labels, as it does in memory.
    """
    written = (schema.metadata or {}).get(OWN.encode())
    try:
        content = json.loads(written) if written else None
        known = None if content is None else Schema.from_dict(content)
    except (ValueError, LogError):
        return {}
    if known is None or not set(known.columns) <= set(schema.names):
        return {}
    actions = [column for name in known.action.names for column in name.split(", ")]
    told: dict[str, Any] = {"features": list(known.columns)}
    if set(actions) <= set(schema.names):
        told["action"] = actions
    if alone:
        told["kinds"] = {feature.name: feature.kind for feature in known.features if not feature.column}
        told["kinds"] |= {column: categories for column, categories in known.columns.items() if categories}
        told["units"] = dict(zip(known.feature_names, (feature.unit for feature in known.features), strict=True))
        if known.has_action and "action" in told:
            told["units"] |= dict(zip(known.action.names, known.action.units, strict=True))
            told["labels"] = list(known.action.labels)
    return {name: given for name, given in told.items() if given}


def _same_columns(folder: Path, name: str, file: Path, first: Any, schema: Any) -> None:
    lacking = [column for column in first.names if column not in schema.names]
    extra = [column for column in schema.names if column not in first.names]
    if lacking or extra:
        differs = " and ".join(f"{verb} {listing(n)}" for verb, n in (("lacks", lacking), ("also has", extra)) if n)
        raise LogError(
            f"The files in {shown(folder)} differ: {shown(file.name)} {differs}, compared with {shown(name)}. A folder "
            "is one log: give all files the same columns, or move the others elsewhere."
        )
    for column in first.names:
        # Text may be written by a dictionary in one file and not in another, with indices of any size.
        here, there = (_text_or(one.field(column).type) for one in (schema, first))
        if str(here) != str(there):
            raise LogError(
                f"Column `{column}` holds {there} in {shown(name)} and {here} in {shown(file.name)}; it must hold the "
                "same in all files of a folder."
            )


def _text_or(kind: Any) -> Any:
    """Return a type, or a word for all that are text."""
    held = kind.value_type if type(kind).__name__ == "DictionaryType" else kind
    return "text" if str(held) in TEXT else kind


def iter_rows(files: Sequence[File], start: int, stop: int, columns: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield the columns of some rows, a batch at a time; only the row groups in question are decoded."""
    arrow = library("pyarrow", "Reading Parquet files", INSTALL)
    parquet = library("pyarrow.parquet", "Reading Parquet files", INSTALL)
    for file in files:
        if file.begin >= stop or file.begin + file.rows <= start:
            continue
        ends = np.cumsum(file.groups) + file.begin
        some = [k for k, end in enumerate(ends.tolist()) if end > start and end - file.groups[k] < stop]
        at = int(ends[some[0]]) - file.groups[some[0]]
        try:
            with parquet.ParquetFile(file.path, memory_map=True) as opened:
                for batch in opened.iter_batches(BATCH, row_groups=some, columns=list(columns), use_threads=False):
                    low, high = max(start - at, 0), min(stop - at, batch.num_rows)
                    at += batch.num_rows
                    if low < high:
                        part = batch.slice(low, high - low)
                        yield {name: _column(part.column(name), file, name) for name in columns}
                    if at >= stop:
                        break
        except (arrow.ArrowException, ValueError, OSError) as error:
            raise LogError(
                f"{shown(file.path)} is damaged, or was changed while it was read: {reason(error)}. Write it again."
            ) from None


def _column(values: Any, file: File, name: str) -> Any:
    made = plain(values)
    if not (isinstance(made, np.ndarray) and made.dtype.kind == "O" and "list<" in str(values.type)):
        return made
    # Lists in which a value is missing are a matrix as well, like those of other rows.
    findings = Findings(shown(file.path))
    matrix = as_array(made, f"Column `{name}`", findings)
    findings.stop_if_failed()
    return matrix


def may_lack(file: File, columns: Sequence[str], texts: Collection[str]) -> list[str]:
    """Return the columns that can lack a value in a file, by what it says about them itself.

    NaN among floats is not told there, nor is what stands for nothing in a column of ``texts``.
    """
    with library("pyarrow.parquet", "Reading Parquet files", INSTALL).ParquetFile(file.path) as opened:
        schema, metadata = opened.schema_arrow, opened.metadata
    complete = set(columns)
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        for place in range(group.num_columns):
            chunk = group.column(place)
            told = chunk.statistics
            if told is None or not told.has_null_count or told.null_count:
                path = chunk.path_in_schema
                complete -= {name for name in complete if path == name or path.startswith(f"{name}.")}
    exact = {name for name in complete if str(_plain(schema.field(name).type)) not in FLOATS}
    return [name for name in columns if name not in exact or name in texts]


def rows_of(files: Sequence[File], start: int, stop: int, columns: Sequence[str]) -> dict[str, Array]:
    """Return the columns of some rows."""
    batches = list(iter_rows(files, start, stop, columns))
    return {name: np.concatenate([batch[name] for batch in batches]) for name in columns}
