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
from tripletree.graph.futures import CENSORED, REACHED, Groups, incidence, outcomes, read_rows
from tripletree.log.recording import Recording
from tripletree.model.evaluate import transitions_on
from tripletree.questions.evidence import Evidence

FEATURES = 6
"""Features that questions are about: those with the most values."""
FEWEST = 20
"""Unseen episodes that must come through a start: with fewer, nobody knows the truth."""
SHORTEST = 5.0
"""Steps that a time must have to be judged by its relative error: half a step more or less is no error of 20 %."""
TURNS = (10, 50, 150)
"""Steps after which `after` is judged."""
DRAWS, SAMPLE = 40, 60
"""Drawn chains behind an interval of the chain, and questions of which its intervals are checked: each is slow."""
DIVISIONS = 3
"""How often all episodes are divided anew, to see how far apart chance alone puts two parts."""
STATES = 200
"""Unseen states to start from."""


@dataclass(frozen=True)
class Asked:
    """What one question was answered, and what is known of the truth.

    ``question`` is the start, the goal and within how many steps, and ``text`` says it in words.
    ``low`` and ``high`` are the interval on training episodes, ``unseen_low`` and ``unseen_high`` that of the unseen
    share or mean, and ``chain_low`` and ``chain_high`` that of the chain, where it was asked for.
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
    chain_low: float | None = None
    chain_high: float | None = None


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


def ask_chances(setting: Setting, rng: np.random.Generator) -> tuple[list[Asked], int, tuple[float, float]]:
    """Ask for the chance of every goal from every start within each horizon; return also how many are left out.

    Left out are questions with fewer than ``FEWEST`` unseen episodes at the start, or with an unseen share that the
    recording leaves open, and those whose start lies in the goal for the most part. Last come the seconds a question
    that the count and the chain took.
    """
    starts, goals = zones(setting.training)
    asked, left_out, spent = list[Asked](), 0, np.zeros(2)
    product = list(itertools.product(starts, goals, setting.horizons))
    chosen = set(rng.permutation(len(product))[:SAMPLE].tolist())
    chain = Chain.of(setting.transitions)
    for number, (start, goal, within) in enumerate(product):
        zone = setting.zone(goal)
        truth = count.chance(
            setting.truth.episodes, setting.truth.visits(start).rows, setting.truth.event(zone), None, within
        )
        if truth.episodes < FEWEST or truth.unresolved > 0.01 or _there(setting.truth, start, zone):
            left_out += 1
            continue
        clock = time.perf_counter()
        visits = setting.found.visits(start)
        answer = count.chance(setting.found.episodes, visits.rows, setting.found.event(zone), None, within)
        middle = time.perf_counter()
        begin = read_start(setting.tree.fitted_, setting.transitions, start)
        guess = float(begin.share @ chains.reach_within(chain, zone.mask, within))
        spent += middle - clock, time.perf_counter() - middle
        bounds: tuple[float | None, ...] = (None, None)
        if number in chosen:

            def said(drawn: Chain, share: Any, zone: Zone = zone, within: int = within) -> float:
                return float(share @ chains.reach_within(drawn, zone.mask, within))

            drawn = chains.interval(setting.transitions, said, begin.share, DRAWS, rng, begin.episodes)
            bounds = (float(drawn[0]), float(drawn[1]))
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
                *bounds,
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


def resampled(setting: Setting, asked: Sequence[Asked], times: bool, rng: np.random.Generator) -> np.ndarray:
    """Return by how much the answers of two random parts of all episodes differ, shape (``DIVISIONS``, questions).

    The parts are as large as training and unseen episodes: no answer from training episodes is expected to be nearer
    to the unseen ones than that. Shares are subtracted; ``times`` are compared by their ratio.
    """
    whole = Evidence.of(setting.tree.fitted_, Recording.of(Log.concatenate([setting.training, setting.unseen])))
    n = setting.training.n_episodes
    parts = [rng.permutation(n + setting.unseen.n_episodes) < n for _ in range(DIVISIONS)]
    found = np.zeros((DIVISIONS, len(asked)))
    for at, one in enumerate(asked):
        start, goal, within = one.question
        rows = read_rows(whole.visits(start).rows)
        event, episode = whole.event(setting.zone(goal)), whole.episodes.of_row[rows]
        for division, part in enumerate(parts):
            sides = [rows[part[episode]], rows[~part[episode]]]
            if times:
                one_mean, other = (count.steps(whole.episodes, side, event).mean for side in sides)
                found[division, at] = abs(one_mean / other - 1) if one_mean and other else np.nan
            else:
                shares = [count.chance(whole.episodes, side, event, None, within).probability for side in sides]
                found[division, at] = abs(shares[0] - shares[1]) if None not in shares else np.nan
    return found


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


def ask_states(setting: Setting, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Start at single unseen states: what the count, the chain and the mean of all training steps say, and what came.

    Every goal that the state is not in, within each horizon; outcomes that the recording cut off are left out.
    """
    fitted, unseen, training = setting.tree.fitted_, setting.truth, setting.found
    rows = rng.permutation(setting.unseen.n_samples)[:STATES]
    near = [training.visits(setting.unseen.states[row]).rows for row in rows]
    leaf = unseen.leaf[rows]
    chain = Chain.of(setting.transitions)
    _, goals = zones(setting.training)
    table = []
    for goal, within in itertools.product(goals, setting.horizons):
        zone = read_zone(fitted, goal, "reach", may_be_empty=True)
        took, how = outcomes(unseen.episodes, rows, unseen.event(zone), None)
        every = np.arange(training.recording.n_samples)
        times, causes = outcomes(training.episodes, every, training.event(zone), None)
        usual = incidence(times, causes, within, Groups.of(training.episodes.of_row))[0]
        said = chains.reach_within(chain, zone.mask, within)[leaf]
        for i, at in enumerate(near):
            if (how[i] == CENSORED and took[i] < within) or took[i] == 0:
                continue
            groups = Groups.of(training.episodes.of_row[at])
            counted = incidence(times[at], causes[at], within, groups)[0]
            table.append((counted, said[i], usual, how[i] == REACHED and took[i] <= within))
    return tuple(np.array(table, np.float64).T)


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
