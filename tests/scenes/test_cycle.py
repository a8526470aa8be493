"""One cycle of a rhythm as a sheet: its rows, its parts, and what cannot be drawn."""

from __future__ import annotations

import numpy as np
import pytest

from tests.logs import make_log
from tripletree import ParameterError, rhythm
from tripletree.scenes.cycle import cycle
from tripletree.scenes.types import Band, Labels, Lines, Rectangles

STEPS = np.arange(2400) % 400
STARTS = np.arange(0, 2401, 400)


def log(labels=None):
    phase = 2 * np.pi * STEPS / 40
    states = np.stack([10 + 3 * np.cos(phase), np.sin(phase), np.random.default_rng(0).standard_normal(2400)], axis=1)
    push = np.where(STEPS % 40 < 10, 1.0, -1.0)
    actions = push if labels is None else (push > 0).astype(int)
    return make_log(states, actions, np.zeros(2400), STARTS, labels=labels, names=("height", "speed", "junk"))


def test_every_action_and_every_feature_has_a_row_along_the_cycle():
    answer = rhythm(log())
    sheet = cycle(log(), answer)
    scenes = [scene for row in sheet.rows for scene in row]
    assert [scene.y.label for scene in scenes] == ["part", "a0", "height", "speed", "junk", ""]
    assert sheet.title == "One cycle: 40 steps"
    assert sheet.subtitle == answer.headline.rstrip(".")
    assert len(sheet.heights) == len(scenes)
    assert [scene.x.shown for scene in scenes] == [False] * 4 + [True, False]
    assert all(scene.x.high == answer.period for scene in scenes[:-1])
    assert scenes[-1].marks[0].text[0].startswith("a0 positive; ")


def test_lines_are_means_and_bands_one_standard_deviation():
    row = cycle(log()).rows[2][0]
    (band,) = (mark for mark in row.marks if isinstance(mark, Band))
    mean = [mark for mark in row.marks if isinstance(mark, Lines)][-1].points[0]
    assert mean[:, 1].max() == pytest.approx(13, abs=0.1)
    assert mean[:, 1].min() == pytest.approx(7, abs=0.1)
    assert np.all(band.high - band.low < 0.6)
    np.testing.assert_allclose((band.low + band.high) / 2, mean[:, 1])


def test_the_bar_has_the_parts():
    answer = rhythm(log())
    bar = cycle(log(), answer).rows[0][0]
    boxes = [mark for mark in bar.marks if isinstance(mark, Rectangles)]
    assert [float(box.x0[0]) for box in boxes] == [part.begin * answer.period for part in answer.parts]
    assert bar.marks[-1].text == tuple(str(k + 1) for k in range(len(answer.parts)))
    assert isinstance(bar.marks[-1], Labels)


def test_labels_are_shares():
    sheet = cycle(log(labels=("rest", "push")))
    row = sheet.rows[1][0]
    assert row.y.label == "action (%)"
    assert [entry.label for entry in sheet.legend] == ["rest", "push", "mean and spread over all cycles"]
    lines = [mark.points[0] for mark in row.marks if isinstance(mark, Lines)][1:]
    np.testing.assert_allclose(lines[0][:, 1] + lines[1][:, 1], 100)


def test_features_can_be_chosen():
    named = cycle(log(), features=["speed"])
    assert [row[0].y.label for row in named.rows] == ["part", "a0", "speed", ""]
    assert [row[0].y.label for row in cycle(log(), most=2).rows] == ["part", "a0", "height", "speed", ""]
    with pytest.raises(ParameterError, match=r"The log has no 'sped'; it has .* Did you mean"):
        cycle(log(), features=["sped"])


def test_what_cannot_be_drawn_is_said():
    noise = make_log(np.random.default_rng(0).standard_normal((2400, 2)), np.zeros(2400), np.zeros(2400), STARTS)
    with pytest.raises(ParameterError, match=r"There is no cycle to draw\. No rhythm: "):
        cycle(noise)
    with pytest.raises(ParameterError, match="answer must be what rhythm"):
        cycle(log(), "yes")
    with pytest.raises(ParameterError, match="that of another log"):
        cycle(log().select([0, 1]), rhythm(log()))
