"""Recording a Gymnasium environment."""

from __future__ import annotations

from importlib import import_module

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from tripletree import Log, MissingDependencyError, ParameterError, TripleTreeWarning, record
from tripletree.log.endings import TERMINATED, TRUNCATED

recording = import_module("tripletree.log.record")  # the function has the same name


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
        given[:] = state / 20  # the same array again and again
        return given

    log = record(env, policy, samples=30, action_names=["a", "b"], units={"a": "N"})
    assert log.schema.action.kind == "continuous"
    assert log.schema.action.units == ("N", "")
    np.testing.assert_array_equal(log.actions, (log.states / 20).astype(np.float32))
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


def test_what_cannot_act_is_told_what_can():
    with pytest.raises(ParameterError, match=r"agent must be a function .* or 'random'; got int\."):
        record(counting(), 3, episodes=1)
    with pytest.raises(ParameterError, match=r"Who acts\? agent must be a function"):
        record(counting(), episodes=1)


def test_policy_is_the_old_name_of_agent():
    with pytest.warns(TripleTreeWarning, match="policy is now called agent"):
        log = record(counting(), policy=lambda state: 6, episodes=2)
    assert log.fingerprint() == record(counting(), lambda state: 6, episodes=2).fingerprint()


def test_random_actions_come_from_the_seed():
    logs = [record(counting(), "random", episodes=20, seed=seed) for seed in (3, 3, 4)]
    assert logs[0].fingerprint() == logs[1].fingerprint() != logs[2].fingerprint()
    assert set(logs[0].actions) == {0, 1, 2}


def test_an_agent_may_return_a_memory_with_its_action():
    def predict(state):
        return np.array(6), None

    assert (
        record(counting(), predict, episodes=3).fingerprint()
        == record(counting(), lambda _: 6, episodes=3).fingerprint()
    )
    box = spaces.Box(-1, 1, (2,), np.float32)
    log = record(counting(box), lambda state: (0.25, -0.5), episodes=1)  # two numbers, no memory
    assert set(map(tuple, log.actions)) == {(0.25, -0.5)}


def test_an_object_that_predicts_is_asked():
    class Agent:
        def predict(self, state):
            return np.array([0.5, state[1] / 10]), {"hidden": 1}

    log = record(counting(spaces.Box(-1, 1, (2,), np.float32)), Agent(), episodes=2)
    np.testing.assert_array_equal(log.actions[:, 0], 0.5)


DISCRETE, BOX = spaces.Discrete(3, start=5), spaces.Box(-2, 2, (2,), np.float32)
NONSENSE = [
    (DISCRETE, None, r"None; expected a whole number from 5 to 7\. Let the function `return` its action"),
    (DISCRETE, "left", r"'left'; expected a whole number from 5 to 7"),
    (DISCRETE, 4, r"4; expected a whole number from 5 to 7"),
    (DISCRETE, 5.5, r"5\.5; expected a whole number"),
    (DISCRETE, float("nan"), r"nan; expected a whole number"),
    (DISCRETE, [0.1, 0.7, 0.2], r"\[0\.1, 0\.7, 0\.2\], which looks like one number for each action.*np\.argmax"),
    (DISCRETE, [[1, 2], [3]], r"list, which is no array: "),
    (DISCRETE, {}, r"\{\}; expected a whole number"),
    (BOX, None, "None; expected 2 numbers"),
    (BOX, 0.5, r"0\.5; expected 2 numbers"),
    (BOX, np.zeros(3), r"array\(\[0\., 0\., 0\.\]\); expected 2 numbers"),
    (BOX, [np.nan, 0], r"\[nan, 0\]; expected 2 numbers, all of them finite"),
    (BOX, [2.5, 0], r"\[2\.5, 0\], which is outside of Box\(-2\.0, 2\.0, \(2,\), float32\)\. Type np\.clip"),
    (
        spaces.MultiDiscrete([2, 3]),
        [1, 3],
        r"\[1, 3\]; expected 2 whole numbers, such as \[1, 2\], where 3 would be 0 to 2",
    ),
    (spaces.MultiDiscrete([2, 3]), 0, r"0; expected 2 whole numbers, such as \[1, 2\]"),
]


@pytest.mark.parametrize(("space", "given", "match"), NONSENSE)
def test_nonsense_is_one_line(space, given, match):
    with pytest.raises(ParameterError, match=rf"^In step 0 of episode 0 the agent returned {match}[^\n]*\.$"):
        record(counting(space), lambda state: given, episodes=1)


def test_nonsense_is_found_where_it_happens():
    def agent(state):
        return 5 if state[1] < 3 else -1

    with pytest.raises(ParameterError, match="In step 3 of episode 0 the agent returned -1"):
        record(counting(), agent, episodes=4)


def test_limits_are_kept_up_to_rounding():
    log = record(counting(BOX), lambda state: np.array([2 + 1e-6, -2 - 1e-6]), episodes=1)
    np.testing.assert_allclose(log.actions, [[2, -2]] * log.n_samples, rtol=1e-5)


def test_choices_at_once_are_one_label():
    rng = np.random.default_rng(0)
    space = spaces.MultiDiscrete([2, 3])
    with pytest.warns(
        TripleTreeWarning, match=r"An action is 2 choices at once, 6 combinations in all: .*such as `1, 2`"
    ):
        log = record(counting(space), lambda state: rng.integers([2, 3]), episodes=20, action_names=["gas", "gear"])
    assert log.schema.action.names == ("gas, gear",)
    assert log.schema.action.labels == ("0, 0", "0, 1", "0, 2", "1, 0", "1, 1", "1, 2")
    assert set(log.actions) == set(range(6))


def test_binary_choices_are_one_label():
    with pytest.warns(TripleTreeWarning, match="An action is 3 choices at once, 8 combinations in all"):
        log = record(counting(spaces.MultiBinary(3)), lambda state: [1, 0, 1], episodes=2)
    assert len(log.schema.action.labels) == 8
    assert log.schema.action.labels[log.actions[0]] == "1, 0, 1"


def test_too_many_choices_are_numbers():
    with pytest.warns(TripleTreeWarning, match=r"100 combinations in all: each choice is recorded as a number\."):
        log = record(counting(spaces.MultiDiscrete([10, 10])), lambda state: [9, state[1]], episodes=2)
    assert log.schema.action.kind == "continuous"
    np.testing.assert_array_equal(log.actions[:, 1], log.states[:, 1])


def test_names_of_the_user_come_first():
    log = record("CartPole-v1", "random", episodes=2, labels={0: "l", 1: "r"}, units={"pole angle": "radians"})
    assert log.schema.action.labels == ("l", "r")
    assert [feature.unit for feature in log.schema.features] == ["m", "m/s", "radians", "rad/s"]
    log = record("CartPole-v1", "random", episodes=2, feature_names=list("abcd"))
    assert log.schema.feature_names == tuple("abcd")
    assert {feature.unit for feature in log.schema.features} == {""}


class Picture(Counting):
    """Shows an image."""

    def __init__(self):
        super().__init__(spaces.Discrete(2), spaces.Box(0, 255, (8, 8, 3), np.uint8))

    def _state(self):
        return np.full((8, 8, 3), self.at, np.uint8)

    def step(self, action):
        *step, _ = super().step(action)
        return *step, {"at": self.at}


def test_images_are_refused_with_a_way_out():
    with pytest.raises(
        ParameterError, match=r"are images \(Box.*\).*Type state=\.\.\. with a function of \(observation, info\)"
    ):
        record(Picture(), lambda image: 0, episodes=1)


def test_a_state_of_ones_own_while_the_agent_sees_the_image():
    def agent(image):
        assert image.shape == (8, 8, 3)
        return int(image[0, 0, 0] % 2)

    log = record(
        Picture(), agent, episodes=5, state=lambda image, info: {"at": image.max(), "info": info.get("at", -1)}
    )
    assert log.schema.feature_names == ("at", "info")
    np.testing.assert_array_equal(log.actions, log.states[:, 0] % 2)
    np.testing.assert_array_equal(
        log.states[:, 1], np.where(np.isin(np.arange(log.n_samples), log.starts), -1, log.states[:, 0])
    )
    log = record(Picture(), agent, episodes=1, state=lambda image, info: image[0, 0])
    assert log.schema.feature_names == ("s0", "s1", "s2")


def test_a_state_of_ones_own_is_numbers():
    with pytest.raises(ParameterError, match=r"state must return a vector of numbers.*it returned 'high'\."):
        record(Picture(), lambda image: 0, episodes=1, state=lambda image, info: "high")


def test_stopping_keeps_whole_episodes():
    calls = iter(range(1_000))

    def agent(state):
        if next(calls) == 23:
            raise KeyboardInterrupt
        return 5

    with pytest.warns(TripleTreeWarning, match=r"Stopped by Ctrl-C: the log has \d whole episodes\."):
        log = record(counting(), agent, episodes=50)
    assert 0 < log.n_samples < 23
    assert set(log.endings) <= {TERMINATED, TRUNCATED}
    whole = record(counting(), lambda state: 5, episodes=log.n_episodes)
    assert log.fingerprint() == whole.fingerprint()


def test_stopping_before_anything_is_whole_stops():
    def agent(state):
        raise KeyboardInterrupt("now")

    with pytest.raises(KeyboardInterrupt, match="now"):
        record(counting(), agent, episodes=5)


def test_what_never_ends_is_cut(monkeypatch):
    class Endless(Counting):
        def step(self, action):
            state, reward, _, _, info = super().step(action)
            return state, reward, False, False, info

    monkeypatch.setattr(recording, "LONGEST", 30)
    with pytest.warns(TripleTreeWarning, match=r"An episode had no end after 30 steps and was cut there\."):
        log = record(Endless(spaces.Discrete(2)), lambda state: 0, samples=70)
    assert log.starts.tolist() == [0, 30, 60, 90]
    assert set(log.endings) == {TRUNCATED}
    np.testing.assert_array_equal(log.states[:, 1], np.arange(90))  # it simply goes on


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
