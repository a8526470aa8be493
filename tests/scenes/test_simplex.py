from __future__ import annotations

import json

import numpy as np
import pytest

from tripletree import ParameterError
from tripletree.answers.weights import Weights
from tripletree.demos import road
from tripletree.questions.compare_weights import simplex as grid
from tripletree.scenes.charts import CORNERS, place, simplex, triangles
from tripletree.scenes.colours import ATTRIBUTE_COLOURS
from tripletree.scenes.types import Points, Surface


def weights(steps: int = 5, sizes: int = 2) -> Weights:
    rng = np.random.default_rng(0)
    points = len(grid(steps))
    return Weights(grid(steps), np.arange(10, 10 + sizes), rng.uniform(0.1, 1, (sizes, points, 3)), True)


@pytest.mark.parametrize("steps", [1, 2, 5])
def test_triangles_tile_the_simplex(steps):
    at, found = place(grid(steps)), triangles(steps)
    assert len(found) == steps**2
    a, b, c = (at[found[:, k]] for k in range(3))
    areas = np.abs((b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0]) / 2
    np.testing.assert_allclose(areas, np.sqrt(0.75) / 2 / steps**2)
    centres = (a + b + c) / 3
    assert len(np.unique(np.round(centres, 9), axis=0)) == len(found)


def test_corners_are_single_attributes():
    np.testing.assert_allclose(place(np.eye(3)), CORNERS)
    np.testing.assert_allclose(place(np.array([[2.0, 2.0, 2.0]])), CORNERS.mean(axis=0)[None])


def test_dots_surface_and_ring_show_the_answer():
    answer = weights()
    sheet = simplex(answer)
    for k, scene in enumerate(sheet.rows[0]):
        (surface,) = [mark for mark in scene.marks if isinstance(mark, Surface)]
        np.testing.assert_array_equal(surface.value, answer.worst[k])
        assert sheet.colours.low <= surface.value.min()
        assert surface.value.max() <= sheet.colours.high
        *dots, ring = [mark for mark in scene.marks if isinstance(mark, Points)]
        assert sum(len(mark.x) for mark in dots) == 21
        at = place(answer.theta)
        for mark in dots:
            own = answer.worst_attribute[k] == ATTRIBUTE_COLOURS.index(mark.colour)
            np.testing.assert_array_equal(np.column_stack([mark.x, mark.y]), at[own])
        np.testing.assert_array_equal([ring.x[0], ring.y[0]], at[answer.best[k]])
        assert scene.colours is sheet.colours
        assert scene.title == f"{10 + k} leaves"
    assert "held-out" in sheet.subtitle
    json.dumps(sheet.to_dict(), allow_nan=False)


def test_losses_of_0_and_equal_losses_have_a_scale():
    for value in (0.0, 0.4):
        ratio = np.full((1, 3, 3), 0.4)
        ratio[0, 0] = value
        scale = simplex(Weights(grid(1), np.array([5]), ratio, False)).colours
        assert 0 < scale.low < scale.high


def test_bad_input():
    with pytest.raises(ParameterError, match=r"what compare_weights\(log\) returns; got Log. Type: plot.simplex\("):
        simplex(road.record(n_samples=10))


@pytest.mark.parametrize(("steps", "size"), [(1, 4.4), (5, 20 / np.sqrt(21)), (10, 3.0), (20, 3.0)])
def test_many_dots_are_smaller_but_not_too_small(steps, size):
    scene = simplex(weights(steps, 1)).rows[0][0]
    *dots, ring = [mark for mark in scene.marks if isinstance(mark, Points)]
    assert [mark.size for mark in dots] == pytest.approx([size] * len(dots))
    assert ring.size == pytest.approx(2 * size)


def test_the_shades_go_from_the_least_to_the_largest_of_the_worst_losses():
    ratio = np.array([[[0.2, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.4]]])
    scale = simplex(Weights(grid(1), np.array([5]), ratio, False)).colours
    assert (scale.low, scale.high, scale.kind) == (pytest.approx(0.2 / 1.02), 0.8, "log")
    ratio[0, 0] = 0.0
    # A loss of 0 has no logarithm: it is drawn as a ten-thousandth of the largest.
    assert simplex(Weights(grid(1), np.array([5]), ratio, False)).colours.low == pytest.approx(0.8e-4 / 1.02)
