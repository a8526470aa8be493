"""Which arrays a model file holds, and how they become a fitted model."""

from __future__ import annotations

from collections.abc import Mapping
from operator import attrgetter
from typing import Any

import numpy.typing as npt

from tripletree.errors import ModelFileError
from tripletree.leaves.attributes import Attributes
from tripletree.log.schema import Schema
from tripletree.model.fitted import Fitted
from tripletree.store.container import DTYPES, Entry
from tripletree.store.strict_json import show
from tripletree.tree.arrays import Tree

MAX_NODES = 2**21

# Name (the attribute of Fitted), dtype, and what the sizes of the shape count.
_ARRAYS: dict[str, tuple[str, tuple[str, ...]]] = {
    "tree.feature": ("I32", ("nodes",)),
    "tree.threshold": ("F64", ("nodes",)),
    "tree.left": ("I32", ("nodes",)),
    "tree.quality": ("F64", ("nodes",)),
    "attributes.count": ("I64", ("nodes",)),
    "attributes.count_derivative": ("I64", ("nodes",)),
    "attributes.action_count": ("I64", ("nodes", "labels")),
    "attributes.action_mean": ("F64", ("nodes", "dimensions")),
    "attributes.action_std": ("F64", ("nodes", "dimensions")),
    "attributes.value_mean": ("F64", ("nodes",)),
    "attributes.value_std": ("F64", ("nodes",)),
    "attributes.derivative_mean": ("F64", ("nodes", "features")),
    "attributes.derivative_std": ("F64", ("nodes", "features")),
    "attributes.impurity": ("F64", ("nodes", "attributes")),
    "feature_min": ("F64", ("features",)),
    "feature_max": ("F64", ("features",)),
    "action_scale": ("F64", ("dimensions",)),
    "derivative_scale": ("F64", ("features",)),
    "curve_training": ("F64", ("steps", "attributes")),
    "curve_validation": ("F64", ("steps", "attributes")),
}
_DISCRETE = {"attributes.action_count"}
_CONTINUOUS = {"attributes.action_mean", "attributes.action_std", "action_scale"}
_DERIVATIVE = {"attributes.derivative_mean", "attributes.derivative_std"}
_OPTIONAL = {*_DERIVATIVE, "curve_validation"}


def collect(fitted: Fitted) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays of a model by name; refuse dtypes that the file would not give back."""
    found = {name: attrgetter(name)(fitted) for name in _ARRAYS}
    arrays = {name: array for name, array in found.items() if array is not None}
    for name, array in arrays.items():
        expected = DTYPES[_ARRAYS[name][0]]
        if getattr(array, "dtype", None) != expected:
            came = getattr(array, "dtype", type(array).__name__)
            raise ModelFileError(f"`{name}` must be an array of {expected.name}, got {came}.")
    return arrays


def check_entries(entries: Mapping[str, Entry], schema: Schema, unknown: list[str]) -> list[str]:
    """Check from the header alone that the right arrays will come; return their names, others go into ``unknown``."""
    discrete = schema.action.kind == "discrete"
    allowed = _ARRAYS.keys() - (_CONTINUOUS if discrete else _DISCRETE)
    missing = allowed - _OPTIONAL - entries.keys()
    if len(_DERIVATIVE & entries.keys()) == 1:
        missing |= _DERIVATIVE - entries.keys()
    if missing:
        raise ModelFileError(f"it lacks the array {show(min(missing))}.")
    for name in sorted(_ARRAYS.keys() & entries.keys() - allowed):
        raise ModelFileError(f"it has the array {show(name)}, which does not fit a {schema.action.kind} action.")
    unknown.extend(name for name in entries if name not in _ARRAYS)

    sizes = {
        "features": len(schema.features),
        "labels": len(schema.action.labels),
        "dimensions": len(schema.action.names),
        "attributes": 3,
    }
    for name in ("tree.feature", "curve_training"):
        if not entries[name].shape:
            raise ModelFileError(f"array {show(name)} has no dimension.")
    sizes["nodes"] = entries["tree.feature"].shape[0]
    if not 1 <= sizes["nodes"] <= MAX_NODES or sizes["nodes"] % 2 == 0:
        raise ModelFileError(
            f"it has {sizes['nodes']:,} nodes; a tree has an odd number of them, at most {MAX_NODES - 1:,}."
        )
    sizes["steps"] = entries["curve_training"].shape[0]
    if not sizes["nodes"] // 2 + 1 <= sizes["steps"] <= MAX_NODES:
        raise ModelFileError(
            f"its loss curve has {sizes['steps']:,} points, its tree {sizes['nodes'] // 2 + 1:,} leaves; "
            f"there must be one for each leaf count, at most {MAX_NODES:,}."
        )
    names = sorted(allowed & entries.keys())
    for name in names:
        dtype, sides = _ARRAYS[name]
        entry, shape = entries[name], tuple(sizes[side] for side in sides)
        if (entry.dtype, entry.shape) != (dtype, shape):
            raise ModelFileError(
                f"array {show(name)} must be {dtype} of shape {shape}, got {entry.dtype} of shape {show(entry.shape)}."
            )
    return names


def build(
    arrays: Mapping[str, npt.NDArray[Any]], schema: Schema, options: dict[str, Any], provenance: dict[str, Any]
) -> Fitted:
    """Return the model that these arrays make; those that are absent become None."""

    def part(prefix: str) -> dict[str, Any]:
        return {name.removeprefix(prefix): arrays.get(name) for name in _ARRAYS if name.startswith(prefix)}

    rest: dict[str, Any] = {name: arrays.get(name) for name in _ARRAYS if "." not in name}
    return Fitted(
        schema=schema,
        tree=Tree(**part("tree.")),
        attributes=Attributes(**part("attributes.")),
        options=options,
        provenance=provenance,
        **rest,
    )
