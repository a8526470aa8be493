"""Counting against loops over episodes, closed forms, and simulated worlds whose truth is known."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tripletree.graph.count import after, chance, occupancy, shares, steps
from tripletree.graph.futures import Episodes, Event
from tripletree.graph.nearest import nearest_visits, votes
from tripletree.graph.tally import FEWEST_AT_RISK
from tripletree.log.log import TERMINATED, TRUNCATED, UNKNOWN


@st.composite
def worlds(draw, endings=(UNKNOWN, TERMINATED, TRUNCATED)):
    """Some episodes with a start zone, a goal and something to avoid, all at random."""
    seed, number = draw(st.integers(0, 2**32 - 1)), draw(st.integers(1, 12))
    rng = np.random.default_rng(seed)
    starts = np.append(0, np.cumsum(rng.integers(1, 9, number)))
    ended = rng.choice(endings, number)
    final = rng.random(number) < 0.5
    group = rng.integers(0, number, number) if draw(st.booleans()) else None
    episodes = Episodes.of(starts, ended, final, group)
    n = starts[-1]
    goal, avoid = (
        Event(rng.random(n) < rate, (rng.random(number) < rate) & final, draw(st.booleans()))
        for rate in draw(st.tuples(*[st.sampled_from([0.0, 0.1, 0.3])] * 2))
    )
    here = rng.random(n) < draw(st.sampled_from([0.0, 0.2, 1.0]))
    return episodes, here, goal, avoid if draw(st.booleans()) else None


def holds(event, episodes, e, row):
    """Whether an event is so in a row of an episode, or (beyond its last row) at its end."""
    if event is None:
        return False
    if row < episodes.starts[e + 1]:
        return bool(event.rows[row])
    at_end = event.end and episodes.endings[e] == TERMINATED
    return bool(at_end or (episodes.final[e] and event.finals[e]))


def followed(episodes, here, goal, avoid):
    """Follow each visit step by step: (episode, what became of it, after how many steps)."""
    found = []
    for e in range(len(episodes.endings)):
        first, stop = episodes.starts[e], episodes.starts[e + 1]
        over = episodes.endings[e] == TERMINATED
        for row in range(first, stop):
            if not here[row]:
                continue
            t, fate = row, None
            while fate is None:
                if t == stop and not over and not episodes.final[e]:
                    t, fate = t - 1, "cut"
                elif holds(goal, episodes, e, t):
                    fate = "reached"
                elif holds(avoid, episodes, e, t):
                    fate = "missed"
                elif t == stop:
                    fate = "missed" if over else "cut"
                else:
                    t += 1
            found.append((e, fate, t - row))
    return found


def filled_in(found, horizon):
    """Aalen and Johansen's estimator, one time after the other; what is cut off in the thin tail stays unresolved."""
    longest = {}
    for e, _, t in found:
        longest[e] = max(longest.get(e, 0), t)
    left, reached, unresolved = 1.0, 0.0, 0.0
    for now in range(max(t for _, _, t in found) + 1):
        if now > horizon:
            break
        at_risk = sum(t >= now for _, _, t in found)
        thin = sum(t > now for t in longest.values()) < FEWEST_AT_RISK
        fates = [fate for _, fate, t in found if t == now]
        lost = fates.count("cut") if thin and now < horizon else 0
        reached += left * fates.count("reached") / at_risk
        unresolved += left * lost / at_risk
        left *= 1 - (fates.count("reached") + fates.count("missed") + lost) / at_risk
        if left <= 0:
            break
    return reached, unresolved


@given(worlds(), st.none() | st.integers(0, 9))
def test_chances_are_those_of_following_every_visit(world, within):
    episodes, here, goal, avoid = world
    answer = chance(episodes, here, goal, avoid, within)
    found = followed(episodes, here, goal, avoid)
    assert answer.visits == len(found)
    if not found:
        assert answer.probability is None
        assert answer.interval is None
        return
    horizon = math.inf if within is None else within
    reached = [e for e, fate, t in found if fate == "reached" and t <= horizon]
    cut = sum(fate == "cut" and t < horizon for _, fate, t in found)
    assert answer.episodes == len({e for e, _, _ in found})
    assert answer.groups == len({episodes.group[e] for e, _, _ in found})
    assert answer.reached == len(set(reached))
    assert answer.censored == cut / len(found)
    if cut == 0:
        assert answer.probability == len(reached) / len(found)  # exactly
        assert answer.unresolved == 0
    expected, unresolved = filled_in(found, horizon)
    assert answer.probability == pytest.approx(expected, abs=1e-12)
    assert answer.unresolved == pytest.approx(unresolved, abs=1e-12)
    low, high = answer.interval
    assert 0 <= low <= answer.probability + 1e-12
    assert answer.probability - 1e-12 <= high <= 1


@given(worlds())
def test_steps_are_those_of_the_visits_that_arrive(world):
    episodes, here, goal, avoid = world
    answer = steps(episodes, here, goal, avoid)
    found = followed(episodes, here, goal, avoid)
    took = sorted(t for _, fate, t in found if fate == "reached")
    assert answer.visits == len(found)
    assert answer.arrived == len({e for e, fate, _ in found if fate == "reached"})
    if found:
        assert answer.episodes == len({e for e, _, _ in found})
        assert answer.groups == len({episodes.group[e] for e, _, _ in found})
        assert answer.missed == sum(fate == "missed" for _, fate, _ in found) / len(found)
        assert answer.censored == sum(fate == "cut" for _, fate, _ in found) / len(found)
    if not took:
        assert (answer.mean, answer.interval, answer.quantiles) == (None, None, None)
        return
    assert answer.mean == pytest.approx(sum(took) / len(took))
    assert answer.quantiles == tuple(took[math.ceil(q * len(took) - 1e-9) - 1] for q in (0.1, 0.5, 0.9))
    if len({episodes.group[e] for e, fate, _ in found if fate == "reached"}) < 2:
        assert answer.interval is None
    elif answer.interval is not None:
        assert answer.interval[0] <= answer.mean <= answer.interval[1]


@given(worlds(), st.integers(0, 9))
def test_later_is_the_row_that_many_steps_on(world, k):
    episodes, here, _, _ = world
    later = after(episodes, here, k)
    n = episodes.starts[-1]
    rows, ended, cut = [], 0, 0
    for e in range(len(episodes.endings)):
        for row in range(episodes.starts[e], episodes.starts[e + 1]):
            if not here[row]:
                continue
            if row + k < episodes.starts[e + 1]:
                rows.append(row + k)
            elif episodes.endings[e] == TERMINATED:
                ended += 1
            elif row + k == episodes.starts[e + 1] and episodes.final[e]:
                rows.append(n + e)
            else:
                cut += 1
    total = len(rows) + ended + cut
    assert later.visits == total
    assert later.rows.tolist() == rows
    assert len(later.ended_group) == ended
    if total == 0:
        return
    assert later.censored == cut / total
    assert later.weight.sum() + later.ended + later.unresolved == pytest.approx(1)
    if cut == 0:
        assert later.ended == ended / total
        assert later.weight == pytest.approx(np.full(len(rows), 1 / total))


@given(worlds())
def test_occupancy_counts_the_steps_from_each_visit_on(world):
    episodes, here, _, _ = world
    later = occupancy(episodes, here)
    time = np.zeros(episodes.starts[-1])
    for row in np.flatnonzero(here):
        time[row : episodes.starts[episodes.of_row[row] + 1]] += 1
    weight = np.bincount(later.rows, later.weight, len(time))
    assert weight == pytest.approx(time / max(time.sum(), 1))
    assert later.group.tolist() == episodes.group[episodes.of_row[later.rows]].tolist()


@given(worlds(endings=(TERMINATED,)), st.integers(0, 5), st.integers(1, 4))
def test_shares_of_classes_are_chances_one_by_one(world, k, classes):
    episodes, here, _, _ = world
    later = after(episodes, here, k)
    label = later.rows % classes
    share, interval = shares(later, label, classes)
    if later.visits == 0:
        assert not share.any()
        assert (interval[0] == 0).all()
        assert (interval[1] == 1).all()
        return
    assert share.sum() == pytest.approx(1)
    assert share[-1] == pytest.approx(later.ended)
    group = np.append(later.group, later.ended_group)
    label = np.append(label, np.full(len(later.ended_group), classes))
    for c in range(classes + 1):
        # The same visits, each an episode of one step that is or is not in the class.
        one = Episodes.of(np.arange(len(group) + 1), np.full(len(group), TERMINATED), group=group)
        alone = chance(one, np.ones(len(group), bool), Event(label == c))
        assert share[c] == pytest.approx(alone.probability)
        assert interval[:, c] == pytest.approx(alone.interval, abs=1e-6)


@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.integers(1, 3))
def test_neighbours_are_the_nearest_of_different_episodes(seed, number, features):
    rng = np.random.default_rng(seed)
    starts = np.append(0, np.cumsum(rng.integers(1, 6, number)))
    states = rng.integers(0, 6, (starts[-1], features)).astype(float)
    state, scale = rng.normal(2, 1, features), np.append(rng.random(features - 1) + 0.5, 0.0)
    rows, distance = nearest_visits(states, starts, state, scale)
    used = scale > 0
    far = np.sqrt((((states - state)[:, used] / scale[used]) ** 2).sum(axis=1) / max(used.sum(), 1))
    best = sorted(min((far[row], row) for row in range(starts[e], starts[e + 1])) for e in range(number))
    kept = [d for d, _ in best[:25] if d <= 2.5 * best[min(number, 3) - 1][0]]
    assert distance == pytest.approx([d for d, _ in best[: max(len(kept), min(number, 10))]])
    assert far[rows] == pytest.approx(distance)
    assert len(set(np.searchsorted(starts, rows, side="right"))) == len(rows)


def lives(rng, number, rates, most):
    """Episodes that reach the goal, or end, at constant rates, or are cut off at a time of their own."""
    time = rng.geometric(sum(rates), number)
    reached = rng.random(number) < rates[0] / sum(rates)
    limit = rng.integers(1, most, number)
    cut = limit < time
    length = np.where(cut, limit, time)
    starts = np.append(0, np.cumsum(length))
    endings = np.where(cut, TRUNCATED, TERMINATED)
    episodes = Episodes.of(starts, endings, np.ones(number, bool))
    goal = Event(np.zeros(starts[-1], bool), reached & ~cut)
    first = np.zeros(starts[-1], bool)
    first[starts[:-1]] = True
    return episodes, first, goal


@pytest.mark.parametrize(("goal_rate", "end_rate"), [(0.05, 0.0), (0.04, 0.03), (0.01, 0.08)])
@pytest.mark.parametrize("within", [5, 20, 40])
@pytest.mark.parametrize("anywhere", [False, True])
def test_censored_lives_give_the_chance_of_whole_ones(goal_rate, end_rate, within, anywhere):
    # Constant rates have no memory: the same chance from the first step and from any other.
    total = goal_rate + end_rate
    truth = goal_rate / total * (1 - (1 - total) ** within)
    episodes, first, goal = lives(np.random.default_rng(within + 1), 20_000, (goal_rate, end_rate), 60)
    answer = chance(episodes, np.ones_like(first) if anywhere else first, goal, within=within)
    low, high = answer.interval
    assert answer.censored > 0.05
    assert answer.unresolved == 0
    assert answer.probability == pytest.approx(truth, abs=3 * (high - low) / 3.92)
    assert high - low < 0.03
    # Counting only those whose outcome was seen would be far off.
    if within == 40 and not end_rate:
        known = ~((episodes.endings == TRUNCATED) & (np.diff(episodes.starts) < within))
        seen = known & (np.diff(episodes.starts) <= within) & (episodes.endings == TERMINATED)
        assert abs(seen.sum() / known.sum() - truth) > 0.02


def test_the_share_that_ended_is_filled_in_like_a_chance():
    episodes, first, _ = lives(np.random.default_rng(3), 20_000, (0.03, 0.04), 60)
    later = after(episodes, first, 30)
    assert later.ended == pytest.approx(1 - 0.93**30, abs=0.01)
    assert later.censored > 0.15
    share, interval = shares(later, np.zeros(len(later.rows), int), 1)
    assert share == pytest.approx([0.93**30, 1 - 0.93**30], abs=0.01)
    assert (interval[0] < share).all()
    assert (share < interval[1]).all()


def test_what_nobody_was_watched_long_enough_for_is_unresolved():
    # All are cut off after ten steps: whether they would ever get there is unknown, and not "never".
    recording = Episodes.of(np.arange(0, 201, 10), np.full(20, TRUNCATED), np.ones(20, bool))
    nowhere = Event(np.zeros(200, bool))
    first = np.arange(200) % 10 == 0
    ever = chance(recording, first, nowhere)
    assert (ever.probability, ever.censored, ever.unresolved) == (0, 1, 1)
    assert ever.interval == (0, 1)
    soon = chance(recording, first, nowhere, within=10)
    assert (soon.probability, soon.censored, soon.unresolved) == (0, 0, 0)
    assert soon.interval[1] == pytest.approx(1 - 0.05 ** (1 / 20))
    later = after(recording, first, 11)
    assert (later.ended, later.unresolved, len(later.rows)) == (0, 1, 0)


def test_angles_are_near_across_their_border() -> None:
    states = np.array([[350.0], [20.0], [180.0]])
    starts = np.array([0, 1, 2, 3])
    near, distance = nearest_visits(states, starts, np.array([0.0]), np.array([360.0]), periods=(360.0,))
    assert near.tolist() == [0, 1, 2]
    assert distance * 360 == pytest.approx([10, 20, 180])
    near, _ = nearest_visits(states, starts, np.array([0.0]), np.array([360.0]))
    assert near.tolist() == [1, 2, 0]


def test_near_neighbours_have_more_votes():
    assert votes(np.array([0.0, 1.0, 1.0, 1.0, 3.0, 100.0])).tolist() == [6, 3, 3, 3, 1, 1]
    assert votes(np.zeros(4)).tolist() == [6] * 4
    assert votes(np.array([0.5])).tolist() == [3]
    assert votes(np.array([])).tolist() == []
    assert votes(np.array([0.0, 0.0, 0.0, 1e300])).tolist() == [6, 6, 6, 1]


@pytest.mark.parametrize("seed", range(3))
def test_votes_by_distance_blur_less(seed):
    # Beyond x = 0.5 it goes up: near that border, neighbours on the other side are farther away.
    rng = np.random.default_rng(seed)
    starts = np.arange(0, 801, 2)
    states = np.zeros((800, 1))
    states[::2, 0] = rng.random(400)
    states[1::2, 0] = np.where(states[::2, 0] > 0.5, 2.0, -1.0)
    episodes = Episodes.of(starts, np.full(400, TERMINATED), np.zeros(400, bool))
    goal, error = Event(states[:, 0] > 1.5), np.zeros(2)
    for place in np.linspace(0.45, 0.55, 60):
        rows, distance = nearest_visits(states, starts, np.array([place]), np.ones(1))
        for k, asked in enumerate((rows, np.repeat(rows, votes(distance)))):
            error[k] += (chance(episodes, asked, goal).probability - (place > 0.5)) ** 2
    assert error[1] < 0.9 * error[0]
