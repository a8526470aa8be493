"""Terms: the linear model of a leaf, its features ordered by the difference that they make in the leaf's box."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tripletree.answers.terms import Terms
from tripletree.model.fitted import Fitted

F64 = npt.NDArray[np.float64]

MOST_TERMS = 3
"""Features that a sentence tells one by one; what the others add is summed up."""


def terms(fitted: Fitted, leaf: int, state: F64, column: int, less: int | None = None) -> Terms | None:
    """Return the linear model of one target in a leaf, or of its lead over another; None where leaves predict means.

    Parameters
    ----------
    fitted : Fitted
        The tree.
    leaf : int
        The leaf.
    state : float64 array of shape (features,)
        The state asked about.
    column : int
        The target, a column of :meth:`Fitted.told`.
    less : int or None
        Another target, to be taken away from it.
    """
    linear, mean = fitted.model, fitted.attributes.state_mean
    if linear is None or mean is None:
        return None
    node = int(fitted.tree.leaf_nodes[leaf])
    slope = linear.slope[node, column].astype(np.float64)
    centre, limit, below = float(linear.centre[node, column]), None, False
    if less is not None:
        slope = slope - linear.slope[node, less]
        centre -= float(linear.centre[node, less])
    parts = slope * (state - mean[node])
    if less is None:
        told = centre
        for part in parts.tolist():
            told += part
        low, high = float(linear.low[node, column]), float(linear.high[node, column])
        below = told < low
        limit = low if below else high if told > high else None
    lower, upper = (side[leaf] for side in fitted.bounds)
    width = np.minimum(upper, fitted.feature_max) - np.maximum(lower, fitted.feature_min)
    order = np.argsort(-np.abs(slope) * width, kind="stable")
    used = [f for f in order.tolist() if slope[f] != 0]
    if less is not None and not used:
        return None
    # A last feature is told rather than summed up: that takes no more words.
    shown = used if len(used) <= MOST_TERMS + 1 else used[:MOST_TERMS]
    others, rest = used[len(shown) :], 0.0
    for f in sorted(others):
        rest += float(parts[f])
    return Terms(
        centre,
        tuple(shown),
        tuple(slope[shown].tolist()),
        tuple(mean[node, shown].tolist()),
        len(others),
        rest,
        limit,
        below,
    )
