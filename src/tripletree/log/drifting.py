"""Does the agent change within the log? Early against late episodes, or group against group, in like states."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tripletree.log.log import Log
from tripletree.log.telling import SMOOTH, Model, case_of, targets_of

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

ROWS, QUICK_ROWS = 6_000, 2_000
MOST_EPISODES, QUICK_EPISODES = 400, 100
SHUFFLES = 1999
LEVEL = 0.01


@dataclass(frozen=True)
class Shift:
    """How two parts of a log differ.

    Attributes
    ----------
    found : bool
        Whether they differ more than chance allows.
    p : float
        How often episodes that are shuffled between the parts differ as much.
    column : int
        The label, or the dimension, of the action that differs most.
    size : float
        By how much: a difference of shares for a label, in the action's own units for a number; later minus earlier.
    feature, threshold, above : int, float, bool
        Where it differs most: the states with the feature above the threshold, or below it.
    there : float
        By how much it differs there.
    parts : (str, str)
        What the parts are called: early and late, or two groups.
    episodes : int
        Episodes that were compared.
    """

    found: bool
    p: float
    column: int
    size: float
    feature: int
    threshold: float
    above: bool
    there: float
    parts: tuple[str, str]
    episodes: int


def drifting(log: Log, quick: bool = False, seed: int = 0) -> Shift | None:
    """Return how the agent changes from early to late episodes, or from group to group; None where a log is too short.

    What other episodes say of each state is taken away first, so that episodes are compared in like states. What is
    left of each episode is shuffled among the parts as a whole.
    """
    case = case_of(log, QUICK_ROWS if quick else ROWS, QUICK_EPISODES if quick else MOST_EPISODES)
    acts = None if case is None else targets_of(case)
    if case is None or acts is None:
        return None
    rng = np.random.default_rng(seed)
    known = acts.columns[case.rows]
    model = Model(case, known, rng)
    left = known - model.predict(known)
    episode = case.episode[case.rows]
    number = len(case.starts) - 1
    through = model.smooth[:, : 1 + SMOOTH]
    signs = (left[:, :, None] * through[:, None, :]).reshape(len(left), -1)
    steps = np.maximum(np.bincount(episode, minlength=number), 1)
    marks = np.stack([np.bincount(episode, column, number) for column in signs.T], axis=1) / np.sqrt(steps)[:, None]
    marks -= marks.mean(axis=0)
    marks /= np.sqrt((marks**2).mean(axis=0)) + 1e-12
    part, names = _parts(log, case.chosen)
    if len(names) < 2:
        return None
    real = _apart(marks, part)
    chance = np.array([_apart(marks, rng.permutation(part)) for _ in range(SHUFFLES)])
    p = float((1 + (chance >= real - 1e-12).sum()) / (SHUFFLES + 1))
    one, other = _furthest(left, part[episode], len(names))
    shift = left[part[episode] == other].mean(axis=0) - left[part[episode] == one].mean(axis=0)
    column = int(np.abs(shift).argmax())
    rows = case.taken[case.rows]
    feature, threshold, above, there = _where(log, rows, left[:, column], part[episode], one, other)
    unit = float(acts.scale[column])
    size = float(shift[column]) * unit
    return Shift(
        p < LEVEL,
        p,
        int(acts.which[column]),
        size,
        feature,
        threshold,
        above,
        there * unit,
        (names[one], names[other]),
        number,
    )


def _parts(log: Log, chosen: I64) -> tuple[I64, list[str]]:
    """Return the part of each episode, and what parts are called."""
    if log.groups is not None:
        found, part = np.unique(log.groups[chosen], return_inverse=True)
        if 2 <= len(found) <= len(chosen) // 2:
            return part.reshape(-1), [str(one) for one in found]
    return (np.arange(len(chosen)) >= len(chosen) / 2).astype(np.int64), ["early", "late"]


def _apart(marks: F64, part: I64) -> float:
    """Return how far the means of the parts are from each other."""
    counts = np.bincount(part)
    sums = np.zeros((len(counts), marks.shape[1]))
    np.add.at(sums, part, marks)
    return float(((sums**2).sum(axis=1) / counts).sum())


def _furthest(left: F64, part: I64, number: int) -> tuple[int, int]:
    """Return the two parts whose actions differ most in like states."""
    means = np.stack([left[part == k].mean(axis=0) for k in range(number)])
    gap = ((means[:, None] - means) ** 2).sum(axis=2)
    one, other = np.unravel_index(int(gap.argmax()), gap.shape)
    return int(one), int(other)


def _where(log: Log, rows: I64, left: F64, part: I64, one: int, other: int) -> tuple[int, float, bool, float]:
    """Return on which side of which feature's median the two parts differ most."""
    best = (0, 0.0, True, 0.0)
    for feature in range(log.n_features):
        column = log.states[rows, feature]
        threshold = float(np.median(column))
        for above, side in ((True, column > threshold), (False, column <= threshold)):
            first, second = side & (part == one), side & (part == other)
            if min(first.sum(), second.sum()) >= 0.1 * min((part == one).sum(), (part == other).sum()):
                there = float(left[second].mean() - left[first].mean())
                if abs(there) > abs(best[3]):
                    best = (feature, threshold, above, there)
    return best
