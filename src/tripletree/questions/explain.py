"""Explain: what the tree predicts in a state, and the bounds of the leaf that make it so."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.answers.factual import Factual
from tripletree.answers.terms import Terms
from tripletree.asking.attribute import Attribute, read_attribute, targets_of
from tripletree.asking.states import read_state
from tripletree.language.conditions import clauses
from tripletree.model.fitted import Fitted
from tripletree.questions.importance import removed
from tripletree.questions.predict import shares
from tripletree.questions.terms import terms

F64 = npt.NDArray[np.float64]

MOST_COLUMNS = 3
"""Numbers whose linear models a sentence tells, at most."""


def factual(fitted: Fitted, state: Any, about: str = "action", *, models: bool = True) -> Factual:
    """Return what the tree predicts in a state, and why.

    Parameters
    ----------
    fitted : Fitted
        The tree.
    state : sequence or dict of numbers
        One state.
    about : str
        The attribute, as in :func:`tripletree.asking.attribute.read_attribute`.
    models : bool
        Whether to tell the leaf's linear models, feature by feature.
    """
    attribute = read_attribute(fitted, about)
    where = read_state(state, fitted.schema, finite=False)
    leaf = int(fitted.tree.apply(where[None])[0])
    node = int(fitted.tree.leaf_nodes[leaf])
    at = fitted.attributes
    runner_up = agreeing = None
    explained: tuple[Terms, ...] = ()
    columns = targets_of(fitted, attribute)
    told = fitted.told(where[None], np.array([leaf], np.int32))[0, columns]
    prediction: Any = told
    spread: Any = fitted.spread[leaf, columns]
    if attribute.labels:
        share = shares(told[None])[0]
        ranked = np.argsort(-share, kind="stable")
        best = int(ranked[0])
        prediction, spread = attribute.labels[best], float(share[best])
        scored = fitted.model is not None and bool(fitted.model.slope[node, columns].any())
        if len(ranked) > 1 and (scored or share[ranked[1]] > 0):
            runner_up = attribute.labels[ranked[1]], float(share[ranked[1]])
        if scored and at.shares is not None:
            agreeing = float(at.shares[node, best])
            lead = terms(fitted, leaf, where, columns[best], columns[int(ranked[1])]) if models else None
            explained = () if lead is None else (lead,)
    elif models and len(columns) <= MOST_COLUMNS:
        found = [terms(fitted, leaf, where, column) for column in columns]
        # A column whose slopes are all 0 is its mean; it is told as one beside others that are not.
        if any(one is not None and one.features for one in found):
            explained = tuple(one for one in found if one is not None)
    full = None if fitted.model is None or fitted.model.full is None else fitted.model.full[node, columns]
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
        models=explained,
        linear=fitted.model is not None and bool(fitted.model.slope[node, columns].any()),
        full=None if full is None or attribute.labels else full.astype(np.float64),
        agreeing=agreeing,
        because=tuple(clauses(fitted.schema, lower.tolist(), upper.tolist(), path_order(fitted, attribute, leaf))),
        beyond=np.maximum(where - fitted.feature_max, 0) + np.minimum(where - fitted.feature_min, 0),
        limits=fitted.limits,
        schema=fitted.schema,
    )


def path_order(fitted: Fitted, about: Attribute, leaf: int) -> list[int]:
    """Return the features that bound a leaf, those first whose splits above it removed most impurity."""
    key = f"removed {about.key}"
    if key not in fitted.memory:
        # The same for all leaves, and a page asks about each: as lists, which are quicker to walk along.
        fitted.memory[key] = [
            part.tolist() for part in (removed(fitted, about), fitted.tree.parent, fitted.tree.feature)
        ]
    gain, parent, split = fitted.memory[key]
    total: dict[int, float] = {}
    node = parent[fitted.tree.leaf_nodes[leaf]]
    while node >= 0:
        total[split[node]] = total.get(split[node], 0.0) + gain[node]
        node = parent[node]
    return sorted(total, key=lambda feature: (-total[feature], feature))
