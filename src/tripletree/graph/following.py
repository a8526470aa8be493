"""Following: which region recorded episodes come to next, when, and how sure that is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.graph.count import QUANTILES
from tripletree.graph.futures import CENSORED, MISSED, REACHED, Episodes, Groups
from tripletree.graph.intervals import jackknife, share_bounds, share_intervals
from tripletree.graph.tally import ANY, Tally

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

STAYS = 3
"""Steps that an episode must stay in a region to have come there: at a border it may cross it several times."""
END, CUT = -1, -2
"""What follows where no other region does: the end of the episode, or the end of the recording."""


@dataclass(frozen=True, eq=False)
class Next:
    """What one kind of future is like.

    Attributes
    ----------
    region : int
        The region that comes next, or ``END``.
    visits : int64 array
        Which of the visits went there.
    share : float
        Their share, where those that were cut off are filled in from those that were watched for longer.
    interval : tuple of two floats
        Where the share over all episodes to come is expected to be, with 95 % confidence.
    steps : tuple of three int
        Steps within which 10, 50 and 90 % of them came there.
    """

    region: int
    visits: I64
    share: float
    interval: tuple[float, float]
    steps: tuple[int, int, int]


def following(
    episodes: Episodes, region: npt.NDArray[Any], final: npt.NDArray[Any], rows: I64, here: int | None = None
) -> tuple[I64, I64]:
    """Return the region that the episode of each row comes to next and stays in, and after how many steps.

    It has come there if it stays for ``STAYS`` steps, or until the end of its episode.

    Parameters
    ----------
    episodes : Episodes
        The recording.
    region : int array of shape (samples,)
        The region of each recorded state.
    final : int array of shape (episodes,)
        The region of each final state; anything where it is unknown.
    rows : int64 array
        The visits.
    here : int or None
        The region that counts as the one they come from, although some of them may have left it; None: their own.

    Returns
    -------
    next, steps : int64 arrays
        ``END`` or ``CUT`` for those that come to no other region before, with the steps until then.
    """
    known, of_row = episodes.final, episodes.of_row
    # Rows and final states in one line, episode after episode.
    shift: I64 = np.cumsum(known) - known
    path = np.insert(region, episodes.starts[1:][known], final[known])
    stop = episodes.starts[1:] + shift + known
    new = np.append(True, path[1:] != path[:-1])
    new[stop[:-1]] = True
    begin = np.flatnonzero(new)
    end = np.append(begin[1:], len(path))
    stayed = (end - begin >= STAYS) | np.isin(end, stop)
    begin, end = begin[stayed], end[stayed]
    whose = np.searchsorted(stop, begin, side="right")
    at = rows + shift[of_row[rows]]
    mine = region[rows] if here is None else np.full(len(rows), here)
    # The stay that a row is in, or the next; if it is in the region itself, the first one after it that is not.
    run = np.searchsorted(end, at, side="right")
    turns = np.append(np.flatnonzero(path[begin[1:]] != path[begin[:-1]]) + 1, len(begin) - 1)
    there = path[begin[run]] == mine
    run[there] = turns[np.searchsorted(turns[:-1], run[there], side="right")]
    found = (path[begin[run]] != mine) & (whose[run] == of_row[rows])
    over = episodes.terminated[of_row[rows]]
    left = episodes.starts[1:][of_row[rows]] - rows - (~over & ~known[of_row[rows]])
    come = np.where(found, path[begin[run]], np.where(over, END, CUT))
    return come, np.where(found, np.maximum(begin[run] - at, 0), left)


def commonest(come: I64, steps: I64, group: I64) -> tuple[list[Next], float]:
    """Return the kinds of future that were seen, the commonest first, and the share that the record does not tell.

    Parameters
    ----------
    come, steps : int64 arrays
        From :func:`following`.
    group : int64 array
        Visits with one number depend on each other.
    """
    groups, cut = Groups.of(group), come == CUT
    found = []
    unresolved = 1.0
    for region in np.unique(come[~cut]).tolist():
        went = come == region
        cause = np.where(cut, CENSORED, np.where(went, REACHED, MISSED)).astype(np.uint8)
        incidence = Tally.of(steps, cause, np.arange(len(steps)), len(steps), ANY).incidence()
        share, unresolved = incidence.share, incidence.unresolved
        bounds = _interval(share, incidence.influence(steps, cause), ~cut, groups)
        early, middle, late = np.quantile(steps[went], QUANTILES, method="inverted_cdf").tolist()
        found.append(Next(region, np.flatnonzero(went), share, bounds, (int(early), int(middle), int(late))))
    # Of two that are as common the one that comes sooner.
    found.sort(key=lambda one: (-one.share, one.steps[1], one.region))
    return found, unresolved


def _interval(share: float, influence: F64, known: npt.NDArray[np.bool_], groups: Groups) -> tuple[float, float]:
    """Return the interval of a share; Wilson's own where all votes are independent of each other."""
    change, size = groups.sums(influence), groups.sums(known)
    if groups.number < len(known):
        return share_bounds(share, change, size)
    # Unlike groups of many steps, single votes have a variance that follows from their share.
    square = np.array([((change * jackknife(size)) ** 2).sum()])
    low, high = share_intervals(np.array([share]), square, square**2 / groups.number, size, float(size.sum()))[:, 0]
    return float(low), float(high)
