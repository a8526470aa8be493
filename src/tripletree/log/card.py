"""A log as a notebook shows it: what is in each of its columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tripletree.log.endings import ENDING_NAMES
from tripletree.markup import notebook_box, notebook_table, tag
from tripletree.text import count, some_of

if TYPE_CHECKING:
    from tripletree.log.log import Log

MOST_FEATURES, MOST_LABELS = 12, 6
"""Features and labels that are shown, at most."""


def log_card(log: Log) -> str:
    """Return a log as a small table: features, action and reward, with their kinds, units and values."""
    action = log.schema.action
    rows = [
        (feature.name, feature.kind, feature.unit, _span(log.states[:, f]))
        for f, feature in enumerate(log.schema.features[:MOST_FEATURES])
    ]
    if hidden := log.n_features - len(rows):
        rows.append((f"and {count(hidden, 'more feature')}", "", "", ""))
    if not log.schema.has_action:
        pass
    elif action.labels:
        rows.append((action.names[0], "discrete action", action.units[0], _shares(log)))
    else:
        rows += [
            (name, "continuous action", unit, _span(log.actions[:, k]))
            for k, (name, unit) in enumerate(zip(action.names, action.units, strict=True))
        ]
    if log.schema.has_reward:
        rows.append(("reward", "", "", _span(log.rewards)))
    numbers = np.bincount(log.endings, minlength=len(ENDING_NAMES))
    endings = ", ".join(f"{number:,} {ENDING_NAMES[k]}" for k, number in enumerate(numbers.tolist()) if number)
    title = f"Log of {count(log.n_samples, 'sample')} in {count(log.n_episodes, 'episode')}"
    return notebook_box(tag("b", title), f"Endings: {endings}", notebook_table(("", "kind", "unit", "values"), rows))


def _span(column: Any) -> str:
    return f"{column.min():.4g} to {column.max():.4g}"


def _shares(log: Log) -> str:
    """Return the labels with how often they occur, the most frequent first."""
    labels = log.schema.action.labels
    share = np.bincount(log.actions, minlength=len(labels)) / log.n_samples
    return some_of([f"{labels[k]} {100 * share[k]:.0f} %" for k in np.argsort(-share, kind="stable")], MOST_LABELS)
