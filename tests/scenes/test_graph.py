from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.graph.chains import transitions as hand_made
from tests.scenes.models import gears, road_tree, walk
from tripletree import ParameterError
from tripletree.demos import road
from tripletree.errors import LogError
from tripletree.scenes.colours import ON_DARK, ON_LIGHT
from tripletree.scenes.graph import arrows, node_sizes, strongest, transitions
from tripletree.scenes.guides import shade_of, shades
from tripletree.scenes.types import Labels, Links, Points


def of(scene, kind):
    return [mark for mark in scene.marks if isinstance(mark, kind)]


@given(share=st.floats(0.01, 1), most=st.integers(1, 120), leaves=st.sampled_from([7, 40]))
def test_the_strongest_moves(share, most, leaves):
    moves = road_tree(leaves).transitions()
    part = strongest(moves, share, most)
    kept, total = moves.count[part.edges], moves.count.sum()
    assert 1 <= len(part.edges) <= most
    assert len(np.unique(part.edges)) == len(part.edges)
    assert part.flow == pytest.approx(kept.sum() / total)
    assert set(part.nodes) == {*moves.source[part.edges], *moves.target[part.edges]}
    assert moves.end in part.nodes
    if len(part.edges) < min(most, len(moves.count)):
        assert part.flow >= share - 1e-9
    if most > 1:
        assert moves.count.argmax() in part.edges


def test_all_moves_are_shown_when_asked_for():
    moves = road_tree().transitions()
    part = strongest(moves, 1, 10_000)
    np.testing.assert_array_equal(part.edges, np.arange(len(moves.count)))
    assert part.flow == 1
    assert transitions(road_tree(), share=1, most=1_000).subtitle == f"All {len(moves.count)} arrows, 40 leaves"


@pytest.mark.parametrize("places", [(), ("pos", "speed")])
def test_arrows_and_nodes_show_the_counts(places):
    tree = road_tree()
    moves = tree.transitions()
    scene = transitions(tree, *places, share=1, most=1_000)
    (links,) = of(scene, Links)
    leaves, end = of(scene, Points)
    place = {int(leaf): (x, y) for leaf, x, y in zip(leaves.leaf, leaves.x, leaves.y, strict=True)}
    leaf_at = {at: leaf for leaf, at in place.items()}
    assert len(leaf_at) == len(place)
    leaf_at |= dict.fromkeys(zip(end.x, end.y, strict=True), moves.end)
    drawn = {
        (leaf_at[x0, y0], leaf_at[x1, y1]): width
        for x0, y0, x1, y1, width in zip(links.x0, links.y0, links.x1, links.y1, links.width, strict=True)
    }
    assert len(drawn) == len(moves.count)
    width = np.array([drawn[s, t] for s, t in zip(moves.source.tolist(), moves.target.tolist(), strict=True)])
    np.testing.assert_allclose((width - 0.4) / 2.2, moves.probability)
    order = leaves.leaf
    area = leaves.size**2 - leaves.size.min() ** 2
    spent = moves.samples[order] - moves.samples[order].min()
    np.testing.assert_allclose(area / area.max(), spent / spent.max(), atol=1e-9)
    np.testing.assert_allclose(leaves.value, tree.leaves_["value_mean"][order])
    json.dumps(scene.to_dict(), allow_nan=False)


def test_features_place_leaves_at_their_middle():
    tree = road_tree()
    scene = transitions(tree, "pos", "speed", share=1, most=1_000)
    leaves, end = of(scene, Points)
    table = tree.leaves_
    for name, at in (("pos", leaves.x), ("speed", leaves.y)):
        np.testing.assert_allclose(at, (table[f"{name}_min"] + table[f"{name}_max"])[leaves.leaf] / 2, atol=1e-3)
    # This agent ends at the left wall, and where it could not brake in time at the right one.
    low, high = end.x
    assert scene.x.low < low < table["pos_min"].min()
    assert table["pos_max"].max() < high < scene.x.high
    (links,) = of(scene, Links)
    last = np.isin(links.x1, end.x)
    assert (np.abs(links.x1 - links.x0)[last] < 0.7 * (high - low)).all()
    assert scene.x.label == "pos"


def test_few_leaves_have_their_numbers():
    numbers, *_ = [label.text for label in of(transitions(road_tree(7)), Labels) if label.text != ("end",)]
    assert set(numbers) <= set(map(str, range(7)))
    assert of(transitions(road_tree(100), share=1, most=900), Labels)[0].text == ("end",)


def test_a_made_smaller_tree_needs_its_log_or_a_track_of_it():
    small = road_tree().truncate(5).fitted_
    with pytest.raises(ParameterError, match=r"Give the log: log=\.\.\."):
        transitions(replace(small, track=None))
    drawn = transitions(small, log=road.record("left", n_samples=2_000))
    assert of(drawn, Links)
    assert transitions(small).to_dict() == drawn.to_dict()


def test_without_moves_there_are_still_leaves():
    log = road.record("left", n_samples=2_000)
    scene = transitions(road_tree().truncate(1), log=log)
    assert len(of(scene, Points)) == 2
    alone = transitions(gears().truncate(1), log=_still())
    assert alone.subtitle == "The log shows no move from one leaf to another"
    assert len(of(alone, Points)[0].x) == 1
    assert not of(alone, Links)


def _still():
    from tests.logs import make_log

    names, kinds = ("x", "on", "gear"), ("real", "binary", "integer")
    return make_log([[0, 0, 1]] * 4, [0] * 4, [0] * 4, labels=("a", "b", "c"), names=names, kinds=kinds)


def test_discrete_colours_and_impurities():
    scene = transitions(road_tree(), colour="action")
    assert scene.colours.kind == "categories"
    assert set(of(scene, Points)[0].value) <= {0.0, 1.0}
    assert transitions(walk(4, dimensions=2), colour="a1").colours.label == "mean a1"


def test_bad_input():
    tree = road_tree()
    with pytest.raises(ParameterError, match="Give both x and y"):
        transitions(tree, "pos")
    with pytest.raises(ParameterError, match=r"no feature 'sped'; .*Did you mean `speed`"):
        transitions(tree, "pos", "sped")
    with pytest.raises(ParameterError, match=r"colour must be one of .*Did you mean `value`"):
        transitions(tree, colour="vale")
    for share in (0, 1.5, "half"):
        with pytest.raises(ParameterError, match="share must be a number above 0 and at most 1"):
            transitions(tree, share=share)
    with pytest.raises(ParameterError, match="most must be a whole number of at least 1"):
        transitions(tree, most=0)
    with pytest.raises(ParameterError, match=r"log must be a Log; got .* Or type log=None \(the training log\)\."):
        transitions(tree, log="log")
    with pytest.raises(LogError, match="the tree was grown on"):
        transitions(tree, log=_still())


def test_discs_have_room_for_their_numbers_and_the_busiest_leaf_is_the_largest():
    """Diameters of leaves without time, with half of the busiest one's, and of the busiest: areas grow with time."""
    moves = chain(3, {(0, 1): 1, (1, 2): 1}, samples=[0, 50, 100])
    numbered, plain = (node_sizes(moves, np.arange(3), numbered=numbered) for numbered in (True, False))
    assert numbered.tolist() == pytest.approx([11, np.sqrt((11**2 + 18**2) / 2), 18])
    assert plain.tolist() == pytest.approx([4, np.sqrt((4**2 + 18**2) / 2), 18])


def test_arrows_are_as_wide_as_probable_and_as_dark_as_frequent():
    # From leaf 0, 99 of 100 moves go to leaf 1; from there one of one to leaf 2.
    moves = chain(3, {(0, 1): 99, (0, 2): 1, (1, 2): 1}, samples=[100, 99, 1])
    place = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]])
    links = arrows(moves, strongest(moves, 1.0, 10), place, np.full(3, 3), np.array([10.0, 8.0, 6.0]))
    # The most frequent comes last, so that it lies on top.
    assert [*zip(links.x0, links.y0, links.x1, links.y1, strict=True)] == [(0, 0, 1, 1), (1, 0, 1, 1), (0, 0, 1, 0)]
    assert links.width.tolist() == pytest.approx([0.4 + 2.2 * 0.01, 2.6, 0.4 + 2.2 * 0.99])
    assert links.opacity.tolist() == pytest.approx([0.25 + 0.6 / np.sqrt(99)] * 2 + [0.85])
    # Arrows begin and end at the rims of their discs.
    assert (links.gap0.tolist(), links.gap1.tolist()) == ([5, 4, 5], [3.5, 3.5, 4.5])


def test_the_faintest_arrow_can_still_be_seen():
    moves = chain(2, {(0, 1): 1_000_000, (1, 0): 1}, samples=[10, 10])
    links = arrows(moves, strongest(moves, 1.0, 10), np.eye(2), np.full(2, 2), np.ones(2))
    assert 0.25 < links.opacity.min() < 0.251
    assert links.opacity.max() == pytest.approx(0.85)


@pytest.mark.parametrize(("leaves", "numbered"), [(45, True), (46, False)])
def test_up_to_forty_five_leaves_have_numbers(leaves, numbered):
    scene = transitions(road_tree(leaves), share=1, most=10_000)
    discs = of(scene, Points)[0]
    assert len(discs.x) == leaves
    texts = [text for label in of(scene, Labels) for text in label.text if text != "end"]
    assert sorted(map(int, texts)) == (list(range(leaves)) if numbered else [])
    assert discs.size.min() >= (11 if numbered else 4)


def test_numbers_stand_out_from_their_discs_on_any_page():
    scene = transitions(road_tree(20), share=1, most=10_000)
    discs = of(scene, Points)[0]
    fill = dict(zip(discs.leaf.tolist(), shade_of(scene.colours, discs.value), strict=True))
    numbers = [label for label in of(scene, Labels) if "end" not in label.text]
    assert {label.colour for label in numbers} == {ON_LIGHT, ON_DARK}
    for label in numbers:
        for leaf in map(int, label.text):
            # Four and a half to one is what WCAG asks for; black or white on a colour always has that.
            assert contrast(label.colour, shades(scene.colours)[fill[leaf]]) > 4


def contrast(one: str, other: str) -> float:
    light = sorted((luminance(one), luminance(other)))
    return (light[1] + 0.05) / (light[0] + 0.05)


def luminance(colour: str) -> float:
    parts = np.array([int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)])
    return float(np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4) @ [0.2126, 0.7152, 0.0722])


def test_a_hundred_arrows_or_nine_tenths_of_the_moves_are_shown_unless_asked_otherwise():
    large, small = road_tree(150), road_tree(7)
    assert len(large.transitions().count) > 150
    assert len(of(transitions(large), Links)[0].x0) == 100
    moves = small.transitions()
    shown = of(transitions(small), Links)[0]
    assert len(shown.x0) == len(strongest(moves, 0.9, 100).edges) < len(moves.count)
    flow = np.sort(moves.count)[::-1].cumsum() / moves.count.sum()
    # No fewer arrows than the most frequent ones that make up nine tenths.
    assert len(shown.x0) >= np.searchsorted(flow, 0.9) + 1


def chain(n, edges, samples):
    return replace(hand_made(n, edges), samples=np.array(samples))
