"""Files are replaced whole or not at all; what a kill at any moment leaves is tested with models, in tests/store."""

from __future__ import annotations

import errno
import os
import socket
import stat
import threading
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.logs import random_log
from tripletree import TripleTree
from tripletree.errors import TripleTreeError, TripleTreeWarning
from tripletree.log.log import TERMINATED
from tripletree.plot import leaf_map
from tripletree.writing import open_regular, reason, replace_file, replacing, shown


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """An old file, to be replaced."""
    path = tmp_path / "file"
    path.write_bytes(b"old")
    return path


@pytest.mark.parametrize("kind", [str, Path])
def test_a_file_is_made_and_replaced(tmp_path: Path, kind: type) -> None:
    path = tmp_path / "file"
    for content in (b"one", b"", b"three"):
        replace_file(kind(path), content)
        assert path.read_bytes() == content
    assert names(tmp_path) == ["file"]


def test_the_old_file_stays_until_the_block_ends(path: Path) -> None:
    with replacing(path) as stream:
        stream.write(b"ne")
        stream.flush()
        assert path.read_bytes() == b"old"
        assert len(names(path.parent)) == 2
        stream.seek(0)
        stream.write(b"new")
    assert path.read_bytes() == b"new"
    assert names(path.parent) == ["file"]


def test_files_are_relative_to_the_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    replace_file("file", b"new")
    assert (tmp_path / "file").read_bytes() == b"new"


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError, OSError, SystemExit, GeneratorExit])
def test_any_error_leaves_the_old_file_and_nothing_else(path: Path, error: type[BaseException]) -> None:
    def half() -> None:
        with replacing(path) as stream:
            stream.write(b"half")
            raise error("on the way")

    with pytest.raises(error, match="on the way"):
        half()
    assert path.read_bytes() == b"old"
    assert names(path.parent) == ["file"]


def test_an_error_before_there_is_a_file_leaves_none(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt, match="Ctrl-C"), replacing(tmp_path / "new"):
        raise KeyboardInterrupt("Ctrl-C")
    assert names(tmp_path) == []


@pytest.mark.parametrize("step", ["open", "fsync", "replace"])
@pytest.mark.parametrize("error", [KeyboardInterrupt("stop"), OSError(errno.ENOSPC, "stop")])
def test_a_step_that_fails_leaves_the_old_file(
    path: Path, step: str, error: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(os, step, fail)
        with pytest.raises(type(error), match="stop"):
            replace_file(path, b"new")
    assert path.read_bytes() == b"old"
    assert names(path.parent) == ["file"]


def test_content_reaches_the_disk_before_the_name_and_then_the_folder(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []
    fsync, replace = os.fsync, os.replace

    def synced(descriptor: int) -> None:
        folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)
        steps.append("folder" if folder else f"content of {os.fstat(descriptor).st_size} bytes")
        fsync(descriptor)

    def replaced(one: str, other: str) -> None:
        steps.append("name")
        replace(one, other)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "replace", replaced)
    replace_file(path, b"12345")
    assert steps == ["content of 5 bytes", "name", "folder"]


def test_a_folder_that_cannot_be_synced_is_a_warning_where_the_call_is(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.fsync

    def fsync(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.warns(TripleTreeWarning, match=r"^file is saved, but its folder could not .* \(Invalid") as caught:
        replace_file(path, b"new")
    with pytest.warns(TripleTreeWarning, match="its folder could not be synced") as direct, replacing(path) as stream:
        stream.write(b"newer")
    assert {warning.filename for warning in (*caught, *direct)} == {__file__}
    assert path.read_bytes() == b"newer"


def test_links_are_followed(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    link, second = tmp_path / "link", tmp_path / "second"
    link.symlink_to("deep/file")
    second.symlink_to(link)
    for content, name in ((b"one", link), (b"two", second)):
        replace_file(name, content)
        assert (tmp_path / "deep" / "file").read_bytes() == content
    assert link.is_symlink()
    assert second.is_symlink()
    assert names(tmp_path / "deep") == ["file"]


def test_a_link_to_itself(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("link")
    with pytest.raises(OSError, match="symbolic links"):
        replace_file(tmp_path / "link", b"new")


def test_permissions_are_kept(path: Path) -> None:
    before = os.umask(0o027)
    try:
        path.chmod(0o666)
        replace_file(path, b"new")
        assert stat.S_IMODE(path.stat().st_mode) == 0o666
        replace_file(path.parent / "other", b"new")
        assert stat.S_IMODE((path.parent / "other").stat().st_mode) == 0o640
    finally:
        os.umask(before)


def test_a_protected_file_is_not_replaced(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.chmod(0o444)
    if os.geteuid() == 0:  # root may write to it
        monkeypatch.setattr(os, "access", lambda file, mode: False)
    with pytest.raises(PermissionError, match=r"it is write-protected\. Choose another name"):
        replace_file(path, b"new")
    assert path.read_bytes() == b"old"


def test_what_is_not_a_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for place, message in (
        (tmp_path, "it is a folder. Give the name of a file in it"),
        (tmp_path / "pipe", r"it is a pipe, not a regular file. Give the name of a file"),
        (tmp_path / "missing" / "file", "No such file or directory"),
        (tmp_path / "pipe" / "file", "Not a directory"),
    ):
        with pytest.raises(OSError, match=message):
            replace_file(place, b"new")
    assert names(tmp_path) == ["pipe"]


@pytest.mark.parametrize("name", ["a\0b", "\ud800"])
def test_names_that_no_file_can_have(tmp_path: Path, name: str) -> None:
    for use in (lambda path: replace_file(path, b"new"), open_regular):
        with pytest.raises(OSError, match="no file can have this name"):
            use(tmp_path / name)
    assert names(tmp_path) == []


@pytest.mark.parametrize("name", ["a\0b", "\ud800"])
def test_every_writer_refuses_a_name_that_no_file_can_have(tmp_path: Path, name: str) -> None:
    log = replace(random_log(), endings=np.full(3, TERMINATED))
    tree = TripleTree(5).fit(log)
    for write in (
        lambda: tree.save(tmp_path / name),
        lambda: log.to_npz(tmp_path / f"{name}.npz"),
        lambda: tree.report(log, tmp_path / f"{name}.html"),
        lambda: leaf_map(tree, "x0", "x1").save(tmp_path / f"{name}.png"),
    ):
        with pytest.raises(TripleTreeError, match="no file can have this name"):
            write()
    assert names(tmp_path) == []


def test_only_regular_files_are_opened(tmp_path: Path, path: Path) -> None:
    with open_regular(path) as stream:
        assert stream.read() == b"old"
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match=r"it is a pipe, not a regular file\. Save what comes out of it to a file first"):
        open_regular(tmp_path / "pipe")
    with pytest.raises(OSError, match="it is a device, not a regular file"):
        open_regular("/dev/null")
    with pytest.raises(OSError, match="it is a folder, not a file"):
        open_regular(tmp_path)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "socket"))
        with pytest.raises(OSError, match="it is a socket, not a regular file"):
            open_regular(tmp_path / "socket")
    with pytest.raises(FileNotFoundError, match="No such file"):
        open_regular(tmp_path / "nowhere")


def test_names_are_shown_as_unicode() -> None:
    assert shown(Path("run.csv")) == "run.csv"
    assert shown(os.fsdecode(b"l\xe4uf.csv")) == "l?uf.csv"


def test_threads_that_write_one_file_each_write_it_whole(path: Path) -> None:
    contents = [bytes([65 + k]) * 100_000 for k in range(6)]
    meeting = threading.Barrier(len(contents) + 1)
    failures: list[BaseException] = []

    def work(content: bytes) -> None:
        try:
            with replacing(path) as stream:
                stream.write(content[:50_000])
                meeting.wait(60)  # all of them are in the middle of the same file
                stream.write(content[50_000:])
            for _ in range(20):
                replace_file(path, content)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(content,)) for content in contents]
    for thread in threads:
        thread.start()
    meeting.wait(60)
    seen = set()
    while any(thread.is_alive() for thread in threads):
        seen.add(path.read_bytes())
    for thread in threads:
        thread.join()
    assert failures == []
    assert seen <= {b"old", *contents}
    assert path.read_bytes() in contents
    assert names(path.parent) == ["file"]


def test_nothing_is_said_when_all_is_well(path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        replace_file(path, b"new")


def test_reasons() -> None:
    assert reason(OSError(errno.ENOENT, "No such file")) == "No such file"
    assert reason(OSError("it is full.")) == "it is full"
    assert reason(ValueError("embedded null byte")) == "embedded null byte"
