"""Which arrays a model file holds, and how they become a fitted model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple
from operator import attrgetter
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.errors import ModelFileError
from tripletree.graph.transitions import MarkovCheck, Transitions
from tripletree.leaves.attributes import Attributes
from tripletree.leaves.linear import LinearLeaves
from tripletree.log.schema import Schema
from tripletree.model.fitted import Fitted, Judged
from tripletree.model.track import Track
from tripletree.store.container import DTYPES, Entry
from tripletree.store.strict_json import show
from tripletree.text import count
from tripletree.tree.structure import Tree

MAX_NODES = 2**21
"""A million leaves, far more than anybody can read."""

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
    "attributes.state_mean": ("F64", ("nodes", "features")),
    "attributes.weight": ("I64", ("nodes",)),
    "attributes.weight_derivative": ("I64", ("nodes",)),
    "attributes.action_weight": ("I64", ("nodes", "labels")),
    "linear.centre": ("F64", ("nodes", "targets")),
    "linear.slope": ("F32", ("nodes", "targets", "features")),
    "linear.low": ("F32", ("nodes", "targets")),
    "linear.high": ("F32", ("nodes", "targets")),
    "linear.spread": ("F32", ("nodes", "targets")),
    "linear.full": ("F32", ("nodes", "targets")),
    "feature_min": ("F64", ("features",)),
    "feature_max": ("F64", ("features",)),
    "action_scale": ("F64", ("dimensions",)),
    "derivative_scale": ("F64", ("features",)),
    "curve_training": ("F64", ("steps", "attributes")),
    "curve_validation": ("F64", ("steps", "attributes")),
    "transitions.source": ("I32", ("edges",)),
    "transitions.target": ("I32", ("edges",)),
    "transitions.count": ("I64", ("edges",)),
    "transitions.steps": ("I64", ("edges",)),
    "transitions.censored": ("I64", ("leaves",)),
    "transitions.censored_steps": ("I64", ("leaves",)),
    "transitions.stays": ("I64", ("leaves",)),
    "transitions.starts": ("I64", ("leaves",)),
    "transitions.samples": ("I64", ("leaves",)),
    "transitions.weight": ("F64", ("edges",)),
    "transitions.weighted_steps": ("F64", ("edges",)),
    "transitions.weighted_stays": ("F64", ("leaves",)),
    "transitions.weighted_starts": ("F64", ("leaves",)),
    "transitions.effective": ("F64", ("leaves",)),
    "markov": ("F64", ("checks",)),
    "training_episodes": ("U64", ("grown on",)),
    "validation_episodes": ("U64", ("validated on",)),
    "judged": ("F64", ("tests",)),
    "track.bins": ("I64", ("features",)),
    "track.values": ("F64", ("bins",)),
    "track.packed": ("U8", ("packed",)),
    "track.starts": ("I64", ("bounds",)),
    "track.endings": ("U8", ("recorded",)),
    "track.finals": ("U8", ("recorded",)),
    "track.returns": ("F64", ("recorded",)),
    "track.ids": ("I64", ("recorded",)),
    "track.texts": ("U8", ("texts",)),
    "track.first": ("I64", ("recorded",)),
    "track.groups": ("I64", ("recorded",)),
    "track.group_ends": ("I64", ("groups",)),
    "track.group_texts": ("U8", ("group texts",)),
    "track.weights": ("F64", ("recorded",)),
}
_DISCRETE = {"attributes.action_count", "attributes.action_weight"}
_CONTINUOUS = {"attributes.action_mean", "attributes.action_std", "action_scale"}
_DERIVATIVE = {"attributes.derivative_mean", "attributes.derivative_std"}
_WEIGHTS = {"attributes.weight", "attributes.weight_derivative"}
_WEIGHTED_MOVES = {
    "transitions.weight",
    "transitions.weighted_steps",
    "transitions.weighted_stays",
    "transitions.weighted_starts",
    "transitions.effective",
}
_TRANSITIONS = {"markov", *(name for name in _ARRAYS if name.startswith("transitions."))} - _WEIGHTED_MOVES
_TRACK = {name for name in _ARRAYS if name.startswith("track.")}
_LINEAR = {name for name in _ARRAYS if name.startswith("linear.") and name != "linear.full"}
_GROUPS = {name for name in _TRACK if name.startswith("track.group")}
_OPTIONAL = {
    *_DERIVATIVE,
    *_TRANSITIONS,
    *_TRACK,
    *_LINEAR,
    *_WEIGHTS,
    *_WEIGHTED_MOVES,
    "attributes.action_weight",
    "linear.full",
    "curve_validation",
    "attributes.state_mean",
    "training_episodes",
    "validation_episodes",
    "judged",
}
# Sizes that no other part of the file gives, each by the array that it is read from.
_OWN_LENGTH = {
    "edges": "transitions.source",
    "grown on": "training_episodes",
    "validated on": "validation_episodes",
    "bins": "track.values",
    "packed": "track.packed",
    "bounds": "track.starts",
    "recorded": "track.endings",
    "texts": "track.texts",
    "groups": "track.group_ends",
    "group texts": "track.group_texts",
}


def collect(fitted: Fitted) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays of a model by name; refuse dtypes that the file would not give back."""
    moves, judged = fitted.transitions, fitted.judged
    numbers = {
        "track.packed": None if fitted.track is None else fitted.track.smallest,
        "markov": None if moves is None else np.array(astuple(moves.markov), np.float64),
        "judged": None
        if judged is None
        else np.array([*judged.losses, *judged.constant, *judged.margin, judged.episodes, judged.samples], np.float64),
    }
    parts = (
        (_TRANSITIONS | _WEIGHTED_MOVES, moves),
        (_TRACK, fitted.track),
        (_LINEAR | {"linear.full"}, fitted.linear),
    )
    absent = {name for names, part in parts if part is None for name in names}
    kept = [name for name in _ARRAYS if name not in absent]
    found = {name: numbers[name] if name in numbers else attrgetter(name)(fitted) for name in kept}
    arrays = {name: array for name, array in found.items() if array is not None}
    for name, array in arrays.items():
        expected = DTYPES[_ARRAYS[name][0]]
        if getattr(array, "dtype", None) != expected:
            came = getattr(array, "dtype", type(array).__name__)
            raise ModelFileError(f"`{name}` must be an array of {expected.name}, got {came}.")
    return arrays


def check_entries(entries: Mapping[str, Entry], schema: Schema, unknown: list[str]) -> list[str]:
    """Check, from the header alone, that the right arrays are there; return their names, others go into ``unknown``."""
    discrete = schema.action.kind == "discrete"
    allowed = _ARRAYS.keys() - (_CONTINUOUS if discrete else _DISCRETE)
    missing = allowed - _OPTIONAL - entries.keys()
    # Optional means all of a group or none of it.
    weights = _WEIGHTS | ({"attributes.action_weight"} if discrete else set())
    for together in (_DERIVATIVE, _TRANSITIONS, _GROUPS, _LINEAR, weights, _WEIGHTED_MOVES):
        if together & entries.keys():
            missing |= together - entries.keys()
    if _TRACK & entries.keys():
        # Episodes that are numbers have no texts, and whole ones begin at step 0.
        missing |= _TRACK - entries.keys() - {"track.texts", "track.first", "track.weights"} - _GROUPS
    if "linear.full" in entries:
        missing |= _LINEAR - entries.keys()
    if _WEIGHTED_MOVES & entries.keys():
        missing |= _TRANSITIONS - entries.keys()
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
        "checks": 7,
        "tests": 11,
    }
    sizes["targets"] = (sizes["labels"] or sizes["dimensions"]) + 1
    if _DERIVATIVE & entries.keys():
        sizes["targets"] += sizes["features"]
    for name in ("tree.feature", "curve_training", *_OWN_LENGTH.values()):
        if name in entries and not entries[name].shape:
            raise ModelFileError(f"array {show(name)} has no dimension.")
    sizes["nodes"] = entries["tree.feature"].shape[0]
    if not 1 <= sizes["nodes"] <= MAX_NODES or sizes["nodes"] % 2 == 0:
        raise ModelFileError(
            f"it has {sizes['nodes']:,} nodes; a tree has an odd number of them, at most {MAX_NODES - 1:,}."
        )
    sizes["leaves"] = sizes["nodes"] // 2 + 1
    for side, name in _OWN_LENGTH.items():
        if name in entries:
            sizes[side] = entries[name].shape[0]
    # The curve of a tree that was cut back goes on beyond its leaves.
    sizes["steps"] = entries["curve_training"].shape[0]
    if not sizes["leaves"] <= sizes["steps"] <= MAX_NODES:
        raise ModelFileError(
            f"its loss curve has {count(sizes['steps'], 'point')}, its tree {count(sizes['leaves'], 'leaf', 'leaves')};"
            f" there must be one for each leaf count, at most {MAX_NODES:,}."
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
    checks, tests = rest.pop("markov"), rest.pop("judged")
    tree = Tree(**part("tree."))
    transitions = None
    if checks is not None:
        transitions = Transitions(tree.n_leaves, **part("transitions."), markov=_markov(checks))
    return Fitted(
        schema=schema,
        tree=tree,
        attributes=Attributes(**part("attributes.")),
        options=options,
        provenance=provenance,
        transitions=transitions,
        judged=None if tests is None else _judged_numbers(tests),
        linear=LinearLeaves(**part("linear.")) if "linear.slope" in arrays else None,
        track=Track(**part("track.")) if "track.packed" in arrays else None,
        **rest,
    )


def _judged_numbers(numbers: npt.NDArray[Any]) -> Judged:
    """Return the test that these numbers make, counts as integers."""
    *losses, episodes, samples = numbers.tolist()
    # The margin is infinite when a single episode was judged.
    if not (numbers >= 0).all() or not np.isfinite(numbers[:6]).all():
        raise ModelFileError("`judged` must hold numbers of at least 0, and finite losses.")
    if not all(1 <= number <= 2**53 and number == int(number) for number in (episodes, samples)):
        raise ModelFileError("`judged` holds a count that is no whole number from 1 to 2^53.")
    return Judged(tuple(losses[:3]), tuple(losses[3:6]), tuple(losses[6:]), int(episodes), int(samples))


def _markov(numbers: npt.NDArray[Any]) -> MarkovCheck:
    """Return the check that these numbers make, counts as integers."""
    # Up to 2^53 every whole number has a double of its own.
    if not (np.isfinite(numbers).all() and (numbers >= 0).all() and (numbers <= 2**53).all()):
        raise ModelFileError("`markov` must hold finite numbers from 0 to 2^53.")
    memory, memory_chance, moves, distance, distance_chance, horizon, episodes = numbers.tolist()
    if max(memory, memory_chance, distance, distance_chance) > 1:
        raise ModelFileError("`markov` holds a share above 1.")
    if any(number != int(number) for number in (moves, horizon, episodes)):
        raise ModelFileError("`markov` holds a count that is no whole number.")
    return MarkovCheck(memory, memory_chance, int(moves), distance, distance_chance, int(horizon), int(episodes))
