"""The sentences of futures."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tripletree.answers.chance import Seen
from tripletree.answers.futures import Future, Futures, far, tell
from tripletree.language.conditions import STARTS

HERE = Seen("y in [0.5, 0.7)", 30, 22, 22)
NEAR = Seen("x = 0, y = 0.6", 30, 22, 22, 0.034)
BEGIN = Seen(STARTS, 22, 22, 22)
DOWN = Future(
    leaf=3,
    where=("y < 0.1",),
    when=("x < 1", "y < 0.1"),
    action="engine = main (97 %)",
    episodes=14,
    share=14 / 22,
    interval=np.array([0.43, 0.8]),
    steps=(15, 23, 40),
    returns=(180.2, 231.4, 260.0),
    others=None,
    ended=14,
)


def test_one_sentence_says_where_when_how_often_and_with_which_outcome():
    assert tell(DOWN, NEAR) == (
        "In 14 of 22 recorded episodes that came near here (64 %, 95 % interval 43 % to 80 %) it next goes to y < 0.1 "
        "with engine = main (97 %), after about 23 steps (15 to 40); "
        "these episodes returned 231 (180 to 260) as a whole."
    )
    assert tell(DOWN, HERE).startswith("In 14 of 22 recorded episodes that came here (64 %")
    assert tell(DOWN, BEGIN).startswith("In 14 of 22 recorded episodes (64 %")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            {"leaf": None, "where": (), "action": ""},
            ") it stays in this region until the episode ends, after about 23 ",
        ),
        ({"where": ("x < 0", "y < 0.1")}, " goes to x < 0 and y < 0.1 with "),
        ({"action": "main = 0.3 ± 0.1 and side = 0 ± 0.2"}, " goes to y < 0.1, after "),
        ({"steps": (7, 7, 7)}, ", after 7 steps;"),
        ({"steps": (1, 1, 1)}, ", after 1 step;"),
        ({"steps": (0, 0, 0)}, ", at once;"),
        ({"steps": (0, 0, 3)}, ", within 3 steps;"),
        ({"others": 120.0}, " returned 231 (180 to 260) as a whole, clearly more than the others (120)."),
        ({"others": 300.0}, ", clearly less than the others (300)."),
        ({"returns": (5.0, 5.0, 5.0)}, "; these episodes returned 5 as a whole."),
        ({"returns": None}, " (15 to 40)."),
        ({"ended": 12}, " as a whole, and how 2 of them ended is not on record."),
        ({"ended": 0}, ", and how they ended is not on record."),
        ({"returns": None, "ended": 0}, " (15 to 40); how they ended is not on record."),
        (
            {"episodes": 1, "ended": 0},
            "; that episode returned 231 (180 to 260) as a whole, and how it ended is not on ",
        ),
    ],
)
def test_every_case_has_its_words(change, words):
    assert words in tell(replace(DOWN, **change), NEAR)


def test_all_of_them_stand_below_where_they_begin():
    one = replace(DOWN, text="In 14 of 22.")
    found = Futures((one, one), 0.0, 0.0, 0, NEAR)
    assert str(found) == (
        "From x = 0, y = 0.6 (22 recorded episodes, at most 3.4 % of the ranges away):\n"
        "1. In 14 of 22.\n2. In 14 of 22."
    )
    assert str(replace(found, seen=HERE)).startswith("From y in [0.5, 0.7) (22 of 30 recorded episodes came here):\n")
    assert str(replace(found, rest=0.12)).endswith("\nThe other 12 % go elsewhere.")
    assert str(replace(found, cut=1)).endswith(
        "\nIn 1 episode the record ends before anything else comes; what would have come is taken from those that were "
        "watched for longer."
    )
    assert str(replace(found, cut=3, unresolved=0.1)).endswith(
        "\nIn 3 episodes the record ends before anything else comes; for 10 % nobody knows what would have come."
    )
    few = replace(found, seen=replace(NEAR, episodes=4, outside=True))
    assert "; with so few, take the shares as rough; this state lies outside the range of the log):" in str(few)
    nobody = Futures((), 0.0, 0.0, 0, replace(HERE, episodes=0))
    assert str(nobody) == "No recorded episode was in y in [0.5, 0.7), so nothing shows what comes next."


def test_how_far():
    assert far(0.021) == "at most 2.1 % of the ranges away"
    assert far(1.73) == "at most 1.73 times the width of the ranges away"
