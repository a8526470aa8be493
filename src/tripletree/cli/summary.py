"""A model in numbers: what it was grown on, how large it is and how good, for people and for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tripletree.cli import console

if TYPE_CHECKING:
    from rich.console import Group

    from tripletree.api import TripleTree

SIZES = (1, 10, 50, 100, 200, 500, 1_000)


def summary(tree: TripleTree) -> dict[str, Any]:
    """Return everything that `tripletree info` tells, as JSON types."""
    from tripletree.leaves.attributes import ATTRIBUTES

    fitted, curve = tree.fitted_, tree.curve_
    here = tree.n_leaves_ - 1
    return {
        "leaves": tree.n_leaves_,
        "depth": int(tree.tree_.depth.max()),
        "schema": fitted.schema.to_dict(),
        "range": {
            name: [float(low), float(high)]
            for name, low, high in zip(fitted.schema.feature_names, fitted.feature_min, fitted.feature_max, strict=True)
        },
        "losses": {
            side: {name: float(curve[f"{side}_{name}"][here]) for name in ATTRIBUTES}
            for side in ("training", "validation")
            if f"{side}_action" in curve.columns
        },
        "importance": tree.importance().to_dict(),
        "options": fitted.options,
        "provenance": fitted.provenance,
        "transitions": fitted.transitions is not None,
    }


def goodness(tree: TripleTree) -> Group:
    """Return a table of the losses at several sizes."""
    from rich.console import Group
    from rich.text import Text

    from tripletree.leaves.attributes import ATTRIBUTES

    curve, discrete = tree.curve_, tree.fitted_.schema.action.kind == "discrete"
    sides = ("training", "validation") if "validation_action" in curve.columns else ("training",)
    wrong = "wrong" if discrete else "action"
    names = [f"{name}{mark}" for mark in ("", "*")[: len(sides)] for name in (wrong, "value", "deriv.")]
    table = console.table("", "leaves", *names)
    most = len(curve["leaves"])
    for size in sorted({*(size for size in SIZES if size < most), tree.n_leaves_, most}):
        cells = [
            f"{curve[f'{side}_{name}'][size - 1]:{'.2%' if name == 'action' and discrete else '.4g'}}"
            for side in sides
            for name in ATTRIBUTES
        ]
        table.add_row(f"{size:,}", *cells, style="bold" if size == tree.n_leaves_ else "")
    parts = "share of actions" if discrete else "sum of RMSE / sigma of the actions"
    held = "; * on held-out episodes" if len(sides) > 1 else ""
    says = f"{parts}, RMSE of the value, sum of RMSE / sigma of the derivatives{held}"
    return Group(Text("What trees of several sizes get wrong", "bold"), table, Text(says, "dim italic"))
