"""The tree as a policy with Stable-Baselines3: evaluate_policy takes it, and models fly beside it."""

from __future__ import annotations

import warnings

import gymnasium
import numpy as np
import pytest

from tests.extras.test_stable_baselines import learned
from tests.policy.agents import balance, grown, pendulums, poles
from tests.policy.test_policy import Rooms
from tripletree import ParameterError, record
from tripletree.policy.fidelity import fidelity
from tripletree.policy.policy import as_policy
from tripletree.policy.refine import refine

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:.*[Gg]ym.*:UserWarning")


@pytest.fixture(scope="module")
def dqn(need):
    return learned(need, "DQN")


@pytest.fixture
def evaluate(need):
    return need("stable_baselines3.common.evaluation").evaluate_policy


@pytest.mark.parametrize("number", [1, 3])
def test_evaluate_policy_takes_a_tree(need, evaluate, number):
    envs = need("stable_baselines3.common.env_util").make_vec_env
    act = as_policy(poles()[1])
    found, lengths = evaluate(act, envs("CartPole-v1", number, seed=5), 6, return_episode_rewards=True)
    assert len(found) == 6
    assert min(lengths) > 50
    mean, _ = evaluate(as_policy(pendulums()[1]), envs("Pendulum-v1", number, seed=5), 2)
    assert mean < 0


def test_evaluate_policy_takes_a_tree_on_a_dict(need, evaluate):
    monitor = need("stable_baselines3.common.monitor").Monitor
    log = record(Rooms(), lambda seen: int(seen["mode"] == 2), episodes=6)
    mean, _ = evaluate(as_policy(grown(log, 5), env=Rooms()), monitor(Rooms()), 5)
    assert 0 < mean < 8


def test_evaluate_policy_says_what_fidelity_says(need, evaluate):
    """One episode from one seed, by the loop of Stable-Baselines3 and by ours."""
    monitor = need("stable_baselines3.common.monitor").Monitor
    _, fitted = poles()
    found = fidelity(fitted, "CartPole-v1", balance, episodes=2, seed=11)
    for i, seed in enumerate((11, 12)):
        vec = need("stable_baselines3.common.vec_env").DummyVecEnv([lambda: monitor(gymnasium.make("CartPole-v1"))])
        vec.seed(seed)
        mean, _ = evaluate(as_policy(fitted), vec, 1)
        assert mean == found.tree_returns[i]


@pytest.mark.parametrize("name", ["PPO", "RecurrentPPO", "SAC"])
def test_models_fly_beside_a_tree_on_any_number_of_workers(need, name):
    model = learned(need, name)
    env = "Pendulum-v1" if name == "SAC" else "CartPole-v1"
    fitted = grown(record(env, model, episodes=2), 10)
    one, two = (fidelity(fitted, env, model, episodes=4, workers=n) for n in (1, 2))
    assert one.to_dict() == two.to_dict()
    assert one.paired


def test_a_file_is_trusted_and_read_once(need, tmp_path, monkeypatch):
    model = learned(need, "PPO")
    model.save(tmp_path / "ppo")
    fitted = grown(record("CartPole-v1", model, episodes=3), 10)
    with pytest.raises(ParameterError, match="trust=True"):
        fidelity(fitted, "CartPole-v1", tmp_path / "ppo.zip", episodes=2)
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = fidelity(fitted, "CartPole-v1", "ppo.zip", episodes=3, trust=True, workers=2)
    assert found.to_dict() == fidelity(fitted, "CartPole-v1", model, episodes=3).to_dict()


def test_a_network_flies_in_workers(need, tmp_path):
    torch = need("torch")
    need("onnx")
    need("onnxruntime")
    net = torch.nn.Linear(4, 2)
    path = tmp_path / "policy.onnx"
    torch.onnx.export(net, torch.zeros(1, 4), str(path), input_names=["observation"], dynamo=False)
    fitted = poles()[1]
    one, two = (fidelity(fitted, "CartPole-v1", path, episodes=4, workers=n) for n in (1, 2))
    assert one.to_dict() == two.to_dict()


def test_normalized_observations_are_the_agents_alone(need):
    vec = need("stable_baselines3.common.vec_env")
    env = vec.VecNormalize(vec.DummyVecEnv([lambda: gymnasium.make("CartPole-v1")]))
    ppo = need("stable_baselines3").PPO("MlpPolicy", env, n_steps=128, seed=0, device="cpu").learn(128)
    env.training = False
    fitted = grown(record("CartPole-v1", ppo, episodes=20, normalize=env), 30)
    found = fidelity(fitted, "CartPole-v1", ppo, episodes=10, normalize=env)
    wrapped = fidelity(fitted, env, ppo, episodes=10)
    assert found.on_agent.share > 0.8
    assert wrapped.tree_returns.tolist() == found.tree_returns.tolist()
    assert wrapped.agent_returns.tolist() == found.agent_returns.tolist()


def test_the_critic_of_dqn_weighs_steps(dqn):
    log = record("CartPole-v1", dqn, episodes=4)
    found = refine(grown(log, 8), log, "CartPole-v1", dqn, rounds=1, episodes=2, judge=2, weights="agent")
    assert found.weighted
    assert found.fitted.tree.n_leaves == 8
    spread = found.fitted.attributes.count
    assert spread[0] == found.log.n_samples
    with pytest.raises(ParameterError, match="no critic of its own"):
        refine(grown(log, 8), log, "CartPole-v1", balance, rounds=1, episodes=2, judge=2, weights="agent")
    assert np.isfinite(found.gain.mean)
