"""Model files taken apart and put together again, so that one thing at a time can be wrong with a fresh SHA-256."""

from __future__ import annotations

import copy
import hashlib
import json
import struct
from typing import Any

import numpy as np
import numpy.typing as npt

DTYPES = {"F64": "<f8", "I64": "<i8", "U64": "<u8", "I32": "<i4", "F32": "<f4", "U8": "u1"}


def split(data: bytes) -> tuple[dict[str, Any], bytes]:
    """Return (header, bytes of the arrays), the header's own JSON texts decoded."""
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    for key, text in header["__metadata__"].items():
        if key != "sha256":
            header["__metadata__"][key] = json.loads(text)
    return header, data[8 + length :]


def join(header: Any, arrays: bytes) -> bytes:
    """Put header and arrays together; what is not a text in the metadata is written as JSON."""
    header = copy.deepcopy(header)
    if isinstance(header, dict) and isinstance(header.get("__metadata__"), dict):
        for key, value in header["__metadata__"].items():
            if isinstance(value, Raw):
                header["__metadata__"][key] = value.value
            elif not isinstance(value, str):
                header["__metadata__"][key] = json.dumps(value)
    return sign(json.dumps(header).encode(), arrays)


class Raw:
    """A value of the metadata that is written as it is, not as a JSON text."""

    def __init__(self, value: Any) -> None:
        self.value = value


def sign(header: bytes, arrays: bytes) -> bytes:
    """Return a file with this header, whose `sha256` (if it has one at the usual place) is made right."""
    header += b" " * (-len(header) % 8)
    place = header.find(b'"sha256": "')
    if place < 0:
        place = header.find(b'"sha256":"') - 1
    if place >= 0:
        place += len(b'"sha256": "')
        header = header[:place] + b"0" * 64 + header[place + 64 :]
    length = struct.pack("<Q", len(header))
    digest = hashlib.sha256(length + header + arrays).hexdigest().encode()
    if place >= 0:
        header = header[:place] + digest + header[place + 64 :]
    return length + header + arrays


def resign(data: bytes) -> bytes:
    """Make the SHA-256 of a changed file right again, where its header can still be found."""
    if len(data) < 8:
        return data
    (length,) = struct.unpack("<Q", data[:8])
    if length > len(data) - 8:
        return data
    return sign(data[8 : 8 + length], data[8 + length :]) if length % 8 == 0 else data


def array(data: bytes, name: str) -> npt.NDArray[Any]:
    """Return a copy of one array of a good file."""
    header, arrays = split(data)
    entry = header[name]
    begin, end = entry["data_offsets"]
    return np.frombuffer(arrays[begin:end], DTYPES[entry["dtype"]]).reshape(entry["shape"]).copy()


def with_array(data: bytes, name: str, new: npt.NDArray[Any]) -> bytes:
    """Return the file with other numbers in one array (same dtype and shape)."""
    header, arrays = split(data)
    begin, end = header[name]["data_offsets"]
    assert end - begin == new.nbytes
    return join(header, arrays[:begin] + new.tobytes() + arrays[end:])


def with_arrays(header: dict[str, Any], arrays: dict[str, npt.NDArray[Any]]) -> bytes:
    """Return a file with the metadata of ``header`` and exactly these arrays."""
    names = {np.dtype(code): name for name, code in DTYPES.items()}
    table, parts, end = {"__metadata__": header["__metadata__"]}, [], 0
    for name, values in sorted(arrays.items(), key=lambda item: -item[1].itemsize):
        begin, end = end, end + values.nbytes
        table[name] = {"dtype": names[values.dtype], "shape": list(values.shape), "data_offsets": [begin, end]}
        parts.append(values.tobytes())
    return join(table, b"".join(parts))


def all_arrays(data: bytes) -> dict[str, npt.NDArray[Any]]:
    """Return all arrays of a good file."""
    return {name: array(data, name) for name in split(data)[0] if name != "__metadata__"}
