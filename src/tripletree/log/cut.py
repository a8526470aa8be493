"""Where episodes begin and end, and in which order the rows must stand, from ids, steps, row pointers or flags."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.log.report import Findings, plural
from tripletree.log.tidy import Array, factorise

I64 = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Cut:
    """The rows of the source in ``order`` (None: as they are) are episodes between ``starts``."""

    order: I64 | None
    starts: I64
    ids: Array

    @classmethod
    def at(cls, begins: Bool, order: I64 | None = None) -> Cut:
        """Return episodes numbered from 0 that begin in the given rows (the first row always begins one)."""
        begins = begins.copy()
        begins[0] = True
        starts = np.append(np.flatnonzero(begins), len(begins)).astype(np.int64)
        return cls(order, starts, np.arange(len(starts) - 1, dtype=np.int64))


def by_ids(ids: Array, steps: Array | None, findings: Findings) -> Cut:
    """Return one episode for each id, in the order of their first rows, its rows in the order of their steps."""
    n = len(ids)
    changes = np.ones(n, bool)
    changes[1:] = ids[1:] != ids[:-1]
    runs = np.flatnonzero(changes)
    values, code = factorise(ids[runs])
    order: I64 | None = None
    # Runs are few, so finding out whether an id comes back costs little even for very long logs.
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
    cut = Cut(order, starts, np.array(named, np.int64 if ids.dtype.kind != "O" else str))
    return cut if steps is None else _sort_steps(cut, steps, findings)


def _say_regrouped(runs: int, episodes: int, have_steps: bool, findings: Findings) -> None:
    text = f"The rows of {plural(episodes, 'episode')} came in {runs:,} pieces and were put together"
    if have_steps:
        findings.note("regrouped", f"{text}, in the order of their steps.")
    else:
        findings.warning(
            "regrouped",
            f"{text}, in the order in which they came.",
            "If different episodes share an id (several workers, say), give each its own; or give step=.",
        )


def by_steps(steps: Array) -> Cut:
    """Return episodes that begin wherever the step counter does not go up."""
    begins = np.ones(len(steps), bool)
    begins[1:] = steps[1:] <= steps[:-1]
    return Cut.at(begins)


def by_flags(ends: Bool, steps: Array | None) -> Cut:
    """Return episodes that end in the rows whose flag is set, and where the step counter does not go up."""
    begins = np.ones(len(ends), bool)
    begins[1:] = ends[:-1]
    if steps is not None:
        begins[1:] |= steps[1:] <= steps[:-1]
    return Cut.at(begins)


def by_pointers(previous: Array | None, following: Array | None, findings: Findings) -> Cut | None:
    """Return the episodes that row pointers chain together (-1: there is no such row), or None after an error."""
    given = following if following is not None else previous
    if given is None:
        return None
    n = len(given)
    back, forth = (_as_pointers(p, name, n, findings) for p, name in ((previous, "previous"), (following, "next")))
    if findings.failed:
        return None
    back, forth = _invert(forth, n) if back is None else back, _invert(back, n) if forth is None else forth
    rows = np.flatnonzero(forth >= 0)
    wrong = np.flatnonzero(back[forth[rows]] != rows)
    if len(wrong) or (back >= 0).sum() != len(rows):
        row = int(rows[wrong[0]]) if len(wrong) else int(np.flatnonzero(back >= 0)[0])
        findings.error(
            "pointers",
            f"The row pointers contradict each other: row {row} points to row {forth[row]}, which does not point "
            "back to it (or a row has two predecessors).",
            "Rows are counted from 0; -1 means none. Or name the episode column: episode=...",
        )
        return None
    if bool((forth[rows] == rows + 1).all()):
        return Cut.at(back < 0)
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
    return Cut.at(back[order] < 0, order)


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
            "pointers", f"The {name}-row pointer of row {row} is {values[row]}; -1 to {n - 1} are allowed (-1: none)."
        )
        return None
    return values.astype(np.int64)


def by_starts(starts: Array, n: int, steps: Array | None, findings: Findings) -> Cut | None:
    """Return the episodes that begin in the given rows; the number of rows may close the list."""
    rows: Any = starts.tolist() if starts.ndim == 1 else []
    good = starts.ndim == 1 and starts.dtype.kind in "iu" and len(rows) > 0 and rows[0] == 0
    if good and rows[-1] != n:
        rows = [*rows, n]
    if not good or any(a >= b for a, b in pairwise(rows)):
        findings.error(
            "starts",
            f"starts is {np.array2string(starts, threshold=8, edgeitems=3)}; the first row of every episode is "
            f"needed, as integers that go up from 0 to at most {n - 1}.",
        )
        return None
    cut = Cut(None, np.array(rows, np.int64), np.arange(len(rows) - 1, dtype=np.int64))
    return cut if steps is None else _sort_steps(cut, steps, findings)


def _sort_steps(cut: Cut, steps: Array, findings: Findings) -> Cut:
    """Return the cut with the rows of each episode in the order of ``steps``; doubled steps are an error."""
    order = cut.order
    inside = np.ones(len(steps) - 1, bool)
    inside[cut.starts[1:-1] - 1] = False
    ordered = steps if order is None else steps[order]
    if bool(((ordered[1:] < ordered[:-1]) & inside).any()):
        episode = np.repeat(np.arange(len(cut.ids)), np.diff(cut.starts))
        within = np.lexsort((ordered, episode))
        order = within if order is None else order[within]
        ordered = steps[order]
        findings.note("sorted", "The rows of each episode were sorted by step.")
    same = (ordered[1:] == ordered[:-1]) & inside
    if same.any():
        row = int(same.argmax())
        episode_id = cut.ids[np.searchsorted(cut.starts, row, side="right") - 1]
        findings.error(
            "step-twice",
            f"Episode {episode_id} holds step {ordered[row]} twice ({plural(int(same.sum()), 'such row')} in all); "
            "a step may come once in an episode.",
            "Give every episode its own id; or, if that column counts no steps, name the features: features=[...].",
        )
    elif steps.dtype.kind in "iu" and inside.any():
        gaps = np.diff(ordered)[inside]
        if gaps.min() != gaps.max():
            findings.warning(
                "step-gaps",
                f"Steps are missing: the step counter jumps by {gaps.min():,} to {gaps.max():,} within episodes. "
                "Each derivative is the change from one logged row to the next.",
            )
    return Cut(order, cut.starts, cut.ids)
