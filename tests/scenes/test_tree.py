from __future__ import annotations

import json
import warnings

import numpy as np
import pytest

from tests.logs import make_log
from tests.scenes.models import gears, road_tree, walk
from tripletree import ParameterError, TripleTree, TripleTreeWarning
from tripletree.questions.importance import importance
from tripletree.scenes.colours import CATEGORIES, TRACK
from tripletree.scenes.tree import BAR_INKS, BOX, LETTERS, diagram, separated
from tripletree.scenes.types import Labels, Lines, Rectangles


def boxes(scene):
    (found,) = [mark for mark in scene.marks if isinstance(mark, Rectangles) and mark.fill == "#ffffff"]
    return found


@pytest.mark.parametrize("depth", [1, 2, 3, 6])
@pytest.mark.parametrize("model", [road_tree().fitted_, walk(3, dimensions=2), walk(2, labels=8), gears()])
def test_boxes_do_not_overlap_and_lie_in_the_picture(model, depth):
    scene = diagram(model, depth)
    mark = boxes(scene)
    apart = (
        (mark.x1[:, None] <= mark.x0)
        | (mark.x0[:, None] >= mark.x1)
        | (mark.y1[:, None] <= mark.y0)
        | (mark.y0[:, None] >= mark.y1)
    )
    assert (apart | np.eye(len(mark.x0), dtype=bool)).all()
    assert mark.y0.min() >= scene.y.low
    assert mark.y1.max() <= scene.y.high
    assert mark.x1.max() <= scene.x.high
    np.testing.assert_allclose(mark.x1 - mark.x0, BOX)
    texts = [text for label in scene.marks if isinstance(label, Labels) for text in label.text]
    assert max(map(len, texts)) <= LETTERS
    json.dumps(scene.to_dict(), allow_nan=False)


def test_every_line_joins_two_boxes():
    scene = diagram(road_tree(), 3)
    mark = boxes(scene)
    (lines,) = [part for part in scene.marks if isinstance(part, Lines)]
    middle = (mark.y0 + mark.y1) / 2
    for way in lines.points:
        assert ((mark.x1 == way[0, 0]) & np.isclose(middle, way[0, 1])).any()
        assert ((mark.x0 == way[-1, 0]) & np.isclose(middle, way[-1, 1])).any()
    assert len(lines.points) == len(mark.x0) - 1
    # Both halves of the root's samples together are as wide as the widest line may be.
    assert lines.width.max() <= 4


def test_what_is_written():
    scene = diagram(gears(), 1)
    first, others = [label.text for label in scene.marks if isinstance(label, Labels)]
    assert first == ("all states", "not on", "on")
    assert others[0] == "all samples, 12 leaves"
    assert scene.title == "Top 1 level of a tree with 12 leaves"
    whole = diagram(gears().truncate(2), 3)
    assert whole.title == "A tree with 2 leaves"


def test_separated_adds_up_to_importance():
    fitted = road_tree().fitted_
    at, total = fitted.attributes, np.zeros(3)
    samples = np.stack([at.count, at.count, at.count_derivative], axis=1)
    for node in fitted.tree.split_order:
        total += separated(fitted, int(node)) * samples[node] * at.impurity[node]
    np.testing.assert_allclose(total / (samples[0] * at.impurity[0]), importance(fitted).removed)


def test_a_single_leaf_is_a_single_box():
    scene = diagram(road_tree().fitted_.truncate(1))
    assert scene.title == "A tree with one leaf"
    assert len(boxes(scene).x0) == 1
    assert scene.subtitle == ""


@pytest.mark.parametrize("depth", [0, 7, 2.5, True, "3"])
def test_bad_depth(depth):
    with pytest.raises(ParameterError, match="depth must be a whole number from 1 to 6; got"):
        diagram(road_tree(), depth)


def test_long_names_are_cut_and_numbers_are_not():
    log = make_log(
        [[k, -k] for k in range(8)],
        [0] * 4 + [1] * 4,
        [0] * 8,
        labels=("accelerate gently to the left", "brake"),
        names=("distance to the vehicle that is ahead", "b"),
    )
    tree = TripleTree(2, (1, 0, 0)).fit(log)
    first, others = [label.text for label in diagram(tree).marks if isinstance(label, Labels)]
    assert first[1:] == ("distance to the vehicle… < 4", "distance to the vehicle… >= 4")
    assert others[1] == "action = accelerate g… (50 %)"
    assert "action = brake (100 %)" in others


def lines_of(scene):
    (found,) = [part for part in scene.marks if isinstance(part, Lines)]
    return found


@pytest.mark.parametrize(("rare", "widths"), [(50, [2.0, 2.0]), (10, [0.4, 3.6]), (5, [0.4, 3.8]), (1, [0.4, 3.96])])
def test_lines_are_as_wide_as_their_share_of_the_samples_and_none_vanishes(rare, widths):
    states = [[0.0]] * rare + [[1.0]] * (100 - rare)
    log = make_log(states, [0] * rare + [1] * (100 - rare), [0] * 100, labels=("a", "b"))
    found = lines_of(diagram(quietly(log, 2)))
    assert sorted(found.width.tolist()) == pytest.approx(widths)


@pytest.mark.parametrize(
    ("dimensions", "told"), [(1, ["a0"]), (3, ["a0", "a1", "a2"]), (4, ["a0", "a1", "..."]), (6, ["a0", "a1", "..."])]
)
def test_three_numbers_of_an_action_are_told(dimensions, told):
    scene = diagram(walk(2, leaves=1, dimensions=dimensions))
    (first, others) = [label.text for label in scene.marks if isinstance(label, Labels)]
    assert first == ("all states",)
    assert [text.split()[0] for text in others[1:-1]] == told
    assert others[-1].startswith("value ")


def test_a_line_has_twenty_nine_letters_at_most():
    name = "a distance that is rather far"
    assert len(name) == 29
    for text, shown in ((name, name), (f"{name}!", "a distance that is rather fa…")):
        log = make_log([[0.0], [1.0]], [0, 1], [0, 0], labels=("a", "b"), names=(text,), kinds=("binary",))
        first, _ = [label.text for label in diagram(quietly(log, 2)).marks if isinstance(label, Labels)]
        assert first[2] == shown
        assert max(map(len, first)) <= 29


def test_a_box_that_is_not_opened_has_no_bars():
    open_boxes, closed = diagram(road_tree(), 1), diagram(road_tree().fitted_.truncate(1))
    tracks = [mark for mark in open_boxes.marks if isinstance(mark, Rectangles) and mark.fill == TRACK]
    assert [len(mark.x0) for mark in tracks] == [1, 1, 1]
    assert not [mark for mark in closed.marks if isinstance(mark, Rectangles) and mark.fill == TRACK]
    assert [entry.label for entry in open_boxes.legend][:3] == [
        "impurity of action",
        "impurity of value",
        "impurity of derivative",
    ]


def test_bars_are_as_long_as_the_split_separates():
    # All of the action's impurity, and none of the value's.
    log = make_log([[0.0]] * 4 + [[1.0]] * 4, [0] * 4 + [1] * 4, [1, -1] * 4, np.arange(9), labels=("a", "b"))
    fitted = quietly(log, 2, gamma=0.0)
    assert separated(fitted.fitted_, 0).tolist() == [1, 0, 0]
    drawn = [mark for mark in diagram(fitted).marks if isinstance(mark, Rectangles)]
    track, *_ = (mark for mark in drawn if mark.fill == TRACK)
    bars = [mark for mark in drawn if len(mark.x0) == 1 and mark.y0[0] >= track.y0[0] - 9 and mark.y1[0] <= track.y1[0]]
    widths = [float(mark.x1[0] - mark.x0[0]) for colour in BAR_INKS for mark in bars if mark.fill == colour]
    assert widths == pytest.approx([track.x1[0] - track.x0[0], 0.0, 0.0])


def test_no_colour_means_both_an_action_and_an_attribute():
    assert not set(BAR_INKS) & set(CATEGORIES)


def quietly(log, leaves, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TripleTreeWarning)
        return TripleTree(leaves, **options).fit(log)
