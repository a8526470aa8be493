"""Chances in words: what is said, what is left out, and from which number on."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from tripletree.answers.chance import Chance, Duration, Unreachable, Whereabouts, markov
from tripletree.graph.transitions import MarkovCheck

GOOD = MarkovCheck(0.04, 0.02, 500, 0.03, 0.01, 10, 200)


def chance(**given) -> Chance:
    """A chance of one half without anything special about it."""
    usual = {
        "probability": 0.5,
        "interval": None,
        "reach": "x >= 2",
        "start": "leaf 1",
        "before": None,
        "within": None,
        "unknown": 0.0,
        "there": False,
        "partly": 0,
        "outside": False,
        "draws": 0,
        "markov": GOOD,
    }
    return Chance(**{**usual, **given})


def duration(**given) -> Duration:
    usual = {
        "steps": 12.345,
        "interval": None,
        "probability": 1.0,
        "reach": "x >= 2",
        "start": "leaf 1",
        "before": None,
        "there": False,
        "partly": 0,
        "draws": 0,
        "markov": GOOD,
    }
    return Duration(**{**usual, **given})


def whereabouts(share, **given) -> Whereabouts:
    usual = {"interval": None, "end": None, "steps": None, "start": "leaf 0", "draws": 0, "markov": GOOD}
    return Whereabouts(share=np.array(share, float), **{**usual, **given})


def first(answer) -> str:
    """The first sentence."""
    return str(answer).split(". ")[0]


def test_a_chance_names_its_zone_its_deadline_and_its_interval():
    assert first(chance()) == "From leaf 1 it reaches x >= 2 with probability 0.5"
    assert first(chance(before="the end", within=1)) == (
        "From leaf 1 it reaches x >= 2 before the end within 1 step with probability 0.5"
    )
    assert "within 1,200 steps" in str(chance(within=1_200))
    told = str(chance(probability=1 / 3, interval=np.array([0.21234, 0.4])))
    assert "with probability 0.333 (95 % interval 0.212 to 0.4)." in told


@pytest.mark.parametrize(("unknown", "said"), [(0, ""), (0.0049, ""), (0.005, "0.005"), (0.0061, "0.0061")])
def test_what_the_log_does_not_show_is_told_from_half_a_percent_on(unknown, said):
    text = str(chance(unknown=unknown))
    if said:
        assert f"With probability {said} it comes first to a leaf" in text
    else:
        assert "comes first" not in text


@pytest.mark.parametrize(
    ("probability", "doubt"),
    [
        (1.0, ""),
        (0.9996, ""),
        (0.9994, ", if it gets there (probability 0.999)"),
        (0.25, ", if it gets there (probability 0.25)"),
    ],
)
def test_how_probable_it_is_to_arrive_is_told_unless_it_is_certain(probability, doubt):
    assert f"after 12.35 steps on average{doubt}. " in str(duration(probability=probability))


def test_a_duration_that_has_no_end():
    assert (
        str(duration(steps=None, before="leaf 0"))
        == "From leaf 1 no recorded transitions lead to x >= 2 before leaf 0."
    )
    assert "(95 % interval 10 to 20), if it gets there" in str(
        duration(interval=np.array([10.0, 20.0]), probability=0.5)
    )


@pytest.mark.parametrize("ask", [chance, duration])
def test_leaves_that_lie_partly_in_a_zone_agree_with_their_number(ask):
    assert "partly" not in str(ask())
    assert " 1 leaf lies only partly in x >= 2 and counts as a whole." in str(ask(partly=1))
    assert " 2 leaves lie only partly in x >= 2 and count as a whole." in str(ask(partly=2))
    assert str(ask(there=True)) == "From leaf 1: it is in x >= 2 already."
    assert str(ask(there=True, partly=2)) == (
        "From leaf 1: it is in a leaf of x >= 2 already. 2 leaves lie only partly in x >= 2 and count as a whole."
    )


def test_a_start_outside_the_log_is_a_warning_also_where_it_is_there_already():
    warning = "The start lies outside the range of the log."
    assert warning in str(chance(outside=True))
    assert str(chance(outside=True, there=True)).endswith(f"already. {warning}")
    assert warning not in str(chance())


def test_five_leaves_are_named_and_the_others_summed_up():
    five = whereabouts([0.4, 0.1, 0.2, 0.05, 0.25])
    assert first(five) == (
        "From leaf 0 it spends its time in leaf 0 (40 %), leaf 4 (25 %), leaf 2 (20 %), leaf 1 (10 %), leaf 3 (5 %)"
    )
    seven = whereabouts([0.4, 0.1, 0.2, 0.04, 0.23, 0.02, 0.01])
    assert first(seven).endswith("leaf 1 (10 %), leaf 3 (4 %), 2 others (3 %)")


def test_leaves_where_it_never_is_are_not_named():
    told = first(whereabouts([0.0, 1.0, 0.0], end=0.0, steps=3))
    assert told == "3 steps after leaf 0 it is in leaf 1 (100 %), or has ended (0 %)"
    over = first(whereabouts([0.0, 0.0], end=1.0, steps=1))
    assert over == "1 step after leaf 0 it is in no leaf, or has ended (100 %)"
    assert first(whereabouts([0.0])) == "From leaf 0 it spends its time in no leaf"


@pytest.mark.parametrize(
    ("numbers", "n_leaves", "end", "text"),
    [
        ([], 1, True, "From leaf 0 the only leaf can be reached."),
        ([], 2, True, "From leaf 0 all 2 leaves can be reached."),
        ([], 2, False, "From leaf 0 all 2 leaves can be reached. No recorded transitions lead to the end."),
        ([3], 5, True, "From leaf 0 no recorded transitions lead to leaf 3 of 5."),
        ([1, 2, 3, 4, 5, 6], 9, True, "From leaf 0 no recorded transitions lead to leaves 1, 2, 3, 4, 5 and 6 of 9."),
        ([1, 2, 3, 4, 5, 6, 7], 9, True, "From leaf 0 no recorded transitions lead to 7 leaves of 9."),
    ],
)
def test_what_cannot_be_reached(numbers, n_leaves, end, text):
    assert str(Unreachable(np.array(numbers, np.int64), n_leaves, end, "leaf 0")) == text


@pytest.mark.parametrize(
    ("excess", "verdict", "opinion"),
    [
        (0.0, "good", "that does little harm"),
        (0.0499, "good", "that does little harm"),
        (0.05, "fair", "it is only fair"),
        (0.0501, "fair", "it is only fair"),
        (0.1499, "fair", "it is only fair"),
        (0.15, "poor", "it is poor: take the numbers as rough"),
        (0.6, "poor", "it is poor: take the numbers as rough"),
    ],
)
def test_a_chain_is_good_below_a_twentieth_and_poor_from_fifteen_percent_on(excess, verdict, opinion):
    for check in (replace(GOOD, memory=excess, memory_chance=0.0), replace(GOOD, distance=excess, distance_chance=0.0)):
        assert check.verdict == verdict
        assert opinion in markov(check)
        assert opinion in str(chance(markov=check))


def test_the_worse_of_the_two_departures_counts_and_chance_is_taken_off():
    both = MarkovCheck(0.30, 0.26, 10, 0.25, 0.13, 5, 10)
    assert both.excess == pytest.approx(0.12)
    assert both.verdict == "fair"
    assert markov(both).endswith(
        "(the leaf before changes 4 % of the transitions and after 5 steps 12 % of the episodes are elsewhere than it "
        "says, beyond chance)."
    )
    # Less than by chance is nothing, and never a negative share.
    lucky = MarkovCheck(0.01, 0.02, 10, 0.01, 0.03, 1, 10)
    assert (lucky.excess, lucky.verdict) == (0, "good")
    assert "changes 0 % of the transitions and after 1 step 0 % of the episodes" in markov(lucky)


def test_only_what_could_be_tested_is_told():
    moves, steps = replace(GOOD, horizon=0), replace(GOOD, moves=0)
    assert markov(moves).endswith("little harm (the leaf before changes 2 % of the transitions, beyond chance).")
    assert markov(steps).endswith(
        "harm (after 10 steps 2 % of the episodes are elsewhere than it says, beyond chance)."
    )
    nothing = replace(GOOD, moves=0, horizon=0)
    assert nothing.verdict == "untested"
    assert markov(nothing).endswith("the log is too short to tell whether that matters.")


def test_data_hold_the_verdict_and_no_number_that_json_lacks():
    data = chance(interval=np.array([np.nan, np.inf]), markov=replace(GOOD, distance=0.5)).to_dict()
    assert data["interval"] == [None, None]
    assert (data["markov"]["verdict"], data["markov"]["moves"]) == ("poor", 500)
    assert json.loads(json.dumps(whereabouts([0.5, 0.5]).to_dict(), allow_nan=False))["share"] == [0.5, 0.5]
