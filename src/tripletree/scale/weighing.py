"""How much the steps of a log on disk count: passes over their weights, and what follows for the whole log."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tripletree.graph.moves import Shares
from tripletree.log.exact import add_weights, mean_weights
from tripletree.scale.pieces import NOTED, Span, Work
from tripletree.tree.edges import sampled
from tripletree.tree.weights import LARGEST, Census, Grid, lost_note, steps_of

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
Each = Callable[[Callable[[Any, Any], Any], Any], Iterable[Any]]
"""Does a task in all pieces, and returns what comes of it."""


def count_weights(work: Work, spans: Sequence[Span]) -> Census:
    """Return which weights steps have."""
    found: Census | None = None
    for span in spans:
        part = Census.of(np.asarray(work.kept(span).weights, np.float64))
        found = part if found is None else found.merge(part)
    if found is None:
        raise ValueError("no pieces")
    return found


def add_steps(common: tuple[Work, float], spans: Sequence[Span]) -> int:
    """Return the sum of weights in steps of 2^-20 of the largest."""
    work, largest = common
    return sum(steps_of(np.asarray(work.kept(span).weights, np.float64), largest) for span in spans)


class Rounded(NamedTuple):
    """What rounding makes of a piece's weights.

    Attributes
    ----------
    counted : int
        Steps that count.
    least, most, total : int
        The smallest and the largest weight of these, and their sum.
    positive : int
        Steps that weighed something before.
    episodes : float64 array of shape (episodes, 2)
        The sums of the weights in each, see `log.exact.add_weights`.
    """

    counted: int
    least: int
    most: int
    total: int
    positive: int
    episodes: F64


def round_weights(common: tuple[Work, Grid, int], spans: Sequence[Span]) -> dict[int, Rounded]:
    """Return what rounding makes of the weights of each piece; of a log of so many steps."""
    work, grid, n_samples = common
    found = {}
    for span in spans:
        kept = work.kept(span)
        weights = np.asarray(kept.weights, np.float64)
        whole = grid.whole(weights)
        counted = whole[whole > 0]
        found[span.number] = Rounded(
            len(counted),
            int(counted.min()) if len(counted) else LARGEST,
            int(counted.max(initial=0)),
            int(counted.sum()),
            int(np.count_nonzero(weights)),
            add_weights(weights, kept.starts, grid.largest, n_samples),
        )
    return found


@dataclass(frozen=True, eq=False)
class Noting:
    """Which steps are noted, of ``total`` that count; those of each piece are counted from ``first`` on."""

    first: dict[int, int]
    total: int
    stride: int


def note_rows(common: tuple[Work, Noting], spans: Sequence[Span]) -> int:
    """Write the states that bins and medians are chosen by, of the steps that count; returns the pieces."""
    work, how = common
    for span in spans:
        log = work.log(span)
        weighing = work.weighing(log)
        states, first = weighing.take(log.states), how.first[span.number]
        some = np.arange(-first % how.stride, len(states), how.stride)
        arrays = {
            "sample": states[sampled(first, first + len(states), how.total)],
            "some": states[some],
            **({} if weighing.counts is None else {"counts": weighing.counts[some]}),
        }
        work.cache.write(NOTED, span.number, arrays, {})
    return len(spans)


@dataclass(frozen=True, eq=False)
class Weights:
    """How much the steps of a log on disk count.

    Attributes
    ----------
    grid : Grid
        How weights are rounded.
    n_samples, counted, total : int
        Steps, those that count, and what they count together.
    span : (int, int) or None
        The least and the most that one of them counts; None where they count the same.
    mean : float
        The mean of the weights as they were given.
    shares : dict of int to Shares
        How much the episodes of each piece count; empty where they count the same.
    notes : tuple of str
        What rounding has lost.
    first : dict of int to int
        How many steps count before each piece.
    """

    grid: Grid
    n_samples: int
    counted: int
    total: int
    span: tuple[int, int] | None
    mean: float
    shares: dict[int, Shares]
    notes: tuple[str, ...]
    first: dict[int, int]

    @classmethod
    def of(cls, grid: Grid, parts: Sequence[Rounded], spans: Sequence[Span], starts: I64) -> Weights:
        """Put together what was found in every piece; ``starts`` are the episodes of the log."""
        sums = np.zeros((len(starts) - 1, 2))
        at, episodes = 0, []
        for span, part in zip(spans, parts, strict=True):
            first = at - (span.before > 0)
            at = first + len(part.episodes)
            sums[first:at] += part.episodes
            episodes.append(slice(first, at))
        lengths = np.diff(starts)
        means = mean_weights(sums, lengths, grid.largest)
        shares = Shares.of(means, int(starts[-1]))
        least, most = min(part.least for part in parts), max(part.most for part in parts)
        before = np.cumsum([0, *(part.counted for part in parts[:-1])])
        counted = sum(part.counted for part in parts)
        return cls(
            grid,
            int(starts[-1]),
            counted,
            sum(part.total for part in parts),
            None if least == most else (least, most),
            float(means @ lengths) / int(starts[-1]),
            {}
            if shares is None
            else {span.number: shares.some(mine) for span, mine in zip(spans, episodes, strict=True)},
            lost_note(sum(part.positive for part in parts) - counted, grid),
            {span.number: int(number) for span, number in zip(spans, before, strict=True)},
        )

    @property
    def alike(self) -> bool:
        """Whether all steps count the same after all."""
        return self.span is None and not self.shares and self.counted == self.n_samples


def weigh_pieces(work: Work, spans: Sequence[Span], starts: I64, each: Each) -> Weights | None:
    """Return how much steps count; None where all count the same."""
    census: Census | None = None
    for part in each(count_weights, work):
        census = part if census is None else census.merge(part)
    if census is None:
        raise ValueError("no pieces")
    largest = census.largest
    grid = census.grid(lambda: sum(each(add_steps, (work, largest))))
    rounded: dict[int, Rounded] = {}
    for some in each(round_weights, (work, grid, int(starts[-1]))):
        rounded |= some
    found = Weights.of(grid, [rounded[span.number] for span in spans], spans, starts)
    return None if found.alike else found


def note_pieces(work: Work, weights: Weights, stride: int, each: Each) -> None:
    """Note the states that bins are chosen by, and of all that count every so many-th for medians."""
    counting = replace(work, grid=weights.grid, weights=weights.span)
    sum(each(note_rows, (counting, Noting(weights.first, weights.counted, stride))))
