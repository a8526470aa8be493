"""Whether an agent remembers: found where it was built in, and not where it was not."""

from __future__ import annotations

import numpy as np
import pytest

from tests.log.rememberers import steered
from tripletree.log.drifting import drifting
from tripletree.log.remembering import remembering
from tripletree.log.telling import ridge


@pytest.mark.parametrize(("labels", "noise"), [(False, 0.0), (True, 0.0), (False, 0.4)])
def test_agents_without_memory_show_none(labels, noise):
    evidence = remembering(steered(labels=labels, noise=noise), quick=True)
    assert not evidence.found
    assert evidence.episodes == 20


@pytest.mark.parametrize(
    ("kind", "clues"),
    [
        ("mode", {"mode", "action"}),
        ("latch", {"event", "action", "mode"}),
    ],
)
def test_memory_is_found_and_named(kind, clues):
    evidence = remembering(steered(kind), quick=True)
    assert evidence.found
    assert evidence.clues[0].kind in clues
    assert evidence.clues[0].p < 0.03
    assert evidence.clues[0].gain > evidence.clues[0].stand_in


def test_the_same_seed_gives_the_same_answer():
    log = steered("mode", episodes=8, length=30)
    assert remembering(log, quick=True, seed=3) == remembering(log, quick=True, seed=3)


@pytest.mark.parametrize("log", [steered(episodes=7), steered(episodes=8, length=10)])
def test_short_logs_show_nothing(log):
    assert remembering(log) is None
    assert drifting(log) is None


def test_ridge_predicts_each_fold_by_the_others():
    rng = np.random.default_rng(0)
    basis, targets, fold = rng.normal(size=(80, 3)), rng.normal(size=(80, 2)), np.arange(80) % 4
    predicted, weights = ridge(basis, targets, fold, (0.5,))
    train = fold != 2
    own = np.linalg.solve(basis[train].T @ basis[train] + 0.5 * np.eye(3), basis[train].T @ targets[train])
    np.testing.assert_allclose(predicted[~train], basis[~train] @ own)
    whole = np.linalg.solve(basis.T @ basis + 0.5 * np.eye(3), basis.T @ targets)
    np.testing.assert_allclose(weights, whole)


def test_a_second_pilot_is_found_with_sign_and_size():
    shift = drifting(steered(episodes=40, length=40, pilots=2), quick=True)
    assert shift.found
    assert shift.parts == ("early", "late")
    assert shift.size > 0.1  # the second pilot steers further to the right
    assert not drifting(steered(episodes=40, length=40), quick=True).found


def test_shuffled_episodes_are_called_changed_no_more_often_than_promised():
    found = [drifting(steered(seed=seed, episodes=12, length=20, noise=0.3), quick=True).p for seed in range(8)]
    assert np.mean(np.array(found) < 0.05) <= 0.25
