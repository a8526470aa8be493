from __future__ import annotations

import numpy as np
import pytest

from tests.logs import make_log
from tests.questions.test_effects import grown, world
from tests.scenes.models import road_tree
from tripletree import ParameterError
from tripletree.report.svg import Drawer
from tripletree.scenes.effects import MIXED, effects
from tripletree.scenes.types import Lines, Rectangles


def marks(scene, kind):
    return [mark for mark in scene.marks if isinstance(mark, kind)]


def test_the_strongest_comes_first_and_all_are_on_one_scale():
    log = world(lambda s: s[:, 0] + 3 * s[:, 1] + 0.01 * s[:, 2], features=3)
    sheet = effects(grown(log, 100), log)
    (row,) = sheet.rows
    assert [scene.title for scene in row] == ["x1", "x0"]
    assert len({(scene.y.low, scene.y.high) for scene in row}) == 1
    assert "hardly any effect: x2" in sheet.subtitle
    for scene in row:
        bars = marks(scene, Rectangles)[0]
        assert (bars.y1 >= bars.y0).all()
        assert bars.y1.max() < 0


def test_no_line_is_drawn_in_full_where_no_states_are():
    rng = np.random.default_rng(0)
    states = np.concatenate([rng.uniform(-2, -1, 500), rng.uniform(1, 2, 500)])[:, None]
    log = make_log(states, states[:, 0] + (states[:, 0] > 0), np.zeros(1000), np.arange(0, 1001, 100))
    (row,) = effects(grown(log, 60, "linear"), log).rows
    full, dashed = (
        [points for mark in marks(row[0], Lines) if mark.dashed == wanted for points in mark.points]
        for wanted in (False, True)
    )
    assert len(full) == 3  # two pieces, and the line at 0
    for points in full[1:]:
        assert (np.abs(points[:, 0]) > 0.85).all()
    assert len(dashed) == 1
    assert np.abs(dashed[0][:, 0]).max() < 1.1


def test_labels_share_a_picture_and_dimensions_have_their_own():
    road = effects(road_tree())
    assert {entry.label for entry in road.legend} >= {"action = -0.001", "action = 0.001"}
    log = world(lambda s: np.stack([s[:, 0], s[:, 1]], 1))
    sheet = effects(grown(log, 60), log)
    assert [scene.y.label for row in sheet.rows for scene in row] == ["effect on a0", "effect on a1"]


def test_directions_that_differ_are_marked():
    log = world(lambda s: s[:, 0] * np.sign(s[:, 1]) + 0.2 * s[:, 0])
    (row,) = effects(grown(log, 200), log, features=["x0"]).rows
    assert row[0].subtitle == MIXED


def test_a_report_can_draw_it():
    drawer = Drawer()
    drawn = [str(drawer.svg(scene, 220, 160)) for row in effects(road_tree(), about="value").rows for scene in row]
    assert "effect on value" in drawn[0]
    assert len(drawn) == 2


def test_nothing_to_draw_says_so():
    log = world(lambda s: (s[:, 0] > 0) * 1.0)
    with pytest.raises(ParameterError, match="No feature has an effect"):
        effects(grown(log, 1), log)
