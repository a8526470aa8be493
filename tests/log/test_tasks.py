"""Names and units of the well-known tasks."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest

from tripletree import record
from tripletree.language.tokens import quoted
from tripletree.log.tasks import TASKS, split_unit, task_of

SIZES = {"Ant": (27, 105), "Humanoid": (45, 175, 253, 270, 348), "Reacher": (10, 11), "InvertedDoublePendulum": (9, 11)}


def test_versions_do_not_matter():
    assert task_of("CartPole-v0") is task_of("CartPole-v1") is TASKS["CartPole"]
    assert task_of("my/CartPole-v1") is None
    assert task_of(None) is None


@pytest.mark.parametrize("name", TASKS)
def test_names_differ_and_can_be_typed(name):
    task = TASKS[name]
    features = [split_unit(text)[0] for group in task.groups for text in group]
    actions = [split_unit(text)[0] for text in task.actions]
    assert len(set(features)) == len(features)
    assert len(set(actions)) == len(actions)
    for each in [*features, *actions]:
        # Only legs "in contact" need quotes in an expression.
        assert quoted(each) == each or "in contact" in each


@pytest.mark.parametrize(("name", "sizes"), SIZES.items())
def test_versions_may_end_after_any_group(name, sizes):
    for size in sizes:
        assert len(TASKS[name].features(size)) == size
    assert TASKS[name].features(sizes[0] + 1 if sizes[0] + 1 not in sizes else 99) == ()


def test_units_are_taken_from_names():
    assert split_unit("a [m/s]") == ("a", "m/s")
    assert split_unit("a [b] c") == ("a [b] c", "")


RECORDED = [
    ("CartPole-v1", "pole angle", "rad", "push right"),
    ("MountainCar-v0", "velocity", "", "no push"),
    ("MountainCarContinuous-v0", "position", "", "force"),
    ("Acrobot-v1", "second joint angular velocity", "rad/s", "torque -1"),
    ("Pendulum-v1", "angle sine", "", "torque"),
    ("LunarLander-v3", "left leg in contact", "", "main engine"),
    ("LunarLanderContinuous-v3", "phi", "rad", "side engine"),
    ("BipedalWalker-v3", "leg 2 in contact", "", "knee 1 torque"),
    ("FrozenLake-v1", "column", "", "up"),
    ("CliffWalking-v1", "row", "", "down"),
    ("Blackjack-v1", "dealer card", "", "hit"),
]


@pytest.mark.parametrize(("env", "feature", "unit", "action"), RECORDED)
def test_tasks_are_recorded_by_their_names(env, feature, unit, action):
    env = gymnasium.make(env, max_episode_steps=20)
    log = record(env, "random", episodes=2)
    env.close()
    found = {each.name: each for each in log.schema.features}
    assert found[feature].unit == unit
    assert action in (*log.schema.action.names, *log.schema.action.labels)
    assert (found[feature].kind == "binary") == ("in contact" in feature)


def test_a_cell_is_its_row_and_column():
    log = record(gymnasium.make("CliffWalking-v1", max_episode_steps=5), lambda cell: 0, episodes=1)
    np.testing.assert_array_equal(log.states, [[3, 0], [2, 0], [1, 0], [0, 0], [0, 0]])


def test_scaled_observations_keep_names_but_no_units():
    env = gymnasium.wrappers.NormalizeObservation(gymnasium.make("CartPole-v1"))
    log = record(env, "random", episodes=2)
    assert {feature.unit for feature in log.schema.features} == {""}
    assert log.schema.feature_names[2] == "pole angle"


def test_stacked_frames_say_how_old_they_are():
    env = gymnasium.wrappers.FrameStackObservation(gymnasium.make("CartPole-v1"), 3)
    log = record(env, "random", episodes=2)
    assert log.schema.feature_names[2::4] == ("pole angle 2 steps ago", "pole angle 1 step ago", "pole angle")
    np.testing.assert_array_equal(log.states[1:9, 6], log.states[:8, 10])


def test_other_sizes_keep_plain_names():
    env = gymnasium.wrappers.TransformObservation(
        gymnasium.make("CartPole-v1"), lambda seen: seen[:2], gymnasium.spaces.Box(-9, 9, (2,))
    )
    assert record(env, "random", episodes=1).schema.feature_names == ("s0", "s1")
