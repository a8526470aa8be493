"""Explain: what the tree predicts in a state, and the bounds of the leaf that make it so."""

from __future__ import annotations

from typing import Any

import numpy as np

from tripletree.answers.factual import Factual
from tripletree.asking.attribute import Attribute, read_attribute
from tripletree.asking.states import read_state
from tripletree.language.conditions import clauses
from tripletree.model.fitted import Fitted
from tripletree.questions.importance import removed


def factual(fitted: Fitted, state: Any, about: str = "action") -> Factual:
    """Return what the tree predicts in a state, and why.

    Parameters
    ----------
    fitted : Fitted
        The tree.
    state : sequence or dict of numbers
        One state.
    about : str
        The attribute, as in :func:`tripletree.asking.attribute.read_attribute`.
    """
    attribute = read_attribute(fitted, about)
    where = read_state(state, fitted.schema, finite=False)
    leaf = int(fitted.tree.apply(where[None])[0])
    node = int(fitted.tree.leaf_nodes[leaf])
    at = fitted.attributes
    runner_up = None
    prediction: Any = attribute.mean[node]
    spread: Any = attribute.std[node]
    if at.action_count is not None and attribute.labels:
        shares = at.action_count[node] / at.count[node]
        ranked = np.argsort(-shares, kind="stable")
        prediction, spread = attribute.labels[ranked[0]], float(shares[ranked[0]])
        if len(ranked) > 1 and shares[ranked[1]] > 0:
            runner_up = attribute.labels[ranked[1]], float(shares[ranked[1]])
    lower, upper = (side[leaf] for side in fitted.bounds)
    return Factual(
        about=about,
        names=attribute.names,
        units=attribute.units,
        state=where,
        leaf=leaf,
        prediction=prediction,
        spread=spread,
        runner_up=runner_up,
        count=int((at.count_derivative if attribute.kind == "derivative" else at.count)[node]),
        lower=lower,
        upper=upper,
        because=tuple(clauses(fitted.schema, lower.tolist(), upper.tolist(), path_order(fitted, attribute, leaf))),
        beyond=np.maximum(where - fitted.feature_max, 0) + np.minimum(where - fitted.feature_min, 0),
        limits=np.stack([fitted.feature_min, fitted.feature_max]),
        schema=fitted.schema,
    )


def path_order(fitted: Fitted, about: Attribute, leaf: int) -> list[int]:
    """Return the features that bound a leaf, those first whose splits above it removed most impurity."""
    gain = removed(fitted, about)
    total: dict[int, float] = {}
    node = int(fitted.tree.parent[fitted.tree.leaf_nodes[leaf]])
    while node >= 0:
        feature = int(fitted.tree.feature[node])
        total[feature] = total.get(feature, 0.0) + float(gain[node])
        node = int(fitted.tree.parent[node])
    return sorted(total, key=lambda feature: (-total[feature], feature))
