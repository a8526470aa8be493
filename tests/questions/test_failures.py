"""Failures, in worlds in which the risk is known: walks between two barriers, one of which is the failure."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tripletree import Log, ParameterError, failures
from tripletree.answers import Briefings
from tripletree.questions.blame import blame
from tripletree.questions.risk import find_risk, folds_of, smoothed, thinned, turn
from tripletree.questions.routes import find_routes

END = 20


@cache
def walk(episodes, up=0.5, first=(5, 15), seed=0, end=END):
    """Record walks on a line, one step up or down; they fail at 0 and succeed at the other end."""
    rng = np.random.default_rng(seed)
    walks = []
    for _ in range(episodes):
        at = [int(rng.integers(first[0], first[1] + 1))]
        while 0 < at[-1] < end:
            at.append(at[-1] + (1 if rng.random() < up else -1))
        walks.append(at)
    return log_of(walks, rng)


def log_of(walks, rng, **more):
    seen = np.concatenate([one[:-1] for one in walks]).astype(float)
    finals = np.array([[one[-1], 0.0] for one in walks], float)
    return Log.from_arrays(
        np.column_stack([seen, rng.normal(size=len(seen))]),
        np.where(rng.random(len(seen)) < 0.5, "a", "b"),
        np.zeros(len(seen)),
        starts=np.cumsum([0, *(len(one) - 1 for one in walks[:-1])]),
        terminated=np.ones(len(walks), bool),
        final_states=finals,
        feature_names=["x", "noise"],
        **more,
    )


def known_risk(x, up, end=END):
    """Return the chance to get to 0 first (the gambler's ruin)."""
    if up == 0.5:
        return 1 - x / end
    ratio = (1 - up) / up
    return 1 - (1 - ratio**x) / (1 - ratio**end)


FAILS = "ends (x < 1)"


@cache
def briefed():
    return failures(walk(200), FAILS)


WORLDS = [(0.5, (5, 15), 150), (0.55, (2, 8), 200), (0.6, (3, 8), 200)]


def test_the_risk_is_the_chance_that_is_known():
    inside, bias = [], []
    for up, first, episodes in WORLDS:
        log = walk(episodes, up, first)
        fails = log.final_states[:, 0] < 1
        known = known_risk(log.states[:, 0], up)
        told = failures(log, fails)
        bias.append(np.mean(told.risk - known))
        assert np.sqrt(np.mean((told.risk - known) ** 2)) < 0.12
        judged = told.judged
        assert judged.error < 0.08
        assert judged.interval[0] < judged.skill < judged.interval[1]
        errors = []
        for case in told.cases:
            rows = slice(log.starts[case.episode], log.starts[case.episode + 1])
            true = turn(smoothed(known[rows]), told.level)
            if case.interval is not None:
                inside.append(case.interval[0] <= true <= case.interval[1])
                errors.append(abs(case.turning - true))
        assert np.median(errors) <= 3
    # In the second and third world failures are short: weights by length would make the risk too high by 0.1.
    assert abs(np.mean(bias)) < 0.05
    assert np.mean(inside) > 0.85


def test_every_episode_is_judged_by_trees_that_have_not_seen_it():
    log = walk(60)
    fails = log.final_states[:, 0] < 1
    risk = find_risk(log, fails, trees=3)
    # Other states of the episodes of one fold must not change the trees that judge them, but all others.
    part = 2
    mine = np.flatnonzero(np.repeat(risk.fold == part, np.diff(log.starts)))
    states = log.states.copy()
    states[mine] = states[np.random.default_rng(0).permutation(mine)]
    again = find_risk(replace(log, states=states), fails, trees=3)

    def alike(k):
        pairs = zip(risk.bags[k], again.bags[k], strict=True)
        return [
            np.array_equal(a.tree.threshold, b.tree.threshold) and np.array_equal(a.share, b.share) for a, b in pairs
        ]

    assert all(alike(part))
    assert not any(any(alike(k)) for k in range(5) if k != part)


def test_groups_stay_whole():
    walks = [[10, 9, 10], [10, 11, 10], [10, 9, 8]] * 30
    rng = np.random.default_rng(0)
    log = log_of(walks, rng, groups=np.arange(90) // 6)
    fold = folds_of(log, np.arange(90) % 3 == 2)
    assert all(len(set(fold[log.units == unit])) == 1 for unit in range(15))
    assert np.bincount(fold).min() == 18


def test_chance_is_not_told_as_risk():
    log = walk(150)
    fails = np.random.default_rng(1).random(150) < 0.3
    told = failures(log, fails)
    assert told.how == "none"
    assert not told.judged
    assert not told.routes
    assert set(told.kinds) == {"untold"}
    assert "does not tell which will fail" in str(told)
    assert "urning points are told" in str(told)


def test_what_crosses_and_what_such_states_lack():
    told = briefed()
    crossed = [case for case in told.cases if case.crossed]
    assert len(crossed) > 0.5 * told.kinds["foreseen"]
    assert np.mean(["x" in case.crossed for case in crossed]) > 0.9
    lower = [case for case in told.cases if case.lower]
    assert lower
    for case in lower:
        assert case.lower.startswith("x >")
        assert case.risks[1] < min(told.level, case.risks[0])
        assert "not that this would have saved it" in str(case)


def test_no_return_is_only_where_the_risk_gets_there():
    told = briefed()
    for case in told.cases:
        curve = told.risk[told.starts[case.episode] : told.starts[case.episode + 1]]
        if case.no_return is None:
            assert curve[-1] < 0.9 or case.kind == "unforeseen"
        else:
            assert (curve[case.no_return :] >= 0.9).all()


def test_routes_are_counted_on_the_other_half():
    log = walk(200)
    fails = log.final_states[:, 0] < 1
    found = find_routes(log, fails)
    other = np.flatnonzero(folds_of(log, fails, 2) != 0)
    assert found.routes
    assert found.counted == len(other)
    assert found.failed == fails[other].sum()
    last = max(round(0.05 * float(np.median(np.diff(log.starts)[fails]))), 1)
    covered = set()
    for route in found.routes:
        passing = []
        for e in other.tolist():
            states = log.states[log.starts[e] : log.starts[e + 1]]
            early = states[: max(len(states) - last, 1)]
            if ((early >= route.lower) & (early < route.upper)).all(axis=1).any():
                passing.append(e)
        failing = {e for e in passing if fails[e]}
        assert (route.passing, route.failing, route.more) == (len(passing), len(failing), len(failing - covered))
        assert route.interval[0] <= route.failing / route.passing <= route.interval[1]
        covered |= failing


@pytest.mark.parametrize(
    ("fails", "says"),
    [
        (np.zeros(60, bool), "None of 60 episodes failed: fewer than 4.9 % do"),
        (np.ones(60, bool), "All 60 episodes failed"),
        (np.arange(60) >= 5, "With 5 episodes that did not fail"),
        (np.arange(60) == 7, "1 episode is too few to learn a risk from"),
    ],
)
def test_what_cannot_be_told_is_said(fails, says):
    told = failures(walk(60), fails)
    assert says in str(told)
    assert told.judged is None
    assert told.risk is None
    assert not told.routes
    assert told.to_dict()["failed"] == fails.sum()
    assert str(told.episode(7)).startswith(f"Episode 7 {'failed' if fails[7] else 'did not fail'}")


def test_three_episodes():
    told = failures(log_of([[3, 2, 1, 0], [18, 19, 20], [2, 1, 0]], np.random.default_rng(0)), FAILS)
    assert told.how == "none"
    assert told.failed == 2
    assert "With 1 episode that did not fail, what leads to failure cannot be told" in str(told)


def test_one_failure_is_told_by_its_novelty():
    rng = np.random.default_rng(0)
    walks = [(10 + np.cumsum(rng.normal(size=80)) * 0.1).tolist() for _ in range(30)]
    walks[4] = [*walks[4][:50], *(walks[4][50] + 2.0 * np.arange(30)).tolist()]
    told = failures(log_of(walks, rng), "episode = 4")
    assert told.how == "novelty"
    (case,) = told.cases
    assert 45 <= case.novel <= 60
    assert "states further from all other episodes" in str(told)


def test_cut_off_episodes_and_logs_without_actions():
    log = walk(120)
    cut = Log.from_arrays(
        log.states, np.zeros(log.n_samples, int), log.rewards, starts=log.starts[:-1], truncated=np.ones(120, bool)
    )
    told = failures(cut, log.final_states[:, 0] < 1)
    assert "were cut off: what would have followed is not on record" in str(told)
    rows = {"episode": np.repeat(np.arange(120), np.diff(log.starts)), "x": log.states[:, 0]}
    alone = failures(Log.from_dict(rows, action="none", reward="none"), log.final_states[:, 0] < 1)
    assert alone.how == "risk"
    assert not alone.causes
    with pytest.raises(ParameterError, match="speaks of returns, but the log has no rewards"):
        failures(Log.from_dict(rows, action="none", reward="none"), "return < 1")


def test_several_definitions_are_briefed_apart():
    log = walk(60)
    told = failures(log, [FAILS, "episode = 3"])
    assert isinstance(told, Briefings)
    assert [part.when for part in told.parts] == [FAILS, "episode = 3"]
    assert str(told.parts[1]) == str(failures(log, "episode = 3"))
    with pytest.raises(ParameterError, match="is empty"):
        failures(log, [])
    with pytest.raises(ParameterError, match="Nobody said which episodes failed"):
        failures(log)


def test_the_log_may_say_what_success_is():
    log = log_of([[3, 2, 1, 0], [18, 19, 20]], np.random.default_rng(0), success="ends (x > 19)")
    assert failures(log).failed == 1


def driven(episodes, seed, *, reverse=False, push=0.0):
    """Record an agent that drives a point to 0 against noise; it may act in reverse, or the world may push."""
    rng = np.random.default_rng(seed)
    states, actions = [], []
    for _ in range(episodes):
        x = rng.uniform(-2, 2)
        for step in range(60):
            action = -np.tanh(x) + 0.1 * rng.normal()
            if reverse and 20 <= step < 40:
                action = -action
            states.append(x)
            actions.append(action)
            x = x + 0.2 * action + 0.05 * rng.normal() + (push if 20 <= step < 40 else 0.0)
    return Log.from_arrays(states, actions, np.zeros(len(states)), starts=np.arange(0, len(states), 60))


@pytest.mark.parametrize(("change", "cause"), [({"reverse": True}, "policy"), ({"push": 0.15}, "world")])
def test_the_cause_is_found_beside_a_reference(change, cause):
    found = blame(driven(20, 1, **change), np.full(20, 40), driven(40, 2))
    said = [found.cause(e) for e in range(20)]
    assert said.count(cause) >= 17


def test_healthy_episodes_are_rarely_blamed():
    found = blame(driven(60, 3), np.full(60, 60), driven(60, 4))
    assert sum(found.cause(e) != "neither" for e in range(60)) <= 12


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30), st.floats(0.01, 0.99))
def test_a_turn_is_where_the_curve_stays_up(curve, level):
    at = turn(np.array(curve), level)
    assert all(one >= level for one in curve[at:])
    assert at == 0 or curve[at - 1] < level


def test_thinning_keeps_every_episode_and_its_end():
    log = walk(60)
    some = thinned(log, 500)
    assert some.n_samples <= log.n_samples / 5
    assert some.n_episodes == 60
    assert np.array_equal(some.states[some.starts[1:] - 1], log.states[log.starts[1:] - 1])


def test_an_unknown_episode_is_refused():
    with pytest.raises(ParameterError, match="There is no episode 99 in the log"):
        failures(walk(60), "episode = 3").episode(99)
