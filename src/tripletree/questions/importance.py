"""Importance: the impurity that the splits on each feature removed."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tripletree.answers.importance import Importance
from tripletree.asking.attribute import Attribute
from tripletree.leaves.attributes import ATTRIBUTES
from tripletree.model.fitted import Fitted

F64 = npt.NDArray[np.float64]


def importance(fitted: Fitted) -> Importance:
    """Return the importance of every feature for action, value and derivative."""
    tree, impurity = fitted.tree, fitted.attributes.impurity
    total = np.zeros((3, len(fitted.schema.features)))
    for g, name in enumerate(ATTRIBUTES):
        np.add.at(total[g], tree.feature[tree.split_order], removed(fitted, name)[tree.split_order])
    samples = np.array([_samples(fitted, name)[0] for name in ATTRIBUTES])
    root = samples * impurity[0]
    found = total.sum(axis=1)
    return Importance(
        share=total / np.where(found > 0, found, 1.0)[:, None],
        removed=np.minimum(found / np.where(root > 0, root, 1.0), 1.0),
        attributes=ATTRIBUTES,
        features=fitted.schema.feature_names,
        recorded=(fitted.schema.has_action, fitted.schema.has_reward, True),
    )


def removed(fitted: Fitted, about: Attribute | str) -> F64:
    """Return how much impurity each node's split removed, times its samples, shape (nodes,); 0 at leaves.

    Parameters
    ----------
    fitted : Fitted
        The tree.
    about : Attribute or str
        Of which attribute, or of which of the three by name. An attribute with some of its columns only counts these.
    """
    tree = fitted.tree
    weighted = _samples(fitted, about if isinstance(about, str) else about.kind) * _impurity(fitted, about)
    gain = np.zeros(tree.n_nodes)
    left = tree.left[tree.split_order]
    gain[tree.split_order] = weighted[tree.split_order] - weighted[left] - weighted[left + 1]
    return np.maximum(gain, 0.0)  # rounding error may leave less than nothing


def _impurity(fitted: Fitted, about: Attribute | str) -> F64:
    """Return the impurity of every node, or the summed variance of single columns, each scaled by the log's."""
    if isinstance(about, str):
        return fitted.attributes.impurity[:, ATTRIBUTES.index(about)]
    if not about.columns:
        return fitted.attributes.impurity[:, ATTRIBUTES.index(about.kind)]
    total: F64 = ((about.std / np.where(about.std[0] > 0, about.std[0], 1.0)) ** 2).sum(axis=1)
    return total


def _samples(fitted: Fitted, kind: str) -> npt.NDArray[np.int64]:
    return fitted.attributes.mass_derivative if kind == "derivative" else fitted.attributes.mass
