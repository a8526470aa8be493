"""NPZ files to arrays: what a file claims is checked before anything is unpacked, and nothing in it is ever run."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tripletree.errors import LogError
from tripletree.log.coerce import freeze
from tripletree.log.frames import OWN
from tripletree.log.schema import Schema
from tripletree.log.sources import Table
from tripletree.text import count
from tripletree.writing import open_regular, reason, shown

FREE_BYTES = 2**28
"""Any file may unpack to this much, however small it is."""
MOST_TIMES = 100
"""A file that unpacks to more than FREE_BYTES may grow by this factor: recordings do not shrink further than that."""
MOST_VALUES = 2**20
"""The largest second dimension: every value of a row becomes a column of its own."""
# What NumPy itself writes, but for Python objects and records.
_KINDS = "biufcmMSU"
_AGAIN = "Save it again with Log.to_npz or np.savez."
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


def unpacked_limit(size: int) -> int:
    """Return how many bytes a file of ``size`` bytes may unpack to."""
    return max(FREE_BYTES, MOST_TIMES * size)


def refuse_bomb(path: Path, unpacked: int, instead: str) -> None:
    """Raise LogError for a file that would unpack to more than its size allows; ``instead`` is what to do with it."""
    size = path.stat().st_size
    if unpacked > unpacked_limit(size):
        raise LogError(
            f"{shown(path)} has {size:,} bytes and would unpack to {unpacked:,}; a file may unpack to "
            f"{MOST_TIMES} times its size, or to {FREE_BYTES:,} bytes. If you trust it, {instead}."
        )


def read_npz(path: Path) -> Table:
    """Return the arrays of a NumPy file; raises LogError if it is damaged or holds Python objects."""
    try:
        with open_regular(path) as file, zipfile.ZipFile(file) as archive:
            members = [_read_header(archive, info, path) for info in archive.infolist()]
            _check_together(members, path)
            arrays = []
            for member in members:
                with archive.open(member.info) as stream:
                    arrays.append(np.lib.format.read_array(stream, allow_pickle=False))
    except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, NotImplementedError, RuntimeError) as error:
        if isinstance(error, LogError):
            raise
        raise LogError(f"{shown(path)} is not an .npz file, or damaged: {reason(error)}. {_AGAIN}") from None
    names = [member.name for member in members]
    if OWN not in names:
        return Table(names, arrays, shown(path.name))
    # The text is an array here.
    schema = str(arrays.pop(names.index(OWN)))
    names.remove(OWN)
    return Table(names, arrays, shown(path.name), schema=schema, writer=WRITER, restore=_restored)


WRITER = "Log.to_npz"


def _restored(table: Table, content: Mapping[str, Any]) -> dict[str, Any]:
    arrays = {name: freeze(array) for name, array in zip(table.names, table.columns, strict=True)}
    called = {"group_name": content["group"]} if "group" in content else {}
    return {**arrays, "schema": Schema.from_dict(content), **called}


@dataclass(frozen=True)
class _Member:
    """One array of an archive, as its header describes it."""

    info: zipfile.ZipInfo
    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    @property
    def name(self) -> str:
        return self.info.filename.removesuffix(".npy")


def _read_header(archive: zipfile.ZipFile, info: zipfile.ZipInfo, path: Path) -> _Member:
    """Read what one array is, without reading it."""
    name = info.filename.removesuffix(".npy")
    # NumPy writes no others; theirs can unpack to any size, and need libraries that may not be there.
    if info.compress_type not in _METHODS:
        raise LogError(
            f"{shown(path)} is not as NumPy writes it: `{name}` is compressed in another way than deflate. "
            "Save it with np.savez or np.savez_compressed."
        )
    with archive.open(info) as stream:
        shape, dtype = _parse_header(stream, name, path)
        at = stream.tell()
    if dtype.hasobject:
        raise LogError(
            f"{shown(path)} holds Python objects in `{name}`. They are never loaded, because they could run code; "
            "save plain arrays of numbers or text."
        )
    if dtype.kind not in _KINDS:
        raise LogError(
            f"{shown(path)} holds records in `{name}` ({dtype!s:.60}); expected plain columns. Save each field as an "
            "array of its own."
        )
    size = dtype.itemsize
    for side in shape:
        size *= side
    if size != info.file_size - at or not dtype.itemsize:
        raise LogError(
            f"{shown(path)} is damaged: `{name}` is said to have the shape {str(shape)[:60]} of {dtype}, "
            f"which does not fit its {count(info.file_size - at, 'byte')}. {_AGAIN}"
        )
    if len(shape) > 1 and max(shape[1:]) > MOST_VALUES:
        raise LogError(
            f"{shown(path)} holds `{name}` of shape {str(shape)[:60]}; a row may have at most {MOST_VALUES:,} values. "
            "Expected one row for each step."
        )
    return _Member(info, shape, dtype)


def _parse_header(stream: Any, name: str, path: Path) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Return the shape and the type that the header of an array names."""
    form = np.lib.format
    readers = {(1, 0): form.read_array_header_1_0, (2, 0): form.read_array_header_2_0}
    try:
        version = form.read_magic(stream)
        if version == (3, 0):
            # Only records have names that need this version.
            raise ValueError("records are not read, only plain columns")
        shape, _, dtype = readers[version](stream)
    except (zipfile.BadZipFile, zlib.error, OSError):
        raise
    except Exception as error:
        # The header is a Python literal; what NumPy's parser makes of a crafted one may be any error at all.
        why = str(error).partition("\n")[0] if type(error) is ValueError else "its header cannot be read"
        raise LogError(f"{shown(path)} is damaged: `{name}` is not a NumPy array ({why}). {_AGAIN}") from None
    return tuple(int(side) for side in shape), dtype


def _check_together(members: Sequence[_Member], path: Path) -> None:
    """Refuse archives that have too much to unpack, or the same thing twice."""
    packed = sum(member.info.compress_size for member in members)
    if packed > path.stat().st_size:
        raise LogError(f"{shown(path)} is damaged: its arrays overlap, they claim {packed:,} bytes of it. {_AGAIN}")
    names = [member.name for member in members]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise LogError(f"{shown(path)} is damaged: it holds `{twice}` more than once. {_AGAIN}")
    refuse_bomb(path, sum(member.info.file_size for member in members), "save it without compression")
