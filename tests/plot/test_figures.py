"""The pictures: what each of them shows."""

from __future__ import annotations

import matplotlib
import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.collections import PolyCollection

from tests.logs import make_log
from tests.plot.look import artist, inside
from tests.scenes.models import gears, road_tree, walk
from tripletree import ParameterError, TripleTree, plot
from tripletree.answers.weights import Weights
from tripletree.demos import road
from tripletree.errors import NotFittedError
from tripletree.questions.compare_weights import simplex
from tripletree.scenes.colouring import known_colours
from tripletree.scenes.guides import bar_axis, category_entries, marked


def test_a_leaf_map_has_a_tile_for_every_leaf():
    picture = plot.leaf_map(road_tree(), "pos", "speed", colour="value")
    tiles = artist(picture, PolyCollection)
    assert len(tiles.get_paths()) == 40
    np.testing.assert_array_equal(tiles.get_array(), picture.scene_.marks[0].value)
    assert picture.figure_ is picture.ax_.figure
    assert picture.ax_.get_xlabel() == "pos"
    assert picture.ax_.get_title(loc="left") == "Mean value by pos and speed"
    assert len(picture.figure_.axes) == 2
    assert picture.figure_.axes[1].get_ylabel() == "mean value (discounted rewards)"
    assert repr(picture) == "<LeafMap: Mean value by pos and speed>"


def test_a_fitted_tree_does_as_well_as_a_triple_tree():
    picture = plot.leaf_map(road_tree().fitted_, "pos", "speed")
    assert [text.get_text() for text in picture.ax_.get_legend().get_texts()] == ["acc = -0.001", "acc = 0.001"]


@pytest.mark.parametrize("dimensions", [0, 2])
def test_every_colour_can_be_drawn(dimensions):
    fitted = walk(3, dimensions=dimensions)
    for colour in known_colours(fitted):
        if colour == "action" and dimensions:
            continue
        plot.leaf_map(fitted, "x0", "x1", colour=colour, at=fitted.feature_min)
        if colour != "leaf":
            plot.leaf_map(fitted, "x0", "x1", colour=colour, where={"x2": (0, None)}, arrows=3)
            plot.leaf_map(fitted, "x0", colour=colour)
        pyplot.close("all")


def test_bad_models():
    with pytest.raises(NotFittedError, match="has not been fitted"):
        plot.leaf_map(TripleTree(), "pos", "speed")
    with pytest.raises(ParameterError, match="model must be a fitted TripleTree"):
        plot.leaf_map(3, "pos", "speed")


def test_overlays_are_drawn_once_and_named():
    tree = road_tree()
    log = road.record("left", n_samples=2_000)
    picture = plot.leaf_map(tree, "pos", "speed", colour="value")
    before = len(picture.ax_.collections)
    chained = (
        picture.samples(log, most=50)
        .episodes(log, 0)
        .state([1.0, 0.0])
        .zone({"pos": (1, 2)}, "start")
        .trajectories(tree.simulate({"pos": (1, 2)}, {"pos": (0, 0.4)}), "way")
        .mark("wall", 0, (-0.1, 0.1))
        .zoom((0, 2), (-0.1, 0.05))
    )
    assert chained is picture
    assert len(picture.ax_.collections) == before + 1 + 2 + 1 + 2 + 2 + 1
    named = [text.get_text() for text in picture.ax_.get_legend().get_texts()]
    assert named == ["50 of 2,000 samples", "episode 0, from the disc on", "state", "start", "way"]
    assert picture.ax_.get_xlim() == (0, 2)
    assert picture.scene_.y.high == 0.05
    colours = {entry.label: entry.colour for entry in picture.scene_.legend}
    assert colours["start"] != colours["way"]


def test_an_explanations_sentence_stands_above_the_picture():
    class Said:
        state, foil_state, foil_leaf, changed = np.array([1.0, 0.0]), np.array([1.0, 0.05]), 3, (1,)

        def __str__(self) -> str:
            return "Action would be -0.001 if speed >= 0.05."

    picture = plot.leaf_map(road_tree(), "pos", "speed").explanation(Said()).state([1.0, 0.0])
    texts = [text.get_text().replace("\n", " ") for text in picture.ax_.texts]
    assert texts == ["40 leaves. Action would be -0.001 if speed >= 0.05"]


@pytest.mark.parametrize("draw", [plot.importance, plot.tree, plot.transitions])
@pytest.mark.parametrize("model", [road_tree().fitted_, walk(6, dimensions=2), gears()])
def test_diagrams_are_drawn_with_all_text_inside(draw, model):
    before = dict(matplotlib.rcParams)
    inside(draw(model).figure_)
    assert dict(matplotlib.rcParams) == before


def test_a_box_has_room_for_its_text():
    picture = plot.tree(road_tree(), 3)
    picture.figure_.canvas.draw()
    rectangles = picture.ax_.collections[1].get_paths()
    places = [picture.ax_.transData.transform_path(path).get_extents() for path in rectangles]
    texts = [text for text in picture.ax_.texts if text.get_fontsize() < 6.4]
    assert len(texts) == 4 * len(places)
    for text in texts:
        box = text.get_window_extent()
        assert any(p.x0 <= box.x0 and box.x1 <= p.x1 and p.y0 <= box.y0 and box.y1 <= p.y1 for p in places), text


@pytest.mark.parametrize("features", [1, 2, 4])
def test_an_overview_has_a_picture_for_every_attribute(features, tmp_path):
    sheet = plot.overview(walk(features))
    assert [len(row) for row in sheet.axes_] == [2, 2]
    path = tmp_path / "overview.png"
    assert sheet.save(path, dpi=60) is sheet
    assert path.stat().st_size > 5_000
    assert repr(sheet).startswith("<SheetPicture: The agent at a glance")


def test_the_words_of_an_overview_lie_within_the_figure():
    inside(plot.overview(road_tree()).figure_)


def test_curves_are_drawn_in_three_pictures_with_one_legend(tmp_path):
    picture = plot.curves({"small": road_tree(10), "large": road_tree()})
    assert len(picture.axes_[0]) == 3
    assert [text.get_text() for text in picture.figure_.legends[0].get_texts()] == ["small", "large"]
    assert repr(picture) == "<SheetPicture: Losses by size of the tree>"
    inside(picture.figure_)
    path = tmp_path / "curves.pdf"
    assert picture.save(path) is picture
    assert path.read_bytes()[:4] == b"%PDF"


def test_a_simplex_has_one_colour_bar_for_all_sizes():
    rng = np.random.default_rng(1)
    answer = Weights(simplex(5), np.array([10, 20, 300, 4000]), rng.uniform(0.2, 0.5, (4, 21, 3)), False)
    picture = plot.simplex(answer)
    assert len(picture.axes_[0]) == 4
    assert len(picture.figure_.axes) == 5
    assert picture.figure_.axes[-1].get_ylabel() == "worst loss (one leaf: 1)"
    inside(picture.figure_)


@pytest.mark.parametrize("model", [road_tree(), walk(24), gears()])
@pytest.mark.parametrize("start", [None, "leaf 0", "state"])
def test_a_fan_is_drawn_with_all_text_inside(model, start):
    fitted = getattr(model, "fitted_", model)
    place = fitted.track.recording.states[3] if start == "state" else start
    picture = plot.after(model, 12, place)
    inside(picture.figure_)
    assert len(picture.axes_) == len(picture.sheet_.rows)
    assert picture.axes_[-1][0].get_xlabel() == "steps later"
    assert all(axes[0].get_ylabel() for axes in picture.axes_)
    assert len(picture.axes_) <= 9


def test_a_map_shows_where_it_is_later():
    picture = plot.leaf_map(road_tree(), "pos", "speed", colour="value")
    assert picture.after(10, [1.2, 0.0]).after(10, "pos > 2") is picture
    # Each call has its own colour.
    lines = {entry.colour for entry in picture.scene_.legend if entry.symbol == "line"}
    assert len(lines) == 2
    inside(picture.figure_)


def test_an_episode_is_drawn_row_by_row():
    log = road.record("left", n_samples=2_000)
    picture = plot.episode(road_tree(), log, 1)
    assert len(picture.axes_) == len(picture.sheet_.rows)
    inside(picture.figure_)
    *_, values, words = [axes[0] for axes in picture.axes_]
    assert values.get_xlabel() == "step"
    assert not words.axison
    assert not picture.axes_[1][0].spines["bottom"].get_visible()


def shown_ticks(axis):
    """Places and texts of the ticks between the limits."""
    low, high = axis.get_view_interval()
    both = zip(axis.get_majorticklocs(), (text.get_text() for text in axis.get_ticklabels()), strict=True)
    return [(place, text) for place, text in both if low <= place <= high]


@pytest.mark.parametrize("colour", ["value", "density", "action"])
def test_ticks_and_legends_are_those_of_scenes(colour):
    picture = plot.leaf_map(gears(), "x", "gear", colour=colour, at=[0.5, 0, 0])
    picture.figure_.canvas.draw()
    scene, ax = picture.scene_, picture.ax_
    for axis, along in ((scene.x, ax.xaxis), (scene.y, ax.yaxis)):
        wanted = marked(axis, 6)
        both = zip(wanted.ticks, wanted.tick_labels, strict=True)
        assert shown_ticks(along) == [tick for tick in both if axis.low <= tick[0] <= axis.high]
    if colour == "action":
        assert [text.get_text() for text in ax.get_legend().get_texts()] == [
            entry.label for entry in category_entries(scene.colours)
        ]
    else:
        bar = picture.figure_.axes[1].yaxis
        assert [text for _, text in shown_ticks(bar)] == list(bar_axis(scene.colours).tick_labels)


def test_ticks_follow_the_limits():
    picture = plot.leaf_map(road_tree(), "pos", "speed")
    picture.ax_.set_xlim(0.1, 0.2)
    picture.figure_.canvas.draw()
    assert [text for _, text in shown_ticks(picture.ax_.xaxis)] == ["0.10", "0.12", "0.14", "0.16", "0.18", "0.20"]
    assert picture.ax_.xaxis.get_major_formatter()(0.25) == "0.25"
    picture.zoom((1.0, 3.0))
    picture.figure_.canvas.draw()
    assert [text for _, text in shown_ticks(picture.ax_.xaxis)] == ["1.0", "1.5", "2.0", "2.5", "3.0"]


def test_zooming_on_whole_numbers_leaves_other_numbers_out():
    picture = plot.leaf_map(gears(), "gear", "x", at=[0.5, 0, 0]).zoom((0.5, 2.5))
    picture.figure_.canvas.draw()
    assert picture.ax_.get_xlim() == (0.5, 2.5)
    assert [text for _, text in shown_ticks(picture.ax_.xaxis)] == ["1", "2"]


def test_a_log_axis_has_no_other_numbers():
    picture = plot.leaf_map(gears(), "x", colour="density")
    picture.figure_.canvas.draw()
    axis = picture.ax_.yaxis
    assert [text for _, text in shown_ticks(axis)] == list(marked(picture.scene_.y).tick_labels)
    assert not any(text.get_text() for text in axis.get_ticklabels(minor=True))


@pytest.mark.parametrize("labels", [None, ("rest", "push")])
def test_a_cycle_is_drawn_with_all_text_inside(labels):
    step = np.arange(1200) % 300
    wave = np.exp(2j * np.pi * step / 25)
    push = np.where(wave.imag > 0, 1, 0) if labels else wave.imag
    log = make_log(
        np.stack([wave.real, wave.imag], axis=1), push, 0 * step, range(0, 1201, 300), labels=labels, names=("x", "y")
    )
    picture = plot.rhythm(log)
    inside(picture.figure_)
    assert len(picture.axes_) == 5
    assert picture.axes_[-2][0].get_xlabel() == "steps of a cycle"
