"""Recording models of Stable-Baselines3 and sb3-contrib: in memory, their predict, and their files."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from tripletree import TripleTreeWarning, explain_agent, record
from tripletree.log.endings import TERMINATED, TRUNCATED

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:.*[Gg]ym.*:UserWarning")

# The algorithm, its policy, where it learns, and the little that it learns.
ALGORITHMS = {
    "PPO": ("MlpPolicy", "CartPole-v1", 512, {"n_steps": 256, "n_epochs": 2}),
    "A2C": ("MlpPolicy", "CartPole-v1", 50, {}),
    "DQN": ("MlpPolicy", "CartPole-v1", 120, {"learning_starts": 100}),
    "SAC": ("MlpPolicy", "Pendulum-v1", 110, {"learning_starts": 100, "buffer_size": 200}),
    "TD3": ("MlpPolicy", "Pendulum-v1", 110, {"learning_starts": 100, "buffer_size": 200}),
    "TRPO": ("MlpPolicy", "CartPole-v1", 64, {"n_steps": 64, "batch_size": 64}),
    "ARS": ("LinearPolicy", "CartPole-v1", 50, {"n_delta": 2}),
    "TQC": ("MlpPolicy", "Pendulum-v1", 110, {"learning_starts": 100, "buffer_size": 200}),
    "RecurrentPPO": ("MlpLstmPolicy", "CartPole-v1", 64, {"n_steps": 64, "n_epochs": 1}),
}


def learned(need, name, env=None, steps=None):
    torch = need("torch")
    torch.set_num_threads(1)
    policy, usual, few, options = ALGORITHMS[name]
    home = need("stable_baselines3") if name in ("PPO", "A2C", "DQN", "SAC", "TD3") else need("sb3_contrib")
    model = getattr(home, name)(policy, env or usual, seed=0, device="cpu", **options)
    return model.learn(few if steps is None else steps)


@pytest.fixture(scope="module")
def ppo(need):
    return learned(need, "PPO")


def by_hand(model, name, episodes, seed=0):
    """What the model does, by the loop in the manual of Stable-Baselines3: its actions."""
    env, actions = gymnasium.make(name), []
    for episode in range(episodes):
        state, _ = env.reset(seed=seed if episode == 0 else None)
        memory, start, ended = None, True, False
        while not ended:
            action, memory = model.predict(state, state=memory, episode_start=np.array([start]), deterministic=True)
            state, _, terminated, truncated, _ = env.step(action)
            actions.append(action)
            start, ended = False, terminated or truncated
    return np.array(actions)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_a_model_its_predict_and_its_file_are_one(need, tmp_path, name):
    model, env = learned(need, name), ALGORITHMS[name][1]
    log = record(env, model, episodes=2)
    actions = by_hand(model, env, 2)
    np.testing.assert_array_equal(log.actions.reshape(actions.shape), actions)
    model.save(tmp_path / "agent")
    for agent in (model.predict, tmp_path / "agent.zip", str(tmp_path / "agent")):
        assert record(env, agent, episodes=2, trust=True).fingerprint() == log.fingerprint()


def test_what_a_model_remembers_belongs_to_an_episode(need):
    model = learned(need, "RecurrentPPO", steps=0)
    alone = record("CartPole-v1", model, episodes=4, seed=5)
    vec = need("stable_baselines3.common.env_util").make_vec_env("CartPole-v1", 3)
    several = record(vec, model, episodes=6, seed=5)
    first = slice(0, alone.starts[1])
    np.testing.assert_array_equal(several.states[first], alone.states[first])
    np.testing.assert_array_equal(several.actions[first], alone.actions[first])


@pytest.mark.parametrize("space", [spaces.MultiDiscrete([2, 3]), spaces.MultiBinary(2)])
def test_choices_at_once(need, space, tmp_path):
    class Toy(gymnasium.Env):
        observation_space = spaces.Dict(a=spaces.Box(-1, 1, (2,)), b=spaces.Discrete(3))
        action_space = space

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            self.steps = 0
            return self.observe(), {}

        def observe(self):
            return {"a": self.np_random.uniform(-1, 1, 2).astype(np.float32), "b": int(self.np_random.integers(3))}

        def step(self, action):
            assert self.action_space.contains(action)
            self.steps += 1
            return self.observe(), float(np.sum(action)), self.steps == 9, False, {}

    model = need("stable_baselines3").PPO("MultiInputPolicy", Toy(), n_steps=32, batch_size=32, seed=0, device="cpu")
    model.save(tmp_path / "toy")
    with pytest.warns(TripleTreeWarning, match="each is a label"):
        logs = [record(Toy(), agent, episodes=5, trust=True) for agent in (model, tmp_path / "toy.zip")]
    assert logs[0].fingerprint() == logs[1].fingerprint()
    assert logs[0].schema.feature_names == ("a 0", "a 1", "b is 0", "b is 1", "b is 2")
    assert len(logs[0].schema.action.labels) == (6 if hasattr(space, "nvec") else 4)


def test_masked_actions_are_never_taken(need, tmp_path):
    class Masked(gymnasium.Env):
        observation_space = spaces.Box(-1, 1, (2,))
        action_space = spaces.Discrete(5)

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            self.steps = 0
            return self.observation_space.sample(), {}

        def action_masks(self):
            return np.arange(5) == self.steps % 5

        def step(self, action):
            assert action == self.steps % 5
            self.steps += 1
            return np.zeros(2, np.float32), 0.0, self.steps == 7, False, {}

    model = need("sb3_contrib").MaskablePPO("MlpPolicy", Masked(), n_steps=32, batch_size=32, seed=0, device="cpu")
    model.save(tmp_path / "masked")
    for agent in (model, tmp_path / "masked.zip"):
        log = record(Masked(), agent, episodes=2, trust=True)
        assert log.actions.tolist() == [0, 1, 2, 3, 4, 0, 1] * 2


@pytest.fixture(scope="module")
def normalized(need, tmp_path_factory):
    """A model that was trained with VecNormalize, its two files, and the wrapped environment."""
    env_util, vec_env = need("stable_baselines3.common.env_util"), need("stable_baselines3.common.vec_env")
    venv = vec_env.VecNormalize(env_util.make_vec_env("Pendulum-v1", 2, seed=0))
    model = learned(need, "SAC", venv)
    folder = tmp_path_factory.mktemp("normalized")
    model.save(folder / "agent")
    venv.save(folder / "vecnormalize.pkl")
    return model, venv, folder


def test_normalized_observations_are_the_agents_and_not_the_logs(normalized):
    model, venv, folder = normalized
    before = venv.obs_rms.mean.copy()
    log = record("Pendulum-v1", folder / "agent", normalize=folder / "vecnormalize.pkl", episodes=2, trust=True)
    # The angle's cosine and sine, as they are.
    np.testing.assert_allclose(np.hypot(log.states[:, 0], log.states[:, 1]), 1, rtol=1e-5)
    expected, _ = model.predict(venv.normalize_obs(log.states.astype(np.float32)), deterministic=True)
    np.testing.assert_allclose(log.actions, expected, atol=1e-4)
    # A model in memory knows its own.
    assert record("Pendulum-v1", model, episodes=2).fingerprint() == log.fingerprint()
    assert record("Pendulum-v1", model, episodes=2, normalize=venv).fingerprint() == log.fingerprint()
    wrapped = record(venv, model, episodes=4, seed=3)
    np.testing.assert_allclose(np.hypot(wrapped.states[:, 0], wrapped.states[:, 1]), 1, rtol=1e-5)
    assert wrapped.rewards.min() < -1  # the task's own, not those it learned from
    np.testing.assert_array_equal(venv.obs_rms.mean, before)


def test_a_function_sees_what_is_normalized(normalized):
    _, venv, _ = normalized
    seen = []
    record("Pendulum-v1", lambda state: seen.append(state) or [0.0], episodes=1, normalize=venv)
    assert np.abs(np.array(seen)).max() > 1.01


def test_a_forgotten_normalizer_is_asked_for(normalized):
    _, _, folder = normalized
    with pytest.warns(TripleTreeWarning, match=r"There is a vecnormalize\.pkl beside agent\.zip.*normalize="):
        record("Pendulum-v1", folder / "agent.zip", episodes=1, trust=True)


def test_environments_of_stable_baselines(need, ppo):
    vec = need("stable_baselines3.common.env_util").make_vec_env("CartPole-v1", 4)
    log = record(vec, ppo, episodes=10, seed=1)
    assert log.n_episodes == 10
    assert log.schema.feature_names[2] == "pole angle"
    assert log.schema.features[2].unit == "rad"
    again = record(vec, ppo, episodes=10, seed=1)
    assert again.fingerprint() == log.fingerprint()
    for e in range(10):
        # The state after the last action, not the one that the next episode begins with.
        assert np.abs(log.final_states[e] - log.states[log.starts[e + 1] - 1]).max() < 1
        assert log.endings[e] == TERMINATED
    first = record("CartPole-v1", ppo, episodes=1, seed=1)
    np.testing.assert_array_equal(log.states[: first.n_samples], first.states)
    np.testing.assert_array_equal(log.final_states[0], first.final_states[0])


def test_time_limits_of_stable_baselines_truncate(need):
    vec = need("stable_baselines3.common.env_util").make_vec_env(
        lambda: gymnasium.make("Pendulum-v1", max_episode_steps=15), 2
    )
    log = record(vec, "random", samples=60)
    assert log.starts.tolist() == [0, 15, 30, 45, 60]
    assert set(log.endings) == {TRUNCATED}


def test_a_robot_of_mujoco_is_recorded_with_names(need, tmp_path):
    need("mujoco")
    env = gymnasium.make("Hopper-v5", max_episode_steps=50)
    model = need("stable_baselines3").PPO("MlpPolicy", env, n_steps=64, batch_size=64, seed=0, device="cpu")
    log = record(env, model, samples=200)
    assert log.schema.feature_names[:3] == ("torso height", "torso angle", "thigh angle")
    assert log.schema.action.names == ("thigh torque", "leg torque", "foot torque")
    assert [feature.unit for feature in log.schema.features][-1] == "rad/s"


def test_an_image_agent_is_recorded_by_what_people_can_name(need, tmp_path):
    class Camera(gymnasium.Env):
        observation_space = spaces.Box(0, 255, (36, 36, 3), np.uint8)
        action_space = spaces.Discrete(2)

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            self.at = int(self.np_random.integers(36))
            return self.observe(), {"at": self.at}

        def observe(self):
            image = np.zeros((36, 36, 3), np.uint8)
            image[self.at] = 255
            return image

        def step(self, action):
            self.at += 2 * int(action) - 1
            ended = not 0 <= self.at < 36
            self.at = min(max(self.at, 0), 35)
            return self.observe(), 0.0, ended, False, {"at": self.at}

    env = gymnasium.wrappers.TimeLimit(Camera(), 20)
    model = need("stable_baselines3").PPO("CnnPolicy", env, n_steps=16, batch_size=16, seed=0, device="cpu")
    model.save(tmp_path / "camera")
    logs = [
        record(env, agent, episodes=2, state=lambda image, info: {"at": info["at"]}, trust=True)
        for agent in (model, tmp_path / "camera.zip")
    ]
    assert logs[0].schema.feature_names == ("at",)
    assert logs[0].fingerprint() == logs[1].fingerprint()


def test_one_line_explains_a_model(ppo, tmp_path):
    ppo.save(tmp_path / "agent")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TripleTreeWarning)
        found = explain_agent("CartPole-v1", tmp_path / "agent", tmp_path / "page", samples=800, trust=True)
    assert found.report.stat().st_size > 10_000
    assert "push" in str(found.tree.explain("pole angle = 0.1, pole angular velocity = 1"))


def test_the_manual_works(need, tmp_path):
    """The page on agents, with less patience."""
    need("stable_baselines3")
    text = (Path(__file__).parents[2] / "docs" / "agents.md").read_text(encoding="utf-8")
    (code,) = [code for code in re.findall(r"^```py\n(.*?)^```", text, re.DOTALL | re.MULTILINE) if "PPO" in code]
    found = {}
    exec(code.replace("50_000", "64").replace("20_000", "100"), found)
    assert found["log"].n_samples >= 100
    assert (tmp_path / "ppo.zip").exists()
