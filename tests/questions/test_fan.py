"""The fan against a loop over every visit and every step, and in worlds whose quantiles are known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.logs import make_log, random_log
from tests.scenes.models import road_tree
from tripletree import ParameterError, TripleTree
from tripletree.graph.count import after, over_time
from tripletree.graph.futures import Episodes
from tripletree.log.endings import TERMINATED, TRUNCATED, UNKNOWN
from tripletree.questions import fan as fans
from tripletree.questions.evidence import evidence
from tripletree.questions.fan import evenly, fan

# The worlds are too simple for a tree to have much to say.
pytestmark = pytest.mark.filterwarnings("ignore::tripletree.TripleTreeWarning")


def found_in(log, leaves=6):
    tree = TripleTree(leaves, keep="leaves")
    return evidence(tree.fit(log).fitted_, log)


def later_states(log, rows, t):
    """Follow visit after visit: the states of those that go on, and how many are over."""
    states, over = [], 0
    for row in rows:
        e = int(np.searchsorted(log.starts, row, side="right")) - 1
        stop = log.starts[e + 1]
        if row + t < stop:
            states.append(log.states[row + t])
        elif log.endings[e] == TERMINATED:
            over += 1
        elif row + t == stop and np.isfinite(log.final_states[e]).all():
            states.append(log.final_states[e])
    return np.array(states), over


@given(st.integers(0, 10_000), st.integers(1, 40), st.booleans())
def test_every_quantile_is_that_of_a_loop(seed, steps, zone):
    log = random_log(seed, lengths=(20, 31, 12, 7, 44, 25, 18))
    low = float(np.quantile(log.states[:, 0], 0.3))
    rows = np.flatnonzero(log.states[:, 0] >= low) if zone else log.starts[:-1]
    got = fan(found_in(log), steps, f"x0 >= {low!r}" if zone else None)
    assert got.times.tolist() == list(range(steps + 1))
    assert got.seen.visits == len(rows)
    drawn = got.quantiles.shape[1]
    for t in range(steps + 1):
        states, over = later_states(log, rows.tolist(), t)
        if not (log.endings != TERMINATED).any():
            assert got.ended[t] == pytest.approx(over / len(rows))
        if t < drawn:
            wanted = np.quantile(states, (0.1, 0.5, 0.9), axis=0, method="inverted_cdf")
            np.testing.assert_array_equal(got.quantiles[:, t], wanted)
            np.testing.assert_allclose(got.mean[t], states.mean(axis=0))
    assert len(got.last) == len(states)
    assert (np.diff(got.ended) >= -1e-12).all()
    assert ((got.ended + got.unresolved) <= 1 + 1e-12).all()


@given(st.integers(0, 2**32 - 1))
def test_all_times_at_once_are_each_of_them(seed):
    rng = np.random.default_rng(seed)
    number = int(rng.integers(1, 9))
    starts = np.append(0, np.cumsum(rng.integers(1, 9, number)))
    episodes = Episodes.of(starts, rng.choice([UNKNOWN, TERMINATED, TRUNCATED], number), rng.random(number) < 0.5)
    visits = rng.random(starts[-1]) < rng.choice([0.0, 0.3, 1.0])
    for k, later in enumerate(over_time(episodes, visits, range(10))):
        alone = after(episodes, visits, k)
        for name, value in vars(alone).items():
            np.testing.assert_array_equal(getattr(later, name), value)


def steady(episodes=200, steps=60):
    """Each goes up by its own speed, from 1 to 200, and ends; so the k-th is at k times the steps."""
    speed = np.random.default_rng(0).permutation(episodes) + 1.0
    states = (speed[:, None] * np.arange(steps)).reshape(-1, 1)
    starts = np.arange(episodes + 1) * steps
    actions = (states[:, 0] > 3000).astype(int)
    return make_log(
        states,
        actions,
        np.zeros(len(states)),
        starts,
        endings=[TERMINATED] * episodes,
        labels=("a", "b"),
        names=("up",),
    )


def test_a_world_whose_quantiles_are_known():
    got = fan(found_in(steady()), 59, None)
    np.testing.assert_array_equal(got.quantiles[:, :, 0], np.outer([20, 100, 180], np.arange(60)))
    assert not got.ended.any()
    # One step more and all are over.
    over = fan(found_in(steady()), 60, None, 8)
    assert over.ended.tolist() == [0.0] * 60 + [1.0]
    assert over.quantiles.shape[1] == 60
    assert over.last.shape == (0, 1)
    assert [len(path) for path in over.paths] == [60] * 8


def test_it_stops_where_too_few_go_on():
    # One in twenty goes on for five times as long.
    lengths = [50 if e % 20 == 0 else 10 for e in range(200)]
    starts = np.append(0, np.cumsum(lengths))
    states = np.concatenate([np.arange(n, dtype=float) for n in lengths])[:, None]
    labels, actions = ("a", "b"), (states[:, 0] > 5).astype(int)
    log = make_log(states, actions, np.zeros(len(states)), starts, endings=[TERMINATED] * 200, labels=labels)
    got = fan(found_in(log), 50, None)
    assert got.quantiles.shape[1] == 10
    assert got.ended[10] == pytest.approx(0.95)


def test_one_state_is_asked_by_its_neighbours():
    tree = road_tree()
    got = fan(evidence(tree.fitted_, None), 5, "pos = 1.2, speed = 0")
    assert got.state.tolist() == [1.2, 0.0]
    assert 10 <= got.seen.episodes == got.seen.visits <= 25
    assert 0 < got.seen.distance < 0.5
    # Exactly where TripleTree.after says it is.
    np.testing.assert_array_equal(got.quantiles[:, -1], tree.after(5, [1.2, 0.0]).quantiles)
    assert got.ended[-1] == pytest.approx(tree.after(5, [1.2, 0.0]).end)


def test_long_looks_are_taken_at_some_times_only(monkeypatch):
    got = fan(found_in(steady()), 1_000_000, None)
    assert len(got.times) == fans.POINTS + 1
    assert (got.times[0], got.times[-1]) == (0, 1_000_000)
    assert got.quantiles.shape[1] == 1
    # Of many visits some are followed, evenly.
    monkeypatch.setattr(fans, "MOST_VISITS", 50)
    some = fan(found_in(steady()), 10, {"up": (0, 1e6)})
    assert len(some.last) <= 50
    assert some.quantiles.shape[1] == 11
    assert (some.seen.visits, some.seen.episodes) == (200 * 60, 200)


def test_evenly():
    assert evenly(5, 10).tolist() == [0, 1, 2, 3, 4]
    assert evenly(5, 3).tolist() == [0, 2, 4]
    assert evenly(5, 1).tolist() == [0]
    assert evenly(0, 3).tolist() == []


@pytest.mark.parametrize(
    ("steps", "start", "message"),
    [
        (0, None, "steps must be a whole number from 1 to 1,?000,?000; got 0"),
        (True, None, "steps must be a whole number"),
        (1.5, None, "steps must be a whole number"),
        (10**7, None, "steps must be a whole number"),
        (5, "end", "start must hold a state: nothing follows the end"),
        (5, 99, "start has leaf 99"),
        (5, [np.nan, 0.0], "start"),
        (5, [np.inf, 0.0], "start must hold finite numbers only"),
        (5, {"pos": (-3, -2)}, "start is empty"),
        (5, "pos in [1.0001, 1.00011]", "No recorded episode was in pos in .*, so there is nothing to draw"),
    ],
)
def test_what_cannot_be_asked(steps, start, message):
    with pytest.raises(ParameterError, match=message):
        fan(evidence(road_tree().fitted_, None), steps, start)


def test_without_episodes_the_log_is_asked_for():
    with pytest.raises(ParameterError, match=r"keeps none, because .*Give the log: log=\.\.\."):
        fan(None, 5, None)
