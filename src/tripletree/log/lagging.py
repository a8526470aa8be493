"""Puts the past into the state: what features and actions were some steps ago, as features of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.checks import check_whole
from tripletree.errors import ParameterError
from tripletree.log.coerce import freeze
from tripletree.log.log import Log
from tripletree.log.schema import Feature, Schema
from tripletree.text import Message, Option, count

F64 = npt.NDArray[np.float64]

NONE_YET = "none yet"
"""The label of an action from before an episode began."""


def with_lags(log: Log, lags: Any) -> Log:
    """Return the log with what features and actions were so many steps ago; see `Log.with_lags`."""
    if not isinstance(lags, Sequence) or isinstance(lags, str) or not lags or len(set(lags)) < len(lags):
        raise ParameterError(
            Message(
                "{} must be a list of different numbers of steps; got {!r:.60}. Try {}.",
                Option("lags"),
                lags,
                Option("lags", [1, 5]),
            )
        )
    for lag in lags:
        check_whole(lag, "lags", 1)
    now = [f for f, feature in enumerate(log.schema.features) if not feature.lag]
    parts, finals, features = [log.states], [log.final_states], list(log.schema.features)
    # The step that a final state belongs to comes after the last one of its episode.
    last = log.starts[1:]
    place = np.arange(log.n_samples)
    begin = np.repeat(log.starts[:-1], np.diff(log.starts))
    missing = np.isnan(log.final_states[:, :1])
    for lag in lags:
        ago = f"{count(lag, 'step')} ago"
        before, late = np.maximum(place - lag, begin), np.maximum(last - lag, log.starts[:-1])
        parts.append(log.states[before][:, now])
        finals.append(np.where(missing, np.nan, log.states[late][:, now]))
        features += [_renamed(log.schema.features[f], ago, lag) for f in now]
        if log.schema.has_action:
            done = _actions(log)
            parts.append(_taken(done, place - lag, begin, log.schema))
            finals.append(np.where(missing, np.nan, _taken(done, last - lag, log.starts[:-1], log.schema)))
            features += _past_actions(log.schema, ago, lag)
    return replace(
        log,
        states=freeze(np.concatenate(parts, axis=1)),
        final_states=freeze(np.concatenate(finals, axis=1)),
        schema=replace(log.schema, features=tuple(features)),
    )


def _renamed(feature: Feature, ago: str, lag: int) -> Feature:
    """Return a feature as it was: "v_y 5 steps ago"."""
    if feature.column:
        column = f"{feature.column} {ago}"
        return replace(feature, name=f"{column} is {feature.category}", column=column, lag=lag)
    return replace(feature, name=f"{feature.name} {ago}", lag=lag)


def _past_actions(schema: Schema, ago: str, lag: int) -> list[Feature]:
    """Return the features that an earlier action makes: one for each label and for none yet, or for each dimension."""
    action = schema.action
    names = [f"{name} {ago}" for name in action.names]
    if action.kind == "continuous":
        return [Feature(name, unit, lag=lag) for name, unit in zip(names, action.units, strict=True)]
    return [
        Feature(f"{names[0]} is {label}", "", "binary", names[0], label, lag) for label in (*action.labels, NONE_YET)
    ]


def _actions(log: Log) -> F64:
    """Return the actions as numbers: 0 or 1 for each label, or one for each dimension."""
    if log.schema.action.kind == "continuous":
        return np.asarray(log.actions, np.float64)
    codes = np.arange(len(log.schema.action.labels) + 1)
    return np.asarray(log.actions[:, None] == codes, np.float64)


def _taken(done: F64, rows: npt.NDArray[np.int64], begin: npt.NDArray[np.int64], schema: Schema) -> F64:
    """Return the actions at some rows; before an episode's first one, none yet or 0: the first is not known yet."""
    out = done[np.maximum(rows, 0)]
    early = rows < begin
    out[early] = 0
    if schema.action.kind == "discrete":
        out[early, -1] = 1
    return out
