"""Phases: a sequence of behaviours cut into stretches of one behaviour, or of several that alternate."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

I64 = npt.NDArray[np.int64]

MOSTLY = 0.8
"""From this share of its steps on, a stretch of short runs counts as one behaviour with interruptions."""


@dataclass(frozen=True)
class Stretch:
    """Steps ``begin`` to ``end`` (not included).

    Attributes
    ----------
    begin, end : int
        Where it begins and ends.
    codes : tuple of int
        Its behaviours, the one with most steps first: one, or several that alternate.
    shares : tuple of float
        Their shares of the steps.
    interruptions : int
        Runs of other behaviours that were too short to count.
    """

    begin: int
    end: int
    codes: tuple[int, ...]
    shares: tuple[float, ...]
    interruptions: int = 0


def cut(codes: I64, shortest: int, most: int) -> list[Stretch]:
    """Return at most ``most`` stretches.

    Runs shorter than ``shortest`` interrupt the stretch that they are in; several of them in a row alternate. The last
    run is kept whatever its length. When there are too many stretches, ``shortest`` grows until there are not.
    """
    while True:
        found = _cut(codes, shortest)
        if len(found) <= most or shortest > len(codes):
            return found
        shortest += max(shortest // 8, 1)


def _cut(codes: I64, shortest: int) -> list[Stretch]:
    starts = np.append(0, np.flatnonzero(codes[1:] != codes[:-1]) + 1)
    ends = np.append(starts[1:], len(codes))
    long = ends - starts >= shortest
    long[-1] = True  # the end matters
    if len(long) > 1 and not long[-2]:
        long[-1] = ends[-1] - starts[-1] >= shortest  # unless it is part of an alternation
    # Runs that belong together: a long one alone, short ones in a row.
    first = np.flatnonzero(np.append(True, long[1:] | long[:-1]))
    stretches: list[Stretch] = []
    waiting = 0  # interruptions at the very beginning, which the first stretch takes in
    for run, after in zip(first, np.append(first[1:], len(long)), strict=True):
        begin, end = int(starts[run]), int(ends[after - 1])
        if not long[run] and end - begin < shortest and end < len(codes):
            if stretches:
                stretches[-1] = _longer(stretches[-1], end, int(after - run))
            else:
                waiting = int(after - run)
            continue
        kept, shares = _kept(codes[begin:end])
        if stretches and len(kept) == 1 and stretches[-1].codes == kept:
            stretches[-1] = _longer(stretches[-1], end, 0)
            continue
        others = int((codes[starts[run:after]] != kept[0]).sum()) if len(kept) == 1 else 0
        stretches.append(Stretch(begin if stretches else 0, end, kept, shares, waiting + others))
        waiting = 0
    return stretches


def _kept(codes: I64) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """Return the behaviours of some steps with their shares; one alone when it has most of the steps."""
    found, steps = np.unique(codes, return_counts=True)
    order = np.argsort(-steps, kind="stable")
    if steps.max() >= MOSTLY * len(codes):
        return (int(found[order[0]]),), (1.0,)
    return tuple(found[order].tolist()), tuple((steps[order] / len(codes)).tolist())


def _longer(stretch: Stretch, end: int, interruptions: int) -> Stretch:
    return replace(stretch, end=end, interruptions=stretch.interruptions + interruptions)
