"""A log as one table with a row for each step: for pandas, for Parquet files, and back from such a table."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Mapping
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tripletree.errors import LogError, MissingDependencyError
from tripletree.log.coerce import Array
from tripletree.log.endings import TERMINATED, TRUNCATED, UNKNOWN
from tripletree.log.schema import Schema
from tripletree.writing import reason, replacing, shown

if TYPE_CHECKING:
    from tripletree.log.log import Log

OWN = "tripletree_log"
"""The name under which a file of ours keeps the log's schema."""

BEFORE, AFTER = ("episode", "step"), ("reward", "terminated", "truncated")
"""Columns before and after those of state and action."""
TIME = "dt"
"""The column with the seconds to the next step, in logs that know them."""
WEIGHT = "sample_weight"
"""The column that says how much each step counts, in logs with weights."""


def data_frame(columns: Mapping[str, Array]) -> Any:
    """Return columns as a pandas DataFrame; if pandas is missing, the error says how to install it."""
    try:
        import pandas  # type: ignore[import-untyped]
    except ImportError:
        raise MissingDependencyError("A DataFrame needs pandas. Type: pip install pandas") from None
    return pandas.DataFrame(dict(columns))


def described(log: Log) -> str:
    """Return what a file of ours keeps besides the columns: the log's schema, and what its groups are called."""
    also = ({} if log.groups is None else {"group": log.group_name}) | (
        {} if log.weights is None else {"weighted": True}
    )
    return json.dumps(log.schema.to_dict() | also)


def column_names(schema: Schema, group: str | None = None, weighted: bool = False) -> list[str]:
    """Return the names of a log's columns: those of the schema, and those that a reader guesses the others by.

    Categories are the text that they were read from, and what a log does not know, such as rewards, has no column.
    """
    states = list(schema.columns)
    actions = schema.action.names if schema.has_action else ()
    timed = (TIME,) if schema.per_second else ()
    after = (*(AFTER if schema.has_reward else AFTER[1:]), *(f"next_{state}" for state in states), *timed)
    taken: dict[str, None] = {}
    for name in (
        *states,
        *actions,
        *BEFORE,
        *after,
        *((WEIGHT,) if weighted else ()),
        *(() if group is None else (group,)),
    ):
        # A feature may be called "reward", but a table has each name once.
        while name in taken:
            name += "_"
        taken[name] = None
    names = list(taken)
    width = len(states) + len(actions)
    own = width + len(BEFORE)
    return [*names[width:own], *names[:width], *names[own:]]


def table_of(log: Log) -> dict[str, Array]:
    """Return the columns of a log: episode, step, state, action, reward, how it ends, the next state, weight, group."""
    lengths = np.diff(log.starts)
    last = log.starts[1:] - 1
    following = np.roll(log.states, -1, axis=0)
    following[last] = log.final_states
    flags = np.zeros((2, log.n_samples), bool)
    flags[:, last] = log.endings == TERMINATED, log.endings == TRUNCATED
    schema, labels = log.schema, log.schema.action.labels
    moves = [np.array(labels)[log.actions]] if labels else list(log.actions.T)
    columns = [
        np.repeat(log.episode_ids, lengths),
        np.arange(log.n_samples) - np.repeat(log.starts[:-1], lengths),
        *_as_text(log.states, schema),
        *(moves if schema.has_action else []),
        *([log.rewards] if schema.has_reward else []),
        *flags,
        *_as_text(following, schema),
        *([] if log.dt is None else [log.dt]),
        *([] if log.weights is None else [log.weights]),
        *([] if log.groups is None else [np.repeat(log.groups, lengths)]),
    ]
    names = column_names(log.schema, None if log.groups is None else log.group_name, log.weights is not None)
    return dict(zip(names, columns, strict=True))


def _as_text(states: Array, schema: Schema) -> list[Array]:
    """Return the columns of some states, categories as text; None where a state is in none of them."""
    columns: dict[str, Array] = {}
    for feature, numbers in zip(schema.features, states.T, strict=True):
        if feature.column:
            texts = columns.setdefault(feature.column, np.full(len(states), None, object))
            texts[numbers == 1] = feature.category
        else:
            columns[feature.name] = numbers
    return list(columns.values())


def _as_numbers(columns: list[Array], schema: Schema) -> Array:
    """Return the states that `_as_text` made columns of; NaN for None."""
    table = dict(zip(schema.columns, columns, strict=True))
    numbers: list[Array] = []
    for feature in schema.features:
        column = table[feature.column or feature.name]
        if feature.column:
            texts = column.astype(object)
            blank = np.array([text is None or text != text for text in texts.tolist()], bool)
            column = np.where(blank, np.nan, texts == feature.category)
        numbers.append(column)
    return np.stack(numbers, axis=1).astype(np.float64)


def fields_of(
    table: Mapping[str, Array], schema: Schema, group: str | None = None, weighted: bool = False
) -> dict[str, Any] | None:
    """Return the fields of the log that `table_of` made a table of; None when rows or columns were changed since."""
    if list(table) != column_names(schema, group, weighted):
        return None
    d = len(schema.columns)
    ids, steps, *rest = table.values()
    groups = None if group is None else rest.pop()
    weights = {"weights": rest.pop()} if weighted else {}
    dt = {"dt": rest.pop()} if schema.per_second else {}
    states, following, rest = rest[:d], rest[-d:], rest[d:-d]
    truncated, terminated = rest.pop(), rest.pop()
    rewards = rest.pop() if schema.has_reward else np.zeros(len(steps))
    starts = np.append(np.flatnonzero(steps == 0), len(steps))
    # Steps that do not count from 0: rows are missing, or in another order.
    if starts[0] != 0 or not np.array_equal(steps, np.arange(len(steps)) - np.repeat(starts[:-1], np.diff(starts))):
        return None
    last = starts[1:] - 1
    labels = {label: code for code, label in enumerate(schema.action.labels)}
    moves = np.array([labels[label] for label in rest[0]], np.int32) if labels and schema.has_action else None
    if moves is None:
        moves = np.stack(rest, axis=1) if schema.has_action else np.zeros(len(steps), np.int32)
    return {
        "states": _as_numbers(states, schema),
        "actions": moves,
        "rewards": rewards,
        "starts": starts,
        "final_states": _as_numbers([column[last] for column in following], schema),
        "endings": np.select([terminated[last], truncated[last]], [TERMINATED, TRUNCATED]),
        "episode_ids": ids[starts[:-1]],
        "schema": schema,
        **dt,
        **weights,
        **({} if groups is None else {"groups": groups[starts[:-1]], "group_name": group}),
    }


def write_csv(log: Log, path: Path) -> None:
    """Write a log to a CSV file: numbers with all their digits, an empty cell where a final state is not known."""
    columns = table_of(log)
    unknown = log.endings == UNKNOWN
    if unknown.any():
        # Neither terminated nor truncated, and still over.
        done = np.zeros(log.n_samples, bool)
        done[log.starts[1:] - 1] = True
        columns["done" if "done" not in columns else "done_"] = done
    if np.isnan(log.final_states[:, 0]).all():
        features = log.schema.feature_names
        for name in {f"next_{feature}" for feature in features}.difference(features):
            columns.pop(name, None)
    rows = zip(*(_cells(column) for column in columns.values()), strict=True)
    try:
        with replacing(path) as stream:
            text = TextIOWrapper(stream, "utf-8", newline="")
            writer = csv.writer(text, delimiter="\t" if path.suffix.lower() == ".tsv" else ",", lineterminator="\n")
            writer.writerow(columns)
            writer.writerows(rows)
            text.detach()  # the stream is closed by whoever has opened it
    except OSError as error:
        raise LogError(f"The log cannot be written to {shown(path)}: {reason(error)}.") from error


def _cells(column: Array) -> list[Any]:
    cells = column.tolist()
    return ["" if cell != cell else cell for cell in cells] if column.dtype.kind == "f" else cells


def write_parquet(log: Log, path: str | os.PathLike[str]) -> None:
    """Write a log to a Parquet file, which keeps the schema beside the columns. Needs pyarrow (an extra)."""
    try:
        import pyarrow  # type: ignore[import-untyped]
        from pyarrow import parquet
    except ImportError:
        raise MissingDependencyError(
            'Writing Parquet files needs pyarrow. Type: pip install "tripletree[parquet]"'
        ) from None
    try:
        table = pyarrow.table(table_of(log)).replace_schema_metadata({OWN: described(log)})
        with replacing(path) as stream:
            parquet.write_table(table, stream)
    except (OSError, pyarrow.ArrowException, UnicodeError) as error:
        raise LogError(f"The log cannot be written to {path}: {reason(error)}.") from error
