"""Observations as features, actions as labels or numbers."""

from __future__ import annotations

import numpy as np
import pytest
from gymnasium import spaces

from tripletree import ParameterError
from tripletree.log.spaces import MOST_CATEGORIES, layout_like, layout_of, moves_of

BOX = spaces.Box(-1, 1, (2,), np.float32)
LAYOUTS = [
    (BOX, ("s0", "s1")),
    (spaces.Box(-1, 1, ()), ("s0",)),
    (spaces.Box(-1, 1, (2, 2)), ("s0_0", "s0_1", "s1_0", "s1_1")),
    (spaces.Discrete(2), ("state",)),
    (spaces.Discrete(3, start=4), ("state is 4", "state is 5", "state is 6")),
    (spaces.Discrete(500), ("state",)),
    (spaces.MultiBinary(2), ("s0", "s1")),
    (spaces.MultiDiscrete([3, 4]), ("s0", "s1")),
    (spaces.Dict(goal=BOX, speed=spaces.Box(0, 1, (1,))), ("goal 0", "goal 1", "speed")),
    (spaces.Tuple([spaces.Discrete(2), BOX]), ("s0", "s1 0", "s1 1")),
    (spaces.Dict(arm=spaces.Dict(angle=BOX, closed=spaces.Discrete(2))), ("arm angle 0", "arm angle 1", "arm closed")),
    (spaces.Dict(mode=spaces.Discrete(3)), ("mode is 0", "mode is 1", "mode is 2")),
]


@pytest.mark.parametrize(("space", "names"), LAYOUTS)
def test_every_number_has_a_name(space, names):
    layout = layout_of(space)
    assert layout.names == names
    space.seed(0)
    for _ in range(5):
        read = layout.read(space.sample())
        assert read.shape == (len(names),)
        assert read.dtype == np.float64


def test_values_stay_in_place():
    space = spaces.Dict(b=spaces.Discrete(3), a=BOX)
    read = layout_of(space).read({"a": np.array([0.5, -0.5], np.float32), "b": 1})
    by_name = dict(zip(layout_of(space).names, read, strict=True))
    assert by_name == {"a 0": 0.5, "a 1": -0.5, "b is 0": 0, "b is 1": 1, "b is 2": 0}


def test_kinds_follow_from_the_space():
    space = spaces.Dict(on=spaces.MultiBinary(1), gear=spaces.MultiDiscrete([4]), mode=spaces.Discrete(2))
    assert layout_of(space).kinds == {"on": "binary", "gear": "integer", "mode": "binary"}
    many = spaces.Discrete(MOST_CATEGORIES + 1)
    assert layout_of(many).kinds == {"state": "integer"}


def test_what_is_read_is_a_copy():
    seen = np.array([1.0, 2.0])
    read = layout_of(spaces.Box(-9, 9, (2,), np.float64)).read(seen)
    seen[:] = 0
    assert read.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("space", "why"),
    [
        (spaces.Box(0, 255, (96, 96, 3), np.uint8), "are images"),
        (spaces.Box(0, 255, (84, 84), np.uint8), "are images"),
        (spaces.Dict(a=BOX, camera=spaces.Box(0, 1, (3, 8, 8))), "are images"),
        (spaces.Box(0, 1, (64, 64)), "are 4,096 numbers"),
        (spaces.Text(5), "are not numbers"),
        (spaces.Sequence(BOX), "are not numbers"),
    ],
)
def test_what_nobody_could_name_is_refused_with_a_way_out(space, why):
    with pytest.raises(ParameterError, match=rf"Observations of this environment {why} \(.*Type state=\.\.\."):
        layout_of(space)


def test_states_of_ones_own():
    layout = layout_like({"height": 1, "on": True})
    assert layout.names == ("height", "on")
    assert layout.read({"on": 0, "height": 2}).tolist() == [2, 0]
    assert layout_like(3.0).names == ("s0",)


def test_labels_of_all_possible_actions():
    assert moves_of(spaces.Discrete(3, start=-1)).labels == {-1: "-1", 0: "0", 1: "1"}
    assert list(moves_of(spaces.MultiBinary(2)).labels) == ["0, 0", "0, 1", "1, 0", "1, 1"]


def test_actions_are_returned_as_the_environment_takes_them():
    assert moves_of(spaces.Discrete(3)).check(np.array([2])) == 2
    action = moves_of(spaces.Box(-1, 1, (2, 1), np.float32)).check([0.5, 1])
    assert (action.shape, action.dtype) == ((2, 1), np.float32)
    action = moves_of(spaces.MultiDiscrete([2, 3])).check([1.0, 2.0])
    assert action.dtype == np.int64
    action = moves_of(spaces.Box(0, 10, (1,), np.int32)).check([7])
    assert (action.tolist(), action.dtype) == ([7], np.int32)


def test_unlimited_actions_have_no_limits():
    assert moves_of(spaces.Box(-np.inf, np.inf, (1,))).check([1e9]).tolist() == [1e9]


@pytest.mark.parametrize("space", [spaces.Dict(a=BOX), spaces.Tuple([BOX]), spaces.Text(3)])
def test_other_actions_are_refused(space):
    with pytest.raises(
        ParameterError, match="Actions must be Discrete, Box, MultiDiscrete or MultiBinary; this environ"
    ):
        moves_of(space)


def test_too_many_labels_are_refused():
    with pytest.raises(ParameterError, match="A discrete action may have at most 1,024 values; this one has 5,000"):
        moves_of(spaces.Discrete(5_000))
