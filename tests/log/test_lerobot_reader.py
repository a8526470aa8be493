"""LeRobot datasets: both versions hold the same log; what is incomplete or damaged is said in one line."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from tests.data.make import HERE, LENGTHS, recording
from tripletree import read_log
from tripletree.errors import LogError

VERSIONS = ["lerobot-v2.1", "lerobot-v3.0"]


@pytest.fixture
def dataset(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    return Path(shutil.copytree(HERE / getattr(request, "param", VERSIONS[1]), tmp_path / "data set"))


def change(folder: Path, **features: Any) -> None:
    """Change the description of some features; None takes one away."""
    path = folder / "meta" / "info.json"
    info = json.loads(path.read_text())
    info["features"] = {k: v for k, v in {**info["features"], **features}.items() if v is not None}
    path.write_text(json.dumps(info))


@pytest.mark.parametrize("version", VERSIONS)
def test_what_was_recorded_is_read(version: str) -> None:
    log, data = read_log(HERE / version), recording()
    assert log.schema.feature_names == ("shoulder_pan.pos", "gripper.pos")
    assert log.schema.action.names == ("action.shoulder_pan.pos", "action.gripper.pos")
    np.testing.assert_array_equal(log.states, np.concatenate([states[:-1] for states in data["states"]]))
    np.testing.assert_array_equal(log.actions, np.concatenate(data["actions"]))
    np.testing.assert_array_equal(log.rewards, np.concatenate(data["rewards"]))
    assert np.diff(log.starts).tolist() == list(LENGTHS)
    assert "set aside    timestamp, index, task_index, observation.images.top" in log.reading


def test_roles_of_the_user_come_first() -> None:
    log = read_log(HERE / VERSIONS[0], ignore=["gripper.pos"], action=["action.gripper.pos"], ending="terminated")
    assert log.schema.feature_names == ("shoulder_pan.pos",)
    assert log.schema.action.names == ("action.gripper.pos",)
    assert log.endings.tolist() == [1, 1]


@pytest.mark.parametrize("names", [None, ["dim"], ["twice", "twice"], "motor", {"motors": 3}])
def test_names_that_do_not_fit_are_numbers(dataset: Path, names: Any) -> None:
    change(dataset, **{"observation.state": {"dtype": "float32", "shape": [2], "names": names}})
    assert read_log(dataset).schema.feature_names == ("state_0", "state_1")


def test_names_that_stand_for_a_role_get_a_prefix(dataset: Path) -> None:
    change(dataset, **{"observation.state": {"dtype": "float32", "shape": [2], "names": ["reward", "x"]}})
    log = read_log(dataset)
    assert log.schema.feature_names == ("state.reward", "state.x")
    np.testing.assert_array_equal(log.rewards, np.concatenate(recording()["rewards"]))


def test_only_pictures(dataset: Path) -> None:
    change(dataset, **{"observation.state": None})
    with pytest.raises(
        LogError, match=r"`observation.images.top` of data set holds images .*480 x 640 x 3 values a step"
    ):
        read_log(dataset)


@pytest.mark.parametrize("dataset", VERSIONS, indirect=True)
def test_a_download_that_stopped(dataset: Path) -> None:
    file = sorted((dataset / "data" / "chunk-000").iterdir())[-1]
    parquet.write_table(parquet.read_table(file).slice(0, 2), file)
    with pytest.raises(
        LogError, match=r"data set is incomplete: episode \d has \d rows? in the data and \d in the metadata"
    ):
        read_log(dataset)


def test_no_data_at_all(dataset: Path) -> None:
    shutil.rmtree(dataset / "data")
    with pytest.raises(LogError, match=r"has no file data/chunk-\*/\*.parquet. Download the whole dataset"):
        read_log(dataset)


def test_a_column_that_is_described_and_not_there(dataset: Path) -> None:
    change(dataset, **{"observation.force": {"dtype": "float32", "shape": [2], "names": None}})
    with pytest.raises(LogError, match=r"its files have no column `observation.force`, which meta/info.json names"):
        read_log(dataset)


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"features": 3}', '{"features": {"a": 3}}', "{", "[" * 100_000, "\xff"]
)
def test_damaged_descriptions(dataset: Path, text: str) -> None:
    (dataset / "meta" / "info.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(LogError, match=r"info.json (is damaged|does not list the features).*Download it again"):
        read_log(dataset)


@pytest.mark.parametrize("dataset", VERSIONS[:1], indirect=True)
@pytest.mark.parametrize("text", ["3\n", "{\n", '{"length": 4}\n', '{"episode_index": 0, "length": "4"}\n'])
def test_damaged_lists_of_episodes(dataset: Path, text: str) -> None:
    (dataset / "meta" / "episodes.jsonl").write_text(text)
    with pytest.raises(LogError, match=r"is damaged|is incomplete"):
        read_log(dataset)


def test_ragged_lists_are_refused(dataset: Path) -> None:
    file = dataset / "data" / "chunk-000" / "file-000.parquet"
    table = parquet.read_table(file)
    place = table.column_names.index("observation.state")
    ragged = pa.array([[1.0, 2.0]] * 6 + [[1.0]])
    parquet.write_table(table.set_column(place, "observation.state", ragged), file)
    with pytest.raises(
        LogError, match=r"`state` is ragged|`observation.state`.*ragged|holds Python objects|every row must"
    ):
        read_log(dataset)
