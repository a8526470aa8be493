"""The comparison of two logs beside a slow one that does just what the manual says, division by division."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from tests.questions.test_diff import simulated
from tripletree import diff
from tripletree.log.shuffling import shuffles_of
from tripletree.questions.comparing import FARTHEST, LEVELS, strength
from tripletree.questions.diff import _policy, _world
from tripletree.questions.two_logs import pair_of


def left_over(inputs, target):
    """Return what least squares leave of a target."""
    design = np.column_stack([np.ones(len(inputs)), inputs])
    return target - design @ np.linalg.lstsq(design, target, rcond=None)[0]


def standardized(column):
    spread = column.std()
    return np.clip((column - column.mean()) / spread, -FARTHEST, FARTHEST) if spread > 1e-9 else 0 * column


def sums_by_episode(problem):
    """Return what each episode adds to each statistic: a list of arrays, one number for each episode."""
    found = []
    episodes = range(len(problem.new))
    for n_leaves in LEVELS:
        leaf = problem.level(n_leaves).leaf
        for place in np.unique(leaf):
            rows = np.flatnonzero(leaf == place)
            inputs, episode = problem.inputs[rows], problem.unit[rows]
            for target in problem.targets.T:
                rest = left_over(inputs, target[rows] / target.std())
                if np.abs(rest).max() < 1e-7:
                    continue  # the inputs tell all but rounding
                leans = [rest * standardized(column) for column in inputs.T]
                marks = (rest, left_over(inputs, np.abs(rest)), *leans)
                found += [np.array([mark[episode == one].sum() for one in episodes]) for mark in marks]
    return found


def slow_strengths(problem):
    """Return the largest statistic of every division of the episodes, and which division is the real one."""
    number, size = len(problem.new), int(problem.new.sum())
    divisions = [set(chosen) for chosen in combinations(range(number), size)]
    strengths = np.zeros(len(divisions))
    for sums in sums_by_episode(problem):
        expected = sums.sum() * size / number
        apart = np.array([sum(sums[one] for one in chosen) - expected for chosen in divisions])
        usual = np.sqrt(np.mean(apart**2))
        if usual > 1e-9 * np.abs(sums).max():
            strengths = np.maximum(strengths, np.abs(apart) / usual)
    return strengths, divisions.index(set(np.flatnonzero(problem.new).tolist()))


@pytest.mark.parametrize("discrete", [False, True])
@pytest.mark.parametrize(("seed", "sizes"), [(1, (4, 4)), (2, (3, 6)), (3, (5, 2))])
def test_matrix_products_are_what_the_slow_way_finds(seed, sizes, discrete):
    old = simulated(sizes[0], 10 * seed, discrete=discrete)
    new = simulated(sizes[1], 10 * seed + 1, discrete=discrete, gain=0.7)
    pair = pair_of(old, new)
    shuffles = shuffles_of(pair.new, pair.block, np.random.default_rng(0))
    said = diff(old, new)
    for name, problem in (("policy", _policy(pair)), ("world", _world(pair))):
        assert problem.level(LEVELS[-1]).size >= 4
        slow, real = slow_strengths(problem)
        fast = strength(problem, shuffles)
        assert len(fast) == len(slow)
        assert fast[0] == pytest.approx(slow[real], rel=1e-5)
        assert np.sort(fast) == pytest.approx(np.sort(slow), rel=1e-5)
        assert said[name].p == pytest.approx(np.mean(slow >= slow[real] * (1 - 1e-7)))
