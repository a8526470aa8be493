"""Visits: which recorded episodes came through a place, when, and what they did there."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.answers.visits import Visit, Visits
from tripletree.asking.places import one_state
from tripletree.checks import check_whole
from tripletree.graph.count import QUANTILES
from tripletree.graph.futures import read_rows
from tripletree.log.derive import wrapped
from tripletree.log.log import Log
from tripletree.model.fitted import Fitted
from tripletree.questions.evidence import Evidence, recorded

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]


def visits(
    fitted: Fitted, found: Evidence | None, log: Log | None, start: Any, given: Any = None, most: int = 1000
) -> Visits:
    """Return the episodes that came through a place.

    Parameters
    ----------
    fitted : Fitted
        The tree.
    found : Evidence or None
        The episodes; None where none are on record.
    log : Log or None
        The same episodes with their actions, in the tree's labels; None where only states are kept.
    start : None, state, leaf or zone
        The place, as in `TripleTree.chance`.
    given : str, bool array or None
        Which episodes count, as in `TripleTree.chance`.
    most : int
        How many episodes are listed, at most; all of them are counted.
    """
    check_whole(most, "most", 1, example=1000)
    found = recorded(found)
    only = found.given(given)
    place, recording = found.visits(start, only), found.recording
    rows = read_rows(place.rows)
    whose, first = np.unique(found.episodes.of_row[rows], return_index=True)
    rows = rows[first]
    state = one_state(fitted, start)
    away = None if state is None else _away(fitted, recording.states[rows], state)
    if away is not None:
        order = np.argsort(away, kind="stable")
        whose, rows, away = whose[order], rows[order], away[order]
    groups = len(np.unique(found.episodes.group[whose]))
    # In a zone, every step counts as a visit; of a state, one for each episode.
    steps = len(rows) if state is not None or start is None else len(read_rows(place.rows))
    seen = found.seen(place, len(rows), steps, groups, only)
    done = None if log is None or not fitted.schema.has_action else _done(fitted, log, rows)
    step = rows - recording.starts[whose]
    if recording.first is not None:
        step = step + recording.first[whose]
    return Visits(
        found=tuple(
            Visit(
                episode=int(whose[k]),
                name=recording.ids[whose[k]].item(),
                step=int(step[k]),
                distance=None if away is None else float(away[k]),
                action=None if done is None else done[k],
            )
            for k in range(min(len(rows), most))
        ),
        seen=seen,
        actions=None if done is None else _counted(fitted, done),
        units=dict(zip(fitted.schema.action.names, fitted.schema.action.units, strict=False)),
        has_action=fitted.schema.has_action,
    )


def _away(fitted: Fitted, states: F64, state: F64) -> F64:
    """Return how far states are from one: root mean square over features, as shares of their ranges."""
    square = np.zeros(len(states))
    for f, period in enumerate(fitted.schema.periods):
        square += (wrapped(states[:, f] - state[f], period) / fitted.span[f]) ** 2
    away: F64 = np.sqrt(square / max(len(state), 1))
    return away


def _done(fitted: Fitted, log: Log, rows: I64) -> list[Any]:
    """Return what was done at each row: labels, or tuples of numbers."""
    if fitted.schema.action.kind == "discrete":
        # The log's own labels, which may be others than the tree knows.
        return [log.schema.action.labels[code] for code in log.actions[rows].tolist()]
    return [tuple(row) for row in log.actions[rows].tolist()]


def _counted(fitted: Fitted, done: list[Any]) -> dict[str, Any]:
    """Return how often each label was taken, or where the numbers of each dimension lie."""
    if fitted.schema.action.kind == "discrete":
        labels, number = np.unique(done, return_counts=True) if done else ((), ())
        return {str(label): int(count) for label, count in zip(labels, number, strict=True)}
    if not done:
        return {}
    low, middle, high = np.quantile(np.array(done), QUANTILES, axis=0)
    names = fitted.schema.action.names
    return {name: (float(low[k]), float(middle[k]), float(high[k])) for k, name in enumerate(names)}
