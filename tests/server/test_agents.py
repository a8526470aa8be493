"""The agent beside its tree, and the frames of recorded steps."""

from __future__ import annotations

import base64
import zlib

import numpy as np
import pytest

from tripletree import TripleTree, record
from tripletree.errors import ParameterError
from tripletree.web.agents import agent_beside
from tripletree.web.ask import ask
from tripletree.web.errors import AskError
from tripletree.web.frames import png
from tripletree.web.house import House

gymnasium = pytest.importorskip("gymnasium")
pytest.importorskip("pygame")


def lean(state):
    return int(state[2] + state[3] > 0)


def pixels(content):
    """Return the picture in a PNG file that has no filters."""
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = (int.from_bytes(content[at : at + 4], "big") for at in (16, 20))
    begin = content.index(b"IDAT") + 4
    data = zlib.decompress(content[begin : content.index(b"IEND") - 8])
    rows = np.frombuffer(data, np.uint8).reshape(height, 1 + 3 * width)
    return rows[:, 1:].reshape(height, width, 3)


@pytest.fixture(scope="module")
def cart():
    log = record("CartPole-v1", lean, episodes=12)
    tree = TripleTree(30, threads=1).fit(log)
    house = House(tree, log=log, agent=agent_beside(tree.fitted_, "CartPole-v1", lean, name="lean"))
    yield house, tree, log
    house.close()


def test_agent_is_asked_about_recorded_states(cart):
    house, tree, log = cart
    states = log.states[:50].astype(np.float32)
    wanted = [log.schema.action.labels[lean(state)] for state in states]
    assert house.agent.act(log.states[:50]).tolist() == wanted
    found = ask(house, "agreement")
    same = tree.predict(log.states).action == np.array([log.schema.action.labels[lean(one)] for one in log.states])
    assert found["share"] == pytest.approx(np.mean(same))
    assert found["text"].startswith("Tree and agent do the same in")
    assert ask(house, "hello")["can"]["frames"]


def test_frame_is_the_one_of_the_recording(cart):
    house, _, log = cart
    env = gymnasium.make("CartPole-v1", render_mode="rgb_array")
    # The log was recorded with one seed, and its episodes follow each other.
    seen, _ = env.reset(seed=0)
    shown = {}
    for episode in range(3):
        for step in range(int(np.diff(log.starts)[episode])):
            shown[episode, step] = env.render()
            seen = env.step(int(lean(seen)))[0]
        env.reset()
        seen = log.states[log.starts[episode + 1]].astype(np.float32)
    env.close()
    for episode, step in ((0, 0), (0, 7), (2, 5), (2, 6), (0, 3)):
        found = ask(house, "frame", {"episode": episode, "step": step})
        assert found["exact"]
        assert "very frame" in found["text"]
        picture = pixels(base64.b64decode(found["png"]))
        assert np.array_equal(picture, shown[episode, step])
    with pytest.raises(AskError, match="step must be"):
        ask(house, "frame", {"episode": 0, "step": 10_000})


@pytest.mark.filterwarnings("ignore::tripletree.TripleTreeWarning")
@pytest.mark.parametrize("name", ["CartPole-v1", "MountainCar-v0", "Pendulum-v1", "Acrobot-v1", "LunarLander-v3"])
def test_frames_from_states_alone_show_the_same_state(name):
    """A recording that cannot be played again: the environment, put into a state, observes just that state."""
    log = record(name, "random", episodes=2, seed=11)
    tree = TripleTree(4, threads=1).fit(log)
    beside = agent_beside(tree.fitted_, name, "random")
    frames = beside.frame
    found = frames(log, 1, 3)
    assert not found["exact"]
    assert "may differ" in found["text"]
    assert pixels(base64.b64decode(found["png"])).std() > 0
    world, state = frames.env.unwrapped, log.states[log.starts[1] + 3]
    if name.startswith("Lunar"):
        assert float(world.lander.angle) == pytest.approx(state[4], abs=1e-6)
        half = 600 / 30 / 2
        assert (world.lander.position[0] - half) / half == pytest.approx(state[0], abs=1e-5)
    elif hasattr(world, "_get_obs") or hasattr(world, "_get_ob"):
        observed = world._get_obs() if hasattr(world, "_get_obs") else world._get_ob()
        assert observed == pytest.approx(state, abs=1e-5)
    else:
        assert np.asarray(world.state) == pytest.approx(state)


def test_who_sees_something_else_is_refused(cart):
    _, tree, _ = cart
    with pytest.raises(ParameterError, match="4 features"):
        agent_beside(tree.fitted_, "MountainCar-v0", "random")


def test_png_of_an_array():
    picture = np.random.default_rng(0).integers(0, 255, (7, 5, 3)).astype(np.uint8)
    assert np.array_equal(pixels(png(picture)), picture)
