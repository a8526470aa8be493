"""Files: paths that lead nowhere or to something else, NPZ and Parquet, hostile and damaged ones."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.logs import random_log
from tripletree.errors import LogError, MissingDependencyError, ParameterError
from tripletree.log import files, read_log
from tripletree.log.files import read_table

GOOD = "episode,x,action,reward\n0,0.5,1,2\n"
TABLE = {"episode": [0, 0, 1], "x": [0.5, 1, 2], "action": ["up", "down", "up"], "reward": [1, 2, 3]}


def test_a_mistyped_name(tmp_path: Path) -> None:
    (tmp_path / "lander.csv").write_text(GOOD)
    with pytest.raises(LogError, match=r"There is no file .*landr.csv. Did you mean `lander.csv`"):
        read_log(tmp_path / "landr.csv")
    with pytest.raises(LogError, match=r"There is no file .*zzz.csv\.$"):
        read_log(tmp_path / "nowhere" / "zzz.csv")


@pytest.mark.parametrize("name", ["log.xlsx", "log.txt", "log", "log.pkl"])
def test_another_ending(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(GOOD)
    with pytest.raises(LogError, match=r"logs are read from \.csv, \.tsv, \.parquet, \.pq, \.npz, \.h5, \.hdf5\."):
        read_log(tmp_path / name)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("log.csv", b"PAR1....", "named as csv, but its content is parquet"),
        ("log.parquet", b"PK\x03\x04...", "named as parquet, but its content is npz"),
    ],
)
def test_a_wrong_ending(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(LogError, match=message):
        read_log(tmp_path / name)


def test_endings_in_capitals(tmp_path: Path) -> None:
    (tmp_path / "LOG.CSV").write_text(GOOD)
    assert len(read_log(tmp_path / "LOG.CSV")) == 1


@pytest.mark.parametrize("path", [None, 3, b"run.csv", np.zeros(3)])
def test_no_path_at_all(path: Any) -> None:
    with pytest.raises(LogError, match=r"Expected a path, a table, a buffer or a list of episodes, got "):
        read_log(path)
    with pytest.raises(LogError, match=r"Expected a path, got "):
        read_table(path)


def test_unknown_options_come_before_the_file() -> None:
    with pytest.raises(ParameterError, match=r"There is no option `rewards`. Did you mean `reward`"):
        read_log("nowhere.csv", rewards="r")  # type: ignore[call-arg]


def test_a_file_that_may_not_be_read(ordinary_user: Path) -> None:
    (ordinary_user / "log.csv").write_text(GOOD)
    (ordinary_user / "log.csv").chmod(0)
    with pytest.raises(LogError, match="cannot be read: Permission denied"):
        read_log(ordinary_user / "log.csv")


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
    with pytest.raises(LogError, match=r"holds Python objects in `states`\. They are never loaded"):
        read_log(tmp_path / "log.npz")
    assert not (tmp_path / "exploded").exists()


def test_damaged_npz(tmp_path: Path) -> None:
    path = tmp_path / "log.npz"
    random_log().to_npz(path)
    content = path.read_bytes()
    middle = len(content) // 2
    for damaged in (b"", b"PK", b"PK\x03\x04", content[:middle], content[:middle] + b"!" * 50 + content[middle + 50 :]):
        path.write_bytes(damaged)
        with pytest.raises(LogError, match=r"damaged|not an .npz file"):
            read_log(path)


def test_a_single_array_is_no_archive(tmp_path: Path) -> None:
    np.save(tmp_path / "one.npy", np.zeros(3))
    (tmp_path / "one.npy").rename(tmp_path / "one.npz")
    with pytest.raises(LogError, match=r"is not an .npz file, or damaged: File is not a zip file"):
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
        ({"actions": np.full(120, 99)}, "log.npz is damaged: .*without a label"),
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
    with pytest.raises(ParameterError, match="has its own schema; reward, ignore cannot be given"):
        read_log(tmp_path / "log.npz", reward="x", ignore=["y"])


def write_parquet(path: Path, table: pa.Table) -> Path:
    pq.write_table(table, path)
    return path


def test_types_of_columns(tmp_path: Path) -> None:
    table = pa.table(TABLE | {"ok": [True, False, True], "small": np.array([1, 2, 3], np.float32) / 8})
    log = read_log(write_parquet(tmp_path / "log.pq", table))
    assert log.schema.feature_names == ("x", "ok", "small")
    assert log.states[:, 2].tolist() == [0.125, 0.25, 0.375]
    assert log.schema.action.labels == ("down", "up")


def test_words_in_a_dictionary_and_states_in_lists(tmp_path: Path) -> None:
    states = pa.array([[0.5, 1], [2, 3], [4, 5]], pa.list_(pa.float64()))
    words = pa.array(TABLE["action"]).dictionary_encode()
    log = read_log(write_parquet(tmp_path / "log.parquet", pa.table(TABLE | {"action": words, "x": states})))
    assert log.states.tolist() == [[0.5, 1], [2, 3], [4, 5]]
    assert log.schema.action.labels == ("down", "up")


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (pa.table(TABLE | {"x": [0.5, None, None]}), r"`x` in 2 rows \(first in row 1\)"),
        (pa.table(TABLE | {"x": [[1], [1, 2], [3]]}), "Column `x` is ragged"),
        (pa.table(TABLE | {"x": [{"a": 1}] * 3}), r"Column `x` holds Python objects \(dict\)"),
        (pa.table(TABLE | {"episode": [0, None, 1]}), r"`episode` is missing \(NaN\) in row 1"),
        (pa.table({name: pa.array([], pa.float64()) for name in TABLE}), "holds no samples"),
        (
            pa.table([[0], [1.5], [2.5], [1], [2]], ["episode", "x", "x", "action", "reward"]),
            "`x` is the name of more than one column",
        ),
    ],
)
def test_bad_tables(tmp_path: Path, table: pa.Table, message: str) -> None:
    with pytest.raises(LogError, match=message):
        read_log(write_parquet(tmp_path / "log.parquet", table))


def test_damaged_parquet(tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "log.parquet", pa.table(TABLE))
    content = path.read_bytes()
    for damaged in (b"", b"PAR1", content[:-20], b"PAR1" + b"\xff" * 200 + b"PAR1"):
        path.write_bytes(damaged)
        with pytest.raises(LogError, match=r"is not a Parquet file, or damaged|cannot be read"):
            read_log(path)


def test_without_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_parquet(tmp_path / "log.parquet", pa.table(TABLE))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingDependencyError, match=r'pip install "tripletree\[parquet\]"'):
        read_log(path)


def test_a_table_need_not_be_a_log(tmp_path: Path) -> None:
    (tmp_path / "states.csv").write_text("pos,name\n1.5,a\n2.5,b\n")
    np.savez(tmp_path / "states.npz", pos=[1.5, 2.5])
    pq.write_table(pa.table({"pos": [1.5, 2.5]}), tmp_path / "states.pq")
    assert {name: column.tolist() for name, column in read_table(tmp_path / "states.csv").items()} == {
        "pos": [1.5, 2.5],
        "name": ["a", "b"],
    }
    for name in ("states.npz", "states.pq"):
        assert read_table(str(tmp_path / name))["pos"].tolist() == [1.5, 2.5]
    with pytest.raises(LogError, match=r"There is no file .*state.csv\. Did you mean `states.csv`\?"):
        read_table(tmp_path / "state.csv")


def test_capitals_in_a_mistyped_name(tmp_path: Path) -> None:
    (tmp_path / "Lander.csv").write_text(GOOD)
    with pytest.raises(LogError, match=r"Did you mean `Lander.csv`\?"):
        read_log(tmp_path / "lander.CSV")


def test_a_file_that_does_not_fit_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def exhausted(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(files, "read_csv", exhausted)
    (tmp_path / "run.csv").write_text(GOOD)
    with pytest.raises(LogError, match=r"run.csv does not fit in memory\. Read only some of its rows\."):
        read_log(tmp_path / "run.csv")


def test_own_files_are_read_without_options(tmp_path: Path) -> None:
    log = random_log()
    log.to_npz(tmp_path / "log.npz", compress=True)
    assert read_log(tmp_path / "log.npz").fingerprint() == log.fingerprint()
    with pytest.raises(ParameterError, match=r"ending cannot be given\. Read it without options\."):
        read_log(tmp_path / "log.npz", ending="truncated")


def test_a_file_that_is_not_there_is_not_found(tmp_path: Path) -> None:
    (tmp_path / "run.csv").write_text("a")
    with pytest.raises(FileNotFoundError, match=r"^There is no file .*run\.cvs\. Did you mean `run\.csv`\?$") as caught:
        read_log(tmp_path / "run.cvs")
    assert isinstance(caught.value, LogError)


@pytest.mark.parametrize("ending", ["npz", "parquet"])
def test_options_that_repeat_the_schema_change_nothing(tmp_path: Path, ending: str) -> None:
    log = random_log()
    path = tmp_path / f"log.{ending}"
    getattr(log, f"to_{ending}")(path)
    schema = log.schema
    names = list(schema.feature_names)
    again = read_log(path, features=names, action=list(schema.action.names), action_kind=schema.action.kind)
    assert again.fingerprint() == log.fingerprint()
    assert "guessed" not in again.reading


@pytest.mark.parametrize(
    ("name", "message"),
    [("notes", "notes has no ending; logs are read from"), ("ppo.zip", "tripletree record ENV --agent FILE -o LOG")],
)
def test_files_that_are_no_logs_say_what_they_may_be(tmp_path, name, message):
    (tmp_path / name).write_bytes(b"PK\x03\x04" if name.endswith("zip") else b"hello")
    with pytest.raises(LogError, match=message):
        read_log(tmp_path / name)
