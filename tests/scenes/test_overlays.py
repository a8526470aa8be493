from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from tests.logs import make_log, random_log
from tests.scenes.models import gears, road_tree, walk
from tripletree import ParameterError
from tripletree.demos import road
from tripletree.scenes import overlays
from tripletree.scenes.colours import PAPER, PLACES
from tripletree.scenes.leaf_map import leaf_map
from tripletree.scenes.types import Arrows, Entry, Labels, Lines, Points, Rectangles
from tripletree.scenes.view import read_view


def log():
    return road.record("left", n_samples=2_000)


def plane(model=None, **options):
    return read_view(model or road_tree(), "speed", "pos", **options)


def kinds(layer):
    return [type(mark) for mark in layer.marks]


def test_samples_are_the_logs():
    (points,) = overlays.samples(plane(), log()).marks
    np.testing.assert_array_equal(np.stack([points.y, points.x], -1), log().states)
    some = overlays.samples(plane(), log(), most=100)
    assert len(some.marks[0].x) == 100
    assert some.legend[0].label == "100 of 2,000 samples"


def test_samples_keep_to_the_limits_and_leaves_of_the_view():
    recorded = random_log(5, lengths=(60, 50, 40), features=3)
    view = read_view(walk(3), "x0", "x1", where={"x2": (-4, -1)})
    (points,) = overlays.samples(view, recorded).marks
    inside = (recorded.states[:, 2] >= -4) & (recorded.states[:, 2] < -1)
    np.testing.assert_array_equal(points.x, recorded.states[inside, 0])
    cut = read_view(walk(3), "x0", "x1", where={"x2": -3})
    (points,) = overlays.samples(cut, recorded).marks
    leaf = walk(3).tree.apply(recorded.states)
    np.testing.assert_array_equal(points.x, recorded.states[np.isin(leaf, cut.leaves), 0])


def test_an_episode_goes_on_to_its_final_state():
    layer = overlays.episodes(plane(), log(), [1, 0])
    lines, begin = layer.marks
    first, second = log().starts[1:3]
    np.testing.assert_array_equal(lines.points[0][:-1], log().states[first:second][:, ::-1])
    np.testing.assert_array_equal(lines.points[0][-1], log().final_states[1][::-1])
    assert begin.x.tolist() == [log().states[first, 1], log().states[0, 1]]
    assert layer.legend[0].label == "2 episodes, from the disc on"


@dataclass
class Said:
    """An answer's fields, as pictures use them."""

    text: str = "Because."
    state: object = None
    foil_state: object = None
    foil_leaf: int | None = None
    changed: tuple[int, ...] = ()

    def __str__(self) -> str:
        return self.text


@dataclass
class Changed:
    before: object
    after: object
    turning: object

    def __str__(self) -> str:
        return "Changed."


def test_a_counterfactual_is_an_arrow_to_an_outlined_leaf():
    tree = road_tree()
    state, foil = np.array([1.0, 0.02]), np.array([1.0, -0.05])
    leaf = tree.apply(foil)
    layer = overlays.explanation(plane(), Said("Sentence.", state, foil, leaf, (1,)))
    assert kinds(layer) == [Rectangles, Rectangles, Arrows, Points, Points]
    _, box, arrow, there, here = layer.marks
    assert [box.x0[0], box.x1[0]] == [tree.leaves_["speed_min"][leaf], tree.leaves_["speed_max"][leaf]]
    assert (arrow.x[0], arrow.y[0]) == (0.02, 1.0)
    assert (arrow.x + arrow.dx)[0] == pytest.approx(-0.05)
    assert arrow.dy[0] == 0
    assert (there.x[0], here.x[0]) == (-0.05, 0.02)
    assert layer.note == "Sentence."


def test_a_counterfactual_that_moves_unseen_says_so():
    fitted = walk(3)
    state, foil = np.zeros(3), np.array([0.0, 0.0, 2.0])
    layer = overlays.explanation(read_view(fitted, "x0", "x1"), Said("S.", state, foil, 0, (2,)))
    assert Arrows not in kinds(layer)
    assert any(entry.label.endswith("(x2 must change too)") for entry in layer.legend)


def test_no_counterfactual_leaves_the_state():
    layer = overlays.explanation(plane(), Said("No state would.", np.array([1.0, 0.02])))
    assert kinds(layer) == [Points]
    assert layer.note == "No state would."


def test_a_change_has_both_states_and_the_box_from_the_turning_point():
    answer = Changed(np.array([1.0, 0.02]), np.array([1.2, 0.05]), np.array([1.1, 0.02]))
    layer = overlays.explanation(plane(), answer)
    box = next(mark for mark in layer.marks if isinstance(mark, Rectangles))
    assert [box.x0[0], box.x1[0], box.y0[0], box.y1[0]] == [0.02, 0.05, 1.1, 1.2]
    points = [(mark.x[0], mark.y[0]) for mark in layer.marks if isinstance(mark, Points)]
    assert points == [(0.02, 1.1), (0.05, 1.2), (0.02, 1.0)]
    same = overlays.explanation(plane(), Changed(answer.before, answer.after, None))
    assert Rectangles not in kinds(same)


def test_a_zone_of_features_is_a_box_and_any_other_its_leaves():
    view = plane()
    casing, box = overlays.zone(view, {"pos": (1, None)}).marks
    # White below the colour: so it is seen on any tile.
    assert (casing.edge, box.edge) == (PAPER, PLACES[0])
    assert casing.edge_width > box.edge_width
    assert [box.x0[0], box.x1[0]] == [view.boxes.low[1], view.boxes.high[1]]
    assert [box.y0[0], box.y1[0]] == [1, view.boxes.high[0]]
    layer = overlays.zone(view, {3, 5}, "two leaves")
    assert layer.marks[0].leaf.tolist() == [3, 5]
    assert layer.legend[0].label == "two leaves"
    valued = overlays.zone(view, {"value": (0, None)}, number=1)
    assert len(valued.marks[0].leaf) >= 1
    assert valued.legend[0].colour != layer.legend[0].colour
    _, band = overlays.zone(read_view(gears(), "x", "gear"), {"gear": (1, 3)}).marks
    assert [band.y0[0], band.y1[0]] == [0.5, 2.5]


def test_trajectories_are_as_opaque_as_they_are_probable():
    tree = road_tree()
    found = tree.simulate({"pos": (1, 2)}, {"pos": (0, 0.4)}, pairs=8, method="paper")
    assert len(found) > 2
    layer = overlays.trajectories(plane(), found)
    lines = layer.marks[0]
    ways = sorted(found, key=lambda way: way.probability)
    assert (np.diff(lines.opacity) >= 0).all()
    assert lines.opacity[-1] == 1
    np.testing.assert_array_equal(lines.points[-1], ways[-1].nodes[:, ::-1])
    ratio = ways[-2].probability / ways[-1].probability
    assert lines.opacity[-2] == pytest.approx(max(ratio, overlays.FAINTEST))
    assert layer.legend[0].label.startswith(f"{len(found)} trajectories from pos in [1, 2)")
    single = overlays.trajectories(plane(), found[0])
    assert single.legend[0].label == "1 trajectory"


def test_in_a_fan_ways_are_as_wide_as_many_episodes_went_there():
    found = road_tree().simulate({"pos": (1, 2)}, {"pos": (0, 0.4)}, pairs=8)
    assert len(found) > 2
    layer = overlays.trajectories(plane(), found)
    lines = layer.marks[0]
    ways = sorted(found, key=lambda way: way.share)
    np.testing.assert_array_equal(lines.points[-1], ways[-1].nodes[:, ::-1])
    root = np.sqrt([way.share / ways[-1].share for way in ways])
    assert lines.width == pytest.approx(overlays.THIN + (overlays.THICK - overlays.THIN) * root)
    assert lines.opacity == pytest.approx(np.maximum(root, 2 * overlays.FAINTEST))
    assert layer.note == "The wider, the more episodes went that way"
    assert layer.legend[0].label.startswith(f"{len(found)} trajectories from pos in [1, 2)")


def test_recorded_ways_that_stand_for_themselves_are_drawn_alike():
    found = road_tree().simulate([1.2, 0.03], {"pos": (0, 0.4)}, 3)
    layer = overlays.trajectories(plane(), found)
    assert layer.marks[0].opacity.tolist() == [1.0] * len(found)
    assert (layer.marks[0].width, layer.note) == (1.3, "")


def test_a_note_is_a_point_a_line_or_a_box():
    assert kinds(overlays.mark(plane(), "here", 0, 1)) == [Points, Labels]
    assert kinds(overlays.mark(plane(), "pad", (-0.05, 0.05), 0)) == [Lines, Labels]
    assert kinds(overlays.mark(plane(), "area", (-0.05, 0.05), (0, 1))) == [Rectangles, Labels]


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda view: overlays.samples(view, 3), "log must be a Log; got int"),
        (
            lambda view: overlays.samples(view, random_log()),
            "log has the features `x0`, `x1`; the tree has `pos`, `speed`",
        ),
        (lambda view: overlays.samples(view, log(), 0), "most must be a whole number"),
        (lambda view: overlays.episodes(view, log(), 999), "which must be a whole number from 0 to .*; got 999"),
        (lambda view: overlays.explanation(view, "why"), r"what explain\(state, foil\) or explain_change"),
        (lambda view: overlays.trajectories(view, 3), "trajectories must be what simulate"),
        (
            lambda view: overlays.trajectories(view, road_tree().paths(0, 0)),
            "paths, which have leaves but no states to draw",
        ),
        (lambda view: overlays.mark(view, "pad", (1, 0), 0), r"x must be a number or \(low, high\)"),
        (lambda view: overlays.zone(view, {"poss": 1}), "Did you mean `pos`"),
    ],
)
def test_what_cannot_be_drawn(draw, message):
    with pytest.raises(ParameterError, match=message):
        draw(plane())


def test_no_trajectories_and_one_feature():
    tree = road_tree()
    nothing = [leaf for leaf in range(tree.n_leaves_) if not tree.simulate(leaf, 0)]
    if nothing:
        with pytest.raises(ParameterError, match="There is no trajectory to draw"):
            overlays.trajectories(plane(), tree.simulate(nothing[0], 0))
    with pytest.raises(ParameterError, match="give y as well"):
        overlays.mark(read_view(tree, "pos"), "here", 0, 0)


@dataclass
class Way:
    probability: float
    nodes: object


def test_the_least_probable_trajectory_can_still_be_seen():
    nodes = np.array([[1.0, 0.0], [1.5, 0.05]])
    ways = [Way(p, nodes) for p in (0.4, 0.2, 0.052, 0.048, 0.0001)]
    (lines, _) = overlays.trajectories(plane(), ways).marks
    # Half as probable is half as opaque, but nothing is fainter than an eighth or so.
    assert lines.opacity.tolist() == pytest.approx([0.12, 0.12, 0.13, 0.5, 1.0])


def test_two_thousand_samples_are_shown_unless_asked_otherwise():
    many = road.record("left", n_samples=2_500)
    assert overlays.samples(plane(), many).legend[0].label == "2,000 of 2,500 samples"
    few = road.record("left", n_samples=1_999)
    assert overlays.samples(plane(), few).legend[0].label == "1,999 of 1,999 samples"
    rows = overlays.samples(plane(), many, most=3).marks[0]
    # The first, the one in the middle and the last.
    np.testing.assert_array_equal(rows.y, many.states[[0, 1249, 2499], 0])


def test_a_sample_at_the_upper_limit_is_not_shown():
    recorded = random_log(5, lengths=(60, 50, 40), features=3)
    low, high = sorted(recorded.states[[3, 40], 2].tolist())
    view = read_view(walk(3), "x0", "x1", where={"x2": (low, high)})
    (points,) = overlays.samples(view, recorded).marks
    shown = np.isin(recorded.states[:, 0], points.x)
    assert shown.tolist() == ((recorded.states[:, 2] >= low) & (recorded.states[:, 2] < high)).tolist()
    assert shown.sum() > 1


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(ParameterError, match=r"trajectories must be what simulate\(...\) returns; got list"):
        overlays.trajectories(plane(), [3])
    with pytest.raises(ParameterError, match="There is no trajectory to draw"):
        overlays.trajectories(plane(), [])
    with pytest.raises(ParameterError, match=r"leaves but no states to draw; simulate\(...\)"):
        overlays.trajectories(plane(), Way(1.0, None))
    with pytest.raises(ParameterError, match=r"An explanation is what explain\(state, foil\).* got int"):
        overlays.explanation(plane(), 3)
    with pytest.raises(ParameterError, match="Overlays need a map of two features: give y as well"):
        overlays.state(read_view(road_tree(), "pos"), [1.0, 0.0])
    with pytest.raises(ParameterError, match=r"y must be a number or \(low, high\); got \(1, 0\)"):
        overlays.mark(plane(), "here", 0, (1, 0))


def test_remarks_and_entries_are_said_once():
    scene = leaf_map(plane(), "value")
    first = overlays.Layer((), (Entry("pad", "#000000"),), "One.")
    second = overlays.Layer((), (Entry("pad", "#ffffff"), Entry("star", "#ffffff")), "Two")
    both = overlays.add(scene, first, second, first)
    assert [entry.label for entry in both.legend] == ["pad", "star"]
    assert both.note == "One. Two"


def zigzag(episodes, steps):
    """A log that goes to and fro across the road in every step."""
    rows = episodes * steps
    states = np.column_stack([np.arange(rows) % 2 * 3.0, np.linspace(-0.1, 0.1, rows)])
    starts = np.arange(0, rows + 1, steps)
    log = make_log(states, np.zeros(rows, int), np.zeros(rows), starts, labels=("a",), names=("pos", "speed"))
    return replace(log, episode_ids=np.array([f"run {k}" for k in range(episodes)]))


def test_the_longer_the_lines_the_thinner_and_paler_they_are():
    short, long = (overlays.episodes(plane(), zigzag(1, steps)).marks[0] for steps in (4, 500))
    assert (short.width, short.opacity.tolist()) == (1.1, [1.0])
    assert long.width < 0.5
    assert long.opacity.tolist() == [0.3]


def test_of_many_episodes_some_are_drawn_and_the_legend_says_so():
    layer = overlays.episodes(plane(), zigzag(100, 3), range(100))
    assert len(layer.marks[0].points) == len(layer.marks[1].x) == 30
    assert layer.legend[0].label == "30 of 100 episodes, from the disc on"
    some = overlays.episodes(plane(), zigzag(100, 3), range(100), most=7)
    assert some.legend[0].label == "7 of 100 episodes, from the disc on"
    assert overlays.episodes(plane(), zigzag(100, 3), range(30)).legend[0].label == "30 episodes, from the disc on"
    assert overlays.episodes(plane(), zigzag(9, 3), 8).legend[0].label == "episode run 8, from the disc on"
    with pytest.raises(ParameterError, match="most must be a whole number of at least 1; got 0"):
        overlays.episodes(plane(), zigzag(9, 3), most=0)
