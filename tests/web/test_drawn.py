"""The browser draws what scenes computed: the same leaves in the same places and colours, ticks, legends and bars."""

from __future__ import annotations

import itertools
import re
import warnings
from functools import cache

import numpy as np
import pytest

from tests.logs import make_log, random_log
from tests.scenes.models import gears, road_tree, walk
from tripletree import TripleTree, TripleTreeWarning
from tripletree.frontend import assets
from tripletree.frontend.payload import packed, payload
from tripletree.scenes.colouring import colour_scale, read_colour
from tripletree.scenes.guides import bar_axis, category_entries, marked, shade_of, shades, share
from tripletree.scenes.leaf_map import leaf_map
from tripletree.scenes.support import EXPECTED, patch
from tripletree.scenes.types import Rectangles
from tripletree.scenes.view import read_view

DRAWN = """
() => {
  const all = (of, read) => [...document.querySelectorAll(of)].map(read);
  const number = (element, name) => Number(element.getAttribute(name));
  return {
    tiles: all(".tt-tiles rect", (tile) => [
      number(tile, "data-leaf"), ...["x", "y", "width", "height"].map((name) => number(tile, name)),
      getComputedStyle(tile).fill,
    ]),
    marks: all(".tt-axes line", (line) => ["x1", "x2", "y1", "y2"].map((name) => number(line, name))),
    texts: all(".tt-axes text:not(.tt-name)", (text) => text.textContent),
    names: all(".tt-axes .tt-name", (text) => text.textContent),
    legend: all(".tt-legend li", (item) => [item.textContent, getComputedStyle(item.firstChild).backgroundColor]),
    bar: all(".tt-bar", (bar) => bar.style.background.match(/rgb\\([^)]*\\)/g)),
    label: all(".tt-legend p", (text) => text.textContent),
    ticks: all(".tt-ticks span", (tick) => [parseFloat(tick.style.left) / 100, tick.textContent]),
  };
}
"""


def grown(log, leaves):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TripleTreeWarning)
        return TripleTree(leaves).fit(log).fitted_


@cache
def saturated():
    """Sensors that stop at a value: a leaf begins where the log ends."""
    rng = np.random.default_rng(0)
    states = np.clip(rng.normal(size=(2_000, 2)), -1, 0.75)
    actions = (states == 0.75) @ [1, 2]
    return grown(make_log(states, actions, states[:, 0], labels=("none", "first", "second", "both")), 6)


@cache
def with_outliers():
    """A few values a thousand times as far away as all others."""
    log = random_log(3, lengths=(200, 200), features=3, labels=4)
    states = log.states.copy()
    states[::50, 0] *= 1e3
    states[::70, 1] *= -1e3
    return grown(make_log(states, log.actions, log.rewards, labels=tuple("abcd")), 30)


@cache
def twelve_labels():
    rng = np.random.default_rng(1)
    states = rng.uniform(size=(600, 3))
    actions = (states[:, 0] ** 2 * 12).astype(int)
    return grown(make_log(states, actions, states[:, 1], labels=tuple(f"action {k}" for k in range(12))), 40)


@cache
def counts():
    """Flags, numbers with few values, with many, and below zero."""
    rng = np.random.default_rng(2)
    states = np.column_stack([rng.integers(0, 2, 400), rng.integers(-3, 4, 400), rng.integers(0, 60, 400)])
    actions = (states[:, 0] > 0) + 2 * (states[:, 1] > 0)
    names, kinds = ("on", "gear", "crates"), ("binary", "integer", "integer")
    return grown(make_log(states, actions, states[:, 2], labels=tuple("abcd"), names=names, kinds=kinds), 20)


@cache
def constants():
    """A feature, a reward, hence a value, and an action that never change."""
    rng = np.random.default_rng(3)
    states = np.column_stack([rng.uniform(size=120), np.full(120, 7.0)])
    return grown(make_log(states, np.full((120, 1), 0.25), np.zeros(120), names=("pos", "mass")), 8)


@cache
def tiny_and_huge():
    rng = np.random.default_rng(4)
    states = rng.uniform(1, 9, (200, 2)) * [1e-9, 1e7] + [0, 1.7e9]
    return grown(make_log(states, rng.integers(0, 2, 200), states[:, 1] * 1e5, labels=("a", "b")), 12)


TREES = {
    "road": lambda: road_tree().fitted_,
    "leaves at the end of the range": saturated,
    "outliers": with_outliers,
    "twelve labels": twelve_labels,
    "binary and integer features": gears,
    "many whole numbers": counts,
    "one feature": lambda: walk(features=1, leaves=9),
    "constant feature, action and value": constants,
    "continuous actions on a diverging scale": lambda: walk(features=4, leaves=25, dimensions=2),
    "tiny and huge numbers": tiny_and_huge,
    "one leaf": lambda: walk(features=2, leaves=1),
}


def rgb(colour):
    return "rgb({}, {}, {})".format(*(int(colour[k : k + 2], 16) for k in (1, 3, 5)))


@pytest.fixture
def explorer(page):
    def show(tree):
        page.set_content(
            f'<style>{assets.read("explorer.css")}</style><script type="application/json" id="tree">{packed(tree)}'
            f'</script><div data-tree="tree"></div><script type="module">{assets.script()}</script>'
        )
        page.wait_for_selector(".tt-answers p")
        return page

    return show


def choose(page, label, value):
    page.locator(".tt-controls label", has_text=re.compile(f"^{label}")).locator("select").select_option(value)


def frame(tiles):
    """Left, right, top and bottom of the map: tiles cover all of it."""
    x, y, width, height = np.array([tile[1:5] for tile in tiles]).T
    return x.min(), (x + width).max(), y.min(), (y + height).max()


def whole_scale(fitted, colour):
    """The scale of all leaves, which stays the same on every slice."""
    pictured = read_colour(fitted, read_view(fitted, fitted.schema.feature_names[0]).boxes, colour)
    return colour_scale(pictured, pictured.mean.argmax(axis=1) if pictured.labels else pictured.mean[:, 0])


def assert_tiles(drawn, leaf, sides, fills):
    """Compare rectangles on paper with (x0, x1, y0, y1) of each leaf, shares of the axes."""
    left, right, top, bottom = frame(drawn["tiles"])
    found = {tile[0]: tile for tile in drawn["tiles"]}
    assert sorted(found) == sorted(leaf.tolist())
    assert len(found) == len(drawn["tiles"])
    for number, (x0, x1, y0, y1), fill in zip(leaf.tolist(), sides.T.tolist(), fills, strict=True):
        _, x, y, width, height, colour = found[number]
        place = [(x - left) / (right - left), (x + width - left) / (right - left)]
        place += [(bottom - y - height) / (bottom - top), (bottom - y) / (bottom - top)]
        assert place == pytest.approx([x0, x1, y0, y1], abs=1e-6)
        assert colour == rgb(fill)


def assert_ticks(drawn, x, y):
    left, right, top, bottom = frame(drawn["tiles"])
    axes = [marked(x)] if y is None else [marked(x), marked(y)]
    assert drawn["names"] == [axis.label for axis in axes]
    assert drawn["texts"] == [text for axis in axes for text in axis.tick_labels]
    down = [mark for mark in drawn["marks"] if mark[0] == mark[1]]
    assert [(mark[0] - left) / (right - left) for mark in down] == pytest.approx(share(x, np.array(axes[0].ticks)))
    if y is not None:
        aside = [mark for mark in drawn["marks"] if mark[2] == mark[3]]
        assert [(bottom - mark[2]) / (bottom - top) for mark in aside] == pytest.approx(
            share(y, np.array(axes[1].ticks))
        )


def assert_legend(drawn, scale):
    assert drawn["legend"] == [[entry.label, rgb(entry.colour)] for entry in category_entries(scale)]
    if scale.kind == "categories":
        assert drawn["bar"] == drawn["ticks"] == []
        return
    axis = bar_axis(scale)
    assert drawn["label"] == [axis.label]
    assert drawn["bar"] == [[rgb(shade) for shade in shades(scale)]]
    assert [text for _, text in drawn["ticks"]] == list(axis.tick_labels)
    places = share(axis, np.array(axis.ticks))
    assert [place for place, _ in drawn["ticks"]] == pytest.approx(places.tolist(), abs=1e-4)


def expected(fitted, pair, state, colour):
    """Leaves, their sides (x0, x1, y0, y1) as shares of the axes, values, and axes, as scenes has them."""
    view = read_view(fitted, *pair, at=state)
    if pair[1] is None:
        # Along one feature scenes draws curves; the browser colours the line on which the state moves.
        leaf, boxes, x = view.leaves, view.boxes, view.axis(0)
        mean = read_colour(fitted, boxes, colour).mean[leaf]
        ends = share(x, boxes.lower[leaf, 0]), share(x, boxes.upper[leaf, 0])
        sides = np.stack([*ends, np.zeros(len(leaf)), np.ones(len(leaf))])
        return leaf, sides, mean.argmax(axis=1) if mean.shape[1] > 1 else mean[:, 0], x, None
    scene = leaf_map(view, colour)
    tiles = next(mark for mark in scene.marks if isinstance(mark, Rectangles))
    along = [share(scene.x, tiles.x0), share(scene.x, tiles.x1), share(scene.y, tiles.y0), share(scene.y, tiles.y1)]
    return tiles.leaf, np.stack(along), tiles.value, scene.x, scene.y


def assert_drawn(page, fitted, pair, state, colour):
    choose(page, "Colour", colour)
    for label, name in zip(("Across", "Up"), pair, strict=True):
        if name is not None:
            choose(page, label, str(fitted.schema.feature_names.index(name)))
    leaf, sides, values, x, y = expected(fitted, pair, state, colour)
    scale = whole_scale(fitted, colour)
    drawn = page.evaluate(DRAWN)
    assert_tiles(drawn, leaf, sides, [shades(scale)[code] for code in shade_of(scale, values)])
    assert_ticks(drawn, x, y)
    assert_legend(drawn, scale)


@pytest.mark.parametrize("name", TREES)
def test_tiles_ticks_and_legends_are_those_of_scenes(explorer, name):
    fitted = TREES[name]()
    tree = payload(fitted)
    page = explorer(tree)
    names, colours = fitted.schema.feature_names, list(tree["colours"])
    pairs = list(itertools.permutations(names, 2)) or [(names[0], None)]
    for pair in pairs:
        assert_drawn(page, fitted, pair, tree["start"], colours[0])
    for colour in colours[1:]:
        assert_drawn(page, fitted, pairs[0], tree["start"], colour)


def test_on_two_features_the_scales_are_those_of_scenes():
    """Nothing is fixed, so that scales have the same ends as well."""
    for fitted in (saturated(), constants(), tiny_and_huge()):
        tree = payload(fitted)
        for colour in tree["colours"]:
            scene = leaf_map(read_view(fitted, *fitted.schema.feature_names), colour)
            assert whole_scale(fitted, colour).to_dict() == scene.colours.to_dict()


def test_a_narrow_page_has_the_same_picture(explorer, page):
    fitted = saturated()
    tree = payload(fitted)
    page.set_viewport_size({"width": 390, "height": 800})
    shown = explorer(tree)
    assert_drawn(shown, fitted, ("x0", "x1"), tree["start"], "value")
    before = shown.locator(".tt-board svg").get_attribute("viewBox")
    page.set_viewport_size({"width": 900, "height": 800})
    shown.wait_for_function(
        "(old) => document.querySelector('.tt-board svg').getAttribute('viewBox') !== old", arg=before
    )
    assert_drawn(shown, fitted, ("x1", "x0"), tree["start"], "value")


def test_a_slice_through_another_state_has_other_leaves(explorer):
    fitted = twelve_labels()
    page = explorer(payload(fitted))
    choose(page, "Across", "1")
    choose(page, "Up", "2")
    seen = []
    for value in (0.1, 0.5, 0.99, 5.0):
        page.locator(".tt-state input").first.fill(str(value))
        page.keyboard.press("Tab")
        leaves = sorted(tile[0] for tile in page.evaluate(DRAWN)["tiles"])
        view = read_view(fitted, "x1", "x2", at=[value, 0, 0])
        assert leaves == view.leaves.tolist()
        seen.append(tuple(leaves))
    assert len(set(seen)) > 2


def test_every_sample_lies_in_a_leaf_that_is_drawn(explorer):
    fitted = saturated()
    drawn = explorer(payload(fitted)).evaluate(DRAWN)
    assert fitted.leaves.count[[tile[0] for tile in drawn["tiles"]]].sum() == 2_000


def test_a_leaf_at_the_end_of_the_range_answers_for_the_log(explorer):
    """Its rectangle goes on beyond the log, a click there must not."""
    fitted = saturated()
    page = explorer(payload(fitted))
    last = int(fitted.tree.apply(np.array([[0.75, 0.75]]))[0])
    box = page.locator(f".tt-tiles rect[data-leaf='{last}']").bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    assert [field.input_value() for field in page.locator(".tt-state input").all()] == ["0.75", "0.75"]
    assert "Careful" not in page.locator(".tt-answers").inner_text()


def test_five_labels_without_a_colour_are_one_entry(explorer):
    legend = explorer(payload(twelve_labels())).evaluate(DRAWN)["legend"]
    assert len(legend) == 8
    assert len({colour for _, colour in legend}) == 8
    assert sum(text == "5 others" for text, _ in legend) == 1


def test_the_table_says_which_values_a_leaf_has(explorer):
    page = explorer(payload(counts()))
    page.locator(".tt-twin summary").click()
    choose(page, "Across", "0")
    choose(page, "Up", "1")
    page.wait_for_selector(".tt-twin tbody tr")
    rows = page.locator(".tt-twin tbody tr").all()
    assert len(rows) == page.locator(".tt-tiles rect").count()
    for row in rows:
        leaf = int(row.locator("th").inner_text())
        for f, cell in enumerate(row.locator("td").all_inner_texts()[:2]):
            low, high = (
                np.ceil(bound[f, leaf]) for bound in (counts().entry_points.lower, counts().entry_points.upper)
            )
            low, high = max(low, counts().feature_min[f]), min(high - 1, counts().feature_max[f])
            assert cell == (f"{low:g}" if low == high else f"{low:g} to {high:g}")


FAINT = """
() => [...document.querySelectorAll(".tt-tiles rect")].filter((tile) => tile.classList.contains("tt-faint"))
  .map((tile) => Number(tile.dataset.leaf)).sort((a, b) => a - b)
"""


@pytest.mark.parametrize(
    "name", ["road", "outliers", "many whole numbers", "one feature", "binary and integer features"]
)
def test_leaves_that_the_log_hardly_supports_are_faded(explorer, name):
    fitted = TREES[name]()
    page = explorer(payload(fitted))
    names = fitted.schema.feature_names
    shown = page.locator(".tt-controls select").nth(0).input_value(), page.locator(".tt-controls select").nth(1)
    axes = [int(shown[0])] + ([int(shown[1].input_value())] if len(names) > 1 else [])
    view = read_view(fitted, *(names[f] for f in axes))
    drawn = {tile[0] for tile in page.evaluate(DRAWN)["tiles"]}
    expected = fitted.leaves.count.astype(float)
    for f in axes:
        expected *= patch(view, f) / (view.boxes.upper[:, f] - view.boxes.lower[:, f])
    faint = [leaf for leaf in sorted(drawn) if expected[leaf] < 1 - 1e-6]
    choose(page, "Colour", "value")
    assert page.evaluate(FAINT) == faint
    assert page.locator(".tt-faded").inner_text() == (f"{EXPECTED}." if faint else "")
    choose(page, "Colour", "density")
    assert page.evaluate(FAINT) == []
