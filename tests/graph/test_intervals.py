"""Intervals of counts against simulated worlds whose truth is known."""

from __future__ import annotations

import numpy as np
import pytest

from tripletree.graph.count import chance, steps
from tripletree.graph.futures import Episodes, Event
from tripletree.log.log import TERMINATED, TRUNCATED


def moody(rng, number, often, alike, members=1, hazard=0.1, limit=0):
    """Groups of episodes that depend on each other: each group has its own chance, each episode one fate for all steps.

    ``alike`` near 0: all episodes of a group share one fate; large: fates are independent. Every step is the last with
    the probability ``hazard``, whatever was before, and ``limit`` cuts episodes off regardless of their fate. So of all
    steps, and of those in any zone, ``often * (1 - (1 - hazard) ** k)`` come to a good end within k steps.
    """
    group = np.repeat(np.arange(number), rng.integers(1, members + 1, number))
    mood = rng.beta(often * alike, (1 - often) * alike, number)
    good = rng.random(len(group)) < mood[group]
    length = rng.geometric(hazard, len(group))
    cut = np.zeros(len(group), bool)
    if limit:
        last = rng.integers(limit // 4, limit, len(group)) + 1
        cut, length = last < length, np.minimum(last, length)
    starts = np.append(0, np.cumsum(length))
    endings = np.where(cut, TRUNCATED, TERMINATED)
    episodes = Episodes.of(starts, endings, np.ones(len(group), bool), group)
    return episodes, Event(np.zeros(starts[-1], bool), good & ~cut)


def zone(rng, episodes):
    """Return the rows in a zone that episodes enter and leave at random, for several steps at a time."""
    moves = np.flatnonzero(rng.random(episodes.starts[-1]) < 0.2)
    inside = np.searchsorted(moves, np.arange(episodes.starts[-1]), side="right") % 2 == 0
    return inside if inside.any() else ~inside


def many_worlds(seed, often, worlds=1_000):
    """Ask about simulated worlds of all kinds: whether each interval holds the known truth, how wide it is, and more.

    Returns an array of shape (worlds, 4): held, width, the width of Wilson's interval if each episode were one visit,
    and the smaller of the numbers of episodes that are expected to get there and not to.
    """
    rng, found = np.random.default_rng(seed), []
    for _ in range(worlds):
        number = int(np.exp(rng.uniform(np.log(5), np.log(201))))
        hazard, k = rng.uniform(0.05, 0.3), int(rng.integers(3, 30))
        chance_of = rng.uniform(*often)
        truth = chance_of * (1 - (1 - hazard) ** k)
        alike, members = np.exp(rng.uniform(-2, 3)), int(rng.choice([1, 1, 4]))
        limit = int(rng.choice([0, 3 / hazard]))
        episodes, goal = moody(rng, number, chance_of, alike, members, hazard, limit)
        answer = chance(episodes, zone(rng, episodes), goal, within=k)
        low, high = answer.interval
        assert low <= answer.probability <= high
        held = low - 1e-12 <= truth <= high + 1e-12
        n, p = answer.groups, answer.probability
        wilson = 2 * 1.96 * np.sqrt(p * (1 - p) / n + 1.96**2 / (4 * n * n)) / (1 + 1.96**2 / n)
        found.append((held, high - low, wilson, min(truth, 1 - truth) * n))
    return np.array(found)


def test_intervals_of_chances_cover_what_they_promise():
    # With 1,000 worlds a coverage of 95 % is measured to within 1.4 points.
    held, width, wilson, expected = many_worlds(1, (0.15, 1.0)).T
    assert 0.93 <= held.mean() <= 0.98
    # As well in small as in large worlds.
    for few in (expected < np.median(expected), expected >= np.median(expected)):
        assert 0.93 <= held[few].mean() <= 0.985
    # Steps of one episode depend on each other, but no more than if they were one step.
    assert (width < 3 * wilson)[expected >= 5].all()


def test_intervals_of_rare_events_cover_at_least_as_much():
    held, width, wilson, expected = many_worlds(2, (0.002, 0.06)).T
    assert np.median(expected) < 2
    assert held.mean() >= 0.93
    seen = wilson > 0
    assert np.quantile(width[seen] / wilson[seen], 0.99) < 3


@pytest.mark.parametrize("length", [1, 30])
@pytest.mark.parametrize("turn", [False, True])
def test_one_event_in_many_episodes_is_nearly_wilsons_interval(length, turn):
    recording = Episodes.of(np.arange(145) * length, np.full(144, TERMINATED), np.ones(144, bool))
    once = np.arange(144) == 70
    answer = chance(recording, np.ones(144 * length, bool), Event(np.zeros(144 * length, bool), once ^ turn))
    # Wilson's interval of 1 in 144 is 0.12 to 3.83 %.
    expected = (0.0012, 0.0388) if not turn else (1 - 0.0388, 1 - 0.0012)
    assert answer.interval == pytest.approx(expected, abs=2e-4)


def test_groups_widen_what_their_episodes_would_narrow():
    rng = np.random.default_rng(4)
    episodes, goal = moody(rng, 20, 0.5, 0.1, 9)
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
    found = {"starts": [], "zone": []}
    for _ in range(1_000):
        number, hazard = int(np.exp(rng.uniform(np.log(5), np.log(201)))), rng.uniform(0.05, 0.3)
        episodes, goal = moody(rng, number, 0.9, 2.0, 1, hazard)
        for name, visits in (("starts", episodes.starts[:-1]), ("zone", zone(rng, episodes))):
            low, high = steps(episodes, visits, goal).interval or (0, np.inf)
            found[name].append(low <= 1 / hazard <= high)
    # In the zone long episodes have more steps: with five of them, one may be most of what is known.
    assert all(0.9 <= np.mean(held) <= 0.98 for held in found.values())


def test_one_slow_episode_does_not_make_times_useless():
    took = np.append(np.full(99, 20), 400)
    starts = np.append(0, np.cumsum(took))
    recording = Episodes.of(starts, np.full(100, TERMINATED))
    answer = steps(recording, starts[:-1], Event(np.zeros(starts[-1], bool), end=True))
    assert answer.mean == 23.8
    # Student's quantile for two degrees of freedom, 4.30, instead of 12.7 for one.
    assert answer.interval == pytest.approx((12.0, 47.3), abs=0.1)


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
