"""JSON: a tree as a list of rules, one for each leaf, for programs in any language."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

from tripletree import __version__
from tripletree.asking.attribute import Attribute, targets_of
from tripletree.export.program import linear_leaves, wanted
from tripletree.leaves.linear import LinearLeaves, node_means
from tripletree.model.fitted import Fitted
from tripletree.text import visible_json

FORMAT = 1
"""Raised when a reader of earlier files would misread new ones."""


def to_json(fitted: Fitted, *, about: Any = None, leaf_model: Any = None) -> str:
    """Return a tree as JSON; docs/exporting.md has the format.

    Parameters
    ----------
    fitted : Fitted
        The tree.
    about : str or None
        What rules predict, such as "action"; None: all that the tree knows.
    leaf_model : {"mean", "linear"} or None
        Whether rules have linear models beside their means; None: as the tree itself.
    """
    linear = linear_leaves(fitted, leaf_model)
    models = None if linear is None else linear.at(fitted.tree.leaf_nodes)
    found = wanted(fitted, about)
    means = node_means(fitted.leaves)
    told = {part.kind: (part, means[:, targets_of(fitted, part)]) for part in found}
    counts, whole = fitted.leaves.count.tolist(), int(fitted.attributes.count[0])
    rules = [
        {
            "leaf": leaf,
            "conditions": _conditions(fitted, leaf),
            "samples": samples,
            "share": samples / whole,
            **{kind: _prediction(fitted, part, numbers[leaf].tolist()) for kind, (part, numbers) in told.items()},
            **({} if models is None else {"linear": _models(fitted, models, found, leaf)}),
        }
        for leaf, samples in enumerate(counts)
    ]
    page = {
        "format": "tripletree rules",
        "format_version": FORMAT,
        "tripletree": __version__,
        "schema": fitted.schema.to_dict(),
        "leaf_model": "mean" if models is None else "linear",
        "rules": rules,
    }
    return visible_json(json.dumps(page, ensure_ascii=False, indent=1, allow_nan=False)) + "\n"


def _conditions(fitted: Fitted, leaf: int) -> list[dict[str, Any]]:
    lower, upper = (side[leaf].tolist() for side in fitted.bounds)
    return [
        {"feature": name, "low": _finite(low), "high": _finite(high)}
        for name, low, high in zip(fitted.schema.feature_names, lower, upper, strict=True)
        if math.isfinite(low) or math.isfinite(high)
    ]


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None


def _keys(fitted: Fitted, part: Attribute) -> list[str]:
    """Return what the columns of an attribute are called: labels, dimensions of the action, features."""
    if part.kind == "derivative":
        return [fitted.schema.feature_names[f] for f in part.columns]
    return list(part.labels or part.names)


def _prediction(fitted: Fitted, part: Attribute, numbers: list[float]) -> Any:
    if part.kind == "value":
        return numbers[0]
    named = dict(zip(_keys(fitted, part), numbers, strict=True))
    return {"label": part.labels[int(np.argmax(numbers))], "shares": named} if part.labels else named


def _models(fitted: Fitted, models: LinearLeaves, found: list[Attribute], leaf: int) -> dict[str, Any]:
    """Return the linear models of a leaf; slopes that are not there are 0."""
    names = fitted.schema.feature_names

    def model(target: int) -> dict[str, Any]:
        slopes = zip(names, models.slope[leaf, target].tolist(), strict=True)
        return {
            "centre": float(models.centre[leaf, target]),
            "slopes": {name: slope for name, slope in slopes if slope},
            "low": _finite(float(models.low[leaf, target])),
            "high": _finite(float(models.high[leaf, target])),
        }

    origin = fitted.leaves.state_mean
    told: dict[str, Any] = {"origin": {} if origin is None else dict(zip(names, origin[leaf].tolist(), strict=True))}
    for part in found:
        each = dict(zip(_keys(fitted, part), map(model, targets_of(fitted, part)), strict=True))
        told[part.kind] = each["value"] if part.kind == "value" else each
    return told
