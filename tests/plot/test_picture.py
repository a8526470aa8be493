"""What a drawing function returns: on new or given axes, saved to a file, shown in a notebook."""

from __future__ import annotations

import re

import pytest
from matplotlib import pyplot
from matplotlib.collections import QuadMesh

from tests.plot.look import artist
from tests.scenes.models import gears, road_tree, walk
from tripletree import plot
from tripletree.plot import picture as module


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
    assert picture._repr_png_().startswith(b"\x89PNG")


@pytest.mark.parametrize("kind", ["pdf", "svg", "png"])
def test_a_picture_is_saved(tmp_path, kind):
    path = tmp_path / f"map.{kind}"
    picture = plot.leaf_map(gears(), "gear", "on", colour="action")
    assert picture.save(path) is picture
    data = path.read_bytes()
    assert data[:4] == {"pdf": b"%PDF", "svg": b"<?xm", "png": b"\x89PNG"}[kind]
    if kind == "svg":
        assert b"Most frequent action by gear and on" in data


def test_pyplot_knows_nothing_of_a_picture():
    for draw in (plot.importance, plot.tree, plot.transitions, plot.overview):
        draw(road_tree())
    assert pyplot.get_fignums() == []


def test_a_notebook_shows_every_picture_in_two_forms():
    picture = plot.leaf_map(gears(), "gear", "on")
    data = picture._repr_png_()
    assert data.startswith(b"\x89PNG")
    inches = picture.figure_.get_size_inches()
    assert int.from_bytes(data[16:20], "big") == round(130 * inches[0])
    drawn = picture._repr_svg_()
    width, height = 130 * inches
    assert re.search(
        rf'<svg [^>]*width="{width:.0f}" height="{height:.0f}" style="max-width:100%;[^>]* viewBox="0 0 ', drawn
    )
    assert "dc:date" not in drawn
    assert "<text" not in drawn
    assert picture.state([0.5, 1, 1], "here")._repr_png_() != data


def test_a_picture_drawn_again_is_the_same():
    one, other = (plot.leaf_map(gears(), "gear", "on")._repr_svg_() for _ in range(2))
    assert one == other


def test_a_drawing_of_very_many_marks_is_shown_as_pixels(monkeypatch):
    picture = plot.leaf_map(gears(), "gear", "on")
    monkeypatch.setattr(module, "LARGEST_SVG", 1_000)
    assert picture._repr_svg_() is None
    assert picture._repr_png_() is not None


def test_what_pyplot_shows_at_the_end_of_a_cell_is_not_shown_twice():
    figure, ax = pyplot.subplots()
    picture = plot.leaf_map(gears(), "gear", "on", ax=ax)
    assert picture._repr_png_() is not None
    with pyplot.ion():
        assert picture._repr_png_() is None
        assert picture._repr_svg_() is None
        pyplot.close(figure)
        assert picture._repr_png_() is not None
