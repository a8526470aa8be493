"""What the leaves of a tree predict by, in a sentence: means or linear models, and what a short form of them loses."""

from __future__ import annotations

import numpy as np

from tripletree.language.numbers import all_of, percent
from tripletree.leaves.attributes import ATTRIBUTES
from tripletree.model.fitted import Fitted
from tripletree.text import count


def leaf_sentence(fitted: Fitted) -> str:
    """Return what the leaves predict by, and how much a limit on the features of linear models costs."""
    if fitted.model is None:
        return "Leaves predict the mean of their samples."
    nodes = fitted.tree.leaf_nodes
    weight = fitted.leaves.mass / fitted.leaves.mass.sum()
    sloped = np.asarray(fitted.model.slope[nodes].any(axis=2))
    shares = []
    for name, part, varies in zip(ATTRIBUTES, fitted.targets.values(), fitted.varies, strict=True):
        if varies and part.stop > part.start:
            shares.append(f"{percent(float(weight @ sloped[:, part].mean(axis=1)))} of the time for the {name}")
    said = f": the slopes are used {all_of(shares)}" if shares else ""
    text = f"Leaves predict by linear models, as far as these do better than means in episodes left out{said}."
    lost = short_form_loss(fitted)
    if lost is None:
        return text
    limit = int(fitted.options["leaf_features"])
    scores = fitted.schema.action.kind == "discrete"
    names = {**{name: f"the {name}" for name in ATTRIBUTES}, **({"action": "scores of labels"} if scores else {})}
    costs = [f"{names[name]} by {percent(share)}" for name, share in lost.items()]
    return (
        f"{text} They use at most {count(limit, 'feature')} each, so in episodes left out they are further off than "
        f"with all features: {all_of(costs)}."
    )


def short_form_loss(fitted: Fitted) -> dict[str, float] | None:
    """Return by which share few features make predictions worse, by attribute; None where all features are used."""
    model = fitted.model
    if model is None or model.full is None:
        return None
    nodes, weight = fitted.tree.leaf_nodes, fitted.leaves.mass[:, None] / fitted.leaves.mass.sum()
    found = {}
    for name, part, varies in zip(ATTRIBUTES, fitted.targets.values(), fitted.varies, strict=True):
        if varies and part.stop > part.start:
            short, full = (side[nodes][:, part].astype(np.float64) for side in (model.spread, model.full))
            known = (short > 0) & (full > 0)
            # Ratios leaf by leaf: columns have units of their own, and a few leaves with large errors must not decide.
            ratio = np.log(np.where(known, short, 1.0) / np.where(known, full, 1.0))
            typical = float((weight * ratio).sum() / max(float((weight * known).sum()), 1e-300))
            found[name] = max(float(np.exp(typical)) - 1, 0.0)
    return found
