"""Cycle: the phase of every step of a rhythm, the lengths of its cycles, its parts, and where it breaks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tripletree.questions.periods import Candidate, turns, wave

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
C128 = npt.NDArray[np.complex128]

DELAYS = 5
"""Earlier states that a phase is read from, an eighth of a period apart."""
SMOOTH = 0.2
"""Share of a period that phases are smoothed over."""
OFF, LASTS = 0.35, 0.15
"""How many cycles the phase must be off after one period, and for what share of a period, to be a break."""
STEADY = 0.2
"""How many cycles off is still steady: a rhythm can only break where it was steady for a period."""
MOSTLY = 0.8
"""Share of that period that must be steady."""
CREDIBLE = 4.0
"""A break must be this many standard deviations of the steady phase away, or breaks are not told."""
SHORTEST_TOLD = 20
"""Steps of the shortest cycle in which single breaks are told: smoothing must be over more than a step or two."""
MOST_ROWS = 50_000
"""Steps that the map to the phase is fitted to, at most."""
BINS = 60
MOST_PARTS, SHORTEST_PART = 6, 0.06
"""Parts of a cycle at most, and the share of it that the shortest may have."""
WORTH = 0.02
"""Share of the steps, over all columns, that one part more must tell right."""
GAIN = 0.1
"""Share of the steps that the place in the cycle must tell of an action, or parts are cut by features."""
ENOUGH = 0.9
"""Share of the steps that is told well enough: then there are no more parts."""


@dataclass(frozen=True, eq=False)
class Phases:
    """Where each step is in the cycle, episode by episode.

    Attributes
    ----------
    period : float
        Steps of a cycle.
    turned : list of complex arrays
        The phase of each step as a number in the plane, about 1 in size where there is a rhythm; NaN where it is
        not known.
    off : list of float arrays
        How many cycles the phase has missed since one period ago; NaN where that is not known.
    """

    period: float
    turned: list[C128]
    off: list[F64]


def period_of(found: Candidate, episodes: Sequence[F64]) -> float:
    """Return the steps of a cycle: how far the phase turns in one period, where it turns steadily."""
    missed = []
    for part in episodes:
        turned = turns(wave(part, found.direction, found.steps), found.scale)
        angle = np.angle(turned[found.steps :] * turned[: -found.steps].conj()) / (2 * np.pi)
        known = np.abs(turned[found.steps :] * turned[: -found.steps]) > 0
        missed.append(angle[known & (np.abs(angle) < OFF)])
    away = np.concatenate(missed)
    return float(found.steps / (1 + away.mean())) if len(away) else found.period


def phases(found: Candidate, episodes: Sequence[F64], period: float) -> Phases:
    """Return the phase of every step, read from the state there and a little earlier.

    The filtered wave that found the rhythm needs half a period before and after a step, and would blur a fall. So a
    linear map from the last half period to that wave is fitted, and read everywhere.
    """
    lags = [round(k * period / 8) for k in range(DELAYS)]
    weight = _map(found, episodes, lags)
    step, wide = round(period), round(SMOOTH * period / 2)
    turned, off = [], []
    for part in episodes:
        whole = np.full(len(part), np.nan, np.complex128)
        if len(part) > lags[-1]:
            whole[lags[-1] :] = _smooth(_read(part, lags, weight), wide)
        turned.append(whole)
        missed = np.full(len(part), np.nan)
        moved = whole[step:] * whole[:-step].conj() * np.exp(-2j * np.pi * step / period)
        missed[step:] = np.where(np.isnan(moved), np.nan, np.angle(moved) / (2 * np.pi))
        off.append(missed)
    return Phases(period, turned, off)


def _map(found: Candidate, episodes: Sequence[F64], lags: Sequence[int]) -> C128:
    """Return the linear map from a state and those before it to the wave, by least squares."""
    width = len(lags) * episodes[0].shape[1] + 1
    every = max(sum(len(part) for part in episodes) // MOST_ROWS, 1)
    square, rows = np.zeros((width, width)), 0
    product = np.zeros(width, np.complex128)
    for part in episodes:
        target = turns(wave(part, found.direction, found.steps), found.scale)
        at = np.arange(len(target)) + found.steps // 2
        use = np.flatnonzero((np.abs(target) > 0) & (at >= lags[-1]))[::every]
        if len(use):
            x = np.concatenate([*(part[at[use] - lag] for lag in lags), np.ones((len(use), 1))], axis=1)
            square, rows = square + x.T @ x, rows + len(use)
            product += x.T @ target[use]
    ridge = 1e-3 * max(rows, 1) * np.eye(width)
    return np.asarray(np.linalg.solve(square + ridge, product), np.complex128)


def _read(part: F64, lags: Sequence[int], weight: C128) -> C128:
    """Return the wave by that map, from the first step on that has all states before it."""
    blocks = weight[:-1].reshape(len(lags), -1)
    before = lags[-1]
    total = np.full(len(part) - before, weight[-1])
    for lag, block in zip(lags, blocks, strict=True):
        seen = part[before - lag : len(part) - lag]
        total += seen @ block.real + 1j * (seen @ block.imag)
    return total


def _smooth(numbers: C128, wide: int) -> C128:
    """Return means over ``wide`` steps to either side, over fewer near the ends, which must not hold a phase back."""
    n = np.arange(len(numbers))
    reach = np.minimum(wide, np.minimum(n, n[::-1]))
    total = np.concatenate([[0], np.cumsum(numbers)])
    return np.asarray((total[n + reach + 1] - total[n - reach]) / (2 * reach + 1), np.complex128)


def steady(read: Phases) -> list[npt.NDArray[np.bool_]]:
    """Return at which steps the phase is where it should be, one period after it was there."""
    return [np.abs(off) < STEADY for off in read.off]


def lengths(read: Phases) -> F64:
    """Return the steps of all whole steady cycles."""
    found = []
    for turned, good in zip(read.turned, steady(read), strict=True):
        for begin, end in _runs(good):
            angle = np.unwrap(np.angle(turned[max(begin - round(read.period), 0) : end])) / (2 * np.pi)
            # From one place of the cycle to the same place of the next one; four places, so as not to depend on one.
            angle = np.maximum.accumulate(angle)
            for place in (0.0, 0.25, 0.5, 0.75):
                marks = np.arange(np.ceil(angle[0] - place), angle[-1] - place) + place
                found.append(np.diff(np.interp(marks, angle, np.arange(len(angle)))))
    return np.concatenate(found) if found else np.zeros(0)


def noise(read: Phases) -> float:
    """Return the standard deviation of the phase after one period, in cycles, by the middle half of the steps."""
    known = np.concatenate([off[~np.isnan(off)] for off in read.off])
    if not len(known):
        return np.inf
    low, high = np.quantile(known, [0.25, 0.75])
    return float((high - low) / 1.349)


def breaks(read: Phases) -> list[tuple[int, int]]:
    """Return where the rhythm breaks: the episode and the step."""
    found = []
    lasts, before = max(round(LASTS * read.period), 1), round(read.period)
    for episode, (off, good) in enumerate(zip(read.off, steady(read), strict=True)):
        free = 0
        for begin, end in _runs(np.abs(off) > OFF):
            calm = np.flatnonzero(good[:begin])
            if end - begin < lasts or not len(calm):
                continue
            # It is off by a third of a cycle only after a while: it broke at the last step that was steady.
            last = int(calm[-1])
            if begin - last <= before / 2 and last >= free + before and good[last - before : last].mean() > MOSTLY:
                found.append((episode, last + 1))
                free = end
    return found


def _runs(flags: npt.NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return where runs of true begin and end."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]]).astype(np.int8)))
    return [(int(a), int(b)) for a, b in edges.reshape(-1, 2)]


def goes_along(shares: Sequence[F64]) -> bool:
    """Return whether any column goes with the cycle: its commonest level changes along it, for enough of the steps."""
    gains = [float(one.max(axis=1).sum() - one.sum(axis=0).max()) / max(float(one.sum()), 1.0) for one in shares]
    return max(gains, default=0.0) >= GAIN


def cut(shares: Sequence[F64]) -> list[int]:
    """Return the bins at which the parts of a cycle begin, in order: two to six parts of a circle.

    Parameters
    ----------
    shares : sequence of arrays of shape (bins, levels)
        For each column of what is told, how many steps of each bin have each level.
    """
    bins = len(shares[0])
    shortest = max(round(SHORTEST_PART * bins), 1)
    total = sum(float(one.sum()) for one in shares)
    # wrong[i, n]: steps of the n bins from bin i on that do not have the commonest level of those bins.
    wrong = np.full((bins, bins + 1), np.inf)
    twice = [np.concatenate([np.zeros((1, one.shape[1])), np.cumsum(np.tile(one, (2, 1)), axis=0)]) for one in shares]
    start = np.arange(bins)
    for span in range(shortest, bins + 1):
        sums = [one[start + span] - one[start] for one in twice]
        wrong[:, span] = sum(one.sum(axis=1) - one.max(axis=1) for one in sums)
    best: dict[int, tuple[float, list[int]]] = {}
    n = np.arange(bins + 1)
    length = n[:, None] - n[None, :]
    for first in range(bins):
        # cost[n]: the least wrong of the first n bins in so many parts, of which the last begins at back[-1][n].
        cost = wrong[first]
        back: list[I64] = []
        last = np.where(length > 0, wrong[((first + n) % bins)[None, :], np.maximum(length, 0)], np.inf)
        for parts in range(2, MOST_PARTS + 1):
            table = cost[None, :] + last
            back.append(table.argmin(axis=1))
            cost = table.min(axis=1)
            if parts not in best or cost[bins] < best[parts][0] - 1e-9:
                ends = [bins]
                for pointer in reversed(back):
                    ends.append(int(pointer[ends[-1]]))
                best[parts] = float(cost[bins]), sorted((first + end) % bins for end in [0, *ends[1:]])
    enough = next((parts for parts, (cost, _) in best.items() if cost <= (1 - ENOUGH) * total), MOST_PARTS)
    chosen = min(range(2, enough + 1), key=lambda parts: best[parts][0] + WORTH * total * parts)
    return best[chosen][1]
