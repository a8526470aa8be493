"""What may have happened in an episode before a step: features that were high or low, and how long ago things were."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tripletree.log.telling import Case

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]

QUANTILES = ((4, (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)), (12, (0.15, 0.3, 0.5, 0.7, 0.85)))
FEW_QUANTILES = (0.25, 0.5, 0.75)
"""Thresholds that features are asked about, as shares of the steps: fewer where there are more features."""
FINE = tuple(np.arange(1, 20) / 20)
NEAR = 0.11
"""Shares that are tried as thresholds around one that tells something: those that are no further away."""
MOST = 2
"""Features whose thresholds are looked for more closely."""
CLOCK = "how many steps the episode has taken"


@dataclass(frozen=True)
class Hint:
    """Something about the past of every judged row, as columns, and where the state does not tell it anyway."""

    kind: str
    text: str
    columns: F64
    lag: int = 0
    feature: int = -1
    where: Bool | None = None
    limits: tuple[float, ...] = ()


def clocks(case: Case, actions: F64) -> Iterator[Hint]:
    """Return how long ago the episode began, and how long ago the agent last did something else."""
    step = np.arange(len(actions)) - case.starts[case.episode]
    yield Hint("clock", CLOCK, _even(np.log1p(step[case.rows])))
    changed = np.zeros(len(actions), bool)
    changed[1:] = (np.abs(np.diff(actions, axis=0)) > 1e-9).any(axis=1)
    changed[case.starts[:-1]] = False
    # Seen from the step before: the action itself must not give itself away.
    since = (np.arange(len(changed)) - _last(case, changed))[case.before(1)]
    yield Hint("change", "how long ago it last changed its action", _even(np.log1p(since)))


def _last(case: Case, event: Bool) -> I64:
    """Return the step of the last event in the same episode, that one included; or the step before the first."""
    last = np.maximum.accumulate(np.where(event, np.arange(len(event)), -1))
    return np.maximum(last, case.starts[case.episode] - 1)


def events(case: Case) -> Iterator[Hint]:
    """Return what may have happened to features: they were high, or low, or last were the one or the other."""
    number = len(case.features)
    shares = next((shares for most, shares in QUANTILES if number <= most), FEW_QUANTILES)
    for feature in case.features.tolist():
        yield from _events_of(case, feature, shares)


def finer(case: Case, chosen: list[Hint]) -> Iterator[Hint]:
    """Return events with thresholds around those of some, of the features that most of these are about."""
    for feature, _ in Counter(hint.feature for hint in chosen).most_common(MOST):
        column = case.log.states[case.taken, feature]
        around = [(column < limit).mean() for hint in chosen if hint.feature == feature for limit in hint.limits]
        near = tuple(share for share in FINE if min(abs(share - one) for one in around) < NEAR)
        yield from _events_of(case, feature, near)


def _events_of(case: Case, feature: int, shares: tuple[float, ...]) -> Iterator[Hint]:
    column = case.log.states[case.taken, feature]
    name = case.log.schema.features[feature].name
    values = np.unique(column)
    limits = values if len(values) == 2 else np.unique(np.quantile(column, shares))
    now = column[case.rows]
    began = (case.starts[case.episode] - 1)[case.rows]
    highs, lows = [], []
    for limit in limits.tolist():
        above, below = (column >= limit, column <= limit)
        highs.append(_last(case, above)[case.rows])
        lows.append(_last(case, below)[case.rows])
        if limit > values[0]:
            text = f"whether `{name}` has been {f'{limit:.3g}' if len(values) == 2 else f'above {limit:.3g}'}"
            yield Hint("event", text, np.sign(highs[-1] - began - 0.5), 0, feature, now < limit, (limit,))
        if limit < values[-1]:
            text = f"whether `{name}` has been {f'{limit:.3g}' if len(values) == 2 else f'below {limit:.3g}'}"
            yield Hint("event", text, np.sign(lows[-1] - began - 0.5), 0, feature, now > limit, (limit,))
    if len(values) == 2:
        return
    for low, high in itertools.combinations(range(len(limits)), 2):
        text = f"whether `{name}` was last above {limits[high]:.3g} or below {limits[low]:.3g}"
        side = np.sign(highs[high] - lows[low]).astype(np.float64)
        between = (now > limits[low]) & (now < limits[high])
        both = float(limits[low]), float(limits[high])
        # Until it has been either, an agent with two modes is in one of them, too: nobody knows in which.
        for first in (-1.0, 1.0) if (side[between] == 0).any() else (0.0,):
            yield Hint("hysteresis", text, np.where(side == 0, first, side), 0, feature, between, both)


def _even(column: F64) -> F64:
    """Return a column with mean zero and unit spread."""
    even: F64 = (column - column.mean()) / max(float(column.std()), 1e-9)
    return even
