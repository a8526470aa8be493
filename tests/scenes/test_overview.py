from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from tests.logs import make_log, random_log
from tests.scenes.models import _fit, road_tree, walk
from tripletree import ParameterError
from tripletree.model.fitted import Judged
from tripletree.scenes.overview import best_pair, candidates, overview
from tripletree.scenes.types import Arrows
from tripletree.scenes.view import read_view


def planted(features: int, seed: int = 0):
    """The action depends on the first and the last feature, the value on the second and third."""
    rng = np.random.default_rng(seed)
    states = rng.uniform(-1, 1, (1500, features))
    actions = (states[:, 0] > 0) & (states[:, -1] > 0)
    rewards = np.where((states[:, 1] > 0) & (states[:, 2] > 0.2), 5.0, 0.0)
    log = make_log(states, actions, rewards, np.arange(1501), labels=("no", "yes"))
    return _fit(log, 60).fitted_


def test_the_pair_that_matters_is_found():
    fitted = planted(5)
    view = read_view(fitted, "x0", "x1")
    at, nodes = fitted.attributes, fitted.tree.leaf_nodes
    count = at.count[nodes].astype(float)
    action = best_pair(fitted, view.boxes, count, at.action_count[nodes] / count[:, None])
    assert action.features == (0, 4)
    assert action.share > 0.9
    value = best_pair(fitted, view.boxes, count, at.value_mean[nodes, None])
    assert value.features == (1, 2)
    assert value.share > 0.9
    assert best_pair(fitted, view.boxes, count, np.ones((len(nodes), 1))).share == 1


def test_of_many_features_the_used_ones_are_compared():
    fitted = planted(20)
    chosen = candidates(fitted)
    assert len(chosen) == 16
    assert {0, 1, 2, 19} <= set(chosen)
    assert candidates(walk(4)) == [0, 1, 2, 3]


def test_the_share_of_two_features_is_all_there_is():
    fitted = walk(2)
    view = read_view(fitted, "x0", "x1")
    at, nodes = fitted.attributes, fitted.tree.leaf_nodes
    found = best_pair(fitted, view.boxes, at.count[nodes].astype(float), at.value_mean[nodes, None])
    assert found.features == (0, 1)
    assert 0.8 < found.share <= 1  # the grid is coarser than the leaves


def titles(sheet):
    return [scene.title for row in sheet.rows for scene in row]


def test_two_features_are_shown_as_they_are():
    sheet = overview(road_tree())
    assert titles(sheet) == [
        "Most frequent acc by pos and speed",
        "Mean value by pos and speed",
        "Sample density by pos and speed",
        "Impurity of value by pos and speed",
    ]
    assert any(isinstance(mark, Arrows) for mark in sheet.rows[1][0].marks)
    assert sheet.subtitle == "40 leaves grown on 2,000 samples."
    losses = Judged((0.125, 0.5, 1.0), (0.5, 2.0, 2.0), (0.1, 0.1, 0.1), 7, 300)
    told = overview(replace(road_tree().fitted_, judged=losses)).subtitle
    assert "Losses on 7 unseen episodes: 12 % of actions wrong, value 0.5 (RMSE), derivative 1.00 (sum of" in told
    assert json.loads(json.dumps(sheet.to_dict()))["rows"][0][0]["type"] == "scene"


def test_many_features_by_the_pairs_that_say_most():
    sheet = overview(planted(5))
    assert titles(sheet)[:2] == ["Most frequent action by x0 and x4", "Mean value by x1 and x2"]
    assert "No other pair of features shows more of it: " in sheet.rows[0][0].subtitle
    assert (
        overview(walk(4, dimensions=2))
        .rows[1][1]
        .subtitle.startswith("No other pair of features shows more of the moves")
    )


def test_one_feature_and_many_actions():
    assert titles(overview(walk(1)))[0] == "Shares of action by x0"
    sheet = overview(_fit(random_log(3, features=2, dimensions=6), 8))
    assert len(titles(sheet)) == 6
    assert "2 more action dimensions are not shown" in sheet.subtitle
    with pytest.raises(ParameterError, match="model must be a fitted TripleTree"):
        overview(3)
