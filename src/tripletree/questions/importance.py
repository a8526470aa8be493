"""Importance: how much each feature matters to action, value and derivative."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tripletree.model.fitted import Fitted
from tripletree.model.table import Table
from tripletree.questions.about import About
from tripletree.questions.answers import Answer
from tripletree.questions.words import importances

F64 = npt.NDArray[np.float64]

ATTRIBUTES = ("action", "value", "derivative")


@dataclass(frozen=True, eq=False, repr=False)
class Importance(Answer):
    """Which share of the impurity that the tree removed was removed by splits on each feature.

    Attributes
    ----------
    share : float64 array of shape (3, features)
        Rows for action, value and derivative; each sums to 1, or is 0 where the splits removed nothing.
    removed : float64 array of shape (3,)
        Which share of the root's impurity the splits removed altogether.
    attributes, features : tuples of str
        Names of the rows and columns.
    """

    share: F64
    removed: F64
    attributes: tuple[str, ...]
    features: tuple[str, ...]

    @property
    def table(self) -> Table:
        """One row a feature, one column an attribute."""
        columns = {name: self.share[g] for g, name in enumerate(self.attributes)}
        return Table({"feature": np.array(self.features), **columns})

    def __str__(self) -> str:
        return importances.importance(self)


def importance(fitted: Fitted) -> Importance:
    """Return the importance of every feature for action, value and derivative."""
    tree, impurity = fitted.tree, fitted.attributes.impurity
    total = np.zeros((3, len(fitted.schema.features)))
    for g, name in enumerate(ATTRIBUTES):
        np.add.at(total[g], tree.feature[tree.split_order], removed(fitted, About(name))[tree.split_order])
    samples = np.array([_samples(fitted, name)[0] for name in ATTRIBUTES])
    root = samples * impurity[0]
    found = total.sum(axis=1)
    return Importance(
        share=total / np.where(found > 0, found, 1.0)[:, None],
        removed=np.minimum(found / np.where(root > 0, root, 1.0), 1.0),
        attributes=ATTRIBUTES,
        features=fitted.schema.feature_names,
    )


def removed(fitted: Fitted, about: About) -> F64:
    """Return how much impurity each node's split removed, times its samples, shape (nodes,); 0 at leaves.

    Parameters
    ----------
    fitted : Fitted
        The tree.
    about : About
        Of which attribute; one with some of its columns only counts these.
    """
    tree = fitted.tree
    weighted = _samples(fitted, about.kind) * _impurity(fitted, about)
    gain = np.zeros(tree.n_nodes)
    left = tree.left[tree.split_order]
    gain[tree.split_order] = weighted[tree.split_order] - weighted[left] - weighted[left + 1]
    return np.maximum(gain, 0.0)  # rounding error may leave less than nothing


def _impurity(fitted: Fitted, about: About) -> F64:
    """Return the impurity of every node, or the summed variance of single columns, each scaled by the log's."""
    std = about.std(fitted, np.arange(fitted.tree.n_nodes)) if about.columns else np.zeros((1, 0))
    if not std.shape[1]:
        return fitted.attributes.impurity[:, ATTRIBUTES.index(about.kind)]
    total: F64 = ((std / np.where(std[0] > 0, std[0], 1.0)) ** 2).sum(axis=1)
    return total


def _samples(fitted: Fitted, kind: str) -> npt.NDArray[np.int64]:
    return fitted.attributes.count_derivative if kind == "derivative" else fitted.attributes.count
