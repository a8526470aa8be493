"""Flying: every episode from its own seed, the same for any number of workers."""

from __future__ import annotations

import threading

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from tests.policy.agents import balance, grown, pendulums, poles, roads, swing
from tripletree import ParameterError, TripleTreeWarning, record
from tripletree.demos import road
from tripletree.policy.flying import Airfield
from tripletree.policy.policy import as_policy

SEEDS = range(50, 55)


def flown(env, pilot, seeds=SEEDS, workers=1, **options):
    adviser = options.pop("adviser", None)
    with Airfield(env, workers=workers, **options) as field:
        return field.fly(pilot, seeds, adviser=adviser)


def same(ours, theirs):
    for one, other in zip(ours, theirs, strict=True):
        assert (one.seed, one.terminated, one.truncated) == (other.seed, other.terminated, other.truncated)
        for part in ("states", "actions", "rewards"):
            np.testing.assert_array_equal(getattr(one, part), getattr(other, part))
        assert (one.advice is None) == (other.advice is None)
        assert one.advice is None or np.array_equal(one.advice, other.advice)


@pytest.mark.parametrize("workers", [2, 3, 8])
@pytest.mark.parametrize("pilot", [balance, "random"])
def test_flights_do_not_depend_on_the_number_of_workers(pilot, workers):
    same(flown("CartPole-v1", pilot), flown("CartPole-v1", pilot, workers=workers))


def test_a_flight_is_what_record_would_record():
    [flight] = flown("CartPole-v1", balance, [7])
    log = record("CartPole-v1", balance, episodes=1, seed=7)
    np.testing.assert_array_equal(flight.states[:-1], log.states)
    np.testing.assert_array_equal(flight.states[-1], log.final_states[0])
    np.testing.assert_array_equal(flight.actions[:, 0], log.actions)
    np.testing.assert_array_equal(flight.rewards, log.rewards)
    assert (flight.terminated, flight.truncated, flight.advice) == (False, True, None)


def test_two_pilots_begin_in_the_same_states():
    ours, theirs = flown("CartPole-v1", "random"), flown("CartPole-v1", lambda state: 0)
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(one.states[0], other.states[0])
    assert not np.array_equal(ours[0].states[0], ours[1].states[0])


@pytest.mark.parametrize("workers", [1, 2])
def test_an_adviser_is_asked_at_every_step_and_not_obeyed(workers):
    flights = flown("CartPole-v1", lambda state: 0, adviser=balance, workers=workers)
    for flight in flights:
        assert not flight.actions.any()
        assert flight.advice[:, 0].tolist() == [balance(state) for state in flight.states[:-1].astype(np.float32)]


def test_a_tree_flies_as_pilot_and_as_agent():
    _, fitted = poles()
    act = as_policy(fitted)
    ours = flown("CartPole-v1", act, workers=2)
    same(ours, flown("CartPole-v1", lambda state: act(state)))
    assert ours[0].actions.ravel().tolist() == act(ours[0].states[:-1]).tolist()
    _, fitted = pendulums()
    [flight] = flown("Pendulum-v1", as_policy(fitted), [3], adviser=swing)
    assert flight.actions.shape == flight.advice.shape == (200, 1)
    assert flight.actions.dtype == np.float32


@pytest.mark.parametrize("workers", [1, 2])
def test_environments_are_ids_functions_or_environments(workers):
    expected = flown("CartPole-v1", balance)
    same(expected, flown(lambda: gymnasium.make("CartPole-v1"), balance, workers=workers))
    env = gymnasium.make("CartPole-v1")
    same(expected, flown(env, balance, workers=workers))
    env.reset(seed=0)  # still open


class Locked(gymnasium.Env):
    """An environment that cannot be copied; counts what is done in this process."""

    observation_space = spaces.Box(-1, 1, (1,))
    action_space = spaces.Discrete(2)
    resets = 0

    def __init__(self):
        self.lock = threading.Lock()

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        type(self).resets += 1
        return np.zeros(1, np.float32), {}

    def step(self, action):
        return np.ones(1, np.float32), 1.0, True, False, {}


def test_an_environment_that_cannot_be_copied_is_flown_here(monkeypatch):
    monkeypatch.setattr(Locked, "resets", 0)
    assert len(flown(Locked(), "random", workers=2)) == 5
    assert Locked.resets == 5
    assert len(flown(Locked, "random", workers=2)) == 5
    assert Locked.resets == 5


def test_progress_counts_episodes():
    told = []
    with Airfield("CartPole-v1", workers=2) as field:
        field.fly("random", SEEDS, progress=lambda done, most: told.append((done, most)))
    assert told == [(i, 5) for i in range(1, 6)]


@pytest.mark.parametrize("workers", [1, 2])
def test_what_is_no_action_is_told_with_episode_and_seed(workers):
    with pytest.raises(ParameterError, match=r"In step 0 of episode \d \(seed 5\d\) the agent returned 7; expected a "):
        flown("CartPole-v1", lambda state: 7, workers=workers)


@pytest.mark.parametrize(
    ("env", "options", "message"),
    [
        ("CartPole-v1", {"workers": 0}, r"workers must be a whole number from 1 to 1,024, or workers=None \(one for "),
        ("Nowhere-v1", {}, "Gymnasium cannot make 'Nowhere-v1'"),
        (7, {}, "env must be an environment of Gymnasium"),
    ],
)
def test_mistakes_are_told_before_anybody_flies(env, options, message):
    with pytest.raises(ParameterError, match=message):
        Airfield(env, **options)


def test_several_environments_at_once_are_refused():
    with pytest.raises(ParameterError, match=r"env must be one environment, not 2 at once\. .* workers flies several"):
        Airfield(gymnasium.make_vec("CartPole-v1", num_envs=2))


def test_nobody_cannot_fly():
    with Airfield("CartPole-v1") as field, pytest.raises(ParameterError, match="Who acts"):
        field.seated(None)


def test_labels_that_are_no_numbers_count_in_order_and_it_is_said():
    _, fitted = roads()
    with pytest.warns(TripleTreeWarning, match=r"they count in its order: -0\.001 = 0, 0\.001 = 1\. If that is wrong"):
        flights = flown(road.environment("left"), as_policy(fitted))
    assert set(np.concatenate([flight.actions for flight in flights]).ravel().tolist()) == {0, 1}


def test_other_actions_than_the_environments_are_refused():
    _, fitted = roads()
    with pytest.raises(ParameterError, match=r"The tree's actions are `-0\.001`, `0\.001`, those of this environment"):
        flown("Acrobot-v1", as_policy(fitted))
    with pytest.raises(ParameterError, match="has continuous actions, and this environment takes one of several"):
        flown("CartPole-v1", as_policy(pendulums()[1]))
    with pytest.raises(ParameterError, match="has discrete actions, and this environment takes numbers"):
        flown("Pendulum-v1", as_policy(fitted))


class Levers(gymnasium.Env):
    """So many choices at once that a log has them as numbers."""

    observation_space = spaces.Box(-1, 1, (1,))
    action_space = spaces.MultiDiscrete([10, 10])

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.steps = 0
        return self.np_random.uniform(-1, 1, 1).astype(np.float32), {}

    def step(self, action):
        assert action.dtype.kind == "i"
        self.steps += 1
        return self.np_random.uniform(-1, 1, 1).astype(np.float32), 0.0, self.steps == 5, False, {}


def test_numbers_that_must_be_whole_are_rounded():
    with pytest.warns(TripleTreeWarning, match="each choice is recorded as a number"):
        log = record(Levers(), lambda seen: [int(5 + 4 * seen[0]), 3], episodes=10)
    flights = flown(Levers, as_policy(grown(log, 4)))
    assert {tuple(row) for flight in flights for row in flight.actions.tolist()} <= {(i, 3) for i in range(10)}
