"""Does what an agent does depend on what came before? What the past tells, beside what it tells of agents without any.

The states of a log are numbers and every model of an agent is too coarse, so the past helps to predict any agent: the
action before says on which side of a border the state is. How much it helps an agent that remembers nothing is
therefore measured, on two stand-ins that act in the same states: one that does what the model says, as sharply as the
agent, and one that draws at random around it. Only what is beyond both counts.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from tripletree.log.log import Log
from tripletree.log.telling import RIDGE, Case, Model, case_of, ridge, targets_of
from tripletree.text import count

F64 = npt.NDArray[np.float64]
Bool = npt.NDArray[np.bool_]

ROWS, QUICK_ROWS = 6_000, 2_000
"""Steps that are looked at, at most; those of whole episodes, thinned out where they are many."""
MOST_EPISODES, QUICK_EPISODES = 200, 60
LAGS = (1, 2, 3, 4, 5, 8)
GAP = 5
"""What an agent did so few steps ago says more about its last action than about its mode."""
SHRINK = (0.1, 1.0, 10.0, 100.0, 1e3, 1e6)
FLIPS = 1999
FURTHER = 1.0
"""What twice as many episodes have taken away of a model's errors, more would take away again: so often, here."""
STEPWISE = 3.0
"""So often for what the action before tells: errors of a smooth agent's model last for several steps."""
LEVEL = 0.03
LEAST_GAIN, LEAST_STEPWISE = 0.01, 0.05
"""Shares of the variation that count as memory; more for what the action before tells, for the same reason."""


@dataclass(frozen=True)
class Clue:
    """Something about the past, and how much it tells about the action beyond the state.

    Attributes
    ----------
    kind : str
        ``"action"``, ``"state"``, ``"mode"``, ``"clock"``, ``"change"``, ``"event"`` or ``"hysteresis"``.
    text : str
        What it is, in words.
    gain : float
        Share of the variation of the actions that it explains on unseen episodes, beyond the state.
    stand_in : float
        The most that clues of this kind explain of agents that remember nothing, in the same states.
    p : float
        How often chance alone does as well, with all clues that were tried.
    lag : int
        How many steps ago; 0 where that is not the point.
    feature : int
        Position of the feature; -1 where it is not about one.
    """

    kind: str
    text: str
    gain: float
    stand_in: float
    p: float
    lag: int = 0
    feature: int = -1


@dataclass(frozen=True)
class Evidence:
    """What a log shows about its agent's memory.

    Attributes
    ----------
    clues : tuple of Clue
        The best of each kind, the one that tells most first.
    found : bool
        Whether the first of them tells more than chance and stand-ins allow.
    unexplained : float
        Share of the variation of the actions that the state does not explain, on unseen episodes.
    episodes, samples : int
        What was looked at.
    """

    clues: tuple[Clue, ...]
    found: bool
    unexplained: float
    episodes: int
    samples: int


def remembering(log: Log, quick: bool = False, seed: int = 0) -> Evidence | None:
    """Return what a log shows about its agent's memory; None where it is too short to show anything.

    Parameters
    ----------
    log : Log
        What was recorded.
    quick : bool
        Look at fewer steps.
    seed : int
        Of the stand-in that draws, and of the flips.
    """
    case = case_of(log, QUICK_ROWS if quick else ROWS, QUICK_EPISODES if quick else MOST_EPISODES)
    acts = None if case is None else targets_of(case)
    if case is None or acts is None:
        return None
    targets = acts.columns
    rng = np.random.default_rng(seed)
    model = Model(case, targets[case.rows], rng)
    labelled = log.schema.action.kind == "discrete"
    real, coarse = _gains(case, model, targets), _gains(case, model, targets, half=True)
    placebos = [_gains(case, model, other) for other in _stand_ins(case, model, targets, labelled, rng)]
    evidence = _judge(case, real, coarse, placebos, rng)
    if not evidence.found or evidence.clues[0].kind != "state":
        return evidence
    return replace(evidence, clues=(_named(case, model, targets, evidence.clues[0]), *evidence.clues[1:]))


def _stand_ins(case: Case, model: Model, targets: F64, labelled: bool, rng: np.random.Generator) -> Iterator[F64]:
    """Return what two agents that remember nothing do in every state: a sharp one, and one that draws."""
    known = targets[case.rows]
    predicted, weights = model.predict(known)
    everywhere = np.concatenate(
        [model.basis(part) @ weights for part in np.array_split(np.arange(len(targets)), len(targets) // 4096 + 1)]
    )
    if labelled:
        low, high = targets.min(axis=0), targets.max(axis=0)
        # Columns are labels in units of their spread; shares are what is left of the others.
        shares = np.clip((everywhere - low) / (high - low), 0, 1)
        if shares.shape[1] == 1:
            shares = np.concatenate([shares, 1 - shares], axis=1)
        shares = shares + 1e-9
        shares /= shares.sum(axis=1, keepdims=True)
        drawn = (rng.random((len(shares), 1)) < np.cumsum(shares, axis=1)).argmax(axis=1)
        for label in (shares.argmax(axis=1), drawn):
            taken = (label[:, None] == np.arange(targets.shape[1])) * (high - low)
            yield taken - taken[case.rows].mean(axis=0)
        return
    sharp = np.empty_like(targets)
    for k in range(targets.shape[1]):
        order = np.sort(everywhere[case.rows, k])
        # As many actions of each size as the agent's.
        sharp[:, k] = np.interp(everywhere[:, k], order + np.arange(len(order)) * 1e-12, np.sort(known[:, k]))
    yield sharp
    left = known - predicted
    noisy = everywhere + left[rng.integers(len(left), size=len(everywhere))]
    yield noisy - noisy[case.rows].mean(axis=0)


Named = tuple[str, str, int, int, F64]
Gains = tuple[F64, dict[tuple[str, str, int, int], F64]]


def _gains(case: Case, model: Model, targets: F64, half: bool = False) -> Gains:
    """Return what the state leaves unexplained, and what each clue explains of it in every episode."""
    known = targets[case.rows]
    whole = float((known**2).sum())
    if not whole > 0:
        return np.zeros(len(case.starts) - 1), {}
    predicted, _ = model.predict(known, half)
    left = known - predicted
    clues = list(_clues(case, model, targets, predicted, left))
    columns = [column for *_, column in clues]
    explained = dict(zip([clue[:4] for clue in clues], _explained(case, model, columns, predicted, left), strict=True))
    errors: F64 = np.bincount(case.episode[case.rows], (left**2).sum(axis=1), len(case.starts) - 1).astype(np.float64)
    return errors / whole, {name: gain / whole for name, gain in explained.items()}


def _explained(case: Case, model: Model, clues: list[F64], predicted: F64, left: F64) -> Iterator[F64]:
    """Return how much less is left of every episode once each clue is known, judged on other episodes."""
    columns = np.concatenate(clues, axis=1)
    columns = (columns - columns.mean(axis=0)) / np.maximum(columns.std(axis=0), 1e-9)
    # What the state tells about the past is no news.
    columns = columns - ridge(model.here, columns, case.fold, RIDGE, each=True)[0]
    through = np.concatenate([model.smooth, predicted], axis=1)
    before = (left**2).sum(axis=1)
    place = 0
    for clue in clues:
        own = columns[:, place : place + clue.shape[1]]
        place += clue.shape[1]
        basis = (own[:, :, None] * through[:, None, :]).reshape(len(own), -1)
        after = ((left - ridge(basis, left, case.fold, SHRINK)[0]) ** 2).sum(axis=1)
        gain: F64 = np.bincount(case.episode[case.rows], before - after, len(case.starts) - 1).astype(np.float64)
        yield gain


def _named(case: Case, model: Model, targets: F64, clue: Clue) -> Clue:
    """Return the clue about an earlier state with the feature of it that tells most by itself."""
    known = targets[case.rows]
    predicted, _ = model.predict(known)
    moved = case.states[case.before(clue.lag)] - case.states[case.rows]
    gains = list(_explained(case, model, list(moved.T[:, :, None]), predicted, known - predicted))
    feature = int(case.features[int(np.argmax([gain.sum() for gain in gains]))])
    name = case.log.schema.features[feature].name
    return replace(clue, text=f"{clue.text}, `{name}` before all,", feature=feature)


def _clues(case: Case, model: Model, targets: F64, predicted: F64, left: F64) -> Iterator[Named]:
    """Return everything about the past that may matter: kind, words, lag, feature, and its columns at judged rows."""
    rows = case.rows
    for lag in LAGS:
        ago = f"{count(lag, 'step')} ago"
        yield "action", f"what it did {ago}", lag, -1, targets[case.before(lag)]
        basis = model.basis(case.before(lag))
        told, _ = ridge(basis, targets[rows], case.fold, RIDGE)
        yield "state", f"the state {ago}", lag, -1, told - predicted
    yield "mode", "how it differed from other episodes earlier in the same one", 0, -1, _own_past(case, model, left)
    step = np.arange(len(targets)) - case.starts[case.episode]
    yield "clock", "how many steps the episode has taken", 0, -1, np.log1p(step[rows])[:, None]
    changed = np.zeros(len(targets), bool)
    changed[1:] = (np.abs(np.diff(targets, axis=0)) > 1e-9).any(axis=1)
    changed[step == 0] = False
    # Seen from the step before: the action itself must not give itself away.
    since = case.each(lambda one: _since(changed[one]))[case.before(1)]
    yield "change", "how long ago it last changed its action", 0, -1, np.log1p(since)[:, None]
    for feature in case.features.tolist():
        yield from _events(case, feature)


def _events(case: Case, feature: int) -> Iterator[Named]:
    """Return what may have happened to a feature: it has been high, or low, or last was the one or the other."""
    column = case.log.states[case.taken, feature]
    name = case.log.schema.features[feature].name
    values = np.unique(column)
    two = len(values) == 2
    highs = [float(values[1])] if two else np.quantile(column, [0.6, 0.85]).tolist()
    lows = [float(values[0])] if two else np.quantile(column, [0.4, 0.15]).tolist()
    most = case.each(lambda one: np.maximum.accumulate(column[one]))
    least = case.each(lambda one: np.minimum.accumulate(column[one]))
    for high in highs:
        been = f"whether `{name}` has been {f'{high:.3g}' if two else f'above {high:.3g}'}"
        yield "event", been, 0, feature, (most >= high)[case.rows, None].astype(np.float64)
    for low in lows:
        been = f"whether `{name}` has been {f'{low:.3g}' if two else f'below {low:.3g}'}"
        yield "event", been, 0, feature, (least <= low)[case.rows, None].astype(np.float64)
    if not two and highs[0] > lows[0]:
        up = case.each(lambda one: _since(column[one] > highs[0], -1))
        down = case.each(lambda one: _since(column[one] < lows[0], -1))
        last = f"whether `{name}` was last above {highs[0]:.3g} or below {lows[0]:.3g}"
        yield "hysteresis", last, 0, feature, np.sign(down - up)[case.rows, None]


def _since(event: Bool, never: int = 0) -> F64:
    """Return the steps since the last event; before the first, those since the beginning, or a step more."""
    step = np.arange(len(event))
    last = np.maximum.accumulate(np.where(event, step, never))
    return (step - last).astype(np.float64)


def _own_past(case: Case, model: Model, left: F64) -> F64:
    """Return by how much the same episode differed from what the state says, earlier: in like states, and in all."""
    out, mean = np.zeros_like(left), np.zeros_like(left)
    places = model.places(case.rows)
    bounds = np.searchsorted(case.rows, case.starts)
    for a, b in itertools.pairwise(bounds.tolist()):
        here = places[a:b]
        squares = (here**2).sum(axis=1)
        near = np.exp(-np.maximum(squares[:, None] + squares - 2 * here @ here.T, 0) / (2 * model.width**2))
        near *= case.rows[a:b, None] - case.rows[a:b] > GAP
        out[a:b] = near @ left[a:b] / (near.sum(axis=1, keepdims=True) + 1)
        earlier = (case.rows[a:b, None] - case.rows[a:b] > GAP).astype(np.float64)
        mean[a:b] = earlier @ left[a:b] / (earlier.sum(axis=1, keepdims=True) + 1)
    return np.concatenate([out, mean], axis=1)


def _judge(
    case: Case,
    real: Gains,
    coarse: Gains,
    placebos: list[Gains],
    rng: np.random.Generator,
) -> Evidence:
    """Return which clues tell more of the agent than of its stand-ins, by flipping the signs of whole episodes."""
    errors, gains = real
    unexplained = float(errors.sum())
    names = list(gains)
    allowed: dict[str, float] = {}
    for kind in dict.fromkeys(name[0] for name in names):
        allowed[kind] = sum(
            max([0.0, *(float(gain.sum()) for name, gain in found.items() if name[0] == kind)]) for _, found in placebos
        )
    share = np.bincount(case.episode[case.rows], minlength=len(case.starts) - 1) / len(case.rows)
    # What shrinks as more episodes teach the model comes from its coarseness, and goes on shrinking.
    shrinks = {name: FURTHER * max(float(coarse[1][name].sum() - gains[name].sum()), 0.0) for name in names}
    # So does what the state leaves unexplained; the past can explain no more than what remains.
    grew = float(coarse[0].sum()) / max(unexplained, 1e-12) - 1
    remains = {
        kind: float(np.clip(1 - (STEPWISE if kind in ("action", "change") else FURTHER) * grew, 0, 1))
        for kind in allowed
    }
    beyond = np.stack([remains[name[0]] * gains[name] - (allowed[name[0]] + shrinks[name]) * share for name in names])
    # In shares of what is left of each episode: one odd episode must neither hide nor make a finding.
    shared = beyond / (errors + errors.mean() + 1e-12)
    scale = np.sqrt((shared**2).sum(axis=1)) + 1e-9
    score = shared.sum(axis=1) / scale
    flips = rng.choice([-1.0, 1.0], size=(FLIPS, beyond.shape[1]))
    chance = ((flips @ shared.T) / scale).max(axis=1)
    p = (1 + (chance[:, None] >= score - 1e-9).sum(axis=0)) / (FLIPS + 1)
    total = np.array([gains[name].sum() for name in names])
    least = np.array([LEAST_STEPWISE if name[0] in ("action", "change") else LEAST_GAIN for name in names])
    fine = (p < LEVEL) & (beyond.sum(axis=1) > least)
    # What has been shown first, then what tells most.
    order = np.lexsort((-beyond.sum(axis=1), ~fine))
    best: dict[str, Clue] = {}
    for i in order.tolist():
        kind, text, lag, feature = names[i]
        best.setdefault(kind, Clue(kind, text, float(total[i]), allowed[kind], float(p[i]), lag, feature))
    clues = tuple(best.values())
    return Evidence(clues, bool(fine.any()), unexplained, len(case.starts) - 1, len(case.taken))
