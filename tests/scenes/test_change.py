"""Pictures and the page of what changed between two logs."""

from __future__ import annotations

import html

import numpy as np
import pytest

from tests.questions.test_diff import simulated
from tripletree import ParameterError, diff
from tripletree.report.change import diff_html, write_diff
from tripletree.scenes.change import change, forest, ground, region_map, returns
from tripletree.scenes.types import Points, Rectangles

CHANGED = diff(simulated(60, 1), simulated(60, 2, corner=True))


def test_the_forest_has_every_region_with_its_interval():
    scene = forest(CHANGED)
    regions = CHANGED["policy"].regions
    (points,) = [mark for mark in scene.marks if isinstance(mark, Points)]
    assert points.x.tolist() == [region.effect / region.scale for region in regions]
    assert [label.split(".")[0] for label in scene.y.tick_labels] == [str(k + 1) for k in range(len(regions))]
    band = next(mark for mark in scene.marks if isinstance(mark, Rectangles))
    assert (band.x0[0], band.x1[0]) == (-0.1, 0.1)


def test_the_map_is_on_features_that_bound_regions():
    scene = region_map(CHANGED)
    bounded = {condition.split()[0] for region in CHANGED["policy"].regions for condition in region.when}
    assert {scene.x.label, scene.y.label} & bounded
    (boxes,) = scene.marks
    assert (boxes.x0 < boxes.x1).all()


def test_returns_of_both_logs_reach_all_episodes():
    scene = returns(CHANGED)
    for line in scene.marks:
        (points,) = line.points
        assert (np.diff(points, axis=0) >= 0).all()
        assert points[-1, 1] == 100
    assert ground(CHANGED).marks[1].x1[0] == pytest.approx(100 * CHANGED.ground.overlap)


def test_the_page_says_what_the_answer_says(tmp_path):
    page = diff_html(CHANGED)
    assert "What it does CHANGED" in page
    assert page.count("<figcaption") == 4
    # The picture's rows are those of the table, where their conditions have room.
    for number, region in enumerate(CHANGED["policy"].regions, 1):
        assert f">{number}. {region.what}</text>" in page
        assert html.escape(" and ".join(region.when[-2:])) in page
    assert "<script" not in page
    write_diff(CHANGED, tmp_path / "diff.html")
    assert (tmp_path / "diff.html").read_text() == page


def test_few_episodes_have_a_page_too():
    few = diff(simulated(2, 1), simulated(2, 2))
    assert "Cannot tell" in diff_html(few)
    assert forest(few) is region_map(few) is ground(few) is None


def test_what_is_no_answer_is_refused():
    with pytest.raises(ParameterError, match=r"answer must be what diff\(old, new\) returns; got str"):
        change("nothing")
