"""Objects in memory: lists of transitions and of trajectories, tables, and what is none of them."""

from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given

from tests.log.raw import Raw, raws
from tripletree import Log, read_log
from tripletree.errors import LogError, MissingDependencyError
from tripletree.log import check
from tripletree.log.objects import is_transition

Step = namedtuple("Step", ["state", "action", "reward", "next_state", "terminated", "truncated"])


def transitions(raw: Raw) -> list[tuple[Any, ...]]:
    """Return a recording as (state, action, reward, next state, terminated, truncated)."""
    columns = raw.columns()
    following = np.vstack([raw.states[1:], raw.states[:1]])
    following[raw.starts[1:] - 1] = raw.finals
    flags = columns["terminated"], columns["truncated"]
    # A flag in every last row: otherwise nothing in a list of transitions says where an episode ends.
    ends = np.zeros(len(raw.rewards), bool)
    ends[raw.starts[1:] - 1] = True
    return list(zip(raw.states, raw.actions, raw.rewards, following, flags[0], ends & ~flags[0], strict=True))


@given(raw=raws())
def test_transitions_are_the_same_log(raw: Raw) -> None:
    if raw.finals is None:
        return
    names: dict[str, Any] = {"feature_names": raw.names, "action_names": raw.action_names}
    expected = read_log(transitions(raw), **names)
    log = raw.arrays()
    np.testing.assert_array_equal(expected.states, log.states)
    np.testing.assert_array_equal(expected.rewards, log.rewards)
    np.testing.assert_array_equal(expected.final_states, log.final_states)
    np.testing.assert_array_equal(expected.starts, log.starts)
    assert expected.schema == log.schema
    assert expected.endings.tolist() == np.where(raw.terminated, 1, 2).tolist()
    named = [Step(*step) for step in transitions(raw)]
    assert read_log(named, **names).fingerprint() == expected.fingerprint()
    assert read_log([step._asdict() for step in named], **names).fingerprint() == expected.fingerprint()


def test_the_usual_tuple_of_five() -> None:
    log = read_log(
        [([0.5, 1], 0, 1.0, [1.5, 2], False), ([1.5, 2], 1, 2.0, [2.5, 3], True), ([9, 9], 1, 3.0, [8, 8], True)]
    )
    assert log.schema.feature_names == ("state_0", "state_1")
    assert log.starts.tolist() == [0, 2, 3]
    assert log.final_states.tolist() == [[2.5, 3], [8, 8]]
    assert log.endings.tolist() == [0, 0]
    assert log.reading.startswith("Read 3 samples in 2 episodes from a list of transitions.")


def test_a_next_state_of_none() -> None:
    state = np.array([0.5, 1.0])
    log = read_log([(state, 0, 1.0, state + 1, False), (state + 1, 1, 1.0, None, True)])
    assert np.isnan(log.final_states).all()


def test_episodes_of_transitions_that_say_nothing_about_them() -> None:
    rows = [(0, 1), (1, 2), (2, None), (7, 8), (8, 9), (5, 6)]  # terminated, cut off, stopped
    steps = [([now, 0.5], 0, 1.0, None if later is None else [later, 0.5]) for now, later in rows]
    log = read_log(steps)
    assert log.starts.tolist() == [0, 3, 5, 6]
    assert log.endings.tolist() == [1, 0, 0]
    assert log.final_states[1:].tolist() == [[9, 0.5], [6, 0.5]]
    assert np.isnan(log.final_states[0]).all()
    assert [finding.text for finding in log.findings if finding.code == "episodes"] == [
        "Episodes end where a next state is None, or is not the state of the next transition: no part says more."
    ]
    named = [{"s": now, "a": 0, "r": 1.0, "s_": later} for now, _, _, later in steps]
    assert read_log(named, action_names=["action"]).fingerprint() == log.fingerprint()


class Tensor:
    """What an array of another library offers."""

    def __init__(self, values: Any) -> None:
        self.values = np.array(values)
        self.shape = self.values.shape

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array(self.values, dtype)

    def __len__(self) -> int:
        return len(self.values)


def test_tensors_in_namedtuples() -> None:
    """As in the tutorial of PyTorch, where each part has a dimension for the batch."""
    kind = namedtuple("Transition", ("state", "action", "next_state", "reward"))
    steps = [
        kind(Tensor([[k, 0.5]]), Tensor([[k % 2]]), None if k == 2 else Tensor([[k + 1, 0.5]]), Tensor([1.0]))
        for k in range(3)
    ]
    log = read_log([*steps, *steps])
    assert log.schema.feature_names == ("state_0", "state_1")
    assert log.schema.action.labels == ("0", "1")
    assert log.starts.tolist() == [0, 3, 6]
    assert log.endings.tolist() == [1, 1]


def test_arrays_of_one_value_are_single_numbers() -> None:
    steps = [(np.array([k]), np.array([1]), np.array(1.0), np.array([k + 1]), np.array(k == 1)) for k in range(2)]
    log = read_log(steps)
    assert log.schema.feature_names == ("state",)
    assert log.schema.action.labels == ("1",)


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        (
            [([0.5], 0, 1.0, [1.5], True), ([0.5], 0, 1.0)],
            r"Transition 1 has another number of parts .*\(state, action",
        ),
        (
            [{"state": [1], "action": 0, "reward": 1.0, "done": True}, {"state": [1]}],
            "Transition 1 differs from the first",
        ),
        ([{"x": 0.5, "action": 0, "reward": 1.0}], "Nothing says where episodes begin or end"),
        (
            [([0.5], 0, 1.0, [1.5], True), ([0.5, 1], 0, 1.0, [1.5], True)],
            "`state` is ragged: row 0 has 1 value, row 1",
        ),
    ],
)
def test_transitions_that_are_no_log(steps: list[Any], message: str) -> None:
    with pytest.raises(LogError, match=message):
        read_log(steps)


@pytest.mark.parametrize(
    "item",
    [
        {"states": [[1]], "actions": [1], "rewards": [1.0]},
        ([[1]], [1], [1.0]),
        ([[1], [2]], [1, 0], [1.0, 2.0], [3]),
        "text",
        3,
    ],
)
def test_episodes_are_no_transitions(item: Any) -> None:
    assert not is_transition(item)


@dataclass(frozen=True)
class TrajectoryWithRew:
    """What ``imitation.data.types.TrajectoryWithRew`` has; obs has one row more than acts."""

    obs: Any
    acts: Any
    infos: Any
    terminal: bool
    rews: Any


@given(raw=raws())
def test_trajectories_of_imitation(raw: Raw) -> None:
    if raw.finals is None:
        return
    listed = [
        TrajectoryWithRew(one["states"], one["actions"], np.array([{}] * len(one["rewards"])), flag, one["rewards"])
        for one, flag in zip(raw.episodes(gymnasium=True), raw.terminated.tolist(), strict=True)
    ]
    log = read_log(listed, feature_names=raw.names, action_names=raw.action_names)
    expected = raw.arrays()
    np.testing.assert_array_equal(log.states, expected.states)
    np.testing.assert_array_equal(log.final_states, expected.final_states)
    assert log.endings.tolist() == np.where(raw.terminated, 1, 2).tolist()


@dataclass(frozen=True)
class TransitionsWithRew:
    """What ``imitation.data.types.TransitionsWithRew`` has: one row for each step of all trajectories."""

    obs: Any
    acts: Any
    infos: Any
    next_obs: Any
    dones: Any
    rews: Any


def test_flattened_transitions_of_imitation() -> None:
    obs = np.arange(8.0).reshape(4, 2)
    infos = np.array([{"value": 1}] * 4)
    flat = TransitionsWithRew(obs, np.array([0, 1, 0, 1]), infos, obs + 2, np.array([0, 1, 0, 1], bool), np.ones(4))
    log = read_log(flat)
    assert log.schema.feature_names == ("obs_0", "obs_1")
    assert log.starts.tolist() == [0, 2, 4]
    assert log.final_states.tolist() == [[4, 5], [8, 9]]
    with pytest.raises(LogError, match=r"`obs` of the transitions holds images or other blocks \(8 x 8 x 3 values"):
        read_log(TransitionsWithRew(np.zeros((4, 8, 8, 3)), flat.acts, infos, flat.next_obs, flat.dones, flat.rews))


def test_trajectories_without_rewards() -> None:
    trajectory = TrajectoryWithRew(np.zeros((3, 1)), [0, 1], None, True, None)
    with pytest.raises(LogError, match=r"Episode 0 \(TrajectoryWithRew\) has no rewards"):
        read_log([trajectory])


def test_everything_that_a_constructor_takes() -> None:
    columns = {"episode": [0, 0], "x": [0.5, 1.5], "action": [0, 1], "reward": [1, 2]}
    log = Log.from_dict(columns)
    assert read_log(log) is log
    for source in (columns, pd.DataFrame(columns), pa.table(columns)):
        assert read_log(source).fingerprint() == log.fingerprint()
    arrays = read_log(([[0.5], [1.5]], [0, 1], [1, 2]), starts=[0], feature_names=["x"])  # type: ignore[call-arg]
    assert arrays.fingerprint() == log.fingerprint()
    episode = {"states": [[0.5], [1.5]], "actions": [0, 1], "rewards": [1, 2]}
    assert read_log([episode], feature_names=["x"]).fingerprint() == log.fingerprint()
    assert check([([0.5], 0, 1.0, [1.5], True)] * 2).ok


class Exchanged:
    """A table that offers nothing but the interchange protocol."""

    def __init__(self, frame: Any) -> None:
        self.frame = frame

    def __dataframe__(self, **options: Any) -> Any:
        return self.frame.__dataframe__(**options)


class Streamed:
    """A table that offers nothing but Arrow's stream."""

    def __init__(self, table: Any) -> None:
        self.table = table

    def __arrow_c_stream__(self, schema: Any = None) -> Any:
        return self.table.__arrow_c_stream__(schema)


def test_tables_by_their_protocols(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = {"episode": [0, 0], "x": [0.5, 1.5], "action": [0, 1], "reward": [1, 2]}
    expected = Log.from_dict(columns).fingerprint()
    table = pa.table(columns)
    assert read_log(Streamed(table)).fingerprint() == expected
    assert read_log(Exchanged(table)).fingerprint() == expected
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(MissingDependencyError, match=r'needs pyarrow\. Type: pip install "tripletree\[parquet\]"'):
        read_log(Streamed(table))


def test_names_for_features_and_actions_of_a_table() -> None:
    columns = {"episode": [0, 0], "obs": np.eye(2), "actions": np.eye(2), "reward": [1, 2]}
    log = read_log(columns, feature_names=["x", "y"], action_names=["main", "side"], units={"x": "m", "main": "N"})
    assert log.schema.feature_names == ("x", "y")
    assert log.schema.action.names == ("main", "side")
    assert log.schema.action.units == ("N", "")
    with pytest.raises(LogError, match=r"Got 1 feature name for 2 features: \['x'\]"):
        read_log(columns, feature_names=["x"])
