"""Fan: where recorded episodes are at each of the next steps, feature by feature."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.answers.chance import Seen
from tripletree.asking.places import one_state
from tripletree.checks import check_whole
from tripletree.errors import ParameterError
from tripletree.graph import count
from tripletree.graph.futures import read_rows
from tripletree.graph.tally import FEWEST_AT_RISK
from tripletree.questions.chance import MOST_STEPS
from tripletree.questions.evidence import Evidence, recorded
from tripletree.text import Message

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

POINTS = 120
"""Times at which a fan is worked out, at most: more could not be told apart in a picture."""
STILL = 0.1
"""Share of the visits that must go on for a fan to go on: the last of them may be unlike all others."""
MOST_VISITS = 20_000
"""Visits that are followed; of more, so many are taken evenly."""


@dataclass(frozen=True, eq=False)
class Fan:
    """Where visits are over time.

    Attributes
    ----------
    times : int64 array of shape (times,)
        Steps after the start, from 0 on.
    quantiles : float64 array of shape (3, drawn, features)
        10, 50 and 90 % of the states of those that go on, at the first so many times: while enough of them do.
    mean : float64 array of shape (drawn, features)
        Their means: of features that are 0 or 1, the share with 1.
    ended, unresolved : float64 arrays of shape (times,)
        Share whose episode is over by then, and share of which the record ends too early to tell.
    paths : tuple of float64 arrays of shape (steps, features)
        What some of them really did, step by step.
    last : float64 array of shape (visits that go on, features)
        Where they are at the last time.
    state : float64 array of shape (features,), or None
        The state asked about, if it is one.
    seen : Seen
        Who was seen at the start.
    """

    times: I64
    quantiles: F64
    mean: F64
    ended: F64
    unresolved: F64
    paths: tuple[F64, ...]
    last: F64
    state: F64 | None
    seen: Seen


def fan(found: Evidence | None, steps: Any, start: Any, most_paths: int = 0) -> Fan:
    """Return where visits to a start are over the next steps; `TripleTree.after` says it for the last of them.

    Parameters
    ----------
    found : Evidence or None
        The episodes to count; None where none are on record.
    steps : int
        How far to look ahead.
    start : None, state, leaf or zone
        Where from, as in `TripleTree.chance`.
    most_paths : int
        How many visits to follow step by step, each of another episode.
    """
    check_whole(steps, "steps", 1, MOST_STEPS, 100)
    found = recorded(found)
    state = one_state(found.fitted, start)
    visits, recording, episodes = found.visits(start), found.recording, found.episodes
    rows = read_rows(visits.rows)
    of_row = episodes.of_row[rows]
    if not len(rows):
        raise ParameterError(Message("No recorded episode was in {}, so there is nothing to draw.", visits.text))
    seen = found.seen(visits, len(np.unique(of_row)), len(rows), len(np.unique(episodes.group[of_row])), None)
    followed = rows[evenly(len(rows), MOST_VISITS)]
    times = np.unique(np.linspace(0, steps, min(int(steps), POINTS) + 1).round().astype(np.int64))
    quantiles: list[F64] = []
    mean: list[F64] = []
    ended, unresolved = np.zeros(len(times)), np.zeros(len(times))
    states = np.zeros((0, recording.states.shape[1]))
    for t, later in enumerate(count.over_time(episodes, followed, times.tolist())):
        ended[t], unresolved[t] = later.ended, later.unresolved
        states = _states(found, later.rows)
        # Quantiles of the one or two that go on longest would say more about these than about the agent.
        enough = np.count_nonzero(np.bincount(later.group)) >= min(FEWEST_AT_RISK, later.groups)
        if enough and len(states) >= STILL * later.visits and len(mean) == t:
            mean.append(states.mean(axis=0))
            quantiles.append(_quantiles(states))
    _, first = np.unique(of_row, return_index=True)
    chosen = rows[first][evenly(len(first), most_paths)]
    return Fan(
        times=times,
        quantiles=np.stack(quantiles, axis=1),
        mean=np.stack(mean),
        ended=ended,
        unresolved=unresolved,
        paths=tuple(_path(found, row, int(steps)) for row in chosen.tolist()),
        last=states,
        state=state,
        seen=seen,
    )


def evenly(number: int, most: int) -> I64:
    """Return at most so many of some numbers: evenly, so that the same log gives the same picture."""
    return np.unique(np.linspace(0, number - 1, min(number, most)).astype(np.int64))


def _quantiles(states: F64) -> F64:
    """Return 10, 50 and 90 % of each feature: numbers that occur, as ``inverted_cdf`` of NumPy has them, but faster."""
    places = [max(math.ceil(len(states) * share) - 1, 0) for share in count.QUANTILES]
    return np.partition(np.ascontiguousarray(states.T), places, axis=1)[:, places].T


def _states(found: Evidence, rows: I64) -> F64:
    """Return the states of rows; those beyond the log's are final states."""
    samples = found.recording.n_samples
    final = rows >= samples
    states = found.recording.states[np.where(final, 0, rows)]
    states[final] = found.recording.final_states[rows[final] - samples]
    return states


def _path(found: Evidence, row: int, steps: int) -> F64:
    """Return what followed a row, itself included, as far as it is known."""
    recording = found.recording
    e = int(found.episodes.of_row[row])
    stop = int(recording.starts[e + 1])
    path = recording.states[row : min(row + steps + 1, stop)]
    whole = row + steps >= stop and found.episodes.final[e]
    return np.vstack([path, recording.final_states[e]]) if whole else path
