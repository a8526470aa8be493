"""Parquet files to columns, by pyarrow (an extra)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy.typing as npt

from tripletree.errors import LogError, MissingDependencyError


def read_parquet(path: Path) -> tuple[list[str], list[npt.NDArray[Any]]]:
    """Return the names and columns of the file; raises LogError when it is damaged."""
    try:
        import pyarrow  # type: ignore[import-untyped]
        from pyarrow.parquet import ParquetFile  # type: ignore[import-untyped]
    except ImportError:
        raise MissingDependencyError(
            'Reading Parquet files needs pyarrow. Type: pip install "tripletree[parquet]"'
        ) from None
    try:
        with ParquetFile(path) as file:
            names = list(file.schema_arrow.names)
            # One column at a time: at no moment are the file's table and the columns both in memory.
            if len(set(names)) == len(names):
                return names, [file.read(columns=[name]).column(0).to_numpy() for name in names]
            return names, [column.to_numpy() for column in file.read().columns]
    except (pyarrow.ArrowException, ValueError) as error:
        raise LogError(f"{path} is no Parquet file, or damaged: {error}.") from None
