"""Tables (dicts of columns, DataFrames, files) to the fields of a Log: names, blocks, row counters, roles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from tripletree.checks import listing
from tripletree.log.build import build
from tripletree.log.draft import Draft
from tripletree.log.reading import describe
from tripletree.log.report import Findings
from tripletree.log.roles import Naming, Roles, assign, check_options, listed
from tripletree.log.tidy import NUMERIC, Array, as_array


def from_columns(
    names: Sequence[str], columns: Sequence[object], roles: Roles, findings: Findings, source: str
) -> dict[str, Any]:
    """Return the fields of a Log from named columns; raises one error that lists all errors found."""
    check_options(roles, Roles)
    if not names:
        findings.fail("no-samples", "The table has no columns; states, actions and rewards are needed.")
    twice = [name for name, number in Counter(names).items() if number > 1]
    if twice:
        findings.fail(
            "duplicate-columns",
            f"{listing(twice)} came as a column name more than once; names must differ.",
            "Rename or drop one of each.",
        )
    # What is ignored is not looked at: it may hold anything.
    ignored = [name for name in names if name in listed(roles.get("ignore"))]
    table: dict[str, Array] = {}
    for name, values in zip(names, columns, strict=True):
        if name not in ignored:
            _add(table, name, values, findings)
    counters = _drop_counters(table, roles, findings)
    result = assign([*table, *ignored], roles, findings)
    findings.stop_if_failed()

    single = {role: table[column] for role, column in result.single.items()}
    rewards = single.pop("reward")
    naming = {key: value for key, value in roles.items() if key in Naming.__annotations__}
    fields = build(
        Draft(
            feature_names=result.features,
            states=[table[name] for name in result.features],
            action_names=result.action,
            actions=[table[name] for name in result.action],
            rewards=rewards,
            next_states=[table[name] for name in result.next_columns] or None,
            naming=cast(Naming, naming),
            **single,
        ),
        findings,
    )
    result.aside += [*counters, *listed(roles.get("ignore"))]
    fields["reading"] = describe(fields, source, result)
    return fields


def _add(table: dict[str, Array], name: str, values: object, findings: Findings) -> None:
    """Add a column, or the columns of a two-dimensional block as ``name_0``, ``name_1``, ..."""
    array = as_array(values, f"Column `{name}`", findings)
    if array is None:
        return
    if array.ndim == 1:
        table[name] = array
    elif array.ndim == 2 and array.shape[1] == 1:
        table[name] = array[:, 0]
    elif array.ndim == 2:
        table.update({f"{name}_{k}": array[:, k] for k in range(array.shape[1])})
    else:
        findings.error(
            "shape",
            f"Column `{name}` has shape {array.shape}; (rows,) or (rows, values) is allowed.",
            "Flatten it first: array.reshape(len(array), -1)." if array.ndim else "Give a list or an array.",
        )


def _drop_counters(table: dict[str, Array], roles: Roles, findings: Findings) -> list[str]:
    """Take out columns that only number the rows, and blank ones without a name; return their names."""
    used = {name for value in roles.values() if isinstance(value, (str, list, tuple)) for name in listed(value)}
    dropped = []
    for name in [name for name in table if name not in used]:
        unnamed = not name.strip() or name.startswith("Unnamed:")
        if not unnamed and name not in ("index", "__index_level_0__"):
            continue
        column = table[name]
        numeric = column.dtype.kind in NUMERIC and column.dtype.kind != "b"
        blank = unnamed and column.dtype.kind == "f" and bool(np.isnan(column).all())
        if blank or (numeric and np.array_equal(column - column[:1], np.arange(len(column)))):
            dropped.append(name or "(unnamed)")
            del table[name]
        elif unnamed:
            place = list(table).index(name) + 1
            findings.error("unnamed-column", f"Column {place} has no name and does not just number the rows.")
    return dropped
