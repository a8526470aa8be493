"""Trajectories in words: their turns, and which of many are told."""

from __future__ import annotations

import numpy as np
import pytest

from tripletree.answers.trajectories import (
    Source,
    Trajectories,
    Trajectory,
    follow,
    instead,
    lasting,
    mostly,
    nothing,
    others,
    others_of,
    outside,
    tell,
    turn,
    why,
)
from tripletree.log.schema import Action, Feature, Schema

SCHEMA = Schema((Feature("x"), Feature("y", "m")), Action("discrete", labels=("left", "right")))
FIVE = Schema(tuple(map(Feature, "abcde")), SCHEMA.action)


def moved(*change, span=1.0, schema=FIVE, before=None):
    """The turn of a move from 0 by so much in each feature."""
    begin = np.zeros(len(change)) if before is None else np.array(before, float)
    return turn(schema, "", begin, begin + np.array(change, float), np.full(len(change), float(span)))


def test_a_turn_says_where_the_features_go_that_move():
    before, span = np.array([0.0, 0.0]), np.array([1.0, 1.0])
    assert turn(SCHEMA, "", before, np.array([0.5, 0.25]), span) == "to x = 0.5, y = 0.25 m"
    assert turn(SCHEMA, "action = left", before, np.array([0.5, 0.0]), span) == "to x = 0.5 with action = left"
    assert turn(SCHEMA, "action = left", before, before, span) == "on, hardly moving, with action = left"


def test_turns_without_moves_or_actions_read_well():
    still = turn(SCHEMA, "", np.zeros(2), np.zeros(2), np.ones(2))
    assert tell("leaf 1", "leaf 2", 0.6, 3, None, 2, [still, still]) == (
        "From leaf 1 it most likely (p = 0.6, about 3 steps, 2 leaves) goes on, hardly moving; then on, hardly moving; "
        "and ends in leaf 2."
    )


@pytest.mark.parametrize(("probability", "text"), [(0.51, "most likely"), (0.5, "may"), (0.03, "may")])
def test_most_likely_is_only_what_is_more_likely_than_all_else(probability, text):
    way = tell("leaf 1", "leaf 2", probability, None, 4, 2, ["to x = 1"])
    assert way.startswith(f"From leaf 1 it {text} (p = {probability:.2g}, 2 leaves) go")
    assert ("; and ends in leaf 2." in way) == (text == "most likely")
    straight = tell("leaf 1", "the end", probability, None, 4, 2, [])
    assert straight.startswith(f"From leaf 1 it {text} (p = {probability:.2g}, 2 leaves) go")
    assert " straight to the end of the episode." in straight


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (0.019, "on, hardly moving"),
        (0.02, "to a = 0.02"),
        (0.021, "to a = 0.021"),
        (-0.02, "to a = -0.02"),
    ],
)
def test_a_feature_moves_from_a_fiftieth_of_its_range_on(change, text):
    assert moved(change, 0, 0, 0, 0) == text
    assert moved(100 * change, 0, 0, 0, 0, span=100).startswith("to a = " if text != "on, hardly moving" else "on")


def test_the_three_features_that_move_most_are_told_in_their_own_order():
    assert moved(0.3, 0.1, 0.5, 0.4, 0.2) == "to a = 0.3, c = 0.5, d = 0.4"
    assert moved(0.3, 0, 0.5, 0, 0) == "to a = 0.3, c = 0.5"
    assert moved(0.5, 0.5, 0.5, 0.5, 0.5) == "to a = 0.5, b = 0.5, c = 0.5"


@pytest.mark.parametrize(
    ("number", "span", "text"),
    [
        (0.123456, 1.0, "to a = 0.123"),
        (12.3456, 100.0, "to a = 12.3"),
        (1234.56, 10_000.0, "to a = 1230"),
        (0.00123456, 0.01, "to a = 0.00123"),
    ],
)
def test_places_are_told_to_a_thousandth_of_the_range(number, span, text):
    assert moved(number, 0, 0, 0, 0, span=span) == text


def test_a_feature_that_never_changes_in_the_log_is_told_as_it_is():
    assert turn(FIVE, "", np.zeros(5), np.array([1 / 3, 0, 0, 0, 0]), np.zeros(5)) == "to a = 0.333333"


def test_whole_numbers_are_told_when_they_become_another():
    kinds = Schema((Feature("gear", kind="integer"), Feature("in contact", kind="binary")), SCHEMA.action)
    way = np.array([1.0, 0.0]), np.array([2.4, 0.6])
    assert turn(kinds, "", *way, np.array([5.0, 1.0])) == "to gear = 2, in contact"
    assert turn(kinds, "", np.array([1.6, 0.0]), np.array([2.4, 0.4]), np.array([5.0, 1.0])) == "on, hardly moving"


def turns(number):
    return tell("leaf 0", "leaf 9", 0.25, 20, 4, 10, [f"turn {k}" for k in range(1, number + 1)])


def test_six_turns_are_told_and_of_more_the_first_and_the_last():
    assert " go turn 1; then turn 2; then turn 3; then turn 4; then turn 5; then turn 6; and end in" in turns(6)
    assert "turn 1; then turn 2; then turn 3; then after 2 more turns turn 5; then turn 6; then turn 7;" in turns(7)
    assert "turn 3; then after 5 more turns turn 8; then turn 9; then turn 10;" in turns(10)


def test_a_way_names_its_rarest_move_its_length_and_its_end():
    assert turns(1) == (
        "From leaf 0 it may (p = 0.25, about 20 steps, 10 leaves) go turn 1; and end in leaf 9. "
        "The rarest transition on this path was seen 4 times."
    )
    assert tell("leaf 0", "the end", 1.0, 0.2, 1, 1, []) == (
        "From leaf 0 it most likely (p = 1, about 1 step, 1 leaf) goes straight to the end of the episode. "
        "The rarest transition on this path was seen 1 time."
    )
    assert tell("leaf 0", "the end", 1.0, 2, 1, 1, ["on"]).startswith(
        "From leaf 0 it most likely (p = 1, about 2 steps, 1 leaf) goes on; and then the episode ends."
    )
    assert " goes straight to leaf 2." in tell("leaf 0", "leaf 2", 1.0, 2, 1, 2, [])
    assert tell("leaf 0", "leaf 0 (x < 1)", 1.0, 0, None, 1, []) == "From leaf 0 it is in leaf 0 (x < 1) already."


def test_what_else_there_is_to_say():
    assert nothing("leaf 1", "x >= 2", 1, 1, False, "x from 0 to 1") == (
        "From leaf 1 this log never leads to x >= 2. It leads to 1 of 1 leaf: x from 0 to 1."
    )
    assert "leads to 1,200 of 3,000 leaves and the end: all." in nothing("a", "b", 1_200, 3_000, True, "all")
    assert others(0, 0.5) == ""
    assert others(1, 0.756) == " There is 1 other path; together with it p = 0.76."
    assert others(3, None) == " There are 3 other paths."
    assert "outside the range of the log" in outside()


def test_ways_are_counted_and_false_when_there_is_none():
    way = Trajectory(np.array([0, 2]), False, 0.5, 3.0, np.array([4]), None, None, None, "The way.")
    found = Trajectories((way,), np.array([0, 2]), "leaf 0", "leaf 2", False, "The way.")
    assert (len(found), str(found), str(found[0]), [*found]) == (1, "The way.", "The way.", [way])
    assert not Trajectories((), np.array([0]), "leaf 0", "leaf 2", False, "None.")
    assert found.to_dict()["found"][0]["leaves"] == [0, 2]


ONE, TWO = Source(212, 40, 1133), Source("north", 3, 9)


def test_a_recorded_way_names_the_episode_the_steps_and_how_far_it_was_moved():
    assert follow([ONE], 0.031, "x = 0", "x = 9", ["to x = 5 with action = left", " with action = right"]) == (
        "Follows episode 212, steps 40 to 1,133, moved by at most 3.1 % of the ranges. "
        "From x = 0 it goes to x = 5 with action = left; then to x = 9 with action = right."
    )
    assert follow([TWO], 0.0, "x < 1", "the end", [""]) == (
        "Follows episode north, steps 3 to 9. From x < 1 it goes straight to the end of the episode."
    )


def test_of_a_long_bridge_the_first_and_the_last_stretches_are_named():
    text = follow([Source(k, 0, 1) for k in range(7)], 0.5, "a", "b", [""])
    assert text.startswith(
        "Follows episode 0, steps 0 to 1, then episode 1, steps 0 to 1, then 4 more stretches, then episode 6, steps "
        "0 to 1, moved by at most 50 % of the ranges."
    )
    four = follow([Source(k, 0, 1) for k in range(4)], 0.5, "a", "b", [""])
    assert [f"episode {k}" in four for k in range(4)] == [True] * 4


@pytest.mark.parametrize(
    ("reasons", "near", "text"),
    [
        (("start",), (True, True), "No recorded episode comes near A"),
        (("start",), (False, True), "No recorded episode was in A"),
        (("end",), (True, False), "No recorded episode comes to B"),
        (("start", "end"), (True, True), "No recorded episode comes near A, none comes near B"),
        (
            ("apart", "no run"),
            (True, False),
            "No recorded episode goes from near A to B, none goes from leaf to leaf between them",
        ),
        (
            ("apart", "no run", "no bridge"),
            (False, True),
            "No recorded episode goes from A to near B, none goes from leaf to leaf between them, nor do several, "
            "joined",
        ),
    ],
)
def test_why_nobody_can_be_followed(reasons, near, text):
    assert why(reasons, "A", "B", near) == text


def test_what_is_followed_instead_is_named():
    assert instead("leaves", "So what").startswith("So what; so this follows an episode from the leaf of the one")
    assert instead("bridge", "So what").startswith("So what; so this joins episodes")
    assert instead("paper", "So what") == "So what; so this is a guess: the most probable sequence of leaves."


def test_how_long_recorded_episodes_took():
    assert lasting("A", "B", None, None, None) == ""
    assert lasting("A", "B", 1, None, (5, 5, 5)) == "", "its steps are named already"
    assert lasting("A", "B", 14, None, (80, 93, 1_200)) == (
        "The 14 nearest recorded episodes took 93 steps (median), most of them 80 to 1,200."
    )
    assert lasting("A", "B", 2, None, (1, 1, 1)) == "The 2 nearest recorded episodes took 1 step (median)."
    assert lasting("A", "B", 62, 481, (5, 9, 9)) == (
        "Of 481 recorded episodes in A, 62 went on to B: 9 steps (median), most of them 5 to 9."
    )


def test_other_ways_name_their_episodes_if_they_are_few():
    assert others_of([], 1.0) == ""
    assert others_of([ONE], None) == " There is 1 other way, of episode 212."
    assert others_of([ONE, TWO, ONE], 0.25) == (
        " This way stands for 25 % of the episodes. There are 3 other ways, of episodes 212 and north."
    )
    many = [Source(k, 0, 1) for k in range(5)]
    assert others_of(many, None) == " There are 5 other ways, of 5 other episodes."


def test_an_action_is_told_where_it_makes_up_more_than_half():
    assert mostly(SCHEMA, np.array([1, 1, 1])) == " with action = right"
    assert mostly(SCHEMA, np.array([1, 0, 1])) == " mostly with action = right"
    assert mostly(SCHEMA, np.array([1, 0])) == ""
