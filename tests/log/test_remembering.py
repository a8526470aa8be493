"""Whether an agent remembers: found where it was built in, and not where it was not."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from benchmarks.memory_trained import by_hand
from benchmarks.memory_truth import all_known
from benchmarks.memory_worlds import play

from tests.log.rememberers import late, steered, thermostat
from tripletree.log.drifting import drifting
from tripletree.log.remembering import remembering
from tripletree.log.telling import ridge


@pytest.mark.parametrize(
    "log",
    [
        steered(),
        steered(labels=True),
        steered(noise=0.4, seed=1),
        thermostat(memory=False),
        late(0),
        play("none", 3).log(),
        play("none", 8).log(),
    ],
)
def test_agents_without_memory_show_none(log):
    evidence = remembering(log, quick=True)
    assert not evidence.found
    assert evidence.episodes == 20


def test_a_lander_that_chatters_has_no_memory():
    # Of what it does, the models leave a third; habits of those leftovers used to pass for a mode.
    evidence = remembering(by_hand("none", 0).log())
    assert evidence.unexplained > 0.3
    assert not evidence.found


@pytest.mark.parametrize(
    ("log", "kinds", "text"),
    [
        (steered("mode"), {"mode", "action"}, ""),
        (steered("sticky"), {"repeat"}, "what it did 1 step ago"),
        (thermostat(memory=True), {"hysteresis"}, "whether `room` was last above"),
        (thermostat(memory=True, seed=1), {"hysteresis"}, "whether `room` was last above"),
        (late(4), {"state"}, "the state 4 steps ago"),
        (late(2, seed=1), {"state"}, "the state 2 steps ago"),
    ],
)
def test_memory_is_found_and_named(log, kinds, text):
    evidence = remembering(log, quick=True)
    assert evidence.found
    clue = evidence.clues[0]
    assert clue.kind in kinds
    assert clue.text.startswith(text)
    assert clue.p < 0.05
    assert 0.02 < clue.gain <= max(evidence.unexplained, 0.3)


@pytest.mark.parametrize(("seed", "noisy"), [(3, False), (4, True)])
def test_what_the_mode_tells_is_all_that_the_state_leaves_but_noise(seed, noisy):
    played = play("hysteresis", seed, wander=True)
    once, again = (played.policies[0](played.states, np.random.default_rng(draw)) for draw in (1, 2))
    assert (once != again).any() == noisy
    left, told, likely, whole = all_known("hysteresis", seed, partial(play, wander=True), np.arange(len(played.states)))
    assert ((likely >= 0) & (likely <= 1)).all()
    assert 0 < (told**2).sum() < whole
    np.testing.assert_allclose((told * (left - told)).sum() / whole, 0, atol=0.02 if noisy else 1e-12)
    assert noisy or np.allclose(left, told, atol=1e-12)


def test_a_past_that_is_put_into_the_state_is_remembered_no_more():
    log = thermostat(memory=True).with_lags([1])
    assert not remembering(log, quick=True).found


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
