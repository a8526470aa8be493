"""Recording a Gymnasium environment."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from tripletree import Log, MissingDependencyError, ParameterError, record
from tripletree.log.endings import TERMINATED, TRUNCATED


class Counting(gymnasium.Env):
    """Counts up from a random digit; ends beyond 12, and is cut off after 8 steps."""

    def __init__(self, action_space, observation_space=None):
        self.action_space = action_space
        self.observation_space = observation_space or spaces.Box(-100, 100, (2,), np.float32)
        self.closed = False

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.at, self.steps = int(self.np_random.integers(10)), 0
        return self._state(), {}

    def step(self, action):
        self.at += 1
        self.steps += 1
        return self._state(), float(self.at), self.at > 12, self.steps == 8, {}

    def _state(self):
        return np.array([self.at, self.steps], np.float32)

    def close(self):
        self.closed = True


def counting(action_space=None):
    return Counting(action_space or spaces.Discrete(3, start=5))


def test_whole_episodes_with_final_states_and_endings():
    log = record(counting(), lambda state: 5 + int(state[0]) % 2, episodes=20, feature_names=["at", "steps"])
    assert log.n_episodes == 20
    for e in range(20):
        rows = slice(log.starts[e], log.starts[e + 1])
        first, length = log.states[rows][0, 0], log.starts[e + 1] - log.starts[e]
        np.testing.assert_array_equal(log.states[rows], [[first + t, t] for t in range(length)])
        np.testing.assert_array_equal(log.final_states[e], [first + length, length])
        np.testing.assert_array_equal(log.rewards[rows], first + 1 + np.arange(length))
        assert log.endings[e] == (TERMINATED if first + length > 12 else TRUNCATED)
        assert length == min(8, 13 - first)
    assert set(log.endings) == {TERMINATED, TRUNCATED}


def test_actions_that_never_came_keep_their_labels():
    log = record(counting(), lambda state: 6, episodes=2)
    assert log.schema.action.labels == ("5", "6", "7")
    assert set(log.actions) == {1}
    named = record(counting(), lambda state: 6, episodes=2, labels={5: "down", 6: "stay", 7: "up"})
    assert named.schema.action.labels == ("down", "stay", "up")


def test_vectors_of_numbers_are_continuous_actions():
    env = counting(spaces.Box(-1, 1, (2,), np.float32))
    given = np.zeros(2)

    def policy(state):
        given[:] = state / 10  # the same array again and again
        return given

    log = record(env, policy, samples=30, action_names=["a", "b"], units={"a": "N"})
    assert log.schema.action.kind == "continuous"
    assert log.schema.action.units == ("N", "")
    np.testing.assert_array_equal(log.actions, (log.states / 10).astype(np.float32))
    assert not env.closed


def test_samples_are_a_least_number_and_episodes_stay_whole():
    done = []
    log = record(counting(), lambda state: 5, samples=20, progress=lambda *counts: done.append(counts))
    assert 20 <= log.n_samples < 28
    assert log.starts[-2] < 20
    assert done[-1] == (20, 20)
    assert [wanted for _, wanted in done] == [20] * log.n_episodes


def test_the_seed_decides_the_log():
    logs = [record(counting(), lambda state: 5, episodes=10, seed=seed) for seed in (1, 1, 2)]
    assert logs[0].fingerprint() == logs[1].fingerprint()
    assert logs[0].fingerprint() != logs[2].fingerprint()
    assert len(set(logs[0].states[logs[0].starts[:-1], 0])) > 1


def test_an_id_makes_the_environment():
    log = record("CartPole-v1", lambda state: int(state[2] > 0), episodes=2)
    assert isinstance(log, Log)
    assert log.n_features == 4


def test_an_id_that_nobody_knows():
    with pytest.raises(ParameterError, match=r"Gymnasium cannot make 'CartPale-v1'.*CartPole"):
        record("CartPale-v1", lambda state: 0, episodes=1)


@pytest.mark.parametrize("amount", [{}, {"episodes": 1, "samples": 1}])
def test_one_amount_is_needed(amount):
    with pytest.raises(
        ParameterError, match=r"Give either episodes or samples; got (both|neither).*episodes=100 or samples=10000"
    ):
        record(counting(), lambda state: 5, **amount)


@pytest.mark.parametrize("amount", [{"episodes": 0}, {"samples": 1.5}, {"episodes": True}])
def test_amounts_are_whole_numbers(amount):
    with pytest.raises(ParameterError, match="must be a whole number of at least 1; got"):
        record(counting(), lambda state: 5, **amount)


def test_a_seed_is_a_whole_number():
    with pytest.raises(ParameterError, match="seed must be a whole number of at least 0; got -1"):
        record(counting(), lambda state: 5, episodes=1, seed=-1)


def test_a_model_is_not_yet_a_policy():
    with pytest.raises(ParameterError, match=r"got object\. .*model\.predict\(state, deterministic=True\)\[0\]"):
        record(counting(), object(), episodes=1)


@pytest.mark.parametrize("space", [spaces.Discrete(3), spaces.Box(0, 1, (2, 2)), spaces.Dict(a=spaces.Discrete(2))])
def test_observations_must_be_vectors(space):
    env = Counting(spaces.Discrete(2), space)
    with pytest.raises(ParameterError, match=r"Observations must be vectors of numbers.*FlattenObservation"):
        record(env, lambda state: 0, episodes=1)


@pytest.mark.parametrize("space", [spaces.MultiDiscrete([2, 3]), spaces.MultiBinary(3), spaces.Box(0, 1, (2, 2))])
def test_actions_must_be_discrete_or_vectors(space):
    with pytest.raises(ParameterError, match="Actions must be discrete or vectors of real numbers"):
        record(counting(space), lambda state: 0, episodes=1)


def test_a_missing_engine_is_named(monkeypatch):
    def broken(name, **options):
        raise gymnasium.error.DependencyNotInstalled('Box2D is not installed, run `pip install "gymnasium[box2d]"`')

    monkeypatch.setattr(gymnasium, "make", broken)
    with pytest.raises(MissingDependencyError, match=r"LunarLander-v3 needs another package: .*pip install"):
        record("LunarLander-v3", lambda state: 0, episodes=1)


@pytest.mark.parametrize(("amount", "got"), [({}, "neither"), ({"episodes": 1, "samples": 1}, "both")])
def test_what_was_given_is_said(amount, got):
    with pytest.raises(ParameterError, match=rf"got {got}\. Try episodes=100 or samples=10000\."):
        record(counting(), lambda state: 5, **amount)


def test_wrong_amounts_get_an_example():
    with pytest.raises(
        ParameterError, match=r"episodes must be a whole number of at least 1; got 0\. Try episodes=100\."
    ):
        record(counting(), lambda state: 5, episodes=0)
    with pytest.raises(ParameterError, match=r"samples must be .*; got '9'\. Try samples=10000\."):
        record(counting(), lambda state: 5, samples="9")


def test_an_environment_made_here_is_closed_even_after_an_error(monkeypatch):
    made = []
    monkeypatch.setattr(gymnasium, "make", lambda name, **options: made.append(counting()) or made[-1])
    with pytest.raises(ZeroDivisionError, match="division"):
        record("Counting", lambda state: 1 // 0, episodes=1)
    assert made[0].closed
