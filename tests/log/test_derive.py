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
