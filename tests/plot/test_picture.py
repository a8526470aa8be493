"""What a drawing function returns: on new or given axes, saved to a file."""

from __future__ import annotations

import pytest
from matplotlib import pyplot
from matplotlib.collections import QuadMesh

from tests.plot.look import artist
from tests.scenes.models import gears, road_tree, walk
from tripletree import plot


def test_it_draws_on_given_axes():
    figure, axes = pyplot.subplots(1, 2)
    picture = plot.leaf_map(walk(4), "x0", "x1", colour="density", ax=axes[1])
    assert picture.ax_ is axes[1]
    assert picture.figure_ is figure
    assert artist(picture, QuadMesh).get_array().size > 25
    assert not axes[0].get_title(loc="left")


@pytest.mark.parametrize("draw", [plot.importance, plot.tree, plot.transitions])
def test_given_axes_are_used(draw):
    _, axes = pyplot.subplots(1, 2)
    assert draw(road_tree(), ax=axes[1]).ax_ is axes[1]


@pytest.mark.parametrize("sub", [False, True])
def test_a_sheet_is_drawn_on_a_given_figure(sub):
    figure = pyplot.figure(layout="constrained")
    place = figure.subfigures(2, 1)[1] if sub else figure
    picture = plot.curves(walk(2), figure=place)
    assert picture.figure_ is place
    assert len(place.axes) == 3


@pytest.mark.parametrize("kind", ["pdf", "svg", "png"])
def test_a_picture_is_saved(tmp_path, kind):
    path = tmp_path / f"map.{kind}"
    picture = plot.leaf_map(gears(), "gear", "on", colour="action")
    assert picture.save(path) is picture
    data = path.read_bytes()
    assert data[:4] == {"pdf": b"%PDF", "svg": b"<?xm", "png": b"\x89PNG"}[kind]
    if kind == "svg":
        assert b"Most frequent action by gear and on" in data
