"""Tables (dicts of columns, DataFrames, Arrow tables, files) to the fields of a Log: columns by name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from tripletree.checks import listing
from tripletree.log.bookkeeping import numbers_rows
from tripletree.log.boundaries import Markers
from tripletree.log.build import Draft, build
from tripletree.log.coerce import Array, as_array
from tripletree.log.findings import Findings
from tripletree.log.roles import Naming, Roles, assign, check_options, listed
from tripletree.text import plural


def from_frame(frame: Any, roles: Roles, findings: Findings) -> dict[str, Any]:
    """Return the fields of a Log from a DataFrame or an Arrow table, recognised by its methods.

    So no table library has to be imported, or even known: pandas, polars, Arrow and many others will do.
    """
    names = getattr(frame, "column_names", None)
    if names is None:
        names = getattr(frame, "columns", None)
    by_position = _by_position(frame)
    if names is None or isinstance(names, str) or by_position is None:
        findings.fail(
            "type",
            f"Expected a DataFrame (pandas, polars) or an Arrow table, got {type(frame).__name__}.",
            "For a dict type Log.from_dict(...), for arrays Log.from_arrays(...).",
        )
    texts = ["_".join(map(str, name)) if isinstance(name, tuple) else str(name) for name in names]
    columns = [by_position(k) for k in range(len(texts))]
    return from_columns(texts, columns, roles, findings, f"a {type(frame).__module__.partition('.')[0]} table")


def _by_position(frame: Any) -> Callable[[int], Any] | None:
    # By position, since with duplicate names a column's name would return two of them.
    if hasattr(frame, "iloc"):
        return lambda k: frame.iloc[:, k]
    if hasattr(frame, "to_series"):
        return lambda k: frame.to_series(k)
    if hasattr(frame, "column"):
        return lambda k: frame.column(k)
    if hasattr(frame, "__getitem__"):
        return lambda k: frame[list(frame.columns)[k]]
    return None


def from_columns(
    names: Sequence[str], columns: Sequence[object], roles: Roles, findings: Findings, source: str
) -> dict[str, Any]:
    """Return the fields of a Log from named columns; raises one error that lists all errors found."""
    check_options(roles, Roles)
    if not names:
        findings.fail("no-samples", "The table has no columns; it needs states, actions and rewards.")
    twice = [name for name, number in Counter(names).items() if number > 1]
    if twice:
        findings.fail(
            "duplicate-columns",
            f"{listing(twice)} {plural(len(twice), 'is', 'are')} the name of more than one column; names must differ.",
            "Rename or drop one of each.",
        )
    # What is ignored is not looked at: it may hold anything.
    ignored = [name for name in names if name in listed(roles.get("ignore"))]
    table: dict[str, Array] = {}
    for name, values in zip(names, columns, strict=True):
        if name not in ignored:
            _add(table, name, values, findings)
    unnamed = _drop_unnamed(table, roles, findings)
    result = assign([*table, *ignored], roles, findings, table)
    findings.stop_if_failed()

    result.aside += [*unnamed, *listed(roles.get("ignore"))]
    single = {role: table[column] for role, column in result.single.items()}
    rewards, groups = single.pop("reward"), single.pop("group", None)
    naming = {key: value for key, value in roles.items() if key in Naming.__annotations__}
    return build(
        Draft(
            source=source,
            feature_names=result.features,
            states=[table[name] for name in result.features],
            action_names=result.action,
            actions=[table[name] for name in result.action],
            rewards=rewards,
            markers=Markers(**single),
            next_states=[table[name] for name in result.next_columns] or None,
            naming=cast(Naming, naming),
            roles=result,
            groups=groups,
            group_name=result.single.get("group", "group"),
        ),
        findings,
    )


def _add(table: dict[str, Array], name: str, values: object, findings: Findings) -> None:
    """Add a column, or the columns of a two-dimensional block as ``name_0``, ``name_1``, ..."""
    array = as_array(values, f"Column `{name}`", findings)
    if array is None:
        return
    if array.ndim == 1:
        columns = {name: array}
    elif array.ndim == 2 and array.shape[1] == 1:
        columns = {name: array[:, 0]}
    elif array.ndim == 2:
        columns = {f"{name}_{k}": array[:, k] for k in range(array.shape[1])}
    else:
        columns = {}
        findings.error(
            "shape",
            f"Column `{name}` has shape {array.shape}; expected (rows,) or (rows, values).",
            "Flatten it first: array.reshape(len(array), -1)." if array.ndim else "Give a list or an array.",
        )
    twice = [column for column in columns if column in table]
    if twice:
        findings.error(
            "duplicate-columns",
            f"{listing(twice)} {plural(len(twice), 'is', 'are')} the name of more than one column, because a column "
            "with several values in each row becomes several columns.",
            "Rename one of each.",
        )
    table.update(columns)


def _drop_unnamed(table: dict[str, Array], roles: Roles, findings: Findings) -> list[str]:
    """Take out columns without a name that only number the rows, or are blank; return their names."""
    used = {name for value in roles.values() if isinstance(value, (str, list, tuple)) for name in listed(value)}
    dropped = []
    for place, name in enumerate(list(table), 1):
        # pandas writes its row index without a name, and reads that back as "Unnamed: 0".
        if name in used or (name.strip() and not name.startswith("Unnamed:")):
            continue
        column = table[name]
        if numbers_rows(column) or (column.dtype.kind == "f" and bool(np.isnan(column).all())):
            dropped.append(name or "(unnamed)")
            del table[name]
        else:
            findings.error(
                "unnamed-column",
                f"Column {place} has no name, and it does more than number the rows.",
                "Give it a name.",
            )
    return dropped
