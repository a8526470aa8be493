"""Does what an agent does depend on what came before? Whether the past tells something that the state does not.

The past helps to predict any agent: no model of what it does in a state is perfect, and its errors last for several
steps. So the state gets models that err in different ways, one on top of the other: bagged trees, logistic regressions,
and a Gaussian process with their prediction among its columns. Clues from the past lose what the state tells of them,
too; what is left of both must go together, in episode after episode, always judged by what other episodes taught. Modes
and events are judged once more by what surprises even those who have seen the steps before: how long errors of the
models last is known, from the process. A delay is told by the whole state some steps ago: of an agent without memory,
that hardly ever tells more than the state now.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tripletree.log.forest import forest
from tripletree.log.happenings import CLOCK, Hint, clocks, events, finer
from tripletree.log.leftovers import Leftovers, Told
from tripletree.log.log import Log
from tripletree.log.modes import guesses, habits
from tripletree.log.process import Process
from tripletree.log.straight import straight
from tripletree.log.telling import Case, case_of, ranks, targets_of
from tripletree.text import count

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]

ROWS, QUICK_ROWS = 6_000, 2_000
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
FUNCTIONS = 100
"""Functions of the state that tell what it says of a clue."""
TOO_RARE = 1e-3
"""Of a clue that varies by less, beyond the state, nothing can be said."""


class Bar(NamedTuple):
    """What a family of clues must reach to count as memory.

    Attributes
    ----------
    level : float
        How often chance alone may do as well.
    least, part : float
        The share that it must explain, of the variation of the actions and of what the state leaves of it.
    """

    level: float
    least: float
    part: float


BARS = {
    "state": Bar(0.01, 0.02, 0.03),
    "action": Bar(0.002, 0.03, 0.05),
    "clock": Bar(0.004, 0.02, 0.03),
    "mode": Bar(0.001, 0.01, 0.02),
    "event": Bar(0.003, 0.01, 0.02),
    "surprising mode": Bar(0.015, 0.003, 0.008),
    "surprising event": Bar(0.005, 0.01, 0.02),
}
"""As their false alarms in agents without memory allow. Where the rows before have had their say, little is enough."""
LEVEL = sum(bar.level for bar in BARS.values())
KEPT, DOUBTFUL = 0.25, 4.0
"""A mode or a clock of which less than this share is surprising must explain so many times the part of its bar.

Where models of the state leave much, as of an agent that chatters, a little of that is theirs.
"""
POSSIBLE = 1.05
"""Of what few trees leave of the state now, what they may leave of the state some steps ago, if that is to be tried."""
CLEARLY = 0.9
"""The state some steps ago must leave less than this share of what the state now leaves."""
DELAYED, SPECIFIC = 0.9, 0.4
"""What explains this share of what the best clue explains is named: a delay, and anything else but earlier actions."""
OF_ACTIONS = 3
"""Least rows of a leaf of the trees."""
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
        How often chance alone does as well, over the kinds that were tried, each with its share of the level.
    lag : int
        How many steps ago; 0 where that is not the point.
    feature : int
        Position of the feature; -1 where it is not about one.
    at_least : bool
        Whether the gain leaves out what the steps before tell in any agent, memory or not.
    """

    kind: str
    text: str
    gain: float
    p: float
    lag: int = 0
    feature: int = -1
    at_least: bool = False


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
    agent = Agent(case, acts.columns, quick, seed)
    clues = {family: clue for family, clue in agent.clues() if clue is not None}
    alike = {family: max(clue.gain, agent.alike.get(family, 0.0)) for family, clue in clues.items()}
    shown = {family: gain for family, gain in alike.items() if clues[family].p < LEVEL}
    if agent.unexplained > BLIND and agent.thin():
        shown = {}
    first = None if "state" in shown else agent.repeats()
    if first is None and shown:
        first = clues[_most_telling(shown)]
    ranked = sorted(clues.values(), key=lambda clue: -clue.gain)
    best: dict[str, Clue] = {}
    for clue in ranked if first is None else [first, *ranked]:
        best.setdefault(_family(clue.kind), clue)
    return Evidence(tuple(best.values()), first is not None, agent.unexplained, len(case.starts) - 1, len(case.taken))


def _family(kind: str) -> str:
    return {"repeat": "action", "change": "clock", "hysteresis": "event"}.get(kind, kind)


def _most_telling(gains: dict[str, float]) -> str:
    """Return the family to name: a delay if nothing tells more, and rather anything than earlier actions."""
    if gains.get("state", 0.0) >= DELAYED * max(gains.values()):
        return "state"
    least = SPECIFIC * max(gains.values())
    other = [family for family in gains if family not in ("action", "state") and gains[family] >= least]
    return max(other or gains, key=lambda family: gains[family])


class Agent:
    """What an agent does in the part of a log that is looked at, and what the state leaves unexplained."""

    def __init__(self, case: Case, actions: F64, quick: bool, seed: int) -> None:
        self.case, self._quick, self._seed = case, quick, seed
        self._trees = QUICK_TREES if quick else TREES
        self.alike: dict[str, float] = {}
        """What families that are judged by what surprises explain beyond the state alone, as the others do."""
        self.actions = actions / np.sqrt(actions[case.rows].var(axis=0).mean())
        self.known = self.actions[case.rows]
        self.known = self.known - self.known.mean(axis=0)
        self.episode = case.episode[case.rows]
        self.whole = float((self.known**2).sum())
        self._scores = np.stack([_scores(column) for column in case.states.T], axis=1)
        self._straight: dict[int, F64] = {}
        predicted, process, places = self._model(0)
        left = self.known - predicted
        self.unexplained = float((left**2).sum()) / self.whole
        self._left = left
        basis = process.functions(places, FUNCTIONS)
        self.leftovers = Leftovers(left, basis, case.fold, self.episode, self.whole)
        self.surprises = self.leftovers.but(process.surprises(self.leftovers.left, places, self.episode))
        plain = np.concatenate([np.clip(case.states, -6, 6), self._scores], axis=1)
        self._where = process.stretched(plain)
        self._apart = self._to_others(self._where[case.rows])

    def _opinion(self, lag: int, trees: int | None = None) -> F64:
        """Return what trees, and regressions where these know better, say of the state so many steps ago."""
        case, states = self.case, self.case.states[self.case.before(lag)]
        rough = forest(states, self.known, case.fold, self.episode, trees or self._trees, OF_ACTIONS, self._seed)
        # Few trees and many are asked about the same lags, and regressions take longest.
        if lag not in self._straight:
            self._straight[lag] = straight(states, self.known, case.log.schema.action.kind == "discrete", case.fold)
        return rough + _shrunk(self._straight[lag] - rough, self.known - rough)

    def _model(self, lag: int) -> tuple[F64, Process, F64]:
        """Return what the state so many steps ago tells of each judged row, by other episodes."""
        before, case, opinion = self.case.before(lag), self.case, self._opinion(lag)
        # What hardly varies, such as a label that is rare, must not count as much as what does.
        spread = np.maximum(opinion.std(axis=0), 0.01)
        places = np.concatenate([np.clip(case.states[before], -6, 6), self._scores[before], opinion / spread], axis=1)
        chosen = _along(places[:, : case.states.shape[1]], self.episode, QUICK_PLACES if self._quick else PLACES)
        known = self.known[chosen]
        steps, searched = (QUICK_STEPS, QUICK_SEARCHED) if self._quick else (STEPS, SEARCHED)
        process = Process(places[chosen], known, self.episode[chosen], steps, searched)
        told = opinion + _shrunk(process.predict(places, self.episode) - opinion, self.known - opinion)
        return _shrunk(told, self.known), process, places

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

    def clues(self) -> Iterator[tuple[str, Clue | None]]:
        """Return what each family of clues tells."""
        yield "state", self.delay()
        actions = list(self._earlier_actions())
        yield "action", self.clue("action", self.leftovers.by_guesses([hint.columns for hint in actions]), actions)
        yield "clock", self._clock()
        yield from self._modes()
        yield from self._events()

    def _clock(self) -> Clue | None:
        hints = list(clocks(self.case, self.actions))
        told, again = self._by_columns(self.leftovers, hints), self._by_columns(self.surprises, hints)
        if told is None:
            return None
        return self.clue("clock", told, hints, surprising=0.0 if again is None else again.gain)

    def _modes(self) -> Iterator[tuple[str, Clue]]:
        case = self.case
        modes = guesses(self.leftovers, case.rows, case.starts, self._where[case.rows], self._apart)
        mode = Hint("mode", FAMILIES["mode"], modes[0])
        told, again = self.leftovers.by_guesses(modes), self.surprises.by_guesses(modes)
        yield "mode", self.clue("mode", told, [mode] * len(modes), surprising=again.gain)
        habit = [habits(self.leftovers)]
        told, whole = self.surprises.by_guesses(habit), self.leftovers.by_guesses(habit)
        yield "surprising mode", self.clue("surprising mode", told, [mode], whole.gain)

    def _events(self) -> Iterator[tuple[str, Clue | None]]:
        hints = list(events(self.case))
        told = self._by_columns(self.leftovers, hints)
        if told is None:
            return
        near = [] if self._quick else list(finer(self.case, [hints[k] for k in told.chosen]))
        closer = self._by_columns(self.leftovers, near) if near else None
        if closer is not None:
            told, hints = closer, near
        yield "event", self.clue("event", told, hints)
        again = self._by_columns(self.surprises, hints)
        if again is not None:
            yield "surprising event", self.clue("surprising event", again, hints, told.gain)

    def _by_columns(self, leftovers: Leftovers, hints: list[Hint]) -> Told | None:
        """Return what clues tell that are columns, and may mean different things in different states."""
        columns = np.stack([hint.columns for hint in hints], axis=1)
        where = np.stack([np.ones(len(columns), bool) if h.where is None else h.where for h in hints], axis=1)
        varied = np.flatnonzero(((leftovers.beyond(columns) * where) ** 2).mean(axis=0) > TOO_RARE)
        if not len(varied):
            return None
        told = leftovers.by_clues(columns[:, varied], where[:, varied].astype(np.float64))
        return told._replace(chosen=varied[told.chosen].tolist())

    def clue(
        self,
        family: str,
        told: Told,
        hints: list[Hint],
        alike: float | None = None,
        surprising: float = np.inf,
    ) -> Clue:
        """Return what was told, named after the clue that most folds chose, with a p over all families.

        One that explains too little to count as memory has a p of 1. Of what surprises, ``alike`` is what the same
        explains beyond the state alone. Of others, ``surprising`` is how much of what it explains surprises.
        """
        best = hints[int(np.bincount(told.chosen).argmax())]
        bar = BARS[family]
        part = bar.part if surprising >= KEPT * told.gain else DOUBTFUL * bar.part
        counts = told.gain >= max(bar.least, part * self.unexplained)
        p = min(told.p * LEVEL / bar.level, 1.0) if counts else 1.0
        if alike is not None:
            self.alike[family] = alike
        gain = min(told.gain, self.unexplained)
        return Clue(best.kind, best.text, gain, p, best.lag, best.feature, alike is not None)

    def delay(self) -> Clue:
        """Return by how much the whole state some steps ago tells more than the state now."""
        errors = {}
        for lag in (0, *DELAYS):
            errors[lag] = float(((self.known - self._opinion(lag, GLANCE)) ** 2).sum())
        now = errors.pop(0)
        # Few trees are quick, but coarse: what they think possible is looked at with the better model.
        likely = sorted(errors, key=lambda lag: errors[lag])[: 1 if self._quick else 2]
        found = [self.late(lag) for lag in likely if errors[lag] <= POSSIBLE * now]
        best = max(found, key=lambda clue: clue.gain, default=None)
        return best if best is not None and best.gain > 0 else Clue("state", FAMILIES["state"], 0.0, 1.0)

    def late(self, lag: int) -> Clue:
        """Return by how much the whole state so many steps ago tells more than the state now."""
        before, after = self._per_episode(self._left), self._per_episode(self.known - self._model(lag)[0])
        gain = float((before - after).sum()) / self.whole
        p = _chance(before, after) if after.sum() < CLEARLY * before.sum() else 1.0
        late = Hint("state", f"the state {count(lag, 'step')} ago", self.known, lag)
        return self.clue("state", Told(gain, p, [0]), [late])

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

    def _earlier_actions(self) -> Iterator[Hint]:
        for lag in LAGS:
            done = self.actions[self.case.before(lag)] * self._far(lag)[:, None]
            yield Hint("action", f"what it did {count(lag, 'step')} ago", done, lag)


FAMILIES = {
    "action": "what it did before",
    "state": "the state before",
    "mode": "how it differed from other episodes earlier in the same one",
    "event": "what has happened to a feature",
    "clock": CLOCK,
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
