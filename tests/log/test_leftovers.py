"""What the past tells of what the state leaves: planted effects are found, chance is not, and nothing tells itself."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tripletree.log.leftovers import HOLDS, LARGEST, MOST, STRENGTHS, Leftovers
from tripletree.log.modes import FIRM, LASTS, guesses, habits

EPISODES, LENGTH = 20, 40


@pytest.fixture(scope="module")
def world():
    """States that wander, functions of them, folds and episodes."""
    rng = np.random.default_rng(0)
    x = np.empty((EPISODES, LENGTH))
    x[:, 0] = rng.normal(size=EPISODES)
    for step in range(1, LENGTH):
        x[:, step] = 0.8 * x[:, step - 1] + 0.6 * rng.normal(size=EPISODES)
    states = x.reshape(-1, 1)
    basis = np.concatenate([np.ones_like(states), states, np.tanh(3 * states), states**2 - 1], axis=1)
    episode = np.repeat(np.arange(EPISODES), LENGTH)
    return states, basis, episode % 5, episode


def leftovers(world, left):
    _, basis, fold, episode = world
    return Leftovers(left, basis, fold, episode, float((left**2).sum()))


def test_the_state_is_taken_away_by_other_folds(world):
    _, basis, fold, _ = world
    rng = np.random.default_rng(1)
    columns = basis @ rng.normal(size=(4, 3)) + rng.normal(size=(len(basis), 3))
    expected = []
    for strength in STRENGTHS:
        told = np.empty_like(columns)
        for k in range(5):
            some = basis[fold != k]
            weights = np.linalg.solve(some.T @ some + strength * np.eye(4), some.T @ columns[fold != k])
            told[fold == k] = basis[fold == k] @ weights
        expected.append(columns - told)
    best = np.argmin([(left**2).sum(axis=0) for left in expected], axis=0)
    found = leftovers(world, columns[:, :1]).beyond(columns)
    for column, number in enumerate(best):
        np.testing.assert_allclose(found[:, column], expected[number][:, column], atol=1e-8)


def test_a_clue_is_found_that_means_the_opposite_elsewhere(world):
    states = world[0]
    rng = np.random.default_rng(2)
    clue = np.repeat(rng.choice([-1.0, 1.0], size=EPISODES * 4), LENGTH // 4)[:, None]
    left = 0.5 * np.tanh(3 * states) * clue + 0.5 * rng.normal(size=clue.shape)
    noise = rng.normal(size=(len(clue), 6))
    told = leftovers(world, left).by_clues(np.concatenate([noise, clue], axis=1))
    assert told.chosen == [6] * 5
    assert told.p < 1e-6
    share = (0.5 * np.tanh(3 * states)).var() / left.var()
    assert 0.7 * share < told.gain < 1.1 * share


def test_clues_are_chosen_and_weighed_on_other_folds_alone(world):
    states, basis, fold, _ = world
    rng = np.random.default_rng(6)
    clues = np.repeat(rng.normal(size=(EPISODES * 4, 3)), LENGTH // 4, axis=0)
    left = 0.4 * clues[:, [1]] * np.tanh(states) + rng.normal(size=(len(states), 2))
    some = leftovers(world, left)
    weights = np.clip(basis / np.sqrt((basis[:, 1:] ** 2).mean()), -LARGEST, LARGEST)
    designs = some.beyond(clues)[:, :, None] * np.concatenate([np.ones_like(states), weights], axis=1)[:, None, :]

    def predicted(clue, hold, train, test):
        design = designs[:, clue]
        squares = design[train].T @ design[train] + hold * np.eye(design.shape[1])
        return design[test] @ np.linalg.solve(squares, design[train].T @ some.left[train])

    expected, chosen = np.empty_like(left), []
    for k in range(5):
        gains = {}
        for clue, hold in itertools.product(range(3), HOLDS):
            gains[clue, hold] = 0.0
            for j in set(range(5)) - {k}:
                told = predicted(clue, hold, (fold != j) & (fold != k), fold == j)
                gains[clue, hold] += ((some.left[fold == j]) ** 2 - (some.left[fold == j] - told) ** 2).sum()
        best = max(gains, key=gains.get)
        expected[fold == k] = predicted(*best, fold != k, fold == k)
        chosen.append(best[0])
    found = some.by_clues(clues)
    expected = np.clip(expected, -MOST * some.left.std(axis=0), MOST * some.left.std(axis=0))
    gain = (some.left**2 - (some.left - expected) ** 2).sum() / some.whole
    assert found.chosen == chosen
    np.testing.assert_allclose(found.gain, gain, rtol=1e-6)


def test_the_best_of_many_clues_without_meaning_tells_nothing(world):
    rng = np.random.default_rng(3)
    chances, gains = [], []
    for _ in range(60):
        clues = np.repeat(rng.normal(size=(EPISODES * 4, 12)), LENGTH // 4, axis=0)
        told = leftovers(world, rng.normal(size=(len(clues), 1))).by_clues(clues)
        chances.append(told.p)
        gains.append(told.gain)
    # Binomial: of 60 draws at one in ten, 15 or more come up one time in a thousand.
    assert np.count_nonzero(np.array(chances) < 0.1) < 15
    assert np.mean(gains) < 0


def test_a_mode_is_followed_though_nobody_says_which_it_is(world):
    states, _, _, episode = world
    rng = np.random.default_rng(4)
    mode = np.where(rng.random(EPISODES) < 0.5, -1.0, 1.0)[episode]
    left = 0.6 * (np.tanh(3 * states) * mode[:, None]) + 0.5 * rng.normal(size=(len(mode), 1))
    rows, starts = np.arange(len(mode)), np.arange(EPISODES + 1) * LENGTH
    near = np.full(len(mode), 1e-6)
    for planted, least, most in ((left, 0.0, 1e-6), (rng.permutation(left), 1e-3, 1.0)):
        some = leftovers(world, planted)
        told = some.by_guesses(guesses(some, rows, starts, states, near))
        assert least <= told.p <= most
        assert (told.gain > 0.05) == (most < 0.1)


def test_an_episode_that_has_not_moved_says_nothing_of_itself(world):
    states, _, _, episode = world
    left = np.random.default_rng(5).normal(size=(EPISODES, 1))[episode]
    some = leftovers(world, left)
    far = np.full(len(left), 1e6)
    found = guesses(some, np.arange(len(left)), np.arange(EPISODES + 1) * LENGTH, states, far)
    assert not np.any(found)


def test_habits_are_regressions_on_the_rows_before(world):
    _, _, _, episode = world
    some = leftovers(world, np.random.default_rng(6).normal(size=(len(episode), 2)))
    found = habits(some)
    for row in (0, 1, 7, LENGTH - 1, LENGTH, 3 * LENGTH + 20):
        before = np.arange(row - row % LENGTH, row)
        counts = np.exp(-(row - before) / LASTS)
        design, left = some.weights[before], some.left[before]
        held = (design.T * counts) @ design + FIRM * np.eye(design.shape[1])
        slopes = np.linalg.solve(held, (design.T * counts) @ left)
        np.testing.assert_allclose(found[row], some.weights[row] @ slopes, atol=1e-10)


def test_habits_follow_each_episode_and_not_chance(world):
    states, _, _, episode = world
    rng = np.random.default_rng(7)
    own = rng.normal(size=(EPISODES, 1))[episode]  # as many modes as episodes
    for planted, shown in ((0.5 * own * np.tanh(3 * states), True), (np.zeros_like(states), False)):
        some = leftovers(world, planted + 0.4 * rng.normal(size=planted.shape))
        told = some.by_guesses([habits(some)])
        assert (told.p < 1e-3) == shown
        assert (told.gain > 0.1) == shown
