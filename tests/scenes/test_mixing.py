from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.logs import make_log
from tests.scenes.models import _fit, road_tree, walk
from tripletree import TripleTree
from tripletree.demos import lander
from tripletree.scenes.colouring import read_colour
from tripletree.scenes.colours import ON_DARK, ON_LIGHT
from tripletree.scenes.leaf_map import _modes, leaf_map
from tripletree.scenes.mixing import APART, CELLS, MIXED, _diagonals, mixed_labels, mixed_numbers
from tripletree.scenes.overview import best_pair, overview
from tripletree.scenes.types import Lines, Mesh, Veil
from tripletree.scenes.view import View, leaf_boxes, read_view


def strokes(scene):
    """Return the cells that lines cross: their middles as shares of the map, along x and y."""
    found = []
    for mark in scene.marks:
        if isinstance(mark, Lines):
            ends = mark.points[0].reshape(-1, 3, 2)[:, :2]
            assert np.isnan(mark.points[0].reshape(-1, 3, 2)[:, 2]).all()
            ends = (ends - [scene.x.low, scene.y.low]) / [scene.x.high - scene.x.low, scene.y.high - scene.y.low]
            for begin, end in np.round(ends * CELLS).astype(int):
                found += [begin + k for k in range(end[0] - begin[0])]
    return (np.array(found).reshape(-1, 2) + 0.5) / CELLS


def world(decide, numbers=False, features=3, leaves=24, samples=4_000):
    """A tree whose actions depend on the state as ``decide`` says; the reward is 0, so that only they matter."""
    states = np.random.default_rng(1).uniform(0, 1, (samples, features))
    actions = decide(*states.T)
    told = {} if numbers else {"labels": ("no", "yes")}
    actions = np.asarray(actions, float)[:, None] if numbers else np.asarray(actions, int)
    log = make_log(states, actions, np.zeros(samples), np.arange(samples + 1), **told)
    return _fit(log, leaves).fitted_, log


def shown(fitted, **options):
    name = fitted.schema.action.names[0]
    return leaf_map(read_view(fitted, "x0", "x1", **options), name)


@pytest.mark.parametrize("numbers", [False, True])
def test_only_the_half_that_a_third_feature_decides_is_hatched(numbers):
    fitted, _ = world(lambda x, y, z: np.where(x > 0.5, z > 0.5, y > 0.5), numbers)
    scene = shown(fitted)
    found = strokes(scene)
    assert MIXED in scene.legend
    # Every stroke lies right of the middle, and every fourth diagonal has one in each of its cells there.
    assert found[:, 0].min() > 0.5 - 1 / CELLS
    right = [(i, j) for i in range(CELLS // 2 + 1, CELLS) for j in range(CELLS) if (i - j) % APART == 0]
    missing = set(right) - {tuple(cell) for cell in (found * CELLS).astype(int).tolist()}
    assert len(missing) < 0.02 * len(right)
    # With the third feature fixed, or on one side, nothing is averaged that matters.
    assert MIXED not in shown(fitted, at=[0.5, 0.5, 0.2]).legend
    assert MIXED not in shown(fitted, where={"x2": (0.6, 0.9)}).legend


@pytest.mark.parametrize(
    ("decide", "numbers"),
    [
        (lambda x, y, z: (x > 0.5) ^ (y > 0.3), False),
        (lambda x, y, z: (x > 0.5) + (y > 0.3), True),
        (lambda x, y, z: x + y + 0.4 * z, True),
        (lambda x, y, z: 1e9 + 0 * x, True),
        (lambda x, y, z: 0 * x, False),
        # Decided by nothing: leaves differ only by chance.
        (lambda x, y, z: np.random.default_rng(2).uniform(size=len(x)) > 0.5, False),
        (lambda x, y, z: np.random.default_rng(2).normal(size=len(x)), True),
    ],
)
def test_worlds_that_two_features_or_none_decide_are_not_hatched(decide, numbers):
    fitted, _ = world(decide, numbers)
    scene = shown(fitted)
    assert MIXED not in scene.legend
    assert len(strokes(scene)) == 0


def test_what_is_not_averaged_or_adds_up_is_not_hatched():
    fitted, _ = world(lambda x, y, z: z > 0.5)
    assert MIXED in shown(fitted).legend
    for colour in ("density", "count", "impurity of action"):
        assert MIXED not in leaf_map(read_view(fitted, "x0", "x1"), colour).legend
    assert MIXED not in leaf_map(read_view(fitted, "x0"), "action").legend
    two = road_tree()
    assert MIXED not in leaf_map(read_view(two, "pos", "speed"), "action").legend
    assert overview(two).legend == ()


def test_faded_places_are_not_hatched():
    fitted, log = world(lambda x, y, z: z > 0.5)
    part = log.select([k for k in range(log.n_episodes) if log.states[k, 0] < 0.3])
    scene = leaf_map(read_view(fitted, "x0", "x1"), "action", log=part)
    (veil,) = [mark for mark in scene.marks if isinstance(mark, Veil)]
    assert veil.hidden.any()
    assert scene.marks[-1] is veil
    found = strokes(scene)
    assert len(found)
    assert found[:, 0].max() < 0.4


def test_lines_are_light_on_dark_colours():
    fitted, _ = world(lambda x, y, z: 3 * (x > 0.5) + 4 * (z > 0.5), True)
    lines = {mark.colour: mark.points[0][::3, 0] for mark in shown(fitted).marks if isinstance(mark, Lines)}
    assert np.nanmax(lines[ON_DARK]) < 0.52
    assert np.nanmin(lines[ON_LIGHT]) > 0.48


def weights(view, population, x, y):
    """What each leaf weighs at a point, by its definition."""
    boxes = view.boxes
    lower, upper = boxes.lower[:, list(view.axes)], boxes.upper[:, list(view.axes)]
    return population * ((lower <= [x, y]) & ([x, y] < upper)).all(axis=1) / np.prod(upper - lower, axis=1)


@pytest.mark.parametrize("dimensions", [0, 1])
def test_mixed_is_what_its_definition_says(dimensions):
    fitted = walk(3, leaves=40, dimensions=dimensions)
    view = read_view(fitted, "x0", "x2")
    pictured = read_colour(fitted, view.boxes, fitted.schema.action.names[0])
    mesh = leaf_map(view, fitted.schema.action.names[0]).marks[0]
    assert isinstance(mesh, Mesh)
    mixed = mixed_numbers(view, pictured) if dimensions else mixed_labels(view, pictured, _modes(view, pictured)[2])
    everything = np.sum(pictured.population)
    for i in range(len(mesh.x) - 1):
        for j in range(len(mesh.y) - 1):
            weight = weights(view, pictured.population, mesh.x[i : i + 2].mean(), mesh.y[j : j + 2].mean())
            weight /= weight.sum()
            if dimensions:
                mean = pictured.mean[:, 0]
                middle = pictured.population @ mean / everything
                whole = pictured.population @ ((mean - middle) ** 2 + pictured.std**2) / everything
                assert mixed[i, j] == (weight @ (mean - weight @ mean) ** 2 > whole / 2)
            else:
                right, best = (weight @ pictured.mean).max(), weight @ pictured.mean.max(axis=1)
                assert mixed[i, j] == (right < 0.75 * best)
    assert dimensions or mixed.any()
    assert not mixed.all()


@given(seed=st.integers(0, 99))
def test_the_order_of_leaves_does_not_matter(seed):
    order = np.random.default_rng(seed).permutation(30)
    for dimensions in (0, 1):
        fitted = walk(4, leaves=30, dimensions=dimensions)
        view = read_view(fitted, "x0", "x1")
        pictured = read_colour(fitted, view.boxes, fitted.schema.action.names[0])
        found = []
        for kept in (np.arange(30), order):
            sides = ("lower", "upper", "split_lower", "split_upper")
            boxes = replace(view.boxes, **{side: getattr(view.boxes, side)[kept] for side in sides})
            spread = None if pictured.std is None else pictured.std[kept]
            colours = replace(pictured, mean=pictured.mean[kept], population=pictured.population[kept], std=spread)
            seen = View(fitted, boxes, view.axes, {})
            found.append(
                mixed_numbers(seen, colours) if dimensions else mixed_labels(seen, colours, _modes(seen, colours)[2])
            )
        np.testing.assert_array_equal(*found)


@given(st.integers(0, 999))
def test_strokes_cross_the_cells_on_every_fourth_diagonal(seed):
    which = np.random.default_rng(seed).uniform(size=(9, 7)) < 0.6
    lines = _diagonals(which, np.arange(10.0), np.arange(8.0)).reshape(-1, 3, 2)
    crossed = [(int(a[0]) + k, int(a[1]) + k) for a, b, _ in lines for k in range(int(b[0] - a[0]))]
    wanted = [(i, j) for i, j in np.argwhere(which).tolist() if (i - j) % APART == 0]
    assert sorted(crossed) == sorted(wanted)
    assert len(_diagonals(np.zeros((9, 7), bool), np.arange(10.0), np.arange(8.0))) == 0


def test_an_overview_says_once_what_hatching_means():
    fitted, _ = world(lambda x, y, z, u: (z > 0.5) ^ (u > 0.5) ^ (x > 0.5), features=4, leaves=60)
    sheet = overview(fitted)
    assert sheet.legend == (MIXED,)
    assert len(strokes(sheet.rows[0][0]))
    assert all(MIXED not in scene.legend for row in sheet.rows for scene in row)


def test_unseen_episodes_are_predicted_better_where_nothing_is_hatched():
    training, unseen = lander.log().split(0.3)
    fitted = TripleTree(200).fit(training).fitted_
    boxes = leaf_boxes(fitted)
    for d, name in enumerate(("main engine", "side engine")):
        pictured = read_colour(fitted, boxes, name)
        axes = best_pair(fitted, boxes, pictured.population, pictured.mean).features
        scene = leaf_map(View(fitted, boxes, axes, {}), name, log=training)
        mesh = scene.marks[0]
        assert isinstance(mesh, Mesh)
        sides = (mesh.x, mesh.y)
        i, j = (
            np.clip(np.searchsorted(side, unseen.states[:, f], "right") - 1, 0, len(side) - 2)
            for f, side in zip(axes, sides, strict=True)
        )
        mixed = mixed_numbers(View(fitted, boxes, axes, {}), pictured)[i, j]
        error = (mesh.value[j, i] - unseen.actions[:, d]) ** 2
        assert error[~mixed].mean() < 0.7 * error[mixed].mean()
