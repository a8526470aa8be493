"""Require: who holds, who does not, who cannot tell; shares with intervals; the worst; and where violations lie."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from tests.questions.formulas import make
from tripletree import Action, Feature, Log, ParameterError, Schema, outcome, require
from tripletree.questions.robustness import TINY


def steps(*episodes, endings=None, finals=None):
    """Return a log of the feature a, whose episodes are lists of numbers."""
    lengths = [len(one) for one in episodes]
    states = np.zeros((sum(lengths), 3))
    states[:, 0] = np.concatenate(episodes)
    last = np.full((len(lengths), 3), np.nan)
    if finals is not None:
        last = np.column_stack([finals, np.zeros((len(lengths), 2))])
    n = len(states)
    return make(states, [0] * n, [0] * n, lengths, last, endings or [1] * len(lengths))


def test_counts_verdicts_and_the_worst():
    log = steps([1, 2, 3], [3, -1, 2], [2, 2], [-3, 5])
    (found,) = require(log, "always (a >  0)")
    assert (found.text, found.held, found.violated, found.undecided, found.holds) == ("always (a > 0)", 2, 2, 0, False)
    assert found.low.tolist() == found.high.tolist() == [1, -1, 2, -3]
    assert [(one.episode, one.number, one.step, one.margin, one.reading) for one in found.worst[:3]] == [
        (3, 3, 0, -3, "a = -3"),
        (1, 1, 1, -1, "a = -1"),
        (0, 0, 0, 1, "a = 1"),
    ]
    assert str(found).splitlines() == [
        "Violated: always (a > 0)",
        "  It holds in 2 of 4 episodes, 50 % (95 % interval 9.7 % to 90 %); 2 violate it.",
        "  Worst: episode 3 at step 0, a = -3 (missed by 3); episode 1 at step 1, a = -1 (missed by 1).",
    ]


def test_the_final_state_counts_where_it_is_recorded_but_no_action_is_taken_there():
    log = steps([1, 2], [1, 2], finals=[3, -1])
    assert require(log, "always (a > 0)")[0].low.tolist() == [1, -1]
    assert require(log, "always (a > 0)")[0].worst[0].step == 2
    assert require(log, "always (a > 0 or action = right)").holds is True
    assert require(log, "always (a > 0) and always (action = left)").holds is False


def test_an_episode_that_is_cut_off_holds_only_if_nothing_could_change_that():
    log = steps([1, 1, 1], [1, 1, 1], [1, -1, 1], endings=[2, 1, 0])
    (found,) = require(log, "always (a > 0)")
    assert (found.held, found.violated, found.undecided, found.holds) == (1, 1, 1, False)
    assert np.isnan(found.margin).tolist() == [True, False, False]
    assert require(log, "always[0, 2] (a > 0)")[0].undecided == 0
    assert require(log, "always[0, 3] (a > 0)")[0].undecided == 1
    assert require(log, "eventually (a > 5)")[0].undecided == 2
    assert require(log, "eventually (a > 0)").holds is True
    assert require(log, "ends (a > 0)")[0].undecided == 2
    assert require(log, "always (a > -2)").holds is None
    assert require(log, "always (a > -2)", as_recorded=True).holds is True
    told = str(require(log, "always (a > -2)"))
    assert told.startswith("Cannot tell: always (a > -2)\n  It holds in 1 of 3 episodes (95 % interval ")
    assert "The recordings of 2 episodes end before it is decided; so far nothing violates it for good. To take" in told
    assert told.splitlines()[2].endswith("give as_recorded=True.")


def test_a_terminated_episode_has_nothing_beyond_its_end():
    log = steps([1, 1, 1])
    assert require(log, "eventually[0, 300] (a > 2)").holds is False
    assert require(log, "always[0, 300] (a > 0)").holds is True
    assert require(log, "always (if a > 0 then next (a > 0))").holds is False


def test_a_share_is_judged_by_its_interval():
    good, bad = [1.0], [-1.0]
    log = steps(*([good] * 95 + [bad] * 5))
    (found,) = require(log, "always (a > 0)", share=0.8)
    assert found.holds is True
    assert found.interval == outcome(log, "never visits (a <= 0)").interval
    assert require(log, "always (a > 0)", share=0.95).holds is None
    assert require(log, "always (a > 0)", share=0.995).holds is False
    # Those that cannot be told count for the lower bound as if they failed, and for the upper as if they held.
    half = steps(*([good] * 40 + [good] * 40 + [bad] * 20), endings=[1] * 40 + [2] * 40 + [1] * 20)
    (found,) = require(half, "always (a > 0)", share=0.6)
    assert found.interval == (
        require(steps(*([good] * 40 + [bad] * 60)), "always (a > 0)")[0].interval[0],
        require(steps(*([good] * 80 + [bad] * 20)), "always (a > 0)")[0].interval[1],
    )
    assert found.holds is None


def test_groups_are_what_counts_where_there_are_groups():
    rng = np.random.default_rng(0)
    alone = steps(*[[float(sign)] for sign in np.repeat(rng.choice([-1, 1], 10), 20)])
    grouped = Log(**{**vars(alone), "groups": np.repeat(np.arange(10), 20)})
    one, other = (require(log, "always (a > 0)", where=False)[0] for log in (alone, grouped))
    assert other.groups == 10
    assert other.interval[1] - other.interval[0] > 2 * (one.interval[1] - one.interval[0])
    assert "counted by 10 groups" in str(other)


def test_all_of_several_must_hold_and_an_answer_is_true_only_then():
    log = steps([1, 2], [1, 2])
    both = require(log, "always (a > 0)", "eventually (a > 1)")
    assert (both.holds, bool(both), len(both)) == (True, True, 2)
    mixed = require(log, "always (a > 0)", "always (a > 1)")
    assert (mixed.holds, bool(mixed), bool(mixed[0]), bool(mixed[1])) == (False, False, True, False)
    assert [one.holds for one in mixed] == [True, False]
    json.dumps(mixed.to_dict(), allow_nan=False)
    assert mixed.to_dict()["parts"][1]["worst"][0]["reading"] == "a = 1"
    assert mixed._repr_html_().count("<div") == 3
    assert require(log, "always (a > 0)", "always (a > -1 and a <= 2)").holds is True


def test_margins_without_a_distance_name_episodes_and_a_margin_of_nothing_is_0():
    log = steps([1.0], [2.0], [3.0])
    assert str(require(log, "always (c)")).splitlines()[-1] == "  Violated by episodes 0, 1, 2."
    many = steps(*[[1.0]] * 30)
    assert str(require(many, "always (c)")).splitlines()[-1] == "  Violated by episodes 0, 1, 2 and 27 more."
    assert require(log, "always (a < 3)")[0].worst[0].margin == -TINY
    assert "a = 3 (missed by 0)" in str(require(log, "always (a < 3)"))
    assert require(log, "always (not c)")[0].low.tolist() == [math.inf] * 3
    assert "Closest" not in str(require(log, "always (not c)"))


def test_returns_and_lengths_are_those_of_whole_episodes():
    states = np.zeros((6, 3))
    log = make(states, [0] * 6, [1, 2, 3, 4, 5, 6], [2, 4], np.full((2, 3), np.nan), [1, 2])
    (found,) = require(log, "return > 2")
    assert (found.held, found.violated, found.undecided, found.low[0]) == (1, 0, 1, 1)
    assert str(found).splitlines()[-1] == "  Closest: episode 0, return = 3 (1 to spare)."
    assert require(log, "return > 2", as_recorded=True)[0].low.tolist() == [1, 16]
    (long,) = require(log, "length >= 3")
    assert (long.held, long.violated, long.unit) == (1, 1, "")
    assert str(long).splitlines()[-1] == "  Worst: episode 0, length = 2 (missed by 1)."
    assert require(log, "if length > 3 then return > 100")[0].held == 1


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((), {}, r'requirement is missing\. Try "always \(a > 0\)"'),
        ((3,), {}, r"requirement must be text; got int\. Try"),
        (("always (a > 0)",), {"share": 1}, "share must be .*below 1.*got 1"),
        (("always (a > 0)",), {"share": 95}, "share must be"),
        (("always (a > 0)",), {"as_recorded": 1}, "as_recorded must be True or False"),
        (("always (a > 0)",), {"where": "x"}, "where must be True or False"),
        (("always (b > 0)", "always (d > 0)"), {}, "has no `d`"),
    ],
)
def test_refusals(arguments, options, message):
    with pytest.raises(ParameterError, match=message):
        require(steps([1.0]), *arguments, **options)


def world(episodes=60, seed=0, place=True):
    """Return a log in which b is low now and then: where a is high, or anywhere."""
    rng = np.random.default_rng(seed)
    n = episodes * 50
    a, noise, c = rng.uniform(-1, 1, n), rng.normal(size=n), rng.integers(0, 2, n)
    danger = (a > 0.6) & (rng.random(n) < 0.5) if place else rng.random(n) < 0.1
    b = np.where(danger, -1.0, 1.0) * rng.uniform(0.1, 1, n)
    schema = Schema(
        (Feature("a"), Feature("b"), Feature("noise"), Feature("c", kind="binary")),
        Action("discrete", labels=("left",)),
    )
    return Log(
        np.column_stack([a, b, noise, c]),
        np.zeros(n, np.int32),
        np.zeros(n),
        np.arange(0, n + 1, 50),
        np.full((episodes, 4), np.nan),
        np.ones(episodes, np.uint8),
        np.arange(episodes),
        schema,
    )


def test_where_it_is_violated_is_told_by_other_features_and_counted_on_unseen_episodes():
    log = world()
    ground = require(log, "always (b > 0)")[0].ground
    (box,) = ground.boxes
    assert ground.features == ("a", "noise", "c")
    (told,) = box
    assert told.startswith("a >= 0.")
    assert float(told.removeprefix("a >= ")) == pytest.approx(0.6, abs=0.02)
    bad, there = log.states[:, 1] < 0, log.states[:, 0] > 0.6
    assert (ground.violating, ground.steps) == (bad.sum(), log.n_samples)
    assert ground.inside == pytest.approx((bad & there).sum(), rel=0.05)
    assert ground.visited == pytest.approx(there.sum(), rel=0.05)
    assert ground.episodes == len(np.unique(np.flatnonzero(bad) // 50))
    assert str(ground).startswith(f"Where: {told}. Of the {bad.sum()} steps that violate it, ")
    # What must hold from one step to the next is not decided by what it names.
    again = require(log, "always (if b < 0 then next (b < 0))")[0].ground
    assert "b" in again.features


@pytest.mark.parametrize("seed", range(8))
def test_chance_is_not_told_as_a_place(seed):
    assert require(world(seed=seed, place=False), "always (b > 0)")[0].ground is None


def test_few_violations_and_requirements_without_a_place_have_no_ground():
    assert require(world(4), "always (b > 0)")[0].ground is None
    assert require(world(), "eventually (b < -5)")[0].ground is None
    assert require(world(), "always[0, 10] (b > 0)")[0].ground is None
    assert require(world(), "always (b > 0)", where=False)[0].ground is None
    assert require(world(), "always (b > 0) and always (b > 0.001)")[0].ground is not None


def test_how_violating_episodes_begin():
    rng = np.random.default_rng(1)
    starts = rng.uniform(-1, 1, 60)
    log = steps(*[[start, 5.0 if start > 0.2 else 0.0] for start in starts])
    (found,) = require(log, "eventually (a > 2)")
    assert found.shared is not None
    assert found.shared.failures == (starts <= 0.2).sum()
    told = str(found).splitlines()[-1]
    assert f"{found.violated} of the {found.violated} episodes that violate it begin with a < 0.2" in told
    assert "; 0 of the " in told
