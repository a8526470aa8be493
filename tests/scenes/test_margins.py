"""The pictures of requirements: every episode once, in order, in the colour of its verdict; and the worst step."""

from __future__ import annotations

import numpy as np
import pytest

from tests.questions.test_require import steps
from tripletree import ParameterError, require
from tripletree.scenes.margins import MET, MISSED, MOST_BARS, OPEN, all_episodes, requirements, worst_episode
from tripletree.scenes.types import Lines, Points, Rectangles

LOG = steps([1, 2, 3], [3, -1, 2], [2, 2], [-3, 5], [4, 4], endings=[1, 1, 1, 1, 2])


def bars(scene):
    return {mark.fill: mark for mark in scene.marks if isinstance(mark, Rectangles)}


def test_every_episode_has_a_bar_in_the_colour_of_its_verdict():
    (one,) = require(LOG, "always (a > 0)")
    drawn = bars(all_episodes(one))
    assert drawn[MISSED].y0.tolist() == [-3, -1]
    assert drawn[MISSED].x0.tolist() == [0, 1]
    assert drawn[MET].y1.tolist() == [1, 2]
    assert drawn[MET].x1.tolist() == [4, 5]
    # What is open may still be violated by any margin, and met by no more than so far.
    assert (drawn[OPEN].y1.tolist(), drawn[OPEN].x0.tolist()) == ([4], [2])
    assert drawn[OPEN].y0[0] < -3


def test_many_episodes_are_thinned_and_said_to_be():
    log = steps(*[[float(k % 7) - 3] for k in range(1000)])
    scene = all_episodes(require(log, "always (a > -10)")[0])
    assert len(bars(scene)[MET].x0) == MOST_BARS
    assert scene.note == "400 of 1,000 episodes, evenly chosen"
    assert bars(scene)[MET].x1[-1] == 1000


def test_the_worst_episode_shows_each_step_and_what_decides():
    (one,) = require(LOG, "always (a > 0)")
    scene = worst_episode(LOG, one)
    assert scene.title == "Episode 3, the worst"
    line = [mark for mark in scene.marks if isinstance(mark, Lines)][1].points[0]
    assert line.tolist() == [[0, -3], [1, 5]]
    bad, ring = [mark for mark in scene.marks if isinstance(mark, Points)]
    assert (bad.x.tolist(), ring.x.tolist(), ring.y.tolist()) == ([0], [0], [-3])


@pytest.mark.parametrize(
    "text",
    [
        "always (c)",
        "never (c)",
        "eventually (a > 4)",
        "(a > 1) until (c)",
        "initially (a > 0) or always (a > 1)",
        "next (a > 0)",
    ],
)
def test_every_kind_can_be_drawn_with_finite_numbers(text):
    found = require(LOG, text, "always (a > 0)")
    sheet = requirements(LOG, found)
    for scene in (scene for row in sheet.rows for scene in row):
        assert np.isfinite([scene.x.low, scene.x.high, scene.y.low, scene.y.high]).all()
        assert scene.x.low < scene.x.high
        assert scene.y.low < scene.y.high
        for mark in scene.marks:
            numbers = (
                np.concatenate(mark.points)
                if isinstance(mark, Lines)
                else np.concatenate([mark.x0, mark.y1])
                if isinstance(mark, Rectangles)
                else mark.y
            )
            assert np.isfinite(numbers).all()
    if text == "always (c)":
        assert sheet.rows[0][0].y.tick_labels == ("no", "yes")


def test_only_what_require_returned_about_this_log_is_drawn():
    with pytest.raises(ParameterError, match=r"answer must be what require\(log, \.\.\.\) returns; got str"):
        requirements(LOG, "always (a > 0)")
    with pytest.raises(ParameterError, match="checked on another log"):
        requirements(LOG, require(steps([1.0]), "always (a > 0)"))
