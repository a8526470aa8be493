"""Where episodes begin and end, and the order of their rows: from ids, steps, row pointers or flags."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.log.coerce import Array, as_flags, as_ids, as_numbers, factorise
from tripletree.log.findings import Findings
from tripletree.text import Message, Option, count

I64 = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]
FLAGS = ("terminated", "truncated", "done")


@dataclass(frozen=True)
class Markers:
    """The columns that mark episodes, as far as they were given: one value for each row.

    ``starts`` has the first row of every episode instead, and with it the three flags may have one value for each
    episode.
    """

    episode: Array | None = None
    step: Array | None = None
    starts: Array | None = None
    previous_row: Array | None = None
    next_row: Array | None = None
    terminated: Array | None = None
    truncated: Array | None = None
    done: Array | None = None


@dataclass(frozen=True)
class Boundaries:
    """The rows of the source in ``order`` (None: as they are) are episodes between ``starts``, called ``ids``."""

    order: I64 | None
    starts: I64
    ids: Array

    @classmethod
    def at(cls, begins: Bool, order: I64 | None = None) -> Boundaries:
        """Return episodes numbered from 0 that begin in the given rows (the first row always begins one)."""
        begins = begins.copy()
        begins[0] = True
        starts = np.append(np.flatnonzero(begins), len(begins)).astype(np.int64)
        return cls(order, starts, np.arange(len(starts) - 1, dtype=np.int64))


def find_boundaries(
    markers: Markers, n: int, endless: bool, findings: Findings, *, clock: bool = False
) -> Boundaries | None:
    """Find the episodes among ``n`` rows by the most reliable of the columns, or return None after an error.

    With ``clock``, the steps are times, of which several rows may have the same.
    """
    step = None if markers.step is None else _steps(markers.step, findings)
    flags = [
        as_flags(column, f"`{role}`", findings)
        for role in FLAGS
        if (column := getattr(markers, role)) is not None and len(column) == n
    ]
    if endless:
        if markers.episode is not None or markers.starts is not None:
            findings.error(
                "endless",
                Message(
                    "{} means that all rows are one recording, but episodes were given as well.",
                    Option("endless", True),
                ),
                Message("Leave out one of the two. A column that was guessed: {}.", Option("ignore", [...])),
            )
        return Boundaries.at(np.zeros(n, bool))
    if markers.starts is not None:
        if markers.episode is not None:
            findings.error("starts", "Both starts and episodes were given; give only one of them.")
        return by_starts(markers.starts, n, step, findings)
    if markers.episode is not None:
        ids = as_ids(markers.episode, "`episode`", findings)
        return None if ids is None else by_ids(ids, step, findings, clock=clock)
    if markers.previous_row is not None or markers.next_row is not None:
        pointers = [
            None if column is None else as_numbers(column, f"`{role}`", findings)
            for role, column in (("previous_row", markers.previous_row), ("next_row", markers.next_row))
        ]
        return None if findings.failed else by_pointers(pointers[0], pointers[1], findings)
    if flags:
        known = [flag for flag in flags if flag is not None]
        return by_flags(np.logical_or.reduce(known), step) if len(known) == len(flags) else None
    if step is not None:
        return by_steps(step)
    if markers.step is None:
        findings.error(
            "no-episodes",
            "Nothing says where episodes begin or end.",
            Message(
                "Give {} (an id for each row), or {}, or {} / {} / {}; if all rows are one recording without end, "
                "type {}.",
                *(Option(role, "...") for role in ("episode", "step", *FLAGS)),
                Option("endless", True),
            ),
        )
    return None


def _steps(column: Array, findings: Findings) -> Array | None:
    fix = Message("If it does not count steps, name the features: {}.", Option("features", [...]))
    # Integers stay as they are, however large: they are compared, not calculated with.
    step = column if column.dtype.kind in "iumM" else as_numbers(column, "`step`", findings, fix)
    if step is None:
        return None
    missing = np.isnat(step) if step.dtype.kind in "mM" else np.isnan(step)
    if missing.any():
        what = "NaT" if step.dtype.kind in "mM" else "NaN"
        row = int(missing.argmax())
        findings.error("step-missing", f"`step` is missing ({what}) in row {row}; every row needs a value.", fix)
        return None
    # Differences of small integers, such as int8, would overflow.
    return step.astype(np.int64) if step.dtype.kind in "mMi" else step


def by_ids(ids: Array, steps: Array | None, findings: Findings, *, clock: bool = False) -> Boundaries:
    """Return one episode for each id, in the order of their first rows, its rows in the order of their steps."""
    n = len(ids)
    changes = np.ones(n, bool)
    changes[1:] = ids[1:] != ids[:-1]
    runs = np.flatnonzero(changes)
    values, code = factorise(ids[runs])
    order: I64 | None = None
    # There are far fewer runs than rows, so even in a very long log it costs little to see whether an id comes back.
    if len(values) < len(runs):
        first = np.full(len(values), n, np.int64)
        np.minimum.at(first, code, runs)
        rank = np.argsort(np.argsort(first))
        row_rank = np.repeat(rank[code], np.diff(np.append(runs, n)))
        order = np.argsort(row_rank, kind="stable")
        starts = np.append(0, np.cumsum(np.bincount(row_rank))).astype(np.int64)
        _say_regrouped(len(runs), len(values), steps is not None, findings)
        named = [values[i] for i in np.argsort(first)]
    else:
        starts = np.append(runs, n).astype(np.int64)
        named = [values[i] for i in code]
    found = Boundaries(order, starts, np.array(named, np.int64 if ids.dtype.kind != "O" else str))
    return found if steps is None else _sort_steps(found, steps, findings, clock=clock)


def _say_regrouped(runs: int, episodes: int, have_steps: bool, findings: Findings) -> None:
    text = f"The rows of {count(episodes, 'episode')} came in {runs:,} pieces and were grouped by episode"
    if have_steps:
        findings.note("regrouped", f"{text}, in the order of their steps.")
    else:
        findings.warning(
            "regrouped",
            f"{text}, in the order in which they came.",
            Message(
                "If different episodes share an id (those of several workers, say), give each its own; or give {}.",
                Option("step", "..."),
            ),
        )


def by_steps(steps: Array) -> Boundaries:
    """Return episodes that begin wherever the step counter does not go up."""
    begins = np.ones(len(steps), bool)
    begins[1:] = steps[1:] <= steps[:-1]
    return Boundaries.at(begins)


def by_flags(ends: Bool, steps: Array | None) -> Boundaries:
    """Return episodes that end in the rows whose flag is set, and where the step counter does not go up."""
    begins = np.ones(len(ends), bool)
    begins[1:] = ends[:-1]
    if steps is not None:
        begins[1:] |= steps[1:] <= steps[:-1]
    return Boundaries.at(begins)


def by_pointers(previous: Array | None, following: Array | None, findings: Findings) -> Boundaries | None:
    """Return the episodes that row pointers chain together (-1: there is no such row), or None after an error."""
    given = following if following is not None else previous
    if given is None:
        return None
    n = len(given)
    back, forth = (_as_pointers(p, name, n, findings) for p, name in ((previous, "previous"), (following, "next")))
    if findings.failed:
        return None
    back, forth = _invert(forth, n) if back is None else back, _invert(back, n) if forth is None else forth
    for there, here, direction, reverse in ((forth, back, "next", "previous"), (back, forth, "previous", "next")):
        rows = np.flatnonzero(there >= 0)
        wrong = rows[here[there[rows]] != rows]
        if len(wrong):
            row, other = wrong[0], there[wrong[0]]
            said = "none" if here[other] < 0 else here[other]
            findings.error(
                "pointers",
                f"The row pointers contradict each other: row {row} has {other} as its {direction} row, but row "
                f"{other} has {said} as its {reverse} row.",
                Message(
                    "Rows are counted from 0; -1 means none. Or name the episode column: {}.", Option("episode", "...")
                ),
            )
            return None
    rows = np.flatnonzero(forth >= 0)
    if bool((forth[rows] == rows + 1).all()):
        return Boundaries.at(back < 0)
    # Pointer doubling: after k rounds every row knows the row 2**k before it, so log2(n) rounds find all heads.
    head = np.where(back >= 0, back, np.arange(n))
    rank = (back >= 0).astype(np.int64)
    for _ in range(n.bit_length()):
        rank += rank[head]
        head = head[head]
    if bool((back[head] >= 0).any()):
        row = int(np.argmax(back[head] >= 0))
        findings.error("pointers", f"The row pointers run in a circle, for example through row {row}.")
        return None
    order = np.lexsort((rank, head))
    findings.note("regrouped", "The rows were put in the order of their row pointers.")
    return Boundaries.at(back[order] < 0, order)


def _invert(pointers: I64 | None, n: int) -> I64:
    inverse = np.full(n, -1, np.int64)
    if pointers is not None:
        rows = np.flatnonzero(pointers >= 0)
        inverse[pointers[rows]] = rows
    return inverse


def _as_pointers(column: Array | None, name: str, n: int, findings: Findings) -> I64 | None:
    if column is None:
        return None
    values: Array = np.where(np.isnan(column), -1, column) if column.dtype.kind == "f" else column
    wrong = (values < -1) | (values >= n) | (values != np.floor(values))
    if wrong.any():
        row = int(wrong.argmax())
        findings.error(
            "pointers",
            f"The {name}-row pointer of row {row} is {values[row]}; it must be from 0 to {n - 1}, or -1 for none.",
        )
        return None
    return values.astype(np.int64)


def by_starts(starts: Array, n: int, steps: Array | None, findings: Findings) -> Boundaries | None:
    """Return the episodes that begin in the given rows; the number of rows may close the list."""
    rows: Any = starts.tolist() if starts.ndim == 1 else []
    good = starts.ndim == 1 and starts.dtype.kind in "iu" and len(rows) > 0 and rows[0] == 0
    if good and rows[-1] != n:
        rows = [*rows, n]
    if not good or any(a >= b for a, b in pairwise(rows)):
        findings.error(
            "starts",
            Message(
                "{} is {}; expected the first row of every episode, as increasing integers from 0 to at most {}.",
                Option("starts"),
                np.array2string(starts, threshold=8, edgeitems=3),
                n - 1,
            ),
        )
        return None
    found = Boundaries(None, np.array(rows, np.int64), np.arange(len(rows) - 1, dtype=np.int64))
    return found if steps is None else _sort_steps(found, steps, findings)


def _sort_steps(found: Boundaries, steps: Array, findings: Findings, *, clock: bool = False) -> Boundaries:
    """Return the same episodes with their rows in the order of ``steps``; a repeated step is an error, but of a clock.

    What a clock says about gaps is looked at where all that is missing is looked at.
    """
    order = found.order
    inside = np.ones(len(steps) - 1, bool)
    inside[found.starts[1:-1] - 1] = False
    ordered = steps if order is None else steps[order]
    if bool(((ordered[1:] < ordered[:-1]) & inside).any()):
        episode = np.repeat(np.arange(len(found.ids)), np.diff(found.starts))
        within = np.lexsort((ordered, episode))
        order = within if order is None else order[within]
        ordered = steps[order]
        findings.note("sorted", f"The rows of each episode were sorted by {'time' if clock else 'step'}.")
    if clock:
        return Boundaries(order, found.starts, found.ids)
    same = (ordered[1:] == ordered[:-1]) & inside
    if same.any():
        row = int(same.argmax())
        episode_id = found.ids[np.searchsorted(found.starts, row, side="right") - 1]
        findings.error(
            "step-twice",
            f"Episode {episode_id} holds step {ordered[row]} twice ({count(int(same.sum()), 'repeated step')} in all); "
            "a step may occur only once in an episode.",
            Message(
                "Give every episode its own id; or, if that column does not count steps, name the features: {}.",
                Option("features", [...]),
            ),
        )
    elif steps.dtype.kind in "iu" and inside.any():
        gaps = np.diff(ordered)[inside]
        if gaps.min() != gaps.max():
            usual = int(np.median(gaps))
            rows = np.flatnonzero(inside)[gaps > usual]
            row = int(rows[0]) if len(rows) else int(np.flatnonzero(inside)[0])
            episode_id = found.ids[np.searchsorted(found.starts, row, side="right") - 1]
            findings.warning(
                "step-gaps",
                f"Steps are missing: within episodes the step counter jumps by {gaps.min():,} to {gaps.max():,}, "
                f"{count(len(rows), 'time')} by more than {usual:,} (first in episode {episode_id} after step "
                f"{ordered[row]}). Each derivative is the change from one logged row to the next.",
                Message("To divide episodes there, type {}.", Option("gap", usual)),
            )
    return Boundaries(order, found.starts, found.ids)
