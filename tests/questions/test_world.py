from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.logs import make_log
from tripletree import Log, ParameterError, record, world


def walks(states: Any, **more: Any) -> Log:
    """Make a log of walks, shape (episodes, steps, features)."""
    states = np.asarray(states, float)
    _, steps, features = states.shape
    flat = states.reshape(-1, features)
    starts = np.arange(0, len(flat) + 1, steps)
    return make_log(flat, np.arange(len(flat)) % 2, np.zeros(len(flat)), starts, labels=("a", "b"), **more)


def moving(seed: int, dt: float = 0.1, noise: float = 0.0, episodes: int = 20, steps: int = 60) -> np.ndarray:
    """Return positions and speeds of something that is pushed at random."""
    rng = np.random.default_rng(seed)
    x, v = rng.normal(size=(2, episodes))
    found = []
    for _ in range(steps):
        found.append(np.stack([x, v], axis=1))
        x = x + dt * v + noise * dt * rng.normal(size=episodes)
        v = 0.9 * v + rng.normal(size=episodes)
    return np.stack(found, axis=1)


def test_a_rate_and_the_length_of_a_step():
    found = world(walks(moving(0)))
    assert [(f, rate) for f, rate, _ in found.rate_of] == [(0, 1)]
    assert found.rate_of[0][2] == pytest.approx(0.1)
    assert "x1 is the rate of x0, so a step lasts about 0.1 in its unit of time." in str(found)


@settings(max_examples=25)
@given(st.floats(1e-3, 1e3), st.floats(1e-3, 1e3), st.floats(-100, 100), st.integers(0, 5))
def test_units_change_the_slope_and_nothing_else(one, two, shift, seed):
    plain = moving(seed, noise=0.3)
    scaled = plain * [one, two] + [shift, 0.0]
    a, b = world(walks(plain)), world(walks(scaled))
    assert [(r.feature, r.rate) for r in a.rates] == [(r.feature, r.rate) for r in b.rates]
    for left, right in zip(a.rates, b.rates, strict=True):
        assert right.slope == pytest.approx(left.slope * one / two, rel=1e-6)
        assert right.r2 == pytest.approx(left.r2, abs=1e-6)
    assert a.circles == b.circles
    assert [f for f, *_ in a.begins] == [f for f, *_ in b.begins]


@pytest.mark.parametrize("kind", ["white", "walk", "slow"])
def test_noise_has_no_rates_no_circles_and_no_borders(kind):
    for seed in range(15):
        rng = np.random.default_rng(seed)
        noise = rng.normal(size=(15, 40, 5))
        if kind == "walk":
            noise = noise.cumsum(axis=1)
        elif kind == "slow":
            for t in range(1, 40):
                noise[:, t] = 0.95 * noise[:, t - 1] + 0.3 * noise[:, t]
        found = world(walks(noise, endings=np.ones(15)))
        assert not found.rates + found.circles + found.wraps + found.limits + found.copies + found.stops


def test_a_copy_that_decays_is_no_rate_of_itself():
    decays = np.exp(-np.arange(40) / 10)[None, :, None] * np.random.default_rng(0).normal(size=(20, 1, 1))
    found = world(walks(np.concatenate([decays, 2 * decays + 3], axis=2)))
    assert found.rates == ()
    (one,) = found.copies
    assert (one.feature, one.of, one.factors, one.offset) == (1, (0,), pytest.approx((2.0,)), pytest.approx(3.0))
    assert "x1 = 2 x0 + 3, always." in str(found)


def test_circles_turn_at_a_rate():
    turn = moving(1)
    states = np.stack([np.cos(turn[..., 0]), np.sin(turn[..., 0]), turn[..., 1]], axis=2)
    found = world(walks(states))
    assert found.circles == ((0, 1),)
    (one,) = found.rates
    assert (one.feature, one.other, one.rate) == (0, 1, 2)
    assert one.slope == pytest.approx(0.1, rel=0.05)
    assert found.rate_of == ()


def test_what_wraps_is_an_angle_with_a_rate():
    turn = moving(2)
    states = turn.copy()
    states[..., 0] = (turn[..., 0] + np.pi) % (2 * np.pi) - np.pi
    found = world(walks(states))
    assert found.wraps == (0,)
    assert [(one.feature, one.rate) for one in found.rates] == [(0, 1)]


def test_limits_binary_constant_and_sums():
    rng = np.random.default_rng(3)
    walk = rng.normal(size=(20, 50, 2)).cumsum(axis=1)
    states = np.stack(
        [
            np.clip(walk[..., 0], -2, 3),
            walk[..., 1],
            rng.integers(0, 2, (20, 50)),
            np.full((20, 50), 7.0),
            walk[..., 1] - 0.5 * np.clip(walk[..., 0], -2, 3),
        ],
        axis=2,
    )
    found = world(walks(states))
    assert [(one.feature, one.at, one.upper) for one in found.limits] == [(0, -2.0, False), (0, 3.0, True)]
    assert (found.binary, found.constant) == ((2,), (3,))
    (one,) = found.copies
    assert (one.feature, one.of) == (4, (0, 1))
    assert one.factors == pytest.approx((-0.5, 1.0))


def test_cart_pole_is_described_as_its_makers_do():
    found = world(record("CartPole-v1", "random", episodes=150, seed=1))
    assert [(f, rate, round(slope, 4)) for f, rate, slope in found.rate_of] == [(0, 1, 0.02), (2, 3, 0.02)]
    (stop,) = found.stops
    assert (stop.feature, stop.episodes) == (2, 150)
    assert stop.high == -stop.low == pytest.approx(0.2095, abs=0.002)
    assert [f for f, low, high in found.begins if low >= -0.05 and high <= 0.05] == [0, 1, 2, 3]
    assert "150 at |pole angle| > 0.209 rad" in str(found)


def test_a_fixed_number_of_steps():
    found = world(walks(moving(4), endings=np.full(20, 2)))
    assert (found.cut, found.lengths, found.truncated) == (60, (60, 60, 60), 20)
    assert str(found).endswith("All 20 episodes were cut off at 60 steps.\nEpisodes last 60 steps.")


def test_one_short_episode_and_refusals():
    log = make_log([[1.0, 2.0]], [0], [0.0], labels=("a",))
    assert str(world(log)) == "Always the same: x0, x1.\nAn episode lasts 1 step."
    with pytest.raises(ParameterError, match="log must be a Log"):
        world(None)
