"""The trained agents of the benchmarks: every one loads, and acts in one state or many."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest
from benchmarks.agents import AGENTS, HOPPER, Walker

TASKS = ["Acrobot-v1", "CartPole-v1", "LunarLander-v3", "MountainCar-v0", "Pendulum-v1"]


def test_there_is_an_agent_for_every_task():
    assert sorted(AGENTS) == sorted([*TASKS, HOPPER])


def test_the_hopper_acts_within_its_limits():
    # In MuJoCo itself: tests/extras/test_mujoco.py.
    agent = AGENTS[HOPPER]
    action = agent.act(np.random.default_rng(0).normal(0, 3, (50, 11)))
    assert action.shape == (50, 3)
    assert action.dtype == np.float32
    assert np.abs(action).max() <= 1
    assert agent.critic is None
    assert agent.note.count("mean return") == 1


def test_the_walker_begins_anew_with_every_episode():
    env = Walker()
    ways = []
    for _ in range(2):
        state, _ = env.reset(seed=3)
        actions = []
        for _ in range(60):
            actions.append(env.act(state))
            assert env.action_space.contains(actions[-1])
            state = env.step(actions[-1])[0]
        ways.append(np.array(actions))
    env.close()
    assert np.array_equal(*ways)


@pytest.mark.parametrize("task", TASKS)
def test_an_agent_acts_in_one_state_or_many(task):
    agent, env = AGENTS[task], gym.make(task)
    states = [env.reset(seed=0)[0]]
    for _ in range(9):
        action = agent.act(states[-1])
        assert env.action_space.contains(action if isinstance(env.action_space, gym.spaces.Box) else np.int64(action))
        states.append(env.step(action)[0])
    env.close()
    states = np.array(states)
    together = np.array(agent.act(states))
    assert len(together) == 10
    for i, state in enumerate(states):
        np.testing.assert_allclose(agent.act(state), together[i], atol=1e-5)
    np.testing.assert_allclose(
        agent.act(states.reshape(2, 5, -1)), together.reshape(2, 5, *together.shape[1:]), atol=1e-5
    )
    assert agent.note.count("mean return") == 1


@pytest.mark.parametrize("task", TASKS)
def test_a_critic_values_every_label_and_the_agent_takes_the_best(task):
    agent, env = AGENTS[task], gym.make(task)
    states = np.array([env.reset(seed=seed)[0] for seed in range(5)])
    env.close()
    if isinstance(env.action_space, gym.spaces.Box):
        assert agent.critic is None
        assert agent.act(states).dtype == np.float32
        assert type(agent.act(states[0])) is np.ndarray
    else:
        values = agent.critic(states)
        assert values.shape == (5, env.action_space.n)
        assert values.dtype == np.float32
        assert np.array_equal(values.argmax(axis=1), agent.act(states))
        assert type(agent.act(states[0])) is int
