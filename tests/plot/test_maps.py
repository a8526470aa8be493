from __future__ import annotations

import subprocess
import sys

import matplotlib
import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.collections import PolyCollection, QuadMesh
from matplotlib.quiver import Quiver

from tests.logs import make_log
from tests.scenes.models import gears, road_tree, walk
from tripletree import MissingDependencyError, ParameterError, TripleTree, plot
from tripletree.demos import road
from tripletree.errors import NotFittedError
from tripletree.scenes.guides import bar_axis, category_entries, marked
from tripletree.scenes.pictured import known_colours


def artist(picture, kind):
    (found,) = [part for part in picture.ax_.get_children() if type(part) is kind]
    return found


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


def test_it_draws_on_given_axes():
    figure, axes = pyplot.subplots(1, 2)
    picture = plot.leaf_map(walk(4), "x0", "x1", colour="density", ax=axes[1])
    assert picture.ax_ is axes[1]
    assert picture.figure_ is figure
    assert artist(picture, QuadMesh).get_array().size > 25
    assert not axes[0].get_title(loc="left")


def test_arrows_point_where_the_leaf_goes():
    picture = plot.leaf_map(road_tree(), "pos", "speed", colour=None, arrows=True)
    quiver = artist(picture, Quiver)
    scene = picture.scene_.marks[-1]
    np.testing.assert_allclose(quiver.U, scene.dx * scene.stretch)
    np.testing.assert_allclose(quiver.V, scene.dy * scene.stretch)
    assert quiver.angles == "xy"


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


def test_the_style_stays_inside():
    before = dict(matplotlib.rcParams)
    plot.leaf_map(gears(), "x", "gear", colour="value")
    assert dict(matplotlib.rcParams) == before


@pytest.mark.parametrize("kind", ["pdf", "svg", "png"])
def test_a_picture_is_saved(tmp_path, kind):
    path = tmp_path / f"map.{kind}"
    picture = plot.leaf_map(gears(), "gear", "on", colour="action")
    assert picture.save(path) is picture
    data = path.read_bytes()
    assert data[:4] == {"pdf": b"%PDF", "svg": b"<?xm", "png": b"\x89PNG"}[kind]
    if kind == "svg":
        assert b"Most frequent action by gear and on" in data


def test_every_text_lies_within_the_figure():
    fitted = walk(8, 40)
    picture = plot.leaf_map(fitted, "x0", "x1", colour="action", at=fitted.feature_min, arrows=True)
    picture.figure_.canvas.draw()
    whole = picture.figure_.bbox
    ax = picture.ax_
    for text in (ax.title, ax._left_title, ax.xaxis.label, ax.yaxis.label, *ax.texts, *ax.get_legend().get_texts()):
        box = text.get_window_extent()
        assert box.width == 0 or (box.x0 >= whole.x0 - 1 and box.x1 <= whole.x1 + 1)
        assert box.height == 0 or (box.y0 >= whole.y0 - 1 and box.y1 <= whole.y1 + 1)


def test_importing_it_leaves_matplotlib_alone():
    code = "import sys, tripletree.plot; print('matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_without_matplotlib_one_line_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(
        MissingDependencyError, match=r'Pictures need matplotlib. Type: pip install "tripletree\[plot\]"'
    ):
        plot.leaf_map(gears(), "gear")


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
    assert len(picture.ax_.collections) == before + 1 + 2 + 1 + 1 + 2 + 1
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


@pytest.mark.filterwarnings("ignore::tripletree.TripleTreeWarning")
def test_names_are_shown_as_they_are():
    log = make_log(
        np.random.default_rng(0).normal(size=(40, 2)),
        [0, 1] * 20,
        [1] * 40,
        labels=("_a$b$", "$x^"),
        names=("$a_b$", "_c$"),
    )
    picture = plot.leaf_map(TripleTree(5).fit(log), "$a_b$", "_c$").mark("$1 and $2", 0, 0).state([0, 0], "_mine")
    picture.figure_.canvas.draw()
    assert picture.ax_.get_xlabel() == r"\$a_b\$"
    assert len(picture.ax_.get_legend().get_texts()) == 3


@pytest.mark.filterwarnings("ignore::tripletree.TripleTreeWarning")
def test_tiny_and_huge_numbers_have_their_power_in_the_label():
    states = np.random.default_rng(0).uniform(1, 9, (40, 2)) * [1e-9, 1e7]
    log = make_log(states, [0, 1] * 20, np.linspace(1e12, 2e12, 40), np.arange(41), labels=("a", "b"))
    picture = plot.leaf_map(TripleTree(5).fit(log), "x0", "x1", colour="value")
    picture.figure_.canvas.draw()
    ax, bar = picture.figure_.axes
    assert ax.get_xlabel() == "x0, in 1e-9"
    assert ax.get_ylabel() == "x1, in 1e7"
    assert bar.get_ylabel() == "mean value (discounted rewards), in 1e12"
    shown = {text.get_text() for text in ax.get_xticklabels()}
    assert {"4", "6"} <= shown
    assert not any(part.get_offset_text().get_text() for part in (ax.xaxis, ax.yaxis, bar.yaxis))


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
