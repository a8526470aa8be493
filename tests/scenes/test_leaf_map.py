from __future__ import annotations

import itertools
import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.logs import logs, make_log
from tests.scenes.models import _fit, gears, road_tree, walk
from tripletree import ParameterError
from tripletree.leaves.project import project
from tripletree.questions.predict import predict
from tripletree.scenes.colouring import known_colours
from tripletree.scenes.leaf_map import _leaf_rectangles, _moved, _numbers, _stretch, leaf_map
from tripletree.scenes.types import Arrows, Band, Labels, Lines, Mesh, Rectangles
from tripletree.scenes.view import View, read_view


def mark(scene, kind):
    (found,) = [part for part in scene.marks if isinstance(part, kind)]
    return found


def test_leaf_rectangles_tile_the_plane():
    tree = road_tree()
    tiles = mark(leaf_map(read_view(tree, "pos", "speed"), "value"), Rectangles)
    boxes = read_view(tree, "pos", "speed").boxes
    whole = np.prod(boxes.high - boxes.low)
    areas = (tiles.x1 - tiles.x0) * (tiles.y1 - tiles.y0)
    assert len(areas) == tree.n_leaves_
    assert areas.min() > 0
    assert areas.sum() == pytest.approx(whole)
    wide = np.minimum(tiles.x1[:, None], tiles.x1) - np.maximum(tiles.x0[:, None], tiles.x0)
    tall = np.minimum(tiles.y1[:, None], tiles.y1) - np.maximum(tiles.y0[:, None], tiles.y0)
    overlap = np.maximum(wide, 0) * np.maximum(tall, 0)
    np.fill_diagonal(overlap, 0)
    assert overlap.max() == 0


def test_a_slice_tiles_the_plane_too():
    fitted = walk()
    state = (fitted.feature_min + fitted.feature_max) / 2
    view = read_view(fitted, "x1", "x3", at=state)
    tiles = mark(leaf_map(view, "value"), Rectangles)
    areas = (tiles.x1 - tiles.x0) * (tiles.y1 - tiles.y0)
    assert areas.sum() == pytest.approx(np.prod((view.boxes.high - view.boxes.low)[[1, 3]]))
    assert 1 < len(areas) < fitted.tree.n_leaves


def test_a_grid_covers_the_range():
    view = read_view(walk(), "x0", "x2")
    grid = mark(leaf_map(view, "value"), Mesh)
    assert grid.value.shape == (len(grid.y) - 1, len(grid.x) - 1)
    assert (np.diff(grid.x) > 0).all()
    assert (np.diff(grid.y) > 0).all()
    assert [grid.x[0], grid.x[-1]] == [view.boxes.low[0], view.boxes.high[0]]
    assert [grid.y[0], grid.y[-1]] == [view.boxes.low[2], view.boxes.high[2]]


@pytest.mark.parametrize("dimensions", [0, 1])
@pytest.mark.parametrize("where", ["direct", "at", "where"])
@pytest.mark.parametrize("leaf_model", ["linear", "mean"])
def test_what_a_slice_shows_is_what_its_leaves_predict_on_average(dimensions, where, leaf_model):
    features = 2 if where == "direct" else 4
    fitted = walk(features, dimensions=dimensions, leaf_model=leaf_model)
    state = fitted.feature_min + 0.45 * (fitted.feature_max - fitted.feature_min)
    options = {
        "direct": {},
        "at": {"at": state},
        "where": {"where": {f"x{f}": state[f] for f in range(2, features)}},
    }[where]
    view = read_view(fitted, "x0", "x1", **options)
    grid = np.stack(np.meshgrid(*(np.linspace(view.boxes.low[f], view.boxes.high[f], 83)[1:-1] for f in (0, 1))), -1)
    states = np.tile(state, (grid.shape[0] * grid.shape[1], 1))
    states[:, :2] = grid.reshape(-1, 2)
    # Within a leaf, a linear model says more than one number; a tile has the colour of their mean.
    said = predict(walk(features, dimensions=dimensions, leaf_model="mean"), states, 1)
    for colour in ("action", "value", "leaf", "count"):
        scene = leaf_map(view, colour)
        tiles = mark(scene, Rectangles)
        inside = (
            (tiles.x0 <= states[:, :1])
            & (states[:, :1] < tiles.x1)
            & (tiles.y0 <= states[:, 1:2])
            & (states[:, 1:2] < tiles.y1)
        )
        assert (inside.sum(axis=1) == 1).all()
        shown = tiles.value[inside.argmax(axis=1)]
        if colour == "action" and not dimensions:
            assert np.array(scene.colours.categories)[shown.astype(int)].tolist() == said.action.tolist()
        else:
            expected = {"action": said.action, "value": said.value, "leaf": said.leaf, "count": said.count}[colour]
            np.testing.assert_array_equal(shown, np.ravel(expected))


def test_on_two_features_every_projection_equals_the_leaf_map():
    fitted = walk(2)
    view = read_view(fitted, "x0", "x1")
    from tripletree.scenes.colouring import read_colour

    for colour in known_colours(fitted):
        tiles = mark(leaf_map(view, colour), Rectangles)
        pictured = read_colour(fitted, view.boxes, colour)
        found = project(view.boxes, view.axes, {}, pictured.population, pictured.mean)
        cells = found.mean.argmax(axis=-1) if pictured.scale == "categories" else found.mean[..., 0]
        middle = [(edges[1:] + edges[:-1]) / 2 for edges in found.edges]
        x, y = np.meshgrid(*middle, indexing="ij")
        inside = (
            (tiles.x0 <= x[..., None])
            & (x[..., None] < tiles.x1)
            & (tiles.y0 <= y[..., None])
            & (y[..., None] < tiles.y1)
        )
        np.testing.assert_allclose(cells, tiles.value[inside.argmax(axis=-1)], rtol=1e-9, atol=1e-12)


def test_arrows_are_the_derivatives_of_the_leaves():
    tree = road_tree()
    scene = leaf_map(read_view(tree, "speed", "pos"), "value", arrows=True)
    arrows, tiles = mark(scene, Arrows), mark(scene, Rectangles)
    leaves = tree.leaves_
    np.testing.assert_array_equal(arrows.leaf, tiles.leaf)
    np.testing.assert_array_equal(arrows.dx, leaves["derivative_speed_mean"][arrows.leaf])
    np.testing.assert_array_equal(arrows.dy, leaves["derivative_pos_mean"][arrows.leaf])
    np.testing.assert_allclose(arrows.x, (tiles.x0 + tiles.x1) / 2)
    np.testing.assert_allclose(arrows.y, (tiles.y0 + tiles.y1) / 2)
    (entry,) = scene.legend
    assert entry.label == f"mean move in {arrows.stretch:g} step{'s' * (arrows.stretch > 1)}, to scale"
    assert entry.symbol == "arrow"


def test_arrows_of_a_projection_are_means_over_a_regular_grid():
    fitted = walk(3, 6)
    view = read_view(fitted, "x0", "x1")
    arrows = mark(leaf_map(view, None, arrows=1), Arrows)
    at, nodes = fitted.attributes, fitted.tree.leaf_nodes
    mean = np.average(at.derivative_mean[nodes], axis=0, weights=at.count_derivative[nodes])
    np.testing.assert_allclose([arrows.dx[0], arrows.dy[0]], mean[:2])
    assert len(mark(leaf_map(view, "value", arrows=5), Arrows).x) == 25


def test_arrows_are_of_a_length_to_be_seen():
    for features in (2, 3):
        view = read_view(walk(features), "x0", "x1")
        arrows = mark(leaf_map(view, "value", arrows=True), Arrows)
        span = (view.boxes.high - view.boxes.low)[:2]
        length = np.hypot(arrows.dx / span[0], arrows.dy / span[1]) * arrows.stretch
        assert 0.01 < np.quantile(length, 0.8) < 0.1


def test_a_discrete_action_is_the_mode_of_the_summed_counts():
    fitted = walk(3)
    view = read_view(fitted, "x0", "x1")
    grid = mark(leaf_map(view, "action"), Mesh)
    counts = fitted.attributes.action_count[fitted.tree.leaf_nodes].astype(float)
    cell = np.array([(grid.x[2] + grid.x[3]) / 2, (grid.y[4] + grid.y[5]) / 2])
    total = np.zeros(counts.shape[1])
    for leaf, (low, high) in enumerate(zip(view.boxes.lower[:, :2], view.boxes.upper[:, :2], strict=True)):
        if ((low <= cell) & (cell < high)).all():
            total += counts[leaf] / np.prod(high - low)
    assert grid.value[4, 2] == total.argmax()


def test_density_is_samples_by_volume():
    tree = road_tree()
    tiles = mark(leaf_map(read_view(tree, "pos", "speed"), "density"), Rectangles)
    np.testing.assert_allclose(tiles.value, tree.leaves_["density"][tiles.leaf])
    fitted = walk(3)
    view = read_view(fitted, "x0", "x1")
    grid = mark(leaf_map(view, "density"), Mesh)
    span = (view.boxes.high - view.boxes.low)[:2]
    area = np.diff(grid.y)[:, None] * np.diff(grid.x) / span.prod()
    assert (grid.value * area).sum() == pytest.approx(fitted.attributes.count[0])


def test_along_one_feature_there_are_means_and_their_spread():
    fitted = walk(3)
    scene = leaf_map(read_view(fitted, "x1"), "value")
    line, band = mark(scene, Lines).points[0], mark(scene, Band)
    assert (np.diff(line[:, 0]) >= 0).all()
    width = np.diff(line[:, 0])[::2]
    assert width.min() > 0
    np.testing.assert_allclose(band.low + band.high, 2 * line[:, 1])
    at, nodes = fitted.attributes, fitted.tree.leaf_nodes
    one = read_view(fitted.truncate(1), "x1")
    whole = leaf_map(one, "value")
    assert mark(whole, Lines).points[0][0, 1] == pytest.approx(at.value_mean[0])
    assert mark(whole, Band).high[0] == pytest.approx(at.value_mean[0] + at.value_std[0])
    assert mark(leaf_map(read_view(fitted, "x1"), "density"), Lines).points[0][:, 1].min() > 0
    assert leaf_map(read_view(fitted, "x1"), "density").y.log
    assert len(nodes) == 25


def test_along_one_feature_the_shares_of_actions_add_up():
    fitted = walk(1)
    scene = leaf_map(read_view(fitted, "x0"), "action")
    bands = [part for part in scene.marks if isinstance(part, Band)]
    assert len(bands) == len(scene.colours.categories) == 3
    np.testing.assert_array_equal(bands[0].low, 0)
    np.testing.assert_allclose(bands[-1].high, 1)
    for below, above in itertools.pairwise(bands):
        np.testing.assert_array_equal(below.high, above.low)


@pytest.mark.parametrize("dimensions", [0, 2])
def test_every_colour_of_every_kind_of_view(dimensions):
    fitted = walk(3, dimensions=dimensions)
    views = [
        read_view(fitted, "x0", "x1"),
        read_view(fitted, "x0", "x1", where={"x2": (-1, 1)}),
        read_view(fitted, "x0", "x1", at=fitted.feature_min),
        read_view(fitted, "x0"),
        read_view(fitted.truncate(1), "x2", "x1"),
    ]
    for view in views:
        for colour in known_colours(fitted):
            if colour == "leaf" and not view.direct:
                continue
            if colour == "action" and dimensions:
                continue
            scene = leaf_map(view, colour)
            assert json.loads(json.dumps(scene.to_dict()))["type"] == "scene"
            assert scene.title
            assert scene.x.label
            assert scene.y.label
            if scene.colours is not None:
                assert scene.colours.low < scene.colours.high or len(scene.colours.categories) == 1
                assert scene.colours.label
            for part in scene.marks:
                if getattr(part, "value", None) is not None:
                    assert np.isfinite(part.value).all()
                    assert part.value.min() >= scene.colours.low * (1 - 1e-9) - 1e-12 if scene.colours.low > 0 else True


def test_signed_numbers_have_colours_about_zero():
    fitted = walk(2, dimensions=1)
    scale = leaf_map(read_view(fitted, "x0", "x1"), "a0").colours
    assert scale.low == -scale.high
    assert leaf_map(read_view(fitted, "x0", "x1"), "value").colours.low != 0
    assert leaf_map(read_view(fitted, "x0", "x1"), "impurity of value").colours.low == 0
    assert leaf_map(read_view(fitted, "x0", "x1"), "density").colours.kind == "log"
    mine = leaf_map(read_view(fitted, "x0", "x1"), "a0", limits=(-0.5, 1)).colours
    assert (mine.low, mine.high) == (-0.5, 1)


def test_with_many_labels_the_rare_ones_share_a_colour():
    states = np.random.default_rng(0).normal(size=(60, 2))
    labels = tuple("abcdefghijkl")
    actions = [0] * 20 + [1] * 10 + [k for k in range(2, 12) for _ in range(3)]
    fitted = _fit(make_log(states, actions, [0] * 60, labels=labels), 30).fitted_
    scale = leaf_map(read_view(fitted, "x0", "x1"), "action").colours
    assert len(scale.stops) == 12
    assert scale.stops.count("#b3b3b3") == 5
    assert scale.stops[0] != "#b3b3b3"
    assert len(set(scale.stops)) == 8


def test_one_leaf_and_constant_attributes_make_a_picture():
    log = make_log([[0.0, 0], [1, 1], [2, 2]], [0, 0, 0], [0, 0, 0], labels=("stay",))
    fitted = _fit(log, 10).fitted_
    view = read_view(fitted, "x0", "x1")
    assert leaf_map(view, "action").subtitle == "1 leaf"
    for colour in ("value", "impurity of action", "density", "count", "leaf", "derivative of x1"):
        scale = leaf_map(view, colour).colours
        assert scale.low < scale.high
    assert isinstance(leaf_map(view, "leaf").marks[1], Labels)


def test_whole_numbers_have_a_tick_each():
    scene = leaf_map(read_view(gears(), "gear", "on"), "value")
    assert scene.x.ticks == (0, 1, 2, 3, 4)
    assert scene.y.tick_labels == ("0", "1")
    assert (scene.x.low, scene.x.high) == (-0.5, 4.5)


def test_words_say_what_lies_behind_each_point():
    fitted = gears()
    assert leaf_map(read_view(fitted, "x", "on"), "value").title == "Mean value by x and on"
    assert leaf_map(read_view(fitted, "x", "on"), "value").subtitle.endswith("leaves, averaged over gear")
    limited = leaf_map(read_view(fitted, "x", "on", where={"gear": (1, 3)}), "value").subtitle
    assert limited.endswith("averaged over gear: gear = 1 to 2")
    assert "on a slice: gear = 2" in leaf_map(read_view(fitted, "x", "on", where={"gear": 2}), "value").subtitle
    many = leaf_map(read_view(walk(4), "x0", "x1"), "action")
    assert many.title == "Most frequent action by x0 and x1"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("poss", "speed"), r"no feature 'poss'; it has `pos`, `speed`. Did you mean `pos`\?"),
        (("pos", 3), "no feature 3"),
        (("pos", "pos"), "x and y are both `pos`"),
    ],
)
def test_unknown_features(arguments, message):
    with pytest.raises(ParameterError, match=message):
        read_view(road_tree(), *arguments)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"where": {"x9": 1}}, "no feature 'x9'"),
        ({"where": {"x0": 1}}, "`x0`, an axis"),
        (
            {"where": {"x2": (1e6, 2e6)}},
            r"where lies outside the data: it asks for x2 in .*, but in the log `x2` ranges",
        ),
        ({"where": {"x2": -1e6}}, "outside the data"),
        ({"where": {"x2": (2, 1)}}, "2 is above 1"),
        ({"where": {"x2": "big"}}, r"must be \(low, high\)"),
        ({"where": ("x2", 1)}, r'where must limit features; got .*\. Try where="x2 > 0"\.'),
        ({"at": [1, 2]}, "at must have 3 features"),
        ({"at": [[1, 2, 3], [4, 5, 6]]}, "at must be one state; got 2"),
    ],
)
def test_bad_places(options, message):
    with pytest.raises(ParameterError, match=message):
        read_view(walk(3), "x0", "x1", **options)


def test_an_interval_without_a_whole_number():
    with pytest.raises(ParameterError, match=r"`gear` is a whole number, and there is none in \[1.2, 1.8\)"):
        read_view(gears(), "x", "on", where={"gear": (1.2, 1.8)})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"colour": "valeu"}, r"got 'valeu'. Did you mean `value`\?"),
        ({"colour": "x1"}, r"Did you mean `derivative of x1`\?"),
        ({"colour": 3}, "colour must be one of `action`"),
        ({"colour": "leaf"}, "Many leaves lie behind each point"),
        ({"limits": (2, 1)}, r"limits must be \(low, high\)"),
        ({"limits": 3}, r"limits must be \(low, high\)"),
        ({"arrows": 0}, "arrows must be True, False or a whole number"),
        ({"arrows": "yes"}, "arrows must be"),
    ],
)
def test_bad_colours(options, message):
    with pytest.raises(ParameterError, match=message):
        leaf_map(read_view(walk(3), "x0", "x1"), **options)


def test_bad_pictures_along_one_feature():
    with pytest.raises(ParameterError, match="Arrows need two features"):
        leaf_map(read_view(walk(3), "x0"), "value", arrows=True)
    with pytest.raises(ParameterError, match="colour must name what to show along one feature"):
        leaf_map(read_view(walk(3), "x0"), None)


def test_several_actions_are_not_one_colour():
    with pytest.raises(
        ParameterError, match="colour must be one number here; name one of `a0`, `a1` instead of 'action'"
    ):
        leaf_map(read_view(walk(3, dimensions=2), "x0", "x1"), "action")


def test_without_derivatives_there_are_no_arrows():
    fitted = _fit(make_log([[0.0, 1], [1, 0]], [0, 1], [0, 1], [0, 1, 2], labels=("a", "b")), 2).fitted_
    with pytest.raises(ParameterError, match="Arrows show derivatives, and this tree has none"):
        leaf_map(read_view(fitted, "x0", "x1"), "value", arrows=True)
    with pytest.raises(ParameterError, match="this tree knows no derivatives"):
        leaf_map(read_view(fitted, "x0", "x1"), "derivative of x0")


def test_something_that_is_no_model():
    with pytest.raises(ParameterError, match="model must be a fitted TripleTree; got str"):
        read_view("road.tripletree", "pos")


def test_hundreds_of_labels_have_their_mode_too():
    rng = np.random.default_rng(0)
    states = rng.normal(size=(400, 3))
    actions = np.clip(np.round(20 + 6 * states[:, 0]), 0, 39).astype(int)
    labels = tuple(f"a{k}" for k in range(40))
    fitted = _fit(make_log(states, actions, [0] * 400, labels=labels), 40).fitted_
    view = read_view(fitted, "x0", "x1")
    grid = mark(leaf_map(view, "action"), Mesh)
    at, nodes = fitted.attributes, fitted.tree.leaf_nodes
    found = project(
        view.boxes, (0, 1), {}, at.count[nodes].astype(float), at.action_count[nodes] / at.count[nodes, None]
    )
    np.testing.assert_array_equal(grid.value.T, found.mean.argmax(axis=-1))
    assert len(np.unique(grid.value)) > 5


@given(log=logs(), leaves=st.integers(1, 12))
@settings(max_examples=30)
def test_any_log_makes_pictures_that_cover_their_range(log, leaves):
    fitted = _fit(log, leaves).fitted_
    names = fitted.schema.feature_names
    views = [read_view(fitted, names[0]), *([read_view(fitted, *names[:2])] if len(names) > 1 else [])]
    if len(names) > 1:
        views.append(read_view(fitted, *names[:2], at=log.states[0]))
    for view in views:
        for colour in known_colours(fitted):
            if (colour == "leaf" and not view.direct) or (colour == "action" and len(fitted.schema.action.names) > 1):
                continue
            scene = leaf_map(view, colour)
            json.dumps(scene.to_dict(), allow_nan=False)
            for part in scene.marks:
                if isinstance(part, Rectangles):
                    area = ((part.x1 - part.x0) * (part.y1 - part.y0)).sum()
                    assert area == pytest.approx(np.prod((view.boxes.high - view.boxes.low)[list(view.axes)]))
                if isinstance(part, Mesh):
                    assert np.isfinite(part.value).all()


def squares(*corners):
    """A view of a plane from 0 to 1 whose leaves are these boxes (x0, x1, y0, y1)."""
    fitted = walk(2, leaves=len(corners))
    view = read_view(fitted, "x0", "x1")
    assert fitted.tree.n_leaves == len(corners)
    box = np.array(corners, float)
    boxes = replace(view.boxes, lower=box[:, [0, 2]], upper=box[:, [1, 3]], low=np.zeros(2), high=np.ones(2))
    return View(fitted, boxes, (0, 1), {})


@pytest.mark.parametrize(
    ("width", "height", "shown"),
    [(0.061, 0.051, True), (0.059, 0.9, False), (0.9, 0.049, False), (0.061, 0.9, True), (0.9, 0.051, True)],
)
def test_a_leaf_has_its_number_where_there_is_room_for_it(width, height, shown):
    labels = _numbers(squares((0, width, 0, height), (width, 1, 0, 1)))
    assert ("0" in labels.text) == shown
    if shown:
        at = labels.text.index("0")
        assert (labels.x[at], labels.y[at]) == pytest.approx((width / 2, height / 2))


@pytest.mark.parametrize(("leaves", "width"), [(1, 0.4), (25, 0.4), (100, 0.2), (600, 2 / np.sqrt(600)), (2500, 0.08)])
def test_lines_between_more_leaves_are_thinner_but_do_not_vanish(leaves, width):
    stand_in = SimpleNamespace(
        leaves=np.zeros(leaves, int), axes=(0, 1), boxes=SimpleNamespace(lower=np.zeros((1, 2)), upper=np.ones((1, 2)))
    )
    assert _leaf_rectangles(stand_in, None).edge_width == pytest.approx(width)


@pytest.mark.parametrize(
    ("moves", "length", "stretch"),
    [
        ([0.01] * 10, 0.055, 5.0),  # five steps are 0.05, ten would be too long
        ([0.055] * 10, 0.055, 1.0),
        ([0.0055] * 10, 0.055, 10.0),
        ([0.3] * 10, 0.055, 0.1),  # less than a step where moves are long
        ([0.0] * 10, 0.055, 1.0),
        # Typical is what four of five moves do not exceed.
        ([0.001] * 9 + [0.02] * 2, 0.05, 50.0),
        ([0.001] * 8 + [0.02] * 3, 0.05, 2.0),
    ],
)
def test_arrows_are_stretched_by_a_round_number_of_steps(moves, length, stretch):
    along = np.column_stack([moves, np.zeros(len(moves))])
    assert _stretch(along, np.ones(len(moves)), length) == pytest.approx(stretch)
    # Moves without any weight do not count.
    more = np.vstack([along, [[9.0, 9.0]] * 90])
    assert _stretch(more, np.append(np.ones(len(moves)), np.zeros(90)), length) == pytest.approx(stretch)


def test_a_projection_has_sixteen_arrows_along_each_axis_unless_asked_otherwise():
    view = read_view(walk(3), "x0", "x1")
    arrows = mark(leaf_map(view, "value", arrows=True), Arrows)
    assert len(arrows.x) == 16 * 16
    span = (view.boxes.high - view.boxes.low)[:2]
    length = np.hypot(arrows.dx / span[0], arrows.dy / span[1]) * arrows.stretch
    # The next round number of steps would make the typical one longer than a cell.
    assert 0.9 / 16 / 2.5 < np.quantile(length, 0.8) <= 0.9 / 16


def test_typical_arrows_of_leaves_are_a_twentieth_of_the_picture_or_so():
    for fitted in (walk(2), road_tree().fitted_):
        view = read_view(fitted, *fitted.schema.feature_names)
        arrows = mark(leaf_map(view, "value", arrows=True), Arrows)
        span = (view.boxes.high - view.boxes.low)[:2]
        length = np.hypot(arrows.dx / span[0], arrows.dy / span[1]) * arrows.stretch
        assert 0.055 / 2.5 < np.quantile(length, 0.8) <= 0.055


def test_two_averaged_features_are_named_and_more_are_counted():
    def said(features, **options):
        fitted = walk(features)
        return leaf_map(read_view(fitted, "x0", "x1", **options), "value").subtitle

    assert said(3).endswith(" leaves, averaged over x2")
    assert said(4).endswith(" leaves, averaged over x2 and x3")
    assert said(5).endswith(" leaves, averaged over the 3 other features")
    fixed = float(walk(6).feature_min[5])
    assert " leaves, averaged over 3 of the 4 other features: x5 = " in said(6, where={"x5": fixed})


def test_along_one_feature_there_is_a_twentieth_of_room():
    scene = leaf_map(read_view(walk(3), "x1"), "value")
    band = mark(scene, Band)
    low, high = band.low.min(), band.high.max()
    room = 0.05 * (high - low)
    assert (scene.y.low, scene.y.high) == pytest.approx((low - room, high + room))
    amount = leaf_map(read_view(walk(3), "x1"), "count")
    line = mark(amount, Lines).points[0][:, 1]
    assert (amount.y.low, amount.y.high) == pytest.approx((line.min() / 1.5, line.max() * 1.5))
    flat = leaf_map(read_view(walk(2, leaves=1), "x0"), "count")
    assert flat.y.low < flat.y.high


@pytest.mark.parametrize(
    ("stretch", "text"),
    [
        (200.0, "mean move in 200 steps"),
        (1.0, "mean move in 1 step"),
        (0.5, "half the mean move in one step"),
        (0.2, "a fifth of the mean move in one step"),
        (0.1, "a tenth of the mean move in one step"),
        (0.02, "1/50 of the mean move in one step"),
    ],
)
def test_arrows_say_how_far_they_reach(stretch, text):
    assert _moved(stretch) == text
