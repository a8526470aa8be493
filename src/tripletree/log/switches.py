"""Switches: values of a continuous action at which the world begins to answer differently, found in a log.

What an engine does at 0.49 and at 0.51 may be nothing and half its power, and no log says so in its header. It shows in
the changes of the state: what they are beyond what the state and the other actions explain, against the action, jumps.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tripletree import _kernel
from tripletree.log.derive import derivatives
from tripletree.log.log import Log

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

ROWS = 10_000
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
PAIRS = 1_000
"""Pairs of similar states that are compared, at most about."""
MOST_CUTS = 3
MOST_TERMS = 200
"""Terms that explain a change by state and other actions: with more features, products are left out."""


class Switch(NamedTuple):
    """Where the world begins to answer differently.

    Attributes
    ----------
    at : float
        The action.
    answers : pair of floats, or None
        How much the change depends on the action below and above it, the state being the same: the slope, as jumps for
        an action of full strength. Where an engine is off, that is nothing. None where a dimension has more switches.
    """

    at: float
    answers: tuple[float, float] | None = None


def find_switches(log: Log, dimension: int, answers: Answers | None = None) -> tuple[Switch, ...]:
    """Return where the world answers one dimension of a continuous action differently, in increasing order.

    Parameters
    ----------
    log : Log
        The log; some 20 to 100 episodes are enough.
    dimension : int
        Which dimension of the action.
    answers : Answers, optional
        What all dimensions of this log have in common, to be worked out but once.
    """
    answers = Answers(log) if answers is None else answers
    if not answers.enough(dimension):
        return ()
    # What rests on the ground does not answer, whatever is done, and would only blur the picture; unless to do nothing
    # is what an action is for.
    reach = answers.reach(dimension)
    found = _search(answers.moving, dimension, reach)
    return found if found or answers.all_move else _search(answers.all, dimension, reach)


class Answers:
    """Some steps of a log, and what explains the changes in them, whichever dimension of the action is looked at."""

    def __init__(self, log: Log) -> None:
        self._log = log

    @cached_property
    def _rows(self) -> I64:
        return episodes_within(self._log, ROWS)

    def reach(self, dimension: int) -> float:
        """Return the largest size of an action."""
        return limit_of(self._log.actions[self._rows, dimension])

    def enough(self, dimension: int) -> bool:
        """Tell whether there are steps enough to look at, and one number differs from another."""
        action = self._log.actions[self._rows, dimension]
        # Episodes of one state have no changes to answer with.
        return len(action) >= 8 * LEAST and bool(action.min() < action.max()) and self.all.actions.shape[1] > 0

    @cached_property
    def all(self) -> Sample:
        """All the steps that are looked at, and have a change."""
        log, rows = self._log, self._rows
        begins = np.flatnonzero(np.diff(rows, prepend=-2) != 1)
        ends = np.append(begins[1:], len(rows))
        changes = np.concatenate(
            [derivatives(log, int(rows[a]), int(rows[b - 1]) + 1) for a, b in zip(begins, ends, strict=True)]
        )
        whole = ~np.isnan(changes).any(axis=1)
        rows = rows[whole]
        return Sample(_columns(log.states[rows]), _columns(log.actions[rows]), _columns(changes[whole]))

    @cached_property
    def _moves(self) -> npt.NDArray[np.bool_]:
        changes = self.all.changes
        return np.asarray((np.abs(changes) >= STILL * _scale(changes)).any(axis=0))

    @property
    def all_move(self) -> bool:
        """Whether the world rests in none of the steps."""
        return bool(self._moves.all())

    @cached_property
    def moving(self) -> Sample:
        """Those steps in which the world does not rest."""
        if self.all_move:
            return self.all
        parts = self.all.states, self.all.actions, self.all.changes
        # Not with a mask as an index, which would lay the numbers of a column apart.
        return Sample(*(part.compress(self._moves, axis=1) for part in parts))


def _columns(rows: F64) -> F64:
    """Return a matrix with the numbers of each column side by side, which is how they are worked with here."""
    return np.ascontiguousarray(rows.T)


@dataclass(frozen=True, eq=False)
class Sample:
    """Steps that switches are searched in: states, actions and changes, each of shape (columns, steps)."""

    states: F64
    actions: F64
    changes: F64

    @cached_property
    def scaled(self) -> F64:
        """States and actions with mean 0 and standard deviation 1."""
        return _scaled(np.concatenate([self.states, self.actions]))

    @cached_property
    def usual(self) -> F64:
        """Changes in their standard deviations, without outliers."""
        return _clipped(_scaled(self.changes))

    @cached_property
    def terms(self) -> tuple[F64, npt.NDArray[np.bool_]]:
        """What changes may be explained by (state, actions, their squares and products), and which is made of which."""
        x = np.clip(self.scaled, -4, 4)
        d, one = len(x) - 1, np.eye(len(x), dtype=bool)
        made_of = [np.zeros((1, len(x)), bool), one]
        if 1 + d * (d + 3) // 2 <= MOST_TERMS:
            made_of += [one[k:] | one[k] for k in range(len(x))]
        elif 2 * d < MOST_TERMS:
            made_of.append(one)
        parts = np.concatenate(made_of)
        terms = np.empty((len(parts), x.shape[1]))
        terms[0] = 1.0
        # Each is one column, or two of them, or one twice.
        first, last = parts.argmax(axis=1), len(x) - 1 - parts[:, ::-1].argmax(axis=1)
        terms[1 : len(x) + 1] = x
        for k in range(len(x) + 1, len(terms)):
            np.multiply(x[last[k]], x[first[k]], out=terms[k])
        return terms, parts

    @cached_property
    def products(self) -> tuple[F64, F64]:
        """Products of all terms with each other, and with the changes."""
        terms, _ = self.terms
        return terms @ terms.T, terms @ self.usual.T

    def without(self, dimension: int) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
        """Return which columns, and which terms, have nothing to do with one dimension of the action."""
        place = len(self.states) + dimension
        return np.arange(len(self.scaled)) != place, ~self.terms[1][:, place]


def _search(sample: Sample, dimension: int, reach: float) -> tuple[Switch, ...]:
    """Return the switches among some samples; ``reach`` is the largest action."""
    action = sample.actions[dimension]
    if len(action) < 8 * LEAST:
        return ()
    order = np.argsort(action, kind="stable")
    action = action[order] / reach
    columns, kept = sample.without(dimension)
    products, with_changes = (part[kept] for part in sample.products)
    terms = sample.terms[0]
    weights = np.zeros((len(sample.usual), len(terms)))
    weights[:, kept] = _solved(products[:, kept], with_changes, len(action)).T
    residual = _scaled(_clipped(sample.usual - weights @ terms)).take(order, axis=1, mode="clip")
    # At numbers with few digits, about hundredths of the largest action.
    power = 10.0 ** math.floor(math.log10(reach / GRID))
    step = power * next(k for k in (1, 2, 5, 10) if k * power * GRID >= 0.9 * reach)
    cuts = np.arange(-GRID - 10, GRID + 11) * (step / reach)
    # An action at its limit has nothing beyond it to compare with.
    cuts = cuts[(cuts >= action[0] + WIDTHS[1]) & (cuts <= action[-1] - WIDTHS[1])]
    jump, sure = _jumps(action, residual, cuts)
    found: list[tuple[float, int, float]] = []
    free = np.ones(len(cuts), bool)
    known = None
    while len(found) < MOST_CUTS:
        score = np.where(free[:, None], sure, 0.0)
        c, f = np.unravel_index(int(score.argmax()), score.shape) if score.size else (0, 0)
        if not score.size or score[c, f] < SURE:
            break
        free &= np.abs(cuts - cuts[c]) > WIDTHS[1]
        known = sample.scaled[columns].take(order, axis=1, mode="clip") if known is None else known
        for near in _roundest(cuts, score[:, f], int(c)):
            cut, size = float(cuts[near]), float(jump[near, f])
            if _holds(action, residual[f], known, cut, size):
                found.append((cut, int(f), size))
                break
    switches = [Switch(float(f"{round(cut * reach / step) * step:.6g}") + 0.0) for cut, _, _ in found]
    if len(found) != 1:
        return tuple(sorted(switches))
    ((cut, f, size),) = found
    design = np.empty((np.count_nonzero(kept) + 1, len(action)))
    for row, k in enumerate(np.flatnonzero(kept)):
        terms[k].take(order, out=design[row], mode="clip")
    design[-1] = action
    place = int(np.searchsorted(action, cut))
    below, above = (_slope(design[:, side], residual[f, side]) / size for side in (slice(place), slice(place, None)))
    return (switches[0]._replace(answers=(below, above)),)


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


def _slope(design: F64, residual: F64) -> float:
    """Return how much a change depends on the last row of a design, the action, all else being equal."""
    return float(_solved(design @ design.T, design @ residual, len(residual))[-1])


def episodes_within(log: Log, most: int) -> I64:
    """Return the rows of every k-th episode, such that they are about ``most`` at the most."""
    every = max(-(-log.n_samples // most), 1)
    return rows_of(log, np.arange(0, log.n_episodes, every), most)


def rows_of(log: Log, episodes: I64, most: int | None = None) -> I64:
    """Return the rows of some episodes, the first ``most`` of each."""
    lengths = np.diff(log.starts)[episodes]
    lengths = lengths if most is None else np.minimum(lengths, most)
    starts = np.append(0, np.cumsum(lengths))
    return np.asarray(np.arange(starts[-1]) + np.repeat(log.starts[episodes] - starts[:-1], lengths))


def _scale(columns: F64) -> F64:
    """Return the standard deviation of each column as (columns, 1), 1 where constant; squares do not overflow."""
    largest = np.abs(columns).max(axis=1, initial=0.0, keepdims=True)
    largest = np.where(largest > 0, largest, 1.0)
    spread = (columns / largest).std(axis=1, keepdims=True) * largest
    return np.where(spread > 0, spread, 1.0)


def _scaled(columns: F64) -> F64:
    """Return columns with mean 0 and standard deviation 1, whatever their units."""
    scaled: F64 = (columns - columns.mean(axis=1, keepdims=True)) / _scale(columns)
    return scaled


def _solved(square: F64, right: F64, samples: int) -> F64:
    """Return the coefficients of a regression from the products of its design."""
    ridge = 1e-6 * max(samples, 1) * np.eye(len(square))
    return np.asarray(np.linalg.solve(square + ridge, right), np.float64)


def _clipped(columns: F64) -> F64:
    """Return columns within four robust deviations of their medians: one crash must not outweigh a flight."""
    middle = _medians(columns)
    off = np.abs(columns - middle)
    spread = np.maximum(1.4826 * _medians(off), off.mean(axis=1, keepdims=True))
    clipped: F64 = np.clip(columns, middle - 4 * spread, middle + 4 * spread)
    return clipped


def _medians(columns: F64) -> F64:
    """Return the median of each column as (columns, 1)."""
    lower, upper = _kernel.middle(columns)
    return ((lower + upper) / 2)[:, None]


def _jumps(action: F64, residual: F64, cuts: F64) -> tuple[F64, F64]:
    """Return each candidate's jump and how sure it is, both of shape (cuts, features).

    Two local lines meet at a candidate. A switch jumps by as much in a narrow window as in a wide one; a smooth curve,
    which is no switch, jumps by less and less.
    """
    shape = (len(cuts), len(residual))
    jump, sure = np.zeros(shape), np.zeros(shape)
    steady, enough = np.ones(shape, bool), np.zeros(shape, bool)
    edges = np.concatenate([cuts, *(cuts + sign * width for width in WIDTHS for sign in (-1, 1))])
    sums = _Sums.of(action, residual, np.unique(np.searchsorted(action, edges)))
    for width in WIDTHS:
        low = _line(action, sums, cuts, cuts - width, cuts)
        high = _line(action, sums, cuts, cuts, cuts + width)
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


class _Sums(NamedTuple):
    """Sums before some places: of action, its square, residuals, their products and squares."""

    places: I64
    action: F64
    square: F64
    residual: F64
    product: F64
    residual_square: F64

    @classmethod
    def of(cls, action: F64, residual: F64, places: I64) -> _Sums:
        """Sum up to places, which ascend; only what lies between two of them is added up number by number."""
        begins = np.append(0, places[places < len(action)])

        def summed(columns: F64) -> F64:
            between = np.add.reduceat(columns, begins, axis=-1) * (np.diff(begins, append=len(action)) > 0)
            sums = np.zeros((*columns.shape[:-1], len(begins) + 1))
            np.cumsum(between, axis=-1, out=sums[..., 1:])
            # Before the first of the places there is a sum already, after the last there is one more.
            return sums[..., 1 : len(places) + 1]

        parts = action, action * action, residual, residual * action, residual * residual
        return cls(places, *map(summed, parts))

    def between(self, first: I64, last: I64) -> list[F64]:
        """Return all sums from one place to another, for many such pairs."""
        begin, end = np.searchsorted(self.places, first), np.searchsorted(self.places, last)
        return [(part[..., end] - part[..., begin]).T for part in self[1:]]


def _line(action: F64, sums: _Sums, cuts: F64, begin: F64, end: F64) -> _Line:
    """Return the level and slope, at each candidate, of the least-squares line over the actions of a window."""
    first, last = np.searchsorted(action, begin), np.searchsorted(action, end)
    n = (last - first).astype(np.float64)
    safe = np.maximum(n, 1.0)
    mean_action, square, level, product, residual_square = sums.between(first, last)
    mean = mean_action / safe
    spread = np.maximum(square / safe - mean * mean, 0.0)
    level = level / safe[:, None]
    both = product / safe[:, None] - level * mean[:, None]
    rest = np.maximum(residual_square / safe[:, None] - level * level, 0.0)
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
    near = next(width for width in reversed(WIDTHS) if _enough(action, cut, width))
    low = slice(*np.searchsorted(action, (cut - near, cut)))
    high = slice(*np.searchsorted(action, (cut, cut + near)))
    below, above = (low, high) if low.stop - low.start >= high.stop - high.start else (high, low)
    sign = math.copysign(1.0, jump)
    # Next to the cut, too: a gait that passes the ground at one number or another is smeared out there.
    few = max(LEAST // 2, min(low.stop - low.start, high.stop - high.start) // 5)
    beside = residual[high.start : high.start + few].mean() - residual[low.stop - few : low.stop].mean()
    if beside * sign < 0.5 * abs(jump):
        return False
    some = slice(above.start, above.stop, -(-(above.stop - above.start) // PAIRS))
    away, other = _nearest(known[:, below], known[:, some])
    close = away <= np.median(away)
    difference = (residual[some] - residual[below][other])[close] * sign
    if below is high:
        difference = -difference
    error = difference.std() / math.sqrt(max(len(difference), 1))
    if difference.mean() < max(0.4 * abs(jump), MATCHED * error):
        return False
    window = slice(low.start, high.stop)
    by_action = _parted(residual[window], low.stop - low.start)
    return all(_best_parted(residual[window], column) <= by_action / RATHER for column in known[:, window])


def _nearest(points: F64, states: F64) -> tuple[F64, I64]:
    """Return how far the nearest point is from each state, and which it is; both are columns of features."""
    # They are few, and a tree of them would cost the import of SciPy. What differs from point to point of the squared
    # distance is one product, a few states at a time, so that it stays in the cache.
    size = (points * points).sum(axis=0, keepdims=True)
    left = np.ascontiguousarray(np.concatenate([-2 * states, np.ones((1, states.shape[1]))]).T)
    right, step = np.concatenate([points, size]), max(2**17 // max(points.shape[1], 1), 1)
    parts = [(left[i : i + step] @ right).argmin(axis=1) for i in range(0, len(left), step)]
    nearest = np.concatenate(parts)
    apart = states - points[:, nearest]
    return np.sqrt((apart * apart).sum(axis=0)), nearest


def _parted(numbers: F64, place: int) -> float:
    """Return how much variance it explains to part numbers in two at a place."""
    centred = numbers - numbers.mean()
    n = len(numbers)
    return float(centred[:place].sum() ** 2 * n / (place * (n - place)))


def _best_parted(numbers: F64, column: F64) -> float:
    """Return how much variance it explains to part numbers in two where a column passes its best threshold."""
    order = np.argsort(column)  # those that are equal stay together, in whatever order
    n = len(numbers)
    summed = np.cumsum((numbers - numbers.mean())[order])[:-1]
    below = np.arange(1, n)
    apart = np.diff(column[order]) > 0
    return float((summed**2 * n / (below * (n - below)) * apart).max(initial=0.0))


def _enough(action: F64, cut: float, width: float) -> bool:
    ends = np.searchsorted(action, (cut - width, cut, cut + width))
    return bool(width == WIDTHS[0] or np.diff(ends).min() >= LEAST)
