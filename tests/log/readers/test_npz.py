"""NPZ files: strangers' arrays, the project's own logs, and hostile ones."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.logs import random_log
from tripletree.errors import LogError, ParameterError
from tripletree.log import read_log


def test_arrays_under_usual_names(tmp_path: Path) -> None:
    np.savez_compressed(
        tmp_path / "log.npz",
        observations=np.arange(6.0).reshape(3, 2) / 4,
        actions=np.array([0, 1, 0]),
        rewards=np.array([1, 2, 3]),
        terminals=np.array([False, True, False]),
    )
    log = read_log(tmp_path / "log.npz")
    assert log.n_features == 2
    assert log.starts.tolist() == [0, 2, 3]


def test_pickles_are_never_loaded(tmp_path: Path) -> None:
    class Bomb:
        def __reduce__(self) -> Any:
            return (Path.touch, (tmp_path / "exploded",))

    np.savez(tmp_path / "log.npz", states=np.array([Bomb()], object), allow_pickle=True)
    with pytest.raises(LogError, match="holds Python objects in `states`, which are never loaded"):
        read_log(tmp_path / "log.npz")
    assert not (tmp_path / "exploded").exists()


def test_damaged_files(tmp_path: Path) -> None:
    path = tmp_path / "log.npz"
    random_log().to_npz(path)
    content = path.read_bytes()
    middle = len(content) // 2
    for damaged in (b"", b"PK", b"PK\x03\x04", content[:middle], content[:middle] + b"!" * 50 + content[middle + 50 :]):
        path.write_bytes(damaged)
        with pytest.raises(LogError, match=r"damaged|no .npz file"):
            read_log(path)


def test_a_single_array_is_no_archive(tmp_path: Path) -> None:
    np.save(tmp_path / "one.npy", np.zeros(3))
    (tmp_path / "one.npy").rename(tmp_path / "one.npz")
    with pytest.raises(LogError, match=r"is no .npz file, or damaged: File is not a zip file"):
        read_log(tmp_path / "one.npz")


def test_a_zip_of_something_else(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "log.npz", "w") as archive:
        archive.writestr("readme.txt", "hello")
    with pytest.raises(LogError, match=r"damaged|of type bytes|No column|shape"):
        read_log(tmp_path / "log.npz")


def _resave(path: Path, **changes: Any) -> None:
    with np.load(path) as archive:
        arrays = {name: archive[name] for name in archive.files} | changes
    np.savez(path, **{name: array for name, array in arrays.items() if array is not None})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"tripletree_log": np.array("not json")}, "does not hold what Log.to_npz writes"),
        ({"tripletree_log": np.array("[]")}, "not a schema|does not hold"),
        ({"tripletree_log": np.array('{"features": 3}')}, "log.npz is damaged"),
        ({"states": None}, "does not hold what Log.to_npz writes"),
        ({"extra": np.zeros(3)}, "does not hold what Log.to_npz writes"),
        ({"states": np.zeros((3, 2))}, r"log.npz is damaged: Log.states has shape \(3, 2\)"),
        ({"states": np.zeros(3)}, "log.npz is damaged"),
        ({"final_states": np.zeros(3)}, "log.npz is damaged"),
        ({"actions": np.full(120, 99)}, "log.npz is damaged: .*no label"),
        ({"states": np.full((120, 2), np.nan)}, "log.npz is damaged: .*finite"),
        ({"endings": np.array(["a", "b", "c"])}, "log.npz is damaged"),
    ],
)
def test_own_files_that_were_tampered_with(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    path = tmp_path / "log.npz"
    random_log().to_npz(path)
    _resave(path, **changes)
    with pytest.raises(LogError, match=message):
        read_log(path)


def test_own_files_take_no_roles(tmp_path: Path) -> None:
    random_log().to_npz(tmp_path / "log.npz")
    with pytest.raises(ParameterError, match="holds its own schema; reward, ignore cannot be given"):
        read_log(tmp_path / "log.npz", reward="x", ignore=["y"])
