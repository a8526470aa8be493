"""Pictures of failures: what is drawn is what was told."""

from __future__ import annotations

import numpy as np
import pytest

from tests.questions.test_failures import FAILS, briefed, walk
from tripletree import ParameterError, failures
from tripletree.report.briefing import briefing
from tripletree.scenes.risk import episode_risk, failures_sheet, risk_calibration, risk_curves
from tripletree.scenes.types import Band, Lines, Points, Rectangles


def marks(scene, kind):
    return [mark for mark in scene.marks if isinstance(mark, kind)]


def test_curves_end_where_episodes_do():
    told = briefed()
    scene = risk_curves(told)
    drawn = [line for mark in marks(scene, Lines)[:1] for line in mark.points]
    fine = np.flatnonzero(~told.fails)
    first = 100 * told.risk[told.starts[fine[0]] : told.starts[fine[0] + 1]]
    assert np.allclose(drawn[0][:, 1], first[-len(drawn[0]) :])
    assert all(line[-1, 0] == 0 for line in drawn)
    assert len(marks(scene, Band)) == 2
    assert scene.y.high == 100


def test_one_episode_has_its_turning_point_and_interval():
    told = briefed()
    case = next(case for case in told.cases if case.kind == "foreseen" and case.interval[1] < case.steps)
    one = told.episode(case.id)
    scene = episode_risk(one)
    (area,) = marks(scene, Rectangles)
    assert (area.x0[0], area.x1[0]) == case.interval
    point = marks(scene, Points)[0]
    assert (point.x[0], point.y[0]) == (case.turning, 100 * one.risk[case.turning])
    assert (one.low <= one.high).all()
    assert len(one.low) == case.steps
    good = told.episode(int(np.flatnonzero(~told.fails)[0]))
    assert not marks(episode_risk(good), Points)
    assert "did not fail. Its risk was highest at step" in str(good)


def test_calibration_lies_within_its_intervals():
    judged = briefed().judged
    (points,) = marks(risk_calibration(judged), Points)
    assert np.array_equal(points.y, 100 * judged.observed)
    assert ((judged.low <= judged.observed) & (judged.observed <= judged.high)).all()
    assert judged.steps.sum() == len(briefed().risk)


def test_without_a_risk_there_is_no_picture_but_a_page():
    told = failures(walk(60), "episode = 3")
    with pytest.raises(ParameterError, match="There is no risk to draw"):
        failures_sheet(told)
    page = briefing([told], "<b>.csv", 3)
    assert "too few to learn a risk from" in page
    assert "&lt;b&gt;.csv" in page


def test_the_page_has_every_failure():
    told = briefed()
    page = briefing([told], "walks.csv")
    assert page.count('<th scope="row">') >= told.failed
    assert page.count("<svg") >= 4
    assert f"Failed means {FAILS}".replace("<", "&lt;") in page
