"""Logistic regressions that predict each episode from others."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, softmax

from tripletree.log.straight import straight


@pytest.fixture
def states():
    return np.random.default_rng(0).normal(size=(600, 3))


def one_of(number, labels):
    return (number[:, None] == np.arange(labels)).astype(float)


def test_borders_that_run_straight_are_found_on_unseen_episodes(states):
    scores = states @ np.array([[1.0, -1.0, 0.0], [0.5, 0.5, -1.0], [0.0, 1.0, -1.0]])
    targets = one_of(scores.argmax(axis=1), 3) - 1 / 3
    predicted = straight(states, targets, True, np.arange(600) // 30 % 5)
    assert ((targets - predicted) ** 2).sum() < 0.08 * (targets**2).sum()


@pytest.mark.parametrize("labels", [True, False])
def test_weights_are_those_of_the_least_loss(states, labels):
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(1)
    chance = softmax(states[:, :2] @ np.array([[1.0, 0.5, 0.0], [-0.5, 1.0, 0.0]]), axis=1)
    drawn = np.array([rng.choice(3, p=p) for p in chance])
    fold = np.arange(600) % 2
    number = 3 if labels else 2
    drawn = drawn if labels else (drawn > 0).astype(int)
    # The last label is what is left when none of the others is on.
    predicted = straight(states, one_of(drawn, number)[:, : number - 1], labels, fold)
    model = LogisticRegression(C=100.0, max_iter=1000).fit(states[fold == 1], drawn[fold == 1])
    np.testing.assert_allclose(predicted[fold == 0], model.predict_proba(states[fold == 0])[:, : number - 1], atol=0.02)


def test_numbers_keep_their_limits(states):
    targets = 2 * expit(4 * states[:, :1]) - 3
    predicted = straight(states, targets, False, np.arange(600) % 4)
    assert predicted.min() >= targets.min()
    assert predicted.max() <= targets.max()
    np.testing.assert_allclose(predicted, targets, atol=0.05)


def test_no_fold_sees_its_own_targets(states):
    rng = np.random.default_rng(2)
    fold, targets = np.arange(600) // 60 % 5, rng.uniform(size=(600, 2))
    targets[0], targets[1] = 0, 1  # the limits stay the same
    own = fold == 3
    other = targets.copy()
    other[own] = rng.permutation(targets[own])
    first, second = (straight(states, some, False, fold) for some in (targets, other))
    np.testing.assert_array_equal(first[own], second[own])
    assert not np.array_equal(first[~own], second[~own])
