from __future__ import annotations

import json
import warnings
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from tests.logs import make_log, random_log
from tests.scenes.models import gears, road_tree
from tripletree import LogError, ParameterError, TripleTree, TripleTreeWarning
from tripletree.answers.story import Phase, Story
from tripletree.demos import road
from tripletree.scenes import strip
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
            assert (fills[one.begin] == fills[other.begin]) == (one.region == other.region)
    words = " ".join(of(rows(sheet)[-1], Labels)[0].text)
    for phase in story.phases:
        assert f"{phase.name}: {phase.behaviour}" in words
    # Every row has the same bands behind its lines, and they fill it.
    for scene in rows(sheet)[1:-1]:
        bands = of(scene, Rectangles)
        assert sorted((a, b) for mark in bands for a, b in zip(mark.x0, mark.x1, strict=True)) == spans
        assert all((mark.y0 < scene.y.low).all() and (mark.y1 > scene.y.high).all() for mark in bands)
        assert {mark.fill for mark in bands} == set(fills.values())
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
    assert len(actions) == max(1, dimensions)
    features = [scene for scene in rows(sheet) if scene.y.label in log.schema.feature_names]
    assert len(features) == 6
    assert len(sheet.heights) == len(sheet.rows)
    for scene in rows(sheet):
        assert scene.y.high > scene.y.low
        assert scene.x.high > scene.x.low


def test_one_step_is_an_episode_too():
    tree, log = engines()
    sheet = episode(tree, log, 1)
    assert sheet.title == "Episode 1: 1 step, 1 phase"
    assert of(rows(sheet)[-1], Labels)[0].text[0].startswith("0  ")


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


def told(*lengths, name="pos low", regions=None, behaviour="left", changes=()):
    """A story whose phases last so long."""
    ends = np.cumsum(lengths).tolist()
    phases = tuple(
        Phase(
            end - length,
            end,
            name,
            (regions or range(len(lengths)))[k],
            behaviour,
            ("left",),
            ("constant",),
            None,
            0,
            0.0,
            0.0,
            changes if k else (),
        )
        for k, (length, end) in enumerate(zip(lengths, ends, strict=True))
    )
    return Story("Episode 0", "action", phases, (), float(ends[-1]), False, None, None, None, None)


@pytest.mark.parametrize(
    ("lengths", "texts"),
    [
        ((500, 500), ("1 pos low", "2 pos low")),
        ((80, 920), ("1 pos low", "2 pos low")),
        ((79, 921), ("1", "2 pos low")),  # too narrow for its name
        ((9, 991), ("1", "2 pos low")),
        ((8, 992), ("2 pos low",)),  # and for its number
    ],
)
def test_a_phase_has_its_name_or_its_number_where_there_is_room(lengths, texts):
    scene = _phases(told(*lengths), 1000.0)
    (labels,) = of(scene, Labels)
    assert labels.text == texts


def test_a_region_has_the_same_colour_in_every_episode_and_the_ninth_shares_one():
    assert len(PHASES) == 8
    scene = _phases(told(*[10] * 4, regions=(7, 0, 8, 7)), 40.0)
    assert [mark.fill for mark in of(scene, Rectangles)] == [PHASES[7], PHASES[0], OTHER]
    assert of(scene, Rectangles)[0].x0.tolist() == [0, 30]


@pytest.mark.parametrize(("letters", "lines"), [(112, 1), (113, 2), (150, 2)])
def test_a_line_of_words_has_a_hundred_and_twelve_letters(letters, lines):
    behaviour = f"{'x' * 49} {'y' * (letters - len('0-9  pos low: ') - 50)}"
    scene = _words(told(10, behaviour=behaviour))
    text, numbers = of(scene, Labels)
    assert sum(map(len, text.text)) + lines - 1 == letters
    assert len(text.text) == lines == scene.y.high
    assert numbers.text == ("1",)


def test_of_many_features_the_twelve_that_vary_most_are_shown_in_every_episode():
    rng = np.random.default_rng(0)
    states = rng.uniform(-1, 1, (60, 15)) ** np.arange(1, 30, 2)
    log = make_log(states, np.arange(60) % 2, np.zeros(60), [0, 30, 60], labels=("a", "b"))
    tree = fitted(log, 4)
    shown = _features(tree.fitted_, log, None)
    assert len(shown) == 12
    varied = log.states.std(axis=0) / tree.fitted_.span
    assert min(varied[shown]) >= max(np.delete(varied, shown))
    for number in (0, 1):
        labels = [scene.y.label for scene in rows(episode(tree, log, number))]
        assert labels[1:13] == [f"x{f}" for f in shown]
    assert _features(engines()[0].fitted_, engines()[1], None) == list(range(6))


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
            {"ending": "truncated", "agreement": 0.9, "together": 0.9},
            "it was cut off. Fits 90 % of the recording",
        ),
        ({"ending": "unknown"}, "how it ended is unknown"),
    ],
)
def test_how_an_episode_went(given, text):
    assert _subtitle(replace(told(10), **given)) == text


def test_a_story_that_is_known_is_not_asked_for_again(monkeypatch):
    tree, log = alive()
    drawn = episode(tree, log, 1)
    told = strip.story(tree.fitted_, 1, log)
    monkeypatch.setattr(strip, "story", None)
    assert episode(tree, log, 1, told=told).rows[-1][0].marks[0].text == drawn.rows[-1][0].marks[0].text
