"""The cache: each piece of a log as plain arrays in a file of its own, checksummed, and whole or not there at all."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import tempfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.errors import LogError, ParameterError
from tripletree.log.disk import DiskLog
from tripletree.text import Message, Option
from tripletree.writing import reason, shown

MAGIC = b"tripletree-piece-1\n"
ALIGN = 64
REMOVALS, PAUSE = 20, 0.05
"""How often a folder in which files still appear is removed again, and the seconds in between."""
Arrays = dict[str, npt.NDArray[Any]]


@dataclass(frozen=True)
class Cache:
    """A folder of pieces; ``kept`` if a user has named it, so that it stays when the work is done."""

    path: str
    kept: bool = False

    def file(self, kind: str, number: int) -> Path:
        """Return the name of a piece's file."""
        return Path(self.path) / f"{kind}-{number:07d}"

    def write(self, kind: str, number: int, arrays: Mapping[str, npt.NDArray[Any]], facts: Mapping[str, Any]) -> int:
        """Write a piece; a file of that name is replaced whole. Returns its size."""
        table, at, check = {}, 0, 0
        parts: list[Any] = []
        for name, array in arrays.items():
            data: Any = memoryview(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
            table[name] = {"type": array.dtype.str, "shape": list(array.shape), "at": at}
            parts += [data, b"\0" * (-len(data) % ALIGN)]
            at += len(data) + (-len(data) % ALIGN)
        for part in parts:
            check = zlib.crc32(part, check)
        head = json.dumps({"arrays": table, "facts": dict(facts), "bytes": at, "crc32": check}).encode()
        head = MAGIC + len(head).to_bytes(8, "little") + head
        head += b"\0" * (-len(head) % ALIGN)
        target = self.file(kind, number)
        draft = target.with_name(f".{target.name}.{os.getpid()}.{id(arrays):x}")
        try:
            with open(draft, "wb") as file:
                for part in (head, *parts):
                    file.write(part)
            os.replace(draft, target)
        except OSError as error:
            draft.unlink(missing_ok=True)
            raise _full(self.path, error) from None
        return len(head) + at

    def facts(self, kind: str, number: int) -> dict[str, Any] | None:
        """Return what was noted with a piece, if its file is there and its checksum right; else None."""
        try:
            head, begin = self._head(kind, number)
            with open(self.file(kind, number), "rb") as file:
                file.seek(begin)
                check = 0
                while part := file.read(2**22):
                    check = zlib.crc32(part, check)
            if check != head["crc32"]:
                return None
            found: dict[str, Any] = head["facts"]
            return found
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def read(
        self, kind: str, number: int, *, mapped: bool = False, changed: bool = False
    ) -> tuple[Arrays, dict[str, Any]]:
        """Return the arrays of a piece, in memory or as a view of the file, and what was noted with them.

        A view may be ``changed``, and the file with it; its checksum is then none of its content.
        """
        path = self.file(kind, number)
        try:
            head, begin = self._head(kind, number)
            whole: Any = (
                np.memmap(path, np.uint8, "r+" if changed else "r", begin, (head["bytes"],))
                if head["bytes"]
                else np.empty(0, np.uint8)
            )
            if not mapped:
                whole = np.fromfile(path, np.uint8, offset=begin)
            found = {}
            for name, kept in head["arrays"].items():
                dtype, shape = np.dtype(kept["type"]), tuple(kept["shape"])
                size = int(np.prod(shape)) * dtype.itemsize
                found[name] = whole[kept["at"] : kept["at"] + size].view(dtype).reshape(shape)
            return found, head["facts"]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise LogError(
                f"The cache in {shown(self.path)} has lost a part ({shown(path.name)}: {reason(error)}). Remove the "
                "folder and start again."
            ) from None

    def _head(self, kind: str, number: int) -> tuple[dict[str, Any], int]:
        path = self.file(kind, number)
        with open(path, "rb") as file:
            if file.read(len(MAGIC)) != MAGIC:
                raise ValueError("not a piece")
            size = int.from_bytes(file.read(8), "little")
            if size > path.stat().st_size:
                raise ValueError("cut off")
            head: dict[str, Any] = json.loads(file.read(size))
        begin = len(MAGIC) + 8 + size
        begin += -begin % ALIGN
        if path.stat().st_size != begin + head["bytes"]:
            raise ValueError("cut off")
        return head, begin

    def forget(self, *kinds: str) -> None:
        """Remove the files of some kinds, and what killed workers did not finish of any kind."""
        for pattern in (*(f"{kind}-*" for kind in kinds), ".*-*"):
            for path in Path(self.path).glob(pattern):
                path.unlink(missing_ok=True)

    def size(self) -> int:
        """Return the bytes on disk."""
        return sum(path.stat().st_size for path in Path(self.path).glob("*-*") if path.is_file())

    def remove(self) -> None:
        """Remove all of it, and what a worker of somebody else may write in the meantime."""
        for _ in range(REMOVALS):
            shutil.rmtree(self.path, ignore_errors=True)
            if not os.path.exists(self.path):
                return
            Event().wait(PAUSE)


def open_cache(disk: DiskLog, rows: int, folder: str | os.PathLike[str] | None) -> Cache:
    """Return the cache of a log: in the given folder, or in the user's; what an interrupted run left there is found."""
    files = [(file.path, file.size, file.changed, file.groups) for file in disk.files]
    part = "" if disk.only is None else hashlib.sha256(np.packbits(disk.only.episodes).tobytes()).hexdigest()
    told = json.dumps([files, disk.columns, disk.roles, disk.weighting, rows, part, 5], default=str)
    key = hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    base = Path(home) / "tripletree" if folder is None else Path(folder)
    try:
        path = base / f"log-{key}"
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            pass
    except OSError as error:
        raise ParameterError(
            Message(
                "No cache can be made in {}: {}. Name a folder with room for it: {}.",
                shown(base),
                reason(error),
                Option("cache", "..."),
            )
        ) from None
    return Cache(str(path), folder is not None)


def _full(path: str, error: OSError) -> Exception:
    if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return LogError(f"The cache in {shown(path)} cannot be written: {reason(error)}.")
    full = "may not have files as large as it needs" if error.errno == errno.EFBIG else "is full"
    return DiskFullError(
        Message(
            "The disk of the cache ({}) {}. Make room, or name a folder on another disk: {}.",
            shown(path),
            full,
            Option("cache", "..."),
        )
    )


class DiskFullError(LogError):
    """The disk of the cache is full; nothing is left behind on it."""
