"""From the table of any reader to the fields of a Log: which column plays which role, and what is left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from tripletree.checks import listing
from tripletree.log.bookkeeping import numbers_rows
from tripletree.log.boundaries import Markers
from tripletree.log.build import Draft, build
from tripletree.log.coerce import Array, as_array
from tripletree.log.findings import Findings
from tripletree.log.folders import join_files
from tripletree.log.roles import Naming, Roles, assign, check_options, chosen_names, listed
from tripletree.log.sources import IMAGES, Table
from tripletree.text import plural

FLATTEN = "Flatten it first: array.reshape(len(array), -1)."


def from_table(source: Table, roles: Roles, findings: Findings) -> dict[str, Any]:
    """Return the fields of a Log from named columns; raises one error that lists all errors found."""
    check_options(roles, Roles)
    if not source.names:
        findings.fail("no-samples", "The table has no columns; it needs states, actions and rewards.")
    twice = [name for name, number in Counter(source.names).items() if number > 1]
    if twice:
        findings.fail(
            "duplicate-columns",
            f"{listing(twice)} {plural(len(twice), 'is', 'are')} the name of more than one column; names must differ.",
            "Rename or drop one of each.",
        )
    # What is ignored is not looked at: it may hold anything.
    ignored = [name for name in source.names if name in listed(roles.get("ignore"))]
    table: dict[str, Array] = {}
    state: list[str] = []
    for name, values in zip(source.names, source.columns, strict=True):
        if name not in ignored:
            added = add_column(table, name, values, findings)
            state += added if name in source.features else []
    roles = _completed(source, state, roles)
    unnamed = _drop_unnamed(table, roles, findings)
    result = assign([*table, *ignored], roles, findings, table)
    for reason in dict.fromkeys(source.beside.values()):
        beside = [name for name, why in source.beside.items() if why == reason]
        findings.note("set-aside", f"{listing(beside)} {plural(len(beside), 'was', 'were')} not read ({reason}).")
    if source.said:
        findings.note("episodes", source.said)
    feature_names = chosen_names(roles.get("feature_names"), result.features, "feature", findings)
    action_names = chosen_names(roles.get("action_names"), result.action, "action", findings)
    findings.stop_if_failed()

    result.aside += [*unnamed, *listed(roles.get("ignore")), *source.beside]
    single = {role: table[column] for role, column in result.single.items()}
    rewards, time, dt, groups, weights = (
        single.pop(role, None) for role in ("reward", "time", "dt", "group", "weight")
    )
    markers = Markers(**single, starts=source.starts)
    if source.files:
        markers = join_files(markers, source.files, len(next(iter(table.values()))), findings)
    naming = {key: value for key, value in roles.items() if key in Naming.__annotations__}
    return build(
        Draft(
            source=source.source,
            feature_names=feature_names,
            states=[table[name] for name in result.features],
            action_names=action_names,
            actions=[table[name] for name in result.action],
            rewards=rewards,
            markers=markers,
            next_states=[table[name] for name in result.next_columns] or None,
            time=time,
            dt=dt,
            final_states=_finals(source, result.features, findings),
            endings=source.endings,
            episode_ids=source.ids,
            naming=cast(Naming, naming),
            roles=result,
            groups=groups,
            weights=weights,
            group_name=result.single.get("group", "group"),
        ),
        findings,
    )


def _completed(source: Table, state: Sequence[str], roles: Roles) -> Roles:
    """Return the user's roles, and beside them those that the format defines."""
    given = {name for value in roles.values() if isinstance(value, (str, list, tuple)) for name in listed(value)}
    known = {role: column for role, column in source.roles.items() if not given.intersection(listed(column))}
    if state and roles.get("features") is None:
        known["features"] = [name for name in state if name not in given]
    return cast(Roles, {**known, **roles})


def _finals(source: Table, features: Sequence[str], findings: Findings) -> Array | None:
    """Return the final states of the features; None where the source does not know them all."""
    finals: dict[str, Array] = {}
    for name, values in (source.finals or {}).items():
        add_column(finals, name, values, findings)
    return np.stack([finals[name] for name in features], axis=1) if set(features) <= set(finals) else None


def add_column(table: dict[str, Array], name: str, values: object, findings: Findings) -> list[str]:
    """Add a column, or the columns of a two-dimensional block as ``name_0``, ``name_1``, ...; return their names."""
    array = as_array(values, f"Column `{name}`", findings)
    if array is None:
        return []
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
            (f"{IMAGES}." if array.ndim > 3 else FLATTEN) if array.ndim else "Give a list or an array.",
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
    return list(columns)


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
