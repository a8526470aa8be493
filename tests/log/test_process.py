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
