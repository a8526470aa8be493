"""Chances, times and whereabouts of some episodes only, and intervals with groups of episodes as the unit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.logs import random_log
from tests.questions.test_chance import PATHS, walks
from tripletree import ParameterError, TripleTree
from tripletree.graph.count import chance
from tripletree.graph.futures import Episodes, Event
from tripletree.log.log import TERMINATED


@pytest.fixture(scope="module")
def tree():
    return TripleTree(3, (1, 0, 0), 0.5).fit(walks())


def test_only_episodes_that_meet_a_condition_count(tree):
    good = tree.chance(2, given="return >= 1")
    assert (good.probability, good.seen.recorded, good.seen.episodes) == (1, 3, 3)
    assert (good.seen.given, good.seen.hindsight, good.chain) == ("return >= 1", True, None)
    assert str(good) == (
        "In episodes with return >= 1: of 3 recorded episodes, all reached leaf 2: more than 37 % do (95 %). Chosen by "
        "how they went, these episodes describe; they do not predict."
    )
    assert tree.chance(2, given="return < 1").probability == 0
    assert tree.chance(2, given="never visits (x > 2)").probability == 0
    assert tree.chance(2, given=[True, False, False, True]).probability == 0.5
    assert str(tree.chance(2, 1, given="episode in {0, 3}")).startswith(
        "In episodes with id = 0 or 3: 2 of 2 recorded episodes came through leaf 1; 50 % reached leaf 2 (95 % "
    )
    assert tree.expected_steps(2, given="return >= 1").missed == 0
    assert tree.after(3, given="return < 1").share.tolist() == [1, 0, 0]
    assert tree.occupancy(given="return < 1").share.tolist() == [0.5, 0.5, 0]


def test_the_past_of_a_moment(tree):
    """The last step of the fourth episode is the only one in leaf 0 that comes after leaf 1."""
    assert tree.chance("end", 0, within=1).probability == 1 / 5
    later = tree.chance("end", 0, within=1, given="after (x > 1)")
    assert (later.probability, later.seen.visits, later.seen.recorded) == (1, 1, 4)
    assert str(later).startswith("After having been at x > 1: 1 of 4 recorded episodes came through leaf 0; all ")
    assert "describe" not in str(later)
    assert tree.chance("end", 0, within=1, given="not after (x > 1)").probability == 0
    # The very step counts: who is there has been there.
    assert tree.chance("end", 1, given="after (leaf 1)").seen.visits == 8


def test_a_state_has_only_neighbours_that_meet_the_condition(tree):
    answer = tree.chance(2, {"x": 0.5}, given="after (x > 1)")
    # The one at the very state has six votes, and the three others three each.
    assert (answer.seen.episodes, answer.seen.distance, answer.probability) == (4, 0.5, 0.6)
    # Only the last row of the fourth episode is near; the others have to be in leaf 1.
    assert tree.chance("end", {"x": 0.5}, within=1, given="after (x > 1) and return < 1").probability == 1
    nobody = tree.chance(2, {"x": 0.5}, given="return > 5")
    assert np.isnan(nobody.probability)
    assert nobody.seen.distance is None


@pytest.mark.parametrize(
    ("given", "start", "sentence"),
    [
        ("return > 5", None, "No recorded episode meets the condition: return > 5."),
        ("after (x > 2)", None, "After having been at x > 2: none of 3 recorded episodes began so."),
        ("return < 1", 2, "In episodes with return < 1: none of 1 recorded episode came through leaf 2."),
    ],
)
def test_nobody_and_no_guess(tree, given, start, sentence):
    answer = tree.chance(1, start, given=given)
    assert np.isnan(answer.probability)
    assert (answer.interval, answer.chain, answer.counted, str(answer)) == (None, None, False, sentence)
    assert answer.to_dict()["probability"] is None
    steps = tree.expected_steps(1, start, given=given)
    assert (steps.steps, steps.chain, str(steps)) == (None, None, sentence)
    for where in (tree.after(2, start, given=given), tree.occupancy(start, given=given)):
        assert (where.share.tolist(), where.counted, str(where)) == ([0, 0, 0], False, sentence)


def test_a_condition_needs_episodes():
    without = TripleTree(3, (1, 0, 0), 0.5, keep="leaves").fit(walks())
    with pytest.raises(ParameterError, match=r"given chooses among recorded episodes, .* Give the log: log=\.\.\."):
        without.chance(2, given="return < 1")
    assert without.chance(2, given="return < 1", log=walks()).probability == 0


@given(st.integers(0, 2**32 - 1), st.integers(1, 9))
@settings(max_examples=20, deadline=None)
def test_a_condition_on_episodes_is_a_log_of_those_episodes(seed, episodes):
    lengths = tuple(np.random.default_rng(seed).integers(1, 12, episodes).tolist())
    log = random_log(seed, lengths=lengths)
    tree = TripleTree(4, keep="nothing").fit(random_log(1))
    returns = np.add.reduceat(log.rewards, log.starts[:-1])
    meet = returns >= np.median(returns)
    some = tree.chance("x0 > 1", "x1 < 2", given=f"return >= {float(np.median(returns))!r}", log=log)
    alone = tree.chance("x0 > 1", "x1 < 2", log=log.select(meet))
    if alone.counted:
        assert (some.probability, some.unresolved, some.reached) == (alone.probability, alone.unresolved, alone.reached)
        np.testing.assert_array_equal(some.interval, alone.interval)
    else:
        assert np.isnan(some.probability)


def test_groups_are_the_unit_of_intervals():
    """Two pilots who always do the same have two fates, however often they fly."""
    paths = [PATHS[0]] * 20 + [PATHS[3]] * 20
    log = replace(walks(paths), groups=np.repeat(["Al", "Bo"], 20), group_name="pilot")
    alone = walks(paths)
    tree = TripleTree(3, (1, 0, 0), 0.5).fit(log)
    answer, single = tree.chance(2), tree.chance(2, log=alone)
    assert answer.probability == single.probability == 0.5
    assert np.diff(answer.interval) > 0.9 > 0.35 > np.diff(single.interval)
    assert "Of 40 recorded episodes from 2 groups (`pilot`), 50 % reached leaf 2 (95 % interval" in str(answer)
    assert (answer.seen.groups, single.seen.groups) == (2, None)
    assert tree.chance(2, given="pilot = Al").probability == 1
    through = str(tree.chance(2, 1, given="group = Al or Bo"))
    assert through.startswith(
        "In episodes with pilot = Al or Bo: 40 of 40 recorded episodes from 2 groups (`pilot`) came through leaf 1;"
    )


def test_one_group_has_no_interval():
    paths = [PATHS[0]] * 5 + [PATHS[3]] * 5
    tree = TripleTree(3, (1, 0, 0), 0.5).fit(walks(paths))
    log = replace(walks(paths), groups=np.zeros(10, int), group_name="vehicle")
    some, none, every = (tree.chance(reach, log=log) for reach in (2, "x > 7", "end"))
    sentences = ("50 % reached leaf 2.", "none reached x > 7.", "all reached the end.")
    for answer, said in zip((some, none, every), sentences, strict=True):
        assert answer.interval is None
        assert f"from 1 group (`vehicle`), {said}" in str(answer)
        assert "There is no interval: all of them are of one group (`vehicle`)." in str(answer)
    for answer in (tree.after(2, log=log), tree.occupancy(log=log), tree.expected_steps(2, log=log)):
        assert answer.interval is None
        assert str(answer).endswith("There is no interval: all of them are of one group (`vehicle`).")


def pilots(rng, number):
    """Pilots with chances of their own, each with 1 to 30 episodes of 1 to 10 steps; the truth is one half."""
    flights = rng.integers(1, 31, number)
    group = np.repeat(np.arange(number), flights)
    good = rng.random(len(group)) < rng.beta(0.7, 0.7, number)[group]
    starts = np.append(0, np.cumsum(rng.integers(1, 11, len(group))))
    return starts, group, good


def test_intervals_with_groups_cover_where_those_without_do_not():
    rng = np.random.default_rng(7)
    covered = np.zeros(2)
    worlds = 400
    for number in rng.integers(5, 41, worlds).tolist():
        starts, group, good = pilots(rng, number)
        goal = Event(np.zeros(starts[-1], bool), good)
        for place, unit in enumerate((None, group)):
            episodes = Episodes.of(starts, np.full(len(group), TERMINATED), np.ones(len(group), bool), unit)
            low, high = chance(episodes, starts[:-1], goal).interval
            covered[place] += low <= 0.5 <= high
    without, with_groups = covered / worlds
    assert without < 0.65
    assert with_groups >= 0.93
