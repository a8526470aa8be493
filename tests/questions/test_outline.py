"""Outlines: how many regions and ways on there are, counted by hand."""

from __future__ import annotations

import numpy as np
import pytest

from tests.logs import make_log
from tests.report.models import of_road
from tests.test_api import quietly_fitted
from tripletree.log.log import TERMINATED, TRUNCATED
from tripletree.questions.outline import does, outline


def hub(visits, ending=TERMINATED):
    """Episodes that begin at 0 and go on to each other place so many times; the reward is the place."""
    states, starts = [], [0]
    for place, times in enumerate(visits, start=1):
        for _ in range(times):
            states += [0.0, float(place)]
            starts.append(len(states))
    episodes = len(starts) - 1
    codes = np.array(states).astype(int)
    log = make_log(
        np.array(states)[:, None],
        np.minimum(codes, 1),
        codes,
        starts,
        endings=[ending] * episodes,
        labels=("wait", "go"),
        names=("place",),
    )
    return quietly_fitted(log, max_leaves=len(visits) + 1, gamma=0.0, theta=(0, 1, 0)), log


def test_ten_regions_unless_asked_otherwise():
    tree, log = of_road()
    assert len(tree.outline(log).regions) == 10
    assert len(outline(tree.fitted_, log).regions) == 10
    assert len(tree.outline(log, regions=3).regions) == 3
    assert len(tree.truncate(4).outline(log).regions) == 4


def test_a_region_tells_its_three_most_frequent_ways_on():
    tree, log = hub([5, 4, 2, 1])
    found = tree.outline(log)
    first = found.regions[0]
    # The hub is where half of the steps are; from there 5, 4 and 2 of 12 moves lead to the other places.
    assert (first.share, first.when, first.begins, first.ends) == (0.5, ("place < 1",), 1.0, 0.0)
    assert [to for to, _ in first.following] == [1, 2, 3]
    assert [p for _, p in first.following] == pytest.approx([5 / 12, 4 / 12, 2 / 12])
    for region, (share, ends) in zip(found.regions[1:], [(5, 5), (4, 4), (2, 2), (1, 1)], strict=True):
        assert region.following == ((None, 1.0),)
        assert region.share == pytest.approx(share / 24)
        assert region.ends == pytest.approx(ends / 12)
    assert str(first).endswith("then region 2 (42 %) or region 3 (33 %) or region 4 (17 %).")


def test_three_routes_lead_to_the_end():
    tree, log = hub([5, 4, 2, 1])
    found = tree.outline(log)
    assert [route.regions for route in found.routes] == [(0, 1), (0, 2), (0, 3)]
    assert [route.probability for route in found.routes] == pytest.approx([5 / 12, 4 / 12, 2 / 12])
    assert [route.steps for route in found.routes] == [2, 2, 2]
    assert found.ended == 12
    assert len(outline(tree.fitted_, log, ways=1).routes) == 1


def test_routes_are_counted_without_detours_and_their_steps_are_recorded_ones():
    places = [0, 1, 0, 1, 2], [0, 1, 2], [0, 1, 1, 1, 1, 1, 2], [0, 2], [1, 2]
    states = np.concatenate(places)[:, None].astype(float)
    starts = np.append(0, np.cumsum([len(one) for one in places]))
    endings = [TERMINATED] * 5
    log = make_log(states, states[:, 0].astype(int), states[:, 0], starts, endings=endings, labels=("a", "b", "c"))
    found = quietly_fitted(log, max_leaves=3, gamma=0.0, theta=(0, 1, 0)).outline(log)
    # The regions by their size: the middle one, then the first and the last.
    assert [one.leaf for one in found.regions] == [1, 0, 2]
    assert [route.regions for route in found.routes] == [(1, 0, 2), (1, 2)]
    assert [route.probability for route in found.routes] == [0.75, 0.25]
    assert [route.steps for route in found.routes] == [5, 2]


def test_without_ends_there_are_no_routes():
    tree, log = hub([2, 1], TRUNCATED)
    found = tree.outline(log)
    assert (found.routes, found.ended) == ((), 0)
    assert [one.ends for one in found.regions] == [0, 0, 0]
    assert found.regions[1].following == ()


def test_what_the_agent_does_in_a_region():
    tree, _ = hub([3, 1])
    assert does(tree.fitted_.truncate(1), 0) == "wait (50 %)"
    assert does(tree.fitted_, 0) == "wait (100 %)"
    numbers = np.array([[0.1111, 100.0], [0.1357, 300.0]])
    log = make_log([[0.0], [0.0]], numbers, [0, 0], [0, 1, 2])
    # Two digits of a mean, and of its spread.
    assert does(quietly_fitted(log, max_leaves=1).fitted_, 0) == "a0 = 0.12 ± 0.012 and a1 = 200 ± 100"
