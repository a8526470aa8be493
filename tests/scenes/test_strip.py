from __future__ import annotations

import json
import warnings
from dataclasses import replace
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest

from tests.logs import random_log
from tests.scenes.models import gears, road_tree, walk
from tripletree import LogError, ParameterError, TripleTree, TripleTreeWarning
from tripletree.answers.story import Phase, Story
from tripletree.demos import road
from tripletree.questions.importance import importance
from tripletree.scenes.colours import HERE, OTHER, PHASES
from tripletree.scenes.strip import _features, _phases, _span, _subtitle, _words, episode
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


def told(*lengths, outcomes=None, behaviour="action = left", changes=()):
    """A story whose phases last so long."""
    ends = np.cumsum(lengths).tolist()
    phases = tuple(
        Phase(end - length, end, behaviour, (outcomes or "abcdefghijkl")[k], 0, 0.0, 0.0, changes if k else ())
        for k, (length, end) in enumerate(zip(lengths, ends, strict=True))
    )
    return Story("Episode 0", "action", phases, (), float(ends[-1]), False, None, None, None)


@pytest.mark.parametrize(
    ("lengths", "numbers"),
    [
        ((12, 988), ("1", "2")),
        ((11, 989), ("2",)),  # too narrow for its number
        ((100,) * 9 + (24, 76), ("1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11")),
        ((100,) * 9 + (23, 77), ("1", "2", "3", "4", "5", "6", "7", "8", "9", "11")),  # two digits need twice as much
    ],
)
def test_a_phase_has_its_number_where_there_is_room(lengths, numbers):
    scene = _phases(told(*lengths), 1000.0)
    (labels,) = of(scene, Labels)
    assert labels.text == numbers


def test_the_seventh_behaviour_and_all_others_share_a_colour():
    scene = _phases(told(*[10] * 9, outcomes="abcdefgha"), 90.0)
    fills = [mark.fill for mark in of(scene, Rectangles)]
    assert fills == [*PHASES, OTHER, OTHER]
    assert of(scene, Rectangles)[0].x0.tolist() == [0, 80]


@pytest.mark.parametrize(("letters", "lines"), [(112, 1), (113, 2), (150, 2)])
def test_a_line_of_words_has_a_hundred_and_twelve_letters(letters, lines):
    behaviour = f"{'x' * 49} {'y' * (letters - len('steps 0 to 9: ') - 50)}"
    scene = _words(told(10, behaviour=behaviour))
    text, numbers = of(scene, Labels)
    assert sum(map(len, text.text)) + lines - 1 == letters
    assert len(text.text) == lines == scene.y.high
    assert numbers.text == ("1",)


def test_of_many_features_the_five_that_explain_most_changes_are_shown():
    fitted = walk(7)
    story = told(10, 10, 10)

    def changes(*features):
        phases = tuple(replace(one, changes=(SimpleNamespace(changed=features),)) for one in story.phases[1:])
        return replace(story, phases=(story.phases[0], *phases))

    assert _features(fitted, changes(0, 2, 3, 5, 6), None) == [0, 2, 3, 5, 6]
    six = _features(fitted, changes(0, 1, 2, 3, 5, 6), None)
    assert len(six) == 5
    assert set(six) < {0, 1, 2, 3, 5, 6}
    assert _features(fitted, changes(4), None) == [4]
    # Without any change, those that the action depends on most.
    share = importance(fitted).share[0]
    assert _features(fitted, story, None) == sorted(np.argsort(-share, kind="stable")[:5].tolist())


@pytest.mark.parametrize(("labels", "ticks"), [(6, 6), (7, 1)])
def test_up_to_six_labels_have_a_tick_each_and_of_more_those_that_are_predicted(labels, ticks):
    log = random_log(3, lengths=(30, 30), labels=labels)
    sheet = episode(fitted(log, 1), log)
    axis = row(sheet, "action").y
    assert len(axis.ticks) == ticks
    assert axis.tick_labels == (tuple("abcdefgh"[:labels]) if ticks > 1 else axis.tick_labels)
    assert (axis.low, axis.high) == (-0.4, labels - 0.6)


def test_rows_have_a_tenth_of_room_above_and_below():
    assert _span([np.array([0.0, 10.0]), np.array([np.nan, 5.0])]) == (-1.0, 11.0)
    assert _span([np.array([3.0, 3.0])]) == (1.5, 4.5)
    assert _span([np.array([0.0])]) == (-0.5, 0.5)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({}, "how it ended is unknown"),
        ({"ending": "terminated", "total": 3.14159}, "Sum of rewards 3.142; it ended"),
        (
            {"ending": "truncated", "agreement": 0.9876},
            "it was cut off; the tree agrees with the log at 98.8 % of steps",
        ),
        ({"ending": "unknown"}, "how it ended is unknown"),
    ],
)
def test_how_an_episode_went(given, text):
    assert _subtitle(replace(told(10), **given)) == text
