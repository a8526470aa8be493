"""Logs that the libraries themselves have written are read as they were recorded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.log.raw import Raw
from tests.log.test_objects import Exchanged, Streamed
from tests.logs import random_log
from tripletree import Log, read_log
from tripletree.errors import LogError

pytestmark = pytest.mark.filterwarnings("ignore")  # of the libraries; ours are asserted on by name


@pytest.fixture
def datasets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder in which Minari keeps its datasets during a test."""
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    return tmp_path


def minari_dataset(need: Any, name: str, data_format: str, episodes: int = 12) -> Any:
    """Make a dataset with a nested observation space, and infos."""
    minari, spaces = need("minari"), need("gymnasium").spaces
    rng = np.random.default_rng(0)

    def observe(rows: int) -> dict[str, Any]:
        goal = rng.normal(size=(rows, 1)).astype(np.float32), rng.integers(0, 3, rows)
        return {"pos": rng.normal(size=(rows, 2)).astype(np.float32), "goal": goal}

    buffers = [
        minari.data_collector.EpisodeBuffer(
            id=number,
            observations=observe(6),
            actions=rng.normal(size=(5, 2)).astype(np.float32),
            rewards=rng.normal(size=5),
            terminations=[False] * 4 + [number % 2 == 0],
            truncations=[False] * 4 + [number % 2 == 1],
            infos={"hidden": rng.normal(size=(6, 2))},
        )
        for number in range(episodes)
    ]
    box = spaces.Box(-9, 9, (2,))
    space = spaces.Dict({"pos": box, "goal": spaces.Tuple([spaces.Box(-9, 9, (1,)), spaces.Discrete(3)])})
    return minari.create_dataset_from_buffers(
        name, buffers, observation_space=space, action_space=box, data_format=data_format
    )


@pytest.mark.parametrize("data_format", ["hdf5", "arrow", "parquet"])
def test_minari_keeps_what_was_recorded(need: Any, datasets: Path, data_format: str) -> None:
    made = minari_dataset(need, "toy/log-v0", data_format)
    log = read_log("toy/log-v0")
    assert set(log.schema.feature_names) == {"pos_0", "pos_1", "goal.0", "goal.1"}
    assert log.n_episodes == 12
    assert log.endings.tolist() == [1, 2] * 6
    episodes = list(made.iterate_episodes())
    column = log.schema.feature_names.index("pos_1")
    pos = np.array([episode.observations["pos"][:, 1] for episode in episodes], np.float64)
    np.testing.assert_array_equal(log.states[:, column].reshape(12, 5), pos[:, :5])
    np.testing.assert_array_equal(log.final_states[:, column], pos[:, 5])
    np.testing.assert_array_equal(log.rewards, np.concatenate([episode.rewards for episode in episodes]))
    np.testing.assert_array_equal(log.actions, np.concatenate([episode.actions for episode in episodes]))
    assert "infos" in log.reading
    for other in (datasets / "toy" / "log-v0", datasets / "toy" / "log-v0" / "data", made):
        assert read_log(other).fingerprint() == log.fingerprint()


@pytest.mark.parametrize("data_format", ["hdf5", "arrow"])
def test_a_filtered_minari_dataset_is_a_part_of_it(need: Any, datasets: Path, data_format: str) -> None:
    made = minari_dataset(need, "toy-v0", data_format)
    some = made.filter_episodes(lambda episode: bool(episode.terminations[-1]))
    log = read_log(some)
    assert log.episode_ids.tolist() == [0, 2, 4, 6, 8, 10]
    assert log.fingerprint() == read_log(made).select([0, 2, 4, 6, 8, 10]).fingerprint()


def test_a_minari_dataset_that_is_not_there(need: Any, datasets: Path) -> None:
    minari_dataset(need, "toy/log-v0", "hdf5", 1)
    with pytest.raises(
        LogError, match=r"It has `toy/log-v0`\. Did you mean `toy/log-v0`\? .*minari download toy/lag-v0"
    ):
        read_log("toy/lag-v0")


def test_images_in_minari(need: Any, datasets: Path) -> None:
    minari, spaces = need("minari"), need("gymnasium").spaces
    frames = np.zeros((4, 8, 8, 3), np.uint8)
    episode = minari.data_collector.EpisodeBuffer(
        id=0,
        observations=frames,
        actions=[0, 1, 0],
        rewards=[0.0] * 3,
        terminations=[False] * 3,
        truncations=[False] * 3,
    )
    minari.create_dataset_from_buffers(
        "film-v0",
        [episode],
        observation_space=spaces.Box(0, 255, (8, 8, 3), np.uint8),
        action_space=spaces.Discrete(2),
    )
    with pytest.raises(
        LogError, match=r"holds images or other blocks \(8 x 8 x 3 values a step\).*Log the state as well"
    ):
        read_log("film-v0")


def test_a_log_comes_back_from_minari_as_it_was(need: Any, datasets: Path) -> None:
    need("minari")
    log = Log.from_arrays(
        np.random.default_rng(0).normal(size=(20, 3)),
        ["left", "right"] * 10,
        np.arange(20.0) / 3,
        starts=[0, 7, 12],
        terminated=[True, False, False],
        final_states=[[1, 2, 3], [np.nan] * 3, [4, 5, 6]],
        episode_ids=["a", "b", "c"],
        units={"s0": "m"},
        kinds={"s1": "angle"},
        labels=["right", "left", "coast"],
        groups=["ann", "bob", "ann"],
    )
    made = log.to_minari("my/log-v0")
    assert read_log("my/log-v0").fingerprint() == log.fingerprint()
    assert read_log(made.filter_episodes(lambda one: one.id > 0)).fingerprint() == log.select([1, 2]).fingerprint()
    plain = read_log("my/log-v0", feature_names=["x", "y", "z"])
    assert plain.schema.feature_names == ("x", "y", "z")
    assert plain.schema.action.labels == ("0", "1")
    with pytest.raises(LogError, match=r"cannot be written: .*minari delete my/log-v0"):
        log.to_minari("my/log-v0")


def test_minari_has_no_place_for_weights(need: Any, datasets: Path) -> None:
    need("minari")
    weighted = random_log(3, lengths=(4, 2)).weighted([1, 2, 3, 4, 0, 5])
    with pytest.raises(LogError, match="no place for the weights of steps"):
        weighted.to_minari("weighted/test-v0")


def test_unknown_endings_come_back_from_minari(need: Any, datasets: Path) -> None:
    need("minari")
    log = random_log(dimensions=2)
    log.to_minari("plain-v0")
    assert read_log("plain-v0").fingerprint() == log.fingerprint()


# --- Stable-Baselines3 ---------------------------------------------------------------------------------------------


def steps(envs: int, rows: int, seed: int = 0) -> dict[str, Any]:
    """Return what environments that reset themselves would give a buffer."""
    rng = np.random.default_rng(seed)
    done = np.zeros((rows, envs), bool)
    late = np.zeros((rows, envs), bool)
    done[4::5] = True
    done[:, -1] = False
    done[6::7, -1] = True
    late[9::10] = done[9::10]
    obs = rng.normal(size=(rows, envs, 3)).astype(np.float32)
    following = np.roll(obs, -1, axis=0)
    following[done] = rng.normal(size=(int(done.sum()), 3)).astype(np.float32)
    following[-1] = 7
    actions = rng.integers(0, 4, (rows, envs, 1))
    return {
        "obs": obs,
        "next_obs": following,
        "action": actions,
        "reward": rng.normal(size=(rows, envs)).astype(np.float32),
        "done": done,
        "late": late,
    }


def replay_buffer(need: Any, data: dict[str, Any], size: int, **options: Any) -> Any:
    buffers, spaces = need("stable_baselines3.common.buffers"), need("gymnasium").spaces
    rows, envs = data["reward"].shape
    buffer = buffers.ReplayBuffer(
        size * envs, spaces.Box(-9, 9, (3,)), spaces.Discrete(4), device="cpu", n_envs=envs, **options
    )
    for row in range(rows):
        infos = [{"TimeLimit.truncated": bool(late)} for late in data["late"][row]]
        part = {name: values[row] for name, values in data.items()}
        buffer.add(part["obs"], part["next_obs"], part["action"], part["reward"], part["done"], infos)
    return buffer


@pytest.mark.parametrize("envs", [1, 2, 3])
@pytest.mark.parametrize(("size", "rows"), [(50, 30), (30, 30), (30, 43)])
def test_a_replay_buffer(need: Any, envs: int, size: int, rows: int) -> None:
    data = steps(envs, rows)
    log = read_log(replay_buffer(need, data, size))
    kept = slice(max(0, rows - size), rows)
    streams = {name: np.swapaxes(values[kept], 0, 1) for name, values in data.items()}
    assert log.schema.feature_names == ("obs_0", "obs_1", "obs_2")
    np.testing.assert_array_equal(log.states, streams["obs"].reshape(-1, 3))
    np.testing.assert_array_equal(log.rewards, streams["reward"].reshape(-1))
    assert (
        np.array(log.schema.action.labels)[log.actions].tolist() == streams["action"].reshape(-1).astype(str).tolist()
    )
    ends = streams["done"].copy()
    ends[:, -1] = True  # the recording stops
    last = np.flatnonzero(ends.reshape(-1))
    assert log.starts[1:].tolist() == (last + 1).tolist()
    np.testing.assert_array_equal(log.final_states, streams["next_obs"].reshape(-1, 3)[last])
    terminated = (streams["done"] & ~streams["late"]).reshape(-1)[last]
    assert log.endings.tolist() == np.where(terminated, 1, 2).tolist()


@pytest.mark.parametrize(("size", "rows"), [(50, 30), (30, 30), (30, 43)])
def test_a_replay_buffer_that_shares_memory(need: Any, size: int, rows: int) -> None:
    data = steps(2, rows)
    data["late"][:] = False
    buffer = replay_buffer(need, data, size, optimize_memory_usage=True, handle_timeout_termination=False)
    log = read_log(buffer)
    # The oldest step of a full buffer has been overwritten by the newest next state.
    kept = slice(rows - size + 1 if rows >= size else 0, rows)
    streams = {name: np.swapaxes(values[kept], 0, 1) for name, values in data.items()}
    np.testing.assert_array_equal(log.states, streams["obs"].reshape(-1, 3))
    ends = streams["done"].copy()
    ends[:, -1] = True
    last = np.flatnonzero(ends.reshape(-1))
    assert log.starts[1:].tolist() == (last + 1).tolist()
    known = ~np.isnan(log.final_states[:, 0])
    # Only the newest step of each environment still has its next state.
    assert last[known].tolist() == [streams["reward"].shape[1] - 1, 2 * streams["reward"].shape[1] - 1]
    assert (log.final_states[known] == 7).all()


@pytest.mark.parametrize("given_out", [False, True])
@pytest.mark.parametrize("envs", [1, 3])
def test_a_rollout_buffer(need: Any, envs: int, given_out: bool) -> None:
    buffers, spaces, torch = need("stable_baselines3.common.buffers"), need("gymnasium").spaces, need("torch")
    data = steps(envs, 30)
    buffer = buffers.RolloutBuffer(30, spaces.Box(-9, 9, (3,)), spaces.Discrete(4), device="cpu", n_envs=envs)
    starts = np.vstack([np.ones((1, envs), bool), data["done"][:-1]])
    for row in range(30):
        value = torch.zeros(envs)
        buffer.add(data["obs"][row], data["action"][row], data["reward"][row], starts[row], value, value)
    if given_out:
        buffer.compute_returns_and_advantage(torch.zeros(envs), np.zeros(envs))
        list(buffer.get(10))
    log = read_log(buffer)
    np.testing.assert_array_equal(log.states, np.swapaxes(data["obs"], 0, 1).reshape(-1, 3))
    np.testing.assert_array_equal(log.rewards, np.swapaxes(data["reward"], 0, 1).reshape(-1))
    taken = np.swapaxes(data["action"], 0, 1).reshape(-1).astype(float).astype(int).astype(str)
    assert np.array(log.schema.action.labels)[log.actions].tolist() == taken.tolist()
    assert log.starts[:-1].tolist() == np.flatnonzero(np.swapaxes(starts, 0, 1).reshape(-1)).tolist()
    # Whether an episode terminated is not in a rollout; the last of each environment was cut off.
    assert log.endings.tolist().count(2) == envs
    assert "advantages" in log.reading


def test_buffers_of_a_model_that_has_learned(need: Any) -> None:
    sb3 = need("stable_baselines3")
    model = sb3.DQN("MlpPolicy", "CartPole-v1", learning_starts=50, buffer_size=300, device="cpu", seed=0)
    model.learn(500)
    log = read_log(model.replay_buffer, feature_names=["x", "v", "angle", "turn"], labels=["left", "right"])
    assert log.n_samples == 300
    assert log.schema.action.labels == ("left", "right")
    assert 1 in log.endings
    model = sb3.PPO("MlpPolicy", "CartPole-v1", n_steps=64, batch_size=32, n_epochs=1, device="cpu", seed=0)
    model.learn(64)
    assert read_log(model.rollout_buffer).n_samples == 64


def test_dict_observations_in_a_buffer(need: Any) -> None:
    buffers, spaces = need("stable_baselines3.common.buffers"), need("gymnasium").spaces
    space = spaces.Dict({"goal": spaces.Box(-9, 9, (2,)), "pos": spaces.Box(-9, 9, (1,))})
    buffer = buffers.DictReplayBuffer(10, space, spaces.Box(-1, 1, (2,)), device="cpu")
    for row in range(4):
        now = {"goal": np.full((1, 2), row), "pos": np.full((1, 1), 0.5 * row)}
        later = {name: value + 1 for name, value in now.items()}
        buffer.add(now, later, np.full((1, 2), 0.25), np.array([1.0]), np.array([row == 3]), [{}])
    log = read_log(buffer)
    assert log.schema.feature_names == ("goal_0", "goal_1", "pos")
    assert log.states[:, 2].tolist() == [0, 0.5, 1, 1.5]
    assert log.final_states.tolist() == [[4, 4, 2.5]]


def test_buffers_without_a_log(need: Any) -> None:
    buffers, spaces = need("stable_baselines3.common.buffers"), need("gymnasium").spaces
    empty = buffers.ReplayBuffer(10, spaces.Box(-9, 9, (3,)), spaces.Discrete(4), device="cpu")
    with pytest.raises(LogError, match=r"An SB3 replay buffer is empty. Let the model learn first"):
        read_log(empty)
    film = buffers.ReplayBuffer(10, spaces.Box(0, 255, (3, 8, 8), np.uint8), spaces.Discrete(4), device="cpu")
    frame = np.zeros((1, 3, 8, 8), np.uint8)
    film.add(frame, frame, np.zeros((1, 1)), np.zeros(1), np.zeros(1), [{}])
    with pytest.raises(
        LogError, match=r"`obs` of an SB3 replay buffer holds images or other blocks \(3 x 8 x 8 values"
    ):
        read_log(film)


# --- d3rlpy --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("discrete", [True, False])
def test_d3rlpy_in_memory_and_as_a_file(need: Any, tmp_path: Path, discrete: bool) -> None:
    d3rlpy = need("d3rlpy")
    rng = np.random.default_rng(0)
    observations = rng.normal(size=(30, 3)).astype(np.float32)
    actions = rng.integers(0, 3, 30) if discrete else rng.normal(size=(30, 2)).astype(np.float32)
    rewards = rng.normal(size=30).astype(np.float32)
    ends = np.arange(30) % 10 == 9
    terminals = ends & (np.arange(30) < 20)
    data = d3rlpy.dataset.MDPDataset(observations, actions, rewards, terminals, timeouts=ends & ~terminals)
    log = read_log(data)
    np.testing.assert_array_equal(log.states, observations)
    np.testing.assert_array_equal(log.rewards, rewards)
    assert log.starts.tolist() == [0, 10, 20, 30]
    assert log.endings.tolist() == [1, 1, 2]
    assert log.schema.action.kind == ("discrete" if discrete else "continuous")
    with (tmp_path / "data.h5").open("w+b") as file:
        data.dump(file)
    assert read_log(tmp_path / "data.h5").fingerprint() == log.fingerprint()


# --- polars and the dataframe interchange --------------------------------------------------------------------------


def test_tables_of_any_library(need: Any) -> None:
    polars = need("polars")
    raw = raw_steps()
    frame = polars.DataFrame(raw.columns())
    expected = raw.arrays().fingerprint()
    for table in (frame, frame.to_arrow(), Exchanged(frame.to_pandas()), Streamed(frame)):
        assert read_log(table).fingerprint() == expected


def raw_steps() -> Raw:
    rng = np.random.default_rng(0)
    return Raw(
        (3, 4),
        rng.normal(size=(7, 2)),
        np.arange(7) % 3,
        rng.normal(size=7),
        None,
        [True, False],
        [False, True],
        np.arange(2) + 5,
    )


def test_lists_in_polars_are_matrices(need: Any, tmp_path: Path) -> None:
    polars = need("polars")
    obs = np.random.default_rng(0).normal(size=(6, 3))
    columns = {"episode": [0, 0, 0, 1, 1, 1], "obs": obs.tolist(), "action": [0, 1] * 3, "reward": [0.5] * 6}
    frame = polars.DataFrame(columns)
    log = read_log(frame)
    np.testing.assert_array_equal(log.states, obs)
    fixed = frame.with_columns(polars.col("obs").cast(polars.Array(polars.Float64, 3)))
    assert read_log(fixed).fingerprint() == log.fingerprint()
    for number, table in enumerate((frame, fixed)):
        table.write_parquet(tmp_path / f"{number}.parquet")
        assert read_log(tmp_path / f"{number}.parquet").fingerprint() == log.fingerprint()
