"""Of a long log, whole random episodes; a short one as it is."""

from __future__ import annotations

import numpy as np
import pytest

from tests.logs import random_log
from tripletree.log.sampling import some_episodes


@pytest.mark.parametrize("steps", [1, 39, 60, 119, 120, 500])
def test_episodes_are_whole_in_order_and_not_too_many(steps):
    log = random_log(0, (40, 30, 50))
    some = some_episodes(log, steps)
    assert some.n_episodes >= 1
    assert some.n_samples <= max(steps, 50)
    assert (some is log) == (steps >= log.n_samples)
    places = [log.episode_ids.tolist().index(name) for name in some.episode_ids.tolist()]
    assert places == sorted(set(places))
    expected = np.concatenate([log.states[log.starts[k] : log.starts[k + 1]] for k in places])
    assert np.array_equal(some.states, expected)
    assert np.array_equal(some_episodes(log, steps).states, expected)


def test_every_episode_has_its_chance_and_as_many_come_as_have_room():
    log = random_log(1, (10,) * 200)
    some = some_episodes(log, 1_005)
    assert some.n_episodes == 100
    # Not the first half, nor the second.
    assert 30 <= sum(name < 100 for name in some.episode_ids.tolist()) <= 70


def test_a_recording_that_is_one_episode_stays_as_it_is():
    log = random_log(2, (50,))
    assert some_episodes(log, 10) is log
