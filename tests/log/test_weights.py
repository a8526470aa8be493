"""Weights of steps: through every door, in every file, and one for each step."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.logs import random_log
from tripletree.errors import LogError
from tripletree.log import Log, read_log
from tripletree.log.description import read_description
from tripletree.log.recording import Recording

TABLE: dict[str, Any] = {
    "episode": ["b", "a", "b", "c", "a"],
    "step": [0, 0, 1, 0, 1],
    "pos": [0.5, 1, 2, 3.5, 4],
    "mass": [5.0, 2.5, 1.0, 0.0, 3.0],
    "action": ["l", "r", "l", "r", "r"],
    "reward": [0.0, 1, 2, 3.5, 1],
}
WEIGHTED = random_log(3, lengths=(4, 2, 3)).weighted([1, 2, 3, 4, 0, 0, 7, 0.5, 1e-9])


def test_a_column_says_how_much_rows_count(tmp_path: Path) -> None:
    pd.DataFrame(TABLE).to_csv(tmp_path / "run.csv", index=False)
    pd.DataFrame(TABLE).to_parquet(tmp_path / "run.parquet")
    np.savez(tmp_path / "run.npz", **{name: np.asarray(column) for name, column in TABLE.items()})
    (tmp_path / "run.toml").write_text('[columns]\nweight = "mass"\n')
    logs = [
        *(read_log(tmp_path / f"run.{ending}", weight="mass") for ending in ("csv", "parquet", "npz")),
        read_log(tmp_path / "run.csv", **read_description(tmp_path / "run.toml")),
        Log.from_dict(TABLE, weight="mass"),
        Log.from_frame(pd.DataFrame(TABLE), weight="mass"),
    ]
    for log in logs:
        # Sorted by episode and step, as the rows are.
        assert log.weights is not None
        assert log.weights.tolist() == [5.0, 1.0, 2.5, 3.0, 0.0]
        assert log.schema.feature_names == ("pos",)
        assert "weight       mass (from 0 to 5)" in log.reading
    assert Log.from_dict(TABLE).schema.feature_names == ("pos", "mass")
    # By the name that scikit-learn has for it, it is known.
    known = Log.from_dict({name.replace("mass", "sample_weight"): column for name, column in TABLE.items()})
    assert known.weights is not None
    assert "weight       sample_weight (from 0 to 5) (guessed)" in known.reading


def test_arrays_and_missing_rows() -> None:
    states = np.array([[0.0], [1.0], [np.nan], [3.0], [4.0]])
    log = Log.from_arrays(states, [0, 1, 0, 1, 0], np.zeros(5), starts=[0], weights=[1, 2, 3, 4, 5], missing="drop")
    assert log.weights is not None
    assert log.weights.tolist() == [1, 2, 4, 5]


@pytest.mark.parametrize("ending", ["npz", "parquet", "csv"])
def test_files_keep_them(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"log.{ending}"
    getattr(WEIGHTED, f"to_{ending}")(path)
    again = read_log(path)
    assert again.weights is not None
    assert WEIGHTED.weights is not None
    assert again.weights.tolist() == WEIGHTED.weights.tolist()
    assert again.schema.feature_names == WEIGHTED.schema.feature_names


def test_parts_and_wholes_keep_them() -> None:
    part = WEIGHTED.select([2, 0])
    assert part.weights is not None
    assert part.weights.tolist() == [7, 0.5, 1e-9, 1, 2, 3, 4]
    again = Log.concatenate(WEIGHTED.episodes())
    assert np.array_equal(again.weights, WEIGHTED.weights)  # type: ignore[arg-type]
    assert sum(side.weights is not None for side in WEIGHTED.split(0.4)) == 2
    with pytest.raises(LogError, match="must all have weights or none: log 1 has none"):
        Log.concatenate([WEIGHTED, WEIGHTED.weighted(None)])
    assert WEIGHTED.repaired().weights is not None


def test_how_much_episodes_count() -> None:
    assert WEIGHTED.episode_weights is not None
    np.testing.assert_allclose(WEIGHTED.episode_weights, [2.5, 0, 7.500000001 / 3])
    recording = Recording.of(WEIGHTED)
    assert recording.episode_weights is not None
    assert recording.episode_weights.tolist() == WEIGHTED.episode_weights.tolist()
    assert WEIGHTED.weighted(None).episode_weights is None
    assert WEIGHTED.weighted("episode").weights.tolist() == [0.25] * 4 + [0.5] * 2 + [1 / 3] * 3  # type: ignore[union-attr]


def test_they_are_not_what_a_log_is() -> None:
    assert WEIGHTED.fingerprint() == WEIGHTED.weighted(None).fingerprint()


@pytest.mark.parametrize(("wrong", "said"), [(np.nan, "holds nan in row 1"), (-1.0, "holds -1 in row 1")])
def test_wrong_columns(wrong: float, said: str) -> None:
    table = {**TABLE, "mass": [5.0, wrong, 1.0, 0.0, 3.0]}
    with pytest.raises(LogError, match=f"The weight `mass` {said}"):
        Log.from_dict(table, weight="mass")
    with pytest.raises(LogError, match="The weight `mass` is 0 in all rows"):
        Log.from_dict({**TABLE, "mass": [0.0] * 5}, weight="mass")
    with pytest.raises(LogError, match="`weight` has 4"):
        Log.from_arrays(np.zeros((5, 1)), [0] * 5, np.zeros(5), starts=[0], weights=[1, 2, 3, 4])
    with pytest.raises(LogError, match=r"Log\.weights must hold finite numbers of at least 0"):
        replace(WEIGHTED, weights=np.full(9, -1.0))
