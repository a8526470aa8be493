"""scikit-learn: a tree as a fitted DecisionTreeClassifier or DecisionTreeRegressor, for all that works on those."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.asking.attribute import Attribute, read_attribute
from tripletree.errors import MissingDependencyError
from tripletree.model.fitted import Fitted
from tripletree.tree.structure import Tree

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

LEAST_WEIGHT = 1e-9
"""Weight of a leaf none of whose samples has a derivative: shares of samples are shares of weights."""


def to_sklearn(fitted: Fitted, *, about: Any = "action") -> Any:
    """Return a tree as an estimator of scikit-learn that predicts one attribute: means, or the commonest label.

    scikit-learn rounds states to single precision; for states that are in single precision, its leaves are the tree's.

    Parameters
    ----------
    fitted : Fitted
        The tree.
    about : str
        What it predicts: "action", "value", "derivative", or one column of these by its name.

    Returns
    -------
    sklearn.tree.DecisionTreeClassifier or sklearn.tree.DecisionTreeRegressor
        A classifier for a discrete action, whose ``classes_`` are the labels.
    """
    try:
        from sklearn import tree as sklearn_tree
    except ImportError:
        raise MissingDependencyError("This needs scikit-learn. Type: pip install scikit-learn") from None
    attribute = read_attribute(fitted, about)
    names = np.array(fitted.schema.feature_names, dtype=object)
    outputs = 1 if attribute.labels else len(attribute.names)
    if attribute.labels:
        made = sklearn_tree.DecisionTreeClassifier()
        # In the tree's order, not sorted: of labels that are equally frequent both take the first one.
        made.classes_ = np.array(attribute.labels, dtype=object)
        made.n_classes_ = len(attribute.labels)
    else:
        made = sklearn_tree.DecisionTreeRegressor()
    made.n_features_in_, made.feature_names_in_ = len(names), names
    made.n_outputs_, made.max_features_ = outputs, len(names)
    made.tree_ = _grown(sklearn_tree._tree, fitted, attribute, outputs)
    return made


def _grown(module: Any, fitted: Fitted, attribute: Attribute, outputs: int) -> Any:
    """Return the structure: nodes from top to bottom, everything on the left of a split before what is on its right."""
    tree, at = fitted.tree, fitted.attributes
    order, place = _depth_first(tree)
    inner = tree.left[order] >= 0
    splits = order[inner]
    values, impurity = _statistics(fitted, attribute)
    known = at.mass_derivative if attribute.kind == "derivative" else at.mass
    weight = np.where(tree.left < 0, np.maximum(known, LEAST_WEIGHT), 0.0)
    tree.add_up(weight)
    nodes = np.zeros(tree.n_nodes, module.NODE_DTYPE)
    nodes["left_child"] = nodes["right_child"] = module.TREE_LEAF
    nodes["feature"] = nodes["threshold"] = module.TREE_UNDEFINED
    nodes["left_child"][inner], nodes["right_child"][inner] = place[tree.left[splits]], place[tree.left[splits] + 1]
    nodes["feature"][inner] = tree.feature[splits]
    # On the left of scikit-learn's trees is x <= threshold.
    nodes["threshold"][inner] = np.nextafter(tree.threshold[splits], -np.inf)
    nodes["impurity"] = impurity[order]
    nodes["n_node_samples"] = at.count[order]
    nodes["weighted_n_node_samples"] = weight[order]
    nodes["missing_go_to_left"] = inner
    classes = np.array([values.shape[2]] * outputs, np.intp)
    made = module.Tree(len(fitted.schema.features), classes, outputs)
    made.__setstate__(
        {
            "max_depth": int(tree.depth.max()),
            "node_count": tree.n_nodes,
            "nodes": nodes,
            "values": np.ascontiguousarray(values[order]),
        }
    )
    return made


def _depth_first(tree: Tree) -> tuple[I64, I64]:
    """Return the nodes in scikit-learn's order, and the place of each node in it."""
    below = np.ones(tree.n_nodes, np.int64)
    tree.add_up(below)
    place = np.zeros(tree.n_nodes, np.int64)
    for nodes in tree.levels:
        left = tree.left[nodes]
        place[left] = place[nodes] + 1
        place[left + 1] = place[nodes] + 1 + below[left]
    return np.argsort(place), place


def _statistics(fitted: Fitted, attribute: Attribute) -> tuple[F64, F64]:
    """Return what each node holds, shape (nodes, outputs, classes), and its impurity: Gini, or the mean variance."""
    counted = fitted.attributes.action_mass
    if attribute.labels and counted is not None:
        share = counted / counted.sum(axis=1, keepdims=True)
        return share[:, None, :], 1.0 - (share**2).sum(axis=1)
    return attribute.mean[:, :, None].copy(), (attribute.std**2).mean(axis=1)
