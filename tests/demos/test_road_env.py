"""The road as a Gymnasium environment."""

from __future__ import annotations

import subprocess
import sys

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from tripletree import record
from tripletree.demos import road
from tripletree.errors import ParameterError
from tripletree.log.endings import TERMINATED, TRUNCATED


def test_it_passes_gymnasium_s_own_check():
    check_env(road.environment("left").unwrapped)


def test_it_can_be_made_by_its_id():
    env = gymnasium.make("tripletree.demos.road_env:tripletree/Road-v0", variant="alive")
    assert env.unwrapped.rewards == road.VARIANTS["alive"]
    assert env.spec.max_episode_steps == road.MAX_STEPS


def test_it_steps_as_the_road_does():
    env = road.environment("left")
    state, _ = env.reset(options={"state": (0.05, -0.0305)})
    np.testing.assert_array_equal(state, [0.05, -0.0305])
    state, reward, terminated, truncated, _ = env.step(0)
    np.testing.assert_allclose(state, [0.0185, -0.0315], rtol=1e-12)
    assert reward == pytest.approx(0.0315)
    assert not terminated
    state, reward, terminated, truncated, _ = env.step(1)
    np.testing.assert_allclose(state, [-0.012, -0.0305], rtol=1e-12)
    assert reward == 1.5
    assert (terminated, truncated) == (True, False)


def test_the_agent_drives_in_it_as_in_its_own_log():
    agent = road.solve(road.VARIANTS["alive"])
    log = record(road.environment("alive"), agent.act, samples=2_000, seed=3)
    ends = log.starts[1:] - 1
    after = np.vstack([log.states[1:], log.states[-1:]])
    after[ends] = log.final_states
    expected, reward, ended = road.step(log.states, np.take(road.ACCELERATIONS, log.actions), road.VARIANTS["alive"])
    np.testing.assert_array_equal(after, expected)
    np.testing.assert_array_equal(log.rewards, reward)
    np.testing.assert_array_equal(log.endings, np.where(ended[ends], TERMINATED, TRUNCATED))
    assert set(np.diff(log.starts)[log.endings == TRUNCATED]) == {road.MAX_STEPS}
    np.testing.assert_array_equal(log.actions, agent.act(log.states))


def test_an_unknown_variant_is_named_with_the_known_ones():
    with pytest.raises(ParameterError, match=r"got 'lift'\. Did you mean `left`\?"):
        road.environment("lift")


def test_without_gymnasium_the_pip_command_is_told():
    code = (
        "import sys; sys.modules['gymnasium'] = None\n"
        "from tripletree.demos import road\n"
        "road.record(n_samples=10)\n"
        "try: road.environment()\n"
        "except ImportError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == 'This needs Gymnasium. Type: pip install "tripletree[gym]"'
