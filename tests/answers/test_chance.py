"""Chances in words: what is said, what is left out, and from which number on."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tripletree.answers.chance import Chance, Duration, Seen, Unreachable, Whereabouts, markov
from tripletree.graph.transitions import MarkovCheck

GOOD = MarkovCheck(0.04, 0.02, 500, 0.03, 0.01, 10, 200)
HERE = Seen("leaf 1", 481, 62, 900)
STARTS = Seen("where episodes begin", 481, 481, 481)
NEAR = Seen("x = 1", 481, 25, 25, 0.031)


def chance(**given) -> Chance:
    """A chance of one half without anything special about it."""
    usual = {
        "probability": 0.57,
        "interval": np.array([0.44, 0.69]),
        "reach": "x >= 2",
        "start": "leaf 1",
        "before": None,
        "within": None,
        "seen": HERE,
        "reached": 35,
        "unresolved": 0.0,
        "chain": 0.55,
        "miss": None,
        "there": False,
    }
    return Chance(**{**usual, **given})


def duration(**given) -> Duration:
    usual = {
        "steps": 22.8,
        "interval": np.array([20.1, 25.2]),
        "quantiles": (12.0, 21.0, 40.0),
        "probability": 0.8,
        "missed": 0.0,
        "censored": 0.2,
        "reach": "x >= 2",
        "start": "leaf 1",
        "before": None,
        "seen": HERE,
        "chain": 31.0,
        "there": False,
    }
    return Duration(**{**usual, **given})


def whereabouts(share, **given) -> Whereabouts:
    usual = {"interval": None, "quantiles": None, "end": None, "unresolved": 0.0, "steps": None, "start": "leaf 1"}
    return Whereabouts(share=np.array(share, float), **{**usual, "seen": HERE, **given})


def test_a_count_names_who_was_there_and_what_they_did():
    assert str(chance()) == (
        "62 of 481 recorded episodes came through leaf 1; 57 % reached x >= 2 (95 % interval 44 % to 69 %). "
        "The chain over leaves says 55 %."
    )
    whole = str(chance(seen=STARTS, start=STARTS.start, before="x < 0", within=1))
    assert whole.startswith("Of 481 recorded episodes, 57 % reached x >= 2 before x < 0 within 1 step (95 %")
    near = str(chance(seen=NEAR))
    assert near.startswith("25 recorded episodes came near x = 1 (at most 3.1 % of the ranges away); 57 % reached")
    outside = Seen("x = 9", 481, 25, 25, 0.5, outside=True)
    assert "and this state lies outside the range of the log" in str(chance(seen=outside))


def test_a_loose_bound_says_why():
    # 62 episodes bound what was never seen by 4.7 %; twice that and more is the bound of a few of them.
    few = ", since a few of them make up most of that time."
    assert f"less than 30 % do (95 %){few}" in str(chance(probability=0.0, reached=0, interval=np.array([0.0, 0.3])))
    assert f"more than 70 % do (95 %){few}" in str(chance(probability=1.0, interval=np.array([0.7, 1.0])))
    assert "since" not in str(chance(probability=0.0, reached=0, interval=np.array([0.0, 0.05])))


def test_what_never_or_always_happened_has_a_bound():
    never = chance(probability=0.0, reached=0, interval=np.array([0.0, 0.019]), chain=0.01)
    assert "none reached x >= 2: less than 1.9 % do (95 %). The chain over leaves says 1 %." in str(never)
    always = chance(probability=1.0, interval=np.array([0.97, 1.0]), chain=0.99)
    assert "all reached x >= 2: more than 97 % do (95 %)." in str(always)


@pytest.mark.parametrize(
    ("chain", "trusted"),
    [(0.57, False), (0.66, False), (0.68, True), (0.46, True), (0.475, False)],  # apart by more than a tenth
)
def test_where_the_two_differ_the_count_is_to_be_trusted(chain, trusted):
    assert ("so trust the count" in str(chance(chain=chain))) == trusted
    # Half as far is enough where the interval leaves no doubt.
    sure = chance(chain=chain, interval=np.array([0.56, 0.58]))
    assert ("so trust the count" in str(sure)) == (abs(chain - 0.57) > 0.05)


def test_guesses_are_named_as_such():
    nobody = chance(seen=Seen("leaf 1", 481, 0, 0), probability=0.4, interval=None, chain=0.4, miss=0.14)
    assert not nobody.counted
    assert str(nobody) == (
        "No recorded episode was in leaf 1. The chain over leaves guesses the chance of reaching x >= 2 to be 40 %; "
        "on this log such guesses miss by 14 points on average."
    )
    nothing = str(chance(seen=None, probability=0.4, interval=None))
    assert nothing.startswith("This model keeps no episodes to count. The chain over leaves guesses the chance")
    assert nothing.endswith("Give the log to count.")
    for guess in (str(nobody), nothing):
        assert "interval" not in guess


@pytest.mark.parametrize(("unresolved", "told"), [(0.0, False), (0.0049, False), (0.005, True), (0.3, True)])
def test_what_the_record_is_too_short_for_is_told_from_half_a_percent_on(unresolved, told):
    assert ("the record ends too early to tell" in str(chance(unresolved=unresolved))) == told
    assert ("the record ends too early" in str(whereabouts([1.0], unresolved=unresolved))) == told


def test_who_is_there_already_need_not_move():
    assert str(chance(there=True)) == "From leaf 1: it is in x >= 2 already."
    assert str(duration(there=True)) == "From leaf 1: it is in x >= 2 already."


def test_times_are_of_those_who_arrive():
    assert str(duration()) == (
        "62 of 481 recorded episodes came through leaf 1; those that reached x >= 2 took 22.8 steps on average, most "
        "of them 12 to 40 (95 % interval 20.1 to 25.2). 20 % had not when the record ended."
    )
    ended = str(duration(missed=0.5, censored=0.1))
    assert ended.endswith("50 % never did and 10 % had not when the record ended.")
    assert str(duration(missed=0.0, censored=0.0)).endswith("25.2).")
    assert "took 1 step on average (" in str(duration(steps=1.0, quantiles=(1.0, 1.0, 1.0)))
    assert str(duration(steps=None, interval=None, quantiles=None)).endswith("leaf 1; none reached x >= 2.")


def test_times_that_are_guessed():
    guess = duration(seen=None, interval=None, quantiles=None, steps=98_312.4)
    assert "The chain over leaves guesses that it reaches x >= 2 after 98,300 steps." in str(guess)
    assert str(duration(seen=None, steps=None)) == "From leaf 1 no recorded transitions lead to x >= 2."


def test_five_leaves_are_named_and_the_others_summed_up():
    text = str(whereabouts([0.3, 0.25, 0.2, 0.1, 0.08, 0.05, 0.02, 0.0]))
    assert text == (
        "62 of 481 recorded episodes came through leaf 1; the time from there on is spent in leaf 0 (30 %), leaf 1 "
        "(25 %), leaf 2 (20 %), leaf 3 (10 %), leaf 4 (8 %), 2 others (7 %)."
    )
    later = str(whereabouts([0.5, 0.25], end=0.25, steps=1))
    assert later.endswith("1 step later they are in leaf 0 (50 %), leaf 1 (25 %), or have ended (25 %).")
    assert "in no leaf, or have ended (100 %)" in str(whereabouts([0.0], end=1.0, steps=9))
    assert str(whereabouts([1.0], seen=None)).startswith("By a guess of the chain: ")
    assert "ended" not in str(whereabouts([1.0], end=0.0, steps=9))


def test_ranges_say_more_than_small_leaves():
    text = str(whereabouts([0.3] + [0.07] * 10, steps=9, end=0.0, ranges=("y = 0.2 to 0.4 m", "left leg in contact")))
    assert text.endswith(
        "9 steps later they are in leaf 0 (30 %), 10 others (70 %), mostly where y = 0.2 to 0.4 m and left leg in "
        "contact."
    )
    text = str(whereabouts([0.05] * 20, steps=9, end=0.0, ranges=("y = 0.2 to 0.4 m",)))
    assert text.endswith("9 steps later they are mostly where y = 0.2 to 0.4 m.")


def test_unreachable():
    every = Unreachable(np.array([], np.int64), 3, True, "leaf 0")
    assert str(every) == "By the chain over leaves, all 3 leaves can be reached from leaf 0."
    some = Unreachable(np.array([1, 2]), 3, False, "leaf 0")
    assert str(some).startswith("By the chain over leaves, nothing leads from leaf 0 to leaves 1 and 2 of 3. No ")


def test_data_hold_who_was_seen_and_no_number_that_json_lacks():
    data = json.loads(json.dumps(chance(interval=None).to_dict(), allow_nan=False))
    assert data["seen"]["episodes"] == 62
    assert data["interval"] is None


@pytest.mark.parametrize(
    ("excess", "opinion"),
    [(0.0, "does little harm"), (0.049, "does little harm"), (0.051, "only fair"), (0.15, "poor")],
)
def test_a_chain_is_good_below_a_twentieth_and_poor_from_fifteen_percent_on(excess, opinion):
    check = MarkovCheck(0.25 + excess, 0.25, 500, 0.0, 0.0, 10, 200)
    assert opinion in markov(check)


def test_a_log_that_is_too_short_says_nothing_about_the_chain():
    assert "too short to tell" in markov(MarkovCheck(0.0, 0.0, 0, 0.0, 0.0, 0, 0))
    assert opinion_of(GOOD)


def opinion_of(check: MarkovCheck) -> bool:
    return "does little harm" in markov(check)
