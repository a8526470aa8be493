"""Maps shaded by linear leaves: every cell shows what the tree predicts there."""

from __future__ import annotations

import numpy as np
import pytest

from tripletree import ParameterError, TripleTree
from tripletree.demos import lander, road
from tripletree.scenes.leaf_map import leaf_map
from tripletree.scenes.types import Mesh
from tripletree.scenes.view import read_view


@pytest.fixture(scope="module")
def tree():
    return TripleTree(40).fit(road.record("left", n_samples=3_000))


def middles(mesh):
    x, y = ((edge[1:] + edge[:-1]) / 2 for edge in (mesh.x, mesh.y))
    return np.column_stack([np.tile(x, len(y)), np.repeat(y, len(x))])


def test_cells_are_predictions_and_no_border_runs_through_one(tree):
    scene = leaf_map(read_view(tree, "pos", "speed"), "value", linear=True)
    (mesh,) = (mark for mark in scene.marks if isinstance(mark, Mesh))
    np.testing.assert_allclose(mesh.value.ravel(), tree.predict(middles(mesh)).value)
    thresholds = tree.tree_.threshold[tree.tree_.feature == 0]
    assert np.isin(thresholds, mesh.x).all()
    assert scene.title == "Value by pos and speed"
    assert scene.note.startswith("Leaves are shaded by their linear models")


def test_labels_are_those_of_the_scores(tree):
    scene = leaf_map(read_view(tree, "pos", "speed"), "action", linear=True)
    (mesh,) = (mark for mark in scene.marks if isinstance(mark, Mesh))
    labels = np.array(tree.fitted_.schema.action.labels)[mesh.value.ravel().astype(int)]
    assert (labels == tree.predict(middles(mesh)).action).all()


def test_on_a_slice_other_features_stay_where_they_are():
    log = lander.log().select(range(20))
    tree, at = TripleTree(60).fit(log), log.states[50]
    scene = leaf_map(read_view(tree, "y", "v_y", at=at), "main engine", linear=True)
    (mesh,) = (mark for mark in scene.marks if isinstance(mark, Mesh))
    states = np.tile(at, (mesh.value.size, 1))
    states[:, [1, 3]] = middles(mesh)
    np.testing.assert_allclose(mesh.value.ravel(), tree.predict(states).action[:, 0])


def test_what_cannot_be_shaded_is_refused(tree):
    with pytest.raises(ParameterError, match="linear=True shows what the tree predicts on a map of two features"):
        leaf_map(read_view(tree, "pos", "speed"), "density", linear=True)
    log = lander.log().select(range(10))
    with pytest.raises(ParameterError, match="with all others fixed"):
        leaf_map(read_view(TripleTree(20).fit(log), "x", "y"), "value", linear=True)
    with pytest.raises(ParameterError, match="on a map of two features"):
        leaf_map(read_view(tree, "pos"), "value", linear=True)
    with pytest.raises(ParameterError, match="linear must be True or False"):
        leaf_map(read_view(tree, "pos", "speed"), "value", linear="yes")
