from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.graph.chains import random_transitions, transitions
from tripletree.graph.chain import Chain, after, occupancy, reach, reach_within, reachable, rollouts, steps_to


def places(n_leaves, *chosen):
    mask = np.zeros(n_leaves + 1, bool)
    mask[list(chosen)] = True
    return mask


def at(n_leaves, place):
    return places(n_leaves, place).astype(float)


def ruin(n, up, down):
    """A gambler with 0 ... n coins, who wins ``up`` of ``up + down`` games."""
    edges = {(coins, coins + 1): up for coins in range(1, n)} | {(coins, coins - 1): down for coins in range(1, n)}
    return Chain.of(transitions(n + 1, edges | {(0, n + 1): 1, (n, n + 1): 1}))


@pytest.mark.parametrize(("up", "down"), [(1, 1), (2, 3), (3, 2)])
def test_gamblers_ruin(up, down):
    n = 20
    chain = ruin(n, up, down)
    ratio, coins = down / up, np.arange(n + 1)
    expected = coins / n if up == down else (1 - ratio**coins) / (1 - ratio**n)
    found = reach(chain, places(n + 1, n), avoid=places(n + 1, 0))
    np.testing.assert_allclose(found[:-1], expected, atol=1e-12)
    # Ever ruined: the same, as one who has won ends.
    np.testing.assert_allclose(reach(chain, places(n + 1, 0))[:-1], 1 - expected, atol=1e-12)
    # How long the game lasts.
    drift = (up - down) / (up + down)
    length = coins * (n - coins) if up == down else (n * expected - coins) / drift
    both, weighted = steps_to(chain, places(n + 1, 0, n))
    np.testing.assert_allclose(both[:-1], 1)
    np.testing.assert_allclose(weighted[:-1], length, rtol=1e-9, atol=1e-9)
    # In time, chances with a deadline become those without.
    for steps, close in ((0, 0.0), (5_000, 1e-9)):
        late = reach_within(chain, places(n + 1, n), steps, avoid=places(n + 1, 0))[:-1]
        np.testing.assert_allclose(late, expected if steps else coins == n, atol=close)


def test_an_absorbing_walk_with_stays():
    # 0 -> 1 -> 2 -> end, each leaf held for 2, 3 and 4 steps on average.
    chain = Chain.of(transitions(3, {(0, 1): 5, (1, 2): 5, (2, 3): 5}, [2, 3, 4]))
    probability, weighted = steps_to(chain, places(3, 3))
    assert probability.tolist() == [1, 1, 1, 1]
    np.testing.assert_allclose(weighted, [9, 7, 4, 0])
    np.testing.assert_allclose(occupancy(chain, at(3, 0)), np.array([2, 3, 4]) / 9)
    np.testing.assert_allclose(occupancy(chain, np.array([0.5, 0, 0.5, 0])), np.array([1, 1.5, 4]) / 6.5)
    # The first leaf is left at each step with probability 1/2.
    np.testing.assert_allclose(reach_within(chain, places(3, 1), 3)[0], 1 - 1 / 8)
    np.testing.assert_allclose(after(chain, at(3, 0), 1), [1 / 2, 1 / 2, 0, 0])
    np.testing.assert_allclose(after(chain, at(3, 0), 2), [1 / 4, 1 / 4 + 1 / 3, 1 / 6, 0])


def test_a_periodic_chain():
    chain = Chain.of(transitions(3, {(0, 1): 1, (1, 2): 1, (2, 0): 1}))
    assert after(chain, at(3, 0), 7).tolist() == [0, 1, 0, 0]
    assert after(chain, at(3, 0), 9).tolist() == [1, 0, 0, 0]
    np.testing.assert_allclose(occupancy(chain, at(3, 1)), [1 / 3] * 3)
    assert reach(chain, places(3, 3)).tolist() == [0, 0, 0, 1]
    assert reach_within(chain, places(3, 2), 1).tolist() == [0, 1, 1, 0]
    assert steps_to(chain, places(3, 2))[1].tolist() == [2, 1, 0, 0]


def test_time_is_shared_by_the_classes_that_are_never_left():
    # From 0 with 1/4 to the pair 1-2, with 3/4 to the pair 3-4; leaf 4 is held for 3 steps.
    edges = {(0, 1): 1, (0, 3): 3, (1, 2): 1, (2, 1): 1, (3, 4): 1, (4, 3): 1}
    chain = Chain.of(transitions(5, edges, [1, 1, 1, 1, 3]))
    np.testing.assert_allclose(occupancy(chain, at(5, 0)), [0, 1 / 8, 1 / 8, 3 / 16, 9 / 16])


def test_an_unreachable_target():
    chain = Chain.of(transitions(4, {(0, 1): 1, (1, 4): 1, (2, 3): 1, (3, 0): 2, (3, 2): 2}))
    assert reach(chain, places(4, 2))[:2].tolist() == [0, 0]
    assert reach_within(chain, places(4, 2), 100)[:2].tolist() == [0, 0]
    assert steps_to(chain, places(4, 2))[1][:2].tolist() == [0, 0]
    assert reachable(chain, at(4, 0)).tolist() == [True, True, False, False, True]
    assert reachable(chain, at(4, 2)).all()
    np.testing.assert_allclose(reach(chain, places(4, 2))[3], 1 / 2)
    # Only journeys that arrive count for their length.
    probability, weighted = steps_to(chain, places(4, 2))
    assert weighted[3] / probability[3] == pytest.approx(1)


def test_what_is_to_be_avoided_blocks_the_way():
    chain = Chain.of(transitions(3, {(0, 1): 1, (1, 2): 1, (2, 3): 1}))
    assert reach(chain, places(3, 2), avoid=places(3, 1)).tolist() == [0, 0, 1, 0]
    assert reach(chain, places(3, 2), avoid=places(3, 0)).tolist() == [0, 1, 1, 0]


def test_a_leaf_without_known_continuation_holds_what_comes():
    chain = Chain.of(transitions(2, {(0, 1): 1, (0, 2): 1}, 2, lost={1: 3}))
    np.testing.assert_allclose(reach(chain, places(2, 2)), [1 / 2, 0, 1])
    np.testing.assert_allclose(after(chain, at(2, 0), 500), [0, 1 / 2, 1 / 2], atol=1e-12)
    np.testing.assert_allclose(occupancy(chain, at(2, 0)), [2 / 2.5, 0.5 / 2.5])
    assert occupancy(chain, at(2, 2)).tolist() == [0, 0]


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1))
def test_rollouts_agree_with_the_answers(seed):
    found = random_transitions(seed)
    n, steps, journeys = found.n_leaves, 60, 4_000
    chain = Chain.of(found)
    start = np.append(found.starts / found.starts.sum(), 0)
    goal, avoid = places(n, 3, 4), places(n, 7, n)
    paths = rollouts(chain, start, journeys, steps, np.random.default_rng(seed))
    assert paths.shape == (journeys, steps + 1)
    noise = 5 * np.sqrt(0.25 / journeys)

    first_goal = np.where(goal[paths].any(axis=1), goal[paths].argmax(axis=1), steps + 1)
    first_avoid = np.where(avoid[paths].any(axis=1), avoid[paths].argmax(axis=1), steps + 1)
    for k in (0, 1, 7, steps):
        assert abs(np.mean(first_goal <= k) - start @ reach_within(chain, goal, k)) < noise
        won = (first_goal <= k) & (first_goal < first_avoid)
        assert abs(np.mean(won) - start @ reach_within(chain, goal, k, avoid)) < noise
        shares = np.bincount(paths[:, k], minlength=n + 1) / journeys
        assert np.abs(shares - after(chain, start, k)).max() < noise
    # By the deadline most has happened, and the rest can only add.
    assert start @ reach(chain, goal) >= np.mean(first_goal <= steps) - noise
    assert not (~reachable(chain, start))[np.unique(paths)].any()


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1))
def test_answers_solve_their_equations(seed):
    found = random_transitions(seed, n_leaves=30)
    chain, n = Chain.of(found), found.n_leaves
    goal = places(n, 2, 5)
    chance = reach(chain, goal)
    np.testing.assert_allclose(chance[~goal], (chain.moves @ chance)[~goal], atol=1e-12)
    np.testing.assert_allclose(chance[~goal], (chain.steps @ chance)[~goal] * ([1] * (n - 2) + [0]), atol=1e-12)
    np.testing.assert_allclose(reach_within(chain, goal, 5_000), chance, atol=1e-6)
    probability, weighted = steps_to(chain, goal)
    here = ~goal & (probability > 0)
    np.testing.assert_allclose(weighted[here], (chain.steps @ weighted + probability)[here], rtol=1e-9)
    share = occupancy(chain, at(n, 0))
    assert share.sum() == pytest.approx(1)


def test_rollouts_repeat_with_their_seed():
    chain = Chain.of(random_transitions(1))
    start = at(12, 0)
    one, two = (rollouts(chain, start, 50, 30, np.random.default_rng(7)) for _ in range(2))
    assert one.tolist() == two.tolist()
