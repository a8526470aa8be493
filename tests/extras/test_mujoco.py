"""Names of MuJoCo's robots against the robots themselves."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
from benchmarks.agents import AGENTS, HOPPER

from tripletree import record, rhythm
from tripletree.log.tasks import TASKS, split_unit

ROBOTS = (
    *("Ant", "HalfCheetah", "Hopper", "Humanoid", "HumanoidStandup", "Pusher", "Swimmer", "Walker2d"),
    *("InvertedPendulum", "InvertedDoublePendulum", "Reacher"),
)
HINGED = ROBOTS[:-3]  # the others have sines and cosines, or an actuator on a slider


@pytest.fixture
def robot(need, request):
    need("mujoco")
    env = gymnasium.make(f"{request.param}-v5", max_episode_steps=12)
    yield request.param, env
    env.close()


@pytest.mark.parametrize("robot", ROBOTS, indirect=True)
def test_every_number_of_a_robot_has_a_name(robot):
    name, env = robot
    log = record(env, "random", episodes=2)
    known = [split_unit(text) for text in TASKS[name].features(log.n_features)]
    assert [(feature.name, feature.unit) for feature in log.schema.features] == known
    assert list(log.schema.action.names) == list(TASKS[name].actions)


@pytest.mark.parametrize("robot", HINGED, indirect=True)
def test_angles_are_those_of_the_joints_and_torques_those_of_the_motors(robot):
    name, env = robot
    seen, _ = env.reset(seed=0)
    model, data = env.unwrapped.model, env.unwrapped.data
    features = [split_unit(text)[0] for text in TASKS[name].features(len(seen))]
    hinges = [joint for joint in range(model.njnt) if model.jnt_type[joint] == 3]
    angles = [feature.removesuffix(" angle") for feature in features if feature.endswith(" angle")]
    assert len(angles) == len(hinges)
    for called, joint in zip(angles, hinges, strict=True):
        assert seen[features.index(f"{called} angle")] == data.qpos[model.jnt_qposadr[joint]]
        assert seen[features.index(f"{called} angular velocity")] == pytest.approx(
            np.clip(data.qvel[model.jnt_dofadr[joint]], -10, 10)
        )
    moved = [angles[hinges.index(joint)] for joint in model.actuator_trnid[:, 0]]
    assert [f"{called} torque" for called in moved] == list(TASKS[name].actions)


def test_an_older_version_with_fewer_numbers_keeps_its_names(need):
    need("mujoco")
    env = gymnasium.make("Ant-v5", max_episode_steps=5, include_cfrc_ext_in_observation=False)
    log = record(env, "random", episodes=1)
    assert log.n_features == 27
    assert log.schema.feature_names[-1] == "back right ankle angular velocity"
    env.close()


def test_other_numbers_get_no_wrong_names(need):
    need("mujoco")
    env = gymnasium.make("Hopper-v5", max_episode_steps=5, exclude_current_positions_from_observation=False)
    assert record(env, "random", episodes=1).schema.feature_names[0] == "s0"
    env.close()


def test_the_hopper_of_the_benchmarks_hops_in_a_rhythm(need):
    need("mujoco")
    log = record(HOPPER, AGENTS[HOPPER].act, episodes=6, seed=1)
    assert np.add.reduceat(log.rewards, log.starts[:-1]).min() > 2500
    found = rhythm(log)
    assert found
    assert found.regularity > 0.9
    # From the log itself: after one period the heights are the same, and after half of one they are not.
    height = log.states[200:1000, 0] - log.states[200:1000, 0].mean()
    lag = round(found.period)
    assert np.corrcoef(height[lag:], height[:-lag])[0, 1] > 0.8
    assert np.corrcoef(height[lag // 2 :], height[: -(lag // 2)])[0, 1] < 0
