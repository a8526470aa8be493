"""A tree in a notebook."""

from __future__ import annotations

import pytest

from tests.parsed import lines
from tests.scenes.models import gears, walk
from tripletree import TripleTree
from tripletree.demos import road
from tripletree.model.card import tree_card


def test_a_tree_shows_its_size_its_log_and_its_losses():
    log = road.record("left", n_samples=1_000)
    tree = TripleTree(10, truncation="bootstrap").fit(*log.split())
    shown = lines(tree._repr_html_())
    curve, here = tree.curve_, tree.n_leaves_ - 1
    assert shown[0] == f"Tree with {tree.n_leaves_} leaves, depth {tree.tree_.depth.max()}"
    assert shown[1] == f"made by|{tree!r}|"
    assert shown[2].startswith("grown on|")
    assert shown[3:6] == [
        "features|pos, speed|",
        "action|acc (discrete): -0.001, 0.001|",
        "loss on episodes that chose its size|this tree|one leaf|",
    ]
    for line, name in zip(shown[6:9], ("action", "value", "derivative"), strict=True):
        losses = curve[f"validation_{name}"]
        assert line == f"{name}|{losses[here]:.4g}|{losses[0]:.4g}|"
    assert shown[9:] == str(tree.importance()).replace(" %", "\N{NO-BREAK SPACE}%").splitlines()


@pytest.mark.parametrize("model", [gears(), walk(3, dimensions=2)])
def test_other_kinds_of_trees_are_shown(model):
    fitted = getattr(model, "fitted_", model)
    shown = lines(tree_card(fitted, "made", "What <matters>."))
    assert shown[-1] == "What <matters>."
    assert "How good it is on unseen episodes: ask held_out(log)." in shown


def test_a_judged_tree_shows_its_losses_on_unseen_episodes():
    log = road.record("left", n_samples=1_000)
    tree = TripleTree(10).fit(log)
    judged = tree.held_out(log).judged
    shown = lines(tree._repr_html_())
    assert f"loss on {judged.episodes} unseen episodes|this tree|one leaf|" in shown
    assert f"value|{judged.losses[1]:.4g}|{judged.constant[1]:.4g}|" in shown


def test_a_tree_that_is_not_fitted_says_so():
    assert lines(TripleTree(30)._repr_html_()) == ["TripleTree(max_leaves=30)", "Not fitted yet: call fit(log)."]
