"""The safetensors layout: 8 bytes of header length, a JSON header, then the arrays without gaps."""

from __future__ import annotations

import hashlib
import math
import re
import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from tripletree.errors import ModelFileError
from tripletree.store import strict_json
from tripletree.store.strict_json import show
from tripletree.text import count

FORMAT = (1, 6)
"""Major and minor number: files of another major are refused, later minors may hold things that are left out."""
# What a file claims is believed only up to here, so that a few bytes cannot ask for all memory.
MAX_HEADER = 2**20
MAX_FILE = 2**30
MAX_DIMENSIONS = 32

DTYPES: dict[str, np.dtype[Any]] = {
    "F64": np.dtype("<f8"),
    "F32": np.dtype("<f4"),
    "F16": np.dtype("<f2"),
    "I64": np.dtype("<i8"),
    "I32": np.dtype("<i4"),
    "I16": np.dtype("<i2"),
    "I8": np.dtype("i1"),
    "U64": np.dtype("<u8"),
    "U32": np.dtype("<u4"),
    "U16": np.dtype("<u2"),
    "U8": np.dtype("u1"),
    "BOOL": np.dtype("?"),
}
_NO_DIGEST = b"0" * 64


@dataclass(frozen=True)
class Entry:
    """Where one array lies in the data part of the file."""

    dtype: str
    shape: tuple[int, ...]
    begin: int
    end: int


@dataclass(frozen=True)
class Header:
    """The header of a model file, checked as far as the layout goes."""

    raw: bytes
    minor: int
    metadata: dict[str, str]
    entries: dict[str, Entry]


def pack(metadata: Mapping[str, str], arrays: Mapping[str, npt.NDArray[Any]]) -> bytes:
    """Return the bytes of a file with these texts and arrays (whose dtypes are among ``DTYPES``)."""
    names = {dtype: name for name, dtype in DTYPES.items()}
    # The widest dtypes first: every array is aligned without padding between arrays, which the layout forbids.
    order = sorted(arrays, key=lambda name: -arrays[name].itemsize)
    # The digest comes first, so the first run of 64 zeros is its place.
    table: dict[str, Any] = {
        "__metadata__": {"sha256": _NO_DIGEST.decode(), "format": strict_json.dump(list(FORMAT), "format"), **metadata}
    }
    end = 0
    for name in order:
        array = arrays[name]
        begin, end = end, end + array.nbytes
        dtype = names[array.dtype.newbyteorder("<")]
        table[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": [begin, end]}
    header = strict_json.dump(table, "the header").encode()
    # Spaces, which JSON ignores, so that the arrays begin at a multiple of 8 bytes.
    header += b" " * (-len(header) % 8)
    data = b"".join(arrays[name].astype(DTYPES[table[name]["dtype"]], copy=False).tobytes() for name in order)
    digest = _digest(header, data).encode()
    return struct.pack("<Q", len(header)) + header.replace(_NO_DIGEST, digest, 1) + data


def read_header(stream: BinaryIO, size: int) -> Header:
    """Read the header of a file of ``size`` bytes; caps first, then JSON, then the places of the arrays."""
    if size > MAX_FILE:
        raise ModelFileError(f"it has {size:,} bytes; at most {MAX_FILE:,} are read.")
    start = stream.read(8)
    if len(start) < 8:
        raise ModelFileError(f"it is empty or cut off: {count(len(start), 'byte')}.")
    (length,) = struct.unpack("<Q", start)
    if length > MAX_HEADER:
        raise ModelFileError(
            _stranger(start + stream.read(1)) or f"its header claims {length:,} bytes; at most {MAX_HEADER:,} are read."
        )
    if length > size - 8:
        raise ModelFileError(
            f"it is cut off: its header claims {count(length, 'byte')}, {count(size - 8, 'is', 'are')} there."
        )
    raw = stream.read(length)
    # The layout wants the brace first: leading spaces would be valid JSON.
    if len(raw) < length or raw[:1] != b"{":
        raise ModelFileError("it is not a tripletree file: no JSON header after the first 8 bytes.")
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        raise ModelFileError(f"its header is not UTF-8: {error}.") from None
    table = strict_json.parse(text, "its header")
    metadata = table.pop("__metadata__", None)
    if not isinstance(metadata, dict) or "format" not in metadata:
        raise ModelFileError("it is not a tripletree model: its header has no `__metadata__` with a `format`.")
    for key, value in metadata.items():
        if not isinstance(value, str):
            raise ModelFileError(f"`__metadata__` must hold strings, got {show(value)} for {show(key)}.")
    minor = _read_format(metadata.pop("format"))
    entries = {name: _entry(name, value) for name, value in table.items()}
    _check_places(entries, size - 8 - length)
    return Header(raw, minor, metadata, entries)


def read_arrays(stream: BinaryIO, size: int, header: Header, names: Iterable[str]) -> dict[str, npt.NDArray[Any]]:
    """Read and hash the rest of the file; return the arrays of these names as read-only views of one buffer."""
    data = stream.read(size - 8 - len(header.raw))
    if len(data) != size - 8 - len(header.raw) or stream.read(1):
        raise ModelFileError("its size changed while it was read.")
    digest = header.metadata.get("sha256", "")
    # Found twice, it would be unclear which of them was zero when the digest was computed.
    if not re.fullmatch("[0-9a-f]{64}", digest) or header.raw.count(digest.encode()) != 1:
        raise ModelFileError(
            f"its `sha256` must be 64 lower-case hexadecimal digits found once, got {show(digest, 80)}."
        )
    if _digest(header.raw.replace(digest.encode(), _NO_DIGEST), data) != digest:
        raise ModelFileError("it is damaged: its SHA-256 does not match its content. Use another copy of it.")
    arrays = {}
    for name in names:
        entry = header.entries[name]
        dtype = DTYPES[entry.dtype]
        flat = np.frombuffer(data, dtype, (entry.end - entry.begin) // dtype.itemsize, entry.begin)
        arrays[name] = flat.reshape(entry.shape).astype(dtype.newbyteorder("="), copy=False)
    return arrays


def _digest(header: bytes, data: bytes) -> str:
    """Hash the whole file, the digest itself written as 64 zeros: no byte is left out."""
    digest = hashlib.sha256(struct.pack("<Q", len(header)) + header)
    digest.update(data)
    return digest.hexdigest()


def _stranger(start: bytes) -> str:
    """Return what other kind of file this is, if its first 9 bytes show it."""
    if start[:4] in (b"PK\x03\x04", b"PK\x05\x06"):
        return "it is a zip archive (perhaps .npz), not a tripletree model."
    if start[0] == 0x80 and start[1] <= 5:
        return "it is a pickle, not a tripletree model. Pickles can run code and are never opened."
    return "" if start[8:] == b"{" else "it is not a tripletree file. Models are written by TripleTree.save."


def _read_format(text: str) -> int:
    """Return the minor number of a format that this version reads."""
    number = strict_json.parse(text, "its `format`")
    if not (isinstance(number, list) and len(number) == 2 and all(type(part) is int and part >= 0 for part in number)):
        raise ModelFileError(f"its `format` must be [major, minor], got {show(text)}.")
    major, minor = number
    if major != FORMAT[0]:
        hint = " Update with: pip install -U tripletree" if major > FORMAT[0] else ""
        raise ModelFileError(f"it has format {major}.{minor}; this version reads {FORMAT[0]}.x only.{hint}")
    return int(minor)


def _entry(name: str, value: Any) -> Entry:
    """Check the description of one array by itself."""
    if not isinstance(value, dict) or value.keys() != {"dtype", "shape", "data_offsets"}:
        raise ModelFileError(f"array {show(name)} must have dtype, shape and data_offsets, got {show(value)}.")
    dtype, shape, offsets = value["dtype"], value["shape"], value["data_offsets"]
    if not isinstance(dtype, str) or dtype not in DTYPES:
        raise ModelFileError(f"array {show(name)} has the unknown dtype {show(dtype)}; known: {', '.join(DTYPES)}.")
    if not _naturals(shape) or len(shape) > MAX_DIMENSIONS:
        raise ModelFileError(f"array {show(name)} has the impossible shape {show(shape)}.")
    if not _naturals(offsets) or len(offsets) != 2:
        raise ModelFileError(f"array {show(name)} has the impossible data_offsets {show(offsets)}.")
    begin, end = offsets
    item = DTYPES[dtype].itemsize
    if end - begin != math.prod(shape) * item:
        raise ModelFileError(
            f"array {show(name)} of shape {show(shape)} and dtype {dtype} does not fit {show(offsets)}."
        )
    # Arrays are views of one buffer, which must be aligned.
    if begin % item:
        raise ModelFileError(f"array {show(name)} begins at {begin}, which is no multiple of its item size {item}.")
    return Entry(dtype, tuple(shape), begin, end)


def _naturals(value: object) -> bool:
    # By type, because True and False are instances of int.
    return isinstance(value, list) and all(type(part) is int and part >= 0 for part in value)


def _check_places(entries: Mapping[str, Entry], available: int) -> None:
    """Refuse gaps, overlaps, and arrays that do not end exactly with the file."""
    end, before = 0, "the header"
    # Sorted by the end, too: an empty array may begin where the next one does.
    for name, entry in sorted(entries.items(), key=lambda item: (item[1].begin, item[1].end)):
        if entry.begin != end:
            fault = "overlaps" if entry.begin < end else "leaves a gap after"
            raise ModelFileError(f"array {show(name)} {fault} {before}: it begins at {entry.begin}, not at {end}.")
        end, before = entry.end, show(name)
    if end != available:
        raise ModelFileError(
            f"it is cut off or has a tail: its arrays take {count(end, 'byte')}, {count(available, 'is', 'are')} there."
        )
