"""A Gaussian process that predicts each episode from others, beside the formulas that define it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import check_grad

from tripletree.log import process
from tripletree.log.process import Process


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    places, episode = rng.normal(size=(90, 3)), np.arange(90) // 15
    targets = np.stack([np.tanh(2 * places[:, 0] - places[:, 1]), np.sign(places[:, 2])], axis=1)
    return places, targets - targets.mean(axis=0), episode


def test_the_slope_of_the_evidence(rows):
    places, targets, _ = rows
    rng = np.random.default_rng(1)
    point = np.concatenate([process.USUAL, 0.5 * rng.normal(size=3 + 3 * process.DIRECTIONS)])
    error = check_grad(
        lambda x: process._evidence(x, places, targets)[0], lambda x: process._evidence(x, places, targets)[1], point
    )
    assert error < 1e-2 * np.linalg.norm(process._evidence(point, places, targets)[1])


def test_each_episode_is_predicted_as_if_it_had_never_been_seen(rows):
    places, targets, episode = rows
    found = Process(places, targets, episode, 10, 90)
    kernel, noise = found._kernel(places, places)
    for number in (0, 3):
        own = episode == number
        known = kernel[np.ix_(~own, ~own)] + noise * np.eye((~own).sum())
        expected = kernel[np.ix_(own, ~own)] @ np.linalg.solve(known, targets[~own])
        np.testing.assert_allclose(found.predicted[own], expected, atol=1e-6)
        np.testing.assert_allclose(found.predict(places[own], episode[own]), expected, atol=1e-6)


def test_it_learns_which_columns_count(rows):
    places, targets, episode = rows
    irrelevant = np.random.default_rng(2).normal(size=(90, 4))
    found = Process(np.concatenate([places, irrelevant], axis=1), targets[:, :1], episode, 30, 90)
    left = targets[:, :1] - found.predicted
    assert (left**2).sum() < 0.1 * (targets[:, :1] ** 2).sum()


def test_surprises_are_what_the_rows_before_and_other_episodes_do_not_tell(rows):
    places, targets, episode = rows
    found = Process(places, targets, episode, 10, 90)
    rng = np.random.default_rng(3)
    asked, when = rng.normal(size=(12, 3)), np.repeat([1, 4], 6)
    left = rng.normal(size=(12, 2))
    surprising = found.surprises(left, asked, when)
    for number in (1, 4):
        others, own = places[episode != number], np.flatnonzero(when == number)
        kernel, noise = found._kernel(others, others)
        known = kernel + noise * np.eye(len(others))
        across = found._kernel(asked[own], others)[0]
        unsure = found._kernel(asked[own], asked[own])[0] - across @ np.linalg.solve(known, across.T)
        unsure += noise * np.eye(len(own))
        for k, row in enumerate(own):
            told = unsure[k, :k] @ np.linalg.solve(unsure[:k, :k], left[own[:k]]) if k else 0
            np.testing.assert_allclose(surprising[row], left[row] - told, atol=1e-6)


def test_errors_of_the_model_of_the_state_last_and_surprises_do_not():
    """Episodes that keep to themselves are predicted badly, step after step, though nothing is remembered."""
    rng = np.random.default_rng(4)
    lasting, surprising = [], []
    for _ in range(10):
        middle = rng.normal(size=(20, 1, 2))
        places = (middle + 0.15 * np.cumsum(rng.normal(size=(20, 30, 2)), axis=1)).reshape(-1, 2)
        waves, shift = rng.normal(size=(2, 40)), rng.uniform(0, 2 * np.pi, 40)
        targets = np.cos(1.5 * places @ waves + shift) @ rng.normal(size=(40, 1)) / np.sqrt(20)
        targets += 0.15 * rng.normal(size=targets.shape)
        episode = np.repeat(np.arange(20), 30)
        found = Process(places, targets - targets.mean(), episode, 20, 300)
        left = targets - targets.mean() - found.predict(places, episode)
        beyond = found.surprises(left, places, episode)
        within = episode[1:] == episode[:-1]
        for numbers, kept in ((left, lasting), (beyond, surprising)):
            kept.append(np.corrcoef(numbers[1:][within, 0], numbers[:-1][within, 0])[0, 1])
    assert np.mean(lasting) > 0.4
    assert abs(np.mean(surprising)) < 0.05
