from __future__ import annotations

import json
import warnings
from functools import cache

import numpy as np
import pytest

from tests.logs import random_log
from tests.scenes.models import gears, road_tree
from tripletree import LogError, ParameterError, TripleTree, TripleTreeWarning
from tripletree.demos import road
from tripletree.scenes.colours import HERE
from tripletree.scenes.strip import episode
from tripletree.scenes.types import Labels, Lines, Points, Rectangles


@cache
def alive():
    log = road.record("alive", n_samples=2_000)
    return fitted(log, 60), log


@cache
def engines(labels: int = 3, dimensions: int = 2):
    log = random_log(3, lengths=(80, 1), features=6, labels=labels, dimensions=dimensions)
    return fitted(log, 25), log


def fitted(log, leaves):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TripleTreeWarning)
        return TripleTree(leaves).fit(log)


def rows(sheet):
    return [row[0] for row in sheet.rows]


def of(scene, kind):
    return [mark for mark in scene.marks if isinstance(mark, kind)]


def row(sheet, label):
    (found,) = [scene for scene in rows(sheet) if scene.y.label == label]
    return found


def test_rows_show_the_log_and_the_tree():
    tree, log = alive()
    sheet = episode(tree, log, 2)
    one = log.select([2])
    assert [scene.y.label for scene in rows(sheet)] == ["phase", "pos", "speed", "acc", "value", ""]
    for f, name in enumerate(("pos", "speed")):
        ((line,),) = [m.points for m in of(row(sheet, name), Lines) if m.width == 0.9 and m.colour != HERE]
        np.testing.assert_array_equal(line[:, 1], one.states[:, f])
        np.testing.assert_array_equal(line[:, 0], np.arange(one.n_samples) + 0.5)
    predicted = tree.predict(one.states)
    recorded, told = of(row(sheet, "value"), Lines)[-2:]
    np.testing.assert_array_equal(told.points[0][::2, 1], predicted.value)
    np.testing.assert_array_equal(told.points[0][1::2, 0], np.arange(1, one.n_samples + 1))
    np.testing.assert_allclose(recorded.points[0][::2, 1][-1], one.rewards[-1])
    recorded, told = of(row(sheet, "acc"), Lines)[-2:]
    np.testing.assert_array_equal(recorded.points[0][::2, 1], one.actions)
    np.testing.assert_array_equal(
        np.array(one.schema.action.labels)[told.points[0][::2, 1].astype(int)], predicted.action
    )
    json.dumps(sheet.to_dict(), allow_nan=False)


def test_phases_tile_the_episode_and_have_their_reasons():
    tree, log = alive()
    story = tree.story(3, log=log)
    assert len(story.phases) > 2
    sheet = episode(tree, log, 3)
    bars = of(rows(sheet)[0], Rectangles)
    spans = sorted((a, b) for mark in bars for a, b in zip(mark.x0, mark.x1, strict=True))
    assert spans == [(phase.begin, phase.end) for phase in story.phases]
    fills = {}
    for mark in bars:
        for begin in mark.x0:
            fills[int(begin)] = mark.fill
    for one in story.phases:
        for other in story.phases:
            assert (fills[one.begin] == fills[other.begin]) == (sorted(one.outcomes) == sorted(other.outcomes))
    words = " ".join(of(rows(sheet)[-1], Labels)[0].text)
    for phase in story.phases:
        assert phase.behaviour in words
    marked = {}
    for name in ("pos", "speed"):
        for mark in of(row(sheet, name), Points):
            marked[name] = (mark.x - 0.5).tolist()
            np.testing.assert_array_equal(
                mark.y, log.select([3]).states[(mark.x - 0.5).astype(int), ("pos", "speed").index(name)]
            )
    for f, name in enumerate(("pos", "speed")):
        begun = [phase.begin for phase in story.phases if any(f in change.changed for change in phase.changes)]
        assert marked.get(name, []) == begun


@pytest.mark.parametrize(("labels", "dimensions"), [(3, 0), (8, 0), (3, 1), (3, 4)])
def test_any_kind_of_action(labels, dimensions):
    tree, log = engines(labels, dimensions)
    sheet = episode(tree, log)
    actions = [scene for scene in rows(sheet) if scene.y.label in log.schema.action.names]
    assert len(actions) == max(1, min(dimensions, 3))
    features = [scene for scene in rows(sheet) if scene.y.label in log.schema.feature_names]
    assert 1 <= len(features) <= 5
    assert len(sheet.heights) == len(sheet.rows)
    for scene in rows(sheet):
        assert scene.y.high > scene.y.low
        assert scene.x.high > scene.x.low


def test_one_step_is_an_episode_too():
    tree, log = engines()
    sheet = episode(tree, log, 1)
    assert sheet.title == "Episode 1: 1 step, 1 phase"
    assert of(rows(sheet)[-1], Labels)[0].text[0].startswith("step 0: ")


def test_a_single_leaf_has_one_phase():
    tree, log = alive()
    sheet = episode(tree.truncate(1), log)
    assert sheet.title.endswith("1 phase")
    assert "why the next phase begins" not in [entry.label for entry in sheet.legend]


def test_features_can_be_chosen():
    tree, log = engines()
    sheet = episode(tree, log, features=["x4", "x1", "x4"])
    assert [scene.y.label for scene in rows(sheet)[1:3]] == ["x4", "x1"]
    assert [scene.y.label for scene in rows(episode(tree, log, features="x2"))[1:2]] == ["x2"]


def test_bad_input():
    tree, log = alive()
    with pytest.raises(ParameterError, match="log must be a Log; got list"):
        episode(tree, [1])
    with pytest.raises(ParameterError, match=r"number must be a whole number from 0 to .*; got 'last'\. Try number=0"):
        episode(tree, log, "last")
    with pytest.raises(ParameterError, match="number must be a whole number from 0 to"):
        episode(tree, log, 10_000)
    with pytest.raises(ParameterError, match=r"The tree has no 'sped'; .*Did you mean `speed`"):
        episode(tree, log, features=["sped"])
    for features in ([], 3):
        with pytest.raises(ParameterError, match="features must be names of features, or None"):
            episode(tree, log, features=features)
    with pytest.raises(LogError, match="the tree was grown on"):
        episode(gears(), log)
    with pytest.raises(ParameterError, match="model must be a fitted TripleTree"):
        episode(log, road_tree())
