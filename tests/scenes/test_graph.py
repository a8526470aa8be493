from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.scenes.models import gears, road_tree, walk
from tripletree import ParameterError
from tripletree.demos import road
from tripletree.errors import LogError
from tripletree.scenes.graph import strongest, transitions
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


def test_a_made_smaller_tree_needs_its_log():
    small = road_tree().truncate(5)
    with pytest.raises(ParameterError, match=r"Give the log: log=\.\.\."):
        transitions(small)
    assert of(transitions(small, log=road.record("left", n_samples=2_000)), Links)


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
