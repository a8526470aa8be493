from __future__ import annotations

import json
import warnings
from functools import cache

import numpy as np
import pytest

from tests.scenes.models import gears, road_tree, walk
from tripletree import NotFittedError, ParameterError, TripleTree, TripleTreeWarning
from tripletree.answers.judgement import Calibration
from tripletree.demos import road
from tripletree.errors import LogError
from tripletree.scenes.charts import calibration_scene, curves, read_models, spread_scene
from tripletree.scenes.colours import MODELS
from tripletree.scenes.types import Lines, Points, Rectangles


@cache
def pair():
    log, held_out = road.record("left", n_samples=2_000).split(0.3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TripleTreeWarning)
        trees = [TripleTree(30, theta).fit(log, held_out) for theta in ((1, 1, 1), (1, 0, 0))]
    return trees, log, held_out


def marks(scene, kind):
    return [mark for mark in scene.marks if isinstance(mark, kind)]


def test_the_lines_are_the_losses_of_every_size():
    (tree, _), _, held_out = pair()
    sheet = curves(tree)
    (row,) = sheet.rows
    assert [scene.title for scene in row] == ["Action", "Value", "Derivative"]
    for g, scene in enumerate(row):
        training, validation = marks(scene, Lines)
        assert training.dashed
        assert not validation.dashed
        np.testing.assert_array_equal(training.points[0][:, 0], np.arange(1, 31))
        np.testing.assert_allclose(training.points[0][:, 1], tree.curve_[f"training_{g_name(g)}"])
        np.testing.assert_allclose(validation.points[0][:, 1], tree.curve_[f"validation_{g_name(g)}"])
        (chosen,) = marks(scene, Points)
        assert chosen.x == tree.n_leaves_
        assert chosen.y == pytest.approx(tree.losses(held_out)[g])
        assert scene.y.low == 0
        assert scene.y.high > max(line.points[0][:, 1].max() for line in (training, validation))
    assert [entry.label for entry in sheet.legend] == ["validation", "training", "size chosen"]
    json.dumps(sheet.to_dict(), allow_nan=False)


def g_name(g: int) -> str:
    return ("action", "value", "derivative")[g]


def test_trees_of_a_list_are_named_by_what_differs():
    trees, *_ = pair()
    assert list(read_models(trees)) == ["theta 1, 1, 1", "theta 1, 0, 0"]
    assert list(read_models([trees[0], trees[0]])) == ["tree 1", "tree 2"]
    assert list(read_models({"a": trees[0], "b": trees[1]})) == ["a", "b"]
    sheet = curves(trees)
    colours = [entry.colour for entry in sheet.legend[:2]]
    assert [line.colour for line in marks(sheet.rows[0][0], Lines)] == [colours[0]] * 2 + [colours[1]] * 2


def test_without_validation_the_training_log_is_all_there_is():
    sheet = curves(road_tree())
    (line,) = marks(sheet.rows[0][1], Lines)
    assert not line.dashed
    assert len(line.points[0]) == 40
    assert not marks(sheet.rows[0][1], Points)
    assert sheet.legend == ()
    assert sheet.subtitle == "On the training log"
    assert [entry.label for entry in curves(road_tree().truncate(7)).legend] == ["size chosen"]


def test_a_validation_log_may_come_later():
    held_out = road.record("left", n_samples=300, seed=9)
    tree = road_tree()
    line = marks(curves(tree, held_out).rows[0][2], Lines)[1]
    np.testing.assert_allclose(line.points[0][:, 1], tree.losses(held_out, "all")[:, 2])


def test_pictures_end_where_asked():
    scene = curves(road_tree(), most_leaves=10).rows[0][0]
    assert len(marks(scene, Lines)[0].points[0]) == 10
    assert scene.x.high == pytest.approx(10.2)


def test_one_leaf_and_losses_of_nothing_make_a_picture():
    for fitted in (walk(1, leaves=1), walk(2, labels=1, leaves=5), gears().truncate(1)):
        for scene in curves(fitted).rows[0]:
            assert scene.x.high > scene.x.low
            assert scene.y.high > scene.y.low


def test_bad_input():
    with pytest.raises(ParameterError, match="models is empty"):
        curves([])
    with pytest.raises(ParameterError, match="dict such as"):
        curves({})
    with pytest.raises(ParameterError, match="model must be a fitted TripleTree; got str"):
        curves("mine")
    with pytest.raises(NotFittedError, match="has not been fitted"):
        curves([road_tree(), TripleTree()])
    with pytest.raises(ParameterError, match="validation must be a Log"):
        curves(road_tree(), validation=[1])
    with pytest.raises(LogError, match="the tree was grown on"):
        curves(gears(), validation=road.record(n_samples=20))
    with pytest.raises(ParameterError, match="most_leaves must be a whole number"):
        curves(road_tree(), most_leaves=1)


def calibration(about="value", error=(0.1, 0.2)):
    return Calibration(
        about, np.array([0.2, 0.8]), np.array([0.3, 0.9]), np.array(error), np.array([30, 10]), 1.0, 4, True
    )


def test_bars_of_a_calibration_are_intervals_of_ninety_five_percent():
    scene = calibration_scene(calibration())
    diagonal, bars = marks(scene, Lines)
    low, high = 0.3 - 0.196, 0.9 + 0.392
    np.testing.assert_allclose(bars.points[0], [[0.2, low], [0.2, 0.3 + 0.196]])
    np.testing.assert_allclose(bars.points[1], [[0.8, 0.9 - 0.392], [0.8, high]])
    # Both axes go from the least to the largest of all, with a twentieth of room.
    room = 0.05 * (high - low)
    assert (scene.x.low, scene.x.high) == pytest.approx((low - room, high + room))
    assert (scene.y.low, scene.y.high) == (scene.x.low, scene.x.high)
    assert diagonal.dashed
    np.testing.assert_allclose(diagonal.points[0], [[scene.x.low] * 2, [scene.x.high] * 2])
    assert scene.title == "Value: predicted and observed"


def test_a_confidence_goes_up_to_one_and_not_below_nothing():
    scene = calibration_scene(calibration("confidence", (0.3, 0.2)))
    assert (scene.x.low, scene.x.high) == pytest.approx((-0.05, 1.05))
    assert scene.title == "Action: how sure and how often right"
    certain = calibration_scene(Calibration("value", np.ones(1), np.ones(1), np.zeros(1), np.ones(1), 0.0, 1, True))
    assert (certain.x.low, certain.x.high) == (0.5, 1.5)


@pytest.mark.parametrize(("numbers", "bars"), [(1, 4), (7, 4), (12, 5), (100, 15), (256, 24), (10_000, 24)])
def test_as_many_bars_as_the_numbers_deserve(numbers, bars):
    """Half as many again as the root of the numbers; at least 4 and at most 24."""
    scene = spread_scene("Returns", "return", np.linspace(0, 1, numbers))
    (tiles,) = marks(scene, Rectangles)
    assert len(tiles.x0) == bars
    assert tiles.y1.sum() == numbers
    assert scene.y.high == pytest.approx(1.08 * tiles.y1.max())


def test_numbers_that_are_all_the_same_have_a_bar_in_the_middle():
    for number, ends in ((0.0, (-0.5, 0.5)), (10.0, (5.0, 15.0)), (-10.0, (-15.0, -5.0))):
        scene = spread_scene("Returns", "return", np.full(9, number))
        assert (scene.x.low, scene.x.high) == ends
        (tiles,) = marks(scene, Rectangles)
        assert tiles.y1.max() == 9


def test_losses_have_a_twentieth_of_room_above():
    for scene in curves(road_tree()).rows[0]:
        (line,) = marks(scene, Lines)
        assert scene.y.high == pytest.approx(1.05 * line.points[0][:, 1].max())
        assert scene.x.high == pytest.approx(1.02 * 40)


def test_the_eighth_tree_has_the_colour_of_the_first():
    trees = {f"tree {k}": road_tree(3) for k in range(8)}
    colours = [entry.colour for entry in curves(trees).legend[:8]]
    assert colours == [*MODELS, MODELS[0]]


def test_what_is_said_of_a_size_that_was_chosen():
    assert curves(road_tree().truncate(1)).subtitle == "On the training log; 1 leaf was kept"
    assert curves(road_tree().truncate(7)).subtitle == "On the training log; 7 leaves were kept"
