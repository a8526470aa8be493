"""Parquet files to columns, one at a time; lists of equal length become a matrix without a look at each of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from tripletree.errors import LogError
from tripletree.log.coerce import plain
from tripletree.log.frames import OWN, fields_of
from tripletree.log.npz_reader import refuse_bomb
from tripletree.log.schema import Schema, is_unicode
from tripletree.log.sources import Table, library
from tripletree.writing import open_regular, reason, shown

INSTALL = '"tripletree[parquet]"'


def read_parquet(path: Path, only: Collection[str] | None = None) -> Table:
    """Return the columns of a Parquet file; raises LogError if it is damaged. Needs pyarrow (an extra).

    ``only`` names the columns to read, where not all are wanted.
    """
    arrow = library("pyarrow", "Reading Parquet files", INSTALL)
    parquet = library("pyarrow.parquet", "Reading Parquet files", INSTALL)
    try:
        return _read(path, only, arrow, parquet)
    finally:
        # Arrow keeps what it had for the next file: of 10 million steps more than a gigabyte.
        arrow.default_memory_pool().release_unused()


def _read(path: Path, only: Collection[str] | None, arrow: Any, parquet: Any) -> Table:
    try:
        with open_regular(path) as stream, parquet.ParquetFile(_name_for_arrow(path, stream)) as file:
            names = [name for name in file.schema_arrow.names if only is None or name in only]
            # Repeated values take next to no room in a file; as columns they take 8 bytes each.
            instead = "load it yourself and type Log.from_frame(...)"
            refuse_bomb(
                path, 8 * max(file.metadata.num_rows * len(names), number_of_values(file.metadata, only)), instead
            )
            # One column at a time: at no moment are the file's table and the columns both in memory.
            if len(set(names)) == len(names):
                # A thread of Arrow's would gain nothing here, and hold some memory until it gets round to freeing it.
                columns = [plain(file.read(columns=[name], use_threads=False).column(0)) for name in names]
                schema = (file.schema_arrow.metadata or {}).get(OWN.encode())
                if schema is None:
                    return Table(names, columns, shown(path.name))
                own = schema.decode()
                return Table(names, columns, shown(path.name), schema=own, writer="Log.to_parquet", restore=_restored)
            return Table(names, [plain(column) for column in file.read(use_threads=False).columns], shown(path.name))
    except (arrow.ArrowException, ValueError) as error:
        if isinstance(error, LogError):
            raise
        raise LogError(f"{shown(path)} is not a Parquet file, or damaged: {reason(error)}. Write it again.") from None


def _restored(table: Table, content: Mapping[str, Any]) -> dict[str, Any] | None:
    columns = dict(zip(table.names, table.columns, strict=True))
    return fields_of(columns, Schema.from_dict(content), content.get("group"), bool(content.get("weighted")))


def number_of_values(metadata: Any, only: Collection[str] | None = None) -> int:
    """Return how many values there are in all columns, those inside lists included."""
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    chunks = [group.column(number) for group in groups for number in range(group.num_columns)]
    return sum(c.num_values for c in chunks if only is None or c.path_in_schema.startswith(tuple(only)))


def _name_for_arrow(path: Path, stream: BinaryIO) -> str:
    """Return a name that Arrow can open: it takes only UTF-8, so any other file goes by the number it is open as."""
    return str(path) if is_unicode(str(path)) else f"/dev/fd/{stream.fileno()}"
