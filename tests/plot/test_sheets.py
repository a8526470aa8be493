from __future__ import annotations

import numpy as np
import pytest
from matplotlib import pyplot

from tests.scenes.models import road_tree, walk
from tripletree import plot
from tripletree.answers.weights import Weights
from tripletree.demos import road
from tripletree.questions.compare_weights import simplex


def inside(figure) -> None:
    """Every text lies within the figure, and none of a title crosses another."""
    figure.canvas.draw()
    whole = figure.bbox
    texts = [figure._suptitle, *figure.texts, *figure.artists]
    for ax in figure.axes:
        texts += [ax.title, ax._left_title, ax.xaxis.label, ax.yaxis.label, *ax.texts]
        texts += [] if ax.get_legend() is None else ax.get_legend().get_texts()
    texts += [text for legend in figure.legends for text in legend.get_texts()]
    for text in filter(None, texts):
        if not text.get_visible() or not getattr(text, "get_text", lambda: "x")():
            continue
        box = text.get_window_extent()
        assert box.x0 >= whole.x0 - 1, text
        assert box.x1 <= whole.x1 + 1, text
        assert box.y0 >= whole.y0 - 1, text
        assert box.y1 <= whole.y1 + 1, text


def test_curves_are_drawn_in_three_pictures_with_one_legend(tmp_path):
    picture = plot.curves({"small": road_tree(10), "large": road_tree()})
    assert len(picture.axes_[0]) == 3
    assert [text.get_text() for text in picture.figure_.legends[0].get_texts()] == ["small", "large"]
    assert repr(picture) == "<SheetPicture: Losses by size of the tree>"
    inside(picture.figure_)
    path = tmp_path / "curves.pdf"
    assert picture.save(path) is picture
    assert path.read_bytes()[:4] == b"%PDF"


@pytest.mark.parametrize("sub", [False, True])
def test_a_sheet_is_drawn_on_a_given_figure(sub):
    figure = pyplot.figure(layout="constrained")
    place = figure.subfigures(2, 1)[1] if sub else figure
    picture = plot.curves(walk(2), figure=place)
    assert picture.figure_ is place
    assert len(place.axes) == 3


def test_a_simplex_has_one_colour_bar_for_all_sizes():
    rng = np.random.default_rng(1)
    answer = Weights(simplex(5), np.array([10, 20, 300, 4000]), rng.uniform(0.2, 0.5, (4, 21, 3)), False)
    picture = plot.simplex(answer)
    assert len(picture.axes_[0]) == 4
    assert len(picture.figure_.axes) == 5
    assert picture.figure_.axes[-1].get_ylabel() == "worst loss (one leaf: 1)"
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


def test_a_long_legend_has_several_rows():
    names = {f"a tree with a rather long name {k}": road_tree(10) for k in range(7)}
    inside(plot.curves(names).figure_)
