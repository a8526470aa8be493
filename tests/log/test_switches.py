"""Switches: planted ones are found, and nothing is found where the world answers smoothly."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tripletree import Log
from tripletree.demos import lander
from tripletree.log.switches import episodes_within, find_switches, limit_of


def world(seed, cuts=(), *, noise=0.3, scale=1.0, flip=1.0, units=1.0, pushes=0.5):
    """Three features, two noisy actions that follow them; the effect of the first jumps at some numbers."""
    rng = np.random.default_rng(seed)
    a = np.eye(3) * 0.9 + rng.normal(0, 0.05, (3, 3))
    b, k = rng.normal(0, 0.3, (2, 3)), rng.normal(0, 0.1, (3, 2))
    states, actions = [], []
    x = rng.normal(0, 1, (60, 3))
    for _ in range(80):
        u = np.tanh(x @ k + rng.normal(0, noise, (60, 2)))
        states.append(x)
        actions.append(u)
        jump = sum(((u[:, :1] >= cut) * 1.0 for cut in cuts), np.zeros((60, 1)))
        x = x @ a.T + 0.06 * np.sin(2 * x) + 0.3 * (u @ b + pushes * jump) + rng.normal(0, 0.1, (60, 3))
    shape = np.stack(states, axis=1).reshape(-1, 3) * units
    moves = np.stack(actions, axis=1).reshape(-1, 2) * [flip * scale, scale]
    return Log.from_arrays(shape, moves, np.zeros(len(shape)), starts=np.arange(0, len(shape), 80))


def found(log, dimension=0):
    return [one.at for one in find_switches(log, dimension)]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("cuts", [(0.0,), (0.3,), (-0.5, 0.5)])
def test_planted_switches_are_found_where_they_are(seed, cuts):
    log = world(seed, cuts, noise=0.7)
    assert found(log) == pytest.approx(cuts, abs=0.021)
    assert found(log, 1) == []


@pytest.mark.parametrize("seed", range(12))
def test_nothing_is_found_in_a_smooth_world_or_with_shuffled_actions(seed):
    log = world(seed, noise=(0.05, 0.3, 1.0)[seed % 3])
    assert found(log) == found(log, 1) == []
    jumpy = world(seed, (0.0,))
    shuffled = np.random.default_rng(seed).permutation(jumpy.actions)
    assert found(replace(jumpy, actions=shuffled)) == []


def test_units_do_not_matter_and_a_flipped_sign_is_mirrored():
    plain = found(world(1, (0.3,), noise=0.5))
    assert found(world(1, (0.3,), noise=0.5, units=[1000.0, 1e-3, 7.0])) == plain
    assert found(world(1, (0.3,), noise=0.5, scale=20.0)) == pytest.approx([20 * at for at in plain])
    assert found(world(1, (0.3,), noise=0.5, flip=-1.0)) == pytest.approx([-at for at in plain], abs=0.011)


def test_the_engines_of_the_lander_switch_where_its_manual_says():
    log = lander.log().select(slice(0, 60))
    assert (found(log, 0), found(log, 1)) == ([0.0], [-0.5, 0.5])
    (main,) = find_switches(log, 0)
    # Below 0 nothing depends on the number; above, the thrust rises from half to full.
    assert abs(main.answers[0]) < 0.2
    assert main.answers[1] == pytest.approx(1, abs=0.2)


def test_tiny_and_constant_logs_have_no_switches():
    log = world(0, (0.0,))
    assert found(log.select([0])) == []
    assert found(replace(log, actions=np.ones_like(log.actions))) == []
    assert found(replace(log, actions=np.where(log.actions > 0, 1.0, -1.0))) == []


def test_limits_are_said_shortly():
    assert [limit_of(np.array([0.1, -most])) for most in (0.99994, 0.96, 1.94, 7.3, 0.0)] == [1, 1, 2, 7, 0.1]


def test_whole_episodes_are_looked_at():
    log = world(0)
    rows = episodes_within(log, 1000)
    assert 900 <= len(rows) <= 1100
    assert (np.diff(rows.reshape(-1, 80), axis=1) == 1).all()


def test_episodes_of_one_state_show_no_switch():
    rng = np.random.default_rng(0)
    states, actions = rng.normal(size=(4_000, 2)), rng.uniform(-1, 1, (4_000, 1))
    log = Log.from_arrays(states, actions, np.zeros(4_000), starts=np.arange(4_000))
    assert find_switches(log, 0) == ()
