"""Values and derivatives against plain loops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.logs import logs, make_log
from tripletree.errors import ParameterError
from tripletree.log import TERMINATED, TRUNCATED, Log
from tripletree.log.derive import derivative, derivatives, has_successor, truncation_share, values

GAMMAS = st.sampled_from([0.0, 0.5, 0.95, 0.99, 1.0])


def _values_by_hand(log: Log, gamma: float, tail: np.ndarray) -> list[float]:
    result = [0.0] * log.n_samples
    for e in range(log.n_episodes):
        following = float(tail[e])
        for t in reversed(range(log.starts[e], log.starts[e + 1])):
            following = float(log.rewards[t]) + gamma * following
            result[t] = following
    return result


@given(log=logs(), gamma=GAMMAS, bootstrap=st.booleans())
def test_values(log: Log, gamma: float, bootstrap: bool) -> None:
    tail = np.arange(log.n_episodes) * 1.5 - 2 if bootstrap else np.zeros(log.n_episodes)
    expected = _values_by_hand(log, gamma, tail)
    np.testing.assert_allclose(values(log, gamma, tail if bootstrap else None), expected, rtol=1e-12, atol=1e-12)


@given(log=logs())
def test_derivatives(log: Log) -> None:
    expected = np.full(log.states.shape, np.nan)
    for e in range(log.n_episodes):
        for t in range(log.starts[e], log.starts[e + 1]):
            last = t + 1 == log.starts[e + 1]
            for f in range(log.n_features):
                successor = log.final_states[e, f] if last else log.states[t + 1, f]
                expected[t, f] = successor - log.states[t, f]
    np.testing.assert_array_equal(derivatives(log), expected)
    for f in range(log.n_features):
        np.testing.assert_array_equal(derivative(log, f), expected[:, f])
    np.testing.assert_array_equal(has_successor(log), ~np.isnan(expected[:, 0]))


@given(log=logs(most_steps=40), gamma=st.sampled_from([0.0, 0.05, 0.5, 0.9, 0.99, 1.0]))
def test_truncation_share(log: Log, gamma: float) -> None:
    touched = 0
    for e in range(log.n_episodes):
        for t in range(log.starts[e], log.starts[e + 1]):
            left = int(log.starts[e + 1]) - t
            touched += bool(log.endings[e] == TRUNCATED and gamma**left > 0.05)
    assert truncation_share(log, gamma) == pytest.approx(touched / log.n_samples)


def test_truncation_share_counts_truncated_episodes_only() -> None:
    log = make_log(np.zeros((6, 1)), [0] * 6, np.ones(6), [0, 3, 6], endings=[TERMINATED, TRUNCATED], labels=("a",))
    assert truncation_share(log, 0.99) == 0.5
    assert truncation_share(log, 0.04) == 0


@pytest.mark.parametrize("gamma", [-0.1, 1.1, float("nan"), "0.9", None, True])
def test_gamma_must_be_a_share(gamma: float) -> None:
    log = make_log([[0.0]], [0], [1], labels=("a",))
    with pytest.raises(ParameterError, match="gamma must be a number from 0 to 1"):
        values(log, gamma)
    with pytest.raises(ParameterError, match="gamma must be a number from 0 to 1"):
        truncation_share(log, gamma)


@pytest.mark.parametrize("tail", [[0.0, 1.0], [float("nan")], [[0.0]]])
def test_tail_must_fit(tail: list[float]) -> None:
    log = make_log([[0.0]], [0], [1], labels=("a",))
    with pytest.raises(ParameterError, match="tail must hold one finite number for each of 1 episode; got"):
        values(log, 0.9, np.array(tail))


def test_what_is_wrong_with_a_tail_is_said() -> None:
    log = make_log([[0.0], [1.0]], [0, 0], [1, 1], [0, 1, 2], labels=("a",))
    with pytest.raises(ParameterError, match=r"for each of 2 episodes; got shape \(3,\)\."):
        values(log, 0.9, np.zeros(3))
    with pytest.raises(ParameterError, match="for each of 2 episodes; got NaN or infinity among them"):
        values(log, 0.9, np.array([0, np.inf]))


@given(log=logs(), data=st.data())
def test_derivatives_of_some_rows(log: Log, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, log.n_samples - 1))
    stop = data.draw(st.integers(start + 1, log.n_samples))
    np.testing.assert_array_equal(derivatives(log, start, stop), derivatives(log)[start:stop])


@given(st.floats(-3.0, 3.0), st.floats(-20, 20), st.sampled_from(["rad", "deg", ""]), st.integers(0, 2**32 - 1))
def test_constant_rotation_has_a_constant_derivative(rate: float, begin: float, unit: str, seed: int) -> None:
    turn = 360.0 if unit == "deg" else 2 * np.pi
    speed = rate * turn / 2 / np.pi
    angle = begin + speed * np.arange(30)
    # Counted from 0 or from minus half a turn, as instruments do.
    low = np.random.default_rng(seed).choice([0.0, -turn / 2])
    measured = (angle - low) % turn + low
    log = Log.from_arrays(
        measured, np.zeros(30, int), np.zeros(30), starts=[0], kinds={"s0": "angle"}, units={"s0": unit}
    )
    assert np.allclose(derivative(log, 0)[:-1], speed, atol=1e-9 * turn)
    assert np.array_equal(derivatives(log)[:, 0], derivative(log, 0), equal_nan=True)


def test_other_features_do_not_wrap() -> None:
    log = Log.from_arrays([0.1, 6.2, 0.1], [0, 1, 0], [0, 0, 0], starts=[0])
    assert np.allclose(derivative(log, 0)[:-1], [6.1, -6.1])


@given(st.integers(0, 2**32 - 1), st.floats(0.1, 3.0))
def test_derivatives_per_second_follow_the_equation(seed: int, rate: float) -> None:
    # x' = -rate x, sampled irregularly: the change per second is known in closed form.
    dt = np.random.default_rng(seed).uniform(0.01, 1.0, 40)
    time = np.append(0, np.cumsum(dt))
    x = np.exp(-rate * time)
    log = Log.from_dict({"episode": [0] * 40, "x": x[:-1], "dt": dt}, reward="none", action="none")
    assert log.schema.per_second
    found = derivative(log, 0)[:-1]
    assert np.allclose(found, (x[1:-1] * (1 - np.exp(rate * dt[:-1]))) / dt[:-1])
    # Timestamps say the same as dt, but for the last row, whose step was not recorded.
    stamps = Log.from_dict({"timestamp": time[:-1], "x": x[:-1]}, reward="none", action="none", gap=100)
    assert np.allclose(derivative(stamps, 0)[:-1], found)
    assert np.array_equal(derivatives(stamps, 3, 9), derivatives(stamps)[3:9])


def test_a_final_state_is_as_far_away_as_steps_usually_are() -> None:
    log = Log.from_dict(
        {"timestamp": [0.0, 0.5, 1.0, 1.6], "x": [0.0, 1, 2, 3], "next_x": [1.0, 2, 3, 4]},
        reward="none",
        action="none",
    )
    assert log.dt is not None
    assert log.dt.tolist() == pytest.approx([0.5, 0.5, 0.6, 0.5])
    assert derivative(log, 0)[-1] == pytest.approx(2)
