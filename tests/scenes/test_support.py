"""What the log does not support is faded: by the samples themselves, or by what a leaf makes expect."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.logs import make_log, random_log
from tests.scenes.models import _fit, gears, road_tree, walk
from tests.test_api import quietly_fitted
from tripletree import LogError
from tripletree.scenes import support as module
from tripletree.scenes.leaf_map import leaf_map
from tripletree.scenes.overview import overview
from tripletree.scenes.support import EXPECTED, RECORDED, patch
from tripletree.scenes.types import Axis, Veil
from tripletree.scenes.view import read_view


def veil_of(scene):
    found = [mark for mark in scene.marks if isinstance(mark, Veil)]
    return found[0] if found else None


def hidden_at(veil, x, y):
    i, j = np.searchsorted(veil.x, x, "right") - 1, np.searchsorted(veil.y, y, "right") - 1
    return bool(veil.hidden[j, i])


def diagonal(rows=2_000, labels=("low", "high")):
    """Samples along the diagonal of a square, and nowhere else: most of each leaf is empty."""
    along = np.linspace(0, 1, rows)
    return make_log(np.column_stack([along, along]), along > 0.5, along, labels=labels, names=("a", "b"))


def test_places_far_from_every_sample_are_faded_with_a_log():
    log = diagonal()
    scene = leaf_map(read_view(_fit(log, 2), "a", "b"), "action", log=log)
    veil = veil_of(scene)
    assert scene.note == RECORDED
    assert not hidden_at(veil, 0.5, 0.5)
    assert not hidden_at(veil, 0.03, 0.06)
    assert hidden_at(veil, 0.1, 0.9)
    assert hidden_at(veil, 0.9, 0.1)
    # The patch is a tenth of the map wide, give or take a cell.
    for away in np.linspace(0, 0.5, 40):
        if not 0.04 <= away <= 0.14:
            assert hidden_at(veil, 0.3, 0.3 + away) == (away > 0.1)


def test_a_tree_alone_expects_samples_evenly_in_its_leaves():
    # Hundreds of samples with a below 0.1, and two beyond.
    a = np.append(np.linspace(0, 0.09, 400), [0.6, 1.0])
    log = make_log(np.column_stack([a, a * 77 % 1]), a > 0.5, a * 0, labels=("left", "right"), names=("a", "b"))
    tree = quietly_fitted(log, max_leaves=2, theta=(1, 0, 0))
    scene = leaf_map(read_view(tree, "a", "b"), "action")
    veil = veil_of(scene)
    assert scene.note == EXPECTED
    assert hidden_at(veil, 0.9, 0.1)
    assert not hidden_at(veil, 0.05, 0.1)


@pytest.mark.parametrize("model", [lambda: road_tree(200).fitted_, lambda: walk(features=2, leaves=12)])
def test_a_leaf_is_faded_by_its_own_count_where_it_stands_alone(model):
    fitted = model()
    view = read_view(fitted, *fitted.schema.feature_names)
    veil, boxes = veil_of(leaf_map(view, "value")), view.boxes
    for leaf in view.leaves:
        middle = (boxes.lower[leaf] + boxes.upper[leaf]) / 2
        wide = boxes.upper[leaf] - boxes.lower[leaf]
        expected = fitted.leaves.count[leaf] * patch(view, 0) / wide[0] * patch(view, 1) / wide[1]
        # A cell that lies in several leaves has some of each.
        if (wide > [2 * np.diff(veil.x)[0], 2 * np.diff(veil.y)[0]]).all():
            assert hidden_at(veil, *middle) == (expected < 1 - 1e-6)


def test_a_whole_number_says_nothing_about_its_neighbours():
    states = [[0, 0], [1, 0], [3, 1], [4, 1]] * 30
    log = make_log(states, [s[1] for s in states], np.zeros(120), labels=("a", "b"), kinds=("integer", "binary"))
    veil = veil_of(leaf_map(read_view(_fit(log, 2), "x0", "x1"), "action", log=log))
    assert veil.x.tolist() == [-0.5, 0.5, 1.5, 2.5, 3.5, 4.5]
    assert veil.hidden.tolist() == [[False, False, True, True, True], [True, True, True, False, False]]
    assert patch(read_view(gears(), "gear", "x"), 2) == 1.0


def test_a_constant_feature_is_one_number():
    log = make_log([[k / 39, 7.0] for k in range(40)], [0] * 40, range(40), labels=("a",))
    assert veil_of(leaf_map(read_view(_fit(log, 3), "x0", "x1"), "value", log=log)) is None


def test_what_a_map_limits_is_limited_in_the_log_too():
    log = random_log(3, lengths=(400, 400), features=3)
    tree = _fit(log, 20)
    everywhere = veil_of(leaf_map(read_view(tree, "x0", "x1"), "value", log=log))
    top = float(np.quantile(log.states[:, 2], 0.95))
    limited = veil_of(leaf_map(read_view(tree, "x0", "x1", where={"x2": (top, None)}), "value", log=log))
    assert limited.hidden.sum() > everywhere.hidden.sum()
    # On a slice, the samples of its leaves count, because hardly any lies exactly on it.
    slice_ = veil_of(leaf_map(read_view(tree, "x0", "x1", where={"x2": 0.0}), "value", log=log))
    assert not slice_.hidden.all()


def test_along_one_feature_the_picture_is_faded_from_its_foot_to_its_top():
    a = np.append(np.linspace(0, 0.1, 50), np.linspace(0.9, 1, 50))
    log = make_log(a[:, None], a > 0.5, a, labels=("a", "b"))
    scene = leaf_map(read_view(_fit(log, 4), "x0"), "value", log=log)
    veil = veil_of(scene)
    assert veil.y.tolist() == [scene.y.low, scene.y.high]
    assert veil.hidden.shape == (1, len(veil.x) - 1)
    assert hidden_at(veil, 0.5, scene.y.low)
    assert not hidden_at(veil, 0.05, scene.y.low)


def test_numbers_of_samples_and_of_leaves_are_not_faded_by_themselves():
    log = diagonal()
    view = read_view(_fit(log, 2), "a", "b")
    assert veil_of(leaf_map(view, "leaf", log=log)) is None
    assert veil_of(leaf_map(view, "density")) is None
    # But a log knows where in a leaf the samples are.
    assert veil_of(leaf_map(view, "density", log=log)) is not None


def test_every_panel_of_an_overview_says_that_it_is_faded():
    log = diagonal()
    assert all(RECORDED in scene.note for row in overview(_fit(log, 2), log).rows for scene in row)


def test_a_log_with_other_features_is_refused():
    log = diagonal()
    other = replace(log, schema=random_log(0, features=2, labels=2).schema)
    with pytest.raises(LogError, match="The log has the features `x0`, `x1`, the tree was grown on `a`, `b`"):
        leaf_map(read_view(_fit(log, 2), "a", "b"), "action", log=other)


def test_where_everything_is_supported_nothing_is_said():
    grid = np.stack(np.meshgrid(np.linspace(0, 1, 40), np.linspace(0, 1, 40)), -1).reshape(-1, 2)
    log = make_log(grid, grid[:, 0] > 0.5, grid[:, 1], labels=("a", "b"))
    for given in (log, None):
        scene = leaf_map(read_view(_fit(log, 4), "x0", "x1"), "action", log=given)
        assert veil_of(scene) is None
        assert "Faded" not in scene.note
    assert isinstance(scene.y, Axis)


def test_cells_are_counted_from_one_and_what_lies_beyond_has_none():
    rng = np.random.default_rng(0)
    edges = [np.linspace(-1, 3, 51), np.arange(-0.5, 4)]
    states = np.column_stack([rng.uniform(-1.5, 3.5, 5_000), rng.integers(-2, 6, 5_000)])
    states[: len(edges[0]), 0] = edges[0]
    states[:3, 1] = -0.5, 3.5, np.nextafter(3.5, 4)
    expected = np.stack([np.searchsorted(edge, x, "right") for edge, x in zip(edges, states.T, strict=True)], axis=1)
    for f, edge in enumerate(edges):
        expected[states[:, f] == edge[-1], f] = len(edge) - 1
    assert module._cells(states, edges).tolist() == expected.tolist()


def test_a_feature_that_varies_in_its_last_digits_only_has_a_map():
    a = 1.0 + np.arange(120) % 4 * np.finfo(float).eps
    b = np.linspace(0, 1, 120)
    log = make_log(np.column_stack([a, b]), b > 0.5, b, labels=("low", "high"), names=("a", "b"))
    tree = _fit(log, 2)
    edges, hidden = module.all_pairs(tree.fitted_, read_view(tree, "a", "b").boxes, log)
    assert hidden[0, 1].shape == (len(edges[0]) - 1, len(edges[1]) - 1)
    assert 2 <= len(edges[0]) <= 51
    assert not hidden[0, 1].any()
