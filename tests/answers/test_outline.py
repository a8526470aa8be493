"""Outlines in words: regions, routes, and where episodes end."""

from __future__ import annotations

import json

import pytest

from tripletree.answers.outline import Outline, Region, Route, ends, following, region_name


def region(number=0, **given) -> Region:
    usual = {
        "number": number,
        "leaf": 3,
        "when": ("pos < 1 m", "speed >= 0"),
        "share": 0.25,
        "action": "left (87 %)",
        "value": 1.25,
        "spread": 0.31,
        "begins": 0.5,
        "ends": 0.0,
        "following": ((1, 0.8), (None, 0.2)),
    }
    return Region(**{**usual, **given})


def test_a_region_in_a_sentence():
    assert str(region()) == (
        "Region 1 (25 % of the time, pos < 1 m and speed >= 0): left (87 %), value 1.25 ± 0.31, "
        "then region 2 (80 %) or the end (20 %)."
    )
    assert str(region(when=())).startswith("Region 1 (25 % of the time, always): ")


def test_what_follows_a_region():
    assert following(region(following=((None, 1.0),))) == "then the end (100 %)"
    assert following(region(following=())) == "what follows is not recorded"
    assert region_name(9) == "Region 10"


@pytest.mark.parametrize(
    ("regions", "steps", "text"),
    [
        ((0,), 1, "Region 1, then the end: 25 % of them, 1 step (median)."),
        ((2, 0), 2, "Regions 3, 1, then the end: 25 % of them, 2 steps (median)."),
        ((2, 0, 1), 1234, "Regions 3, 1, 2, then the end: 25 % of them, 1,234 steps (median)."),
    ],
)
def test_a_route_is_told_by_the_numbers_of_its_regions(regions, steps, text):
    assert str(Route(regions, 0.25, steps)) == text


def test_four_regions_in_which_episodes_end_are_named_and_the_others_summed_up():
    shares = (0.1, 0.0, 0.4, 0.2, 0.3)
    four = [region(number, ends=share) for number, share in enumerate(shares)]
    told = "40 % in region 3, 30 % in region 5, 20 % in region 4 and 10 % in region 1."
    assert ends(four, 10) == f"10 episodes ended by themselves: {told}"
    assert ends([region(3, ends=1.0)], 1) == "1 episode ended by itself: 100 % in region 4."
    six = [region(number, ends=share) for number, share in enumerate((0.05, 0.1, 0.4, 0.2, 0.22, 0.03))]
    assert ends(six, 10).endswith("22 % in region 5, 20 % in region 4, 10 % in region 2 and 8 % elsewhere.")
    assert ends([region(), region(1)], 0) == "The log shows no episode that ended by itself."


def test_an_outline_is_its_regions_line_by_line():
    outline = Outline((region(), region(1)), (Route((0, 1), 0.5, 3),), 4)
    assert str(outline) == f"{region()}\n{region(1)}"
    data = json.loads(json.dumps(outline.to_dict(), allow_nan=False))
    assert data["regions"][1]["following"] == [[1, 0.8], [None, 0.2]]
    assert data["routes"] == [{"regions": [0, 1], "probability": 0.5, "steps": 3}]
