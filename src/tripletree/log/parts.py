"""Parts of one log that were read apart: the schema of all of them, and one log of some."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.errors import LogError
from tripletree.log.log import Log
from tripletree.log.schema import Feature, Schema

F64 = npt.NDArray[np.float64]

KINDS = ("binary", "integer", "real")
"""Of a feature, from narrow to wide: the whole has the widest kind of its parts."""


def join_parts(logs: Sequence[Log], roles: Mapping[str, Any]) -> Log:
    """Return the episodes of all parts as one log."""
    low = np.min([log.states.min(axis=0) for log in logs], axis=0)
    high = np.max([log.states.max(axis=0) for log in logs], axis=0)
    schema = join_schemas([log.schema for log in logs], (low, high), roles)
    same = []
    for log in logs:
        actions = log.actions
        if schema.action.kind == "discrete":
            place = {label: k for k, label in enumerate(schema.action.labels)}
            actions = np.array([place[label] for label in log.schema.action.labels], np.int32)[actions]
        same.append(replace(log, actions=actions, schema=schema))
    return Log.concatenate(same)


def join_schemas(schemas: Sequence[Schema], reach: tuple[F64, F64], roles: Mapping[str, Any]) -> Schema:
    """Return the schema of the whole log: the widest kind of each feature, and all labels."""
    first = schemas[0]
    given = roles.get("kinds") or {}
    features = []
    for f, feature in enumerate(first.features):
        kinds = {schema.features[f].kind for schema in schemas}
        kind = feature.kind
        if kinds <= set(KINDS) and feature.name not in given:
            kind = max(kinds, key=KINDS.index)
            if kind == "binary" and not (reach[0][f] >= 0 and reach[1][f] <= 1):
                kind = "integer"
        unit = next((schema.features[f].unit for schema in schemas if schema.features[f].unit), "")
        features.append(Feature(feature.name, unit, kind, **_rest(feature)))
    action = first.action
    if action.kind == "discrete" and first.has_action and not roles.get("labels"):
        labels = {label for schema in schemas for label in schema.action.labels}
        order = {label: place for place, label in enumerate(roles.get("order") or ())}
        action = replace(action, labels=tuple(sorted(labels, key=order.__getitem__ if order else _label_key)))
    elif any(schema.action != action for schema in schemas):
        raise LogError("The actions of this log are not the same in all its parts; give labels=.")
    return replace(first, features=tuple(features), action=action)


def _rest(feature: Feature) -> dict[str, Any]:
    return {name: value for name, value in vars(feature).items() if name not in ("name", "unit", "kind")}


def _label_key(label: str) -> list[tuple[int, float, str]]:
    """Sort labels as the values that they stand for: numbers by size, texts by their letters."""
    found = []
    for part in label.split(", "):
        try:
            found.append((0, float(part), ""))
        except ValueError:
            found.append((1, 0.0, part))
    return found
