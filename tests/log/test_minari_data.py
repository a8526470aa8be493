"""Minari datasets as Arrow files, made by hand: what they hold, what is incomplete, and names that lead nowhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from tripletree import read_log
from tripletree.errors import LogError, LogNotFoundError

BOX = {"type": "Box", "dtype": "float32", "shape": [2]}


def episode(steps: int, seed: int) -> Any:
    """Return an episode as Minari writes it: one row more than steps, with the final state and padding."""
    rng = np.random.default_rng(seed)
    rows = steps + 1
    lists = pa.FixedSizeListArray.from_arrays(rng.normal(size=2 * rows).astype(np.float32), 2)
    inner = pa.StructArray.from_arrays([lists, pa.array(rng.integers(0, 3, rows))], names=["pos", "mode"])
    ended = np.arange(rows) == steps - 1
    return pa.table(
        {
            "observations": inner,
            "actions": pa.array(rng.integers(0, 2, rows)),
            "rewards": rng.normal(size=rows),
            "terminations": ended,
            "truncations": np.zeros(rows, bool),
            "infos": pa.StructArray.from_arrays([pa.array(rng.normal(size=rows))], names=["hidden"]),
        }
    )


def dataset(place: Path, data_format: str = "arrow", space: Any = BOX, **metadata: Any) -> Path:
    data = place / "toy" / "log-v0" / "data"
    for number, steps in enumerate((3, 2)):
        (data / str(number)).mkdir(parents=True)
        path = data / str(number) / f"part-0.{data_format}"
        if data_format == "parquet":
            parquet.write_table(episode(steps, number), path)
        else:
            with pa.ipc.new_file(path, episode(steps, number).schema) as writer:
                writer.write_table(episode(steps, number))
    described = {"dataset_id": "toy/log-v0", "data_format": data_format, "observation_space": json.dumps(space)}
    (data / "metadata.json").write_text(json.dumps(described | metadata))
    return data.parent


@pytest.mark.parametrize("data_format", ["arrow", "parquet"])
def test_episodes_in_files_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data_format: str) -> None:
    folder = dataset(tmp_path, data_format)
    log = read_log(folder)
    assert log.schema.feature_names == ("pos_0", "pos_1", "mode")
    assert log.starts.tolist() == [0, 3, 5]
    assert log.endings.tolist() == [1, 1]
    first = episode(3, 0)
    pos = np.array([row["pos"] for row in first["observations"].to_pylist()])
    np.testing.assert_array_equal(log.states[:3, :2], pos[:3])
    np.testing.assert_array_equal(log.final_states[0, :2], pos[3])
    np.testing.assert_array_equal(log.rewards[:3], first["rewards"].to_numpy()[:3])
    assert "set aside    infos" in log.reading
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    assert read_log("toy/log-v0").fingerprint() == log.fingerprint()
    with pytest.raises(LogNotFoundError, match=r"It has `toy/log-v0`\. Did you mean `toy/log-v0`\?"):
        read_log("toy/log-v1")


def test_no_datasets_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "nowhere"))
    with pytest.raises(
        LogNotFoundError, match=r"no Minari dataset of this name in .*nowhere\. It has none\. To fetch one:"
    ):
        read_log("toy/log-v0")


@pytest.mark.parametrize(
    "space",
    [
        {"type": "Box", "shape": [96, 96, 3]},
        {"type": "Dict", "subspaces": {"view": {"type": "Box", "shape": [96, 96, 3]}, "pos": BOX}},
        {"type": "Tuple", "subspaces": [BOX, {"type": "Box", "shape": [96, 96, 3]}]},
    ],
)
def test_images_are_known_by_their_space(tmp_path: Path, space: Any) -> None:
    with pytest.raises(LogError, match=r"of toy/log-v0 holds images or other blocks \(96 x 96 x 3 values a step\)"):
        read_log(dataset(tmp_path, space=space))


@pytest.mark.parametrize("space", [None, 3, "[", [], {"type": "Box", "shape": "none"}])
def test_a_space_that_says_nothing(tmp_path: Path, space: Any) -> None:
    assert read_log(dataset(tmp_path, space=space)).n_samples == 5


@pytest.mark.parametrize("text", ["", "[]", "{", "[" * 100_000, "3"])
def test_damaged_metadata(tmp_path: Path, text: str) -> None:
    folder = dataset(tmp_path)
    (folder / "data" / "metadata.json").write_text(text)
    with pytest.raises(LogError, match=r"metadata.json is damaged: expected a JSON object. Download the dataset again"):
        read_log(folder)


def test_metadata_without_data(tmp_path: Path) -> None:
    (tmp_path / "metadata.json").write_text("{}")
    with pytest.raises(LogError, match=r"is an incomplete Minari dataset: .* has no main_data.hdf5 and no Arrow files"):
        read_log(tmp_path)


@pytest.mark.parametrize("data_format", ["arrow", "parquet"])
@pytest.mark.parametrize("keep", [0, 10, 400])
def test_half_a_file(tmp_path: Path, data_format: str, keep: int) -> None:
    folder = dataset(tmp_path, data_format)
    path = folder / "data" / "1" / f"part-0.{data_format}"
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(LogError, match=rf"part-0.{data_format} is damaged: .*Download the dataset again"):
        read_log(folder)


@pytest.mark.parametrize("own", ["3", "{}", "not json", '{"features": [], "action": {}}'])
def test_a_schema_of_ours_that_was_changed(tmp_path: Path, own: str) -> None:
    with pytest.raises(LogError, match="toy/log-v0 is damaged"):
        read_log(dataset(tmp_path, tripletree_log=own))


def test_a_file_that_unpacks_to_far_more(tmp_path: Path) -> None:
    folder = dataset(tmp_path, "parquet")
    n = 40_000_000
    table = pa.table({"rewards": pa.DictionaryArray.from_arrays(np.zeros(n, np.int8), [1.0])})
    parquet.write_table(table, folder / "data" / "1" / "part-0.parquet", compression="zstd")
    with pytest.raises(LogError, match=r"would unpack to 320,000,000; .*If you trust it, load it with Minari yourself"):
        read_log(folder)
