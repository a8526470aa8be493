"""From columns of any source to the checked, ordered arrays of a Log."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.errors import LogError
from tripletree.log.actions import read_actions
from tripletree.log.cut import Cut, by_flags, by_ids, by_pointers, by_starts, by_steps
from tripletree.log.draft import F64, LARGEST, Draft
from tripletree.log.ends import read_endings, read_final_states
from tripletree.log.report import BadLogError, Findings, hint, plural
from tripletree.log.schema import FEATURE_KINDS, Action, Feature, Schema
from tripletree.log.survey import Survey, fill, survey
from tripletree.log.tidy import Array, as_flags, as_ids, as_numbers


def build(draft: Draft, findings: Findings) -> dict[str, Any]:
    """Return the fields of a Log; raises one error that lists all errors found."""
    n = _check_lengths(draft, findings)
    cut = _cut(draft, n, findings)
    columns = [
        as_numbers(column, f"Feature `{name}`", findings, f"If it is no feature: ignore=[{name!r}].")
        for name, column in zip(draft.feature_names, draft.states, strict=True)
    ]
    order = None if cut is None else cut.order
    if draft.matrix is not None and order is None:
        states = draft.matrix
    else:
        states = fill([np.zeros(n) if column is None else column for column in columns], order)
    found = survey(states)
    _check_states(found, draft.feature_names, order, findings)
    units = dict(draft.naming.get("units") or {})
    actions = read_actions(
        draft.actions,
        draft.action_names,
        draft.naming.get("action_kind"),
        draft.naming.get("labels"),
        units,
        findings,
    )
    rewards = _read_rewards(draft.rewards, findings)
    if cut is None or actions is None or rewards is None:
        raise BadLogError(findings.report())
    endings = read_endings(draft, cut, findings)
    finals = read_final_states(draft, cut, states, findings)
    schema = _schema(draft, found, survey(finals), actions[1], units, findings)
    ids = _episode_ids(draft, cut, findings)
    findings.stop_if_failed()
    take = slice(None) if order is None else order
    return {
        "states": states,
        "actions": actions[0][take],
        "rewards": rewards[take],
        "starts": cut.starts,
        "final_states": finals,
        "endings": endings,
        "episode_ids": ids,
        "schema": schema,
    }


def _check_lengths(draft: Draft, findings: Findings) -> int:
    columns = [
        *((f"feature `{name}`", column) for name, column in zip(draft.feature_names, draft.states, strict=True)),
        *((f"action `{name}`", column) for name, column in zip(draft.action_names, draft.actions, strict=True)),
        ("the rewards", draft.rewards),
        *((f"`{role}`", getattr(draft, role)) for role in ("episode", "step", "previous_row", "next_row", "done")),
        *((f"next state {f}", column) for f, column in enumerate(draft.next_states or ())),
    ]
    # With starts, endings may be given for each episode instead of each row.
    if draft.starts is None:
        columns += [("`terminated`", draft.terminated), ("`truncated`", draft.truncated)]
    lengths = {what: len(column) for what, column in columns if column is not None}
    n = lengths["the rewards"]
    odd = [f"{what} {length:,}" for what, length in lengths.items() if length != n]
    if odd:
        findings.fail(
            "ragged",
            f"The columns differ in length: the rewards have {plural(n, 'row')}, but {', '.join(odd[:8])}"
            f"{' ...' if len(odd) > 8 else ''}; all must have one value for each step.",
            "Episodes with one more state than actions (the final state) go into Log.from_episodes.",
        )
    if n == 0:
        findings.fail("no-samples", "The log holds no samples; at least one step is needed.")
    return n


def _cut(draft: Draft, n: int, findings: Findings) -> Cut | None:
    """Find the episodes by the most telling of the columns that came."""
    step = None if draft.step is None else _steps(draft.step, findings)
    flags = [
        as_flags(column, f"`{role}`", findings)
        for role in ("terminated", "truncated", "done")
        if (column := getattr(draft, role)) is not None and len(column) == n
    ]
    if draft.naming.get("endless"):
        if draft.episode is not None or draft.starts is not None:
            findings.error(
                "endless",
                "endless=True says that all rows are one recording, but episodes came too.",
                "Leave out one of them (a guessed column: ignore=[...]).",
            )
        return Cut.at(np.zeros(n, bool))
    if draft.starts is not None:
        if draft.episode is not None:
            findings.error("starts", "Both starts and episodes came; one of them is enough.")
        return by_starts(draft.starts, n, step, findings)
    if draft.episode is not None:
        ids = as_ids(draft.episode, "`episode`", findings)
        return None if ids is None else by_ids(ids, step, findings)
    if draft.previous_row is not None or draft.next_row is not None:
        pointers = [
            None if column is None else as_numbers(column, f"`{role}`", findings)
            for role, column in (("previous_row", draft.previous_row), ("next_row", draft.next_row))
        ]
        return None if findings.failed else by_pointers(pointers[0], pointers[1], findings)
    if flags:
        known = [flag for flag in flags if flag is not None]
        return by_flags(np.logical_or.reduce(known), step) if len(known) == len(flags) else None
    if step is not None:
        return by_steps(step)
    if draft.step is None:
        findings.error(
            "no-episodes",
            "Nothing says where episodes begin or end.",
            "Give episode= (an id for each row), or step=, or terminated= / truncated= / done=; "
            "if all rows are one recording without end, type endless=True.",
        )
    return None


def _steps(column: Array, findings: Findings) -> Array | None:
    if column.dtype.kind in "mM":
        column = column.astype(np.int64)
    fix = "If it does not count steps, name the features: features=[...]."
    step = as_numbers(column, "`step`", findings, fix)
    if step is not None and step.dtype.kind == "f" and bool(np.isnan(step).any()):
        row = int(np.isnan(step).argmax())
        findings.error("step-missing", f"`step` is missing (NaN) in row {row}; every row needs one.", fix)
        return None
    return step


def _check_states(found: Survey, names: Sequence[str], order: npt.NDArray[np.int64] | None, findings: Findings) -> None:
    bad = np.flatnonzero(found.bad_count)
    if len(bad):
        rows = found.bad_row if order is None else order[found.bad_row]
        places = [
            f"`{names[int(f)]}` {plural(int(found.bad_count[f]), 'time')} (first in row {rows[f]})" for f in bad[:8]
        ]
        findings.error(
            "states-not-finite",
            f"States hold NaN or infinite values: {', '.join(places)}"
            f"{f' and {len(bad) - 8} more features' if len(bad) > 8 else ''}; finite numbers are allowed.",
            "Drop those episodes, fill the gaps, or leave the feature out: ignore=[...].",
        )
    for f in np.flatnonzero(np.maximum(np.abs(found.low), np.abs(found.high)) > LARGEST).tolist():
        findings.error("too-large", f"Feature `{names[f]}` goes beyond {LARGEST:g}; its squares would overflow.")


def _read_rewards(column: Array, findings: Findings) -> F64 | None:
    values = as_numbers(column, "The reward", findings)
    if values is None:
        return None
    rewards = values.astype(np.float64)
    bad = ~np.isfinite(rewards)
    if bad.any():
        findings.error(
            "rewards-not-finite",
            f"Rewards hold NaN or infinite values in {plural(int(bad.sum()), 'row')}, first in row "
            f"{int(bad.argmax())}; finite numbers are allowed.",
            "A last row that only holds the final state belongs in final_state, or in next_* columns.",
        )
        return None
    if np.abs(rewards).max() > LARGEST:
        findings.error("too-large", f"Rewards go beyond {LARGEST:g}; their squares would overflow.")
    return rewards


def _schema(
    draft: Draft, found: Survey, final: Survey, action: Action, units: dict[str, str], findings: Findings
) -> Schema | None:
    kinds = dict(draft.naming.get("kinds") or {})
    names = list(draft.feature_names)
    action_names = [*action.names, *draft.action_names]
    for option, given, known in (("units", units, [*names, *action_names]), ("kinds", kinds, names)):
        for name in given:
            if name not in known:
                findings.error("unknown-column", f"There is no feature `{name}` (in {option}=).", hint(name, known))
    integral = found.integral & final.integral
    binary = integral & (np.minimum(found.low, final.low) >= 0) & (np.maximum(found.high, final.high) <= 1)
    features = []
    try:
        for f, name in enumerate(names):
            guess = "binary" if binary[f] else "integer" if integral[f] else "real"
            kind = kinds.get(name, guess)
            if (
                kind in FEATURE_KINDS
                and kind in ("binary", "integer")
                and not (binary if kind == "binary" else integral)[f]
            ):
                findings.error("kind", f"Feature `{name}` was said to be {kind}, but holds other values ({guess}).")
            features.append(Feature(name, units.get(name, ""), kind))
        return Schema(tuple(features), action)
    except LogError as error:
        findings.error("names", str(error))
        return None


def _episode_ids(draft: Draft, cut: Cut, findings: Findings) -> Array:
    if draft.episode_ids is None:
        return cut.ids
    ids = as_ids(draft.episode_ids, "`episode_ids`", findings)
    if ids is not None and len(ids) != len(cut.ids):
        findings.error("ragged", f"{plural(len(ids), 'episode id')} came for {plural(len(cut.ids), 'episode')}.")
    return np.array(ids, str) if ids is not None and ids.dtype.kind == "O" else np.asarray(ids)
