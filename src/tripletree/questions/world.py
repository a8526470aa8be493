"""World: rates, circles, limits, copies, beginnings and ends, found in a log and checked on episodes left out."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tripletree.answers.world import Copy, Limit, Rate, Stop, World
from tripletree.language.numbers import short_between
from tripletree.log.derive import derivatives, wrapped
from tripletree.log.endings import TERMINATED, TRUNCATED
from tripletree.log.log import Log
from tripletree.log.sampling import some_episodes

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

EXPLAINED = 0.85
"""A rate explains at least this much of the change, on episodes left out."""
ALIKE = 0.95
"""Features whose squared correlation is larger are one thing twice: which of them is a rate cannot be told."""
ROUND = 1e-3
"""How far squared distances from 0 may spread on a circle, relative to their mean."""
PILED, SEEN = 0.01, 3
"""A limit holds this share of the steps, in at least so many episodes."""
EXACT = 1e-6
"""The share of a feature's variance that may be left when it follows from others."""
NARROW = 0.25
"""First states lie together when their range is at most this share of that of all states."""
MOST_COPIED = 64
ROWS = 100_000
"""Steps that are looked at, at most: whole episodes."""
BEYOND, LEAST = 0.001, 5
"""Steps before the end that may lie beyond a border, as a share; episodes that must end there."""
MOST_STOPS = 3
JUMP, SMALL = 0.9, 0.2
"""A step that goes round covers this share of a feature's range, and most others no more than the second."""


def world(log: Log) -> World:
    """Return what a log shows of its world.

    Parameters
    ----------
    log : Log
        The log.
    """
    some = some_episodes(log, ROWS)
    states, change = some.states, derivatives(some)
    low, high = log.ranges
    span = high - low
    constant = span == 0
    binary = np.array([len(np.unique(column[:1000])) <= 2 and len(np.unique(column)) == 2 for column in states.T])
    real = ~constant & ~binary
    copies = _copies(some, ~constant)
    copied = {one.feature for one in copies}
    free = np.array([bool(real[f]) and f not in copied for f in range(log.n_features)])
    circles = _circles(states, free)
    wraps = tuple(f for f in np.flatnonzero(free).tolist() if _goes_round(some, f, float(span[f])))
    lengths = np.diff(log.starts)
    cut = np.unique(lengths[log.endings == TRUNCATED])
    same_cut = len(cut) == 1 and (log.endings == TRUNCATED).sum() > 1 and cut[0] == lengths.max()
    short, middle, long = (int(number) for number in np.quantile(lengths, (0, 0.5, 1)))
    return World(
        rates=_rates(some, change, free, circles, wraps),
        circles=circles,
        wraps=wraps,
        limits=_limits(some, free, low, high),
        binary=tuple(np.flatnonzero(binary).tolist()),
        constant=tuple(np.flatnonzero(constant).tolist()),
        copies=copies,
        begins=_begins(log, real, span),
        stops=_stops(log, real),
        terminated=int((log.endings == TERMINATED).sum()),
        truncated=int((log.endings == TRUNCATED).sum()),
        episodes=log.n_episodes,
        cut=int(cut[0]) if same_cut else None,
        lengths=(short, middle, long),
        schema=log.schema,
    )


def _left_out(log: Log) -> Mask:
    """Return which steps judge what the others suggest: every second group of episodes, or the second half of one."""
    units = int(log.units.max()) + 1
    if units < 2:
        return np.arange(log.n_samples) >= log.n_samples / 2
    half = np.random.default_rng(0).permutation(units) % 2 == 1
    return np.repeat(half[log.units], np.diff(log.starts))


def _rates(
    log: Log, change: F64, free: Mask, circles: tuple[tuple[int, int], ...], wraps: tuple[int, ...]
) -> tuple[Rate, ...]:
    """Return which feature is the rate of which.

    The rate counts at the step itself or at the next one, as worlds differ in what they move first.
    """
    states, judge = log.states, _left_out(log)
    after = np.concatenate([states[1:], states[-1:]])
    after[log.starts[1:] - 1] = log.final_states
    round_ = {f for pair in circles for f in pair}
    moves: list[tuple[int, int | None, F64]] = []
    for f in np.flatnonzero(free).tolist():
        if f not in round_:
            moved = change[:, f]
            if f in wraps:
                period = float(np.ptp(states[:, f]))
                moved = wrapped(moved.copy(), period)
            moves.append((f, None, moved))
    for i, j in circles:
        turned = np.arctan2(after[:, j], after[:, i]) - np.arctan2(states[:, j], states[:, i])
        moves.append((i, j, wrapped(turned, 2 * np.pi) if log.dt is None else wrapped(turned, 2 * np.pi) / log.dt))
    alike = _alike(states, free)
    found = []
    for f, other, moved in moves:
        known = np.isfinite(moved)
        tries = []
        for rate in np.flatnonzero(free).tolist():
            if rate in (f, other) or rate in round_ or (other is None and alike[f, rate] > ALIKE):
                continue
            for column in (states[:, rate], after[:, rate]):
                use = known & np.isfinite(column)
                slope, r2 = _slope(column[use & ~judge], moved[use & ~judge])
                tries.append((r2, rate, slope, column, use))
        if not tries:
            continue
        r2, rate, slope, column, use = max(tries, key=lambda one: one[0])
        if r2 < EXPLAINED:
            continue
        unseen = use & judge
        explained = _explained(column[unseen], moved[unseen], slope)
        if explained >= EXPLAINED:
            found.append(Rate(f, rate, other, slope, explained))
    # What changes with a rate may be several things; it is the rate of the one that it explains best.
    best = {one.rate: max(two.r2 for two in found if two.rate == one.rate) for one in found}
    return tuple(one for one in found if one.r2 == best[one.rate])


def _slope(rate: F64, moved: F64) -> tuple[float, float]:
    """Return the slope through 0, and how much of the change it explains."""
    square = float((rate**2).sum())
    if len(rate) < 3 or not square > 0:
        return 0.0, 0.0
    slope = float((rate * moved).sum()) / square
    return slope, _explained(rate, moved, slope)


def _explained(rate: F64, moved: F64, slope: float) -> float:
    # Beyond the mean, so that what always drifts the same way has no rate.
    whole = float(((moved - moved.mean()) ** 2).sum()) if len(moved) else 0.0
    return 1 - float(((moved - slope * rate) ** 2).sum()) / whole if whole > 0 else 0.0


def _alike(states: F64, free: Mask) -> F64:
    """Return squared correlations of all pairs of features; 0 for those that are not asked."""
    found = np.zeros((len(free), len(free)))
    places = np.flatnonzero(free)
    if len(places) > 1 and len(states) > 2:
        with np.errstate(invalid="ignore", divide="ignore"):
            found[np.ix_(places, places)] = np.nan_to_num(np.corrcoef(states[:, places].T) ** 2)
    return found


def _circles(states: F64, free: Mask) -> tuple[tuple[int, int], ...]:
    """Return pairs of features that keep their distance from 0, each feature in one pair at most."""
    square = states**2
    found: list[tuple[int, int]] = []
    used: set[int] = set()
    places = np.flatnonzero(free).tolist()
    for place, i in enumerate(places):
        for j in places[place + 1 :]:
            if used & {i, j}:
                continue
            whole = square[:, i] + square[:, j]
            # Both must move: a constant and a small number lie on a circle of any size.
            moves = min(np.ptp(states[:, i]), np.ptp(states[:, j])) > 0.05 * np.sqrt(whole.mean())
            if moves and whole.std() <= ROUND * whole.mean():
                found.append((i, j))
                used |= {i, j}
    return tuple(found)


def _goes_round(log: Log, f: int, span: float) -> bool:
    """Whether a feature now and then jumps from one end of its range to the other, and else moves little."""
    if log.schema.features[f].period:
        return True
    inside = np.ones(log.n_samples, bool)
    inside[log.starts[1:] - 1] = False
    step = np.abs(np.diff(log.states[:, f], append=0.0))[inside]
    far = step > JUMP * span
    return bool(far.sum() >= SEEN and far.mean() < 0.1 and np.quantile(step[~far], 0.99) < SMALL * span)


def _limits(log: Log, free: Mask, low: F64, high: F64) -> tuple[Limit, ...]:
    """Return where features pile up at an end of their range."""
    found = []
    episode = np.repeat(np.arange(log.n_episodes), np.diff(log.starts))
    for f in np.flatnonzero(free).tolist():
        if log.schema.features[f].kind == "integer":
            continue
        for upper, end in ((False, float(low[f])), (True, float(high[f]))):
            at = log.states[:, f] == end
            # Where episodes begin is no limit.
            begins = (log.states[log.starts[:-1], f] == end).mean() > NARROW
            if at.mean() >= PILED and len(np.unique(episode[at])) >= SEEN and not begins:
                found.append(Limit(f, end, upper, float(at.mean())))
    return tuple(found)


def _copies(log: Log, varies: Mask) -> tuple[Copy, ...]:
    """Return features that follow from those before them by a sum of multiples, on episodes left out as well."""
    places = np.flatnonzero(varies)
    if len(places) > MOST_COPIED or log.n_samples < 2 * len(places) + 10:
        return ()
    judge = _left_out(log)
    mean, std = log.states.mean(axis=0), log.states.std(axis=0)
    scaled = (log.states - mean) / np.where(std > 0, std, 1.0)
    kept: list[int] = []
    found = []
    for f in places.tolist():
        if kept and judge.any() and not judge.all():
            factors = np.linalg.lstsq(scaled[~judge][:, kept], scaled[~judge, f], rcond=None)[0]
            left = scaled[judge, f] - scaled[judge][:, kept] @ factors
            if float((left**2).mean()) <= EXACT:
                used = np.abs(factors) > 1e-3
                of = [one for one, use in zip(kept, used.tolist(), strict=True) if use]
                real = factors[used] * std[f] / std[of]
                offset = float(mean[f] - real @ mean[of])
                size = abs(float(mean[f])) + float(std[f])
                found.append(Copy(f, tuple(of), tuple(real.tolist()), offset if abs(offset) > 1e-6 * size else 0.0))
                continue
        kept.append(f)
    return tuple(found)


def _begins(log: Log, real: Mask, span: F64) -> tuple[tuple[int, float, float], ...]:
    """Return the features in which first states lie together."""
    if log.n_episodes < 2:
        return ()
    first = log.states[log.starts[:-1]]
    low, high = first.min(axis=0), first.max(axis=0)
    near = real & (high - low <= NARROW * span)
    return tuple((f, float(low[f]), float(high[f])) for f in np.flatnonzero(near).tolist())


def _stops(log: Log, real: Mask) -> tuple[Stop, ...]:
    """Return the borders beyond which episodes end, found on some episodes and checked on others; the widest first."""
    ended = np.flatnonzero(log.endings == TERMINATED)
    if len(ended) < 2 * LEAST:
        return ()
    known = ~np.isnan(log.final_states[ended, 0])
    last = log.starts[1:] - 1
    # The last state is the one after the last action, where that was recorded.
    final = np.where(known[:, None], log.final_states[ended], log.states[last[ended]])
    before = np.ones(log.n_samples, bool)
    before[last[ended[~known]]] = False
    states = log.states[before]
    found: list[Stop] = []
    open_ends = np.ones(len(ended), bool)
    while len(found) < MOST_STOPS:
        tries = [(_beyond(states[:, f], final[open_ends, f]), f) for f in np.flatnonzero(real).tolist()]
        (number, low, high), f = max(tries, key=lambda one: one[0][0], default=((0, None, None), -1))
        if number < max(LEAST, 0.05 * len(ended)):
            break
        found.append(Stop(f, low, high, number))
        beyond = np.zeros(len(ended), bool)
        beyond |= final[:, f] < low if low is not None else False
        beyond |= final[:, f] >= high if high is not None else False
        open_ends &= ~beyond
    return tuple(found)


def _beyond(states: F64, final: F64) -> tuple[int, float | None, float | None]:
    """Return how many last states lie beyond all but a few others, and the borders."""
    if not len(final):
        return 0, None, None
    bottom, top = np.quantile(states, (BEYOND / 2, 1 - BEYOND / 2))
    ends: list[float | None] = []
    number = 0
    for out, edge, way in ((final[final < bottom], bottom, -1), (final[final > top], top, 1)):
        if len(out) < LEAST:
            ends.append(None)
            continue
        number += len(out)
        near = float(out.max() if way < 0 else out.min())
        ends.append(short_between(near, float(edge)) if way < 0 else short_between(float(edge), near))
    low, high = ends
    # Two borders that differ by what chance left between them are one.
    if low is not None and high is not None and low < 0 < high and abs(low + high) < 0.05 * (high - low):
        both = short_between(min(-low, high) * 0.999, max(-low, high))
        low, high = -both, both
    return number, low, high
