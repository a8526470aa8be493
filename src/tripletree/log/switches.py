"""Switches: values of a continuous action at which the world begins to answer differently, found in a log.

What an engine does at 0.49 and at 0.51 may be nothing and half its power, and no log says so in its header. It shows in
the changes of the state: what they are beyond what the state and the other actions explain, against the action, jumps.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tripletree.log.derive import derivatives
from tripletree.log.log import Log

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

ROWS = 40_000
"""Rows, of whole episodes, that are looked at."""
GRID = 100
"""Candidates on either side of 0: hundredths of the largest action."""
WIDTHS = (0.2, 0.1, 0.05)
"""Widths of the window on either side of a candidate, as shares of the largest action."""
LEAST = 60
"""Samples that a window must hold on either side."""
SURE, LARGE = 8.0, 0.15
"""How far beyond its standard error a jump must be, and how large in standard deviations of the change."""
STEEP = 1.5
"""A line that rises by more jumps than this within its window says nothing about a jump."""
RATHER = 0.9
"""A feature must not part the two answers better than the action does, but for so much, which is chance."""
STILL = 0.2
"""Where every feature changes by less than this share of its changes' standard deviation, the world rests."""
MATCHED = 3.0
"""The same for pairs of similar states on either side, as standard errors."""
MOST_CUTS = 3
MOST_TERMS = 200
"""Terms that explain a change by state and other actions: with more features, products are left out."""


class Switch(NamedTuple):
    """Where the world begins to answer differently.

    Attributes
    ----------
    at : float
        The action.
    answers : pair of floats
        How much the change depends on the action below and above it, the state being the same: the slope, as jumps for
        an action of full strength. Where an engine is off, that is nothing.
    """

    at: float
    answers: tuple[float, float]


def find_switches(log: Log, dimension: int) -> tuple[Switch, ...]:
    """Return where the world answers one dimension of a continuous action differently, in increasing order.

    Parameters
    ----------
    log : Log
        The log; some 20 to 100 episodes are enough.
    dimension : int
        Which dimension of the action.
    """
    rows = episodes_within(log, ROWS)
    action = log.actions[rows, dimension]
    reach = limit_of(action)
    if len(rows) < 8 * LEAST or not action.min() < action.max():
        return ()
    changes = derivatives(log)[rows]
    others = np.delete(log.actions[rows], dimension, axis=1)
    known = np.concatenate([log.states[rows], others], axis=1)
    whole = ~np.isnan(changes).any(axis=1)
    # Episodes of one state have no changes to answer with.
    if not whole.any():
        return ()
    action, known, changes = action[whole] / reach, known[whole], changes[whole]
    # What rests on the ground does not answer, whatever is done, and would only blur the picture; unless to do nothing
    # is what an action is for.
    moves = (np.abs(changes) >= STILL * _scale(changes)).any(axis=1)
    found = _search(action[moves], known[moves], changes[moves], reach)
    return found if found or moves.all() else _search(action, known, changes, reach)


def _search(action: F64, known: F64, changes: F64, reach: float) -> tuple[Switch, ...]:
    """Return the switches among some samples; actions are shares of the largest one."""
    if len(action) < 8 * LEAST:
        return ()
    order = np.argsort(action, kind="stable")
    action, known = action[order], _scaled(known[order])
    terms = _terms(known)
    residual = _residuals(terms, changes[order])
    # At numbers with few digits, about hundredths of the largest action.
    power = 10.0 ** math.floor(math.log10(reach / GRID))
    step = power * next(k for k in (1, 2, 5, 10) if k * power * GRID >= 0.9 * reach)
    cuts = np.arange(-GRID - 10, GRID + 11) * (step / reach)
    # An action at its limit has nothing beyond it to compare with.
    cuts = cuts[(cuts >= action[0] + WIDTHS[1]) & (cuts <= action[-1] - WIDTHS[1])]
    jump, sure = _jumps(action, residual, cuts)
    found: list[Switch] = []
    free = np.ones(len(cuts), bool)
    while len(found) < MOST_CUTS:
        score = np.where(free[:, None], sure, 0.0)
        c, f = np.unravel_index(int(score.argmax()), score.shape) if score.size else (0, 0)
        if not score.size or score[c, f] < SURE:
            break
        free &= np.abs(cuts - cuts[c]) > WIDTHS[1]
        for near in _roundest(cuts, score[:, f], int(c)):
            cut, size = float(cuts[near]), float(jump[near, f])
            if _holds(action, residual[:, f], known, cut, size):
                below, above = (
                    _answer(action, residual[:, f], terms, side) / size for side in (action < cut, action >= cut)
                )
                found.append(Switch(float(f"{round(cut * reach / step) * step:.6g}") + 0.0, (below, above)))
                break
    return tuple(sorted(found))


def limit_of(action: F64) -> float:
    """Return the largest size of an action as people say it: 1 for 0.99994, or for 0.96."""
    largest = float(np.abs(action).max(initial=0.0))
    tries = (float(f"{largest:.{digits}g}") for digits in (1, 2, 3))
    return next((short for short in tries if abs(short - largest) <= 0.05 * largest), largest)


def _roundest(cuts: F64, score: F64, best: int) -> list[int]:
    """Return the best candidate and those next to it that are hardly less sure, those with the fewest digits first."""
    near = np.flatnonzero((np.abs(np.arange(len(cuts)) - best) <= 2) & (score >= 0.5 * score[best]))
    hundredths = np.rint(cuts[near] / (cuts[1] - cuts[0])).astype(int)
    digits = np.select([hundredths % size == 0 for size in (100, 50, 25, 10, 5)], [0, 1, 2, 3, 4], 5)
    found: list[int] = near[np.lexsort((-score[near], digits))].tolist()
    return found


def _answer(action: F64, residual: F64, terms: F64, side: npt.NDArray[np.bool_]) -> float:
    """Return how much a change depends on the action on one side of a cut, all else being equal: the slope."""
    design = np.concatenate([terms[side], action[side, None]], axis=1)
    return float(_solved(design, residual[side])[-1])


def episodes_within(log: Log, most: int) -> I64:
    """Return the rows of every k-th episode, such that they are about ``most`` at the most."""
    every = max(-(-log.n_samples // most), 1)
    starts = log.starts
    chosen = range(0, log.n_episodes, every)
    return np.concatenate([np.arange(starts[e], min(starts[e + 1], starts[e] + most)) for e in chosen])


def _scale(columns: F64) -> F64:
    """Return the standard deviation of each column, 1 where it is constant; squares do not overflow."""
    largest = np.abs(columns).max(axis=0, initial=0.0)
    largest = np.where(largest > 0, largest, 1.0)
    spread = (columns / largest).std(axis=0) * largest
    return np.where(spread > 0, spread, 1.0)


def _scaled(columns: F64) -> F64:
    """Return columns with mean 0 and standard deviation 1, whatever their units."""
    scaled: F64 = (columns - columns.mean(axis=0)) / _scale(columns)
    return scaled


def _terms(known: F64) -> F64:
    """Return what changes are explained by: state and other actions, their squares and products."""
    x = np.clip(known, -4, 4)
    terms = [np.ones((len(x), 1)), x]
    d = x.shape[1]
    if 1 + d * (d + 3) // 2 <= MOST_TERMS:
        terms.append(np.concatenate([x[:, k:] * x[:, k : k + 1] for k in range(d)], axis=1))
    elif 2 * d < MOST_TERMS:
        terms.append(x * x)
    return np.concatenate(terms, axis=1)


def _residuals(terms: F64, changes: F64) -> F64:
    """Return what the terms do not explain of each change, in its standard deviations, without outliers."""
    y = _clipped(_scaled(changes))
    return _scaled(_clipped(y - terms @ _solved(terms, y)))


def _solved(design: F64, y: F64) -> F64:
    square = design.T @ design
    square[np.diag_indices_from(square)] += 1e-6 * max(len(design), 1)
    return np.asarray(np.linalg.solve(square, design.T @ y), np.float64)


def _clipped(columns: F64) -> F64:
    """Return columns within four robust deviations of their medians: one crash must not outweigh a flight."""
    middle = np.median(columns, axis=0)
    off = np.abs(columns - middle)
    spread = np.maximum(1.4826 * np.median(off, axis=0), off.mean(axis=0))
    clipped: F64 = np.clip(columns, middle - 4 * spread, middle + 4 * spread)
    return clipped


def _jumps(action: F64, residual: F64, cuts: F64) -> tuple[F64, F64]:
    """Return each candidate's jump and how sure it is, both of shape (cuts, features).

    Two local lines meet at a candidate. A switch jumps by as much in a narrow window as in a wide one; a smooth curve,
    which is no switch, jumps by less and less.
    """
    shape = (len(cuts), residual.shape[1])
    jump, sure = np.zeros(shape), np.zeros(shape)
    steady, enough = np.ones(shape, bool), np.zeros(shape, bool)
    for width in WIDTHS:
        low = _line(action, residual, cuts, cuts - width, cuts)
        high = _line(action, residual, cuts, cuts, cuts + width)
        fits = low.fits & high.fits
        step = high.level - low.level
        error = np.sqrt(low.variance + high.variance)
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.where(error > 0, np.abs(step) / error, 0.0)
        # Where lines are steep, their ends are far apart for the smallest bend.
        steep = np.maximum(np.abs(low.slope), np.abs(high.slope)) * width > STEEP * np.abs(step)
        good = fits[:, None] & (t >= SURE) & (np.abs(step) >= LARGE) & ~steep
        first = good & ~enough
        jump[first], sure[first] = step[first], t[first]
        # Narrower windows must see the same jump, as far as they can see at all.
        later = enough & fits[:, None]
        steady &= ~later | (step * np.sign(jump) >= 0.6 * np.abs(jump) - 2 * error)
        enough |= good
    return jump, np.where(steady, sure, 0.0)


class _Line(NamedTuple):
    level: F64
    slope: F64
    variance: F64
    fits: npt.NDArray[np.bool_]


def _line(action: F64, residual: F64, cuts: F64, begin: F64, end: F64) -> _Line:
    """Return the level and slope, at each candidate, of the least-squares line over the actions of a window."""
    first, last = np.searchsorted(action, begin), np.searchsorted(action, end)
    n = (last - first).astype(np.float64)
    safe = np.maximum(n, 1.0)

    def total(column: F64) -> F64:
        summed = np.concatenate([np.zeros((1, *column.shape[1:])), np.cumsum(column, axis=0)])
        difference: F64 = summed[last] - summed[first]
        return difference

    mean = total(action) / safe
    spread = np.maximum(total(action * action) / safe - mean * mean, 0.0)
    level = total(residual) / safe[:, None]
    both = total(residual * action[:, None]) / safe[:, None] - level * mean[:, None]
    rest = np.maximum(total(residual * residual) / safe[:, None] - level * level, 0.0)
    wide = spread > (0.1 * (end - begin)) ** 2  # a window that holds a single value has no slope
    slope = np.where(wide[:, None], both / np.where(wide, spread, 1.0)[:, None], 0.0)
    rest = np.maximum(rest - slope * both, 0.0)
    away = cuts - mean
    variance = rest / safe[:, None] * (1 + away * away / np.where(wide, spread, 1.0))[:, None]
    return _Line(level + slope * away[:, None], slope, variance, wide & (n >= LEAST))


def _holds(action: F64, residual: F64, known: F64, cut: float, jump: float) -> bool:
    """Tell whether similar states on either side of a cut show the jump, too.

    Where the agent does one thing in one kind of states only, or where a foot touches the ground just when a torque
    passes some number, the answer jumps with the action, but because of the state. Then states that are alike show no
    jump, or some feature tells the two answers apart at least as well as the action.
    """
    from scipy.spatial import cKDTree

    near = next(width for width in reversed(WIDTHS) if _enough(action, cut, width))
    low = slice(*np.searchsorted(action, (cut - near, cut)))
    high = slice(*np.searchsorted(action, (cut, cut + near)))
    below, above = (low, high) if low.stop - low.start >= high.stop - high.start else (high, low)
    away, other = cKDTree(known[below]).query(known[above])
    close = away <= np.median(away)
    difference = (residual[above] - residual[below][other])[close] * math.copysign(1.0, jump)
    if below is high:
        difference = -difference
    error = difference.std() / math.sqrt(max(len(difference), 1))
    if difference.mean() < max(0.4 * abs(jump), MATCHED * error):
        return False
    # Next to the cut, too: a gait that passes the ground at one number or another is smeared out there.
    few = max(LEAST // 2, min(low.stop - low.start, high.stop - high.start) // 5)
    beside = residual[high.start : high.start + few].mean() - residual[low.stop - few : low.stop].mean()
    if beside * math.copysign(1.0, jump) < 0.5 * abs(jump):
        return False
    window = slice(low.start, high.stop)
    by_action = _parted(residual[window], low.stop - low.start)
    return all(_best_parted(residual[window], column) <= by_action / RATHER for column in known[window].T)


def _parted(numbers: F64, place: int) -> float:
    """Return how much variance it explains to part numbers in two at a place."""
    centred = numbers - numbers.mean()
    n = len(numbers)
    return float(centred[:place].sum() ** 2 * n / (place * (n - place)))


def _best_parted(numbers: F64, column: F64) -> float:
    """Return how much variance it explains to part numbers in two where a column passes its best threshold."""
    order = np.argsort(column, kind="stable")
    n = len(numbers)
    summed = np.cumsum((numbers - numbers.mean())[order])[:-1]
    below = np.arange(1, n)
    apart = np.diff(column[order]) > 0
    return float((summed**2 * n / (below * (n - below)) * apart).max(initial=0.0))


def _enough(action: F64, cut: float, width: float) -> bool:
    ends = np.searchsorted(action, (cut - width, cut, cut + width))
    return bool(width == WIDTHS[0] or np.diff(ends).min() >= LEAST)
