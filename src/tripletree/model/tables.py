"""Tables that tell a fitted tree: its leaves, and its losses at every size."""

from __future__ import annotations

from typing import Any

import numpy as np

from tripletree.leaves.attributes import ATTRIBUTES
from tripletree.leaves.boxes import bounds, density, log_volume
from tripletree.model.fit import score
from tripletree.model.fitted import Fitted
from tripletree.model.table import Table


def leaf_table(fitted: Fitted) -> Table:
    """Return one row a leaf: its number, box, and what it predicts.

    ``pos_min`` and ``pos_max`` are the box in feature ``pos`` (``min <= pos < max``); where no split made a bound, the
    training log's own minimum or maximum stands.
    """
    tree, at, action = fitted.tree, fitted.attributes, fitted.schema.action
    nodes = tree.leaf_nodes
    names = [feature.name for feature in fitted.schema.features]
    lower, upper = bounds(tree, len(names))
    whole = np.array([feature.kind in ("binary", "integer") for feature in fitted.schema.features])
    volume = log_volume(lower, upper, fitted.feature_min, fitted.feature_max, whole)

    columns: dict[str, Any] = {
        "leaf": np.arange(tree.n_leaves),
        "node": nodes,
        "depth": tree.depth[nodes],
        "count": at.count[nodes],
    }
    for f, name in enumerate(names):
        columns[f"{name}_min"] = np.where(np.isinf(lower[:, f]), fitted.feature_min[f], lower[:, f])
        columns[f"{name}_max"] = np.where(np.isinf(upper[:, f]), fitted.feature_max[f], upper[:, f])
    if at.action_count is not None:
        table = at.action_count[nodes]
        columns["action"] = np.array(action.labels)[table.argmax(axis=1)]
        columns["action_probability"] = table.max(axis=1) / at.count[nodes]
    elif at.action_mean is not None and at.action_std is not None:
        prefix = "" if all(name.startswith("action") for name in action.names) else "action_"
        for k, name in enumerate(action.names):
            columns[f"{prefix}{name}_mean"] = at.action_mean[nodes, k]
            columns[f"{prefix}{name}_std"] = at.action_std[nodes, k]
    columns["value_mean"] = at.value_mean[nodes]
    columns["value_std"] = at.value_std[nodes]
    if at.derivative_mean is not None and at.derivative_std is not None:
        for f, name in enumerate(names):
            columns[f"derivative_{name}_mean"] = at.derivative_mean[nodes, f]
            columns[f"derivative_{name}_std"] = at.derivative_std[nodes, f]
    for g, name in enumerate(ATTRIBUTES):
        columns[f"impurity_{name}"] = at.impurity[nodes, g]
    columns["density"] = density(at.count[nodes], volume)
    return Table(columns)


def curve_table(fitted: Fitted) -> Table:
    """Return the losses with 1, 2, ... leaves, on the training and the validation log, and what early stopping saw."""
    columns: dict[str, Any] = {"leaves": np.arange(1, len(fitted.curve_training) + 1)}
    for log, curve in (("training", fitted.curve_training), ("validation", fitted.curve_validation)):
        if curve is not None:
            columns |= {f"{log}_{name}": curve[:, g] for g, name in enumerate(ATTRIBUTES)}
    if fitted.curve_validation is not None:
        columns["score"] = score(fitted.curve_validation, fitted.options["theta"])
    return Table(columns)
