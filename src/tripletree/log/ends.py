"""How each episode ends: its ending and its final state, from the columns of a draft."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tripletree.checks import listing
from tripletree.log.cut import Cut
from tripletree.log.draft import F64, LARGEST, Draft
from tripletree.log.endings import ENDING_NAMES, TRUNCATED, UNKNOWN, decide
from tripletree.log.report import Findings, hint, plural
from tripletree.log.tidy import as_flags, as_numbers


def read_endings(draft: Draft, cut: Cut, findings: Findings) -> npt.NDArray[np.uint8]:
    """Return the ending of each episode; a flag that is set before an episode's last row is an error."""
    default = str(draft.naming.get("ending") or "unknown")
    if default not in ENDING_NAMES:
        findings.error(
            "ending", f"ending is {default!r}; allowed are {listing(ENDING_NAMES)}.", hint(default, ENDING_NAMES)
        )
        default = "unknown"
    episodes, n = len(cut.ids), cut.starts[-1]
    last = cut.starts[1:] - 1
    flags: list[npt.NDArray[np.bool_] | None] = []
    for role in ("terminated", "truncated", "done"):
        column = getattr(draft, role)
        if column is not None and len(column) not in (n, episodes):
            findings.error(
                "ragged", f"`{role}` has {len(column):,} values; one for each of {n:,} rows or {episodes:,} episodes."
            )
            column = None
        flag = None if column is None else as_flags(column, f"`{role}`", Findings())
        if flag is not None and len(flag) == n:
            flag = flag if cut.order is None else flag[cut.order]
            early = flag.copy()
            early[last] = False
            if early.any() and not draft.naming.get("endless"):
                row = int(early.argmax())
                name = cut.ids[np.searchsorted(cut.starts, row, side="right") - 1]
                findings.error(
                    "flag-inside",
                    f"`{role}` is true in {plural(int(early.sum()), 'row')} that no episode ends with, first inside "
                    f"episode {name}; it may be true in the last row of an episode only.",
                    "If the episodes are those between the flags, leave the episode column out: ignore=[...].",
                )
            flag = flag[last]
        flags.append(flag)
    endings = decide(flags[0], flags[1], flags[2], episodes) if draft.endings is None else draft.endings
    if draft.naming.get("endless"):
        endings = np.full(episodes, TRUNCATED, np.uint8)
    endings[endings == UNKNOWN] = ENDING_NAMES.index(default)
    return endings


def read_final_states(draft: Draft, cut: Cut, states: F64, findings: Findings) -> F64:
    """Return the state after each episode's last step, rows of NaN where it was not recorded."""
    shape = len(cut.ids), states.shape[1]
    finals = np.full(shape, np.nan)
    last = cut.starts[1:] - 1
    if draft.final_states is not None:
        values = as_numbers(draft.final_states, "The final states", findings)
        if values is not None and values.shape != shape:
            findings.error(
                "final-states", f"The final states have shape {values.shape}; (episodes, features) = {shape} is needed."
            )
        elif values is not None:
            finals[:] = values
    elif draft.next_states is not None:
        off = 0
        inside = np.ones(len(states) - 1, bool)
        inside[last[:-1]] = False
        for f, (name, column) in enumerate(zip(draft.feature_names, draft.next_states, strict=True)):
            values = as_numbers(column, f"The next state's `{name}`", findings)
            if values is None:
                continue
            values = values if cut.order is None else values[cut.order]
            finals[:, f] = values[last]
            # Single precision is the coarsest in which the two columns may have been written.
            tolerance = 1e-6 * float(np.abs(states[:, f]).max())
            off = max(off, int((np.abs(values[:-1] - states[1:, f]) > tolerance)[inside].sum()))
        if off:
            findings.warning(
                "next-differs",
                f"In {plural(off, 'row')} the next state is not the state of the row that follows in its episode; "
                "the following row is used.",
                "Are rows missing, or out of order? Then give step=.",
            )
    infinite = np.isinf(finals).any(axis=1) | (np.abs(finals) > LARGEST).any(axis=1)
    if infinite.any():
        findings.error(
            "final-states", f"The final state of episode {cut.ids[int(infinite.argmax())]} is infinite or beyond "
            f"{LARGEST:g}; finite numbers are allowed (or a row of NaN: not recorded)."
        )  # fmt: skip
    unknown = np.isnan(finals)
    partly = unknown.any(axis=1) & ~unknown.all(axis=1)
    if partly.any():
        findings.warning(
            "final-states",
            f"The final states of {plural(int(partly.sum()), 'episode')} are NaN in some features and are not used, "
            f"first that of episode {cut.ids[int(partly.argmax())]}.",
        )
    finals[unknown.any(axis=1)] = np.nan
    return finals
