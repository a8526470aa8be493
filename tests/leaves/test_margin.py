"""Margins: a jackknife over groups of episodes, against one that really leaves them out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.logs import random_log
from tests.test_api import quietly_fitted
from tripletree import Log
from tripletree.model.evaluate import on_unseen

STUDENT = {2: 12.706, 3: 4.303, 10: 2.262}


def shares(tree, log: Log):
    losses, alone = tree.losses(log), tree.losses(log, 1)
    return 1 - losses / np.where(alone > 0, alone, 1.0)


@pytest.mark.parametrize("dimensions", [0, 2])
@pytest.mark.parametrize("leaf_model", ["linear", "mean"])
@pytest.mark.parametrize(("episodes", "groups"), [(2, 2), (3, 3), (10, 10), (25, 10)])
def test_margins_are_those_of_leaving_episodes_out(dimensions, leaf_model, episodes, groups):
    walk = random_log(1, lengths=tuple(20 + k % 7 for k in range(30)), dimensions=dimensions)
    tree = quietly_fitted(walk, max_leaves=8, truncation="paper", leaf_model=leaf_model)
    # Episodes that it has seen, so that it is sure to beat a single leaf on them.
    log = walk.select(slice(0, episodes))
    group = np.arange(episodes) * groups // episodes
    left_out = np.array([shares(tree, log.select(group != k)) for k in range(groups)])
    error = np.sqrt(((left_out - left_out.mean(axis=0)) ** 2).sum(axis=0) * (groups - 1) / groups)
    found = np.array(on_unseen(tree.fitted_, log, 1).margin)
    claimed = np.isfinite(found)
    np.testing.assert_allclose(found[claimed], STUDENT[groups] * error[claimed], atol=1e-9)
    assert claimed.any() or episodes < 10


def test_one_episode_proves_nothing():
    tree = quietly_fitted(random_log(1, lengths=(40,) * 12), max_leaves=8)
    judged = on_unseen(tree.fitted_, random_log(2, lengths=(50,)), 1)
    assert judged.margin == (np.inf,) * 3
    assert judged.explained == [0.0, 0.0, 0.0]


def world(seed, episodes):
    """Thirty steps an episode: what is done and earned depends on the state, and on a mood of the whole episode."""
    rng = np.random.default_rng(seed)
    n = 30 * episodes
    states, mood = rng.normal(size=(n, 2)), np.repeat(rng.normal(size=episodes), 30)
    actions = (states[:, 0] + mood + rng.normal(size=n) > 0).astype(int)
    return Log.from_arrays(states, actions, states[:, 1] + 0.2 * mood, starts=np.arange(0, n, 30), ending="terminated")


def test_intervals_cover_the_truth():
    """What a tree takes away on a very long log lies within the margin in about 95 of 100 short ones."""
    tree = quietly_fitted(world(1, 60), max_leaves=10)
    truth = shares(tree, world(2, 4_000))
    inside = np.zeros(3)
    for seed in range(150):
        log = world(10_000 + seed, 30)
        inside += abs(shares(tree, log) - truth) <= on_unseen(tree.fitted_, log, 1).margin
    # 95 %, give or take three standard errors of 150 draws, and a little for a jackknife of ten groups.
    assert (inside / 150 >= 0.88).all()
    assert (inside / 150 < 1).any()


@pytest.mark.parametrize("leaf_model", ["linear", "mean"])
def test_one_crash_does_not_hide_what_all_other_episodes_show(leaf_model):
    """A single episode whose squares outweigh all others makes the interval wide, and the claim no less sure."""
    rng = np.random.default_rng(3)
    n = 30 * 60
    states, rewards = rng.normal(size=(n, 2)), np.zeros(n)
    rewards += states[:, 1]
    rewards[40 * 30 : 41 * 30] -= 100
    log = Log.from_arrays(states, np.zeros(n, int), rewards, starts=np.arange(0, n, 30), ending="terminated")
    tree = quietly_fitted(log.select(slice(0, 30)), max_leaves=20, gamma=0.0, leaf_model=leaf_model)
    judged = on_unseen(tree.fitted_, log.select(slice(30, 60)), 1)
    assert judged.margin[1] > judged.explained[1] > 0


def test_few_groups_are_judged_by_their_episodes():
    # A tree that knows its twelve episodes does so, whether or not they are of one pilot.
    walk = random_log(1, lengths=(40,) * 12)
    tree = quietly_fitted(walk, max_leaves=8)
    plain = on_unseen(tree.fitted_, walk, 1).margin
    for pilots in (1, 2, 4):
        assert on_unseen(tree.fitted_, replace(walk, groups=np.arange(12) % pilots), 1).margin == plain
    assert on_unseen(tree.fitted_, replace(walk, groups=np.arange(12) % 6), 1).margin != plain
