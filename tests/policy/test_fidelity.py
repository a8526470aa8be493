"""The tree beside its agent: returns with intervals, agreement where either of them goes."""

from __future__ import annotations

from functools import partial

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from scipy import stats

from tests.policy.agents import balance, drive, grown, pendulums, poles, roads, swing
from tripletree import Action, ParameterError, TripleTreeWarning, record
from tripletree.demos import road
from tripletree.policy.fidelity import agreement, apart, fidelity, mean_of
from tripletree.policy.flying import Airfield
from tripletree.policy.policy import as_policy

left = partial(road.environment, "left")


def test_intervals_are_students():
    numbers = np.random.default_rng(0).normal(3, 2, 17)
    found = mean_of(numbers)
    expected = stats.t.interval(0.95, 16, numbers.mean(), stats.sem(numbers))
    assert found.mean == numbers.mean()
    assert found.interval == pytest.approx(expected)
    assert mean_of(numbers[:1]).interval is None
    assert mean_of(np.full(5, 2.0)) == (2.0, (2.0, 2.0))


def test_intervals_of_two_samples_are_welchs():
    rng = np.random.default_rng(1)
    ours, theirs = rng.normal(3, 2, 17), rng.normal(1, 5, 9)
    expected = stats.ttest_ind(ours, theirs, equal_var=False).confidence_interval(0.95)
    assert apart(ours, theirs).interval == pytest.approx((expected.low, expected.high))
    assert apart(ours[:1], theirs).interval is None
    assert apart(np.ones(3), np.ones(4)) == (0.0, (0.0, 0.0))


def test_agreement_of_labels_is_the_share_that_is_equal():
    found = agreement(np.array([0, 1, 1, 0]), np.array([0, 1, -1, 1]), Action("discrete", labels=("a", "b")), None)
    assert (found.steps, found.share, found.explained) == (4, 0.5, None)


def test_agreement_of_numbers_is_told_in_spreads():
    action = Action("continuous", ("main", "side"), (), ("", ""))
    agent = np.array([[0.0, 1.0], [2.0, 1.0], [4.0, 1.0]])
    tree = agent + np.array([[1.0, 0.0], [-1.0, 0.0], [1.0, 0.0]])
    found = agreement(tree, agent, action, np.array([2.0, 0.0]))
    assert found.rmse == {"main": 1.0, "side": 0.0}
    assert found.relative == {"main": 0.5, "side": None}
    assert found.explained == pytest.approx(1 - 1 / agent[:, 0].var())
    assert agreement(tree, np.ones((3, 2)), action, np.array([2.0, 0.0])).explained is None


def test_tree_and_agent_are_flown_from_the_same_seeds():
    _, fitted = poles()
    found = fidelity(fitted, "CartPole-v1", balance, episodes=6, seed=500, workers=1)
    with Airfield("CartPole-v1", workers=1) as field:
        ours = field.fly(as_policy(fitted), range(500, 506), adviser=balance)
        theirs = field.fly(balance, range(500, 506))
    assert found.tree_returns.tolist() == [flight.rewards.sum() for flight in ours]
    assert found.agent_returns.tolist() == [flight.rewards.sum() for flight in theirs]
    assert found.tree_lengths.tolist() == [len(flight.rewards) for flight in ours]
    assert found.paired
    assert found.difference == mean_of(found.tree_returns - found.agent_returns)
    assert found.at_least == (found.tree_returns >= found.agent_returns).mean()
    act = as_policy(fitted)
    told = [act(flight.states[:-1]) == flight.actions[:, 0] for flight in theirs]
    assert found.on_agent.share == np.concatenate(told).mean()
    assert found.on_agent.steps == found.agent_lengths.sum()
    assert found.on_tree.share == np.concatenate([flight.actions == flight.advice for flight in ours]).mean()
    states = np.concatenate([flight.states[:-1] for flight in ours])
    assert found.outside == fitted.outside(states).mean()


def test_it_does_not_depend_on_the_number_of_workers():
    _, fitted = poles()
    one, two = (fidelity(fitted, "CartPole-v1", balance, episodes=4, workers=n).to_dict() for n in (1, 2))
    assert one == two


def test_progress_counts_the_episodes_of_both():
    told = []
    fidelity(poles()[1], "CartPole-v1", "random", episodes=3, progress=lambda *given: told.append(given))
    assert told == [(i, 6) for i in range(1, 7)]


def test_a_tree_that_is_its_own_agent_agrees_everywhere():
    _, fitted = poles()
    found = fidelity(fitted, "CartPole-v1", as_policy(fitted), episodes=4)
    assert (found.on_agent.share, found.on_tree.share) == (1.0, 1.0)
    assert found.difference == (0.0, (0.0, 0.0))
    assert found.at_least == 1.0


def test_continuous_actions():
    _, fitted = pendulums()
    linear, mean = (fidelity(fitted, "Pendulum-v1", swing, episodes=4, leaf_model=m) for m in ("linear", "mean"))
    assert (linear.leaf_model, mean.leaf_model) == ("linear", "mean")
    assert linear.on_tree.explained > mean.on_tree.explained > 0
    assert linear.on_agent.explained > 0.8
    assert list(linear.on_agent.rmse) == list(fitted.schema.action.names)
    assert linear.on_agent.share is None


def test_the_road_is_flown_by_position():
    _, fitted = roads()
    with pytest.warns(TripleTreeWarning, match="they count in its order"):
        found = fidelity(fitted, left, drive, episodes=20)
    assert found.on_agent.share > 0.9
    assert found.as_well


def test_episodes_that_the_tree_has_seen_are_counted():
    log = record("CartPole-v1", balance, episodes=1, seed=77)
    found = fidelity(grown(log, 5), "CartPole-v1", balance, episodes=2, seed=76)
    assert found.seen == 1


class Wild(gymnasium.Env):
    """An environment that does not obey its seed."""

    observation_space = spaces.Box(0, 1e6, (1,))
    action_space = spaces.Discrete(2)
    begun = 0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.steps, self.begun = 0, self.begun + 1
        return np.array([self.begun], np.float32), {}

    def step(self, action):
        self.steps += 1
        return np.array([self.begun], np.float32), float(action), self.steps > 2, False, {}


def test_starts_that_differ_make_two_samples():
    log = record(Wild(), lambda state: int(state[0] % 2), episodes=10)
    env = Wild()
    found = fidelity(grown(log, 3), env, lambda state: int(state[0] % 2), episodes=5, workers=1)
    assert not found.paired
    assert found.difference == apart(found.tree_returns, found.agent_returns)
    assert "does not obey its seed" in str(found)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"episodes": 0}, "episodes must be a whole number of at least 1"),
        ({"seed": -1}, "seed must be a whole number of at least 0"),
        ({"leaf_model": "both"}, "leaf_model must be"),
        ({"env": "Pendulum-v1"}, "has 4 features .* have 3"),
        ({"agent": None}, "Who acts"),
        ({"agent": 3}, "agent must be a function"),
    ],
)
def test_mistakes_are_told(options, message):
    given = {"env": "CartPole-v1", "agent": balance, "episodes": 2, **options}
    with pytest.raises(ParameterError, match=message):
        fidelity(poles()[1], given.pop("env"), given.pop("agent"), **given)
