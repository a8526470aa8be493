"""Outcome: which episodes succeed, and what the others share; success is what somebody says it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tripletree.answers.outcome import FEWEST, Outcome, Shared, Side
from tripletree.asking.given import episodes_given
from tripletree.errors import ParameterError
from tripletree.graph.intervals import share_bounds
from tripletree.language.conditions import clauses
from tripletree.language.numbers import short_between
from tripletree.log.endings import ENDING_NAMES
from tripletree.log.log import Log
from tripletree.log.recording import Recording
from tripletree.text import Message, Option

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

FOLDS = 5
MOST_CONDITIONS = 2
GAIN = 0.03
"""What a further condition must add to the share told apart rightly."""
CHANCE = 0.01
"""How often chance may do as well on episodes left out: first and last states are both looked at."""
MOST_THRESHOLDS = 64


class _Bound(NamedTuple):
    """A condition on one feature: below a threshold, or not below it."""

    feature: int
    threshold: float
    below: bool

    def holds(self, states: F64) -> Mask:
        found: Mask = (states[:, self.feature] < self.threshold) == self.below
        return found


def outcome(log: Log, success: Any = None) -> Outcome:
    """Return how many episodes succeed, how they differ from those that fail, and what failures share.

    Parameters
    ----------
    log : Log
        The episodes.
    success : str, bool array of shape (episodes,), or None
        Which of them succeed; None: what the log says.
    """
    recording = Recording.of(log)
    source = "given" if success is not None else "log" if log.schema.success else "absent"
    lengths = np.diff(log.starts).astype(np.float64)
    if success is None and not log.schema.success:
        everyone = np.ones(log.n_episodes, bool)
        all_of_them, nobody = (_side(log, recording.returns, lengths, part) for part in (everyone, ~everyone))
        return Outcome("", source, log.n_episodes, 0, None, None, all_of_them, nobody, (), log.schema.has_reward)
    given = episodes_given(log.schema, recording, log.schema.success if success is None else success, "success")
    good = np.asarray(given.episodes)
    if "return" in given.text and not log.schema.has_reward and isinstance(success, str):
        raise ParameterError(
            Message(
                "{} speaks of returns, but the log has no rewards. Try {}.",
                Option("success"),
                Option("success", "length > 100"),
            )
        )
    size = np.bincount(log.units).astype(np.float64)
    share = float(good.mean())
    influence = (np.bincount(log.units, good) - share * size) / log.n_episodes
    found: list[Shared] = []
    # What ends it is what was asked for: that failures end elsewhere would be no news.
    for where in ("start",) if "ends (" in given.text else ("start", "end"):
        one = shared(log, good, where)
        found += [] if one is None else [one]
    return Outcome(
        success=given.text,
        source=source,
        episodes=log.n_episodes,
        succeeded=int(good.sum()),
        groups=None if log.groups is None else len(size),
        interval=share_bounds(share, influence, size),
        successes=_side(log, recording.returns, lengths, good),
        failures=_side(log, recording.returns, lengths, ~good),
        shared=tuple(found),
        has_reward=log.schema.has_reward,
    )


def _side(log: Log, returns: F64, lengths: F64, part: Mask) -> Side:
    def spread(numbers: F64) -> tuple[float, float, float] | None:
        if not part.any():
            return None
        low, middle, high = np.quantile(numbers[part], (0, 0.5, 1)).tolist()
        return low, middle, high

    ended = np.bincount(log.endings[part], minlength=len(ENDING_NAMES)).tolist()
    return Side(int(part.sum()), spread(returns), spread(lengths), dict(zip(ENDING_NAMES, ended, strict=True)))


def shared(log: Log, good: Mask, where: str) -> Shared | None:
    """Return conditions on first or last states that tell failures from successes, on episodes left out as well."""
    if min(good.sum(), (~good).sum()) < FEWEST:
        return None
    states = log.states[log.starts[:-1]]
    if where == "end":
        known = ~np.isnan(log.final_states[:, :1])
        states = np.where(known, log.final_states, log.states[log.starts[1:] - 1])
    units = int(log.units.max()) + 1
    fold = np.random.default_rng(0).permutation(units)[log.units] % FOLDS
    guess = np.zeros(len(good), bool)
    for part in range(FOLDS):
        rest = fold != part
        if good[rest].all() or not good[rest].any():
            return None
        bounds = _search(states[rest], ~good[rest])
        guess[~rest] = _all(bounds, states[~rest]) if bounds else False
    right = (guess[~good].mean() + (~guess)[good].mean()) / 2
    chance = _chance(guess, ~good, log.units)
    bounds = _search(states, ~good)
    if chance > CHANCE or not bounds:
        return None
    meets = _all(bounds, states)
    low, high = np.full((2, log.n_features), [[-np.inf], [np.inf]])
    for one in bounds:
        if one.below:
            high[one.feature] = min(high[one.feature], one.threshold)
        else:
            low[one.feature] = max(low[one.feature], one.threshold)
    when = tuple(clauses(log.schema, low.tolist(), high.tolist()))
    return Shared(where, when, int(meets[~good].sum()), int(meets[good].sum()), float(right), chance)


def _all(bounds: Sequence[_Bound], states: F64) -> Mask:
    found: Mask = np.logical_and.reduce([one.holds(states) for one in bounds])
    return found


def _search(states: F64, bad: Mask) -> list[_Bound]:
    """Return the conditions, one after the other, that tell bad from good best: shares of both count the same."""
    found: list[_Bound] = []
    inside, best = np.ones(len(bad), bool), 0.5
    for _ in range(MOST_CONDITIONS):
        right, bound = max((_best(states, f, inside, bad) for f in range(states.shape[1])), key=lambda pair: pair[0])
        if bound is None or right < best + GAIN:
            break
        found.append(bound)
        inside, best = inside & bound.holds(states), right
    return found


def _best(states: F64, f: int, inside: Mask, bad: Mask) -> tuple[float, _Bound | None]:
    """Return the best further condition on one feature, and the share that it tells apart rightly."""
    values = np.unique(states[inside, f])
    gaps = np.arange(len(values) - 1)
    if not len(gaps):
        return 0.0, None
    if len(gaps) > MOST_THRESHOLDS:
        gaps = np.unique(np.linspace(0, len(gaps) - 1, MOST_THRESHOLDS).astype(int))
    # How many lie below each threshold, and how many at all.
    ends = np.append(values[gaps], np.inf)
    below = np.array(
        [
            np.cumsum(np.bincount(np.searchsorted(ends, states[inside & who, f]), minlength=len(ends)))
            for who in (bad, ~bad)
        ]
    )
    sides = [
        (some / bad.sum() + 1 - others / (~bad).sum()) / 2
        for some, others in (below[:, :-1], below[:, -1:] - below[:, :-1])
    ]
    way, place = divmod(int(np.argmax(sides)), len(gaps))
    gap = int(gaps[place])
    threshold = short_between(float(values[gap]), float(values[gap + 1]))
    return float(sides[way][place]), _Bound(f, threshold, way == 0)


def _right(guess: Mask, bad: Mask) -> float:
    return float((guess[bad].mean() + (~guess)[~bad].mean()) / 2)


def _chance(guess: Mask, bad: Mask, units: I64) -> float:
    """Return how often episodes (or groups) that had nothing to do with the guess would be told apart as well."""
    random, times = np.random.default_rng(0), 999
    real = _right(guess, bad)
    as_well = 0
    names = np.unique(units)
    if len(names) == len(units):
        # Shuffled, only the number of hits is another.
        number, told = np.count_nonzero(bad), np.count_nonzero(guess)
        good = len(bad) - number
        hits = random.hypergeometric(number, good, told, times)
        as_well = int(((hits / number + (good - told + hits) / good) / 2 >= real).sum())
    else:
        # Whole groups change places.
        parts = [np.flatnonzero(units == name) for name in names]
        for _ in range(times):
            shuffled = np.concatenate([bad[parts[k]] for k in random.permutation(len(parts))])
            as_well += _right(guess[np.concatenate(parts)], shuffled) >= real
    return (as_well + 1) / (times + 1)
