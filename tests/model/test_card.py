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
        "loss|training log|validation log|",
    ]
    for line, name in zip(shown[6:9], ("action", "value", "derivative"), strict=True):
        assert line == f"{name}|{curve[f'training_{name}'][here]:.4g}|{curve[f'validation_{name}'][here]:.4g}|"
    assert shown[9:] == str(tree.importance()).replace(" %", "\N{NO-BREAK SPACE}%").splitlines()


@pytest.mark.parametrize("model", [gears(), walk(3, dimensions=2)])
def test_other_kinds_of_trees_are_shown(model):
    fitted = getattr(model, "fitted_", model)
    shown = lines(tree_card(fitted, "made", "What <matters>."))
    assert shown[-1] == "What <matters>."
    assert "loss|training log|" in shown


def test_a_tree_that_is_not_fitted_says_so():
    assert lines(TripleTree(30)._repr_html_()) == ["TripleTree(max_leaves=30)", "Not fitted yet: call fit(log)."]
