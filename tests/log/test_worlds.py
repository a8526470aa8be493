"""Environments of every kind behind one face: vector environments record what single ones do."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv

from tests.log.test_record import Counting, counting
from tripletree import MissingDependencyError, ParameterError, record
from tripletree.log.endings import TERMINATED, TRUNCATED
from tripletree.log.worlds import make, world_of


def agent(state):
    return 5 + int(state[0]) % 3


def several(number=3, mode=AutoresetMode.NEXT_STEP, kind=SyncVectorEnv):
    return kind([counting] * number, autoreset_mode=mode)


@pytest.mark.parametrize("mode", AutoresetMode)
@pytest.mark.parametrize("number", [1, 3])
def test_episodes_are_whole_in_every_way_to_begin_again(mode, number):
    log = record(several(number, mode), agent, episodes=12)
    assert log.n_episodes == 12
    for e in range(12):
        rows = slice(log.starts[e], log.starts[e + 1])
        first, length = log.states[rows][0, 0], log.starts[e + 1] - log.starts[e]
        np.testing.assert_array_equal(log.states[rows], [[first + t, t] for t in range(length)])
        np.testing.assert_array_equal(log.final_states[e], [first + length, length])
        np.testing.assert_array_equal(log.rewards[rows], first + 1 + np.arange(length))
        assert log.endings[e] == (TERMINATED if first + length > 12 else TRUNCATED)
        assert length == min(8, 13 - first)
    np.testing.assert_array_equal(log.actions, log.states[:, 0] % 3)


@pytest.mark.parametrize("mode", AutoresetMode)
def test_one_copy_records_what_an_environment_does(mode):
    assert (
        record(several(1, mode), agent, samples=40).fingerprint() == record(counting(), agent, samples=40).fingerprint()
    )


def test_several_processes_record_the_same():
    logs = []
    for kind in (SyncVectorEnv, AsyncVectorEnv):
        envs = kind([lambda: gymnasium.make("CartPole-v1")] * 2)
        logs.append(record(envs, "random", episodes=4, seed=2))
        envs.close()
    assert logs[0].fingerprint() == logs[1].fingerprint()
    assert logs[0].schema.feature_names[2] == "pole angle"


def test_fewer_episodes_than_copies():
    log = record(several(5), agent, episodes=2)
    assert log.n_episodes == 2
    np.testing.assert_array_equal(log.states[log.starts[:-1], 1], 0)


def test_short_episodes_are_not_preferred():
    """Every episode that begins is kept: the lengths are those of a single environment."""
    lengths = [np.diff(record(several(n), agent, episodes=600).starts).mean() for n in (1, 20)]
    assert lengths[0] == pytest.approx(lengths[1], rel=0.05)


def test_enough_samples_are_enough():
    envs = SyncVectorEnv([lambda: gymnasium.make("Pendulum-v1", max_episode_steps=10)] * 3)
    done = []
    log = record(envs, "random", samples=60, progress=lambda *counts: done.append(counts))
    assert np.diff(log.starts).tolist() == [10] * 6
    assert done[-1] == (60, 60)


def test_functions_are_asked_only_where_it_counts():
    asked = []
    log = record(several(3), lambda state: asked.append(state) or 5, episodes=7)
    assert len(asked) == log.n_samples


def test_what_copies_say_besides_is_given_to_the_state():
    class Telling(Counting):
        def step(self, action):
            *step, _ = super().step(action)
            return *step, {"twice": 2 * self.at, "deep": {"at": self.at}}

    def told(state, info):
        return [state[0], info.get("twice", -1), info.get("deep", {}).get("at", -1)]

    for mode in AutoresetMode:
        envs = SyncVectorEnv([lambda: Telling(spaces.Discrete(3, start=5))] * 2, autoreset_mode=mode)
        log = record(envs, agent, episodes=5, state=told)
        inner = ~np.isin(np.arange(log.n_samples), log.starts)
        np.testing.assert_array_equal(log.states[inner, 1], 2 * log.states[inner, 0])
        np.testing.assert_array_equal(log.states[inner, 2], log.states[inner, 0])
        np.testing.assert_array_equal(log.states[~inner, 1:], -1)
        np.testing.assert_array_equal(log.final_states[:, 1], 2 * log.final_states[:, 0])


def test_structured_observations_of_several_copies():
    class Structured(Counting):
        def __init__(self):
            space = spaces.Dict(
                at=spaces.Discrete(40), both=spaces.Tuple([spaces.Box(0, 40, (1,)), spaces.Discrete(2)])
            )
            super().__init__(spaces.MultiBinary(2), space)

        def _state(self):
            return {"at": self.at, "both": (np.array([self.steps], np.float32), self.steps % 2)}

    with pytest.warns(UserWarning, match="An action is 2 choices at once"):
        logs = [
            record(env, lambda seen: [int(seen["at"]) % 2, 1], episodes=4)
            for env in (Structured(), SyncVectorEnv([Structured]))
        ]
    assert logs[0].fingerprint() == logs[1].fingerprint()
    assert logs[0].schema.feature_names == ("at", "both 0", "both 1")


@pytest.mark.parametrize(
    ("env", "match"),
    [
        (Counting, r"env must be an environment .* or an id such as 'CartPole-v1'; got a class\. Call it: env\(\)\."),
        (counting, r"got a function\. Call it: env\(\)\."),
        ({}, r"got dict\."),
        (None, r"got NoneType\."),
    ],
)
def test_what_is_no_environment(env, match):
    with pytest.raises(ParameterError, match=match):
        record(env, "random", episodes=1)


def test_environments_of_gym_are_told_apart():
    old = type("Env", (), {"__module__": "gym.core"})
    with pytest.raises(ParameterError, match=r"one of gym, which Gymnasium has replaced.*shimmy"):
        world_of(type("Mine", (old,), {})())


IDS = [
    ("LunarLander-v2", r"Gymnasium no longer has 'LunarLander-v2'\..*`LunarLander-v3`.*often act in the new\."),
    ("cartpole", r"Gymnasium cannot make 'cartpole'.*Did you mean: `CartPole`\?"),
    ("CartPole-v7", r"Gymnasium cannot make 'CartPole-v7'.*v1"),
    ("", r"Gymnasium cannot make ''.*[Mm]alformed"),
    ("nowhere_at_all:Thing-v0", r"Gymnasium cannot make .*No module named 'nowhere_at_all'"),
    ("ALE/Pong-v5", r"Gymnasium cannot make 'ALE/Pong-v5'.*ALE"),
]


@pytest.mark.parametrize(("name", "match"), IDS)
def test_ids_that_are_wrong_get_one_line(name, match):
    with pytest.raises(ParameterError, match=match) as caught:
        make(name)
    assert "\n" not in str(caught.value)


def test_without_gymnasium(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "gymnasium", None)
    with pytest.raises(MissingDependencyError, match=r'This needs Gymnasium\. Type: pip install "tripletree\[gym\]"'):
        make("CartPole-v1")
