"""The doctor: everything that is wrong with, or odd about, a log or something that should become one."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree import _kernel
from tripletree.checks import listing
from tripletree.errors import LogError, TripleTreeWarning
from tripletree.log.derive import truncation_share
from tripletree.log.endings import TRUNCATED, UNKNOWN
from tripletree.log.faults import find_faults
from tripletree.log.files import read_log
from tripletree.log.findings import BadLogError, Finding, Findings, Report
from tripletree.log.log import Log
from tripletree.log.remembering import Evidence, remembering
from tripletree.text import Message, Option, count, message_of, plural, some_of

# Sorting a column is the most expensive look of all; in longer logs the first rows have to do.
ROWS_SORTED = 100_000
# The first rows show cheaply that a column has many values.
ROWS_GLANCED = 8192
# A continuous action with at most this many values may well be a choice.
FEW_VALUES = 10
USUAL_GAMMA = 0.99


def check(source: Any, **options: Any) -> Report:
    """Return every problem of a log at once: errors, warnings and notes.

    Parameters
    ----------
    source : Log, or anything that `read_log` takes
        A log, or what should become one: a path, a dict of columns, a table, a list of episodes, a tuple (states,
        actions, rewards).
    **options
        Those of `read_log`, or of the constructor that fits: ``Log.from_episodes`` or ``Log.from_arrays``.

    Returns
    -------
    Report
        ``report.ok`` says whether there are no errors; ``print(report)`` is meant to be read.

    Examples
    --------
    >>> print(check({"pos": [1.5, float("nan")], "action": [0, 1], "reward": [0, 1]}))
    This log: 2 errors.
      error    Nothing says where episodes begin or end.
               → Give episode="..." (an id for each row), or step="...", or terminated="..." / truncated="..." / done="..."; if all rows are one recording without end, type endless=True.
      error    States hold NaN or infinite values: `pos` in 1 row (first in row 1); only finite numbers are allowed.
               → Leave such rows out, which divides their episodes: missing="split"; or leave the feature out: ignore=[...].
    """  # noqa: E501
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TripleTreeWarning)  # they come back as findings
            return examine(read_log(source, **options))
    except BadLogError as error:
        return error.report
    except LogError as error:
        return Report("This log", (Finding("error", "unreadable", message_of(error)),))


def examine(log: Log, remembered: Callable[[], Evidence | None] | None = None) -> Report:
    """Return warnings and notes about a log, together with what was noticed while it was read.

    ``remembered`` gives what a quick look shows about the agent's memory, where somebody else wants that, too.
    """
    findings = Findings(repr(log))
    findings.items += log.findings
    low, high = log.ranges
    _look_at_features(log, low, high, findings)
    _look_for_leaks(log, low < high, findings)
    _look_at_actions(log, findings)
    _look_at_rewards(log, findings)
    _look_at_episodes(log, findings)
    _look_at_endings(log, findings)
    findings.items += [Finding(fault.level, fault.code, fault.text, fault.fix) for fault in find_faults(log)]
    _look_for_memory(remembered or partial(remembering, log, quick=True), findings)
    return findings.report()


def _look_at_features(
    log: Log, low: npt.NDArray[np.float64], high: npt.NDArray[np.float64], findings: Findings
) -> None:
    names = log.schema.feature_names
    # A category that is listed need not occur.
    constant = [
        feature.name
        for feature, same in zip(log.schema.features, low == high, strict=True)
        if same and not feature.column
    ]
    if constant:
        number = len(constant)
        shown = [*constant[:3], *([...] if number > 3 else [])]
        findings.warning(
            "constant-features",
            f"{listing(constant)} never {plural(number, 'changes', 'change')}, so no split can use "
            f"{plural(number, 'it', 'them')}.",
            Message("To leave {} out: {}.", plural(number, "it", "them"), Option("ignore", shown)),
        )
    close = []
    codes = _kernel.encode(log.states[:ROWS_SORTED], 256, 1)
    for f in np.flatnonzero(low < high):
        number = _distinct(log.states[:ROWS_SORTED, f]) - _distinct(codes[:, f])
        if number:
            close.append(f"`{names[f]}` {count(number, 'pair')}")
    if close:
        findings.note(
            "near-duplicates",
            f"Values that differ by rounding noise only count as equal: {some_of(close, 8)}.",
        )


def _distinct(column: npt.NDArray[Any]) -> int:
    # By sorting: the table that np.unique keeps is far slower where most values differ.
    ordered = np.sort(column)
    return 1 + int(np.count_nonzero(ordered[1:] != ordered[:-1]))


def _equal(column: npt.NDArray[Any], other: npt.NDArray[Any]) -> bool:
    # Columns that differ mostly do so from the beginning on.
    return np.array_equal(column[:ROWS_GLANCED], other[:ROWS_GLANCED]) and np.array_equal(column, other)


def _look_for_leaks(log: Log, varies: npt.NDArray[np.bool_], findings: Findings) -> None:
    """Look for columns that equal another one: a doubled feature, or a feature that gives the answer away."""
    names = log.schema.feature_names
    moves = log.actions.reshape(log.n_samples, -1)
    answers = [(f"the action `{name}`", moves[:, k]) for k, name in enumerate(log.schema.action.names)]
    answers = [
        *(answers if log.schema.has_action else []),
        *([("the reward", log.rewards)] if log.schema.has_reward else []),
    ]
    first: dict[bytes, int] = {}
    for f in np.flatnonzero(varies):
        column = log.states[:, f]
        for what, answer in answers:
            if _equal(column, answer):
                findings.warning(
                    "leak", f"Feature `{names[f]}` equals {what}: the tree would only repeat it.", _ignore(names[f])
                )
        if log.n_samples > 2 and column[-1] - column[0] == log.n_samples - 1 and (np.diff(column) == 1).all():
            findings.warning(
                "row-counter", f"Feature `{names[f]}` only counts the rows; it is not a state.", _ignore(names[f])
            )
        # Columns that differ hardly ever have the same sum and ends, so only equal ones are compared in full.
        key = np.array([column.sum(), column[0], column[-1]]).tobytes()
        twin = first.setdefault(key, int(f))
        if twin != f and np.array_equal(column, log.states[:, twin]):
            findings.note(
                "same-features", f"Features `{names[twin]}` and `{names[f]}` are the same; splits name the first."
            )


def _ignore(name: str) -> str:
    return Message("To leave it out: {}.", Option("ignore", [name]))


def _look_at_actions(log: Log, findings: Findings) -> None:
    action = log.schema.action
    if not log.schema.has_action:
        return
    if action.kind == "discrete":
        counts = np.bincount(log.actions, minlength=len(action.labels))
        if (counts > 0).sum() == 1:
            findings.warning(
                "one-action",
                f"Only one action was ever taken (`{action.labels[int(counts.argmax())]}`), so the log does not show "
                "what makes the agent choose another.",
            )
        unused = [label for label, number in zip(action.labels, counts, strict=True) if not number]
        if unused:
            findings.note("unused-actions", f"Never taken: {listing(unused)}.")
        return
    for k, name in enumerate(action.names):
        column = log.actions[:, k]
        if column.min() == column.max():
            findings.warning(
                "one-action",
                f"Action `{name}` never changes, so the log does not show what makes the agent change it.",
            )
        elif len(np.unique(column[:ROWS_GLANCED])) <= FEW_VALUES and (values := np.unique(column)).size <= FEW_VALUES:
            findings.note(
                "few-actions",
                f"Action `{name}` has only {len(values)} different values and is taken as continuous.",
                Message("If they are choices, type {}.", Option("action_kind", "discrete")),
            )


def _look_at_rewards(log: Log, findings: Findings) -> None:
    rewards = log.rewards
    if not log.schema.has_reward:
        return
    if rewards.min() == rewards.max():
        findings.warning(
            "constant-rewards",
            f"The reward is always {rewards[0]:g}, so values differ only by how the episodes end.",
        )
    elif (rewards == np.floor(rewards)).all():
        findings.note("integer-rewards", "Rewards are whole numbers; they are taken as real numbers, which is fine.")


def _look_at_episodes(log: Log, findings: Findings) -> None:
    lengths = np.diff(log.starts)
    single = int((lengths == 1).sum())
    known = ~np.isnan(log.final_states[:, 0])
    if not (known | (lengths > 1)).any():
        findings.warning(
            "no-derivatives",
            f"{plural(log.n_episodes, 'The only episode has', 'Every episode has')} a single step and no final state: "
            "nothing shows how states change.",
            "Log final states (final_state, or next_* columns), and check the episode column.",
        )
    elif single:
        findings.note("tiny-episodes", f"{_of_all(single, log)} {plural(single, 'has', 'have')} a single step.")
    missing = int((~known).sum())
    if missing:
        findings.note(
            "final-state-missing",
            f"No final state in {_of_all(missing, log)}: {plural(missing, 'its', 'their')} last step has no "
            "derivative.",
        )
    if log.n_episodes > 1:
        both = known[:-1]
        same = int((log.final_states[:-1] == log.states[log.starts[1:-1]]).all(axis=1).sum())
        if same and 2 * same >= both.sum():
            findings.warning(
                "auto-reset",
                f"In {_of_all(same, log)} the final state is the first state of the next episode. Vector environments "
                "that reset themselves return that state in place of the true final one.",
                "Take the final state from infos (final_observation, final_obs), or leave final states out.",
            )


def _look_at_endings(log: Log, findings: Findings) -> None:
    unknown, truncated = (int((log.endings == ending).sum()) for ending in (UNKNOWN, TRUNCATED))
    if unknown:
        findings.note(
            "ending-unknown",
            f"How {_of_all(unknown, log)} ended is unknown.",
            Message(
                "Give {} and {}, or one for all: {} or {}.",
                *(Option(role, "...") for role in ("terminated", "truncated")),
                *(Option("ending", ending) for ending in ("terminated", "truncated")),
            ),
        )
    if truncated and log.schema.has_reward:
        share = truncation_share(log, USUAL_GAMMA)
        findings.note(
            "truncated",
            f"{_of_all(truncated, log)} {plural(truncated, 'was', 'were')} cut off: the rewards that would have "
            f"followed are estimated, which matters for {share:.1%} of the samples with gamma = {USUAL_GAMMA}.",
        )


def _look_for_memory(look: Callable[[], Evidence | None], findings: Findings) -> None:
    """Look, quickly, whether the agent does more than the state says; a late or early action is found otherwise."""
    if any(one.code == "delay" for one in findings.items):
        return
    evidence = look()
    if evidence is None or not evidence.found:
        return
    clue = evidence.clues[0]
    # Of a policy network without memory, models of the state may leave 2 or 3 % that a quick look takes for memory.
    if clue.kind != "repeat" and clue.gain < 0.05:
        return
    lag = max(clue.lag, 1)
    told = f"{clue.text} explains {clue.gain:.0%} of the variation of its actions beyond the state"
    if clue.kind == "repeat":
        told = f"in {clue.gain:.0%} of the steps it does exactly what it did the step before, in another state"
    findings.note(
        "memory",
        f"What the agent does seems to depend on what came before: {told}. A tree that sees states alone misses that.",
        f"To put the past into the state, grow a tree on log.with_lags([{lag}]), or with --lags {lag}.",
    )


def _of_all(number: int, log: Log) -> str:
    """Return "3 of 20 episodes"."""
    return f"{number:,} of {count(log.n_episodes, 'episode')}"
