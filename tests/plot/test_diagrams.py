from __future__ import annotations

import matplotlib
import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.patches import FancyArrowPatch

from tests.logs import make_log
from tests.plot.test_sheets import inside
from tests.scenes.models import gears, road_tree, walk
from tripletree import TripleTree, plot
from tripletree.scenes.types import Links


@pytest.mark.parametrize("draw", [plot.importance, plot.tree, plot.transitions])
@pytest.mark.parametrize("model", [road_tree().fitted_, walk(6, dimensions=2), gears()])
def test_diagrams_are_drawn_with_all_text_inside(draw, model):
    before = dict(matplotlib.rcParams)
    inside(draw(model).figure_)
    assert dict(matplotlib.rcParams) == before


def test_every_arrow_is_drawn():
    picture = plot.transitions(road_tree(), "pos", "speed", most=30, share=1)
    (links,) = [mark for mark in picture.scene_.marks if isinstance(mark, Links)]
    arrows = [patch for patch in picture.ax_.patches if isinstance(patch, FancyArrowPatch)]
    assert len(arrows) == len(links.x0) == 30
    assert [arrow.get_linewidth() for arrow in arrows] == pytest.approx(links.width)


@pytest.mark.parametrize("draw", [plot.importance, plot.tree, plot.transitions])
def test_given_axes_are_used(draw):
    _, axes = pyplot.subplots(1, 2)
    assert draw(road_tree(), ax=axes[1]).ax_ is axes[1]


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


@pytest.mark.parametrize("draw", [plot.importance, plot.tree, plot.transitions])
def test_long_names_stay_inside(draw):
    inside(draw(wordy()).figure_)


def test_a_single_box_has_room_for_its_words():
    inside(plot.tree(wordy().truncate(1)).figure_)


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
