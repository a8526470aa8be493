"""A tree beside its agent in words: nothing is claimed that its interval does not bear out."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from tests.policy.agents import poles
from tripletree.answers.fidelity import Agreement, Estimate, Fidelity, told_difference
from tripletree.answers.refined import Refined, Round

SAME = Agreement(100, 0.97, {}, {}, None)
ANSWER = Fidelity(
    episodes=100,
    seed=1_000_000,
    tree=Estimate(245.0, (229.0, 261.0)),
    agent=Estimate(265.0, (252.0, 278.0)),
    difference=Estimate(-20.0, (-37.0, -3.0)),
    paired=True,
    at_least=0.4,
    tree_returns=np.full(100, 245.0),
    agent_returns=np.full(100, 265.0),
    tree_lengths=np.full(100, 210),
    agent_lengths=np.full(100, 210),
    on_agent=SAME,
    on_tree=replace(SAME, share=0.93),
    outside=0.0,
)


def test_the_whole_sentence():
    assert str(ANSWER) == (
        "Flown on 100 fresh episodes, the tree gets 245 (95 % interval 229 to 261), the agent 265 (252 to 278): 20 "
        "less (3 to 37). In 40 % of the episodes it gets at least as much. On the agent's own states they agree in "
        "97 % of the steps; on the states that the tree gets itself into, in 93 %."
    )


@pytest.mark.parametrize(
    ("mean", "interval", "told"),
    [
        (-20.0, (-37.0, -3.0), "20 less (3 to 37)"),
        (20.0, (3.0, 37.0), "20 more (3 to 37)"),
        (-5.0, (-17.0, 8.0), "5 less, which may be chance (17 less to 8 more)"),
        (5.0, (-8.0, 17.0), "5 more, which may be chance (8 less to 17 more)"),
        (0.0, (-8.0, 8.0), "no difference on average, which may be chance (8 less to 8 more)"),
        (0.0, (0.0, 0.0), "the same in every episode"),
        (-1.0, (-1.0, -1.0), "1 less (1 to 1)"),
        (-5.0, None, "5 less"),
        (0.0, None, "the same"),
    ],
)
def test_a_difference_that_may_be_chance_says_so(mean, interval, told):
    assert told_difference(Estimate(mean, interval)) == told


@pytest.mark.parametrize(
    ("interval", "episodes", "as_well"),
    [
        ((-37.0, -3.0), 100, False),
        ((-13.2, 20.0), 100, True),
        ((-13.3, 20.0), 100, False),
        ((0.0, 0.0), 100, True),
        ((0.0, 0.0), 10, True),
        ((0.0, 0.0), 9, False),
        ((5.0, 20.0), 100, True),
        (None, 1, False),
    ],
)
def test_as_well_as_the_agent_needs_an_interval_that_bears_it_out(interval, episodes, as_well):
    mean = 0.0 if interval is None else sum(interval) / 2
    answer = replace(ANSWER, difference=Estimate(mean, interval), episodes=episodes)
    assert answer.as_well is as_well
    assert answer.to_dict()["as_well"] is as_well
    assert ("It does as well as the agent" in str(answer)) is as_well
    if as_well:
        assert (", to within 5 % of its return." in str(answer)) is (interval[0] < 0)


def test_lengths_are_told_where_they_differ():
    assert "last" not in str(ANSWER)
    longer = replace(ANSWER, tree_lengths=np.full(100, 230))
    assert "Its episodes last 230 steps on average, the agent's 210." in str(longer)


@pytest.mark.parametrize(
    ("share", "told"),
    [(0.0, "In no episode does it get at"), (1.0, "In every episode it gets at"), (0.25, "In 25 % of the episodes")],
)
def test_how_often_it_gets_as_much(share, told):
    assert told in str(replace(ANSWER, at_least=share))


def test_numbers_are_told_in_spreads():
    near = Agreement(9, None, {"main": 0.1, "side": 0.2}, {"main": 0.21, "side": 0.333}, 0.92)
    far = replace(near, explained=-0.5, relative={"main": 2.0, "side": None})
    text = str(replace(ANSWER, on_agent=near, on_tree=far))
    assert (
        "On the agent's own states the tree explains 92 % of what the agent does (RMSE / sigma: main 0.21 and side "
        "0.33); on the states that the tree gets itself into, a constant would be at least as near to what the agent "
        "does (RMSE / sigma: main 2)." in text
    )
    flat = replace(near, explained=None, relative={})
    assert "On the agent's own states the agent always does the same;" in str(
        replace(ANSWER, on_agent=flat, on_tree=far)
    )
    assert "itself into, it explains 92 %" in str(replace(ANSWER, on_agent=far, on_tree=near))


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"outside": 0.12}, "12 % of the latter lie outside the range of the log that it was grown on."),
        ({"paired": False}, "this environment does not obey its seed"),
        ({"seen": 3}, "The tree has seen 3 of the agent's 100 episodes: give another seed."),
        ({"episodes": 1}, "One episode says little: fly more."),
    ],
)
def test_what_to_mind_is_said(changed, told):
    text = str(replace(ANSWER, **changed))
    assert told in text
    assert told not in str(ANSWER)
    assert ("fresh" in text) is ("seen" not in changed)


def test_everything_is_data():
    found = json.loads(json.dumps(ANSWER.to_dict(), allow_nan=False))
    assert found["tree"] == {"mean": 245.0, "interval": [229.0, 261.0]}
    assert found["on_tree"]["share"] == 0.93
    assert len(found["tree_returns"]) == 100


def refined(**changed) -> Refined:
    log, fitted = poles(8)
    better = replace(ANSWER, tree=Estimate(260.0, (250.0, 270.0)), difference=Estimate(-5.0, (-17.0, 8.0)))
    given = {
        "rounds": (Round(0, 5_000, 8, ANSWER), Round(1, 8_000, 8, better)),
        "kept": 1,
        "keep": "last",
        "again": None,
        "gain": Estimate(15.0, (2.0, 28.0)),
        "weighted": False,
        "episodes": 30,
        "fitted": fitted,
        "log": log,
        **changed,
    }
    return Refined(**given)


def test_refining_is_told_round_by_round():
    lines = str(refined()).splitlines()
    assert lines[0] == (
        "Refined in 1 round of 30 episodes: the tree flew, and the agent said what it would have done. Measured "
        "against the agent, episode by episode, the last tree gets 15 more (2 to 28) than the first."
    )
    assert lines[1] == (
        "Round 0: 245 (229 to 261), the agent 265: 20 less (3 to 37); in its own states they agree in 93 %; grown "
        "on 5,000 samples."
    )
    assert lines[2].startswith(
        "Round 1: 260 (250 to 270), the agent 265: 5 less, which may be chance (17 less to 8 more);"
    )
    assert lines[3] == "Kept is the tree of the last round, 1."
    assert lines[4].startswith("Its actions are the agent's. Its values are not:")
    assert len(lines) == 5
    numbers = Agreement(9, None, {"main": 0.1}, {"main": 0.2}, -0.2)
    told = str(Round(0, 10, 8, replace(ANSWER, on_tree=numbers)))
    assert "; in its own states it explains 0 % of what the agent does; grown on 10 samples." in told
    assert "states" not in str(Round(0, 10, 8, replace(ANSWER, on_tree=replace(numbers, explained=None))))


@pytest.mark.parametrize(
    ("mean", "interval", "told"),
    [
        (15.0, (-2.0, 32.0), "do not differ beyond chance: 15 more (2 less to 32 more)."),
        (-15.0, (-28.0, -2.0), "the last tree gets 15 less (2 to 28) than the first."),
        (0.0, (0.0, 0.0), "episode by episode, the last tree does as the first."),
    ],
)
def test_a_gain_that_may_be_chance_is_none(mean, interval, told):
    assert told in str(refined(gain=Estimate(mean, interval)))


def test_the_best_of_several_is_said_to_be_partly_the_luckiest():
    text = str(refined(keep="best", kept=1, again=ANSWER))
    assert (
        "Kept is the tree of round 1, the best of 2. The best of several on 100 episodes each is partly the luckiest, "
        "so it was flown once more: 245 (229 to 261), the agent 265: 20 less (3 to 37)." in text
    )
    assert "Steps counted by how much the action matters there" in str(refined(weighted=True))


def test_refining_is_data_without_the_tree_and_the_log():
    found = json.loads(json.dumps(refined(again=ANSWER).to_dict(), allow_nan=False))
    assert set(found) == {"rounds", "kept", "keep", "again", "gain", "weighted", "episodes"}
    assert found["rounds"][1]["judged"]["tree"]["mean"] == 260.0
    assert found["gain"] == {"mean": 15.0, "interval": [2.0, 28.0]}
    assert found["again"]["agent"]["mean"] == 265.0
    assert "rounds=" not in repr(refined())
