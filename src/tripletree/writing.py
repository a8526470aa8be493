"""Replace a file in one step: whatever happens, the old file or the new one is there, whole."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import stat
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from tripletree.errors import TripleTreeWarning

_TEMPORARY = re.compile(r"\.tripletree-[0-9a-f]{16}\.tmp")
_STALE_SECONDS = 3600


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Yield a stream; when the block ends without an error, what was written to it becomes the file ``path``.

    The stream belongs to a temporary file in the same folder, with a name of its own: several threads or processes may
    replace one file at the same time, and the last one wins. A symbolic link is followed, and the permissions of an
    existing file are kept. After an error or Ctrl-C the old file is still there, and the temporary file is gone. Only
    a process that is killed leaves one behind; it is removed when a file in the same folder is replaced an hour later.

    Parameters
    ----------
    path : str or path-like
        The file to make or to replace.

    Raises
    ------
    OSError
        If the file cannot be written. `reason` has the text for the user.

    Warns
    -----
    TripleTreeWarning
        If the new file is in place, but a power cut in the next seconds may still undo that.

    Examples
    --------
    >>> with replacing("notes.txt") as stream:
    ...     _ = stream.write(b"whole or not at all")
    """
    target = Path(os.path.realpath(path))
    mode = _mode(target)

    def opener(name: str, flags: int) -> int:
        return os.open(name, flags, 0o666 if mode is None else mode)

    temporary = target.parent / f".tripletree-{secrets.token_hex(8)}.tmp"
    try:
        # "x": never through a link that someone else has put there.
        with open(temporary, "xb", opener=opener) as stream:
            _remove_stale(target.parent, os.fstat(stream.fileno()).st_mtime)
            if mode is not None:
                # The umask has been taken off the mode. Some file systems know no modes.
                with contextlib.suppress(OSError):
                    os.chmod(temporary, mode)
            yield stream
            stream.flush()
            # Without this, the new name could reach the disk before the content does.
            os.fsync(stream.fileno())
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    _sync_folder(target)


def replace_file(path: str | os.PathLike[str], content: bytes) -> None:
    """Write ``content`` to a file by way of `replacing`."""
    with replacing(path) as stream:
        stream.write(content)


def reason(error: Exception) -> str:
    """Return why a file could not be read or written, in words without a full stop.

    >>> reason(FileNotFoundError(2, "No such file or directory", "run.csv"))
    'No such file or directory'
    """
    return (getattr(error, "strerror", None) or str(error)).rstrip(".")


def _mode(target: Path) -> int | None:
    """Return the permissions of the file to replace, None when there is none; refuse what is not a file."""
    try:
        status = target.stat()
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, "it is a folder. Give the name of a file in it")
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "it is not a regular file (but a pipe, a device or the like)")
    if not os.access(target, os.W_OK):
        # The rename would not mind; whoever protected the file would.
        raise PermissionError(errno.EACCES, "it is write-protected. Choose another name, or remove it first")
    return stat.S_IMODE(status.st_mode)


def _remove_stale(folder: Path, now: float) -> None:
    """Remove temporary files that a killed process left behind: for an hour nothing was written to them."""
    with contextlib.suppress(OSError), os.scandir(folder) as listed:
        for entry in listed:
            if _TEMPORARY.fullmatch(entry.name):
                with contextlib.suppress(OSError):
                    if entry.stat(follow_symlinks=False).st_mtime < now - _STALE_SECONDS:
                        os.unlink(entry.path)


def _sync_folder(target: Path) -> None:
    """Make the new name durable. The file is in place already, so a failure is worth a warning only."""
    if not hasattr(os, "O_DIRECTORY"):
        return  # Windows cannot open folders.
    try:
        descriptor = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        warnings.warn(
            f"{target.name} is saved, but its folder could not be synced ({reason(error)}): "
            "a power cut in the next seconds may undo it.",
            TripleTreeWarning,
            stacklevel=_caller(),
        )


def _caller() -> int:
    """Return the stack level of the code that called this package: files are replaced at several depths in it."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] in ("tripletree", "contextlib"):
        level, frame = level + 1, frame.f_back
    return level
