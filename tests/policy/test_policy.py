"""The tree acts: it does what predict says, in the environment's own words."""

from __future__ import annotations

import os
from dataclasses import replace

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from tests.policy.agents import grown, pendulums, poles, roads
from tripletree import Action, Log, ParameterError, record
from tripletree.policy.policy import as_policy, meanings
from tripletree.questions.predict import predict


def asked(fitted, states, leaf_model):
    """What predict says, by way of the tree's own leaf model."""
    return predict(replace(fitted, options={**fitted.options, "leaf_model": leaf_model}), states, 1).action


@pytest.mark.parametrize("leaf_model", ["linear", "mean"])
def test_it_takes_the_label_that_predict_says_as_the_environments_number(leaf_model):
    log, fitted = poles()
    act = as_policy(fitted, leaf_model)
    codes = np.array([0, 1])[np.searchsorted(["push left", "push right"], asked(fitted, log.states, leaf_model))]
    many = act(log.states)
    assert many.dtype == np.int64
    np.testing.assert_array_equal(many, codes)
    single = [act(state) for state in log.states[:300]]
    assert all(type(action) is int for action in single)
    assert single == codes[:300].tolist()
    assert 0 < np.mean(codes) < 1


@pytest.mark.parametrize("leaf_model", ["linear", "mean"])
def test_it_returns_numbers_in_the_precision_of_environments(leaf_model):
    log, fitted = pendulums()
    act = as_policy(fitted, leaf_model)
    expected = asked(fitted, log.states, leaf_model)
    many = act(log.states)
    assert (many.dtype, many.shape) == (np.float32, (log.n_samples, 1))
    np.testing.assert_allclose(many, expected, rtol=1e-6, atol=1e-6)
    one = act(log.states[5])
    assert (one.dtype, one.shape) == (np.float32, (1,))
    np.testing.assert_allclose(one, many[5], rtol=1e-6)


def test_leaves_do_what_the_tree_was_grown_with():
    log, fitted = pendulums()
    mean = grown(log, leaf_model="mean")
    assert as_policy(fitted).leaf_model == "linear"
    assert as_policy(mean).leaf_model == "mean"
    assert not np.array_equal(as_policy(mean)(log.states), as_policy(mean, "linear")(log.states))


def test_a_state_comes_in_many_forms():
    log, fitted = poles()
    act = as_policy(fitted)
    state = log.states[7]
    forms = [state, state.astype(np.float32), list(state), tuple(state), np.repeat(state, 2)[::2], state.astype(">f8")]
    assert {act(form) for form in forms} == {act(log.states[7:8])[0]}


def test_predict_is_that_of_stable_baselines():
    log, fitted = poles()
    act = as_policy(fitted)
    memory = object()
    assert act.predict(log.states[0]) == (act(log.states[0]), None)
    actions, kept = act.predict(log.states[:3], memory, np.ones(3, bool), deterministic=True)
    assert kept is memory
    np.testing.assert_array_equal(actions, act(log.states[:3]))
    assert act.predict(log.states[:1])[0].shape == (1,)


def test_repr_says_what_it_is():
    assert repr(as_policy(poles()[1])) == "<TreePolicy: 30 leaves, discrete action>"


@pytest.mark.parametrize(
    ("labels", "codes", "expected"),
    [
        (("a", "b"), ("0", "2"), [0, 2]),
        (("0", "2"), (), [0, 2]),
        (("-1", "1"), (), [-1, 1]),
        (("0, 0", "0, 2"), (), [[0, 0], [0, 2]]),
        (("0, 0", "1"), (), ["0, 0", "1"]),
        (("left", "right"), (), ["left", "right"]),
        (("left", "right"), ("L", "R"), ["left", "right"]),
        (("-0.001", "0.001"), (), ["-0.001", "0.001"]),
    ],
)
def test_labels_mean_whole_numbers_or_themselves(labels, codes, expected):
    found = meanings(Action("discrete", labels=labels, codes=codes))
    assert [one.tolist() if isinstance(one, np.ndarray) else one for one in found] == expected


def test_labels_that_are_no_numbers_are_returned_as_they_are():
    log, fitted = roads()
    act = as_policy(fitted)
    assert act(log.states[0]) in ("-0.001", "0.001")
    assert set(act(log.states).tolist()) == {"-0.001", "0.001"}


def test_several_choices_are_an_array_that_is_the_callers_own():
    states = np.linspace(0, 1, 40)[:, None]
    actions = np.stack([states[:, 0] > 0.5, states[:, 0] > 0.2], axis=1).astype(int)
    log = Log.from_arrays(states, actions, np.zeros(40), starts=[0, 20])
    act = as_policy(grown(log, 5, leaf_model="mean"))
    assert act([0.9]).tolist() == [1, 1]
    act([0.9])[:] = 7
    assert act(states[[0, 15, -1]]).tolist() == [[0, 0], [0, 1], [1, 1]]
    assert act([0.9]).tolist() == [1, 1]


@pytest.mark.parametrize(
    ("states", "message"),
    [
        ([1.0, 2.0], r"has 4 features, so observations must have shape \(4,\) or \(states, 4\); got shape \(2,\)"),
        (np.zeros((3, 5)), r"got shape \(3, 5\)\. .* type env=\.\.\."),
        (np.zeros((2, 2, 4)), r"got shape \(2, 2, 4\)"),
        (1.0, r"got shape \(\)"),
        ({"a": 1}, r"must be arrays of shape .*; got dict\. .* type env=\.\.\."),
        ("left", "got str"),
    ],
)
def test_other_shapes_are_refused_with_what_to_type(states, message):
    with pytest.raises(ParameterError, match=message):
        as_policy(poles()[1])(states)


def test_batches_must_be_finite():
    states = np.zeros((3, 4))
    states[1, 2] = np.nan
    with pytest.raises(ParameterError, match="pole angle of state 1 is nan"):
        as_policy(poles()[1])(states)


def test_a_tree_without_actions_or_without_linear_leaves_says_so():
    log, fitted = poles()
    silent = Log.from_dict({"episode": [0, 0, 1, 1], "x": [0.0, 1, 2, 3], "reward": [0, 1, 0, 1]}, action="none")
    with pytest.raises(ParameterError, match="without actions, so it cannot act"):
        as_policy(grown(silent, 2))
    with pytest.raises(ParameterError, match="leaf_model must be 'mean' or 'linear'; got 'median'"):
        as_policy(fitted, "median")
    old = replace(fitted, linear=None, options={**fitted.options, "leaf_model": "mean"})
    with pytest.raises(ParameterError, match=r'no linear leaves: .* Type leaf_model="mean"'):
        as_policy(old, "linear")
    assert as_policy(old)(log.states[0]) in (0, 1)


class Rooms(gymnasium.Env):
    """An environment whose observations are a Dict."""

    observation_space = spaces.Dict({"place": spaces.Box(-1, 1, (2,)), "mode": spaces.Discrete(3)})
    action_space = spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.steps = 0
        return self._seen(), {}

    def step(self, action):
        self.steps += 1
        return self._seen(), float(action), self.steps >= 8, False, {}

    def _seen(self):
        place = self.np_random.uniform(-1, 1, 2).astype(np.float32)
        return {"place": place, "mode": np.int64(self.np_random.integers(3))}


def test_observations_that_are_no_vectors_become_features_as_in_the_log():
    env = Rooms()
    log = record(env, lambda seen: int(seen["mode"] == 2), episodes=6)
    fitted = grown(log, 5)
    act = as_policy(fitted, env=env)
    first = {"place": np.zeros(2, np.float32), "mode": 2}
    assert (act(first), act({**first, "mode": 0})) == (1, 0)
    batch = {"place": np.zeros((3, 2), np.float32), "mode": np.array([2, 0, 2])}
    assert act.predict(batch)[0].tolist() == [1, 0, 1]
    with pytest.raises(
        ParameterError, match=r"must be those of this environment, Dict\(.*, or several of them stacked"
    ):
        act({"place": np.zeros((1, 3, 2)), "mode": np.zeros((1, 3))})
    with pytest.raises(ParameterError, match=r"has 5 features .* this environment have 4 \(cart position, "):
        as_policy(fitted, env="CartPole-v1")


def test_it_survives_a_fork():
    log, fitted = poles()
    act = as_policy(fitted)
    expected = act(log.states).tolist()
    child = os.fork()
    if child == 0:  # pragma: no cover - another process
        os._exit(0 if act(log.states).tolist() == expected and act(log.states[0]) == expected[0] else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
