"""A save that fails, or dies, leaves the old file or the new one: whole, readable, and nothing in its way."""

from __future__ import annotations

import errno
import os
import resource
import signal
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.store.models import random_model
from tripletree.errors import ModelFileError, TripleTreeWarning
from tripletree.model.fitted import Fitted
from tripletree.store import load, save


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """An old file, to be replaced."""
    path = tmp_path / "model.tripletree"
    save(random_model(1, provenance={"is": "old"}), path)
    return path


def new() -> Fitted:
    return random_model(2, provenance={"is": "new"})


def assert_old_and_alone(path: Path) -> None:
    assert load(path).provenance == {"is": "old"}
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def failing(code: int) -> Callable[..., None]:
    def fail(*_: object, **__: object) -> None:
        raise OSError(code, os.strerror(code))

    return fail


@pytest.mark.parametrize("step", ["open", "fsync", "replace"])
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EIO, errno.EDQUOT])
def test_failing_step(step: str, code: int, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(os, step, failing(code))
        with pytest.raises(ModelFileError, match=rf"Cannot save the model to '.*': {os.strerror(code)}\.") as caught:
            save(new(), path)
    assert isinstance(caught.value.__cause__, OSError)
    assert_old_and_alone(path)


def test_disk_that_is_full_in_the_middle_of_the_file(path: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        with pytest.raises(ModelFileError, match="File too large"):
            save(new(), path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert_old_and_alone(path)


def test_interrupted_save(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(_: int) -> None:
        raise KeyboardInterrupt("Ctrl-C")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", interrupt)
        with pytest.raises(KeyboardInterrupt, match="Ctrl-C"):
            save(new(), path)
    assert_old_and_alone(path)


def test_read_only_folder(ordinary_user: Path) -> None:
    path = ordinary_user / "model.tripletree"
    save(random_model(1, provenance={"is": "old"}), path)
    ordinary_user.chmod(0o500)
    try:
        with pytest.raises(ModelFileError, match="Permission denied"):
            save(new(), path)
    finally:
        ordinary_user.chmod(0o700)
    assert_old_and_alone(path)


def test_write_protected_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.chmod(0o444)
    if os.geteuid() == 0:  # root may write to it
        monkeypatch.setattr(os, "access", lambda file, mode: False)
    with pytest.raises(ModelFileError, match=r"Cannot save .* it is write-protected"):
        save(new(), path)
    assert_old_and_alone(path)


def test_impossible_places(path: Path) -> None:
    places = {
        path.parent: "it is a folder. Give the name of a file in it",
        path.parent / "missing" / "model": "No such file or directory",
        path / "model": "Not a directory",
        path.parent / ("x" * 300): "File name too long",
    }
    for place, text in places.items():
        with pytest.raises(ModelFileError, match=f"Cannot save the model to '.*': {text}"):
            save(new(), place)
    assert_old_and_alone(path)


def test_folder_that_cannot_be_synced(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.fsync
    calls: list[int] = []

    def fsync(descriptor: int) -> None:
        calls.append(descriptor)
        if len(calls) == 2:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.warns(TripleTreeWarning, match=r"is saved, but its folder could not be synced \(Invalid") as caught:
        save(new(), path)
    assert len(calls) == 2
    assert caught[0].filename == __file__
    assert load(path).provenance == {"is": "new"}


def test_leftovers_of_killed_saves_are_removed_when_they_are_old(path: Path) -> None:
    now = time.time()
    for number, age in enumerate([10, 3000, 4000, 10**8]):
        leftover = path.parent / f".tripletree-{number:016x}.tmp"
        leftover.write_bytes(b"half")
        os.utime(leftover, (now - age, now - age))
    for name in (".tripletree-abc.tmp", "x.tripletree-0000000000000000.tmp", ".tripletree-0000000000000000.tmp.gz"):
        (path.parent / name).touch()
        os.utime(path.parent / name, (0, 0))
    save(new(), path)
    assert sorted(entry.name for entry in path.parent.iterdir()) == [
        ".tripletree-0000000000000000.tmp",
        ".tripletree-0000000000000000.tmp.gz",
        ".tripletree-0000000000000001.tmp",
        ".tripletree-abc.tmp",
        path.name,
        "x.tripletree-0000000000000000.tmp",
    ]


def child(work: Callable[[], object]) -> int:
    """Run ``work`` in a forked process, which never comes back here; return its number."""
    with warnings.catch_warnings():
        # The threads that Python sees are NumPy's and asleep.
        warnings.simplefilter("ignore", DeprecationWarning)
        number = os.fork()
    if number == 0:
        try:
            work()
        finally:
            os._exit(1)
    return number


def die(*_: object, **__: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize(("step", "then"), [("open", "old"), ("fsync", "old"), ("replace", "old"), ("folder", "new")])
def test_death_at_every_step(step: str, then: str, path: Path) -> None:
    def work() -> None:
        if step == "folder":
            real = os.replace

            def replace(one: str, other: str) -> None:
                real(one, other)
                die()

            os.replace = replace  # type: ignore[assignment]
        else:
            setattr(os, step, die)
        save(new(), path)

    _, status = os.waitpid(child(work), 0)
    assert os.WTERMSIG(status) == signal.SIGKILL
    assert load(path).provenance == {"is": then}


@pytest.fixture
def no_children_left() -> Iterator[list[int]]:
    """Child processes that are killed even when the test fails."""
    children: list[int] = []
    yield children
    for number in children:
        os.kill(number, signal.SIGKILL)
        os.waitpid(number, 0)


def test_200_kills_during_save_leave_the_old_or_the_new_file(path: Path, no_children_left: list[int]) -> None:
    models = [random_model(seed, leaves=300, provenance={"is": seed}) for seed in (3, 4)]
    contents = []
    for model in models:
        save(model, path)
        contents.append(path.read_bytes())
    begin = time.perf_counter()
    save(models[0], path)
    duration = min(time.perf_counter() - begin, 0.02)

    def work() -> None:
        os.write(started[1], b"!")
        while True:
            for model in models:
                save(model, path)

    rng = np.random.default_rng(0)
    seen: list[int] = []
    # Waits grow, so that a busy machine, too, gets as far as the second save sooner or later.
    while len(seen) < 200 or (len(seen) < 1000 and set(seen) != {3, 4}):
        started = os.pipe()
        no_children_left.append(child(work))
        os.read(started[0], 1)
        time.sleep(rng.uniform(0, (3 + len(seen) / 50) * duration))
        os.kill(no_children_left[0], signal.SIGKILL)
        os.waitpid(no_children_left.pop(), 0)
        os.close(started[0])
        os.close(started[1])
        seen.append(load(path).provenance["is"])
        assert path.read_bytes() == contents[seen[-1] - 3]
    assert set(seen) == {3, 4}

    leftovers = [entry for entry in path.parent.iterdir() if entry != path]
    assert leftovers, "no kill came in the middle of a save"
    for entry in leftovers:
        os.utime(entry, (0, 0))
    save(models[0], path)
    assert list(path.parent.iterdir()) == [path]
