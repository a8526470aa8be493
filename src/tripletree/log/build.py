"""From the columns of any source to the checked, ordered arrays of a Log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree import _kernel
from tripletree.checks import choice
from tripletree.errors import LogError
from tripletree.log.actions import FINAL_ROW, read_actions
from tripletree.log.boundaries import FLAGS, Boundaries, Markers, find_boundaries
from tripletree.log.categories import KIND, NO_TEXT_VARIES, expand
from tripletree.log.coerce import LARGEST, Array, as_ids, as_numbers, extremes, freeze
from tripletree.log.endings import TRUNCATED, read_endings, read_final_states
from tripletree.log.findings import BadLogError, Findings, hint
from tripletree.log.gaps import mend
from tripletree.log.interpretation import describe
from tripletree.log.roles import Assignment, Naming
from tripletree.log.schema import FEATURE_KINDS, NO_ACTION, Action, Feature, Schema
from tripletree.log.times import Times, read_dt, read_times, unit_in
from tripletree.text import Message, Option, count, message_of, some_of

F64 = npt.NDArray[np.float64]
# Rows that are handled together: with tens of features they still fit in the cache.
BLOCK = 8192
RESCALE = "Divide it by a constant."
# An angle without a unit that goes beyond this is in degrees.
FULL_TURNS = 4 * np.pi
# Features that a message names before it says "and 3 more".
MOST_NAMED = 8


@dataclass
class Draft:
    """What a source delivers before it is checked: columns with one value a row, as `coerce` makes them.

    Attributes
    ----------
    source : str
        Where the log comes from, for the user: "run.csv", "a dict".
    roles : Assignment, optional
        Which column plays which role, for a source whose columns have names.
    matrix : float64 array of shape (samples, features), optional
        The states once more, as a matrix that nobody else holds: it may become the log's own, without a copy.
    next_states : sequence of columns, optional
        The state after each step.
    final_states : array of shape (episodes, features), optional
        The state after each episode's last step.
    endings, episode_ids : array of shape (episodes,), optional
        How the episodes ended and what they are called, where a source knows it by itself.
    time, dt : column, optional
        When each row was, and how long it is to the next one.
    categories : dict of str to Feature
        Features that stand for a category of a text; made while the draft is read.
    groups : array of shape (samples,) or, with starts, (episodes,), optional
        Which episodes belong together: those of one pilot, one vehicle.
    group_name : str
        What the groups are called.
    weights : column, optional
        How much each row counts.

    ``actions`` may be empty, and ``rewards`` None, where a log does not know them.
    """

    source: str
    feature_names: Sequence[str]
    states: Sequence[Array]
    action_names: Sequence[str]
    actions: Sequence[Array]
    rewards: Array | None
    markers: Markers = field(default_factory=Markers)
    naming: Naming = field(default_factory=Naming)
    roles: Assignment | None = None
    matrix: F64 | None = None
    next_states: Sequence[Array] | None = None
    final_states: Array | None = None
    endings: npt.NDArray[np.uint8] | None = None
    episode_ids: Array | None = None
    time: Array | None = None
    dt: Array | None = None
    categories: Mapping[str, Feature] = field(default_factory=dict)
    groups: Array | None = None
    group_name: str = "group"
    weights: Array | None = None


def build(draft: Draft, findings: Findings) -> dict[str, Any]:
    """Return the fields of a Log; raises one error that lists all errors found."""
    n = _check_lengths(draft, findings)
    endless = bool(draft.naming.get("endless"))
    draft = _with_categories(draft, findings)
    names = {} if draft.roles is None else draft.roles.single
    times = None if draft.time is None else read_times(draft.time, names.get("time", "time"), findings)
    steps = None if draft.dt is None else read_dt(draft.dt, names.get("dt", "dt"), findings)
    markers, clock = (draft.markers, False) if endless else _timed(draft.markers, times, n)
    found = find_boundaries(markers, n, endless, findings, clock=clock)
    rows, cut, dt = None, np.zeros(0, bool), None
    if found is not None:
        mended = mend(draft, found, times or _counted(draft, findings), steps, findings)
        draft, found, cut, rows, dt = mended.draft, mended.found, mended.cut, mended.rows, mended.dt
        n = int(found.starts[-1])
    columns = [
        as_numbers(column, f"Feature `{name}`", findings, no_number(name, column))
        for name, column in zip(draft.feature_names, draft.states, strict=True)
    ]
    order = None if found is None else found.order
    if draft.matrix is not None and order is None:
        states = draft.matrix
    else:
        # Zeros for what is no number, so that the other features are looked at before the one error is raised.
        states = fill([np.zeros(n) if column is None else column for column in columns], order)
    seen = survey(states)
    _check_states(seen, draft.feature_names, order if rows is None else rows, findings)
    units = dict(draft.naming.get("units") or {})
    actions: tuple[Array, Action] | None = np.zeros(n, np.int32), Action("discrete", labels=(NO_ACTION,))
    if draft.actions:
        actions = read_actions(
            draft.actions,
            draft.action_names,
            draft.naming.get("action_kind"),
            draft.naming.get("labels"),
            units,
            dict(draft.naming.get("levels") or {}),
            findings,
        )
    rewards = np.zeros(n) if draft.rewards is None else _read_rewards(draft.rewards, findings)
    if found is None or actions is None or rewards is None:
        raise BadLogError(findings.report())
    endings = read_endings(
        draft.markers, found, draft.endings, str(draft.naming.get("ending") or "unknown"), endless, findings
    )
    endings[cut] = TRUNCATED
    finals = read_final_states(draft.final_states, draft.next_states, draft.feature_names, found, states, findings)
    schema = _schema(draft, seen, survey(finals), actions[1], units, findings)
    ids = _episode_ids(draft.episode_ids, found, findings)
    groups = None if draft.groups is None else _groups(draft.groups, draft, found, findings)
    weights = None if draft.weights is None else _weights(draft.weights, names.get("weight", "weights"), findings)
    findings.stop_if_failed()
    take = slice(None) if order is None else order
    fields = {
        # All made here, so that the log may keep them without a copy.
        "states": freeze(states),
        "actions": freeze(freeze(actions[0])[take]),
        "rewards": freeze(freeze(rewards)[take]),
        "starts": found.starts,
        "final_states": finals,
        "endings": endings,
        "episode_ids": ids,
        "schema": schema,
        "dt": dt,
        **({} if groups is None else {"groups": groups, "group_name": draft.group_name}),
        **({} if weights is None else {"weights": freeze(weights[take])}),
    }
    guessed = [] if schema is None else [one.name for one in schema.features if one.unit and one.name not in units]
    return {**fields, "reading": describe(fields, draft.source, draft.roles, guessed, times.told if times else "")}


def _check_lengths(draft: Draft, findings: Findings) -> int:
    """Return the number of rows; raises if the columns differ in length, or there is no row."""
    # With starts, the flags may have one value for each episode.
    elsewhere = ("starts", *(() if draft.markers.starts is None else FLAGS))
    columns = [
        *((f"feature `{name}`", column) for name, column in zip(draft.feature_names, draft.states, strict=True)),
        *((f"action `{name}`", column) for name, column in zip(draft.action_names, draft.actions, strict=True)),
        *((f"`{role}`", column) for role, column in vars(draft.markers).items() if role not in elsewhere),
        *((f"next state {f}", column) for f, column in enumerate(draft.next_states or ())),
        *(
            (f"`{role}`", column)
            for role, column in (("time", draft.time), ("dt", draft.dt), ("weight", draft.weights))
        ),
    ]
    n = len(draft.states[0] if draft.rewards is None else draft.rewards)
    odd = [f"{what} has {len(column):,}" for what, column in columns if column is not None and len(column) != n]
    if odd:
        findings.fail(
            "ragged",
            f"The columns differ in length: {count(n, 'row' if draft.rewards is None else 'reward')}, but "
            f"{some_of(odd, MOST_NAMED)}; every column must have one value for each step.",
            "Episodes with one more state than actions (the final state) go into Log.from_episodes.",
        )
    if n == 0:
        findings.fail("no-samples", "The log holds no samples; it needs at least one step.")
    return n


def _with_categories(draft: Draft, findings: Findings) -> Draft:
    """Return a draft whose features are numbers, as far as text can be made of categories."""
    kinds = dict(draft.naming.get("kinds") or {})
    made = expand(draft.feature_names, draft.states, draft.next_states, kinds, draft.roles is not None, findings)
    if not made.columns:
        return draft
    if not made.names:
        if not findings.failed:
            findings.error("no-features", NO_TEXT_VARIES)
        raise BadLogError(findings.report())
    naming = draft.naming.copy()
    naming["kinds"] = {name: kind for name, kind in kinds.items() if name not in made.columns}
    return replace(
        draft,
        feature_names=made.names,
        states=made.states,
        next_states=made.following,
        matrix=None,
        categories=made.features,
        naming=naming,
    )


def _counted(draft: Draft, findings: Findings) -> Times | None:
    """Return the steps of a log as times, if a user has said how far apart two of them may be."""
    step = draft.markers.step
    if draft.naming.get("gap") is None or step is None or step.dtype.kind not in "iuf" or findings.failed:
        return None
    # What a user has asked for is told where it is done.
    findings.items = [item for item in findings.items if item.code != "step-gaps"]
    return Times(step.astype(np.int64) if step.dtype.kind == "u" else step, 1.0, "", "steps")


def no_number(name: str, column: Array) -> Message:
    """Return what to do about a feature that is not numbers."""
    if column.dtype.kind == "O":
        return Message(
            "If it is not a feature: {}; if its values are names: {}.",
            Option("ignore", [name]),
            Option("kinds", {name: KIND}),
        )
    return Message("If it is not a feature: {}.", Option("ignore", [name]))


def _timed(markers: Markers, times: Times | None, n: int) -> tuple[Markers, bool]:
    """Return the markers, with times as steps where these order the rows, and whether they do."""
    if times is None or markers.step is not None:
        return markers, False
    alone = all(getattr(markers, name) is None for name in ("episode", "starts", "previous_row", "next_row", *FLAGS))
    episode = np.zeros(n, np.int64) if alone else markers.episode
    return (markers, False) if episode is None else (replace(markers, episode=episode, step=times.values), True)


def _check_states(seen: Survey, names: Sequence[str], order: npt.NDArray[np.int64] | None, findings: Findings) -> None:
    bad = np.flatnonzero(seen.bad_count)
    if len(bad):
        # Rows are those of the source, where the user will look for them.
        rows = seen.bad_row if order is None else order[seen.bad_row]
        places = [
            f"`{names[f]}` in {count(int(seen.bad_count[f]), 'row')} (first in row {rows[f]})" for f in bad.tolist()
        ]
        say_not_finite(places, findings)
    for f in np.flatnonzero(np.maximum(np.abs(seen.low), np.abs(seen.high)) > LARGEST).tolist():
        findings.error(
            "too-large", f"Feature `{names[f]}` goes beyond {LARGEST:g}; its squares would overflow.", RESCALE
        )


def say_not_finite(places: Sequence[str], findings: Findings) -> None:
    """Note that features hold what is no number, and where."""
    findings.error(
        "states-not-finite",
        f"States hold NaN or infinite values: {some_of(places, MOST_NAMED)}; only finite numbers are allowed.",
        Message(
            "Leave such rows out, which divides their episodes: {}; or leave the feature out: {}.",
            Option("missing", "split"),
            Option("ignore", [...]),
        ),
    )


def _read_rewards(column: Array, findings: Findings) -> F64 | None:
    values = as_numbers(column, "The reward", findings)
    if values is None:
        return None
    rewards = values.astype(np.float64)
    bad = ~np.isfinite(rewards)
    if bad.any():
        say_no_reward(int(bad.sum()), int(bad.argmax()), findings)
        return None
    if np.abs(rewards).max() > LARGEST:
        findings.error("too-large", f"The reward goes beyond {LARGEST:g}; its squares would overflow.", RESCALE)
    return rewards


def say_no_reward(number: int, row: int, findings: Findings) -> None:
    """Note that the reward is no number in so many rows, the first of them this one."""
    where = f"in {count(number, 'row')}, first in row {row}"
    findings.error(
        "rewards-not-finite", f"The reward is NaN or infinite {where}; only finite numbers are allowed.", FINAL_ROW
    )


def _schema(
    draft: Draft, seen: Survey, final: Survey, action: Action, units: dict[str, str], findings: Findings
) -> Schema | None:
    kinds = dict(draft.naming.get("kinds") or {})
    names = list(draft.feature_names)
    action_names = [*action.names, *draft.action_names]
    for option, given, known in (("units", units, [*names, *action_names]), ("kinds", kinds, names)):
        for name in given:
            if name not in known:
                text = Message("There is no feature `{}` (in {}).", name, Option(option))
                findings.error("unknown-column", text, hint(name, known))
    # Final states count: they are states that the agent was in.
    integral = seen.integral & final.integral
    low, high = np.minimum(seen.low, final.low), np.maximum(seen.high, final.high)
    binary = integral & (low >= 0) & (high <= 1)
    features = []
    try:
        for f, name in enumerate(names):
            if name in draft.categories:
                features.append(draft.categories[name])
                continue
            guess = "binary" if binary[f] else "integer" if integral[f] else "real"
            kind = kinds.get(name, guess)
            if wrong := choice((*FEATURE_KINDS, KIND), example={name: guess}).objection(kind, "kinds"):
                findings.error("kind", Message("Feature `{}`: {}", name, wrong))
                kind = guess
            if (kind == "binary" and not binary[f]) or (kind == "integer" and not integral[f]):
                findings.error("kind", f"Feature `{name}` was given as {kind}, but its values are {guess}.")
            unit = units[name] if name in units else _unit(name, kind, max(-low[f], high[f]))
            features.append(Feature(name, unit, kind))
        return Schema(
            tuple(features),
            action,
            has_action=bool(draft.actions),
            has_reward=draft.rewards is not None,
            per_second=draft.time is not None or draft.dt is not None,
            success=str(draft.naming.get("success") or ""),
        )
    except LogError as error:
        findings.error("names", message_of(error))
        return None


def _unit(name: str, kind: str, reach: float) -> str:
    """Return the unit of a feature for which none was given: that in its name, or degrees for so large an angle."""
    # Nobody turns by two full circles of radians without unwinding; and if so, degrees change nothing.
    return unit_in(name) or ("deg" if kind == "angle" and reach > FULL_TURNS else "")


def _episode_ids(given: Array | None, found: Boundaries, findings: Findings) -> Array:
    if given is None:
        return found.ids
    ids = as_ids(given, "`episode_ids`", findings)
    if ids is not None and len(ids) != len(found.ids):
        findings.error("ragged", f"Got {count(len(ids), 'episode id')} for {count(len(found.ids), 'episode')}.")
    return np.array(ids, str) if ids is not None and ids.dtype.kind == "O" else np.asarray(ids)


def _groups(given: Array, draft: Draft, found: Boundaries, findings: Findings) -> Array | None:
    """Return the group of each episode, or None after an error was noted."""
    name, episodes, n = draft.group_name, len(found.ids), int(found.starts[-1])
    column = as_ids(given, f"The group `{name}`", findings)
    if column is None:
        return None
    if len(column) == n:
        first = found.starts[:-1]
        ordered = column if found.order is None else column[found.order]
        varies = ordered != np.repeat(ordered[first], np.diff(found.starts))
        if varies.any():
            row = int(varies.argmax())
            episode = int(np.searchsorted(found.starts, row, side="right")) - 1
            say_group_varies(found.ids[episode], ordered[first[episode]], ordered[row], name, findings)
            return None
        column = ordered[first]
    elif draft.markers.starts is None or len(column) != episodes:
        findings.error(
            "ragged",
            f"Got {count(len(column), 'group')} (`{name}`) for {count(n, 'step')} in {count(episodes, 'episode')}.",
        )
        return None
    return check_groups(column, name, findings)


def say_group_varies(episode: object, first: object, other: object, name: str, findings: Findings) -> None:
    """Note that the rows of an episode have different groups."""
    findings.error(
        "group-varies",
        f"Episode {episode} has the group `{first}` and `{other}` (`{name}`); an episode has one group: its pilot, its "
        "vehicle.",
        Message("Give a column that is constant in every episode, or leave {} out.", Option("group")),
    )


def check_groups(column: Array, name: str, findings: Findings) -> Array:
    """Return the groups of episodes as a log holds them; that all are the same deserves a look."""
    if len(column) > 1 and bool((column == column[0]).all()):
        findings.warning(
            "one-group",
            f"All episodes have the group `{column[0]}` (`{name}`): chances get no interval, which takes two groups.",
            Message("Leave {} out, if the episodes do not depend on each other.", Option("group")),
        )
    return np.array(column, str) if column.dtype.kind == "O" else column


def _weights(given: Array, name: str, findings: Findings) -> F64 | None:
    """Return how much each row counts, or None after an error was noted."""
    column = as_numbers(given, f"The weight `{name}`", findings)
    if column is None:
        return None
    bad = ~(np.isfinite(column) & (column >= 0))
    if bad.any() or not column.any():
        row = int(bad.argmax())
        what = f"holds {column[row]:g} in row {row:,}" if bad.any() else "is 0 in all rows"
        findings.error("weights", f"The weight `{name}` {what}; weights are finite, at least 0, and not all 0.")
        return None
    return column.astype(np.float64)


@dataclass(frozen=True)
class Survey:
    """What each column of a matrix holds; NaN and infinite values count as bad and are left out of the rest."""

    bad_count: npt.NDArray[np.int64]
    bad_row: npt.NDArray[np.int64]  # the first bad row, 0 if there is none
    low: npt.NDArray[np.float64]
    high: npt.NDArray[np.float64]
    integral: npt.NDArray[np.bool_]


def survey(matrix: F64) -> Survey:
    """Return what the columns of a matrix hold."""
    d = matrix.shape[1]
    bad_count = np.zeros(d, np.int64)
    bad_row = np.zeros(d, np.int64)
    low, high = np.full(d, np.inf), np.full(d, -np.inf)
    integral = np.ones(d, bool)
    for begin in range(0, len(matrix), BLOCK):
        block = matrix[begin : begin + BLOCK]
        finite = np.isfinite(block)
        if not finite.all():
            number = (~finite).sum(axis=0)
            new = (number > 0) & (bad_count == 0)
            bad_row[new] = begin + (~finite).argmax(axis=0)[new]
            bad_count += number
            low = np.minimum(low, np.where(finite, block, np.inf).min(axis=0))
            high = np.maximum(high, np.where(finite, block, -np.inf).max(axis=0))
            block = np.where(finite, block, 0.0)
        else:
            least, most = extremes(block)
            low, high = np.minimum(low, least), np.maximum(high, most)
        # Once a column is known to hold fractions there is no need to look again.
        integral[integral] = (block[:, integral] == np.floor(block[:, integral])).all(axis=0)
    empty = low > high
    low[empty] = high[empty] = 0.0
    return Survey(bad_count, bad_row, low, high, integral)


def own(array: Any, dtype: Any) -> Array:
    """Return an array of a type that nobody can change any more: the array itself where that is so, else a copy."""
    with np.errstate(invalid="ignore"):  # NaN as an integer: the caller sees that it has changed
        made = np.ascontiguousarray(array, dtype)
    if isinstance(array, np.ndarray) and made is not array and made.base is None:
        return freeze(made)
    part: Any = made
    while isinstance(part, np.ndarray) and not part.flags.writeable:
        part = part.base
    # A view may be read-only, and what it is a view of may not.
    return made if part is None or isinstance(part, bytes) else freeze(made.copy())


def fill(columns: Sequence[Array], order: npt.NDArray[np.int64] | None) -> F64:
    """Return the columns, their rows in ``order``, as one C-contiguous matrix."""
    n = len(columns[0])
    out = np.empty((n, len(columns)))
    # Row blocks: writing a whole column at a time would touch every cache line of the matrix once a column.
    for begin in range(0, n, BLOCK):
        rows = slice(begin, begin + BLOCK)
        take = rows if order is None else order[rows]
        some = (column[take] for column in columns)
        _kernel.put_columns(
            [np.require(x, x.dtype if x.dtype == np.float32 else np.float64, ["C", "A"]) for x in some], out[rows]
        )
    return out
