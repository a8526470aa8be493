"""Questions about any log, asked on training episodes and judged on unseen ones."""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tripletree import Log, TripleTree
from tripletree.asking.places import Zone, read_start, read_zone
from tripletree.graph import chain as chains
from tripletree.graph import count
from tripletree.graph.chain import Chain
from tripletree.graph.futures import CENSORED, REACHED, outcomes, read_rows
from tripletree.log.recording import Recording
from tripletree.model.evaluate import transitions_on
from tripletree.questions.evidence import Evidence

FEATURES = 6
"""Features that questions are about: those with the most values."""
FEWEST = 20
"""Unseen episodes that must come through a start: with fewer, nobody knows the truth."""
SHORTEST = 5.0
"""Steps that a time must have to be judged by its relative error: half a step more or less is no error of 20 %."""
KNOWN = 0.05
"""A mean time counts as known when its interval over all episodes of the log reaches at most this far, as a share."""
TURNS = (10, 50, 150)
"""Steps after which `after` is judged."""
DIVISIONS = 3
"""How often all episodes are divided anew, to see how far apart chance alone puts two parts."""
STATES = 100
"""Unseen states to start from, in each division of the log."""
LEARNT = 10_000
"""Training steps that boosted trees learn each question from, as a yardstick."""


@dataclass(frozen=True)
class Asked:
    """What one question was answered, and what is known of the truth.

    ``question`` is the start, the goal and within how many steps, and ``text`` says it in words.
    ``low`` and ``high`` are the interval on training episodes, ``unseen_low`` and ``unseen_high`` that of the unseen
    share or mean.
    """

    question: tuple[Any, Any, int | None]
    text: str
    count: float
    low: float
    high: float
    unseen: float
    unseen_low: float
    unseen_high: float
    chain: float | None


@dataclass(eq=False)
class Setting:
    """A tree grown on two thirds of the episodes, with what it knows of them and with the unseen third."""

    tree: TripleTree
    training: Log
    unseen: Log

    @classmethod
    def of(cls, log: Log, leaves: int, seed: int) -> Setting:
        """Split a log by episodes and grow a tree."""
        training, unseen = log.split(1 / 3, seed)
        return cls(TripleTree(leaves, threads=1).fit(training), training, unseen)

    @cached_property
    def found(self) -> Evidence:
        """What the model kept of the training episodes: its track, decoded."""
        track = self.tree.fitted_.track
        return Evidence.of(self.tree.fitted_, Recording.of(self.training) if track is None else track.recording)

    @cached_property
    def truth(self) -> Evidence:
        """The unseen episodes."""
        return Evidence.of(self.tree.fitted_, Recording.of(self.unseen))

    @cached_property
    def transitions(self) -> Any:
        """The moves of the training episodes, for the chain."""
        return transitions_on(self.tree.fitted_, None, 1)

    @cached_property
    def horizons(self) -> tuple[int, ...]:
        """An eighth of the typical episode, and half of it."""
        typical = float(np.median(np.diff(self.training.starts)))
        return tuple(sorted({max(round(typical / 8), 1), max(round(typical / 2), 1)}))

    def zone(self, wanted: Any) -> Zone:
        """Return a zone of states, or the end."""
        return read_zone(self.tree.fitted_, wanted, "reach", may_be_empty=True)


def zones(log: Log) -> tuple[list[Any], list[Any]]:
    """Return starts and goals that divide any log: each feature's outer quarters, and pairs of halves; the end.

    Starts: where episodes begin, the lower and upper quarter of each feature, and halves of neighbouring features at
    once. Goals: the end, the lower and upper eighth of each feature. A feature with two values is at its larger one.
    """
    values = [len(np.unique(column)) for column in log.states.T]
    order = sorted((f for f, n in enumerate(values) if n > 1), key=lambda f: (-values[f], f))[:FEATURES]
    names = log.schema.feature_names

    def side(f: int, share: float, above: bool) -> dict[str, tuple[float | None, float | None]]:
        column = log.states[:, f]
        if values[f] == 2:
            middle = float(column.min() + column.max()) / 2
        else:
            # Three digits, so that the questions can be read.
            middle = float(f"{np.quantile(column, 1 - share if above else share):.3g}")
        return {names[f]: (middle, None) if above else (None, middle)}

    quarters = [side(f, 0.25, above) for f in sorted(order) for above in (False, True)]
    pairs = [
        side(f, 0.5, above) | side(g, 0.5, not above) for f, g in itertools.pairwise(sorted(order)) for above in (0, 1)
    ]
    eighths = [side(f, 0.125, above) for f in sorted(order) for above in (False, True)]
    return [None, *quarters, *pairs], ["end", *eighths]


def ask_chances(setting: Setting) -> tuple[list[Asked], int, tuple[float, float]]:
    """Ask for the chance of every goal from every start within each horizon; return also how many are left out.

    Left out are questions with fewer than ``FEWEST`` unseen episodes at the start, or with an unseen share that the
    recording leaves open, and those whose start lies in the goal for the most part. Last come the seconds a question
    that the count and the chain took.
    """
    starts, goals = zones(setting.training)
    asked, left_out, spent = list[Asked](), 0, np.zeros(2)
    chain = Chain.of(setting.transitions)
    for start, goal, within in itertools.product(starts, goals, setting.horizons):
        zone = setting.zone(goal)
        truth = count.chance(
            setting.truth.episodes, setting.truth.visits(start).rows, setting.truth.event(zone), None, within
        )
        if truth.episodes < FEWEST or truth.unresolved > 0.01 or _there(setting.truth, start, zone):
            left_out += 1
            continue
        clock = time.process_time()
        visits = setting.found.visits(start)
        answer = count.chance(setting.found.episodes, visits.rows, setting.found.event(zone), None, within)
        middle = time.process_time()
        begin = read_start(setting.tree.fitted_, setting.transitions, start)
        guess = float(begin.share @ chains.reach_within(chain, zone.mask, within))
        spent += middle - clock, time.process_time() - middle
        text = f"{zone.text} within {within} steps of {visits.text}"
        asked.append(
            Asked(
                (start, goal, within),
                text,
                answer.probability,
                *answer.interval,
                truth.probability,
                *truth.interval,
                guess,
            )
        )
    return asked, left_out, tuple(spent / max(len(asked), 1))


def ask_steps(setting: Setting) -> tuple[list[Asked], int]:
    """Ask how long each goal takes from each start, if it is reached; questions are left out as above.

    In ``FEWEST`` unseen episodes it must be reached, after ``SHORTEST`` steps on average or more.
    """
    starts, goals = zones(setting.training)
    asked, left_out = list[Asked](), 0
    chain = Chain.of(setting.transitions)
    for start, goal in itertools.product(starts, goals):
        zone = setting.zone(goal)
        truth = count.steps(setting.truth.episodes, setting.truth.visits(start).rows, setting.truth.event(zone))
        answer = count.steps(setting.found.episodes, setting.found.visits(start).rows, setting.found.event(zone))
        if truth.mean is None or truth.arrived < FEWEST or truth.mean < SHORTEST or _there(setting.truth, start, zone):
            left_out += 1
            continue
        probability, weighted = chains.steps_to(chain, zone.mask)
        share = read_start(setting.tree.fitted_, setting.transitions, start).share
        arriving = float(share @ probability)
        text = f"{zone.text} from {setting.truth.visits(start).text}"
        asked.append(
            Asked(
                (start, goal, None),
                text,
                np.inf if answer.mean is None else answer.mean,
                *(answer.interval or (0.0, np.inf)),
                truth.mean,
                *(truth.interval or (0.0, np.inf)),
                float(share @ weighted) / arriving if arriving > 0 else None,
            )
        )
    return asked, left_out


def resampled(
    setting: Setting, asked: Sequence[Asked], times: bool, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return by how much the answers of two random parts of all episodes differ, shape (``DIVISIONS``, questions).

    The parts are as large as training and unseen episodes: no answer from training episodes is expected to be nearer
    to the unseen ones than that. Shares are subtracted; ``times`` are compared by their ratio. Also return how far the
    intervals of the means over all episodes reach, as shares of them; 0 for shares.
    """
    whole = Evidence.of(setting.tree.fitted_, Recording.of(Log.concatenate([setting.training, setting.unseen])))
    n = setting.training.n_episodes
    parts = [rng.permutation(n + setting.unseen.n_episodes) < n for _ in range(DIVISIONS)]
    found, reach = np.zeros((DIVISIONS, len(asked))), np.zeros(len(asked))
    for at, one in enumerate(asked):
        start, goal, within = one.question
        rows = read_rows(whole.visits(start).rows)
        event, episode = whole.event(setting.zone(goal)), whole.episodes.of_row[rows]
        if times:
            every = count.steps(whole.episodes, rows, event)
            reach[at] = np.inf if every.mean is None or every.interval is None else every.interval[1] / every.mean - 1
        for division, part in enumerate(parts):
            sides = [rows[part[episode]], rows[~part[episode]]]
            if times:
                one_mean, other = (count.steps(whole.episodes, side, event).mean for side in sides)
                found[division, at] = abs(one_mean / other - 1) if one_mean and other else np.nan
            else:
                shares = [count.chance(whole.episodes, side, event, None, within).probability for side in sides]
                found[division, at] = abs(shares[0] - shares[1]) if None not in shares else np.nan
    return found, reach


def ask_after(setting: Setting, rng: np.random.Generator) -> list[tuple[int, float, float, float]]:
    """Return for each number of steps how far the count, the chain and mere resampling are from the unseen shares.

    Distances between distributions over the leaves and the end: half the sum of the differences. Resampling: all
    episodes, divided anew at random into as many as there are training and unseen ones.
    """
    leaves = setting.tree.n_leaves_
    start = read_start(setting.tree.fitted_, setting.transitions, None).share
    found = []
    for k in TURNS:
        sides = [_places(one, k, leaves) for one in (setting.found, setting.truth)]
        said = chains.after(Chain.of(setting.transitions), start, k)
        whole = np.concatenate(sides)
        again = []
        for _ in range(20):
            rng.shuffle(whole)
            again.append(_apart(_shares(whole[: len(sides[0])], leaves), _shares(whole[len(sides[0]) :], leaves)))
        truth = _shares(sides[1], leaves)
        found.append((k, _apart(_shares(sides[0], leaves), truth), _apart(said, truth), float(np.mean(again))))
    return found


def ask_states(setting: Setting, rng: np.random.Generator) -> np.ndarray:
    """Start at single unseen states; a column for each goal that a state is not in, within each horizon.

    Rows are what the count, the chain, boosted trees and the mean of all training steps say, and what came. Outcomes
    that the recording cut off are left out. Boosted trees learn every question by itself, which nobody who asks a
    model file can: they show what is to be had. They are NaN without scikit-learn.
    """
    unseen, training = setting.truth, setting.found
    rows = rng.permutation(setting.unseen.n_samples)[:STATES]
    near = [training.visits(setting.unseen.states[row]).rows for row in rows]
    chain = Chain.of(setting.transitions)
    every = np.arange(training.recording.n_samples)
    _, goals = zones(setting.training)
    table = []
    for goal in goals:
        zone = setting.zone(goal)
        event = training.event(zone)
        took, how = outcomes(unseen.episodes, rows, unseen.event(zone), None)
        times, causes = outcomes(training.episodes, every, event, None)
        for within in setting.horizons:
            asked = (took > 0) & ~((how == CENSORED) & (took < within))
            said = chains.reach_within(chain, zone.mask, within)[unseen.leaf[rows]]
            usual = count.chance(training.episodes, every, event, None, within).probability
            known = np.flatnonzero((times > 0) & ~((causes == CENSORED) & (times < within)))
            learnt = rng.permutation(known)[:LEARNT]
            came = (causes[learnt] == REACHED) & (times[learnt] <= within)
            boosted = _boosted(training.recording.states[learnt], came, setting.unseen.states[rows])
            for i in np.flatnonzero(asked):
                counted = count.chance(training.episodes, near[i], event, None, within).probability
                table.append((counted, said[i], boosted[i], usual, how[i] == REACHED and took[i] <= within))
    return np.array(table, np.float64).reshape(-1, 5).T


def _boosted(states: np.ndarray, came: np.ndarray, asked: np.ndarray) -> np.ndarray:
    try:
        from sklearn.ensemble import HistGradientBoostingClassifier
    except ImportError:
        return np.full(len(asked), np.nan)
    if not came.any() or came.all():
        return np.full(len(asked), float(came.any()))
    from threadpoolctl import threadpool_limits

    # Its threads wait for each other by spinning: on a busy machine one is faster than two.
    with threadpool_limits(1):
        model = HistGradientBoostingClassifier(max_iter=60, random_state=0).fit(states, came)
        return np.asarray(model.predict_proba(asked)[:, 1])


def auc(score: Sequence[float], wrong: Sequence[bool]) -> float | None:
    """Return the probability that a wrong answer has the higher score than a right one; None without both."""
    scores, bad = np.asarray(score), np.asarray(wrong, bool)
    if bad.all() or not bad.any():
        return None
    pairs = scores[bad][:, None] - scores[~bad]
    return float((pairs > 0).mean() + (pairs == 0).mean() / 2)


def calibration_error(said: np.ndarray, came: np.ndarray, groups: int = 10) -> float:
    """Return how far what came is from what was said, on average over tenths of the scale, by their answers."""
    group = np.minimum((said * groups).astype(int), groups - 1)
    return float(np.abs(np.bincount(group, said - came, groups)).sum() / len(said))


def _there(found: Evidence, start: Any, zone: Zone) -> bool:
    rows = found.visits(start).rows
    return float(found.event(zone).rows[rows].mean()) > 0.5


def _places(found: Evidence, k: int, leaves: int) -> np.ndarray:
    """Return where each episode is after so many steps: a leaf, or the end; those cut off before are left out."""
    first, stop = found.recording.starts[:-1], found.recording.starts[1:]
    at = first + k
    place = np.where(at < stop, found.leaf[np.minimum(at, len(found.leaf) - 1)], leaves)
    known = (at < stop) | found.episodes.terminated
    return place[known]


def _shares(places: np.ndarray, leaves: int) -> np.ndarray:
    return np.bincount(places, minlength=leaves + 1) / max(len(places), 1)


def _apart(one: np.ndarray, other: np.ndarray) -> float:
    return float(np.abs(one - other).sum() / 2)
