"""How much of what an agent does its memory explains beyond the state: the truth that findings are compared with."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from benchmarks.memory_worlds import EPISODES, SWITCHED, Act, Played

F64 = npt.NDArray[np.float64]

TIMES = 20
"""So many times the episodes of a log tell what the state says."""
ROWS = 40_000
DRAWS = 8


class Play(Protocol):
    """Plays so many episodes of an agent with some kind of memory."""

    def __call__(self, kind: str, seed: int, episodes: int = ...) -> Played: ...


def explained(kind: str, seed: int, play: Play) -> float:
    """Return the share of the variation of the actions that only the memory explains.

    That is how far what the agent does on average, given its state and its memory, is from what it does on average
    given the state alone: mean square over unseen episodes, by the variance of the actions. The agent's own policies
    are known here; what has to be learnt, by boosted trees from many times the episodes of a log, is only how well the
    state tells the mode; or, where there are no modes, what the memory adds to the policy.
    """
    from sklearn.ensemble import HistGradientBoostingRegressor

    played = play(kind, seed, TIMES * EPISODES)
    episode = np.repeat(np.arange(len(played.lengths)), played.lengths)
    some = np.arange(0, len(episode), -(-len(episode) // ROWS))
    unseen = episode[some] % 4 == 0
    labels = np.unique(played.actions) if np.ndim(played.actions) == 1 else None
    rng = np.random.default_rng(seed)
    # Two averages over the noise with errors of their own, whose product has none on average.
    full = [_average(played, some, labels, rng) for _ in range(2)]
    usual = [_mean(played.policies[0], played.states[some], labels, rng) for _ in range(2)]
    other = [_mean(played.policies[1], played.states[some], labels, rng) for _ in range(2)]

    def learnt(columns: F64, target: F64) -> F64:
        model = HistGradientBoostingRegressor(max_iter=150, random_state=0, early_stopping=False)
        told: F64 = model.fit(columns[~unseen], target[~unseen]).predict(columns[unseen])
        return told

    if kind in SWITCHED:
        bit = played.bit[some].astype(np.float64)
        away = bit[unseen] - learnt(np.concatenate([played.states[some], usual[0], other[0]], axis=1), bit)
        # Where the two policies do the same, the mode is of no account.
        left = float(((other[0] - usual[0]) * (other[1] - usual[1]))[unseen].sum(axis=1) @ away**2)
    else:
        known = np.concatenate([played.states[some], usual[0]], axis=1)
        told = [learnt(known, target) for target in (full[0] - usual[0]).T]
        told_all = np.stack(told, axis=1)
        left = float((((full[1] - usual[1])[unseen] - told_all) ** 2).sum())
        none = float(((full[1] - full[0]) ** 2)[unseen].sum()) + float(((usual[1] - usual[0]) ** 2)[unseen].sum())
        left -= none / 2
    acted = _columns(played.actions[some], labels)[unseen]
    varied = float(((acted - acted.mean(axis=0)) ** 2).sum())
    return max(left, 0.0) / varied if varied else 0.0  # some agents do the same all the time


def all_known(kind: str, seed: int, play: Play, rows: npt.NDArray[np.int64]) -> tuple[F64, F64, F64, float]:
    """Return what the state truly leaves of the actions of some steps of a log, and what the mode tells of that.

    Both as columns; then how likely the state makes the second mode, and the sum of squares of the actions. Only the
    latter has to be learnt: from other episodes of the same agent, many times those of a log.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier

    played, more = play(kind, seed), play(kind, seed, TIMES * EPISODES)
    # The first ones begin as those of the log do, and in some worlds that decides all the rest.
    others = np.arange(int(more.lengths[:EPISODES].sum()), len(more.states))
    others = others[:: -(-len(others) // ROWS)]
    labels = np.unique(played.actions) if np.ndim(played.actions) == 1 else None
    rng = np.random.default_rng(seed)

    def known(states: F64) -> tuple[F64, F64]:
        usual, other = (_mean(policy, states, labels, rng) for policy in played.policies)
        return usual, other

    usual, other = known(played.states[rows])
    likely = np.full((len(rows), 1), float(more.bit[others].mean()))
    if 0 < likely[0, 0] < 1:
        model = HistGradientBoostingClassifier(max_iter=150, random_state=0, early_stopping=False)
        model.fit(np.concatenate([more.states[others], *known(more.states[others])], axis=1), more.bit[others])
        likely = model.predict_proba(np.concatenate([played.states[rows], usual, other], axis=1))[:, 1:]
    acted = _columns(played.actions[rows], labels)
    whole = float(((acted - acted.mean(axis=0)) ** 2).sum())
    left = acted - usual - likely * (other - usual)
    return left, (played.bit[rows, None] - likely) * (other - usual), likely, whole


def _average(played: Played, some: npt.NDArray[np.int64], labels: Any, rng: np.random.Generator) -> F64:
    """Return what the agent does on average, given its state and its memory."""
    states, second = played.seen[some], played.bit[some]
    fresh = _mean(played.policies[0], states, labels, rng)
    if second.any():
        fresh[second] = _mean(played.policies[1], states[second], labels, rng)
    return played.again * _columns(played.before[some], labels) + (1 - played.again) * fresh


def _mean(policy: Act, states: F64, labels: Any, rng: np.random.Generator) -> F64:
    return np.mean([_columns(policy(states, rng), labels) for _ in range(DRAWS)], axis=0)  # type: ignore[no-any-return]


def _columns(actions: Any, labels: Any) -> F64:
    """Return actions as columns; of labels, one each."""
    if labels is None:
        return np.asarray(actions, np.float64)
    return np.asarray(actions[:, None] == labels, np.float64)
