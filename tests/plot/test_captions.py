"""Titles, subtitles and legends: all of it is legible, whatever the names."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from matplotlib import pyplot

from tests.logs import make_log
from tests.plot.look import inside
from tests.scenes.models import road_tree, walk
from tripletree import TripleTree, plot
from tripletree.plot.captions import columns_that_fit, handle, legend
from tripletree.scenes.colours import INK
from tripletree.scenes.mixing import MIXED
from tripletree.scenes.types import ColourScale, Entry


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


@pytest.mark.parametrize("draw", [plot.importance, plot.tree, plot.transitions])
def test_long_names_stay_inside(draw):
    inside(draw(wordy()).figure_)


def test_a_single_box_has_room_for_its_words():
    inside(plot.tree(wordy().truncate(1)).figure_)


def test_a_long_legend_has_several_rows():
    names = {f"a tree with a rather long name {k}": road_tree(10) for k in range(7)}
    inside(plot.curves(names).figure_)


def wordy():
    rng = np.random.default_rng(0)
    states = np.cumsum(rng.normal(size=(200, 3)), axis=0)
    log = make_log(
        states,
        np.floor(states[:, 0]).astype(int) % 4,
        rng.normal(size=200),
        labels=("accelerate gently to the left", "brake_$hard$", "do nothing at all, whatever happens", "x^2"),
        names=("distance to the vehicle that drives ahead", "rel$_speed$", "a_b"),
    )
    return TripleTree(30).fit(log)


@pytest.mark.parametrize(
    ("lengths", "room", "columns"),
    [
        ([4, 4, 4], 27, 3),
        ([4, 4, 4], 26, 2),
        ([20, 4, 4, 4], 34, 2),  # filled column by column: the long one makes the first column wide
        ([50, 50], 30, 1),
        ([7], 3, 1),
    ],
)
def test_a_legend_has_as_many_columns_as_fit(lengths, room, columns):
    assert columns_that_fit(lengths, room) == columns


def test_many_equal_colours_are_one_entry():
    scale = ColourScale("gear", ("#111111", "#222222", "#222222"), 0, 2, "categories", ("low", "high", "reverse"))
    scene = replace(plot.leaf_map(road_tree(), "pos", "speed").scene_, colours=scale, marks=())
    _, ax = pyplot.subplots()
    legend(scene, ax)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["gear = low", "2 others"]


def test_hatching_and_arrows_have_symbols_of_their_own():
    hatching, arrow = handle(MIXED), handle(Entry("mean move in 5 steps, to scale", INK, "arrow"))
    assert set(hatching.get_hatch()) == {"/"}
    assert hatching.get_facecolor()[3] == 0
    assert (arrow.get_marker(), arrow.get_linestyle()) == (r"$\rightarrow$", "None")
