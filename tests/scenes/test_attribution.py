from __future__ import annotations

import numpy as np
import pytest

from tests.logs import make_log, random_log
from tests.test_api import quietly_fitted
from tripletree import LogError, ParameterError
from tripletree.scenes.attribution import DOWN, UP, bars, beeswarm
from tripletree.scenes.colours import GREY
from tripletree.scenes.types import Labels, Points, Rectangles


@pytest.fixture(scope="module")
def grown():
    log = random_log(4, (60, 60), features=5, dimensions=2)
    return quietly_fitted(log, max_leaves=12), log


def test_bars_are_the_contributions_largest_first(grown):
    tree, log = grown
    scene = bars(tree, log.states[3], "a0", None, None)
    found = tree.attribute(log.states[3], "a0").contributions
    drawn = [mark for mark in scene.marks if isinstance(mark, Rectangles)]
    ends = np.concatenate([mark.x0 + mark.x1 for mark in drawn])
    at = np.concatenate([(mark.y0 + mark.y1) / 2 for mark in drawn])
    in_order = ends[np.argsort(-at)]
    assert in_order == pytest.approx(found[np.argsort(-np.abs(found))])
    assert {mark.fill: bool((mark.x0 + mark.x1 >= 0).all()) for mark in drawn if len(mark.x0)} == {
        colour: colour == UP for colour, some in ((UP, found > 0), (DOWN, found < 0)) if some.any()
    }
    assert scene.x.low < min(found.min(), 0)
    assert scene.x.high > max(found.max(), 0)
    labels = [text for mark in scene.marks if isinstance(mark, Labels) for text in mark.text]
    assert len(labels) == len(scene.y.ticks) == np.count_nonzero(found)


def test_many_features_are_summed_up(grown):
    tree, log = grown
    scene = bars(tree, log.states[3], "value", None, None, 2)
    assert scene.y.tick_labels[-1] == "3 others"
    total = sum(float((m.x0 + m.x1).sum()) for m in scene.marks if isinstance(m, Rectangles))
    found = tree.attribute(log.states[3], "value")
    assert total == pytest.approx(found.prediction - found.base)
    swarm = beeswarm(tree, log, "value", most=2)
    assert swarm.y.tick_labels[-1] == "3 others"
    last = [mark for mark in swarm.marks if isinstance(mark, Points)][-1]
    assert last.value is None
    assert last.colour == GREY


def test_a_swarm_has_a_dot_for_each_state_in_each_row(grown):
    tree, log = grown
    scene = beeswarm(tree, log, "a1", dots=50)
    rows = [mark for mark in scene.marks if isinstance(mark, Points)]
    assert all(len(mark.x) == 50 for mark in rows)
    middles = scene.y.ticks
    for mark, middle in zip(rows, middles, strict=True):
        assert np.abs(mark.y - middle).max() < 0.5
    importance = [float(np.abs(mark.x).mean()) for mark in rows]
    assert importance == sorted(importance, reverse=True)
    whole = beeswarm(tree, log, "a1")
    found = tree.attribute(log, "a1").contributions
    first = next(mark for mark in whole.marks if isinstance(mark, Points))
    best = int(np.abs(found).mean(axis=0).argmax())
    assert first.x == pytest.approx(found[:, best])
    # Colours go with the value of the feature.
    assert first.value is not None
    assert (np.diff(first.value[np.argsort(log.states[:, best])]) >= 0).all()
    assert (first.value.min(), first.value.max()) == (0, 1)


def test_pictures_of_a_tree_that_says_the_same_everywhere():
    log = make_log(np.arange(12.0)[:, None], np.zeros(12, int), np.full(12, 0.1), labels=("go",))
    tree = quietly_fitted(log, max_leaves=5, gamma=0.0)
    assert "no feature makes a difference" in bars(tree, [3.0], "value", None, None).subtitle
    assert beeswarm(tree, log, "value").subtitle == "No feature makes a difference in this tree"


def test_refusals(grown):
    tree, log = grown
    with pytest.raises(ParameterError, match="about must be one number here; name one of `a0`, `a1`"):
        bars(tree, log.states[0], "action", None, None)
    with pytest.raises(ParameterError, match="about must be one number here"):
        beeswarm(tree, log, "derivative")
    with pytest.raises(ParameterError, match="log must be a Log"):
        beeswarm(tree, log.states, "value")
    with pytest.raises(LogError, match="has the features"):
        beeswarm(tree, make_log(np.zeros((4, 1)), np.zeros((4, 2)), np.zeros(4)), "value")
    with pytest.raises(ParameterError, match="most must be"):
        bars(tree, log.states[0], "value", None, None, 0)
