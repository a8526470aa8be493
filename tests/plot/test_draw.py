"""Marks, axes and colour bars in matplotlib's terms."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.patches import FancyArrowPatch
from matplotlib.quiver import Quiver

from tests.logs import make_log
from tests.plot.look import artist
from tests.scenes.models import road_tree
from tests.test_api import quietly_fitted
from tripletree import TripleTree, plot
from tripletree.plot.draw import Drawing
from tripletree.scenes.types import Axis, ColourScale, Links, Mesh, Scene, Veil


def test_arrows_point_where_the_leaf_goes():
    picture = plot.leaf_map(road_tree(), "pos", "speed", colour=None, arrows=True)
    quiver = artist(picture, Quiver)
    scene = picture.scene_.marks[-1]
    np.testing.assert_allclose(quiver.U, scene.dx * scene.stretch)
    np.testing.assert_allclose(quiver.V, scene.dy * scene.stretch)
    assert quiver.angles == "xy"


def test_every_arrow_is_drawn():
    picture = plot.transitions(road_tree(), "pos", "speed", most=30, share=1)
    (links,) = [mark for mark in picture.scene_.marks if isinstance(mark, Links)]
    arrows = [patch for patch in picture.ax_.patches if isinstance(patch, FancyArrowPatch)]
    assert len(arrows) == len(links.x0) == 30
    assert [arrow.get_linewidth() for arrow in arrows] == pytest.approx(links.width)


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


def test_a_mark_that_is_there_is_not_drawn_again():
    picture = plot.leaf_map(road_tree(), "pos", "speed", colour="value")
    scene, (_, ax) = picture.scene_, pyplot.subplots()
    drawing = Drawing(ax)
    drawing.show(scene, bar=False)
    drawing.show(scene, bar=False)
    assert len(ax.collections) == len(picture.ax_.collections)
    assert len(ax.figure.axes) == 1


def test_faint_links_are_pale_so_that_no_head_shows_its_shaft():
    place = np.zeros(2), np.zeros(2), np.ones(2), np.ones(2)
    links = Links(*place, width=np.array([1.0, 3.0]), opacity=np.array([1.0, 0.5]), gap0=np.zeros(2), gap1=np.zeros(2))
    _, ax = pyplot.subplots()
    Drawing(ax).show(Scene("", Axis("x", 0, 1), Axis("y", 0, 1), (links,)))
    full, faint = (np.array(patch.get_edgecolor()) for patch in ax.patches)
    assert full[3] == faint[3] == 1
    np.testing.assert_allclose(1 - faint[:3], (1 - full[:3]) / 2)


@pytest.mark.parametrize(("cells", "pixels"), [(20_000, False), (20_001, True)])
def test_grids_of_more_than_twenty_thousand_cells_are_pixels_in_vector_files(cells, pixels):
    mesh = Mesh(np.arange(cells + 1.0), np.arange(2.0), np.zeros((1, cells)))
    scale = ColourScale("height", ("#000000", "#ffffff"), 0.0, 1.0)
    _, ax = pyplot.subplots()
    Drawing(ax).show(Scene("", Axis("x", 0, cells), Axis("y", 0, 1), (mesh,), colours=scale), bar=False)
    (drawn,) = ax.collections
    assert bool(drawn.get_rasterized()) == pixels


@pytest.mark.parametrize(("width", "ticks"), [(2.7, 4), (2.9, 6), (6.0, 6)])
def test_a_narrow_picture_has_fewer_ticks_across(width, ticks):
    """From 0 to 12 in steps of 2 there are six intervals; in steps of 2.5 and more, at most four have room."""
    figure, ax = pyplot.subplots(figsize=(width, 3.0))
    Drawing(ax).show(Scene("", Axis("x", 0.0, 12.0), Axis("y", 0.0, 12.0), ()))
    figure.canvas.draw()
    across, up = (len(axis.get_majorticklocs()) - 1 for axis in (ax.xaxis, ax.yaxis))
    assert up == 6
    assert across <= ticks
    assert (across == 6) == (ticks == 6)


def test_a_veil_covers_the_cells_that_are_hidden():
    _, ax = pyplot.subplots()
    hidden = np.array([[True, False], [False, False]])
    Drawing(ax).show(Scene("", Axis("x", 0, 2), Axis("y", 0, 2), (Veil(np.arange(3.0), np.arange(3.0), hidden),)))
    (mesh,) = ax.collections
    assert np.ma.getmaskarray(mesh.get_array()).ravel().tolist() == [False, True, True, True]
    assert mesh.get_alpha() == 0.78


def test_scripts_that_the_font_lacks_are_no_warnings(tmp_path):
    states = np.random.default_rng(0).uniform(size=(40, 2))
    log = make_log(states, [0, 1] * 20, np.zeros(40), labels=("漢字", "🚀"), names=("\u0915\u094d\u0937", "b"))
    tree = quietly_fitted(log, max_leaves=5)
    plot.leaf_map(tree, "\u0915\u094d\u0937", "b").save(tmp_path / "map.png", dpi=50)
    assert (tmp_path / "map.png").stat().st_size > 1_000
