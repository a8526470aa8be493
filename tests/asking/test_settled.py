"""Regions without brief visits: the compiled way is the definition's, and no other way tells fewer steps wrong."""

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tripletree.asking.regions import settled

EPISODES = st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=7), min_size=1, max_size=3)


def price(told, region, cost):
    """Steps told wrong, and what changes of region cost."""
    return (told != region).sum() + cost * (np.diff(told) != 0).sum()


@given(EPISODES, st.integers(1, 4))
@settings(max_examples=60, deadline=None)
def test_no_way_tells_fewer_steps_wrong(episodes, shortest):
    region = np.array([one for episode in episodes for one in episode], np.int64)
    starts = np.append(0, np.cumsum([len(episode) for episode in episodes]))
    found = settled(region, starts, shortest)
    for begin, end in itertools.pairwise(starts.tolist()):
        own, told = region[begin:end], found[begin:end]
        ways = (np.array(way) for way in itertools.product(np.unique(own), repeat=end - begin))
        assert price(told, own, shortest - 0.5) == min(price(way, own, shortest - 0.5) for way in ways)


def test_brief_visits_are_left_out():
    region = np.array([0, 0, 0, 0, 1, 0, 0, 0, 2, 2, 2, 2, 2], np.int64)
    assert settled(region, np.array([0, 13]), 3).tolist() == [0] * 8 + [2] * 5
    assert settled(region, np.array([0, 13]), 0.9).tolist() == region.tolist()
