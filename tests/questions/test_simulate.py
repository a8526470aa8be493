"""Simulate: whom ways follow, how far they are bent, what is done where nobody went, and what all of it is called."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.logs import make_log, random_log
from tests.test_api import quietly_fitted
from tripletree import ParameterError
from tripletree.graph.segments import AROUND, AT_LEAST, WITHIN
from tripletree.graph.ways import FAR
from tripletree.log.log import TERMINATED, TRUNCATED
from tripletree.questions import recorded_ways

seeds = st.integers(0, 10**6)


def world(*episodes, ids=None, finals=None, endings=None, kinds=None, labels=("up", "down")):
    """A log of these episodes; the action is "down" from 2 on, and rewards are the first feature."""
    states = np.concatenate([np.array(one, float) for one in episodes])
    starts = np.append(0, np.cumsum([len(one) for one in episodes]))
    names = ("pos", "side", "x2", "x3")[: states.shape[1]]
    log = make_log(
        states,
        (states[:, 0] >= 2).astype(int),
        np.floor(states[:, 0]) ** 2,
        starts,
        final_states=finals,
        endings=endings,
        labels=labels,
        names=names,
        kinds=kinds,
    )
    return log if ids is None else replace(log, episode_ids=np.array(ids))


def along(first, last, steps=5, side=0.0):
    """An episode along a line."""
    return np.stack([np.linspace(first, last, steps), np.full(steps, side)], axis=1)


def grown(log, leaves=4, **options):
    return quietly_fitted(log, max_leaves=leaves, gamma=0.0, theta=(0, 1, 0), **options)


def around(rng):
    """From (0, 0) to (4, 0) around an obstacle in the middle, always by the left."""
    turn = np.linspace(0, np.pi, 21)
    return np.stack([2 - 2 * np.cos(turn), 2 * np.sin(turn)], axis=1) + rng.normal(0, 0.03, 2)


@pytest.fixture(scope="module")
def flown():
    rng = np.random.default_rng(0)
    return world(*(around(rng) for _ in range(30)))


@pytest.fixture(scope="module")
def obstacle(flown):
    return grown(flown, 12)


@pytest.mark.parametrize(("start", "end"), [([0, 0], [4, 0]), ([0.1, 0.3], [3.9, -0.1]), ("pos < 0.2", "pos > 3.8")])
def test_a_recorded_way_goes_round_what_everybody_goes_round(obstacle, start, end):
    (way,) = obstacle.simulate(start, end)
    middle = way.nodes[np.abs(way.nodes[:, 0] - 2) < 0.5]
    assert len(middle) > 2
    assert (middle[:, 1] > 1.5).all(), "a straight line would go through the obstacle at 0"
    if not isinstance(start, str):
        assert way.nodes[[0, -1]].tolist() == [start, end]
        assert 0 < way.moved < 0.2


def test_whom_it_follows_how_long_it_took_and_where_it_turns(obstacle, flown):
    answer = obstacle.simulate([0, 0], [4, 0], log=flown)
    source = answer[0].sources[0]
    assert (answer.method, answer.reason, source.first, source.last) == ("segment", "", 0, 20)
    assert str(answer) == (
        f"Follows episode {source.episode}, steps 0 to 20, moved by at most "
        f"{100 * answer[0].moved:.2g} % of the ranges. From pos = 0, side = 0 it goes to pos = 0.82, side = 1.62 with "
        "action = up; then to pos = 2, side = 2 with action = up; then to pos = 3.18, side = 1.62 mostly with "
        "action = down; then to pos = 4, side = 0 with action = down. "
        f"The {answer.episodes} nearest recorded episodes took 20 steps (median)."
    )


def with_final(log, e):
    """The states of an episode, the final one included if it was recorded."""
    states = np.vstack([log.states[log.starts[e] : log.starts[e + 1]], log.final_states[e]])
    return states[~np.isnan(states).any(axis=1)]


def slow_segments(log, a, b, scale):
    """The best pair of rows of each episode by a double loop: gap, episode, first and last step."""
    found = []
    for e in range(log.n_episodes):
        states = with_final(log, e)
        pairs = [
            (np.abs((states[i] - a) / scale).sum() + np.abs((states[j] - b) / scale).sum(), e, i, j)
            for j in range(len(states))
            for i in range(j)
        ]
        found += [min(pairs)] if pairs else []
    return sorted(one for one in found if one[0] < FAR)


@given(seeds, st.integers(1, 3))
@settings(max_examples=40, deadline=None)
def test_ways_are_the_nearest_segments_of_all_episodes(seed, features):
    log = random_log(seed, lengths=(12, 9, 15, 1, 8, 10), features=features)
    tree, rng = quietly_fitted(log, max_leaves=6), np.random.default_rng(seed)
    scale = np.ptp(log.states, axis=0)
    a, b = log.states[rng.integers(len(log), size=2)] + rng.normal(0, 0.02, (2, features)) * scale
    answer, expected = tree.simulate(a, b, 9, log=log), slow_segments(log, a, b, scale)
    if not expected:
        assert answer.method != "segment"
        return
    assert answer.method == "segment"
    came = {one[1]: one for one in expected}
    for way in answer:
        (source,) = way.sources
        gap = came[source.episode][0]
        rows = with_final(log, source.episode)[[source.first, source.last]]
        assert np.abs((rows - [a, b]) / scale).sum() == pytest.approx(gap)
        assert way.duration == source.last - source.first == len(way.nodes) - 1
        assert np.array_equal(way.nodes[[0, -1]], [a, b])
    # The medoid is one of the nearest, and the others follow by their gaps.
    medoid, *others = [way.sources[0].episode for way in answer]
    assert came[medoid][0] <= WITHIN * expected[0][0] * (1 + 1e-9)
    gaps = [came[e][0] for e in others]
    assert gaps == sorted(gaps)
    assert sorted([medoid, *others]) == sorted(came)


@given(seeds)
@settings(max_examples=25, deadline=None)
def test_neither_units_nor_the_order_of_the_episodes_matter(seed):
    log = random_log(seed, lengths=(14, 11, 13, 12, 9), features=2)
    rng = np.random.default_rng(seed)
    a, b = log.states[rng.integers(len(log), size=2)] + 0.01
    unit, order = np.array([1024.0, 0.125]), rng.permutation(5)
    other = log.select(order.tolist())
    other = replace(other, states=other.states * unit, final_states=other.final_states * unit)
    one = quietly_fitted(log, max_leaves=5).simulate(a, b, 3, log=log)
    two = quietly_fitted(other, max_leaves=5).simulate(a * unit, b * unit, 3, log=other)
    assert one.method == two.method
    assert one.steps == two.steps
    if one.method == "segment":
        assert [way.sources for way in one] == [way.sources for way in two]
        for way, same in zip(one, two, strict=True):
            np.testing.assert_allclose(way.nodes * unit, same.nodes, rtol=1e-9, atol=1e-9)
            assert way.moved == pytest.approx(same.moved)


def test_a_model_follows_its_track_as_it_follows_its_log(obstacle, flown):
    kept, given_ = obstacle.simulate([0, 0], [4, 0], 3), obstacle.simulate([0, 0], [4, 0], 3, log=flown)
    for one, other in zip(kept, given_, strict=True):
        assert one.nodes == pytest.approx(other.nodes, abs=0.02), "up to the width of a bin"


def test_durations_are_those_of_the_nearest_episodes():
    episodes = [along(0, 4, steps, 0.001 * k) for k, steps in enumerate([5, 6, 7, 8, 9, 11, 13, 15, 17, 19, 21])]
    log = world(*episodes, along(0, 4, 5, 1.0))
    answer = grown(log).simulate([0, 0], [4, 0], log=log)
    # Within three times the best gap, which is 0, there is only one: so the ten nearest.
    assert (answer.episodes, answer.steps, answer[0].duration) == (AT_LEAST, (4, 8, 16), 4.0)
    assert str(answer).endswith("The 10 nearest recorded episodes took 8 steps (median), most of them 4 to 16.")
    assert AROUND > WITHIN


def test_episodes_that_hardly_move_say_nothing_about_how_long_it_takes():
    still = [along(2, 2.01, 2, 0.1 * k) for k in range(6)]
    log = world(*(along(0, 4, 9, 0.01 * k) for k in range(4)), *still, along(0, 4, 9, 9), along(-5, -5, 2))
    answer = grown(log).simulate([0, 0.02], [4, 0.02], log=log)
    # Four that go all the way, and one to make five.
    assert (answer.episodes, answer.steps) == (recorded_ways.LEAST_TIMED, (1, 8, 8))


ZONES = world(*[along(0, 3, 4)] * 6, *[along(0, 3, 7, side=10)] * 3, along(0, 3, 4, side=30), along(0, 1, 4))


def test_between_zones_a_fan_weighs_ways_by_episodes():
    tree = grown(ZONES)
    fan = tree.simulate("pos < 0.5", "pos > 2.5", pairs=3, log=ZONES)
    assert [way.share for way in fan] == pytest.approx([0.6, 0.3, 0.1])
    assert [way.nodes[0, 1] for way in fan] == [0, 10, 30]
    assert [way.duration for way in fan] == [3, 6, 3]
    assert (fan.episodes, fan.came, fan.steps) == (10, 11, (3, 3, 6))
    assert str(fan).endswith(
        "Of 11 recorded episodes in pos < 0.5, 10 went on to pos > 2.5: 3 steps (median), most of them 3 to 6. "
        "This way stands for 60 % of the episodes. There are 2 other ways, of episodes 6 and 9."
    )
    assert all(way.moved == 0 for way in fan)
    assert len(tree.simulate("pos < 0.5", "pos > 2.5", pairs=99, log=ZONES)) == 3, "more would stand for nothing"
    every = tree.simulate("pos < 0.5", "pos > 2.5", pairs=True, log=ZONES)
    assert [way.sources[0].episode for way in every] == list(range(10))
    assert [way.share for way in every] == pytest.approx([0.1] * 10)
    assert "There are 9 other ways, of 9 other episodes." in str(every)
    # Several ways are the same as a fan of them, and the first is the most typical.
    assert [way.share for way in tree.simulate("pos < 0.5", "pos > 2.5", 2, log=ZONES)] == pytest.approx([0.6, 0.4])
    assert [way.share for way in tree.simulate("pos < 0.5", "pos > 2.5", log=ZONES)] == [1.0]


def test_more_ways_than_anybody_looks_at_are_refused(monkeypatch):
    monkeypatch.setattr(recorded_ways, "MOST_WAYS", 9)
    tree = grown(ZONES)
    with pytest.raises(
        ParameterError, match=r"^10 passages were recorded\. Type pairs=100 for ways that stand for all"
    ):
        tree.simulate("pos < 0.5", "pos > 2.5", pairs=True)
    assert len(tree.simulate("pos < 0.5", "pos > 2.5", pairs=100)) == 3


def test_an_episode_with_many_crossings_has_one_vote():
    to_and_fro = np.concatenate([along(0, 3, 4), along(2, 0, 3)] * 5)
    log = world(to_and_fro, along(0, 3, 4, 10), along(0, 3, 4, 10), along(0, 3, 4, 10))
    fan = grown(log).simulate("pos < 0.5", "pos > 2.5", pairs=True, log=log)
    assert len(fan) == 8
    assert [way.share for way in fan] == pytest.approx([0.05] * 5 + [0.25] * 3)
    two = grown(log).simulate("pos < 0.5", "pos > 2.5", pairs=9, log=log)
    assert [(way.nodes[0, 1], way.share) for way in two] == [(10, pytest.approx(0.75)), (0, pytest.approx(0.25))]


def test_between_zones_a_way_is_as_recorded_from_the_last_moment_to_the_first():
    log = world([[0, 0], [0.4, 0], [0.2, 1], [1, 1], [2, 1], [2.6, 1], [2.9, 1]])
    (way,) = grown(log).simulate("pos < 0.5", "pos > 2.5", log=log)
    assert (way.sources[0].first, way.sources[0].last) == (2, 5)
    assert way.nodes.tolist() == [[0.2, 1], [1, 1], [2, 1], [2.6, 1]]
    assert str(way).startswith("Follows episode 0, steps 2 to 5. From pos < 0.5 it goes straight to pos > 2.5")


def test_from_a_state_to_a_zone_only_the_start_is_bent():
    log = world(*(along(0, 4, 5, side) for side in (0, 1, 2)))
    answer = grown(log).simulate([0, 0.9], "pos >= 3", log=log)
    (way,) = answer
    assert way.nodes[[0, -1]].tolist() == [[0, 0.9], [3, 1]]
    assert (way.sources[0].episode, way.moved) == (1, pytest.approx(0.05))
    (back,) = grown(log).simulate("pos < 1", [3, 0.9], log=log)
    assert back.nodes[[0, -1]].tolist() == [[0, 1], [3, 0.9]]


@pytest.mark.parametrize("finals", [None, [[4.0, 0.0]] * 3])
def test_to_the_end_a_way_has_the_final_state_if_that_is_known(finals):
    log = world(*[along(0, 3, 4)] * 3, finals=finals, endings=[TERMINATED, TERMINATED, TRUNCATED])
    answer = grown(log).simulate("pos < 0.5", "end", log=log)
    (way,) = answer
    assert way.ends
    assert way.duration == 4, "the end comes after the last action"
    assert way.nodes[:, 0].tolist() == ([0, 1, 2, 3] if finals is None else [0, 1, 2, 3, 4])
    assert answer.episodes == 2
    assert "it goes straight to the end of the episode" in str(way)
    # From the last leaf the end is one step away.
    (last,) = grown(log).simulate("pos >= 3", "end", log=log)
    assert last.duration == 1
    (state,) = grown(log).simulate([1.1, 0], "end", log=log)
    assert state.nodes[:, 0].tolist() == pytest.approx(
        [1.1, 2.05, 3] if finals is None else [1.1, 2 + 1 / 15, 3 + 1 / 30, 4]
    )
    assert np.array_equal(state.leaves, [1, 2, 3])


def test_a_zone_that_only_final_states_reach_is_reached():
    log = world(*[along(0, 3, 4)] * 3, finals=[[4.0, 0.0]] * 3, endings=[TRUNCATED] * 3)
    tree = grown(log)
    (way,) = tree.simulate("pos < 0.5", {"pos": (2.5, None)}, log=log)
    assert way.nodes[-1, 0] == 3
    (way,) = tree.simulate([0, 0], [4.0, 0.0], log=log)
    assert (way.moved, way.duration) == (0, 4)


def test_whole_numbers_stay_whole_between_the_ends():
    wheels = np.array([0, 0, 0, 1, 1, 1.0])
    log = world(*[np.stack([np.linspace(0, 5, 6), wheels], axis=1)] * 5, kinds=("real", "binary"))
    (way,) = grown(log).simulate([0, 0], [5, 0], log=log)
    assert way.nodes[-1, 1] == 0
    assert set(way.nodes[:, 1].tolist()) <= {0, 1}


def test_paths_are_the_leaves_of_the_same_ways():
    tree = grown(ZONES)
    ways, paths = (ask("pos < 0.5", "pos > 2.5", 2) for ask in (tree.simulate, tree.paths))
    assert [way.leaves.tolist() for way in ways] == [way.leaves.tolist() for way in paths]
    assert str(ways) == str(paths)
    assert all(way.nodes is None for way in paths)
    to_and_fro = world(np.concatenate([along(0, 2, 3), along(1, 3, 3)]))
    (way,) = grown(to_and_fro).paths([0, 0], [3, 0], log=to_and_fro)
    assert way.leaves.tolist() == [0, 1, 2, 1, 2, 3], "a recorded way may come back"


def test_ids_are_the_users():
    log = world(along(0, 4), along(0, 4, side=1), ids=["north", "south"])
    assert str(grown(log).simulate([0, 0.9], [4, 0.9])).startswith("Follows episode south, steps 0 to 4, moved")


def test_what_lies_in_the_end_is_there_already():
    tree = grown(ZONES)
    for start, end, leaves in ((1, 1, [1]), ([0.2, 0], "pos < 1", [0]), ("pos < 0.5", "pos < 1", [0])):
        answer = tree.simulate(start, end)
        assert "already" in str(answer)
        assert [way.leaves.tolist() for way in answer] == [leaves]
        assert (answer[0].duration, len(answer[0].nodes)) == (0, 1)
    assert "already" in str(tree.simulate([0, 0], [0, 0]))
    assert tree.paths(1, 1)[0].nodes is None
    # What lies in it in part goes on from the other part.
    assert "already" not in str(tree.simulate("pos < 2", "pos > 1"))


# Two halves that overlap from 2 to 3: nobody goes all the way.
HALVES = world(*[along(0, 3, 7)] * 3, *[along(1.5, 5, 8, 0.1)] * 3)


def test_fall_backs_are_named_in_their_order():
    tree = grown(HALVES, 6, min_samples_leaf=1)
    bridge = tree.simulate([0, 0], [5, 0.1], log=HALVES)
    assert bridge.method == bridge[0].method == "bridge"
    assert bridge[0].nodes[[0, -1]].tolist() == [[0, 0], [5, 0.1]]
    assert [source.episode for source in bridge[0].sources] == [2, 5]
    assert (bridge.steps, bridge.episodes) == (None, None)
    assert str(bridge).startswith(
        "No recorded episode goes from near pos = 0, side = 0 to near pos = 5, side = 0.1, none goes from leaf to leaf "
        "between them; so this joins episodes where they enter the same leaf from the same leaf. "
        "Follows episode 2, steps 1 to 6, then episode 5, steps 3 to 7, moved by"
    )
    assert "(median)" not in str(bridge)


def test_a_run_between_leaves_is_followed_where_nobody_came_near():
    log = world(*[along(0, 4)] * 3, along(0, 4, 5, 10))
    tree = grown(log)
    runs = tree.simulate([0, 5], [4, 5], log=log)
    assert runs.method == "leaves"
    assert runs[0].nodes[[0, -1]].tolist() == [[0, 5], [4, 5]]
    assert runs.reason == (
        "No recorded episode comes near pos = 0, side = 5, none comes near pos = 4, side = 5; so this follows an "
        "episode from the leaf of the one to the leaf of the other."
    )
    assert str(runs).startswith(f"{runs.reason} Follows episode ")
    assert "moved by at most 50 % of the ranges" in str(runs)


def test_the_papers_way_is_labelled_a_guess():
    # Both go through one leaf, but enter it from different leaves: only the chain forgets that.
    log = world([[0, 0], [2, 0]], [[1, 9], [2, 9], [3, 9]])
    tree = grown(log)
    answer = tree.simulate([0, 0], [3, 9], log=log)
    assert answer.method == "paper"
    assert str(answer).startswith(
        "No recorded episode goes from near pos = 0, side = 0 to near pos = 3, side = 9, none goes from leaf to leaf "
        "between them, nor do several, joined; so this is a guess: the most probable sequence of leaves. From pos = 0"
    )
    assert answer[0].counts is not None
    assert "step" not in str(answer[0]), "nobody was ever so quick"
    zones = tree.simulate("pos < 0.5", "pos > 2.5", log=log)
    assert str(zones).startswith("No recorded episode goes from pos < 0.5 to pos > 2.5, none goes from leaf to leaf")


def test_without_any_way_the_answer_says_what_can_be_reached():
    answer = grown(ZONES).simulate("pos > 2.5", "pos < 0.5")
    assert not answer
    assert str(answer).startswith("From pos > 2.5 this log never leads to pos < 0.5. It leads to ")


def test_a_model_without_episodes_guesses_and_says_so():
    tree = grown(ZONES, keep="leaves")
    answer = tree.simulate("pos < 0.5", "pos > 2.5")
    assert answer.reason == (
        "No recorded episodes are kept in this model; so this is a guess: the most probable sequence of leaves."
    )
    assert str(answer).startswith(f"{answer.reason} From leaf 0")
    assert "step" not in str(answer)
    assert tree.simulate("pos < 0.5", "pos > 2.5", log=ZONES).method == "segment"
    asked = tree.simulate("pos < 0.5", "pos > 2.5", method="paper")
    assert (asked.reason, str(asked) in str(answer)) == ("", True)
    with pytest.raises(ParameterError, match=r"Give the log: log=\.\.\."):
        grown(ZONES, keep="nothing").simulate("pos < 0.5", "pos > 2.5")


def test_a_state_outside_the_log_is_said_to_be():
    answer = grown(ZONES).simulate([-0.2, 0], [3, 0])
    assert answer.outside
    assert str(answer).endswith(" The state lies outside the range of the log.")
    assert answer[0].nodes[0].tolist() == [-0.2, 0]


def test_progress_is_reported():
    seen = []
    grown(ZONES).simulate("pos < 0.5", "pos > 2.5", pairs=3, progress=lambda done, of: seen.append((done, of)))
    assert seen == [(1, 3), (2, 3), (3, 3)]


def test_answers_are_data():
    data = json.loads(json.dumps(grown(ZONES).simulate([0, 0], [3, 0], 2).to_dict(), allow_nan=False))
    assert (data["method"], data["steps"], data["reachable"]) == ("segment", [3, 3, 3], None)
    first = data["found"][0]
    assert first["sources"] == [{"episode": 0, "first": 0, "last": 3}]
    assert (first["probability"], first["moved"], first["share"], first["nodes"][-1]) == (None, 0.0, None, [3.0, 0.0])


@pytest.mark.parametrize(
    ("start", "end", "options", "message"),
    [
        ([np.inf, 0], 0, {}, "start must hold finite numbers only, none beyond 1e100; feature `pos` is inf"),
        (0, [0, -np.inf], {}, "end must hold finite numbers only"),
        (0, 9, {}, "end has leaf 9; leaves go from 0 to 3"),
        ("end", 0, {}, "start must hold leaves only: nothing follows the end"),
        (0, {"pos": (7, 8)}, {}, "end is empty"),
        (0, 1, {"pairs": 0}, "pairs must be True, False or a whole number from 1 to 100,000; got 0"),
        (0, 1, {"k": 0}, "k must be a whole number from 1 to 100,000; got 0"),
        (0, 1, {"method": "papr"}, "method must be 'recorded' or 'paper'; got 'papr'. Did you mean `paper`?"),
        (0, 1, {"method": None}, "method must be"),
    ],
)
def test_bad_questions(start, end, options, message):
    with pytest.raises(ParameterError, match=re.escape(message)):
        grown(ZONES).simulate(start, end, **options)


def test_a_log_of_single_states_leads_nowhere():
    log = make_log([[0.0], [1.0]], [0, 1], [0, 1], [0, 1, 2], labels=("a", "b"))
    tree = grown(log, 2)
    assert not tree.paths(0, 1)
    with pytest.raises(ParameterError, match="this tree has none"):
        tree.simulate(0, 1)


def test_the_way_of_a_feature_that_never_changes():
    log = world(*[np.stack([np.linspace(0, 3, 4), np.full(4, 7.0)], axis=1)] * 3)
    (way,) = grown(log).simulate([0, 9], [3, 7], log=log)
    assert way.moved == 0, "it has no range"
    assert way.nodes[0].tolist() == [0, 9]


@pytest.mark.parametrize(
    ("path", "corners"),
    [
        ([[0, 0], [1, 1], [2, 2]], [0, 2]),
        ([[0, 0], [1, 0], [2, 0], [2, 1], [2, 2]], [0, 2, 4]),
        ([[0, 0], [0.5, 0.09], [1, 0]], [0, 2]),
        ([[0, 0], [0.5, 0.11], [1, 0]], [0, 1, 2]),
        ([[0, 0]], [0]),
    ],
)
def test_a_way_turns_where_it_is_far_from_straight(path, corners):
    assert recorded_ways.corners_of(np.array(path, float), np.ones(2)) == corners


def test_four_turns_are_told_at_most():
    zigzag = np.stack([np.arange(20.0), np.tile([0.0, 1.0], 10)], axis=1)
    assert len(recorded_ways.corners_of(zigzag, np.array([19.0, 1.0]))) == 6


@given(seeds, st.sampled_from([0, 2]), st.integers(1, 4), st.sampled_from([False, True, 2]))
@settings(max_examples=30, deadline=None)
def test_random_questions_have_answers(seed, dimensions, k, pairs):
    log = random_log(seed, features=2, dimensions=dimensions)
    tree, rng = quietly_fitted(log, max_leaves=12), np.random.default_rng(seed)
    places = [
        log.states[rng.integers(len(log))],
        int(rng.integers(12)) % tree.n_leaves_,
        {"x0": (None, float(np.median(log.states[:, 0])))},
        "end",
    ]
    start, end = places[rng.integers(3)], places[rng.integers(4)]
    answer = tree.simulate(start, end, k, pairs=pairs)
    assert len(str(answer)) > 10
    for way in answer:
        assert np.isfinite(way.nodes).all()
        assert len(str(way)) > 10
        if way.method in ("segment", "leaves") and way.sources:
            assert len(way.nodes) in (way.duration, way.duration + 1)
            assert answer.steps[0] <= answer.steps[1] <= answer.steps[2]
    shares = [way.share for way in answer]
    assert not answer or None in shares or sum(shares) == pytest.approx(1)


def test_a_track_makes_no_stairs_of_a_slow_way():
    # 2,001 values of a feature in 256 bins: eight steps of the episode look alike.
    slow = along(0, 4, 2_001)
    log = world(slow, along(0, 4, 2_001, 1.0))
    tree = grown(log)
    decoded = tree.fitted_.track.recording.states[:2_001, 0]
    assert len(np.unique(decoded)) < 300
    (way,) = tree.simulate("pos < 0.1", "pos > 3.9")
    steps = np.diff(way.nodes[:, 0])
    assert (steps == 0).mean() < 0.1 < 0.5 < (np.diff(decoded) == 0).mean()
    assert np.abs(way.nodes[:, 0] - slow[way.sources[0].first : way.sources[0].last + 1, 0]).max() < 0.02
    assert tree.simulate("pos < 0.1", "pos > 3.9", log=log)[0].nodes[:, 0].tolist() == slow[49:1952, 0].tolist()


def compass(episodes=30, seed=0):
    """Ships that turn right by 2 degrees a step, from anywhere to anywhere."""
    rng = np.random.default_rng(seed)
    turns = [(rng.uniform(0, 360) + 2 * np.arange(90)) % 360 for _ in range(episodes)]
    states = np.concatenate(turns)[:, None]
    starts = np.append(0, np.cumsum([len(turn) for turn in turns]))
    log = make_log(states, np.ones(len(states)), np.zeros(len(states)), starts, names=("heading",), kinds=("angle",))
    features = (replace(log.schema.features[0], unit="deg"),)
    return replace(log, schema=replace(log.schema, features=features))


def test_angles_go_the_short_way_round():
    log = compass()
    tree = quietly_fitted(log, max_leaves=8)
    way = tree.simulate([355.0], [15.0], log=log)[0]
    assert way.method == "segment"
    # 20 degrees at 2 a step, through north; no ship was exactly there, but some were within a degree.
    assert way.duration == pytest.approx(10, abs=1)
    assert way.moved < 0.02
    assert way.nodes.min() >= 0
    assert way.nodes.max() <= 360
    middle = (way.nodes[1:-1, 0] + 180) % 360 - 180
    assert (np.diff(middle) > 0).all()
    # On the interval, nothing leads from 355 to 15 without going down.
    assert (np.diff(way.nodes[:, 0]) < -300).sum() == 1
