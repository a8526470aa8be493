"""A fitted tree as a notebook shows it: its size, what it was grown on, its losses and what matters to it."""

from __future__ import annotations

from tripletree.leaves.attributes import ATTRIBUTES
from tripletree.markup import notebook_box, notebook_table, tag
from tripletree.model.fitted import Fitted
from tripletree.text import count, some_of

MOST_NAMED = 12
"""Features and labels that are named, at most."""


def tree_card(fitted: Fitted, parameters: str, matters: str) -> str:
    """Return a tree as small tables.

    Parameters
    ----------
    fitted : Fitted
        The tree.
    parameters : str
        The call that made it.
    matters : str
        The sentences of `importance`, one line for each attribute.
    """
    tree, schema, made = fitted.tree, fitted.schema, fitted.provenance
    action = schema.action
    labels = f": {some_of(action.labels, MOST_NAMED)}" if action.labels else ""
    facts = [
        ("made by", parameters),
        ("grown on", f"{count(made.get('samples', 0), 'sample')} in {count(made.get('episodes', 0), 'episode')}"),
        ("features", some_of(schema.feature_names, MOST_NAMED)),
        ("action", f"{some_of(action.names, MOST_NAMED)} ({action.kind}){labels}"),
    ]
    curves = {"training": fitted.curve_training, "validation": fitted.curve_validation}
    at = {name: curve[tree.n_leaves - 1] for name, curve in curves.items() if curve is not None}
    losses = [(name, *(f"{losses[g]:.4g}" for losses in at.values())) for g, name in enumerate(ATTRIBUTES)]
    title = f"Tree with {count(tree.n_leaves, 'leaf', 'leaves')}, depth {int(tree.depth.max())}"
    return notebook_box(
        tag("b", title),
        notebook_table((), facts),
        notebook_table(("loss", *(f"{name} log" for name in at)), losses, numbers=range(1, 1 + len(at))),
        matters,
    )
