"""Segments: against loops over all pairs, in any units, with ties, short episodes and places nobody went to."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tripletree.graph import segments
from tripletree.graph.segments import (
    Segments,
    alternatives,
    bent,
    crossings,
    distances,
    duration,
    leaf_runs,
    nearest_segments,
    resample,
    smoothed,
    typical,
    within,
)

seeds = st.integers(0, 2**32 - 1)


def masks(first, last, n=100):
    """The leaves of both ends, one each."""
    return np.arange(n) == first, np.arange(n) == last


def episodes(rng, n=12, d=2, longest=8, whole=False):
    """States and starts of some episodes; whole numbers make for ties."""
    lengths = rng.integers(1, longest + 1, n)
    states = rng.integers(0, 3, (lengths.sum(), d)).astype(float) if whole else rng.normal(size=(lengths.sum(), d))
    return states, np.append(0, np.cumsum(lengths))


def of(episode, first, last, gap=None):
    """Segments from lists, with all of the gap at the start."""
    gaps = np.zeros(len(episode)) if gap is None else np.array(gap, float)
    return Segments(np.array(episode), np.array(first), np.array(last), gaps, np.zeros(len(episode)))


def slow_nearest(states, starts, a, b, scale):
    """The definition: all pairs of all episodes."""
    found = []
    near, far = distances(states, a, scale), distances(states, b, scale)
    for e, (begin, end) in enumerate(pairwise(starts)):
        pairs = [(near[i] + far[j], j, near[i], -i) for j in range(begin, end) for i in range(begin, j)]
        pairs = [pair for pair in pairs if np.isfinite(pair[0])]
        if pairs:
            total, j, _, i = min(pairs)
            found.append((total, e, -i, j))
    return sorted(found)


@given(seeds, st.integers(1, 12), st.integers(1, 4), st.booleans(), st.sampled_from(["states", "to", "from"]))
@settings(max_examples=200, deadline=None)
def test_the_nearest_segment_of_each_episode_is_the_best_of_all_its_pairs(seed, n, d, whole, places):
    rng = np.random.default_rng(seed)
    states, starts = episodes(rng, n, d, whole=whole)
    scale = rng.uniform(0.5, 2, d)
    a, b = np.round(rng.normal(size=(2, d)))
    a = rng.random(len(states)) < 0.3 if places == "from" else a
    b = rng.random(len(states)) < 0.3 if places == "to" else b
    found = nearest_segments(states, starts, a, b, scale)
    expected = slow_nearest(states, starts, a, b, scale)
    rows = zip(found.gap, found.episode, found.first, found.last, strict=True)
    assert [tuple(row) for row in rows] == [tuple(row) for row in expected]
    assert np.array_equal(found.start_gap, distances(states, a, scale)[found.first])
    assert np.array_equal(found.end_gap, distances(states, b, scale)[found.last])


@given(seeds)
@settings(max_examples=50, deadline=None)
def test_units_change_nothing(seed):
    rng = np.random.default_rng(seed)
    states, starts = episodes(rng, d=3)
    a, b, scale = rng.normal(size=3), rng.normal(size=3), np.ptp(states, axis=0)
    unit = 2.0 ** rng.integers(-20, 20, 3)  # powers of two: not even rounding differs
    one, other = (
        nearest_segments(states, starts, a, b, scale),
        nearest_segments(states * unit, starts, a * unit, b * unit, scale * unit),
    )
    for name in ("episode", "first", "last", "start_gap", "end_gap"):
        assert np.array_equal(getattr(one, name), getattr(other, name))
    assert np.array_equal(
        typical(states, one, scale, a=a, b=b)[0], typical(states * unit, one, scale * unit, a=a * unit, b=b * unit)[0]
    )
    moved = [bent(states[:4], a, b, scale)[1], bent(states[:4] * unit, a * unit, b * unit, scale * unit)[1]]
    assert moved[0] == moved[1]


def test_a_distance_is_the_sum_over_the_features_in_their_units():
    assert distances(np.array([[1.0, 10.0], [0.0, 0.0]]), np.array([0.0, 4.0]), np.array([2.0, 3.0])).tolist() == [
        pytest.approx(2.5),
        pytest.approx(4 / 3),
    ]


def test_a_feature_without_a_scale_does_not_count():
    states = np.array([[0.0, 5.0], [3.0, 5.0]])
    scale = np.array([1.0, 0.0])
    assert distances(states, np.array([0.0, 99.0]), scale).tolist() == [0.0, 3.0]
    path, moved = bent(states, np.array([0.0, 99.0]), np.array([3.5, 5.0]), scale)
    assert moved == 0.5
    assert path[0].tolist() == [0.0, 99.0]


def test_a_state_beyond_all_numbers_is_near_nothing():
    states, scale = np.array([[0.0, 1.0], [1.0, 1.0]]), np.array([5e-324, 0.0])
    for far in (1e300, np.inf):
        assert len(nearest_segments(states, np.array([0, 2]), np.array([far, far]), states[1], scale)) == 0
    assert nearest_segments(states, np.array([0, 2]), *states, scale).gap.tolist() == [0.0]


def test_of_equal_pairs_the_first_to_arrive_and_the_last_to_leave_counts():
    states = np.array([0.0, 0, 1, 2, 2, 0, 2])[:, None]
    starts = np.array([0, 7])
    found = nearest_segments(states, starts, np.zeros(1), np.full(1, 2.0), np.ones(1))
    assert (found.first.tolist(), found.last.tolist(), found.gap.tolist()) == ([1], [3], [0.0])
    twice = nearest_segments(np.tile(states, (2, 1)), np.array([0, 7, 14]), np.zeros(1), np.full(1, 2.0), np.ones(1))
    assert twice.episode.tolist() == [0, 1]
    assert twice.first.tolist() == [1, 8]


def test_episodes_of_one_step_lead_nowhere():
    states = np.arange(4.0)[:, None]
    nowhere = nearest_segments(states, np.arange(5), states[0], states[3], np.ones(1))
    assert len(nowhere) == len(within(nowhere)) == 0
    some = nearest_segments(states, np.array([0, 1, 3, 4]), states[0], states[3], np.ones(1))
    assert (some.episode.tolist(), some.first.tolist(), some.last.tolist()) == ([1], [1], [2])
    assert (some.gap.tolist(), some.steps.tolist()) == ([2.0], [1])


def test_a_way_from_a_state_to_itself_takes_a_step_at_least():
    states = np.array([0.0, 1, 2, 1.1, 0])[:, None]
    here = np.array([1.0])
    found = nearest_segments(states, np.array([0, 5]), here, here, np.ones(1))
    assert (found.first.tolist(), found.last.tolist()) == ([1], [3])
    path, moved = bent(states[1:4], here, here, np.ones(1))
    assert path[:, 0].tolist() == pytest.approx([1.0, 1.95, 1.0])
    assert moved == pytest.approx(0.1)


def slow_crossings(starts, from_rows, to_rows):
    """One row after the other: the last row in the start zone is forgotten on arrival."""
    found = []
    for e, (begin, end) in enumerate(pairwise(starts)):
        left = None
        for row in range(begin, end):
            if to_rows[row]:
                if left is not None:
                    found.append((e, left, row))
                left = None
            elif from_rows[row]:
                left = row
    return found


@given(seeds, st.integers(1, 10))
@settings(max_examples=100, deadline=None)
def test_crossings_are_those_of_a_walk_through_the_log(seed, n):
    rng = np.random.default_rng(seed)
    states, starts = episodes(rng, n)
    from_rows, to_rows = rng.random((2, len(states))) < rng.uniform(0, 1, (2, 1))
    found = crossings(starts, from_rows, to_rows)
    assert list(zip(found.episode, found.first, found.last, strict=True)) == slow_crossings(starts, from_rows, to_rows)
    assert not found.gap.any()
    votes = np.bincount(found.episode, found.votes)
    assert votes[votes > 0] == pytest.approx(1)


def test_nothing_leaves_a_zone_for_itself():
    everywhere = np.ones(5, bool)
    assert len(crossings(np.array([0, 5]), everywhere, everywhere)) == 0
    assert len(crossings(np.array([0, 5]), ~everywhere, ~everywhere)) == 0


@given(seeds, st.integers(2, 20), st.integers(1, 4))
@settings(max_examples=100, deadline=None)
def test_bending_hits_both_ends_and_keeps_the_shape_of_what_is_only_elsewhere(seed, n, d):
    rng = np.random.default_rng(seed)
    path, scale = rng.normal(size=(n, d)), rng.uniform(0.5, 2, d)
    a, b = rng.normal(size=(2, d))
    way, moved = bent(path, a, b, scale)
    assert np.array_equal(way[[0, -1]], [a, b])
    assert moved == pytest.approx((np.abs(way - path) / scale).max())
    # What is taken from second differences is the shape: a linear shift has none.
    assert np.diff(way, 2, axis=0) == pytest.approx(np.diff(path, 2, axis=0), abs=1e-9)
    shift = rng.normal(size=d)
    elsewhere, moved = bent(path, path[0] + shift, path[-1] + shift, scale)
    assert elsewhere == pytest.approx(path + shift, abs=1e-12)
    assert moved == pytest.approx((np.abs(shift) / scale).max())


def test_an_end_in_a_zone_stays_where_it_is():
    path, scale = np.array([[0.0], [1.0], [2.0]]), np.ones(1)
    way, moved = bent(path, None, np.array([3.0]), scale)
    assert (way[:, 0].tolist(), float(moved)) == ([0.0, 1.5, 3.0], 1.0)
    way, moved = bent(path, np.array([-1.0]), None, scale)
    assert (way[:, 0].tolist(), float(moved)) == ([-1.0, 0.5, 2.0], 1.0)
    way, moved = bent(path, None, None, scale)
    assert (way.tolist(), float(moved)) == (path.tolist(), 0.0)


def test_many_paths_are_bent_as_each_alone():
    rng = np.random.default_rng(0)
    paths, a, b, scale = rng.normal(size=(4, 5, 2)), rng.normal(size=2), rng.normal(size=2), np.ones(2)
    together, moved = bent(paths, a, b, scale)
    for path, way, far in zip(paths, together, moved, strict=True):
        alone = bent(path, a, b, scale)
        assert np.array_equal(way, alone[0])
        assert far == alone[1]


@given(seeds)
@settings(max_examples=30, deadline=None)
def test_resampling_follows_time(seed):
    rng = np.random.default_rng(seed)
    states, starts = episodes(rng, longest=20)
    some = nearest_segments(states, starts, np.zeros(2), np.ones(2), np.ones(2))
    paths = resample(states, some, 7)
    assert paths.shape == (len(some), 7, 2)
    for path, first, last in zip(paths, some.first, some.last, strict=True):
        for f in range(2):
            expected = np.interp(np.linspace(first, last, 7), np.arange(first, last + 1), states[first : last + 1, f])
            assert path[:, f] == pytest.approx(expected, abs=1e-12)


@given(seeds, st.integers(1, 30))
@settings(max_examples=60, deadline=None)
def test_the_medoid_has_the_least_mean_distance_to_all_others(seed, n):
    rng = np.random.default_rng(seed)
    states, starts = episodes(rng, n, d=3)
    a, b, scale = rng.normal(size=3), rng.normal(size=3), rng.uniform(0.5, 2, 3)
    some = nearest_segments(states, starts, a, b, scale)
    if not len(some):
        return
    paths = [bent(path, a, b, scale)[0] / scale for path in resample(states, some)]
    mean = [sum(np.linalg.norm(one - other, axis=1).mean() for other in paths) for one in paths]
    chosen, shares = typical(states, some, scale, a=a, b=b)
    assert mean[chosen[0]] == pytest.approx(min(mean))
    assert shares == pytest.approx([1.0])


def lanes(counts, places, length=5):
    """Straight episodes, ``counts[k]`` of them at height ``places[k]``, as states, starts and segments."""
    heights = np.repeat(np.array(places, float), counts)
    n = len(heights)
    states = np.stack([np.tile(np.linspace(0, 1, length), n), np.repeat(heights, length)], axis=1)
    first = np.arange(n) * length
    return states, np.arange(n + 1) * length, of(range(n), first, first + length - 1)


def test_ways_weigh_what_the_episodes_did():
    states, _, some = lanes([6, 3, 1], [0, 10, 30])
    chosen, shares = typical(states, some, np.ones(2), 3)
    assert states[some.first[chosen], 1].tolist() == [0.0, 10.0, 30.0]
    assert shares == pytest.approx([0.6, 0.3, 0.1])
    assert len(typical(states, some, np.ones(2), 9)[0]) == 3, "a fourth would stand for nothing"


def test_an_episode_that_goes_round_and_round_has_one_vote():
    states, _, some = lanes([7, 3], [0, 10])
    busy = Segments(np.array([0] * 7 + [1, 2, 3]), some.first, some.last, some.start_gap, some.end_gap)
    chosen, shares = typical(states, busy, np.ones(2), 2)
    assert states[busy.first[chosen], 1].tolist() == [10.0, 0.0]
    assert shares == pytest.approx([0.75, 0.25])


def test_equal_segments_are_chosen_in_their_order():
    states, _, some = lanes([5], [0])
    chosen, shares = typical(states, some, np.ones(2), 3)
    assert (chosen.tolist(), shares.tolist()) == ([0], [pytest.approx(1.0)])


def test_of_very_many_segments_some_are_compared_and_all_are_counted(monkeypatch):
    monkeypatch.setattr(segments, "MOST", 10)
    states, _, some = lanes([150, 50], [0, 10])
    chosen, shares = typical(states, some, np.ones(2), 2)
    assert states[some.first[chosen], 1].tolist() == [0.0, 10.0]
    assert shares == pytest.approx([0.75, 0.25])


def test_shares_do_not_depend_on_how_many_are_laid_out_at_once(monkeypatch):
    rng = np.random.default_rng(1)
    states, starts = episodes(rng, 60, longest=20)
    some = nearest_segments(states, starts, np.zeros(2), np.ones(2), np.ones(2))
    chosen, shares = typical(states, some, np.ones(2), 5)
    monkeypatch.setattr(segments, "TOGETHER", 7)
    again, once_more = typical(states, some, np.ones(2), 5)
    assert again.tolist() == chosen.tolist()
    assert once_more == pytest.approx(shares)
    assert shares.sum() == pytest.approx(1)


def test_stairs_of_rounding_become_slopes_within_what_was_rounded():
    real = np.stack([np.linspace(0, 3, 31), np.sin(np.linspace(0, 3, 31))], axis=1)
    stairs = np.round(real * 4) / 4
    path = smoothed(stairs, stairs - 0.125, stairs + 0.125)
    assert np.array_equal(path[[0, -1]], stairs[[0, -1]])
    assert (np.abs(path - stairs) <= 0.125).all()
    inner = slice(3, -3)
    assert np.abs(path - real)[inner].mean() < 0.5 * np.abs(stairs - real)[inner].mean()
    assert np.abs(np.diff(path, 2, axis=0)).max() < 0.3 * np.abs(np.diff(stairs, 2, axis=0)).max()
    assert np.array_equal(smoothed(stairs, stairs, stairs), stairs), "what is exact is not moved"
    for few in (stairs[:1], stairs[:2]):
        assert np.array_equal(smoothed(few, few - 1, few + 1), few)


def test_only_segments_about_as_near_as_the_best_are_kept():
    some = of(range(4), [0, 10, 20, 30], [5, 15, 25, 35], [2.0, 3.0, 3.1, 9.0])
    assert within(some).episode.tolist() == [0, 1]
    assert within(some, 2).episode.tolist() == [0, 1, 2]
    assert within(some, least=3).episode.tolist() == [0, 1, 2]
    assert within(some, 9, least=3).episode.tolist() == within(some, least=9).episode.tolist() == [0, 1, 2, 3]
    assert within(of([4, 5], [0, 9], [1, 10], [0.0, 1e-9])).episode.tolist() == [4]


def test_alternatives_come_from_other_episodes_nearest_first():
    some = of([7, 2, 7, 3, 2], [0, 10, 20, 30, 40], [1, 11, 21, 31, 41], [1, 2, 3, 4, 5])
    assert alternatives(some, 0).tolist() == [1, 3]
    assert alternatives(some, 4).tolist() == [0, 3]
    assert alternatives(some[:1], 0).tolist() == []


def test_durations_are_recorded_ones():
    some = of(range(10), [0] * 10, [10, 20, 30, 40, 50, 60, 70, 80, 90, 1000])
    assert duration(some) == (10, 50, 90)
    assert duration(some[:1]) == (10, 10, 10)
    often = of([0] * 8 + [1, 2], [0] * 10, [5] * 8 + [50, 70])
    assert duration(often) == (5, 50, 70), "one vote an episode"


@given(seeds, st.integers(1, 40))
@settings(max_examples=50, deadline=None)
def test_durations_are_the_quantiles_of_one_segment_an_episode(seed, n):
    steps = np.random.default_rng(seed).integers(1, 100, n)
    expected = np.quantile(steps, [0.1, 0.5, 0.9], method="inverted_cdf")
    assert duration(of(range(n), [0] * n, steps)) == tuple(expected)


@pytest.fixture
def road():
    """Two episodes along a line, 0 to 9 and 20 to 29, with a leaf for every two units."""
    states = np.append(np.arange(10.0), np.arange(20.0, 30.0))[:, None]
    return states, np.array([0, 10, 20]), (states[:, 0] // 2).astype(np.int32)


def test_leaf_runs_go_from_leaf_to_leaf(road):
    states, starts, leaves = road
    a, b = np.array([1.9]), np.array([6.1])
    runs = leaf_runs(states, starts, leaves, a, b, masks(0, 3), np.ones(1))
    assert (runs.episode.tolist(), runs.first.tolist(), runs.last.tolist()) == ([0], [1], [6])
    assert runs.start_gap == pytest.approx([0.9])
    assert runs.end_gap == pytest.approx([0.1])
    assert len(leaf_runs(states, starts, leaves, a, b, masks(3, 0), np.ones(1))) == 0
    assert len(leaf_runs(states, starts, leaves, a, b, masks(0, 0), np.ones(1))) == 0


def test_the_nearest_leaf_run_comes_first():
    states = np.array([0.0, 1, 5, 0.4, 1.4, 5])[:, None]
    leaves = np.array([0, 0, 1, 0, 0, 1])
    runs = leaf_runs(states, np.array([0, 3, 6]), leaves, np.array([1.4]), np.array([5.0]), masks(0, 1), np.ones(1))
    assert runs.episode.tolist() == [1, 0]


@given(st.integers(0, 10_000))
def test_angles_are_as_far_apart_as_on_the_circle(seed):
    rng = np.random.default_rng(seed)
    states, place = rng.uniform(-400, 400, (20, 2)), rng.uniform(-400, 400, 2)
    scale, turns = rng.uniform(1, 9, 2), np.arange(-4, 5) * 360.0
    round_it = np.abs(states[:, :1] - place[0] + turns).min(axis=1)
    expected = round_it / scale[0] + np.abs(states[:, 1] - place[1]) / scale[1]
    np.testing.assert_allclose(distances(states, place, scale, (360.0, 0.0)), expected, rtol=1e-9, atol=1e-9)


def test_a_path_is_bent_the_shorter_way_round():
    path = np.array([[350.0], [355.0], [358.0]])
    moved, far = bent(path, np.array([2.0]), np.array([10.0]), np.array([360.0]), (360.0,))
    # By 12 degrees at both ends, through north, and not back by 348.
    assert moved[:, 0].tolist() == [2.0, 367.0, 10.0]
    assert far == pytest.approx(12 / 360)
    back, far = bent(path, np.array([2.0]), np.array([10.0]), np.array([360.0]))
    assert far == pytest.approx(348 / 360)
    assert back[1, 0] == pytest.approx(7.0)
