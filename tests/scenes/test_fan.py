"""The fan as numbers: what is drawn, and what is said about it."""

from __future__ import annotations

import json
from functools import cache

import numpy as np
import pytest

from tests.logs import make_log, random_log
from tests.scenes.models import road_tree
from tripletree import LogError, ParameterError, TripleTree
from tripletree.demos import road
from tripletree.log.endings import TERMINATED
from tripletree.questions.evidence import evidence
from tripletree.questions.fan import fan
from tripletree.scenes import overlays
from tripletree.scenes.colours import PAPER
from tripletree.scenes.fan import after
from tripletree.scenes.types import Band, Lines, Points
from tripletree.scenes.view import read_view

# Some of these logs are too simple for a tree to have much to say.
pytestmark = pytest.mark.filterwarnings("ignore::tripletree.TripleTreeWarning")


@cache
def many():
    log = random_log(3, lengths=(80, 60, 70, 90, 50, 66, 77, 88), features=24)
    return TripleTree(20).fit(log), log


def of(scene, kind):
    return [mark for mark in scene.marks if isinstance(mark, kind)]


def rows(sheet):
    return [row[0] for row in sheet.rows]


def test_rows_are_the_quantiles_of_each_feature():
    tree = road_tree()
    sheet = after(tree, 20, {"pos": (1, 1.5)})
    found = fan(evidence(tree.fitted_, None), 20, {"pos": (1, 1.5)})
    assert [scene.y.label for scene in rows(sheet)] == ["pos", "speed", "episodes over (%)"]
    for f, scene in enumerate(rows(sheet)[:2]):
        (band,) = of(scene, Band)
        some, median = of(scene, Lines)
        np.testing.assert_array_equal(band.low, found.quantiles[0, :, f])
        np.testing.assert_array_equal(band.high, found.quantiles[2, :, f])
        np.testing.assert_array_equal(median.points[0][:, 1], found.quantiles[1, :, f])
        assert len(some.points) == 8
        low = min(float(line[:, 1].min()) for line in some.points)
        assert scene.y.low < min(low, band.low.min())
    (over,) = of(rows(sheet)[-1], Band)
    np.testing.assert_allclose(over.high, 100 * found.ended)
    # Only the last row has an axis, with its unit; all have the same limits.
    assert [scene.x.label for scene in rows(sheet)] == ["", "", "steps later"]
    assert len({(scene.x.low, scene.x.high) for scene in rows(sheet)}) == 1
    assert sheet.title == "Where it is over the next 20 steps"
    seen = found.seen
    assert sheet.subtitle == (
        f"From pos in [1, 1.5): {seen.episodes} of {seen.recorded} recorded episodes, {seen.visits} steps there"
    )
    assert [entry.label for entry in sheet.legend] == [
        "10 to 90 % of those that go on",
        "their median",
        "8 of them",
        "already over",
    ]
    json.dumps(sheet.to_dict(), allow_nan=False)


def test_a_state_is_a_star_at_the_beginning():
    sheet = after(road_tree(), 3, [1.2, 0.0])
    for scene, value in zip(rows(sheet), (1.2, 0.0), strict=False):
        (star,) = of(scene, Points)
        assert (star.x[0], star.y[0], star.symbol) == (0, value, "star")
        assert scene.y.low < value < scene.y.high
    assert " recorded episodes near it, at most " in sheet.subtitle
    assert "the state asked about" in [entry.label for entry in sheet.legend]
    assert "lies outside the range" in after(road_tree(), 3, [9.0, 0.0]).subtitle


def test_of_many_features_those_that_move_most_are_shown():
    tree, log = many()
    sheet = after(tree, 30)
    names = [scene.y.label for scene in rows(sheet)]
    found = fan(evidence(tree.fitted_, None), 30, None)
    moved = np.abs(found.quantiles - found.quantiles[:, :1]).max(axis=(0, 1)) / tree.fitted_.span
    assert [name for name in names if name.startswith("x")] == [f"x{f}" for f in np.sort(np.argsort(-moved)[:8])]
    assert "8 of 24 features, those that move most" in sheet.subtitle
    # Unless they are named.
    named = after(tree, 30, features=["x3", "x0", "x3"])
    assert [scene.y.label for scene in rows(named)][:2] == ["x3", "x0"]
    assert "move most" not in named.subtitle
    assert after(tree, 30, features="x2", log=log).rows[0][0].y.label == "x2"


def test_what_is_yes_or_no_is_a_share():
    log = road.record("left", n_samples=1_000)
    far = (log.states[:, 0] > 1).astype(float)
    states = np.column_stack([log.states, far])
    made = make_log(
        states,
        log.actions,
        log.rewards,
        log.starts,
        endings=[TERMINATED] * log.n_episodes,
        labels=("a", "b"),
        names=("pos", "speed", "far"),
        kinds=("real", "real", "binary"),
    )
    tree = TripleTree(10).fit(made)
    scene = rows(after(tree, 10))[2]
    assert (scene.y.label, len(scene.marks)) == ("far (share)", 1)
    (share,) = of(scene, Lines)
    assert share.points[0][0, 1] == pytest.approx(far[made.starts[:-1]].mean())


def test_what_the_record_does_not_tell_is_drawn_too():
    log = random_log(8, lengths=(30,) * 12, finals=False)
    cut = make_log(log.states, log.actions, log.rewards, log.starts, endings=[2] * 12, labels=("a", "b", "c"))
    tree = TripleTree(5, keep="leaves").fit(random_log(8, lengths=(30,) * 12))
    sheet = after(tree, 40, log=cut)
    over, unknown = of(rows(sheet)[-1], Band)
    assert not over.high.any()
    assert unknown.high[-1] == 100
    assert sheet.legend[-1].label == "the record ends too early to tell"
    assert "After 29 steps too few go on to tell" in sheet.subtitle


def test_nothing_that_never_moves_breaks_it():
    states = np.column_stack([np.tile(np.arange(5.0), 6), np.full(30, 3.0)])
    log = make_log(states, np.tile([0, 1, 0, 1, 1], 6), np.ones(30), np.arange(7) * 5, labels=("a", "b"))
    flat = rows(after(TripleTree(3).fit(log), 3))[1]
    assert flat.y.low < 3 < flat.y.high


def test_units_scale_and_order_does_not_matter():
    log = road.record("left", n_samples=800)
    tree = TripleTree(10, keep="leaves").fit(log)
    shuffled = log.select(np.random.default_rng(0).permutation(log.n_episodes).tolist())
    one, other = (fan(evidence(tree.fitted_, each), 15, "pos > 1") for each in (log, shuffled))
    np.testing.assert_array_equal(one.quantiles, other.quantiles)
    np.testing.assert_allclose(one.ended, other.ended)


def test_on_a_map_there_are_dots_the_way_and_a_cross():
    tree = road_tree()
    view = read_view(tree, "pos", "speed")
    found = fan(evidence(tree.fitted_, None), 10, None)
    layer = overlays.after(view, 10)
    paths, rim, way, _, cross = [mark for mark in layer.marks if isinstance(mark, Lines)]
    dots, begin = [mark for mark in layer.marks if isinstance(mark, Points)]
    assert len(dots.x) == len(found.last)
    np.testing.assert_array_equal(way.points[0], found.quantiles[1])
    assert (rim.colour, rim.width > way.width) == (PAPER, True)
    (x0, y0), (x, y), (x1, y1) = found.quantiles[:, -1]
    np.testing.assert_array_equal(cross.points[0], [[x0, y], [x1, y]])
    np.testing.assert_array_equal(cross.points[1], [[x, y0], [x, y1]])
    np.testing.assert_array_equal([begin.x[0], begin.y[0]], found.quantiles[1, 0])
    assert len(paths.points) == 8
    assert layer.note.startswith(f"From where episodes begin: {found.seen.episodes} recorded episodes")
    state = overlays.after(view, 10, [1.2, 0.0])
    assert [entry.symbol for entry in state.legend] == ["star", "disc", "line"]
    many_steps = overlays.after(view, 10, "pos > 0")
    assert "1,000 of " in many_steps.legend[1].label
    assert " visits, 10 steps later" in many_steps.legend[1].label


def test_all_may_be_over_by_then():
    layer = overlays.after(read_view(road_tree(), "pos", "speed"), 5_000)
    assert "100 % are over by then" in layer.note
    assert layer.legend[1].label.startswith("0 of ")


def test_what_cannot_be_drawn():
    tree = road_tree()
    with pytest.raises(ParameterError, match="Overlays need a map of two features"):
        overlays.after(read_view(tree, "pos"), 10)
    with pytest.raises(ParameterError, match="nope"):
        after(tree, 10, features=["nope"])
    with pytest.raises(ParameterError, match="features must be names of features"):
        after(tree, 10, features=[])
    with pytest.raises(ParameterError, match="steps must be a whole number"):
        after(tree, 0)
    with pytest.raises((LogError, ParameterError), match="log must be"):
        after(tree, 10, log="run.csv")
    with pytest.raises(ParameterError, match="model must be a fitted TripleTree"):
        after(3, 10)
