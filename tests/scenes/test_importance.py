from __future__ import annotations

import itertools

import numpy as np
import pytest

from tests.logs import make_log
from tests.scenes.models import _fit, gears, road_tree, walk
from tripletree import ParameterError
from tripletree.language.numbers import percent
from tripletree.questions.importance import importance
from tripletree.scenes.charts import importances
from tripletree.scenes.types import Labels, Rectangles


def bars(scene):
    return [mark for mark in scene.marks if isinstance(mark, Rectangles)]


@pytest.mark.parametrize("model", [road_tree().fitted_, walk(5), gears()])
def test_bars_are_as_long_as_the_shares_and_do_not_overlap(model):
    scene, found = importances(model), importance(model)
    names = list(scene.y.tick_labels)
    assert sorted(names) == sorted(found.features)
    for g, mark in enumerate(bars(scene)):
        shares = [found.share[g, found.features.index(name)] for name in names]
        np.testing.assert_allclose(mark.x1, shares)
        np.testing.assert_allclose(mark.x0, 0)
        middle = np.array(scene.y.ticks)
        assert (np.abs((mark.y0 + mark.y1) / 2 - middle) < 0.5).all()
    spans = sorted((low, high) for mark in bars(scene) for low, high in zip(mark.y0, mark.y1, strict=True))
    assert all(high <= following + 1e-12 for (_, high), (following, _) in itertools.pairwise(spans))
    sums = found.share.sum(axis=0)
    shown = [sums[found.features.index(name)] for name in names]
    assert shown == sorted(shown, reverse=True)
    assert scene.x.high > max(mark.x1.max() for mark in bars(scene))


def test_many_features_are_summed_up():
    scene = importances(walk(5), most=2)
    assert scene.y.tick_labels[2] == "3 others"
    for mark in bars(scene):
        assert mark.x1.sum() == pytest.approx(1)
    assert len(importances(walk(5), most=4).y.ticks) == 5


def test_one_leaf_has_no_bars():
    scene = importances(road_tree().fitted_.truncate(1))
    assert scene.subtitle == "No split of this tree tells anything"
    assert all((mark.x1 == 0).all() for mark in bars(scene))


def test_bad_input():
    with pytest.raises(ParameterError, match="most must be a whole number of at least 1; got 0"):
        importances(road_tree(), most=0)
    with pytest.raises(ParameterError, match="model must be a fitted TripleTree; got dict"):
        importances({})


@pytest.mark.parametrize(("features", "rows"), [(12, 12), (13, 13), (14, 13), (20, 13)])
def test_twelve_features_are_shown_and_never_just_one_other(features, rows):
    scene = importances(walk(features))
    assert len(scene.y.ticks) == rows
    others = [name for name in scene.y.tick_labels if "others" in name]
    assert others == ([f"{features - 12} others"] if features > 13 else [])


def test_a_name_is_broken_into_lines_of_twenty_four_letters():
    names = ("a feature of two dozen...", "a name of twenty-four le")
    assert [len(name) for name in names] == [25, 24]
    log = make_log([[0.0, 1.0], [1.0, 0.0]], [0, 1], [0, 1], labels=("a", "b"), names=names)
    shown = importances(_fit(log, 2)).y.tick_labels
    assert {text.replace("\n", " ") for text in shown} == set(names)
    assert sorted(text.count("\n") for text in shown) == [0, 1]


def test_shares_stand_beside_their_bars():
    scene = importances(walk(2))
    labels = [mark for mark in scene.marks if isinstance(mark, Labels)]
    for mark, texts in zip(bars(scene), labels, strict=True):
        assert texts.text == tuple(percent(share) if share else "0" for share in mark.x1.tolist())
    assert scene.x.high == pytest.approx(1.14 * max(mark.x1.max() for mark in bars(scene)))
