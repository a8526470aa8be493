"""Every mark as SVG: where it lies, what colour it has, and what is said about it."""

from __future__ import annotations

import base64
import re
import xml.etree.ElementTree as ET
import zlib

import numpy as np
import pytest

from tripletree.report.marks import Scale, picture
from tripletree.report.svg import Drawer
from tripletree.scenes.colours import INK, PAPER, VIRIDIS
from tripletree.scenes.guides import bar_axis, marked
from tripletree.scenes.types import (
    Arrows,
    Axis,
    Band,
    ColourScale,
    Entry,
    Labels,
    Lines,
    Links,
    Mesh,
    Points,
    Rectangles,
    Scene,
    Sheet,
    Surface,
    Veil,
)

SCALE = ColourScale("height (m)", VIRIDIS, 0.0, 10.0)
KINDS = ColourScale("action", ("#ff0000", "#00ff00"), 0, 1, "categories", ("left", "right"))
ONE, TWO = np.array([1.0]), np.array([2.0])


def drawn(*marks, colours=None, x=None, y=None, **words):
    scene = Scene("A title", x or Axis("across", 0.0, 4.0), y or Axis("up", 0.0, 2.0), marks, colours=colours, **words)
    text = str(Drawer().svg(scene, 400, 300))
    return ET.fromstring(text), text


def shapes(root):
    """What is drawn, without axes."""
    return [element for element in root.find("g[@clip-path]").iter() if element.tag != "g"]


def frame(root):
    """Left, top, right and bottom of the room for marks."""
    x, y, w, h = (float(root.find("clipPath/rect").get(name)) for name in ("x", "y", "width", "height"))
    return x, y, x + w, y + h


def numbers(element):
    return [float(n) for n in re.findall(r"-?\d+\.?\d*", element.get("d"))]


def test_rectangles_lie_where_their_sides_are_and_share_a_path_by_colour():
    sides = np.array([0.0, 1.0, 2.0]), np.array([1.0, 2.0, 4.0])
    root, _ = drawn(
        Rectangles(*sides, np.zeros(3), np.full(3, 2.0), value=np.array([0.0, 1.0, 0.0]), edge=PAPER), colours=KINDS
    )
    left, top, right, bottom = frame(root)
    red, green = shapes(root)
    assert (red.get("fill"), green.get("fill")) == ("#ff0000", "#00ff00")
    assert red.get("d").count("M") == 2
    x, y, width, height, back = numbers(green)
    quarter = (right - left) / 4
    assert (x, y) == pytest.approx((left + quarter, top), abs=0.11)
    assert (width, height, back) == pytest.approx((quarter, bottom - top, -quarter), abs=0.11)


def test_outlines_have_no_fill_and_may_be_dashed():
    root, _ = drawn(Rectangles(ONE, TWO, ONE - 1, ONE, edge="#123456", dashed=True))
    (outline,) = shapes(root)
    assert (outline.get("fill"), outline.get("stroke")) == ("none", "#123456")
    assert outline.get("stroke-dasharray")


def test_a_mesh_is_a_picture_with_the_colour_of_every_cell():
    address = picture(KINDS, np.array([0.0, 2.0, 6.0]), np.array([4.0, 0.0]), np.array([[0.0, 1.0]]), 7, 4)
    data = base64.b64decode(address.removeprefix("data:image/png;base64,"))
    assert data.startswith(b"\x89PNG")
    body = data[data.index(b"IDAT") + 4 : data.index(b"IEND") - 8]
    rows = np.frombuffer(zlib.decompress(body), np.uint8).reshape(4, 8)
    # A filter byte, two pixels of the first cell, four of the second, one outside, which is transparent.
    assert (rows == [0, 0, 0, 1, 1, 1, 1, 2]).all()
    root, _ = drawn(Mesh(np.array([0.0, 4.0]), np.array([0.0, 2.0]), np.array([[3.0]])), colours=SCALE)
    (image,) = shapes(root)
    assert image.get("href").startswith("data:image/png;base64,")


def test_cells_of_a_mesh_are_the_right_way_up():
    y = np.array([6.0, 2.0, 0.0])  # paper grows downwards: the first row of values is the lowest
    address = picture(KINDS, np.array([0.0, 1.0]), y, np.array([[0.0], [1.0]]), 1, 6)
    data = base64.b64decode(address.removeprefix("data:image/png;base64,"))
    rows = np.frombuffer(zlib.decompress(data[data.index(b"IDAT") + 4 : data.index(b"IEND") - 8]), np.uint8)
    assert rows.reshape(6, 2)[:, 1].tolist() == [1, 1, 0, 0, 0, 0]


def test_arrows_point_to_where_they_lead():
    root, _ = drawn(Arrows(ONE, ONE, TWO, ONE * 0, centred=False, colour="#00f"))
    left, _, right, _ = frame(root)
    shaft, head = shapes(root)
    assert numbers(shaft)[0] == pytest.approx(left + (right - left) / 4, abs=0.11)
    assert max(numbers(head)[::2]) == pytest.approx(left + (right - left) * 3 / 4, abs=0.11)
    assert head.get("fill") == shaft.get("stroke") == "#00f"


def test_arrows_too_short_to_see_are_left_out():
    root, _ = drawn(Arrows(ONE, ONE, ONE * 1e-6, ONE * 0))
    assert shapes(root) == []


def test_lines_go_through_their_points_once():
    way = np.array([[0.0, 0.0], [0.0, 0.0], [4.0, 2.0]])
    root, _ = drawn(Lines((way, way), width=np.array([1.0, 2.0]), opacity=np.array([0.5, 1.0]), dashed=True))
    left, top, right, bottom = frame(root)
    thin, thick = shapes(root)
    assert numbers(thin) == pytest.approx([left, bottom, right, top], abs=0.11)
    assert float(thick.get("stroke-width")) == 2 * float(thin.get("stroke-width"))
    assert (thin.get("opacity"), thick.get("opacity")) == ("0.5", None)


def test_a_line_has_a_gap_where_a_value_is_unknown():
    gap = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, np.nan], [3.0, 1.0], [4.0, 0.0]])
    root, text = drawn(Lines((gap,)))
    (path,) = shapes(root)
    assert "nan" not in text
    assert [run.count("L") for run in path.get("d").split("M")[1:]] == [1, 1]


def test_a_band_lies_between_its_lines():
    x = np.array([0.0, 4.0])
    root, _ = drawn(Band(x, np.zeros(2), np.full(2, 1.0), "#abcdef"))
    left, top, right, bottom = frame(root)
    middle = (top + bottom) / 2
    (band,) = shapes(root)
    assert numbers(band) == pytest.approx([left, bottom, right, bottom, right, middle, left, middle], abs=0.11)
    # Ink follows the page, as it does in the legend.
    root, _ = drawn(Band(x, np.zeros(2), np.full(2, 1.0), INK))
    assert shapes(root)[0].get("fill") == "currentColor"


@pytest.mark.parametrize("symbol", ["disc", "star", "square", "diamond", "cross"])
def test_points_of_every_symbol_are_centred(symbol):
    root, _ = drawn(Points(TWO, ONE, 8.0, "#f0f", symbol=symbol))
    left, top, right, bottom = frame(root)
    (shape,) = shapes(root)
    points = numbers(shape)
    if symbol == "disc":
        points = points[:2]
    middle = np.array(points).reshape(-1, 2)
    assert (middle.min(axis=0) + middle.max(axis=0)) / 2 == pytest.approx(
        [(left + right) / 2, (top + bottom) / 2], abs=1.2
    )


def test_points_have_the_colours_of_their_values_and_sizes_of_their_own():
    root, _ = drawn(
        Points(np.array([1.0, 2.0]), np.ones(2), np.array([4.0, 8.0]), value=np.array([0.0, 1.0])), colours=KINDS
    )
    small, large = shapes(root)
    assert (small.get("fill"), large.get("fill")) == ("#ff0000", "#00ff00")
    assert float(large.get("r")) == pytest.approx(2 * float(small.get("r")), abs=0.1)


def test_labels_are_text_and_never_markup():
    root, text = drawn(Labels(ONE, ONE, ("<b>&",), framed=True, align="left"))
    (label,) = shapes(root)
    assert label.text == "<b>&"
    assert "<b>" not in text


def test_links_leave_a_gap_at_both_ends_and_short_ones_are_left_out():
    gap = np.array([5.0])
    link = Links(ONE, ONE, ONE + 2, ONE, np.array([1.0]), np.array([0.7]), gap, gap)
    root, _ = drawn(link)
    left, _, right, _ = frame(root)
    curve, head = shapes(root)
    assert numbers(curve)[0] > left + (right - left) / 4 + 4
    assert max(numbers(head)[::2]) < left + (right - left) * 3 / 4 - 4
    root, _ = drawn(Links(ONE, ONE, ONE + 0.01, ONE, np.array([1.0]), np.array([0.7]), gap, gap))
    assert shapes(root) == []


def test_a_surface_is_made_of_triangles_in_the_colour_of_their_corners():
    corners = np.array([0.0, 4.0, 0.0]), np.array([0.0, 0.0, 2.0])
    root, _ = drawn(Surface(*corners, np.array([[0, 1, 2]]), np.full(3, 10.0)), colours=SCALE)
    (triangle,) = shapes(root)
    assert triangle.get("fill") == VIRIDIS[-1]


def test_ink_follows_the_page_but_not_on_coloured_tiles():
    line = Lines((np.array([[0.0, 0.0], [4.0, 2.0]]),), INK)
    tiles = Rectangles(ONE, TWO, ONE - 1, ONE, value=ONE)
    _, on_paper = drawn(line)
    _, on_tiles = drawn(tiles, line, colours=SCALE)
    assert 'stroke="currentColor"' in on_paper
    assert f'stroke="{INK}"' in on_tiles


def test_a_picture_says_what_it_shows():
    root, _ = drawn(colours=SCALE)
    title, words = root.find("title"), root.find("desc")
    assert root.get("role") == "img"
    assert root.get("aria-labelledby") == f"{title.get('id')} {words.get('id')}"
    assert title.text == "A title"
    assert (
        words.text
        == "Horizontal axis: across, from 0 to 4. Vertical axis: up, from 0 to 2. Colour: height (m), from 0 to 10."
    )


def test_an_axis_without_a_label_is_not_described():
    root, _ = drawn(y=Axis("", -0.5, 1.5, ticks=(0.0, 1.0), tick_labels=("pos", "speed")))
    assert root.find("desc").text == "Horizontal axis: across, from 0 to 4."


def test_names_within_pictures_differ_on_one_page():
    drawer = Drawer()
    scene = Scene("T", Axis("x", 0, 1), Axis("y", 0, 1), (), colours=SCALE)
    ids = re.findall(r' id="([^"]+)"', str(drawer.svg(scene)) + str(drawer.svg(scene)))
    assert len(ids) == len(set(ids)) > 4


def test_a_figure_has_a_legend_of_categories_and_entries():
    scene = Scene("T", Axis("x", 0, 1), Axis("y", 0, 1), (), "sub", KINDS, (Entry("the end", INK, "square"),), "note")
    text = str(Drawer().figure(scene))
    assert re.findall(r"</svg>([^<]+)</li>", text) == ["action = left", "action = right", "the end"]
    assert "<figcaption><strong>T.</strong> sub. note.</figcaption>" in text


def test_hatching_and_arrows_have_symbols_of_their_own():
    symbols = ("hatching", "arrow", "line", "disc")
    drawn = [str(Drawer().legend([Entry("what it is", INK, symbol)])) for symbol in symbols]
    assert len(set(drawn)) == 4
    # Three strokes across the swatch, all at the same angle.
    strokes = re.findall(r"M(\d+) (\d+)L(\d+) (\d+)", drawn[0])
    assert len(strokes) == 3
    assert all(int(x1) - int(x0) == int(y0) - int(y1) > 0 for x0, y0, x1, y1 in strokes)


def test_lines_with_gaps_are_one_path():
    points = np.array([[0.0, 0], [1, 1], [np.nan, np.nan], [2, 0], [3, 1], [np.nan, np.nan]])
    root, text = drawn(Lines((points,)))
    (path,) = shapes(root)
    assert path.get("d").count("M") == 2
    assert "nan" not in text


def test_a_stack_has_one_common_axis_and_leaves_words_out():
    rows = [
        Scene("", Axis("", 0, 9, shown=False), Axis("a long label", 0, 1, upright=True), ()),
        Scene("", Axis("step", 0, 9), Axis("b", 0, 10_000, upright=True), ()),
        Scene("", Axis("", 0, 1, shown=False), Axis("", 0, 1, shown=False), ()),
    ]
    text = str(Drawer().stack(Sheet("S", tuple((row,) for row in rows), "sub", heights=(1.0, 2.0, 1.0))))
    frames = re.findall(r'<clipPath[^>]*><rect x="([\d.]+)"', text)
    assert len(frames) == 2
    assert frames[0] == frames[1]


def test_ticks_and_labels_are_those_of_scenes():
    x, y = Axis("across", 0.0, 3e7), Axis("up", 1.0, 1e6, log=True)
    root, _ = drawn(colours=SCALE, x=x, y=y)
    axes, bar = root.findall("g[@class='axes']")
    expected = [text for axis in map(marked, (x, y)) for text in (*axis.tick_labels, axis.label)]
    assert [text.text for text in axes.findall("text")] == expected
    assert [text.text for text in bar.findall("text")] == [*bar_axis(SCALE).tick_labels, SCALE.label]
    left, _, right, _ = frame(root)
    places = [float(text.get("x")) for text in axes.findall("text")[: len(marked(x).ticks)]]
    assert places == pytest.approx([left + tick / 3e7 * (right - left) for tick in marked(x).ticks], abs=0.11)


def test_what_is_said_of_a_picture_has_no_power_of_ten_twice():
    root, _ = drawn(x=Axis("across", 0.0, 3e7))
    assert root.find("desc").text.startswith("Horizontal axis: across, from 0 to 30000000.")


def test_a_log_scale_puts_the_middle_of_powers_in_the_middle():
    scale = Scale(Axis("n", 1, 10_000, log=True), 0, 100)
    assert scale([1, 100, 10_000]) == pytest.approx([0, 50, 100])


def pixels(root, length):
    """How much of the x axis, which goes from 0 to 4, is so many pixels long."""
    left, _, right, _ = frame(root)
    return length * 4 / (right - left)


@pytest.mark.parametrize(("length", "shown"), [(0.6, False), (0.8, True), (3.0, True)])
def test_arrows_shorter_than_a_pixel_or_so_are_left_out(length, shown):
    move = pixels(drawn()[0], length)
    root, _ = drawn(Arrows(ONE, ONE, ONE * move, ONE * 0))
    assert bool(shapes(root)) == shown


@pytest.mark.parametrize(("beyond", "shown"), [(1.5, False), (2.5, True)])
def test_links_need_two_pixels_between_their_gaps(beyond, shown):
    # Gaps of 5 points at both ends are 13.5 pixels on a screen.
    move = pixels(drawn()[0], 13.5 + beyond)
    gap = np.array([5.0])
    root, _ = drawn(Links(ONE, ONE, ONE + move, ONE, np.array([1.0]), np.array([0.7]), gap, gap))
    assert bool(shapes(root)) == shown


def test_a_point_of_paper_is_a_third_more_on_a_screen():
    way = np.array([[0.0, 0.0], [4.0, 2.0]])
    (line,) = shapes(drawn(Lines((way,), width=np.array([2.0])))[0])
    (outline,) = shapes(drawn(Rectangles(ONE, TWO, ONE - 1, ONE, edge="#123456", edge_width=2.0))[0])
    assert float(line.get("stroke-width")) == float(outline.get("stroke-width")) == 2.7
    (disc,) = shapes(drawn(Points(TWO, ONE, 4.0, edge=INK))[0])
    assert float(disc.get("r")) == pytest.approx(2.7)


@pytest.mark.parametrize(("opacity", "shown"), [(0.12, "0.12"), (0.999, "1.0"), (1.0, None)])
def test_faint_lines_stay_faint(opacity, shown):
    way = np.array([[0.0, 0.0], [4.0, 2.0]])
    (line,) = shapes(drawn(Lines((way,), opacity=np.array([opacity])))[0])
    assert line.get("opacity") == shown


def test_what_lies_far_outside_stays_near_the_paper():
    scale = Scale(Axis("x", 0.0, 1.0), 100.0, 200.0)
    assert scale([-1e9, -1.0, 0.5, 2.0, 1e9]).tolist() == [-100, 0, 150, 300, 400]


def test_units_of_equal_axes_are_equally_long():
    root, _ = drawn(x=Axis("x", 0.0, 4.0), y=Axis("y", 0.0, 1.0), equal=True)
    left, top, right, bottom = frame(root)
    assert (right - left) / 4 == pytest.approx(bottom - top, abs=0.11)


def test_a_veil_is_one_shape_of_paper_with_runs_of_cells_together():
    hidden = np.array([[True, True, False, True], [True, True, False, False]])
    root, _ = drawn(Veil(np.arange(5.0), np.arange(3.0), hidden))
    (veil,) = shapes(root)
    assert veil.get("fill") == "var(--paper)"
    left, top, right, bottom = frame(root)
    wide, high = (right - left) / 4, (bottom - top) / 2
    boxes = [numbers_of(part) for part in re.findall(r"M[^M]*", veil.get("d"))]
    # Two cells of both rows are one box; what is left of the first row is another.
    expected = [[left + 3 * wide, bottom - high, right, bottom], [left, top, left + 2 * wide, bottom]]
    np.testing.assert_allclose(sorted(boxes), sorted(expected), atol=0.11)


def numbers_of(box):
    """Left, top, right and bottom of a box in a path."""
    left, top, right, bottom, _ = (float(n) for n in re.findall(r"-?\d+\.?\d*", box))
    return [left, top, right, bottom]


@pytest.mark.parametrize("letters", [10, 120, 2_000])
def test_names_of_any_length_leave_room_for_the_marks(letters):
    name = "w" * letters
    ticks = Axis("", 0.0, 2.0, ticks=(0.5, 1.5), tick_labels=(name, f"{name}\n{name}"))
    bars = Rectangles(np.zeros(2), np.array([1.0, 4.0]), np.array([0.2, 1.2]), np.array([0.8, 1.8]), fill="#0072b2")
    root, _ = drawn(bars, x=Axis(name, 0.0, 4.0), y=ticks)
    left, _, right, _ = frame(root)
    assert right - left > 0.55 * 400
    texts = ["".join(text.itertext()) for text in root.iter("text")]
    assert all(len(text) <= 60 for text in texts)
    upright = Axis(name, 0.0, 2.0, ticks=(1.0,), tick_labels=(name,), upright=True)
    left, _, right, _ = frame(drawn(bars, y=upright)[0])
    assert right - left > 0.3 * 400


def test_a_tick_in_two_lines_is_written_in_two_lines():
    root, _ = drawn(y=Axis("", 0.0, 2.0, ticks=(1.0,), tick_labels=("one\ntwo",)))
    one, two = (text for text in root.iter("text") if text.text in ("one", "two"))
    assert float(two.get("y")) - float(one.get("y")) == pytest.approx(13)
