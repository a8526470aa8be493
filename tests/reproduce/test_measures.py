"""What the page measures, on cases whose answer is known."""

from __future__ import annotations

import numpy as np
import pytest

from tripletree import Log
from tripletree.demos import road
from tripletree.reproduce import lander_sides, road_maps, road_words
from tripletree.reproduce.road_losses import span
from tripletree.reproduce.work import at, by_episode, difference_interval, grow, mean_interval


def test_intervals_hold_what_they_should_as_often_as_they_say():
    rng = np.random.default_rng(0)
    hits = 0
    for i in range(200):
        number, low, high = mean_interval(rng.normal(3, 2, 60), draws=400, seed=i)
        assert low < number < high
        hits += low < 3 < high
    assert 0.88 < hits / 200 < 0.99


def test_a_difference_is_other_minus_one():
    number, low, high = difference_interval([1.0, 1.0, 1.0], [4.0, 4.0])
    assert (number, low, high) == (3, 3, 3)
    _, low, high = difference_interval(np.arange(50.0), np.arange(50.0) + 1)
    assert low < 0 < high


def test_losses_of_a_tree_that_was_pure_early():
    curve = np.array([[4.0, 2.0, 1.0]] * 3)
    assert at(curve, 2).tolist() == [2, 2, 2]
    assert at(curve, 99).tolist() == [1, 1, 1]
    assert span(np.array([0.5, 0.015])) == "1.5 % to 50.0 %"
    assert span(np.array([0.0, 1e-9])) == "0.0 %"


def test_numbers_of_every_episode_see_its_final_state():
    log = Log.from_episodes([([[0.0], [1.0]], [0, 1], [0, 0], [5.0]), ([[2.0]], [1], [0], [7.0])])
    found = by_episode(log, lambda states, actions: {"last": states[-1, 0], "sum": actions.sum()})
    assert found["last"].tolist() == [5, 7]
    assert found["sum"].tolist() == [1, 1]


@pytest.mark.parametrize(
    ("phi", "ratio"),
    [
        ([0, 0.1, 0.2, 0.1, -0.05, -0.1, 0.0, 0.1], 0.5),  # swings to -0.1 after a tilt of 0.2
        ([0, 0.2, 0.1, 0.05, 0.01], 0.0),  # comes back without passing 0
        ([0, 0.3, -0.03, 0.2, -0.3], 0.1),  # the first swing counts, not a later one
        ([0, 0.05, 0.08, 0.05], np.nan),  # never tilted
    ],
)
def test_overshoot(phi, ratio):
    assert lander_sides._overshoot(np.array(phi, float)) == pytest.approx(ratio, nan_ok=True)


def test_one_landing_by_hand():
    """Pushed to the right, out to x = 0.4, back, down at x = 0.3 beside the zone, and two more steps."""
    x, y = [0, 0.4, 0.4, 0.3, 0.2, 0.1], [1, 1, 0.5, 0, 0, 0]
    states = np.zeros((6, 8))
    states[:, 0], states[:, 1], states[:, 2] = x, y, 0.1
    states[3:, 6] = 1
    found = lander_sides._measure(states, np.zeros((5, 2)))
    assert found["kick"] == 1
    assert found["widest"] == 0.4
    assert found["missed"] == 1
    assert found["shuffled"] == 2
    assert found["curved"] == pytest.approx((0.4 + 0.5 + np.hypot(0.1, 0.5)) / np.hypot(0.3, 1))


def test_sides_are_told_in_words():
    assert lander_sides._compared((0.5, 0.2, 0.8), "wider", 1) == "wider from the right by 0.5 (0.2 to 0.8)"
    assert lander_sides._compared((-0.5, -0.8, -0.2), "wider", 1) == "wider from the left by 0.5 (0.2 to 0.8)"
    assert lander_sides._compared((0.1, -0.2, 0.4), "wider", 1).startswith("no difference beyond chance (+0.1")


def test_states_from_which_the_right_wall_cannot_be_avoided():
    # Braking from 0.05 takes 0.05^2 / 0.002 = 1.25, less half a step.
    doomed = road_maps._doomed(np.array([[1.5, 0.05], [1.9, 0.05], [2.9, -0.05], [0.1, 0.09]]))
    assert doomed.tolist() == [False, True, False, True]


def test_the_drive_ends_at_the_wall():
    way = road_words.drive("hurry", (2.5, 0.09))
    assert (np.diff(way[:, 0]) > 0).all()
    assert way[-1, 0] < road.LENGTH <= way[-1, 0] + 0.1


def test_points_along_a_path_are_evenly_spaced():
    points = road_words._walk(np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 3.0]]))
    assert points.shape == (100, 2)
    np.testing.assert_allclose(np.linalg.norm(np.diff(points, axis=0), axis=1).sum(), 4, rtol=0.01)
    np.testing.assert_allclose(points[-1], [1, 3])


def test_maps_of_a_tree_that_knows_the_left_agent():
    tree = grow(road.record("left", whole=True), max_leaves=200, theta=(0.2, 0.6, 0.2), gamma=0.99)
    plus = road_maps.accelerates(tree)
    predicted = tree.predict([0.2, 0.02]).action
    assert bool(plus[20, 120]) == (predicted == "0.001")
    assert road_maps._island(tree).verdict == "holds"
