"""Repairs: a log without the faults that a program can remedy, and what was done, in words."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.errors import LogError
from tripletree.log.coerce import freeze
from tripletree.log.endings import TRUNCATED
from tripletree.log.faults import Fault, find_faults
from tripletree.log.findings import Finding
from tripletree.log.gaps import piece_names
from tripletree.log.log import Log
from tripletree.text import count, plural

Bool = npt.NDArray[np.bool_]


def repair(log: Log) -> tuple[Log, list[str]]:
    """Return a log without its faults, and a sentence for each repair; the same log where nothing is to be done.

    Rows are left out rather than corrected, and their episodes divided there: no number is made up.
    """
    faults = [fault for fault in find_faults(log) if fault.done]
    done = [f"{fault.done[0].upper()}{fault.done[1:]}." for fault in faults]
    if faults:
        log = _without(_with_numbers(log, faults), faults)
    unused = _useless(log)
    unused |= {f for fault in faults for f in fault.leave_out}
    if unused and len(unused) < log.n_features:
        kept = [f for f in range(log.n_features) if f not in unused]
        more = sorted(unused - {f for fault in faults for f in fault.leave_out})
        if more:
            names = ", ".join(f"`{log.schema.feature_names[f]}`" for f in more)
            done.append(
                f"{names} left out: {plural(len(more), 'it', 'they')} never {plural(len(more), 'changes', 'change')} "
                f"or {plural(len(more), 'repeats', 'repeat')} another feature."
            )
        schema = replace(log.schema, features=tuple(log.schema.features[f] for f in kept))
        states, finals = log.states[:, kept], log.final_states[:, kept]
        log = replace(log, states=freeze(np.ascontiguousarray(states)), final_states=finals, schema=schema)
    notes = tuple(Finding("note", "repaired", text) for text in done)
    return (replace(log, findings=(*log.findings, *notes)) if done else log), done


def _useless(log: Log) -> set[int]:
    """Return features that never change, and all but the first of those that are the same."""
    found: set[int] = set()
    first: dict[bytes, int] = {}
    for f, feature in enumerate(log.schema.features):
        column = np.ascontiguousarray(log.states[:, f])
        if feature.column:
            continue
        if column.min() == column.max():
            found.add(f)
            continue
        twin = first.setdefault(np.array([column.sum(), column[0], column[-1]]).tobytes(), f)
        if twin != f and np.array_equal(column, log.states[:, twin]):
            found.add(f)
    return found


def _with_numbers(log: Log, faults: list[Fault]) -> Log:
    """Return a log whose numbers are in one unit, within limits, and known as angles where they are."""
    states, finals, actions = log.states.copy(), log.final_states.copy(), log.actions.copy()
    features = list(log.schema.features)
    for fault in faults:
        if fault.scaled is not None:
            states[np.repeat(fault.scaled, np.diff(log.starts)), fault.feature] *= fault.factor
            finals[fault.scaled, fault.feature] *= fault.factor
        if fault.angle:
            features[fault.feature] = replace(features[fault.feature], kind="angle", unit=fault.angle)
        if fault.limit is not None:
            column, limit = fault.limit
            actions[:, column] = np.clip(actions[:, column], -limit, limit)
    return replace(
        log,
        states=freeze(states),
        final_states=freeze(finals),
        actions=freeze(actions),
        schema=replace(log.schema, features=tuple(features)),
    )


def _without(log: Log, faults: list[Fault]) -> Log:
    """Return a log without some rows and episodes; an episode is divided where a row is left out."""
    lengths = np.diff(log.starts)
    bad = np.zeros(log.n_samples, bool)
    for fault in faults:
        if fault.rows is not None:
            bad |= fault.rows
        if fault.episodes is not None:
            bad |= np.repeat(fault.episodes, lengths)
    if not bad.any():
        return log
    kept = np.flatnonzero(~bad)
    if not len(kept):
        raise LogError(
            f"Nothing would be left of {count(log.n_samples, 'row')}: every row has a fault. Record the log again."
        )
    episode = np.repeat(np.arange(log.n_episodes), lengths)
    first = np.flatnonzero(np.append(True, (np.diff(kept) > 1) | (np.diff(episode[kept]) != 0)))
    starts = np.append(first, len(kept))
    of, last = episode[kept[first]], kept[starts[1:] - 1]
    at_end = last == log.starts[1:][of] - 1
    finals: Any = np.where(at_end[:, None], log.final_states[of], np.nan)
    return Log(
        freeze(log.states[kept]),
        freeze(log.actions[kept]),
        freeze(log.rewards[kept]),
        starts.astype(np.int64),
        finals,
        np.where(at_end, log.endings[of], TRUNCATED).astype(np.uint8),
        piece_names(log.episode_ids, of),
        log.schema,
        log.reading,
        log.findings,
        dt=None if log.dt is None else freeze(log.dt[kept]),
        groups=None if log.groups is None else log.groups[of],
        group_name=log.group_name,
        weights=None if log.weights is None else freeze(log.weights[kept]),
    )
