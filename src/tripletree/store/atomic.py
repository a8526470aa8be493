"""Replace a file in one step: after a crash at any moment there is the old file or the new one, whole."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import stat
import warnings
from pathlib import Path

from tripletree.errors import ModelFileError, TripleTreeWarning

_TEMPORARY = re.compile(r"\.tripletree-[0-9a-f]{16}\.tmp")
_STALE_SECONDS = 3600


def replace_file(path: Path, data: bytes) -> None:
    """Write ``data`` to ``path`` by way of a temporary file in the same folder; a symbolic link is followed.

    A failure leaves what was there before and no temporary file. Only a process that dies on the way leaves one; it
    is removed by a later save into the same folder, an hour or more after.
    """
    target = Path(os.path.realpath(path))
    mode = _mode(target)
    temporary = target.parent / f".tripletree-{secrets.token_hex(8)}.tmp"
    # O_EXCL: never through a link that someone else has put there.
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    descriptor = os.open(temporary, flags, 0o666 if mode is None else mode)
    try:
        with open(descriptor, "wb") as stream:
            _remove_stale(target.parent, os.fstat(descriptor).st_mtime)
            if mode is not None:
                # Some file systems know no modes.
                with contextlib.suppress(OSError):
                    os.chmod(temporary, mode)
            stream.write(data)
            stream.flush()
            os.fsync(descriptor)
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    _sync_folder(target.parent)


def _mode(target: Path) -> int | None:
    """Return the permissions of the file to replace, None when there is none; refuse what is not a file."""
    try:
        status = target.stat()
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(status.st_mode):
        raise ModelFileError("it is a folder. Give the name of a file in it.")
    if not stat.S_ISREG(status.st_mode):
        raise ModelFileError("it is not a regular file (but a pipe, a device or the like).")
    if not os.access(target, os.W_OK):
        # The rename would not mind; whoever protected the file would.
        raise ModelFileError("it is write-protected. Choose another name, or remove it first.")
    return stat.S_IMODE(status.st_mode)


def _remove_stale(folder: Path, now: float) -> None:
    """Remove temporary files that a killed process left behind: for an hour nothing was written to them."""
    with contextlib.suppress(OSError), os.scandir(folder) as listed:
        for entry in listed:
            if _TEMPORARY.fullmatch(entry.name):
                with contextlib.suppress(OSError):
                    if entry.stat(follow_symlinks=False).st_mtime < now - _STALE_SECONDS:
                        os.unlink(entry.path)


def _sync_folder(folder: Path) -> None:
    """Make the new name durable. The file is in place already, so a failure is worth a warning only."""
    if not hasattr(os, "O_DIRECTORY"):
        return  # Windows cannot open folders.
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        warnings.warn(
            f"The model is saved, but its folder could not be synced ({error.strerror}): "
            "a power cut in the next seconds may undo it.",
            TripleTreeWarning,
            stacklevel=4,
        )
