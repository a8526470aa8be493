"""Replace a file in one step: whatever happens, the old file or the new one is there, whole. And open regular files."""

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
# For /dev/stdin and a shell's <(...) as well, which cannot be read twice.
_SAVE_FIRST = "Save what comes out of it to a file first, and give the name of that file"


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
    try:
        target = Path(os.path.realpath(path))
        mode = _mode(target)
    except ValueError as error:
        raise _no_name(error) from None

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


def open_regular(path: str | os.PathLike[str]) -> BinaryIO:
    """Open a file for reading, without ever waiting for one.

    Parameters
    ----------
    path : str or path-like
        The file; a symbolic link is followed.

    Raises
    ------
    OSError
        If the file cannot be opened, or is none: a folder, a pipe, a device. `reason` has the text for the user.
    """

    def opener(name: str, flags: int) -> int:
        # Without waiting for a writer, in case the file has become a pipe since it was looked at.
        return os.open(name, flags | getattr(os, "O_NONBLOCK", 0))

    try:
        # Before opening, because opening a device may already do something; and again after, because the name may
        # stand for another file by then.
        _check_regular(os.stat(path), _SAVE_FIRST)
        stream = open(path, "rb", opener=opener)  # noqa: SIM115 - the caller closes it
    except ValueError as error:
        raise _no_name(error) from None
    try:
        _check_regular(os.fstat(stream.fileno()), _SAVE_FIRST)
    except OSError:
        stream.close()
        raise
    return stream


def shown(path: str | os.PathLike[str]) -> str:
    """Return the name of a file as text that can be written anywhere: names on a disk may be any bytes.

    >>> shown("run.csv")
    'run.csv'
    """
    return os.fspath(path).encode("utf-8", "replace").decode()


def _no_name(error: ValueError) -> OSError:
    """Return the error for a text that no file can have as its name (it holds NUL, or no Unicode)."""
    return OSError(errno.EINVAL, f"no file can have this name ({error})")


def _check_regular(status: os.stat_result, hint: str) -> None:
    kinds = {
        stat.S_IFDIR: "a folder",
        stat.S_IFIFO: "a pipe",
        stat.S_IFSOCK: "a socket",
        stat.S_IFCHR: "a device",
        stat.S_IFBLK: "a device",
    }
    if not stat.S_ISREG(status.st_mode):
        kind = kinds.get(stat.S_IFMT(status.st_mode), "something else")
        if kind == "a folder":
            raise IsADirectoryError(errno.EISDIR, "it is a folder, not a file")
        raise OSError(errno.EINVAL, f"it is {kind}, not a regular file. {hint}")


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
    _check_regular(status, "Give the name of a file")
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
