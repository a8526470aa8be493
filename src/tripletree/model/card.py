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
        (
            "grown on",
            f"{count(made.get('samples', 0), 'sample')} in {count(made.get('episodes', 0), 'episode')}"
            f"{', weighted' * (fitted.attributes.weight is not None)}",
        ),
        ("features", some_of(schema.feature_names, MOST_NAMED)),
        ("action", f"{some_of(action.names, MOST_NAMED)} ({action.kind}){labels}"),
    ]
    title = f"Tree with {count(tree.n_leaves, 'leaf', 'leaves')}, depth {int(tree.depth.max())}"
    return notebook_box(
        tag("b", title),
        notebook_table((), facts),
        _quality(fitted),
        matters,
    )


def _quality(fitted: Fitted) -> str:
    """Return how good the tree is on unseen episodes, or how to find out: its own log would flatter it."""
    judged, curve = fitted.judged, fitted.curve_validation
    if judged is not None:
        where, numbers = f"{count(judged.episodes, 'unseen episode')}", (judged.losses, judged.constant)
    elif curve is not None:
        where, numbers = "episodes that chose its size", (tuple(curve[fitted.tree.n_leaves - 1]), tuple(curve[0]))
    else:
        return tag("div", "How good it is on unseen episodes: ask held_out(log).")
    rows = [(name, *(f"{side[g]:.4g}" for side in numbers)) for g, name in enumerate(ATTRIBUTES)]
    return notebook_table((f"loss on {where}", "this tree", "one leaf"), rows, numbers=(1, 2))
