"""The road world: its physics, its solved agents, its logs."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest

from tripletree.demos import road
from tripletree.errors import ParameterError
from tripletree.log.derive import values
from tripletree.log.endings import TERMINATED, TRUNCATED


@pytest.fixture(scope="module", params=sorted(road.VARIANTS))
def agent(request):
    return request.param


@pytest.fixture(scope="module")
def log(agent):
    return road.record(agent)


def test_a_step_pays_for_speed_and_ends_at_the_walls():
    rewards = road.Rewards(left=-7, right=5, speed=2)
    states = [[1, 0.05], [0.01, -0.05], [2.99, 0.05], [1, 0.1]]
    after, reward, ended = road.step(states, 0.001, rewards)
    np.testing.assert_allclose(after, [[1.051, 0.051], [-0.039, -0.049], [3.041, 0.051], [1.1, 0.1]])
    np.testing.assert_allclose(reward, [0.102, -7, 5, 0.2])
    assert ended.tolist() == [False, True, True, False]


def test_the_log_has_the_size_of_the_paper_s(log):
    assert log.n_samples == 10_000
    assert log.n_features == 2
    assert np.diff(log.starts).max() <= road.MAX_STEPS


def test_the_log_obeys_the_physics(agent, log):
    accelerations = np.array(road.ACCELERATIONS)[log.actions]
    ends = log.starts[1:] - 1
    after = np.vstack([log.states[1:], log.states[-1:]])
    after[ends] = log.final_states
    expected, reward, ended = road.step(log.states, accelerations, road.VARIANTS[agent])
    np.testing.assert_array_equal(after, expected)
    np.testing.assert_array_equal(log.rewards, reward)
    np.testing.assert_array_equal(log.endings == TERMINATED, ended[ends])
    assert ended.sum() == ended[ends].sum()
    assert set(log.endings) <= {TERMINATED, TRUNCATED}


def test_the_agent_does_the_same_everywhere_in_a_cell(agent, log):
    agent = road.solve(road.VARIANTS[agent])
    np.testing.assert_array_equal(log.actions, agent.policy[road.cell(log.states)])
    np.testing.assert_array_equal(log.actions, agent.act(log.states))


@pytest.fixture(scope="module")
def moves():
    """Return where each action leads from evenly spread states of every cell, by plain loops over whole numbers.

    A cell is 5,700 grains wide along either axis: 19 gaps between its samples, and an acceleration is 3/20 of it. A
    speed of 15 cells is 0.1, which is one cell of position; so positions are counted in fifteenths of a grain.
    """
    cell, acceleration = 5_700, 855
    found = []
    for column, row, push in itertools.product(range(30), range(30), (-1, 1)):
        went, walls, speeds = Counter(), Counter(), 0
        for j in range(20):
            speed = (row - 15) * cell + j * 300 + push * acceleration
            speed = max(-15 * cell, min(15 * cell, speed))
            for i in range(20):
                pos = 15 * (column * cell + i * 300) + speed
                if pos <= 0:
                    walls["left"] += 1
                elif pos >= 15 * 30 * cell:
                    walls["right"] += 1
                else:
                    went[pos // (15 * cell), min(speed // cell + 15, 29)] += 1
                    speeds += abs(speed)
        mean_speed = speeds / 400 * 0.1 / (15 * cell)
        found.append(
            ([(*to, n / 400) for to, n in went.items()], walls["left"] / 400, walls["right"] / 400, mean_speed)
        )
    return found


def test_a_plain_loop_finds_the_same_policy_and_values(agent, moves):
    rewards = road.VARIANTS[agent]
    value = [[0.0] * 30 for _ in range(30)]
    better = [[0] * 30 for _ in range(30)]
    change = 1.0
    while change > 1e-10:
        change = 0.0
        for column in range(30):
            for row in range(30):
                worth = []
                for action in range(2):
                    went, left, right, speed = moves[(column * 30 + row) * 2 + action]
                    total = rewards.left * left + rewards.right * right + rewards.speed * speed
                    for x, y, chance in went:
                        total += 0.99 * chance * value[x][y]
                    worth.append(total)
                change = max(change, abs(max(worth) - value[column][row]))
                value[column][row] = max(worth)
                better[column][row] = int(worth[1] > worth[0])
    solved = road.solve(rewards)
    np.testing.assert_allclose(solved.value, value, atol=1e-6)
    np.testing.assert_array_equal(solved.policy, better)


def test_returns_in_the_log_are_what_the_solution_promises(agent, log):
    """The cells blur what happens within them, so the values agree on the whole and not state by state."""
    solved = road.solve(road.VARIANTS[agent])
    returns = values(log, road.GAMMA)
    # After 200 steps nothing more is recorded: look at steps whose future is in the log.
    left = np.repeat(log.starts[1:], np.diff(log.starts)) - np.arange(log.n_samples)
    whole = np.repeat(log.endings == TERMINATED, np.diff(log.starts))
    told = whole if agent != "alive" else whole | (left > 150)
    promised = solved.value[road.cell(log.states)]
    gap = np.abs(returns - promised)[told].mean() / returns[told].std()
    assert np.corrcoef(returns[told], promised[told])[0, 1] > 0.9
    assert gap < 0.3


def test_the_solution_is_better_than_doing_the_opposite(agent):
    def mean_return(policy):
        states = np.stack(np.meshgrid(np.linspace(0.05, 2.95, 40), np.linspace(-0.095, 0.095, 40)), axis=-1)
        total, alive = np.zeros((40, 40)), np.ones((40, 40), bool)
        for t in range(1_000):
            acc = np.array(road.ACCELERATIONS)[policy[road.cell(states)]]
            states, reward, ended = road.step(states, acc, road.VARIANTS[agent])
            total += alive * road.GAMMA**t * reward
            alive &= ~ended
        return total.mean()

    best = road.solve(road.VARIANTS[agent]).policy
    assert mean_return(best) > max(mean_return(1 - best), mean_return(0 * best), mean_return(0 * best + 1))


def test_agents_behave_as_the_paper_tells():
    def share(agent, wall):
        log = road.record(agent)
        hit = log.final_states[:, 0] <= 0 if wall == "left" else log.final_states[:, 0] >= road.LENGTH
        return hit.mean()

    assert share("left", "left") > 2 * share("left", "right")
    assert abs(share("either", "left") - share("either", "right")) < 0.1
    assert share("hurry", "left") + share("hurry", "right") > 0.99
    # From many starts a crash cannot be avoided; from the others this agent oscillates for ever.
    assert share("alive", "left") + share("alive", "right") < 0.5


def test_the_seed_decides_the_log():
    one, same, other = road.record(seed=1), road.record(seed=1), road.record(seed=2)
    np.testing.assert_array_equal(one.states, same.states)
    assert not np.array_equal(one.states, other.states)


def test_a_whole_log_goes_on_to_the_end_of_its_last_episode():
    cut, whole = road.record("left", n_samples=1_000, seed=4), road.record("left", n_samples=1_000, seed=4, whole=True)
    np.testing.assert_array_equal(cut.states, whole.states[:1_000])
    np.testing.assert_array_equal(cut.starts[:-1], whole.starts[:-1])
    assert cut.endings[-1] == TRUNCATED
    assert whole.endings[-1] == TERMINATED
    assert whole.n_samples > 1_000


def test_an_unknown_agent_is_named_with_the_known_ones():
    with pytest.raises(
        ParameterError, match=r"variant must be 'left', 'either', .* or 'alive'; got 'lift'\. Did you mean `left`\?"
    ):
        road.record("lift")
    with pytest.raises(ParameterError, match="seed must be a whole number of at least 0; got -1"):
        road.record(seed=-1)
    with pytest.raises(ParameterError, match="n_samples must be a whole number of at least 1; got 0"):
        road.record(n_samples=0)
