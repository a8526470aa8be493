"""The doctor: what is odd about a log that could be read, all at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tripletree.checks import listing
from tripletree.log.derive import truncation_share
from tripletree.log.endings import TRUNCATED, UNKNOWN
from tripletree.log.report import Findings, Report, plural
from tripletree.log.survey import BLOCK

if TYPE_CHECKING:
    from tripletree.log.log import Log

# Sorting a column is the dearest look; beyond this many rows the first ones speak for all.
ROWS_SORTED = 1_000_000
USUAL_GAMMA = 0.99


def examine(log: Log) -> Report:
    """Return warnings and notes about a log, with what was noticed while it was read."""
    findings = Findings(repr(log))
    findings.items += log.findings
    low, high = log.states.min(axis=0), log.states.max(axis=0)
    _look_at_features(log, low, high, findings)
    _look_for_leaks(log, low < high, findings)
    _look_at_actions(log, findings)
    _look_at_rewards(log, findings)
    _look_at_episodes(log, findings)
    _look_at_endings(log, findings)
    return findings.report()


def _look_at_features(
    log: Log, low: npt.NDArray[np.float64], high: npt.NDArray[np.float64], findings: Findings
) -> None:
    names = log.schema.feature_names
    constant = [name for name, same in zip(names, low == high, strict=True) if same]
    if constant:
        findings.warning(
            "constant-features",
            f"{listing(constant)}: the value never changes, so no split can use it.",
            f"To leave it out: ignore={constant[:3]!r}{' ...' if len(constant) > 3 else ''}.",
        )
    close = []
    for f in np.flatnonzero(low < high):
        gaps = np.diff(np.sort(log.states[:ROWS_SORTED, f]))
        number = int(((gaps > 0) & (gaps <= 1e-9 * (high[f] - low[f]))).sum())
        if number:
            close.append(f"`{names[f]}` {plural(number, 'pair')}")
    if close:
        findings.note(
            "near-duplicates",
            "Values that differ by less than 1e-9 of their range (rounding noise) count as equal: "
            f"{', '.join(close[:8])}{' ...' if len(close) > 8 else ''}.",
        )


def _look_for_leaks(log: Log, varies: npt.NDArray[np.bool_], findings: Findings) -> None:
    """Look for columns that equal another: a doubled feature, or a feature that gives the answer away."""
    names = log.schema.feature_names
    moves = log.actions.reshape(log.n_samples, -1)
    answers = [(f"the action `{name}`", moves[:, k]) for k, name in enumerate(log.schema.action.names)]
    answers.append(("the reward", log.rewards))
    first: dict[bytes, int] = {}
    for f in np.flatnonzero(varies):
        column = log.states[:, f]
        for what, answer in answers:
            if np.array_equal(column, answer):
                findings.warning(
                    "leak", f"Feature `{names[f]}` equals {what}: the tree would only repeat it.", _ignore(names[f])
                )
        if log.n_samples > 2 and (np.diff(column) == 1).all():
            findings.warning(
                "row-counter", f"Feature `{names[f]}` just counts the rows; it is no state.", _ignore(names[f])
            )
        # Equal sums are rare among different columns, so that few are compared in full.
        key = np.array([column.sum(), column[0], column[-1]]).tobytes()
        twin = first.setdefault(key, int(f))
        if twin != f and np.array_equal(column, log.states[:, twin]):
            findings.note(
                "same-features", f"Features `{names[twin]}` and `{names[f]}` are the same; splits name the first."
            )


def _ignore(name: str) -> str:
    return f"To leave it out: ignore=[{name!r}]."


def _look_at_actions(log: Log, findings: Findings) -> None:
    action = log.schema.action
    if action.kind == "discrete":
        counts = np.bincount(log.actions, minlength=len(action.labels))
        if (counts > 0).sum() == 1:
            findings.warning(
                "one-action",
                f"Only one action was ever taken ({action.labels[int(counts.argmax())]}); it says nothing.",
            )
        unused = [label for label, count in zip(action.labels, counts, strict=True) if not count]
        if unused:
            findings.note("unused-actions", f"Never taken: {listing(unused)}.")
        return
    for k, name in enumerate(action.names):
        column = log.actions[:, k]
        if column.min() == column.max():
            findings.warning("one-action", f"Action `{name}` never changes; it says nothing.")
        # The first rows show cheaply that a column has many values.
        elif len(np.unique(column[:BLOCK])) <= 10 and (values := np.unique(column)).size <= 10:
            findings.note(
                "few-actions",
                f"Action `{name}` has only {len(values)} different values and is taken as continuous.",
                'If they are choices, type action_kind="discrete".',
            )


def _look_at_rewards(log: Log, findings: Findings) -> None:
    rewards = log.rewards
    if rewards.min() == rewards.max():
        findings.warning("constant-rewards", f"The reward is always {rewards[0]:g}; values differ by time left only.")
    elif (rewards == np.floor(rewards)).all():
        findings.note("integer-rewards", "Rewards are whole numbers; they are taken as real numbers, which is fine.")


def _look_at_episodes(log: Log, findings: Findings) -> None:
    lengths = np.diff(log.starts)
    single = int((lengths == 1).sum())
    known = ~np.isnan(log.final_states[:, 0])
    if not (known | (lengths > 1)).any():
        findings.warning(
            "no-derivatives",
            "Every episode has one step and no final state: nothing shows how states change.",
            "Log final states (final_state, or next_* columns); check the episode column.",
        )
    elif single:
        findings.note("tiny-episodes", f"{plural(single, 'episode')} of {log.n_episodes:,} have a single step.")
    missing = int((~known).sum())
    if missing:
        findings.note(
            "final-state-missing",
            f"No final state in {missing:,} of {plural(log.n_episodes, 'episode')}: their last step has no derivative.",
        )
    if log.n_episodes > 1:
        both = known[:-1]
        same = (log.final_states[:-1] == log.states[log.starts[1:-1]]).all(axis=1)
        if same.any() and 2 * same.sum() >= both.sum():
            findings.warning(
                "auto-reset",
                f"The final state of {plural(int(same.sum()), 'episode')} is the first state of the next one. "
                "Vector environments that reset by themselves return it in place of the true final state.",
                "Take it from infos (final_observation, final_obs), or leave final states out.",
            )


def _look_at_endings(log: Log, findings: Findings) -> None:
    unknown, truncated = (int((log.endings == ending).sum()) for ending in (UNKNOWN, TRUNCATED))
    if unknown:
        findings.note(
            "ending-unknown",
            f"How {unknown:,} of {plural(log.n_episodes, 'episode')} ended is unknown.",
            'Give terminated= and truncated=, or one for all: ending="terminated" or ending="truncated".',
        )
    if truncated:
        share = truncation_share(log, USUAL_GAMMA)
        findings.note(
            "truncated",
            f"{truncated:,} of {plural(log.n_episodes, 'episode')} are truncated: near their ends values are too small "
            f"or too large, which touches {share:.1%} of the samples with gamma = {USUAL_GAMMA}.",
        )
