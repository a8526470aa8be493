"""Outlines in words: regions, routes, and where episodes end."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tripletree.answers.outline import Outline, Region, Route, ends, following, rare_routes, visits


def region(number=0, **given) -> Region:
    usual = {
        "number": number,
        "name": "pos low",
        "when": ("pos < 1 m", "speed >= 0"),
        "share": 0.25,
        "action": "left (87 %)",
        "outcomes": ("left",),
        "kinds": ("constant",),
        "agreement": (0.87,),
        "visits": 10,
        "cut": 0,
        "steps": (3, 7, 12),
        "left": 20.0,
        "entry": np.array([0.5, 0.1]),
        "inside": np.array([0.7, 0.2]),
        "exit": np.array([0.9, 0.3]),
        "change": np.array([0.1, np.nan]),
        "value": 1.25,
        "spread": 0.31,
        "begins": 0.5,
        "ends": 0.0,
        "following": ((1, 0.8), (None, 0.2)),
        "names": ("pos high", "the end"),
    }
    return Region(**{**usual, **given})


def test_a_region_in_a_sentence():
    assert str(region()) == (
        "pos low (25 % of the time, visits of 7 steps (3 to 12), pos < 1 m and speed >= 0): left (87 %); "
        "value 1.25 ± 0.31; then pos high (80 %) or the end (20 %)."
    )
    assert str(region(name="throughout", when=(), value=None, spread=None)) == (
        "Throughout (25 % of the time, visits of 7 steps (3 to 12)): left (87 %); "
        "then pos high (80 %) or the end (20 %)."
    )
    # A name that is a condition is not told twice.
    assert str(region(name="pos < 1 m", when=("pos < 1 m",))).count("pos < 1 m") == 1
    assert str(region(steps=None, visits=0)).startswith("pos low (25 % of the time, pos < 1 m and speed >= 0): ")


def test_how_long_visits_last():
    assert visits(region(steps=(5, 5, 5))) == "visits of 5 steps"
    assert visits(region(steps=(1, 1, 3))) == "visits of 1 step (1 to 3)"
    # Most of them go on when the recording ends.
    assert visits(region(visits=10, cut=6)) == "visits of 7 steps or more (3 to 12)"
    assert visits(region(visits=10, cut=5)) == "visits of 7 steps (3 to 12)"


def test_what_follows_a_region():
    assert following(region(following=((None, 1.0),), names=("the end",))) == "then the end (100 %)"
    assert following(region(following=(), names=())) == "what follows is not recorded"
    # Commas in a name do not run into those around it.
    assert following(region(following=((2, 1.0),), names=("pos low, going on",))) == "then “pos low, going on” (100 %)"


def test_a_route_is_told_by_the_names_of_its_regions():
    assert str(Route((0,), ("pos low",), 0.25, 1)) == "pos low -> the end: 25 % of them, 1 step (median)."
    assert str(Route((2, 0), ("pos high", "pos low"), 0.25, 1234)) == (
        "pos high -> pos low -> the end: 25 % of them, 1,234 steps (median)."
    )


@pytest.mark.parametrize(
    ("shares", "others", "text"),
    [
        ((0.6, 0.4), 0, ""),
        ((0.6, 0.3), 1, "The other 10 % go another way."),
        ((0.6,), 7, "The other 40 % go 7 other ways, each of them seldom."),
        ((), 30, "No route is common: episodes go 30 ways."),
    ],
)
def test_rare_routes_are_counted(shares, others, text):
    routes = tuple(Route((0,), ("pos low",), share, 3) for share in shares)
    assert rare_routes(Outline((region(),), routes, others, 10)) == text


def test_four_regions_in_which_episodes_end_are_named_and_the_others_summed_up():
    shares = (0.1, 0.0, 0.4, 0.2, 0.3)
    four = [region(number, name=f"r{number}", ends=share) for number, share in enumerate(shares)]
    told = "40 % in r2, 30 % in r4, 20 % in r3 and 10 % in r0."
    assert ends(four, 10) == f"10 episodes ended by themselves: {told}"
    assert ends([region(ends=1.0)], 1) == "1 episode ended by itself."
    six = [
        region(number, name=f"r{number}", ends=share) for number, share in enumerate((0.05, 0.1, 0.4, 0.2, 0.22, 0.03))
    ]
    assert ends(six, 10).endswith("22 % in r4, 20 % in r3, 10 % in r1 and 8 % elsewhere.")
    assert ends([region(), region(1)], 0) == "The log shows no episode that ended by itself."


def test_an_outline_is_its_regions_line_by_line():
    often = region(1, share=0.75, name="pos high")
    outline = Outline((region(), often), (Route((0, 1), ("pos low", "pos high"), 0.5, 3),), 0, 4)
    assert str(outline) == f"{often}\n{region()}"
    data = json.loads(json.dumps(outline.to_dict(), allow_nan=False))
    assert data["regions"][1]["following"] == [[1, 0.8], [None, 0.2]]
    assert data["regions"][0]["change"] == [0.1, None]
    assert data["routes"] == [{"regions": [0, 1], "names": ["pos low", "pos high"], "probability": 0.5, "steps": 3}]
