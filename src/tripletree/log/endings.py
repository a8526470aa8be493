"""How episodes ended, and in which state: from the flags and the next states of their last rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.checks import choice
from tripletree.log.boundaries import FLAGS, Boundaries, Markers
from tripletree.log.coerce import LARGEST, Array, as_flags, as_numbers
from tripletree.log.findings import Findings
from tripletree.text import Message, Option, count, plural

F64 = npt.NDArray[np.float64]
UNKNOWN = 0
TERMINATED = 1
TRUNCATED = 2
ENDING_NAMES = ("unknown", "terminated", "truncated")


def decide(
    terminated: npt.NDArray[np.bool_] | None,
    truncated: npt.NDArray[np.bool_] | None,
    done: npt.NDArray[np.bool_] | None,
    episodes: int,
) -> npt.NDArray[np.uint8]:
    """Return the ending of each episode from the flags of its last step.

    An episode whose flags are not set even in its last row was cut off by the end of the recording: truncated.
    ``done`` alone does not say which of the two it was, nor does ``done`` where both others are there and not set.
    Terminated and truncated at once is terminated, since nothing follows.
    """
    neither = None
    if terminated is not None and truncated is not None and done is not None:
        neither = done & ~terminated & ~truncated
    if terminated is None and done is not None and truncated is not None:
        terminated = done & ~truncated
    endings: npt.NDArray[Any] = np.full(episodes, UNKNOWN, np.uint8)
    if terminated is not None:
        endings[:] = np.where(terminated, TERMINATED, TRUNCATED)
        if neither is not None:
            endings[neither] = UNKNOWN
    elif done is not None:
        endings[:] = np.where(done, UNKNOWN, TRUNCATED)
    elif truncated is not None:
        endings[truncated] = TRUNCATED
    return endings


def read_endings(
    markers: Markers,
    found: Boundaries,
    given: npt.NDArray[np.uint8] | None,
    default: str,
    endless: bool,
    findings: Findings,
) -> npt.NDArray[np.uint8]:
    """Return the ending of each episode; a flag that is set before an episode's last row is an error.

    ``given`` overrules the flags, and ``default`` (one of ``ENDING_NAMES``) takes the place of unknown endings.
    """
    if wrong := choice(ENDING_NAMES).objection(default, "ending"):
        findings.error("ending", wrong)
        default = "unknown"
    episodes, n = len(found.ids), int(found.starts[-1])
    last = found.starts[1:] - 1
    flags: list[npt.NDArray[np.bool_] | None] = []
    for role in FLAGS:
        column = getattr(markers, role)
        if column is not None and len(column) not in (n, episodes):
            findings.error(
                "ragged",
                f"`{role}` has {count(len(column), 'value')}; expected one for each of {count(n, 'row')}, or for each "
                f"of {count(episodes, 'episode')}.",
            )
            column = None
        # Flags with one value for each row were checked when the episodes were found: one error is enough.
        flag = None if column is None else as_flags(column, f"`{role}`", Findings() if len(column) == n else findings)
        if flag is not None and len(flag) == n:
            flag = flag if found.order is None else flag[found.order]
            early = flag.copy()
            early[last] = False
            if early.any() and not endless:
                row = int(early.argmax())
                name = found.ids[np.searchsorted(found.starts, row, side="right") - 1]
                findings.error(
                    "flag-inside",
                    f"`{role}` is true inside an episode in {count(int(early.sum()), 'row')}, first in episode {name}; "
                    "it may be true only in the last row of an episode.",
                    Message(
                        "If episodes end where the flags are set, leave the episode column out: {}.",
                        Option("ignore", [...]),
                    ),
                )
            flag = flag[last]
        flags.append(flag)
    if endless:
        endings = np.full(episodes, TRUNCATED, np.uint8)
    else:
        endings = decide(flags[0], flags[1], flags[2], episodes) if given is None else given.copy()
    endings[endings == UNKNOWN] = ENDING_NAMES.index(default)
    return endings


def read_final_states(
    given: Array | None,
    next_states: Sequence[Array] | None,
    names: Sequence[str],
    found: Boundaries,
    states: F64,
    findings: Findings,
) -> F64:
    """Return the state after each episode's last step, rows of NaN where it was not recorded.

    Parameters
    ----------
    given : array of shape (episodes, features), optional
        The final states themselves.
    next_states : sequence of columns, optional
        The state after each step, in the order of the source's rows; used where ``given`` is None.
    names : sequence of str
        The names of the features.
    found : Boundaries
        The episodes.
    states : float64 array of shape (samples, features)
        The states, in the order of the log.
    findings : Findings
        Takes what is wrong.
    """
    shape = len(found.ids), states.shape[1]
    finals = np.full(shape, np.nan)
    if given is not None:
        values = as_numbers(given, "`final_states`", findings)
        if values is not None and values.shape != shape:
            findings.error(
                "final-states",
                f"`final_states` has shape {values.shape}; expected (episodes, features) = {shape}.",
            )
        elif values is not None:
            finals[:] = values
    elif next_states is not None:
        finals = _last_of(next_states, names, found, states, findings)
    infinite = np.isinf(finals).any(axis=1) | (np.abs(finals) > LARGEST).any(axis=1)
    if infinite.any():
        findings.error(
            "final-states",
            f"The final state of episode {found.ids[int(infinite.argmax())]} is infinite or beyond {LARGEST:g}; only "
            "finite numbers are allowed, or a row of NaN where it was not recorded.",
        )
    unknown = np.isnan(finals)
    partly = unknown.any(axis=1) & ~unknown.all(axis=1)
    if partly.any():
        number = int(partly.sum())
        findings.warning(
            "final-states",
            f"The final {plural(number, 'state')} of {count(number, 'episode')} {plural(number, 'is', 'are')} NaN in "
            f"some features and {plural(number, 'is', 'are')} not used (first: episode "
            f"{found.ids[int(partly.argmax())]}).",
        )
    finals[unknown.any(axis=1)] = np.nan
    return finals


def _last_of(
    next_states: Sequence[Array], names: Sequence[str], found: Boundaries, states: F64, findings: Findings
) -> F64:
    """Return the next states of the last rows; warn where the others contradict the rows that follow."""
    last = found.starts[1:] - 1
    finals = np.full((len(last), states.shape[1]), np.nan)
    off = 0
    inside = np.ones(len(states) - 1, bool)
    inside[last[:-1]] = False
    for f, (name, column) in enumerate(zip(names, next_states, strict=True)):
        values = as_numbers(column, f"The next state's `{name}`", findings)
        if values is None:
            continue
        values = values if found.order is None else values[found.order]
        finals[:, f] = values[last]
        # Single precision is the coarsest in which the two columns may have been written.
        tolerance = 1e-6 * float(np.abs(states[:, f]).max())
        off = max(off, int((np.abs(values[:-1] - states[1:, f]) > tolerance)[inside].sum()))
    if off:
        findings.warning(
            "next-differs",
            f"In {count(off, 'row')} the next state differs from the state in the next row of the episode; the next "
            "row is used.",
            Message("Are rows missing, or out of order? Then give {}.", Option("step", "...")),
        )
    return finals
