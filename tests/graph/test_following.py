"""What comes next, against loops over episodes and worlds whose truth is known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tripletree.graph.following import CUT, END, STAYS, commonest, following
from tripletree.graph.futures import Episodes
from tripletree.log.log import TERMINATED, TRUNCATED, UNKNOWN


@st.composite
def worlds(draw):
    """Some episodes that wander between regions, all at random."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    number, regions = draw(st.integers(1, 8)), draw(st.integers(1, 4))
    starts = np.append(0, np.cumsum(rng.integers(1, 14, number)))
    final = rng.random(number) < 0.5
    episodes = Episodes.of(starts, rng.choice([UNKNOWN, TERMINATED, TRUNCATED], number), final)
    # Stays of random lengths, so that some are long enough and some are not.
    region = np.repeat(rng.integers(0, regions, starts[-1]), rng.integers(1, 6, starts[-1]))[: starts[-1]]
    here = int(rng.integers(regions)) if draw(st.booleans()) else None
    return episodes, region, rng.integers(0, regions, number), here


def followed(episodes, region, final, row, here):
    """Follow one visit step by step."""
    e = int(np.searchsorted(episodes.starts, row, side="right")) - 1
    first, stop = int(episodes.starts[e]), int(episodes.starts[e + 1])
    path = [*region[first:stop].tolist(), *([int(final[e])] if episodes.final[e] else [])]
    here = path[row - first] if here is None else here
    for t in range(row - first, len(path)):
        begin = t
        # A stay may have begun before the visit.
        while begin > 0 and path[begin - 1] == path[t]:
            begin -= 1
        end = t
        while end < len(path) and path[end] == path[t]:
            end += 1
        if path[t] != here and (end - begin >= STAYS or end == len(path)):
            return path[t], t - (row - first)
    if episodes.endings[e] == TERMINATED:
        return END, stop - row
    return CUT, len(path) - 1 - (row - first)


@given(worlds())
def test_every_visit_is_followed_as_a_loop_would(world):
    episodes, region, final, here = world
    rows = np.arange(len(region))
    come, steps = following(episodes, region, final, rows, here)
    for row in rows.tolist():
        assert (come[row], steps[row]) == followed(episodes, region, final, row, here)


def test_crossing_a_border_for_a_moment_is_not_going_there():
    region = np.array([0, 0, 1, 0, 0, 1, 1, 0, 2, 2, 2, 2])
    episodes = Episodes.of([0, 12], [TRUNCATED])
    come, steps = following(episodes, region, np.zeros(1, int), np.arange(12))
    assert come.tolist() == [2] * 8 + [CUT] * 4
    assert steps.tolist() == [8, 7, 6, 5, 4, 3, 2, 1, 3, 2, 1, 0]
    # But where an episode ends it has come, however short it was there; and a final state counts.
    come, steps = following(Episodes.of([0, 3], [TERMINATED]), np.array([0, 0, 1]), np.zeros(1, int), np.array([0, 2]))
    assert (come.tolist(), steps.tolist()) == ([1, END], [2, 1])
    ended = Episodes.of([0, 3], [TERMINATED], [True])
    come, steps = following(ended, np.array([0, 0, 0]), np.array([3]), np.array([0, 2]))
    assert (come.tolist(), steps.tolist()) == ([3, 3], [3, 1])


def test_one_visit_is_from_the_side_that_is_asked():
    episodes, region = Episodes.of([0, 6], [TERMINATED]), np.array([1, 1, 1, 2, 2, 2])
    come, steps = following(episodes, region, np.zeros(1, int), np.array([0, 1]), here=0)
    assert (come.tolist(), steps.tolist()) == ([1, 1], [0, 0])


def test_shares_are_counted_and_ranked():
    come, steps = np.array([4, 4, 4, 2, 2, 7, END]), np.array([5, 1, 3, 2, 2, 2, 9])
    found, unresolved = commonest(come, steps, np.arange(7))
    # Two with one vote each: the sooner one first.
    assert [(one.region, len(one.visits), one.steps) for one in found] == [
        (4, 3, (1, 3, 5)),
        (2, 2, (2, 2, 2)),
        (7, 1, (2, 2, 2)),
        (END, 1, (9, 9, 9)),
    ]
    assert [one.share for one in found] == pytest.approx([3 / 7, 2 / 7, 1 / 7, 1 / 7])
    assert unresolved == 0
    assert all(0 <= one.interval[0] < one.share < one.interval[1] <= 1 for one in found)
    assert found[0].visits.tolist() == [0, 1, 2]
    ((only,), _) = commonest(come[:3], steps[:3], np.arange(3))
    assert only.interval == pytest.approx((0.05 ** (1 / 3), 1.0))


def test_what_was_cut_off_is_filled_in_from_those_watched_for_longer():
    # Ten go left after 1 step and ten right after 5; ten more are cut off after 3, and were all about to go right.
    come = np.repeat([0, 1, CUT], 10)
    steps = np.repeat([1, 5, 3], 10)
    found, unresolved = commonest(come, steps, np.arange(30))
    assert {one.region: one.share for one in found} == pytest.approx({0: 1 / 3, 1: 2 / 3})
    assert unresolved == 0
    # Where nobody was watched for longer, nothing is filled in.
    found, unresolved = commonest(np.append([0] * 3, [CUT] * 7), np.append([1] * 3, [4] * 7), np.arange(10))
    assert (found[0].share, unresolved) == (pytest.approx(0.3), pytest.approx(0.7))
    assert commonest(np.full(3, CUT), np.ones(3, int), np.arange(3)) == ([], 1.0)


@given(st.integers(0, 2**32 - 1))
def test_the_order_of_visits_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    come, steps, group = rng.integers(-2, 3, 20), rng.integers(0, 9, 20), rng.integers(0, 20, 20)
    order = rng.permutation(20)
    for one, other in zip(
        commonest(come, steps, group)[0], commonest(come[order], steps[order], group[order])[0], strict=True
    ):
        assert (one.region, one.steps) == (other.region, other.steps)
        assert (one.share, *one.interval) == pytest.approx((other.share, *other.interval))
        assert sorted(order[other.visits]) == one.visits.tolist()


def test_intervals_cover_in_simulated_worlds():
    # On average over chances: for a single one, 95 % of a few episodes need not be a whole number.
    rng = np.random.default_rng(1)
    for number in (5, 10, 22, 60):
        inside = 0
        for chance in rng.uniform(0.1, 0.9, 500):
            come = (rng.random(number) < chance).astype(np.int64)
            found, _ = commonest(come, np.ones(number, np.int64), np.arange(number))
            intervals = {one.region: one.interval for one in found}
            low, high = intervals.get(1, (0.0, 1 - intervals.get(0, (0.0, 0.0))[0]))
            inside += low <= chance <= high
        assert 0.93 * 500 <= inside <= 0.99 * 500


def test_episodes_that_belong_together_widen_the_interval():
    come, steps = np.repeat([0, 1], 20), np.ones(40, np.int64)
    alone = commonest(come, steps, np.arange(40))[0][0].interval
    together = commonest(come, steps, np.arange(40) // 10)[0][0].interval
    assert together[1] - together[0] > 1.5 * (alone[1] - alone[0])
