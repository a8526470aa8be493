from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, hypergeom

from tests.logs import make_log
from tripletree import Log, ParameterError, outcome, read_description, read_log, record
from tripletree.log.tasks import SUCCESS, TASKS
from tripletree.questions.outcome import _best, _chance


def flights(seed: int, episodes: int = 120, helps: float = 0.0) -> Log:
    """Episodes of five steps; starting with x1 > 0.5 spoils the landing as often as ``helps`` says."""
    rng = np.random.default_rng(seed)
    first = rng.uniform(0, 1, (episodes, 3))
    bad = np.where(first[:, 1] > 0.5, rng.random(episodes) < helps, rng.random(episodes) < 0.15)
    steps = 5
    states = np.repeat(first[:, None], steps, axis=1) + 0.01 * rng.normal(size=(episodes, steps, 3))
    states[:, 0] = first
    rewards = np.zeros((episodes, steps))
    rewards[:, -1] = np.where(bad, -1.0, 1.0)
    return make_log(
        states.reshape(-1, 3),
        rng.integers(0, 2, episodes * steps),
        rewards.ravel(),
        np.arange(0, episodes * steps + 1, steps),
        labels=("a", "b"),
        endings=np.where(bad, 1, 2),
    )


def test_counts_returns_endings_and_lengths():
    log = flights(0)
    found = outcome(log, "return > 0")
    good = np.add.reduceat(log.rewards, log.starts[:-1]) > 0
    assert (found.episodes, found.succeeded, found.share) == (120, good.sum(), good.mean())
    assert found.successes.returns == (1.0, 1.0, 1.0)
    assert found.failures.endings == {"unknown": 0, "terminated": int((~good).sum()), "truncated": 0}
    assert found.failures.lengths == (5.0, 5.0, 5.0)
    low, high = binomtest(int(good.sum()), 120).proportion_ci(method="wilson")
    assert found.interval == pytest.approx((low, high), abs=0.01)
    assert str(found).startswith(f"{good.sum()} of 120 episodes succeed: ")
    # An array of the same episodes is the same question.
    assert outcome(log, good).interval == found.interval


def test_failures_share_where_they_begin():
    found = outcome(flights(1, helps=0.9), "return > 0")
    starts = [one for one in found.shared if one.where == "start"]
    (one,) = starts
    assert one.right > 0.7
    assert any(text.startswith("x1 >= ") for text in one.when)
    assert f"{one.failures} of {found.failures.episodes} failures begin with x1 >= " in str(found)


def test_what_is_shared_by_chance_is_not_told():
    told = sum(bool(outcome(flights(seed, episodes=60), "return > 0").shared) for seed in range(20, 50))
    assert told <= 3


def test_ends_is_the_final_state_or_the_last_one_known():
    states = [[0.0], [1.0], [0.0], [1.0], [2.0], [0.0]]
    finals = [[5.0], [np.nan], [0.5]]
    log = make_log(states, [0] * 6, [0.0, 1, 0, 1, 0, 1], [0, 2, 5, 6], final_states=finals, labels=("a",))
    assert outcome(log, "ends (x0 > 1.5)").succeeded == 2
    assert outcome(log, "ends (x0 > 4)").succeeded == 1
    assert outcome(log, "not ends (x0 > 4)").succeeded == 2
    assert outcome(log, "visits (x0 = 1)").succeeded == 2


@settings(max_examples=30)
@given(st.integers(0, 1000), st.floats(0, 5))
def test_opposite_conditions_share_the_episodes(seed, border):
    log = flights(seed % 7, episodes=20)
    one, other = outcome(log, f"length > {border:.2f}"), outcome(log, f"not length > {border:.2f}")
    assert one.succeeded + other.succeeded == 20
    assert one.interval[0] <= one.share <= one.interval[1]


def test_groups_widen_the_interval():
    log = flights(3)
    alone = outcome(log, "return > 0").interval
    few = outcome(replace(log, groups=np.arange(120) // 20), "return > 0")
    assert few.interval[1] - few.interval[0] > alone[1] - alone[0]
    assert "counted by 6 groups" in str(few)


def test_always_never_and_nobody_said():
    log = flights(0)
    assert str(outcome(log, "length > 1")).startswith("All 120 episodes succeed: more than 98 % do (95 %).")
    assert str(outcome(log, "length > 9")).startswith("None of 120 episodes succeeds: fewer than 2.5 % do (95 %).")
    absent = outcome(log)
    assert (absent.success, absent.source, absent.share) == ("", "absent", None)
    assert str(absent).startswith("Nobody said what success is")


def test_the_log_may_say_it(tmp_path):
    (tmp_path / "run.toml").write_text('[episodes]\nsuccess = "return > 0"\n')
    assert read_description(tmp_path / "run.toml") == {"success": "return > 0"}
    (tmp_path / "run.csv").write_text("episode,x,action,reward\n0,1,0,1\n0,2,1,1\n1,1,0,-1\n1,3,1,0\n")
    log = read_log(tmp_path / "run.csv", success="return > 0")
    found = outcome(log)
    assert (found.source, found.succeeded) == ("log", 1)
    assert "Success means return > 0, as the log says." in str(found)
    log.to_npz(tmp_path / "run.npz")
    assert outcome(read_log(tmp_path / "run.npz")).succeeded == 1
    # It is an opinion on the episodes, not part of what they are.
    assert log.fingerprint() == read_log(tmp_path / "run.csv").fingerprint()
    with pytest.raises(ParameterError, match="success=3 cannot be used; type success="):
        read_log(tmp_path / "run.csv", success=3)


def test_a_known_task_says_it():
    log = record("CartPole-v1", "random", episodes=12, seed=0)
    assert outcome(log).source == "log"
    assert str(outcome(log)).startswith("None of 12 episodes succeeds")
    assert outcome(record("CartPole-v1", "random", episodes=12, seed=0, success="length > 20")).succeeded > 0
    assert set(SUCCESS) <= set(TASKS)


def test_refusals():
    log = flights(0)
    with pytest.raises(ParameterError, match="success has no `retrun`"):
        outcome(log, "retrun > 3")
    with pytest.raises(ParameterError, match="`after` is about moments"):
        outcome(log, "after (x0 > 3)")
    with pytest.raises(ParameterError, match="without a tree a zone has conditions on `x0`"):
        outcome(log, "ends (value > 3)")
    with pytest.raises(ParameterError, match="success must be text such as"):
        outcome(log, [True])
    with pytest.raises(ParameterError, match="log must be a Log"):
        outcome(3)
    silent = replace(log, schema=replace(log.schema, has_reward=False))
    with pytest.raises(ParameterError, match="the log has no rewards"):
        outcome(silent, "return > 3")


@given(seed=st.integers(0, 10**6), episodes=st.integers(3, 90), places=st.integers(0, 3))
@settings(max_examples=60, deadline=None)
def test_no_threshold_tells_more_apart_than_the_one_that_is_chosen(seed, episodes, places):
    rng = np.random.default_rng(seed)
    states = rng.normal(size=(episodes, 2)).round(places)
    bad, inside = rng.random(episodes) < 0.4, rng.random(episodes) < 0.8
    bad[:2] = True, False
    right, bound = _best(states, 1, inside, bad)
    values = sorted(set(states[inside, 1].tolist()))
    tried = [
        (np.mean((side & inside)[bad]) + np.mean(~(side & inside)[~bad])) / 2
        for low in values[:-1]
        for side in (states[:, 1] <= low, states[:, 1] > low)
    ]
    if bound is None:
        assert not tried
        return
    meets = inside & bound.holds(states)
    assert right == pytest.approx((meets[bad].mean() + (~meets)[~bad].mean()) / 2)
    assert right == pytest.approx(max(tried)) or len(values) > 65


@pytest.mark.parametrize("helps", [0.0, 0.02, 0.05, 0.1])
def test_chance_is_that_of_drawing_as_many_hits(helps):
    rng = np.random.default_rng(1)
    bad = rng.random(400) < 0.2
    guess = (rng.random(400) < 0.3) | (bad & (rng.random(400) < helps))
    exact = float(hypergeom.sf((guess & bad).sum() - 1, 400, bad.sum(), guess.sum()))
    error = 4 * np.sqrt(exact * (1 - exact) / 999) + 0.001
    assert _chance(guess, bad, np.arange(400)) == pytest.approx(exact, abs=error)
    # Groups of one episode each are the same question, asked by shuffling.
    assert _chance(np.append(guess, False), np.append(bad, False), np.append(np.arange(400), 0)) == pytest.approx(
        exact, abs=error + 0.02
    )
