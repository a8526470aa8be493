from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from benchmarks.critical import GAMMA, world

from tests.logs import make_log
from tests.test_api import quietly_fitted
from tripletree import Log, ParameterError
from tripletree.answers.criticality import REASONS
from tripletree.questions.criticality import _judged, _prior, _slope


def tree_of(log: Log):
    return quietly_fitted(log, max_leaves=60, gamma=GAMMA, threads=1)


@pytest.mark.parametrize("agent", ["soft", "explores"])
def test_finds_the_region_in_which_the_action_matters(agent):
    log = world(0, agent=agent, effect=2.0, episodes=250)
    found = tree_of(log).criticality(log)
    assert found.critical
    for place in found.critical:
        assert place.option == "left"
        assert place.difference < 0
        assert place.interval[1] < 0
        x0 = log.states[np.isin(tree_of(log).apply(log.states), place.leaves), 0]
        assert (x0 > 0.3).mean() > 0.9
    assert "left went with" in str(found)
    assert "less value than right" in str(found)
    assert '"Went with" is not "made"' in str(found)


def test_claims_nothing_where_no_choice_matters():
    """Of 48 logs in which nothing matters, at most 5 % may be told otherwise; chance makes 6 of them improbable."""
    false = 0
    for seed in range(8):
        for agent in ("soft", "explores"):
            for noise in ("end", "step", "hidden"):
                log = world(100 + seed, agent=agent, noise=noise)
                false += bool(tree_of(log).criticality(log).critical)
    assert false <= 5


def test_an_agent_that_never_chooses_cannot_be_judged():
    log = world(1, agent="certain", effect=2.0, episodes=250)
    tree = tree_of(log)
    found = tree.criticality(log)
    assert not found.critical
    assert found.told < 0.2
    assert sum(found.unknown) + found.told == pytest.approx(1)
    told = str(tree.criticality(log, state=[-1.0, -1.0]))
    assert told == f"Whether the choice matters here cannot be told: {REASONS[0]}."


def test_intervals_hold_the_difference_there_is():
    """One step an episode, so that what the action changes is known exactly."""
    covered, claims = [], 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        x, right = rng.uniform(-1, 1, (800, 1)), rng.random(800) < 0.4
        paid = x[:, 0] + np.where(x[:, 0] > 0, 1.5 * right, 0.0) + rng.normal(size=800)
        log = make_log(x, right, paid, np.arange(801), labels=("left", "right"))
        tree = tree_of(log)
        for place in tree.criticality(log).places:
            x0 = x[np.isin(tree.apply(x), place.leaves), 0]
            truth = -1.5 * (x0 > 0).mean()
            covered.append(place.interval[0] <= truth <= place.interval[1])
            claims += place.matters
    assert claims > 20
    assert np.mean(covered) > 0.85


def test_the_slope_is_that_of_least_squares_and_its_error_that_of_whole_episodes():
    rng = np.random.default_rng(3)
    group = np.repeat(np.arange(40), 3)
    taken = rng.normal(size=120)
    value = 0.7 * taken + np.repeat(rng.normal(size=40), 3)
    slope, error, freedom, chance = _slope(taken, group, value)
    assert slope == pytest.approx(np.linalg.lstsq(taken[:, None], value, rcond=None)[0][0])
    # Leaving out each group in turn, by brute force.
    left_out = [(taken[group != g] * value[group != g]).sum() / (taken[group != g] ** 2).sum() for g in range(40)]
    assert error == pytest.approx(np.sqrt(((np.array(left_out) - slope) ** 2).sum()), rel=0.02)
    assert 20 < freedom < 40
    assert chance < 0.01


def test_the_largest_of_many_noisy_differences_is_shrunk():
    rng = np.random.default_rng(5)
    truth = np.where(np.arange(200) < 20, rng.normal(0, 3, 200), 0.0)
    raw = truth + rng.normal(size=200)
    prior = _prior(raw, np.ones(200))
    assert 4 < prior < 16
    kept = prior / (prior + 1)
    largest = np.argsort(-np.abs(raw))[:10]
    assert np.abs(kept * raw - truth)[largest].mean() < np.abs(raw - truth)[largest].mean()


def test_steps_of_an_episode_count_once():
    """The same log with each step repeated three times tells nothing more."""
    log = world(2, effect=2.0, episodes=100)
    times = 3
    often = make_log(
        np.repeat(log.states, times, axis=0),
        np.repeat(log.actions, times),
        np.repeat(log.rewards, times),
        log.starts * times,
        labels=("left", "right"),
        endings=[1] * 100,
    )
    one, three = (quietly_fitted(part, max_leaves=1, gamma=0.0, threads=1).criticality(part) for part in (log, often))
    assert three.places[0].error > 0.9 * one.places[0].error
    assert one.places[0].episodes == three.places[0].episodes == 100


def test_groups_are_what_is_counted():
    log = world(3, effect=2.0, episodes=120)
    alone = tree_of(log).criticality(log)
    grouped = replace(log, groups=np.arange(120) // 40)
    together = tree_of(grouped).criticality(grouped)
    assert alone.critical
    assert not together.critical
    assert together.told == 0
    assert together.unknown[1] > 0.5


def test_levels_of_a_continuous_action():
    rng = np.random.default_rng(4)
    x, push = rng.uniform(-1, 1, (900, 1)), rng.normal(size=(900, 2))
    paid = x[:, 0] + np.where(x[:, 0] > 0, 1.5 * push[:, 0], 0.0) + rng.normal(size=900)
    log = make_log(x, push, paid, np.arange(901))
    found = tree_of(log).criticality(log)
    assert found.critical
    assert {place.about for place in found.critical} == {"a0"}
    assert all(place.option.startswith("a0 ") for place in found.critical)


def test_moments_are_few_apart_and_where_it_matters():
    log = world(0, effect=2.0, episodes=250)
    tree = tree_of(log)
    found = tree.criticality(log)
    some = 0
    for episode in range(20):
        moments = tree.criticality(log, episode=episode).moments
        assert len(moments) <= 3
        steps = [one.step for one in moments]
        assert all(b - a >= 10 for a, b in itertools.pairwise(steps))
        for one in moments:
            row = int(log.starts[episode]) + one.step
            assert one.place.matters
            assert one.place in found.places
            assert int(tree.apply(log.states[row])) in one.place.leaves
            assert one.did == log.schema.action.labels[log.actions[row]]
            some += 1
        told = tree.story(episode, log=log)
        assert [one.step for one in told.moments] == steps
        assert ("Worth a look: step" in str(told)) == bool(steps)
    assert some > 5
    # Other episodes are what a moment is known from.
    assert tree.story(log.select([0])).moments == ()


def test_a_state_is_told_by_its_place():
    log = world(0, effect=2.0, episodes=250)
    tree = tree_of(log)
    here, elsewhere = tree.criticality(log, state=[1.0, 0.0]), tree.criticality(log, state="x0 = -0.5")
    assert here.place.matters
    assert str(here).startswith("In states like this one (x0 >= ")
    assert "no difference beyond chance" in str(elsewhere)
    assert "Not given, so the log's median: x1" in str(elsewhere)
    assert here.to_dict()["place"]["option"] == "left"


def test_what_differs_in_nothing_cannot_be_told():
    log = world(0)
    flat = replace(log, rewards=np.zeros(log.n_samples))
    tree = tree_of(flat)
    assert "cannot be told: the log has no rewards" in str(tree.criticality(flat))
    assert "cannot be told: the log has no rewards" in str(tree.criticality(flat, state=[0.0, 0.0]))
    assert tree.criticality(flat, episode=0).moments == ()
    few = log.select(np.arange(6))
    assert "cannot be told anywhere" in str(tree_of(few).criticality(few))


def test_refusals():
    log = world(0, episodes=20)
    tree = tree_of(log)
    with pytest.raises(ParameterError, match="Give state or episode, not both"):
        tree.criticality(log, state=[0, 0], episode=1)
    with pytest.raises(ParameterError, match="episode must be a whole number from 0 to 19; got 20"):
        tree.criticality(log, episode=20)
    with pytest.raises(ParameterError, match="state must be one state; got 2"):
        tree.criticality(log, state=[[0.0, 0.0], [1.0, 1.0]])
    assert _judged([]) == []
