"""Does what an agent does depend on what came before? Whether the past tells something that the state does not.

The past helps to predict any agent: no model of what it does in a state is perfect, and its errors last for several
steps. So the state gets two models that err in different ways, one on top of the other: bagged trees, and a Gaussian
process with their prediction among its columns. What both leave is predicted by trees once more, from the state alone
and from the state and the past, always on other episodes. Only what the past adds to that counts, and only if it does
so in episode after episode. A delay is told by the whole state some steps ago: of an agent without memory, that never
tells more than the state now.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tripletree.log.forest import forest
from tripletree.log.log import Log
from tripletree.log.process import DIRECTIONS, Process
from tripletree.log.telling import Case, case_of, ranks, ridge, targets_of
from tripletree.text import count

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]

ROWS, QUICK_ROWS = 3_000, 2_000
"""Steps that are judged, at most; those of whole episodes, thinned out where they are many."""
PLACES, QUICK_PLACES = 500, 350
"""Steps that the Gaussian process learns from, spread along the ways."""
SEARCHED, QUICK_SEARCHED = 300, 200
"""Those that the search for its metric looks at."""
STEPS, QUICK_STEPS = 20, 15
TREES, QUICK_TREES = 12, 8
GLANCE = 4
"""Trees of a fold that tell which delays are worth a look."""
MOST_EPISODES, QUICK_EPISODES = 200, 60
LAGS = (1, 2, 3, 5, 8, 13, 21)
DELAYS = (1, 2, 3, 4, 5, 6, 8, 10)
GAP = 5
"""What an agent did so few steps ago says more about its last action than about its mode."""
PAIRS = ((0.6, 0.4), (0.75, 0.25), (0.75, 0.5), (0.5, 0.25))
"""Upper and lower thresholds, as shares of the steps; the first two where features are many."""
MANY = 8
LEVEL = {"action": 0.05, "state": 0.01, "mode": 0.005, "event": 0.05, "clock": 0.05}
"""How often chance alone may do as well, all families counted. Two models of the state may differ by themselves, and
what a model leaves of an episode early on may be like what it leaves later."""
LEAST = {"action": 0.02, "state": 0.03, "mode": 0.02, "event": 0.02, "clock": 0.02}
"""Shares of the variation that count as memory."""
PART = 0.06
"""Share of what the state leaves that counts, too."""
CLEARLY = 0.9
"""The state some steps ago must leave less than this share of what the state now leaves."""
DELAYED, SPECIFIC = 0.9, 0.4
"""What explains this share of what earlier actions explain is named instead of them: a delay, and anything else."""
SHRINK = (1.0, 10.0, 100.0, 1e3, 1e4, 1e6)
OF_ACTIONS, OF_REST = 3, 8
"""Least rows of a leaf: where trees predict actions, and where they predict what is left of them."""
BLIND = 0.9
"""Where the state explains nearly nothing, the log may just be too thin for what the agent does."""
REPEATS, DISTINCT = 0.01, 0.1
"""Share of the steps that repeat a number exactly from which on that counts, and of the numbers that differ."""


@dataclass(frozen=True)
class Clue:
    """Something about the past, and how much it tells about the action beyond the state.

    Attributes
    ----------
    kind : str
        ``"action"``, ``"repeat"``, ``"state"``, ``"mode"``, ``"clock"``, ``"change"``, ``"event"`` or ``"hysteresis"``.
    text : str
        What it is, in words.
    gain : float
        Share of the variation of the actions that it explains on unseen episodes, beyond the state; of a repeat, the
        share of the steps.
    p : float
        How often chance alone does as well, over the kinds that were tried.
    lag : int
        How many steps ago; 0 where that is not the point.
    feature : int
        Position of the feature; -1 where it is not about one.
    """

    kind: str
    text: str
    gain: float
    p: float
    lag: int = 0
    feature: int = -1


@dataclass(frozen=True)
class Evidence:
    """What a log shows about its agent's memory.

    Attributes
    ----------
    clues : tuple of Clue
        The best of each family; if memory was found, the one that says most about it comes first.
    found : bool
        Whether the first of them tells more than chance allows.
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


@dataclass(frozen=True)
class _Hint:
    kind: str
    text: str
    columns: F64
    lag: int = 0
    feature: int = -1


def remembering(log: Log, quick: bool = False, seed: int = 0) -> Evidence | None:
    """Return what a log shows about its agent's memory; None where it is too short to show anything.

    Parameters
    ----------
    log : Log
        What was recorded.
    quick : bool
        Look at fewer steps; what is found there must be found in full, too.
    seed : int
        Of the episodes that each tree is grown on.
    """
    evidence = _look(log, quick, seed)
    # Fewer steps make coarser models of the state, and what these leave passes for memory more easily.
    if quick and evidence is not None and evidence.found:
        whole = _look(log, False, seed)
        return evidence if whole is not None and whole.found else whole
    return evidence


def _look(log: Log, quick: bool, seed: int) -> Evidence | None:
    case = case_of(log, QUICK_ROWS if quick else ROWS, QUICK_EPISODES if quick else MOST_EPISODES)
    acts = None if case is None else targets_of(case)
    if case is None or acts is None:
        return None
    agent = _Agent(case, acts.columns, quick, seed)
    families = {kind: list(hints) for kind, hints in agent.families()}
    clues = {kind: agent.judge(kind, hints) for kind, hints in families.items() if hints}
    clues["state"] = agent.delay()
    least = {kind: max(share, PART * agent.unexplained) for kind, share in LEAST.items()}
    shown = {kind: clue for kind, clue in clues.items() if clue.gain >= least[kind] and clue.p < LEVEL[kind]}
    if agent.unexplained > BLIND and agent.thin():
        shown = {}
    first = None if "state" in shown else agent.repeats()
    if first is None and shown:
        kind = _most_telling(shown)
        first = shown[kind] if kind == "state" else agent.named(shown[kind], families[kind])
    rest = sorted(clues.values(), key=lambda clue: -clue.gain)
    if first is not None:
        rest = [first, *(clue for clue in rest if _family(clue.kind) != _family(first.kind))]
    return Evidence(tuple(rest), first is not None, agent.unexplained, len(case.starts) - 1, len(case.taken))


def _family(kind: str) -> str:
    return {"repeat": "action", "change": "action", "hysteresis": "event"}.get(kind, kind)


def _most_telling(shown: dict[str, Clue]) -> str:
    """Return the family to name: a delay explains what earlier actions do, and all others say more than those."""
    most = shown["action"].gain if "action" in shown else 0.0
    if "state" in shown and shown["state"].gain >= DELAYED * most:
        return "state"
    other = [kind for kind in shown if kind not in ("action", "state") and shown[kind].gain >= SPECIFIC * most]
    return max(other or shown, key=lambda kind: shown[kind].gain)


class _Agent:
    """What an agent does in the part of a log that is looked at, and what the state leaves unexplained."""

    def __init__(self, case: Case, actions: F64, quick: bool, seed: int) -> None:
        self.case, self._quick, self._seed = case, quick, seed
        self._trees = QUICK_TREES if quick else TREES
        self.actions = actions / np.sqrt(actions[case.rows].var(axis=0).mean())
        self.known = self.actions[case.rows]
        self.known = self.known - self.known.mean(axis=0)
        self.episode = case.episode[case.rows]
        self.whole = float((self.known**2).sum())
        self._scores = np.stack([_scores(column) for column in case.states.T], axis=1)
        now = self._forest(case.states[case.rows], self.known, OF_ACTIONS)
        predicted, process, places = self._model(0, now)
        self.left = self.known - predicted
        self.unexplained = float((self.left**2).sum()) / self.whole
        self._process, self._places = process, places
        turned = process.directions(places)
        self._base = np.concatenate([case.states[case.rows], predicted, turned], axis=1)
        even = np.concatenate([turned, predicted, case.states[case.rows]], axis=1)
        even = (even - even.mean(axis=0)) / np.maximum(even.std(axis=0), 1e-9)
        self._plain = np.concatenate([np.ones((len(even), 1)), even], axis=1)
        self._errors = self._by_trees(None), self._by_slopes(None)
        plain = np.concatenate([np.clip(case.states, -6, 6), self._scores], axis=1)
        self._where = process.stretched(plain)
        self._apart = self._to_others(self._where[case.rows])

    def _forest(self, columns: F64, targets: F64, least: int, trees: int | None = None) -> F64:
        return forest(columns, targets, self.case.fold, self.episode, trees or self._trees, least, self._seed)

    def _model(self, lag: int, opinion: F64) -> tuple[F64, Process, F64]:
        """Return what the state so many steps ago tells of each judged row, by other episodes."""
        before, case = self.case.before(lag), self.case
        spread = np.maximum(opinion.std(axis=0), 1e-9)
        places = np.concatenate([np.clip(case.states[before], -6, 6), self._scores[before], opinion / spread], axis=1)
        chosen = _along(places[:, : case.states.shape[1]], self.episode, QUICK_PLACES if self._quick else PLACES)
        known = self.known[chosen]
        steps, searched = (QUICK_STEPS, QUICK_SEARCHED) if self._quick else (STEPS, SEARCHED)
        process = Process(places[chosen], known, self.episode[chosen], steps, searched)
        return _shrunk(process.predict(places, self.episode), self.known), process, places

    def _to_others(self, where: F64) -> F64:
        """Return how far the nearest judged state of another fold is from each, squared."""
        apart = np.empty(len(where))
        for fold in np.unique(self.case.fold):
            test, train = self.case.fold == fold, self.case.fold != fold
            apart[test] = _squares(where[test], where[train]).min(axis=1)
        return apart

    def _far(self, lag: int) -> Bool:
        """Return whether an episode has come, in so many steps, as far as other episodes are away.

        Nearer by, its own past says more about the state than other episodes can, even if the agent has no memory.
        """
        case = self.case
        moved = ((self._where[case.rows] - self._where[case.before(lag)]) ** 2).sum(axis=1)
        known = case.rows - lag >= case.starts[self.episode]
        far: Bool = known & (moved >= self._apart)
        return far

    def _per_episode(self, left: F64) -> F64:
        number = len(self.case.starts) - 1
        sums: F64 = np.bincount(self.episode, (left**2).sum(axis=1), number).astype(np.float64)
        return sums

    def _by_trees(self, columns: F64 | None) -> F64:
        """Return what is left of every episode when trees know the state, and the past if it is given."""
        known = self._base if columns is None else np.concatenate([self._base, columns], axis=1)
        return self._per_episode(self.left - self._forest(known, self.left, OF_REST))

    def _by_slopes(self, columns: F64 | None) -> F64:
        """Return the same for a ridge regression in which the past may count differently from state to state."""
        known = self._plain
        if columns is not None:
            even = (columns - columns.mean(axis=0)) / np.maximum(columns.std(axis=0), 1e-9)
            through = self._plain[:, : 1 + DIRECTIONS + self.known.shape[1]]
            turned = (even[:, :, None] * through[:, None, :]).reshape(len(even), -1)
            known = np.concatenate([known, turned], axis=1)
        return self._per_episode(self.left - ridge(known, self.left, self.case.fold, SHRINK)[0])

    def _compared(self, hints: list[_Hint]) -> tuple[float, float]:
        """Return what clues explain beyond the state, and how often chance does so, by the learner they help most."""
        columns = np.concatenate([hint.columns for hint in hints], axis=1)
        tried = [
            (_chance(before, after), float((before - after).sum()) / self.whole)
            for before, after in (
                (self._errors[0], self._by_trees(columns)),
                (self._errors[1], self._by_slopes(columns)),
            )
        ]
        p, gain = min(tried)
        return min(gain, self.unexplained), min(p * len(tried) * len(LEVEL), 1.0)

    def judge(self, family: str, hints: list[_Hint]) -> Clue:
        """Return how much all clues of a family tell together."""
        return Clue(family, FAMILIES[family], *self._compared(hints))

    def named(self, clue: Clue, hints: list[_Hint]) -> Clue:
        """Return the one clue of a family that tells most by itself, with the family's chance."""
        gains = [self._compared([hint])[0] for hint in hints]
        best = hints[int(np.argmax(gains))]
        return Clue(best.kind, best.text, max(gains), clue.p, best.lag, best.feature)

    def delay(self) -> Clue:
        """Return by how much the whole state some steps ago tells more than the state now."""
        errors = {}
        for lag in (0, *DELAYS):
            told = self._forest(self.case.states[self.case.before(lag)], self.known, OF_ACTIONS, GLANCE)
            errors[lag] = float(((self.known - told) ** 2).sum())
        now = errors.pop(0)
        best = Clue("state", FAMILIES["state"], 0.0, 1.0)
        # Trees are quick, but coarse: what they think possible is looked at with the better model.
        for lag in sorted(errors, key=lambda lag: errors[lag])[: 1 if self._quick else 2]:
            if errors[lag] > 1.05 * now:
                continue
            told = self._forest(self.case.states[self.case.before(lag)], self.known, OF_ACTIONS)
            before, after = self._per_episode(self.left), self._per_episode(self.known - self._model(lag, told)[0])
            gain = float((before - after).sum()) / self.whole
            if gain > best.gain:
                p = _chance(before, after) if after.sum() < CLEARLY * before.sum() else 1.0
                best = Clue("state", f"the state {count(lag, 'step')} ago", gain, min(p * len(LEVEL), 1.0), lag)
        return best

    def thin(self) -> bool:
        """Return whether other episodes are further away than an episode comes in some steps."""
        from scipy.spatial import KDTree  # SciPy takes long to import, and few who import this need it

        case, states = self.case, self.case.states[self.case.rows]
        moved = float(np.median(np.sqrt(((states - case.states[case.before(max(LAGS))]) ** 2).sum(axis=1))))
        apart = np.empty(len(states))
        for fold in np.unique(case.fold):
            other = case.fold != fold
            apart[~other] = KDTree(states[other]).query(states[~other])[0]
        return float(np.median(apart)) > moved

    def repeats(self) -> Clue | None:
        """Return how often numbers are repeated exactly in another state, unless they are few or common anyway."""
        case = self.case
        if case.log.schema.action.kind == "discrete":
            return None
        actions = case.log.actions[case.taken]
        _, number = np.unique(actions, axis=0, return_inverse=True)
        number = number.reshape(-1)
        seen = np.unique(np.stack([number, case.episode], axis=1), axis=0)[:, 0]
        own = np.bincount(seen)[number] == 1
        same = own.copy()
        same[1:] &= (number[1:] == number[:-1]) & (np.abs(np.diff(case.states, axis=0)).max(axis=1) > 1e-6)
        same[case.starts[:-1]] = False
        episodes = np.bincount(case.episode, same, len(case.starts) - 1) > 0
        share = float(same.mean())
        if share < REPEATS or episodes.mean() < 0.5 or len(np.unique(number[own])) < DISTINCT * len(actions):
            return None
        return Clue("repeat", "what it did 1 step ago", share, 0.0, 1)

    def families(self) -> Iterator[tuple[str, Iterator[_Hint]]]:
        """Return everything about the past that may matter."""
        yield "action", self._earlier_actions()
        yield "mode", self._mode()
        yield "event", self._events()
        step = np.arange(len(self.actions)) - self.case.starts[self.case.episode]
        yield "clock", iter([_Hint("clock", FAMILIES["clock"], np.log1p(step[self.case.rows])[:, None])])

    def _earlier_actions(self) -> Iterator[_Hint]:
        case = self.case
        for lag in LAGS:
            done = self.actions[case.before(lag)] * self._far(lag)[:, None]
            yield _Hint("action", f"what it did {count(lag, 'step')} ago", done, lag)
        changed = np.zeros(len(self.actions), bool)
        changed[1:] = (np.abs(np.diff(self.actions, axis=0)) > 1e-9).any(axis=1)
        changed[case.starts[:-1]] = False
        # Seen from the step before: the action itself must not give itself away.
        since = case.each(lambda one: _since(changed[one]))[case.before(1)]
        yield _Hint("change", "how long ago it last changed its action", np.log1p(since)[:, None])

    def _mode(self) -> Iterator[_Hint]:
        """Return by how much the same episode differed from what the state says earlier: in like states, in all."""
        near, mean, alike = np.zeros_like(self.left), np.zeros_like(self.left), np.zeros_like(self.left)
        rows = self.case.rows
        bounds = list(itertools.pairwise(np.searchsorted(rows, self.case.starts).tolist()))
        where = self._process.stretched(self._places)
        fields = np.empty((len(bounds), *self.left.shape))
        for number, (a, b) in enumerate(bounds):
            # How an episode differs from the others, at every state of the log.
            like = np.exp(-0.25 * _squares(where, where[a:b]))
            fields[number] = like @ self.left[a:b] / (like.sum(axis=1, keepdims=True) + 1)
        for number, (a, b) in enumerate(bounds):
            far = _squares(self._where[rows[a:b]], self._where[rows[a:b]]) >= self._apart[a:b, None]
            earlier = ((rows[a:b, None] - rows[a:b] > GAP) & far).astype(np.float64)
            mean[a:b] = earlier @ self.left[a:b] / (earlier.sum(axis=1, keepdims=True) + 1)
            # By how much it has resembled each of the others so far, and what those do here.
            agreed = np.einsum("ts,esk,sk->etk", earlier, fields[:, a:b], self.left[a:b])
            agreed[number] = 0
            size = np.sqrt((agreed**2).sum(axis=0)) + 1e-9
            alike[a:b] = (agreed * fields[:, a:b]).sum(axis=0) / size
            earlier *= np.exp(-0.5 * _squares(where[a:b], where[a:b]))
            near[a:b] = earlier @ self.left[a:b] / (earlier.sum(axis=1, keepdims=True) + 1)
        yield _Hint("mode", FAMILIES["mode"], np.concatenate([near, mean, alike], axis=1))

    def _events(self) -> Iterator[_Hint]:
        """Return what may have happened to features: they were high, or low, or last were the one or the other."""
        pairs = PAIRS if len(self.case.features) <= MANY else PAIRS[:2]
        for feature in self.case.features.tolist():
            yield from self._events_of(feature, pairs)

    def _events_of(self, feature: int, pairs: tuple[tuple[float, float], ...]) -> Iterator[_Hint]:
        case = self.case
        column = case.log.states[case.taken, feature]
        name = case.log.schema.features[feature].name
        values = np.unique(column)
        two = len(values) == 2
        limits = [(float(values[1]), float(values[0]))] if two else [tuple(np.quantile(column, p)) for p in pairs]
        most = case.each(lambda one: np.maximum.accumulate(column[one]))
        least = case.each(lambda one: np.minimum.accumulate(column[one]))
        for high in sorted({high for high, _ in limits}):
            been = f"whether `{name}` has been {f'{high:.3g}' if two else f'above {high:.3g}'}"
            yield _Hint("event", been, (most >= high)[case.rows, None].astype(np.float64), feature=feature)
        for low in sorted({low for _, low in limits}):
            been = f"whether `{name}` has been {f'{low:.3g}' if two else f'below {low:.3g}'}"
            yield _Hint("event", been, (least <= low)[case.rows, None].astype(np.float64), feature=feature)
        for high, low in limits:
            if not two and high > low:
                last = f"whether `{name}` was last above {high:.3g} or below {low:.3g}"
                yield _Hint("hysteresis", last, _side(case, column, high, low)[case.rows, None], feature=feature)


def _side(case: Case, column: F64, high: float, low: float) -> F64:
    """Return 1 where a column was last above the one threshold, -1 where below the other, 0 before either."""
    up = case.each(lambda one: _since(column[one] > high, -1))
    down = case.each(lambda one: _since(column[one] < low, -1))
    side: F64 = np.sign(down - up)
    return side


FAMILIES = {
    "action": "what it did before",
    "state": "the state before",
    "mode": "how it differed from other episodes earlier in the same one",
    "event": "what has happened to a feature",
    "clock": "how many steps the episode has taken",
}
"""What clues of a family are about."""


def _chance(before: F64, after: F64) -> float:
    """Return how often chance takes away as much in episode after episode, by a t test of the shares."""
    from scipy.special import stdtr

    share = (before - after) / (before + after + 0.05 * before.mean() + 1e-300)
    number = len(share)
    score = share.mean() / (share.std(ddof=1) + 0.01) * np.sqrt(number)
    return float(stdtr(number - 1, -score))


def _squares(one: F64, other: F64) -> F64:
    """Return the squared distances of all pairs."""
    squares: F64 = (one**2).sum(axis=1)[:, None] + (other**2).sum(axis=1) - 2 * one @ other.T
    return np.maximum(squares, 0)


def _shrunk(told: F64, known: F64) -> F64:
    """Return predictions, smaller where they exaggerate: what lies beyond the other episodes may be told wrongly."""
    return told * float(np.clip((told * known).sum() / max(float((told**2).sum()), 1e-300), 0, 1))


def _since(event: Bool, never: int = 0) -> F64:
    """Return the steps since the last event; before the first, those since the beginning, or a step more."""
    step = np.arange(len(event))
    last = np.maximum.accumulate(np.where(event, step, never))
    return (step - last).astype(np.float64)


def _scores(column: F64) -> F64:
    """Return ranks as normal scores: agents that hold a state stay in a tiny part of the space, and it matters."""
    from scipy.special import ndtri

    if len(np.unique(column)) <= 2:
        return np.zeros(len(column))
    scores: F64 = ndtri((ranks(column) - 0.5) / len(column))
    return scores


def _along(states: F64, episode: I64, most: int) -> I64:
    """Return rows spread along the ways of the episodes: where an agent rests, one row says what all say."""
    step = np.zeros(len(states))
    step[1:] = np.sqrt((np.diff(states, axis=0) ** 2).mean(axis=1))
    first = np.append(True, np.diff(episode) > 0)
    step[first] = 0
    usual = step[step > 0].mean() if step.any() else 1.0
    way = np.cumsum(np.where(first, 1.0, np.minimum(step / usual, 4) + 0.02))
    mark = np.floor(way / way[-1] * most * (1 - 1e-12))
    return np.flatnonzero(np.append(True, np.diff(mark) > 0))
