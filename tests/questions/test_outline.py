"""Outlines: what is counted in regions, by hand and by brute force."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from tests.asking.test_regions import flights
from tests.logs import make_log, random_log
from tests.report.models import of_lander, of_road
from tests.test_api import quietly_fitted
from tripletree.asking.regions import read_regions, settled
from tripletree.log.derive import derivatives
from tripletree.log.log import TERMINATED, TRUNCATED
from tripletree.questions.outline import _mean, does, outline


def hub(visits, ending=TERMINATED):
    """Episodes that begin at 0 and go on to each other place so many times; the action and the reward are the place."""
    states, starts = [], [0]
    for place, times in enumerate(visits, start=1):
        for _ in range(times):
            states += [0.0, float(place)]
            starts.append(len(states))
    episodes = len(starts) - 1
    codes = np.array(states).astype(int)
    log = make_log(
        np.array(states)[:, None],
        codes,
        codes,
        starts,
        endings=[ending] * episodes,
        labels=("wait", "a", "b", "c", "d")[: len(visits) + 1],
        names=("place",),
    )
    return quietly_fitted(log, max_leaves=len(visits) + 1, gamma=0.0, theta=(1, 0, 0)), log


def test_eight_regions_at_most_unless_asked_otherwise():
    tree, log = of_lander()
    assert 2 < len(tree.outline(log).regions) <= 8
    assert len(tree.outline(log, regions=3).regions) == 3
    assert len(tree.outline(log, regions=1).regions) == 1
    assert [one.name for one in outline(tree.fitted_, log).regions] == [one.name for one in tree.outline(log).regions]


def test_a_region_tells_its_most_frequent_ways_on():
    tree, log = hub([5, 4, 2, 1])
    found = tree.outline(log)
    first = found.regions[0]
    # The hub is where half of the steps are; from there 5, 4 and 2 of 12 moves lead to the other places.
    assert (first.share, first.when, first.begins, first.ends) == (0.5, ("place < 0.5",), 1.0, 0.0)
    assert [to for to, _ in first.following] == [1, 2, 3]
    assert [p for _, p in first.following] == pytest.approx([5 / 12, 4 / 12, 2 / 12])
    assert first.names == tuple(found.regions[k].name for k in (1, 2, 3))
    for region, (share, ends) in zip(found.regions[1:], [(5, 5), (4, 4), (2, 2), (1, 1)], strict=True):
        assert region.following == ((None, 1.0),)
        assert region.names == ("the end",)
        assert region.share == pytest.approx(share / 24)
        assert region.ends == pytest.approx(ends / 12)
        assert (region.visits, region.cut, region.steps, region.left) == (share, 0, (1, 1, 1), 1.0)
        assert (region.kinds, region.agreement) == (("constant",), (1.0,))
    assert [one.outcomes for one in found.regions] == [("wait",), ("a",), ("b",), ("c",), ("d",)]


def test_three_routes_lead_to_the_end_and_rare_ones_are_counted():
    tree, log = hub([5, 4, 2, 1])
    found = tree.outline(log)
    assert [route.regions for route in found.routes] == [(0, 1), (0, 2), (0, 3)]
    assert [route.probability for route in found.routes] == pytest.approx([5 / 12, 4 / 12, 2 / 12])
    assert [route.steps for route in found.routes] == [2, 2, 2]
    assert (found.ended, found.other_routes) == (12, 1)
    one = outline(tree.fitted_, log, ways=1)
    assert ([route.regions for route in one.routes], one.other_routes) == ([(0, 1)], 3)
    # A tenth of the visits is told, a thirtieth is not.
    stay = np.repeat(np.arange(30) < 1, 3)
    states = np.column_stack([np.tile([0.0, 1.0, 1.0], 30), np.tile([0.0, 1.0, 1.0], 30) * stay])
    actions = np.where(states[:, 1] > 0, 2, states[:, 0]).astype(int)
    starts, ends = np.arange(0, 91, 3), [TERMINATED] * 30
    rare = make_log(states, actions, 0 * actions, starts, endings=ends, labels=("wait", "a", "b"))
    tree = quietly_fitted(make_log(states[:12], actions[:12], np.zeros(12), starts[:5], labels=("wait", "a", "b")))
    found = tree.outline(rare)
    assert (len(found.routes), found.other_routes) == (1, 1)
    assert [p for one in found.regions for _, p in one.following] == pytest.approx([1, 29 / 30, 1])


def test_routes_are_counted_without_detours_and_their_steps_are_recorded_ones():
    places = [0, 1, 0, 1, 2], [0, 1, 2], [0, 1, 1, 1, 1, 1, 2], [0, 2], [1, 2]
    states = np.concatenate(places)[:, None].astype(float)
    starts = np.append(0, np.cumsum([len(one) for one in places]))
    endings = [TERMINATED] * 5
    log = make_log(states, states[:, 0].astype(int), states[:, 0], starts, endings=endings, labels=("a", "b", "c"))
    found = quietly_fitted(log, max_leaves=3, gamma=0.0, theta=(1, 0, 0)).outline(log)
    # The regions by their size: the middle one, then the first and the last.
    assert [one.outcomes for one in found.regions] == [("b",), ("a",), ("c",)]
    assert [route.regions for route in found.routes] == [(1, 0, 2), (1, 2)]
    assert [route.probability for route in found.routes] == [0.75, 0.25]
    assert [route.steps for route in found.routes] == [5, 2]


def test_without_ends_there_are_no_routes():
    tree, log = hub([2, 1], TRUNCATED)
    found = tree.outline(log)
    assert (found.routes, found.other_routes, found.ended) == ((), 0, 0)
    assert [one.ends for one in found.regions] == [0, 0, 0]
    assert found.regions[1].following == ()
    assert (found.regions[1].visits, found.regions[1].cut, found.regions[1].left) == (2, 2, None)


def test_visits_means_and_values_by_brute_force():
    log = flights(3)
    tree = quietly_fitted(flights(), max_leaves=20, theta=(1, 0, 0))
    found = tree.outline(log)
    region = settled(read_regions(tree.fitted_, "action").of(log.states), log.starts)
    change = derivatives(log)
    for one in found.regions:
        visits, entries, exits, left = [], [], [], []
        for begin, end in pairwise(log.starts.tolist()):
            step = begin
            while step < end:
                stop = step
                while stop < end and region[stop] == region[step]:
                    stop += 1
                if region[step] == one.number:
                    visits.append(stop - step)
                    entries.append(log.states[step])
                    exits.append(log.states[stop - 1])
                    left += [end - k for k in range(step, stop)]
                step = stop
        inside = region == one.number
        assert one.visits == len(visits)
        assert one.steps[1] == np.quantile(visits, 0.5, method="inverted_cdf")
        assert one.left == np.median(left)
        np.testing.assert_allclose(one.entry, np.mean(entries, axis=0))
        np.testing.assert_allclose(one.exit, np.mean(exits, axis=0))
        np.testing.assert_allclose(one.inside, log.states[inside].mean(axis=0))
        np.testing.assert_allclose(one.change, np.nanmean(change[inside], axis=0))
        assert one.share == inside.mean()
    assert sum(one.share for one in found.regions) == pytest.approx(1)
    assert sum(one.begins for one in found.regions) == pytest.approx(1)


def test_odd_logs_have_outlines_too():
    for log in (random_log(0, lengths=(1, 1)), random_log(1, labels=1), random_log(2, features=1, dimensions=2)):
        tree = quietly_fitted(log, max_leaves=10)
        assert str(tree.outline(log))
    # A region that an episode never comes to is told, too.
    tree, log = of_lander()
    few = tree.outline(log.select([0]))
    assert all(one.share or one.steps is None for one in few.regions)
    assert str(few)
    assert str(of_road()[0].outline(of_road()[1]))


def test_what_the_agent_does_in_a_leaf():
    tree, _ = hub([3, 1])
    assert does(tree.fitted_.truncate(1), 0) == "wait (50 %)"
    assert does(tree.fitted_, 0) == "wait (100 %)"
    numbers = np.array([[0.1111, 100.0], [0.1357, 300.0]])
    log = make_log([[0.0], [0.0]], numbers, [0, 0], [0, 1, 2])
    # Two digits of a mean, and of its spread.
    assert does(quietly_fitted(log, max_leaves=1).fitted_, 0) == "a0 = 0.12 ± 0.012 and a1 = 200 ± 100"


def test_means_are_of_what_is_known():
    rows = np.array([[1.0, np.nan, np.nan], [3.0, 5.0, np.nan], [2.0, 6.0, np.nan]])
    assert _mean(rows[:, :1].copy()).tolist() == [2.0]
    assert _mean(rows.copy())[:2].tolist() == [2.0, 5.5]
    assert np.isnan(_mean(rows.copy())[2])
    assert np.isnan(_mean(rows[:0].copy())).all()
