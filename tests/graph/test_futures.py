"""What becomes of visits; the estimator itself is followed step by step in test_count.py."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.graph.test_count import worlds
from tripletree.graph.futures import CENSORED, MISSED, REACHED, Episodes, Event, outcomes
from tripletree.graph.tally import ANY, Tally
from tripletree.log.log import TERMINATED, TRUNCATED, UNKNOWN


@pytest.mark.parametrize(
    ("ending", "final", "at_end", "time", "fate"),
    [
        (TERMINATED, True, True, 3, REACHED),
        (TERMINATED, True, False, 3, MISSED),
        (TERMINATED, False, False, 3, MISSED),
        (TRUNCATED, True, True, 3, REACHED),
        (TRUNCATED, True, False, 3, CENSORED),
        # Without a final state the last row is the last thing known.
        (TRUNCATED, False, False, 2, CENSORED),
        (UNKNOWN, False, True, 2, CENSORED),
    ],
)
def test_how_an_episode_ends_decides_what_is_known(ending, final, at_end, time, fate):
    episodes = Episodes.of([0, 3], [ending], [final])
    found = outcomes(episodes, np.array([0]), Event(np.zeros(3, bool), np.array([at_end])), None)
    assert [int(x[0]) for x in found] == [time, fate]


@pytest.mark.parametrize(("goal", "avoid", "time", "fate"), [(1, 2, 1, REACHED), (2, 1, 1, MISSED), (1, 1, 1, REACHED)])
def test_the_goal_counts_when_both_come_at_once(goal, avoid, time, fate):
    episodes = Episodes.of([0, 3], [TERMINATED])
    found = outcomes(episodes, np.array([0]), *(Event(np.arange(3) == row) for row in (goal, avoid)))
    assert [int(x[0]) for x in found] == [time, fate]


def test_an_event_of_the_next_episode_is_no_future_of_this_one():
    episodes = Episodes.of([0, 2, 4], [TERMINATED, TERMINATED])
    time, fate = outcomes(episodes, np.array([0, 2]), Event(np.array([False, False, True, False])), None)
    assert time.tolist() == [2, 0]
    assert fate.tolist() == [MISSED, REACHED]


def test_groups_may_have_any_names():
    episodes = Episodes.of([0, 1, 2, 3], [TERMINATED] * 3, group=["Bo", "Al", "Bo"])
    assert episodes.group.tolist() == [1, 0, 1]


@given(worlds(), st.none() | st.integers(0, 9))
@settings(max_examples=50)
def test_influence_is_the_derivative_by_the_weight_of_a_visit(world, within):
    episodes, here, goal, avoid = world
    rows = np.flatnonzero(here)
    if len(rows) == 0:
        return
    time, cause = outcomes(episodes, rows, goal, avoid)
    whose = episodes.of_row[rows]
    horizon = ANY if within is None else within

    def incidence(*visits: np.ndarray):
        return Tally.of(*visits, len(episodes.endings), horizon).incidence()

    found = incidence(time, cause, whose)
    influence = found.influence(time, cause)
    assert influence.sum() == pytest.approx(0, abs=1e-12)
    # Weight as copies: one visit many times more among very many copies of all.
    copies = 4_000
    more = np.full(len(rows), copies)
    more[0] += 1
    heavier = incidence(*(np.repeat(x, more) for x in (time, cause, whose)))
    assert (heavier.share - found.share) * copies == pytest.approx(influence[0], abs=5e-3 + 0.01 * abs(influence[0]))
