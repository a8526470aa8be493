"""Flights with something changed: recorded the same again, and flown again up to any step."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks import flights

from tripletree.demos import lander


@pytest.mark.parametrize("name", ["noise", "wind", "from left"])
def test_flights_can_be_flown_again_up_to_any_step(name):
    change = flights.CHANGES[name]
    log = flights.flown(change, 2, seed=3)
    env = flights.world(change)
    for episode, number in enumerate(log.episode_ids.tolist()):
        begin, end = log.starts[episode : episode + 2]
        middle = (begin + end) // 2
        state = flights.replay(env, number, log.actions[begin:middle])
        np.testing.assert_array_equal(state, log.states[middle])
    env.close()
    if change.start is not None:
        assert change.start(log.states[log.starts[:-1]]).all()


def test_more_flights_begin_with_the_same_ones():
    one, two = (flights.flown(flights.CHANGES["none"], episodes, seed=4) for episodes in (1, 2))
    assert one.fingerprint() == two.select([0]).fingerprint()
    assert flights.flown(flights.CHANGES["none"], 1, seed=5).fingerprint() != one.fingerprint()


def test_only_the_corner_is_flown_differently():
    log = flights.flown(flights.CHANGES["corner"], 3, seed=6)
    same = np.isclose(log.actions, lander.act(log.states), atol=1e-5).all(axis=1)
    there = flights.corner(log.states)
    assert there.any()
    assert same[~there].all()
    assert np.isclose(log.actions[there, 1], -lander.act(log.states[there])[:, 1], atol=1e-5).all()


def test_flights_are_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(flights.tempfile, "gettempdir", lambda: str(tmp_path))
    first = flights.fly("gain", 1, seed=2)
    (kept,) = tmp_path.rglob("*.npz")
    assert flights.fly("gain", 1, seed=2).fingerprint() == first.fingerprint()
    assert kept.stat().st_size > 1000
