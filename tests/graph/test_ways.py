"""Ways: what is tried when no episode passes near both states, and bridges over several episodes."""

from __future__ import annotations

from collections import deque
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tripletree.graph.segments import AROUND, AT_LEAST, bent, distances, duration, leaf_runs, typical, within
from tripletree.graph.ways import (
    APART,
    BRIDGE,
    END,
    LEAVES,
    NO_BRIDGE,
    NO_RUN,
    NONE,
    SEGMENT,
    START,
    bridge,
    find,
    joined,
)

seeds = st.integers(0, 2**32 - 1)


def masks(first, last, n=100):
    """The leaves of both ends, one each."""
    return np.arange(n) == first, np.arange(n) == last


@pytest.fixture
def road():
    """Episodes along a line, 0 to 9, 20 to 29 and 26 to 35, with a leaf for every two units."""
    states = np.concatenate([np.arange(10.0), np.arange(20.0, 30.0), np.arange(26.0, 36.0)])[:, None]
    return states, np.array([0, 10, 20, 30]), (states[:, 0] // 2).astype(np.int32)


@pytest.mark.parametrize(
    ("a", "b", "ends", "method", "reasons", "episodes"),
    [
        (2.1, 7.0, (1, 3), SEGMENT, (), [0]),
        (28.0, 29.0, (14, 14), SEGMENT, (), [1, 2]),
        (7.0, 2.1, (3, 1), NONE, (APART, NO_RUN, NO_BRIDGE), []),
        (8.0, 21.0, (4, 10), NONE, (APART, NO_RUN, NO_BRIDGE), []),
        (-3.0, 7.0, (0, 3), LEAVES, (START,), [0]),
        (2.0, 15.0, (1, 4), LEAVES, (END,), [0]),
        (22.0, 34.0, (11, 17), BRIDGE, (APART, NO_RUN), [1, 2]),
        (16.0, 39.0, (10, 17), BRIDGE, (START, END, NO_RUN), [1, 2]),
        (-3.0, 39.0, (0, 17), NONE, (START, END, NO_RUN, NO_BRIDGE), []),
    ],
)
def test_what_a_way_follows_and_why(road, a, b, ends, method, reasons, episodes):
    states, starts, leaves = road
    found = find(states, starts, leaves, np.array([a]), np.array([b]), masks(*ends), np.ones(1), far=2.0)
    assert (found.method, found.reasons, found.segments.episode.tolist()) == (method, reasons, episodes)
    assert found.method != SEGMENT or (found.segments.gap < 2).all()


@pytest.mark.parametrize(
    ("a", "b", "method", "reasons"),
    [(2.3, 7.3, SEGMENT, ()), (2.4, 7.4, LEAVES, (START, END)), (2.4, 7.1, SEGMENT, ()), (2.0, 7.5, SEGMENT, ())],
)
def test_far_is_said_of_both_ends_together(road, a, b, method, reasons):
    states, starts, leaves = road
    found = find(states, starts, leaves, np.array([a]), np.array([b]), masks(1, 3), np.ones(1))
    assert (found.method, found.reasons) == (method, reasons)


@pytest.mark.parametrize(
    ("a", "b", "ends", "method", "reasons", "episodes"),
    [
        ((1.0, 3.0), (6.0, 8.0), (1, 3), SEGMENT, (), [0]),
        ((25.0, 29.0), (28.5, 40.0), (13, 14), SEGMENT, (), [1, 2]),
        ((40.0, 41.0), (6.0, 8.0), (1, 3), LEAVES, (START,), [0]),
        ((1.0, 3.0), (40.0, 41.0), (1, 3), LEAVES, (END,), [0]),
        ((21.0, 23.0), (33.0, 35.0), (11, 17), BRIDGE, (APART, NO_RUN), [1, 2]),
        ((6.0, 8.0), (1.0, 3.0), (3, 1), NONE, (APART, NO_RUN, NO_BRIDGE), []),
        # Near a state, half the gap is allowed when the other end is a zone: 2.9 is .9 from the next row, 10.5 is 1.5.
        (2.9, (6.0, 8.0), (1, 3), SEGMENT, (), [0]),
        ((1.0, 3.0), 10.5, (1, 4), LEAVES, (END,), [0]),
        (22.0, (33.0, 35.0), (11, 17), BRIDGE, (APART, NO_RUN), [1, 2]),
        ((21.0, 23.0), 34.0, (11, 17), BRIDGE, (APART, NO_RUN), [1, 2]),
    ],
)
def test_between_zones_and_states_the_same_is_tried_in_the_same_order(road, a, b, ends, method, reasons, episodes):
    states, starts, leaves = road
    places = [
        (states[:, 0] >= place[0]) & (states[:, 0] < place[1]) if isinstance(place, tuple) else np.array([place])
        for place in (a, b)
    ]
    found = find(states, starts, leaves, *places, masks(*ends), np.ones(1), far=2.0)
    assert (found.method, found.reasons, found.segments.episode.tolist()) == (method, reasons, episodes)
    if method == BRIDGE:
        path, _ = joined(states, found.segments, *places, np.ones(1))
        first, last = states[found.segments.first[0]], states[found.segments.last[-1]]
        assert path[0] == (first if isinstance(a, tuple) else a)
        assert path[-1] == (last if isinstance(b, tuple) else b)


def test_a_run_may_begin_and_end_in_any_of_several_leaves(road):
    states, starts, leaves = road
    ends = np.isin(np.arange(20), [0, 1, 11]), np.isin(np.arange(20), [3, 13, 14])
    nowhere = np.zeros(len(states), bool)
    found = find(states, starts, leaves, nowhere, nowhere, ends, np.ones(1))
    assert (found.method, found.reasons) == (LEAVES, (START, END))
    assert states[found.segments.first, 0].tolist() == [3.0, 23.0]
    assert states[found.segments.last, 0].tolist() == [6.0, 26.0]


def test_episodes_of_one_step_go_nowhere_together():
    states = np.arange(4.0)[:, None]
    found = find(states, np.arange(5), np.arange(4), states[0], states[3], masks(0, 3), np.ones(1))
    assert (found.method, found.reasons) == (NONE, (APART, NO_RUN, NO_BRIDGE))


def test_a_bridge_goes_over_where_two_episodes_enter_a_leaf_from_the_same_leaf(road):
    states, starts, leaves = road
    a, b = np.array([22.5]), np.array([34.0])
    stretches = bridge(states, starts, leaves, a, b, masks(11, 17), np.ones(1))
    # Both enter leaf 14 (28 to 30) from leaf 13; 26 is where the third episode begins, so leaf 13 would not do.
    assert states[stretches.first, 0].tolist() == [23.0, 28.0]
    assert states[stretches.last, 0].tolist() == [28.0, 34.0]
    assert (stretches.start_gap.tolist(), stretches.end_gap.tolist()) == ([0.5, 0.0], [0.0, 0.0])
    path, moved = joined(states, stretches, a, b, np.full(1, 2.0))
    assert path[:, 0].tolist() == [22.5, 23.6, 24.7, 25.8, 26.9, *range(28, 35)]
    assert moved == 0.25


def test_a_bridge_prefers_what_is_near_its_ends():
    states = np.array([0.0, 1, 2, 0.5, 1.5, 2, 1, 2, 3, 1.2, 2, 3.4])[:, None]
    starts, leaves = np.array([0, 3, 6, 9, 12]), states[:, 0].astype(int)
    leaves[6::3] = 1  # the last two episodes begin in leaf 1
    for a, b, origin, goal in ((0.0, 3.0, 0, 2), (0.5, 3.4, 1, 3), (0.0, 3.4, 0, 3)):
        stretches = bridge(states, starts, leaves, np.array([a]), np.array([b]), masks(0, 3), np.ones(1))
        assert stretches.episode.tolist() == [origin, goal]


def test_nothing_bridges_a_leaf_and_itself(road):
    states, starts, leaves = road
    assert len(bridge(states, starts, leaves, states[0], states[1], masks(0, 0), np.ones(1))) == 0
    assert len(bridge(states, starts, leaves, states[0], states[1], masks(0, 99), np.ones(1))) == 0


def fewest(starts, leaves, ends):
    """Hand-overs that are needed, found row by row; None where nothing helps."""
    opening = set(starts[:-1].tolist())
    enters = [(-1 if r in opening else leaves[r - 1], leaves[r]) for r in range(len(leaves))]
    inside = [r not in opening and leaves[r] == leaves[r - 1] for r in range(len(leaves))]
    best, queue = {}, deque()
    for row in range(1, len(leaves)):
        if row not in opening and leaves[row - 1] == ends[0] and leaves[row] != ends[0]:
            best[row] = 0
            queue.append(row)
    while queue:
        row = queue.popleft()
        nexts = [(row + 1, 0)] if row + 1 < len(leaves) and row + 1 not in opening else []
        if not inside[row]:
            nexts += [(r, 1) for r in range(len(leaves)) if not inside[r] and enters[r] == enters[row]]
        for r, more in nexts:
            if best[row] + more < best.get(r, np.inf):
                best[r] = best[row] + more
                queue.append(r)
    return min((n for row, n in best.items() if leaves[row] == ends[1] and not inside[row]), default=None)


@given(seeds, st.integers(1, 12), st.integers(2, 7))
@settings(max_examples=150, deadline=None)
def test_a_bridge_has_as_few_hand_overs_as_possible_and_each_is_allowed(seed, n, n_leaves):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 6, n)
    starts, leaves = np.append(0, np.cumsum(lengths)), rng.integers(0, n_leaves, lengths.sum())
    states = rng.normal(size=(len(leaves), 2))
    a, b = rng.normal(size=(2, 2))
    # Without scales there are no gaps, and only hand-overs count.
    stretches = bridge(states, starts, leaves, a, b, masks(0, 1), np.zeros(2))
    needed = fewest(starts, leaves, (0, 1))
    assert len(stretches) == (0 if needed is None else needed + 1)
    assert (needed == 0) == (len(leaf_runs(states, starts, leaves, a, b, masks(0, 1), np.ones(2))) > 0)
    if needed is None:
        return
    assert leaves[stretches.first[0]] == 0
    assert leaves[stretches.last[-1]] == 1
    assert (stretches.steps > 0).all()
    for e, first, last in zip(stretches.episode, stretches.first, stretches.last, strict=True):
        assert starts[e] <= first < last < starts[e + 1]
    for end, begin in zip(stretches.last[:-1], stretches.first[1:], strict=True):
        assert leaves[end] == leaves[begin]
        assert leaves[end - 1] == leaves[begin - 1]
    path, _ = joined(states, stretches, a, b, np.ones(2))
    assert len(path) == stretches.steps.sum() + 1
    assert np.array_equal(path[[0, -1]], [a, b])


def test_a_real_way_around_a_corner_is_nearer_than_the_straight_line():
    rng = np.random.default_rng(0)
    corner = np.array([[0.0, 0], [1, 0], [2, 0], [2, 1], [2, 2]])
    states = np.concatenate([corner + rng.normal(0, 0.02, 2) for _ in range(20)])
    starts, scale = np.arange(0, 101, 5), np.full(2, 2.0)
    found = find(states, starts, np.zeros(100, int), corner[0], corner[4], masks(0, 0), scale)
    near = within(found.segments)
    chosen = int(typical(states, near, scale, a=corner[0], b=corner[4])[0][0])
    path, moved = bent(states[near.first[chosen] : near.last[chosen] + 1], corner[0], corner[4], scale)
    assert path == pytest.approx(corner, abs=1e-9), "each episode is this corner, moved as a whole"
    assert 0 < moved < 0.03
    assert duration(within(found.segments, AROUND, AT_LEAST)) == (4, 4, 4)


@given(seeds)
@settings(max_examples=50, deadline=None)
def test_gaps_of_a_bridge_are_distances_from_where_its_path_goes(seed):
    rng = np.random.default_rng(seed)
    starts, leaves = np.arange(0, 61, 6), rng.integers(0, 5, 60)
    states, scale = rng.normal(size=(60, 3)), rng.uniform(0.5, 2, 3)
    a, b = rng.normal(size=(2, 3))
    stretches = bridge(states, starts, leaves, a, b, masks(0, 1), scale)
    if not len(stretches):
        return
    path, _ = joined(states, stretches, a, b, scale)
    at = np.append(0, np.cumsum(stretches.steps))
    for k, (begin, end) in enumerate(pairwise(at)):
        rows = states[[stretches.first[k], stretches.last[k]]]
        assert stretches.start_gap[k] == pytest.approx(distances(rows[:1], path[begin], scale)[0])
        assert stretches.end_gap[k] == pytest.approx(distances(rows[1:], path[end], scale)[0])
