"""Refining: the agent labels what the tree visits, fresh seeds judge, and drawn steps keep their targets."""

from __future__ import annotations

from dataclasses import replace

import gymnasium
import numpy as np
import pytest

from tests.policy.agents import balance, drive, grown, pendulums, poles, roads, swing
from tripletree import Log, LogError, ParameterError, TripleTreeWarning, record
from tripletree.demos import road
from tripletree.model.evaluate import log_values
from tripletree.policy import refine as module
from tripletree.policy.critic import importance, weighed
from tripletree.policy.fidelity import apart
from tripletree.policy.policy import as_policy
from tripletree.policy.refine import refine
from tripletree.store import load, save

FEW = {"rounds": 2, "episodes": 3, "judge": 2, "workers": 1}


def worth(states):
    """The value of either push: more, the more the pole leans."""
    lean = np.abs(states[:, 2] + states[:, 3])
    return np.stack([lean, -lean], axis=1)


@pytest.fixture(scope="module")
def refined():
    log, fitted = poles(8)
    return refine(fitted, log, "CartPole-v1", balance, **FEW)


def test_rounds_grow_on_all_episodes_so_far(refined):
    log, fitted = poles(8)
    assert [one.number for one in refined.rounds] == [0, 1, 2]
    sizes = [one.samples for one in refined.rounds]
    assert sizes[0] == log.n_samples
    assert sizes == sorted(set(sizes))
    assert refined.log.n_samples == sizes[-1]
    assert refined.log.n_episodes == log.n_episodes + 2 * 3
    np.testing.assert_array_equal(refined.log.states[: log.n_samples], log.states)
    assert {one.leaves for one in refined.rounds} == {8}
    assert refined.kept == 2
    assert refined.fitted.options == fitted.options
    assert refined.fitted.provenance["log_sha256"] == refined.log.fingerprint()


def test_actions_of_flown_episodes_are_the_agents_and_all_else_is_the_trees(refined):
    log, fitted = poles(8)
    flown = refined.log.select(slice(log.n_episodes, log.n_episodes + 3))
    asked = [balance(state) for state in flown.states.astype(np.float32)]
    assert flown.actions.tolist() == asked
    moved = as_policy(fitted)(flown.states)
    assert (moved != asked).any()
    # The pole goes where the tree pushed it.
    env = gymnasium.make("CartPole-v1")
    state, _ = env.reset(seed=int(flown.episode_ids[0]))
    for row in range(flown.starts[1]):
        np.testing.assert_array_equal(state, flown.states[row].astype(np.float32))
        state, *_ = env.step(int(moved[row]))


def test_no_seed_is_used_twice(monkeypatch):
    used = []
    usual = module.Airfield.fly

    def fly(self, pilot, seeds, **options):
        used.append((tuple(seeds), options.get("adviser") is not None))
        return usual(self, pilot, seeds, **options)

    monkeypatch.setattr(module.Airfield, "fly", fly)
    log, fitted = poles(8)
    refine(fitted, log, "CartPole-v1", balance, **FEW, seed=100, keep="best")
    # The agent and the tree are judged on the same seeds; growing has seeds of its own.
    assert [len(seeds) for seeds, _ in used] == [2, 2, 3, 2, 2, 3, 2, 2, 2, 2]
    judged = [seeds for seeds, advised in used if not advised]
    flown = [seeds for seeds, advised in used if advised and seeds not in judged]
    every = [seed for seeds in (*judged, *flown) for seed in seeds]
    assert sorted(every) == list(range(100, 100 + len(every)))


def test_it_does_not_depend_on_the_number_of_workers(refined):
    log, fitted = poles(8)
    again = refine(fitted, log, "CartPole-v1", balance, **{**FEW, "workers": 2})
    assert again.to_dict() == refined.to_dict()
    assert again.log.fingerprint() == refined.log.fingerprint()


def test_the_gain_is_measured_against_the_agent(refined):
    first, last = (
        one.judged.tree_returns - one.judged.agent_returns for one in refined.rounds[:: len(refined.rounds) - 1]
    )
    assert refined.gain == apart(last, first)


def test_it_helps_where_the_tree_was_lost():
    # A log so short that the tree does not know what to do when the cart drifts.
    log = record("CartPole-v1", balance, episodes=1)
    log = Log.from_arrays(
        log.states[:60], log.actions[:60], log.rewards[:60], starts=[0], labels=log.schema.action.labels
    )
    fitted = grown(log, 20, leaf_model="mean")
    found = refine(fitted, log, "CartPole-v1", balance, rounds=3, episodes=5, judge=10)
    assert found.gain.interval[0] > 0
    assert found.rounds[-1].judged.on_tree.share > found.rounds[0].judged.on_tree.share


def test_the_best_is_judged_once_more():
    log, fitted = poles(8)
    found = refine(fitted, log, "CartPole-v1", balance, **FEW, keep="best")
    means = [one.judged.difference.mean for one in found.rounds]
    assert found.kept == int(np.argmax(means))
    assert found.again is not None
    assert found.again.seed not in [one.judged.seed for one in found.rounds]
    assert found.log.n_samples == found.rounds[found.kept].samples


def test_a_size_that_was_chosen_is_kept_and_theta_can_be_changed():
    log, fitted = poles(30)
    small = fitted.truncate(6)
    found = refine(small, log, "CartPole-v1", balance, **{**FEW, "rounds": 1}, theta=(1, 0, 0))
    assert found.fitted.tree.n_leaves == 6
    assert found.fitted.options["theta"] == [1.0, 0.0, 0.0]
    with pytest.raises(ParameterError, match="theta must be three"):
        refine(fitted, log, "CartPole-v1", balance, theta=(1, 2))


def test_continuous_actions_and_a_road_are_refined():
    log, fitted = pendulums()
    found = refine(fitted, log, "Pendulum-v1", swing, **FEW)
    flown = found.log.select(slice(log.n_episodes, None))
    np.testing.assert_allclose(flown.actions, [swing(state) for state in flown.states], atol=1e-5)
    log, fitted = roads()
    with pytest.warns(TripleTreeWarning, match="they count in its order") as told:
        found = refine(fitted, log, lambda: road.environment("left"), drive, **FEW)
    assert len(told) == 1
    assert found.log.schema == log.schema


def test_the_agent_may_do_what_it_never_did_before():
    log = record("Acrobot-v1", lambda state: 0, episodes=1)
    narrow = Log.from_arrays(log.states, log.actions, log.rewards, starts=[0])
    assert narrow.schema.action.labels == ("0",)
    short = {"rounds": 1, "episodes": 1, "judge": 2, "workers": 1}
    found = refine(grown(narrow, 3), narrow, "Acrobot-v1", lambda state: 2, **short)
    assert found.log.schema.action.labels == ("0", "1", "2")
    assert set(found.log.actions[log.n_samples :].tolist()) == {2}


def test_importance_is_the_spread_of_the_values():
    states = np.zeros((3, 4))
    states[:, 2] = [0, 1, -2]
    assert importance(worth, states).tolist() == [0, 2, 4]
    for wrong in (lambda s: np.zeros(3), lambda s: np.zeros((2, 2)), lambda s: np.full((3, 2), np.nan)):
        with pytest.raises(ParameterError, match=r"weights must return .* shape \(3, actions\); got "):
            importance(wrong, states)


def test_steps_count_by_how_much_they_matter():
    log, _ = poles(8)
    np.testing.assert_allclose(weighed(log, worth).weights, importance(worth, log.states))
    # Times the weights that they had; and where nothing matters, all count as before.
    own = log.weighted(np.arange(log.n_samples))
    np.testing.assert_allclose(weighed(own, worth).weights, importance(worth, log.states) * np.arange(log.n_samples))
    assert weighed(log, lambda s: np.ones((len(s), 2))) is log


def test_a_critic_weighs_steps_and_the_tree_still_knows_how_the_log_moves(tmp_path):
    log, fitted = poles(8)
    found = refine(fitted, log, "CartPole-v1", balance, **FEW, weights=worth)
    assert found.weighted
    tree = found.fitted
    assert tree.track is not None
    assert tree.track.n_samples == found.log.n_samples
    assert tree.provenance["episodes"] == found.log.n_episodes
    assert tree.options == fitted.options
    weight = importance(worth, found.log.states)
    assert tree.attributes.count[0] == np.count_nonzero(weight)
    assert tree.attributes.value_mean[0] == pytest.approx(
        np.average(log_values(tree, found.log), weights=weight), rel=1e-3
    )
    save(tree, tmp_path / "refined.tripletree")
    assert load(tmp_path / "refined.tripletree").tree.n_leaves == tree.tree.n_leaves


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rounds": 0}, "rounds must be a whole number of at least 1"),
        ({"judge": 1}, "judge must be a whole number of at least 2"),
        ({"keep": "first"}, "keep must be 'last' or 'best'"),
        ({"weights": "mine"}, r'weights must be a function .*, weights="agent" or None'),
        ({"weights": "agent"}, "The agent has no critic of its own"),
        ({"seed": 0.5}, "seed must be a whole number"),
    ],
)
def test_mistakes_are_told(options, message):
    log, fitted = poles(8)
    with pytest.raises(ParameterError, match=message):
        refine(fitted, log, "CartPole-v1", balance, **{**FEW, **options})


def test_logs_that_flights_cannot_join_are_refused():
    log, fitted = poles(8)
    timed = replace(log, dt=np.ones(log.n_samples), schema=replace(log.schema, per_second=True))
    with pytest.raises(ParameterError, match="knows the time between its steps"):
        refine(replace(fitted, schema=timed.schema), timed, "CartPole-v1", balance, **FEW)
    with pytest.raises(LogError, match="has the features"):
        refine(fitted, pendulums()[0], "CartPole-v1", balance, **FEW)
    with pytest.raises(ParameterError, match="log must be a Log"):
        refine(fitted, None, "CartPole-v1", balance, **FEW)
    unpaid = replace(log, rewards=np.zeros(log.n_samples), schema=replace(log.schema, has_reward=False))
    with pytest.raises(ParameterError, match="This log has no rewards"):
        refine(grown(unpaid, 4), unpaid, "CartPole-v1", balance, **FEW)


@pytest.mark.parametrize("groups", [np.array([0, 0, 1, 1]), np.array(["ann", "ann", "bob", "bob"])])
def test_flights_belong_to_no_group_of_the_log(groups):
    log, fitted = poles(8)
    grouped = replace(log, groups=groups, episode_ids=np.array(["a", "b", "c", "d"]))
    found = refine(fitted, grouped, "CartPole-v1", balance, **{**FEW, "rounds": 1}).log
    assert len(set(found.groups.tolist())) == 2 + 3
    assert found.episode_ids[-1].startswith("flown from seed ")


def test_ctrl_c_keeps_whole_rounds():
    log, fitted = poles(8)
    end = 2 * 2 + (3 + 2 * 2) + 3  # the first tree judged, one round, and the flights of the second

    def progress(done, most):
        if done == end:
            raise KeyboardInterrupt

    with pytest.warns(TripleTreeWarning, match=r"Stopped by Ctrl-C after 1 round\."):
        found = refine(fitted, log, "CartPole-v1", balance, **FEW, progress=progress)
    assert (len(found.rounds), found.kept) == (2, 1)

    def at_once(done, most):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        refine(fitted, log, "CartPole-v1", balance, **FEW, progress=at_once)


def test_progress_counts_all_episodes():
    log, fitted = poles(8)
    told = []
    refine(fitted, log, "CartPole-v1", balance, **FEW, keep="best", progress=lambda *given: told.append(given))
    most = 4 * 2 * 2 + 2 * 3
    assert told == [(i, most) for i in range(1, most + 1)]
