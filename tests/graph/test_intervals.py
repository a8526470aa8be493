"""Intervals of counts against simulated worlds whose truth is known."""

from __future__ import annotations

import numpy as np
import pytest

from tripletree.graph.count import chance, steps
from tripletree.graph.futures import Episodes, Event
from tripletree.log.log import TERMINATED, TRUNCATED


def moody(rng, number, chance_of, alike, members, limit):
    """Groups of episodes that depend on each other: each group has its own chance, each episode one fate for all steps.

    ``alike`` near 0: all episodes of a group share one fate; large: fates are independent. ``limit`` cuts episodes off.
    """
    group = np.repeat(np.arange(number), rng.integers(1, members + 1, number))
    mood = rng.beta(chance_of * alike, (1 - chance_of) * alike, number)
    good = rng.random(len(group)) < mood[group]
    length = 1 + rng.geometric(0.1, len(group))
    cut = np.zeros(len(group), bool)
    if limit:
        last = rng.integers(5, limit, len(group))
        cut, length = last < length, np.minimum(last, length)
    starts = np.append(0, np.cumsum(length))
    endings = np.where(cut, TRUNCATED, TERMINATED)
    episodes = Episodes.of(starts, endings, np.ones(len(group), bool), group)
    return episodes, Event(np.zeros(starts[-1], bool), good & ~cut)


def covered(world, truth, number, rng):
    """Ask about all steps of simulated worlds: the share of intervals that hold the truth, with its chance."""
    found = []
    for _ in range(number):
        episodes, goal = world(int(np.exp(rng.uniform(np.log(5), np.log(200)))))
        answer = chance(episodes, np.ones(episodes.starts[-1], bool), goal, within=15)
        low, high = answer.interval
        found.append(low - 1e-12 <= truth <= high + 1e-12)
    return np.mean(found)


@pytest.mark.parametrize("limit", [0, 40])
@pytest.mark.parametrize("members", [1, 4])
def test_intervals_of_chances_cover_what_they_promise(members, limit):
    # Nearly no memory: from any step the end is at most 15 steps away with this probability.
    rng = np.random.default_rng(20 + members + limit)
    soon = 1 - 0.9**15
    shares = []
    for often in (0.15, 0.4, 0.6, 0.85):
        for alike in (0.5, 5.0):

            def world(number, often=often, alike=alike):
                return moody(rng, number, often, alike, members, limit)

            # Every episode has a first step in which it cannot end, so the truth is measured on very many.
            episodes, goal = moody(rng, 40_000, often, alike, members, 0)
            truth = chance(episodes, np.ones(episodes.starts[-1], bool), goal, within=15).probability
            assert truth == pytest.approx(often * soon, abs=0.02)
            shares.append(covered(world, truth, 125, rng))
    assert 0.93 <= np.mean(shares) <= 0.98
    assert min(shares) > 0.88


def test_groups_widen_what_their_episodes_would_narrow():
    rng = np.random.default_rng(4)
    episodes, goal = moody(rng, 20, 0.5, 0.1, 9, 0)
    here = np.ones(episodes.starts[-1], bool)
    alone = Episodes.of(episodes.starts, episodes.endings, episodes.final)
    together, apart = chance(episodes, here, goal), chance(alone, here, goal)
    assert together.probability == apart.probability
    assert together.groups == 20
    assert np.ptp(together.interval) > 1.4 * np.ptp(apart.interval)


@pytest.mark.parametrize(("episodes", "below"), [(160, 0.0186), (10, 0.2589), (1, 0.95)])
def test_never_seen_is_an_answer_with_the_rule_of_three(episodes, below):
    recording = Episodes.of(np.arange(0, 3 * episodes + 1, 3), np.full(episodes, TERMINATED))
    here = np.ones(3 * episodes, bool)
    never = chance(recording, here, Event(np.zeros(3 * episodes, bool)))
    assert never.probability == 0
    assert never.interval == pytest.approx((0, below), abs=1e-4)
    always = chance(recording, here, Event(np.zeros(3 * episodes, bool), end=True))
    assert always.probability == 1
    assert always.interval == pytest.approx((1 - below, 1), abs=1e-4)


def test_one_episode_with_most_visits_is_hardly_more_than_one():
    recording = Episodes.of([0, 1000, 1001, 1002], np.full(3, TERMINATED))
    _, high = chance(recording, np.ones(1002, bool), Event(np.zeros(1002, bool))).interval
    assert 0.9 < high < 0.95


def test_intervals_of_times_cover_what_they_promise():
    rng = np.random.default_rng(9)
    found = {}
    for number in (5, 20, 80):
        for _ in range(200):
            length = 1 + rng.geometric(0.05, number)  # a mean of 21, as skewed as waiting is
            starts = np.append(0, np.cumsum(length))
            recording = Episodes.of(starts, np.full(number, TERMINATED))
            answer = steps(recording, starts[:-1], Event(np.zeros(starts[-1], bool), end=True))
            low, high = answer.interval or (0, np.inf)
            found.setdefault(number, []).append(low <= 21 <= high)
    assert all(0.92 <= np.mean(inside) <= 0.99 for inside in found.values())


def test_times_without_a_spread_to_speak_of():
    recording = Episodes.of([0, 4, 8, 12], np.full(3, TERMINATED))
    end = Event(np.zeros(12, bool), end=True)
    assert steps(recording, np.array([0, 4, 8]), end).interval == (4, 4)
    assert steps(recording, np.array([0, 1]), end).interval is None
    # Two groups, one with nearly all visits: nobody knows how others would fare.
    lopsided = Episodes.of([0, 2000, 2001], np.full(2, TERMINATED))
    assert steps(lopsided, np.ones(2001, bool), Event(np.zeros(2001, bool), end=True)).interval is None


def test_groups_that_are_all_alike_leave_no_doubt_to_share_out():
    # A third in every group: what rounding leaves of their differences must not pass for a spread.
    recording = Episodes.of(np.arange(0, 31, 3), np.full(10, TERMINATED))
    answer = chance(recording, np.ones(30, bool), Event(np.arange(30) % 3 == 2), within=0)
    assert answer.probability == pytest.approx(1 / 3)
    # Wilson's interval of 10 in 30, with Student's quantile for 2 * 10 - 1 degrees of freedom.
    assert answer.interval == pytest.approx((0.1850, 0.5242), abs=1e-4)


def test_who_is_there_already_needs_no_time():
    recording = Episodes.of(np.arange(0, 31, 3), np.full(10, TERMINATED))
    answer = steps(recording, np.ones(30, bool), Event(np.ones(30, bool)))
    assert (answer.mean, answer.interval, answer.quantiles) == (0, (0, 0), (0, 0, 0))
