"""The explorer beside agents of others, from the command line to the page: a file of Stable-Baselines3, a network."""

from __future__ import annotations

import os
import subprocess
import sys

import gymnasium
import numpy as np
import pytest

from tests.web.pages import says
from tripletree import TripleTree, record

pytestmark = pytest.mark.filterwarnings(
    "ignore::tripletree.TripleTreeWarning", "ignore::DeprecationWarning", "ignore:.*[Gg]ym.*:UserWarning"
)


def stable_baselines(need, folder):
    """Write an agent for the lander that has learned nothing yet: what it does is all the same here."""
    need("torch").set_num_threads(1)
    need("Box2D")
    model = need("stable_baselines3").PPO("MlpPolicy", "LunarLander-v3", seed=0, device="cpu")
    model.save(folder / "agent.zip")
    return "LunarLander-v3", "agent.zip", ["--trust"], lambda states: model.predict(states, deterministic=True)[0]


def network(need, folder):
    """Write a network of one layer that balances a pole."""
    onnx = need("onnx")
    need("onnxruntime")
    helper, kind = onnx.helper, onnx.TensorProto.FLOAT
    weights = np.array([[0, 0], [0, 0], [-1, 1], [-1, 1]], np.float32)
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["observation", "w"], ["action"])],
        "policy",
        [helper.make_tensor_value_info("observation", kind, ["batch", 4])],
        [helper.make_tensor_value_info("action", kind, ["batch", 2])],
        [onnx.numpy_helper.from_array(weights, "w")],
    )
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), folder / "agent.onnx"
    )
    return "CartPole-v1", "agent.onnx", [], lambda states: (states.astype(np.float32) @ weights).argmax(axis=1)


@pytest.mark.parametrize("agent", [stable_baselines, network])
def test_an_agent_of_others_stands_beside_its_tree(need, chromium, tmp_path, agent):
    need("pygame")
    env, file, more, act = agent(need, tmp_path)
    log = record(env, str(tmp_path / file), episodes=3, seed=0, trust=bool(more))
    log.to_npz(tmp_path / "log.npz")
    tree = TripleTree(12, threads=1).fit(log)
    tree.save(tmp_path / "tree.tripletree")
    words = ["explore", "tree.tripletree", "--log", "log.npz", "--agent", file, "--env", env, "--no-browser", *more]
    program = subprocess.Popen(
        [sys.executable, "-m", "tripletree", *words],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "COLUMNS": "300", "SDL_VIDEODRIVER": "dummy"},
    )
    try:
        address = program.stdout.readline().split()[1]
        page = chromium.new_page(viewport={"width": 1280, "height": 860})
        page.set_default_timeout(60_000)
        page.goto(f"{address}#tab=agent")
        # The tree and the agent are asked here, and there, about the same recorded states.
        does = np.array(log.schema.action.labels)[np.asarray(act(log.states)).astype(int)]
        same = np.mean(tree.predict(log.states).action == does)
        says(page, ".tx-panel:not([hidden])", f"Tree and agent do the same in {100 * same:.0f} %")
        page.goto(f"{address}#tab=episodes&episode=1&step=5")
        page.get_by_role("button", name="Show the frame").click()
        page.wait_for_function("() => document.querySelector('.tx-frame img')?.naturalWidth > 100")
        assert "very frame" in page.locator(".tx-frame figcaption").inner_text()
        world = gymnasium.make(env, render_mode="rgb_array")
        world.reset(seed=0)
        assert page.evaluate("document.querySelector('.tx-frame img').naturalHeight") == world.render().shape[0]
        world.close()
        page.close()
    finally:
        program.terminate()
        program.communicate(timeout=60)
