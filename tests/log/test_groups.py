"""Groups of episodes: through every door, in every file, and one for each episode."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.logs import random_log
from tripletree.errors import LogError, ParameterError, TripleTreeWarning
from tripletree.log import Log, check, read_log
from tripletree.log.description import read_description
from tripletree.log.recording import Recording

TABLE: dict[str, Any] = {
    "episode": ["b", "a", "b", "c", "a"],
    "step": [0, 0, 1, 0, 1],
    "pos": [0.5, 1, 2, 3.5, 4],
    "pilot": ["Bo", "Al", "Bo", "Al", "Al"],
    "action": ["l", "r", "l", "r", "r"],
    "reward": [0.0, 1, 2, 3.5, 1],
}
GROUPED = replace(random_log(3, lengths=(4, 2, 3)), groups=np.array(["Bo", "Al", "Bo"]), group_name="pilot")


def same(one: Log, two: Log) -> None:
    assert one.fingerprint() == two.fingerprint()
    assert one.group_name == two.group_name
    np.testing.assert_array_equal(np.asarray(one.groups), np.asarray(two.groups))


def test_a_column_says_which_episodes_belong_together(tmp_path: Path) -> None:
    pd.DataFrame(TABLE).to_csv(tmp_path / "run.csv", index=False)
    pd.DataFrame(TABLE).to_parquet(tmp_path / "run.parquet")
    np.savez(tmp_path / "run.npz", **{name: np.asarray(column) for name, column in TABLE.items()})
    (tmp_path / "run.toml").write_text('[columns]\ngroup = "pilot"\n')
    described = read_description(tmp_path / "run.toml")
    for log in (
        Log.from_dict(TABLE, group="pilot"),
        Log.from_frame(pd.DataFrame(TABLE), group="pilot"),
        *(read_log(tmp_path / f"run.{kind}", group="pilot") for kind in ("csv", "parquet", "npz")),
        read_log(tmp_path / "run.csv", **described),
    ):
        assert log.groups is not None
        assert (log.group_name, log.episode_ids.tolist(), log.groups.tolist()) == (
            "pilot",
            ["b", "a", "c"],
            ["Bo", "Al", "Al"],
        )
        assert log.schema.feature_names == ("pos",)
        assert "  group        pilot (2 groups)\n" in log.reading
        assert log.units.tolist() == [1, 0, 0]


def test_it_is_never_guessed() -> None:
    log = Log.from_dict({**TABLE, "group": [1, 2, 1, 3, 2]}, ignore=["pilot"])
    assert log.groups is None
    assert log.schema.feature_names == ("pos", "group")


def test_arrays_and_episodes_have_groups_too() -> None:
    states, actions, rewards = np.arange(5.0)[:, None], [0, 1, 0, 1, 0], np.ones(5)
    by_row = Log.from_arrays(states, actions, rewards, episodes=[7, 7, 8, 9, 9], groups=[1, 1, 2, 1, 1])
    by_episode = Log.from_arrays(states, actions, rewards, starts=[0, 2, 3], groups=[1, 2, 1])
    parts = [
        {"states": states[rows], "actions": actions[rows], "rewards": rewards[rows], "group": group}
        for rows, group in ((slice(0, 2), 1), (slice(2, 3), 2), (slice(3, 5), 1))
    ]
    for log in (by_row, by_episode, Log.from_episodes(parts)):
        assert log.groups is not None
        assert (log.groups.tolist(), log.groups.dtype, log.group_name) == ([1, 2, 1], np.int64, "group")
    tuples = [(part["states"], part["actions"], part["rewards"]) for part in parts]
    listed = Log.from_episodes(tuples, groups=["x", "y", "y"]).groups
    assert listed is not None
    assert listed.tolist() == ["x", "y", "y"]
    del parts[1]["group"]
    with pytest.raises(LogError, match=r"The group `group` is missing \(NaN\) in row 1; every row needs a value"):
        Log.from_episodes(parts)


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (
            ["Bo", "Al", "Al", "Al", "Al"],
            r"Episode b has the group `Bo` and `Al` \(`pilot`\); an episode has one group",
        ),
        ([1.0, 2, 1, 2, np.nan], r"The group `pilot` is missing \(NaN\) in row 4"),
        (["Bo", "Al", None, "Al", "Al"], r"The group `pilot` is missing in row 2"),
        ([0.5, 2, 0.5, 2, 2], r"The group `pilot` holds 0.5 in row 0; only whole numbers or text are allowed"),
    ],
)
def test_wrong_columns(column: list[Any], message: str) -> None:
    with pytest.raises(LogError, match=message):
        Log.from_dict({**TABLE, "pilot": column}, group="pilot")


def test_wrong_arguments() -> None:
    with pytest.raises(LogError, match=r"There is no column `pilt` \(given as group\)\. Did you mean `pilot`\?"):
        Log.from_dict(TABLE, group="pilt")
    with pytest.raises(LogError, match=r"Column `pilot` was given as features and as group"):
        Log.from_dict(TABLE, group="pilot", features=["pos", "pilot"])
    with pytest.raises(ParameterError, match=r"group=3 cannot be used"):
        Log.from_dict(TABLE, group=3)  # type: ignore[arg-type]
    with pytest.raises(LogError, match=r"Got 2 groups \(`group`\) for 2 steps in 1 episode|Got 3 groups"):
        Log.from_arrays([[1.0], [2]], [0, 1], [0, 0], starts=[0], groups=[1, 2, 3])
    with pytest.raises(LogError, match=r"Log.groups has shape \(2,\); expected \(3,\)"):
        replace(GROUPED, groups=[1, 2])
    with pytest.raises(LogError, match=r"Log.groups holds float64 values; only integers or text are allowed"):
        replace(GROUPED, groups=[1.5, 2, 3])
    with pytest.raises(LogError, match=r"Log.groups holds .*, which is not Unicode"):
        replace(GROUPED, groups=["\ud800", "a", "b"])
    with pytest.raises(LogError, match=r"Log.group_name must be a text of at least one character; got 3"):
        replace(GROUPED, group_name=3)


def test_one_group_is_doubtful() -> None:
    with pytest.warns(
        TripleTreeWarning, match=r"All episodes have the group `Al` \(`pilot`\): chances get no interval"
    ):
        log = Log.from_dict({**TABLE, "pilot": ["Al"] * 5}, group="pilot")
    assert "one-group" in {finding.code for finding in check(log)}


@pytest.mark.parametrize("ending", ["npz", "parquet"])
def test_files_keep_groups(ending: str, tmp_path: Path) -> None:
    for log in (GROUPED, replace(GROUPED, groups=[3, 1, 3], group_name="x0"), replace(GROUPED, groups=None)):
        path = tmp_path / f"run.{ending}"
        log.to_npz(path) if ending == "npz" else log.to_parquet(path)
        same(read_log(path), replace(log, group_name=log.group_name if log.groups is not None else "group"))


def test_a_table_has_the_groups_as_its_last_column() -> None:
    frame = GROUPED.to_pandas()
    assert frame.columns[-1] == "pilot"
    again = Log.from_frame(frame, group="pilot")
    np.testing.assert_array_equal(np.asarray(again.groups), ["Bo", "Al", "Bo"])


def test_the_fingerprint_knows_groups() -> None:
    prints = [replace(GROUPED, groups=groups).fingerprint() for groups in (None, ["a", "a", "b"], ["a", "b", "b"])]
    assert len(set(prints)) == 3


def test_selected_and_joined_logs_keep_groups() -> None:
    assert np.asarray(GROUPED.select([2, 1]).groups).tolist() == ["Bo", "Al"]
    same(Log.concatenate(GROUPED.episodes()), GROUPED)
    with pytest.raises(LogError, match=r"must all have groups or none: log 1 has none"):
        Log.concatenate([GROUPED, replace(GROUPED, groups=None)])


def test_a_split_keeps_groups_together() -> None:
    log = random_log(5, lengths=(3,) * 40)
    log = replace(log, groups=np.arange(40) % 8)
    for seed in range(5):
        training, validation = log.split(0.25, seed)
        assert len(np.unique(validation.units)) == 2
        assert not set(np.asarray(training.groups)) & set(np.asarray(validation.groups))
    # With one group there is nothing else to go by than episodes.
    assert replace(log, groups=np.zeros(40, int)).split(0.25)[1].n_episodes == 10
    # One group for each episode is the same as none.
    for one, two in zip(
        replace(log, groups=np.arange(40)).split(0.25, 3), replace(log, groups=None).split(0.25, 3), strict=True
    ):
        assert one.episode_ids.tolist() == two.episode_ids.tolist()


def test_a_recording_numbers_groups() -> None:
    recording = Recording.of(replace(GROUPED, groups=[30, 7, 30]))
    assert recording.groups is not None
    assert recording.group_labels is not None
    assert (recording.groups.tolist(), recording.group_labels.tolist(), recording.group_name) == (
        [1, 0, 1],
        ["7", "30"],
        "pilot",
    )
    assert Recording.of(random_log()).groups is None


def test_a_table_that_is_long_enough_to_look_at_what_columns_hold() -> None:
    rng = np.random.default_rng(0)
    columns = {
        "episode": np.repeat(np.arange(20), 30),
        "pos": rng.normal(size=600),
        "vehicle": np.repeat(np.arange(20) // 4, 30),
        "action": rng.integers(0, 2, 600),
        "reward": rng.normal(size=600),
    }
    log = Log.from_dict(columns, group="vehicle")
    assert np.asarray(log.groups).tolist() == (np.arange(20) // 4).tolist()
    assert log.schema.feature_names == ("pos",)
