"""HDF5 files: the layouts that are known, those that are not, and files that want to harm."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.data.make import HERE, LENGTHS, recording
from tripletree import read_log
from tripletree.errors import LogError, TripleTreeWarning


@pytest.fixture
def h5py(need: Any) -> Any:
    return need("h5py")


def write(h5py: Any, path: Path, **content: Any) -> Path:
    with h5py.File(path, "w") as file:
        for name, values in content.items():
            file[name.replace("__", "/")] = values
    return path


STEPS = {
    "observations": np.arange(12.0).reshape(6, 2) / 7,
    "actions": np.arange(6) % 2,
    "rewards": np.ones(6),
    "terminals": np.arange(6) % 3 == 2,
}


def test_d4rl(h5py: Any) -> None:
    log, data = read_log(HERE / "d4rl.hdf5"), recording()
    assert log.schema.feature_names == ("observations_0", "observations_1")
    np.testing.assert_array_equal(log.states, np.concatenate([states[:-1] for states in data["states"]]))
    np.testing.assert_array_equal(log.final_states, [states[-1] for states in data["states"]])
    assert log.endings.tolist() == [1, 2]
    assert "set aside    metadata, infos" in log.reading


def test_robomimic(h5py: Any) -> None:
    log, data = read_log(HERE / "robomimic.hdf5"), recording()
    assert log.schema.feature_names == ("eef_pos_0", "eef_pos_1")
    assert log.episode_ids.tolist() == ["demo_2", "demo_10"]
    assert np.diff(log.starts).tolist() == list(LENGTHS)
    np.testing.assert_array_equal(log.states, np.concatenate([states[:-1] for states in data["states"]]))
    np.testing.assert_array_equal(log.final_states, [states[-1] for states in data["states"]])
    np.testing.assert_array_equal(log.actions, np.concatenate(data["actions"]))
    assert {finding.code for finding in log.findings} == {"set-aside"}
    assert "agentview_image" in log.reading


def test_robomimic_without_observations(h5py: Any, tmp_path: Path) -> None:
    path = write(
        h5py,
        tmp_path / "demo.hdf5",
        data__demo_0__states=STEPS["observations"],
        data__demo_0__actions=STEPS["actions"],
        data__demo_0__rewards=STEPS["rewards"],
    )
    assert read_log(path).schema.feature_names == ("states_0", "states_1")


def test_labels_as_text(h5py: Any, tmp_path: Path) -> None:
    path = write(h5py, tmp_path / "log.h5", **STEPS | {"actions": ["left", "right"] * 3})
    assert read_log(path).schema.action.labels == ("left", "right")


def external(h5py: Any, path: Path) -> None:
    write(h5py, path.with_name("other.h5"), secret=np.ones(6))
    with h5py.File(write(h5py, path, **STEPS), "a") as file:
        file["hidden"] = h5py.ExternalLink("other.h5", "/secret")


def raw_bytes(h5py: Any, path: Path) -> None:
    secret = path.with_name("secret.txt")
    secret.write_bytes(b"x" * 100)
    with h5py.File(write(h5py, path, **STEPS), "a") as file:
        file.create_dataset("hidden", (6,), "u1", external=[(str(secret), 0, 6)])


def virtual(h5py: Any, path: Path) -> None:
    write(h5py, path.with_name("other.h5"), secret=np.ones(6))
    layout = h5py.VirtualLayout((6,), "f8")
    layout[:] = h5py.VirtualSource(str(path.with_name("other.h5")), "secret", (6,))
    with h5py.File(write(h5py, path, **STEPS), "a") as file:
        file.create_virtual_dataset("hidden", layout)


def never_written(h5py: Any, path: Path) -> None:
    with h5py.File(path, "w") as file:
        for name in STEPS:
            file.create_dataset(name, (10**10,), "f8", chunks=(1000,))


def lists(h5py: Any, path: Path) -> None:
    with h5py.File(write(h5py, path, **STEPS), "a") as file:
        file.create_dataset("hidden", (6,), h5py.vlen_dtype(np.float64))


def records(h5py: Any, path: Path) -> None:
    write(h5py, path, **STEPS, hidden=np.zeros(6, [("a", "f8"), ("b", "i4")]))


def references(h5py: Any, path: Path) -> None:
    with h5py.File(write(h5py, path, **STEPS), "a") as file:
        file.create_dataset("hidden", (6,), h5py.ref_dtype)


def circles(h5py: Any, path: Path) -> None:
    with h5py.File(path, "w") as file:
        groups = [file.create_group(f"a{number}") for number in range(30)]
        for one in groups:
            for number, other in enumerate(groups):
                one[f"to{number}"] = other
        groups[0]["b"] = np.ones(3)


def other_layout(h5py: Any, path: Path) -> None:
    write(h5py, path, run__sensor__speed=np.ones(4), run__sensor__temperature=np.ones((4, 2)))


def pictures(h5py: Any, path: Path) -> None:
    write(h5py, path, **STEPS | {"observations": np.zeros((6, 8, 8, 3), np.uint8)})


def film(h5py: Any, path: Path) -> None:
    write(h5py, path, data__demo_0__obs__view=np.zeros((6, 8, 8, 3), np.uint8), data__demo_0__actions=np.ones((6, 1)))


def odd_demo(h5py: Any, path: Path) -> None:
    parts = {"obs__x": np.ones((6, 2)), "actions": np.ones((6, 1)), "rewards": np.ones(6)}
    content = {f"data__demo_0__{name}": values for name, values in parts.items()}
    write(h5py, path, **content, data__demo_1__obs__x=np.ones((6, 3)), data__demo_1__actions=np.ones((6, 1)))


def short_demo(h5py: Any, path: Path) -> None:
    write(h5py, path, data__demo_0__obs__x=np.ones((3, 2)), data__demo_0__actions=np.ones((6, 1)))


def no_steps(h5py: Any, path: Path) -> None:
    write(h5py, path, data__demo_0__obs__x=np.ones((0, 2)), data__demo_0__actions=np.ones((0, 1)))


def empty(h5py: Any, path: Path) -> None:
    write(h5py, path)


def half(h5py: Any, path: Path) -> None:
    content = write(h5py, path, **STEPS).read_bytes()
    path.write_bytes(content[: len(content) // 2])


def garbage(_: Any, path: Path) -> None:
    path.write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(range(256)) * 20)


BAD: dict[str, tuple[Callable[[Any, Path], Any], str]] = {
    "a link to another file": (external, "`hidden` is a link to another file, which is never followed. Copy the data"),
    "bytes of another file": (raw_bytes, "`/hidden` takes its values from another file, which is never read"),
    "rows of another file": (virtual, "`/hidden` takes its values from another file, which is never read"),
    "what was never written": (never_written, "would unpack to .*If you trust it, load it with h5py yourself"),
    "lists": (lists, r"holds objects in `/hidden` .*Save arrays of numbers, every row of the same length"),
    "records": (records, "holds records in `/hidden`.*Save each field as a dataset of its own"),
    "references": (references, "holds objects in `/hidden`"),
    "circles": (circles, "has no layout that is known"),
    "another layout": (
        other_layout,
        r"no layout that is known \(D4RL, robomimic, Minari, d3rlpy\)\. It holds `run/sensor/speed \(4,\)`, .*h5py",
    ),
    "pictures": (
        pictures,
        r"`observations` of log.hdf5 holds images .*\(8 x 8 x 3 values a step\).*Log the state as well",
    ),
    "a film": (film, r"`obs/view` of log.hdf5 holds images .*\(8 x 8 x 3 values a step\)"),
    "demonstrations that differ": (odd_demo, r"episode demo_1 differs from the first one in `rewards`"),
    "demonstrations that are too short": (short_demo, "`x` of episode demo_0 has 3 rows for 6 actions"),
    "no steps": (no_steps, "holds no episode with at least one step"),
    "nothing": (empty, "has no layout that is known .*It holds nothing"),
    "half a file": (half, "log.hdf5 is not an HDF5 file, or damaged: .*truncated file.*Download or write it again"),
    "garbage": (garbage, "log.hdf5 is not an HDF5 file, or damaged"),
}


@pytest.mark.parametrize(("make", "message"), BAD.values(), ids=BAD)
def test_files_that_are_refused(h5py: Any, tmp_path: Path, make: Callable[[Any, Path], Any], message: str) -> None:
    path = tmp_path / "log.hdf5"
    make(h5py, path)
    with pytest.raises(LogError, match=message) as caught:
        read_log(path)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500


def test_any_byte_may_be_wrong(h5py: Any, tmp_path: Path) -> None:
    content = bytearray(write(h5py, tmp_path / "good.hdf5", **STEPS).read_bytes())
    rng = np.random.default_rng(0)
    path = tmp_path / "bad.hdf5"
    refused = 0
    for _ in range(150):
        spoiled = bytearray(content)
        for place in rng.integers(0, 2048, 3).tolist():
            spoiled[place] = int(rng.integers(256))
        path.write_bytes(spoiled)
        try:
            with warnings.catch_warnings():
                # A letter of a name may be wrong, too: then a column is missing.
                warnings.simplefilter("ignore", TripleTreeWarning)
                read_log(path)
        except LogError:
            refused += 1
    assert refused


def test_columns_of_any_name(h5py: Any, tmp_path: Path) -> None:
    """In a flat file, they are found as in any table: guessed, or given."""
    names = {"speed": np.arange(6) / 7, "throttle": np.arange(6) % 2, "points": np.ones(6), "lap": np.arange(6) // 3}
    path = write(h5py, tmp_path / "car.h5", **names)
    with pytest.raises(LogError, match=r"Nothing says where episodes begin or end"):
        read_log(path)
    log = read_log(path, action="throttle", reward="points", episode="lap")
    assert log.schema.feature_names == ("speed",)
    assert log.n_episodes == 2
