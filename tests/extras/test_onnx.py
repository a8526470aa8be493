"""Recording ONNX networks: made by onnx, exported from PyTorch, run by onnxruntime."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector import SyncVectorEnv

from tripletree import ParameterError, record


@pytest.fixture(scope="module")
def linear(need, tmp_path_factory):
    """Return a function that writes a network of one layer, and returns its path."""
    onnx = need("onnx")
    need("onnxruntime")
    helper, kinds = onnx.helper, onnx.TensorProto
    folder = tmp_path_factory.mktemp("networks")

    def write(weights, *, batch="batch", kind=kinds.FLOAT, largest=False, before=()):
        weights = np.asarray(weights, helper.tensor_dtype_to_np_dtype(kind))
        inputs, outputs = weights.shape
        nodes = [helper.make_node("MatMul", ["observation", "w"], ["action"])]
        made = [helper.make_tensor_value_info(name, kind, [batch, size]) for name, size in before]
        if largest:
            nodes[0].output[0] = "scores"
            nodes.append(helper.make_node("ArgMax", ["scores"], ["action"], axis=1, keepdims=0))
            made.append(helper.make_tensor_value_info("action", kinds.INT64, [batch]))
        else:
            made.append(helper.make_tensor_value_info("action", kind, [batch, outputs]))
        nodes += [helper.make_node("MatMul", ["observation", f"w_{name}"], [name]) for name, _ in before]
        graph = helper.make_graph(
            nodes,
            "policy",
            [helper.make_tensor_value_info("observation", kind, [batch, inputs])],
            made,
            [
                onnx.numpy_helper.from_array(weights, "w"),
                *(
                    onnx.numpy_helper.from_array(np.ones((inputs, size), weights.dtype), f"w_{name}")
                    for name, size in before
                ),
            ],
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        path = folder / f"policy{len(list(folder.iterdir()))}.onnx"
        onnx.save(model, path)
        return path

    return write


BALANCE = [[0, 0], [0, 0], [-1, 1], [-1, 1]]


def balance(state):
    return int(state[2] + state[3] > 0)


def test_one_number_for_each_action_is_a_choice(linear):
    expected = record("CartPole-v1", balance, episodes=3)
    assert record("CartPole-v1", linear(BALANCE), episodes=3).fingerprint() == expected.fingerprint()
    assert record("CartPole-v1", str(linear(BALANCE, largest=True)), episodes=3).fingerprint() == expected.fingerprint()


@pytest.mark.parametrize("largest", [False, True])
def test_other_outputs_are_passed_over(linear, largest):
    path = linear(BALANCE, largest=largest, before=[("value", 1), ("features", 3)])
    assert (
        record("CartPole-v1", path, episodes=2).fingerprint()
        == record("CartPole-v1", balance, episodes=2).fingerprint()
    )


@pytest.mark.parametrize("batch", ["batch", 1])
def test_several_environments_at_once(linear, batch):
    envs = SyncVectorEnv([lambda: gymnasium.make("CartPole-v1")] * 3)
    expected = record(envs, balance, episodes=6)
    assert record(envs, linear(BALANCE, batch=batch), episodes=6).fingerprint() == expected.fingerprint()


def test_numbers_are_cut_at_the_limits(linear, need):
    log = record("Pendulum-v1", linear([[0], [0], [-5]]), episodes=1)
    np.testing.assert_allclose(log.actions[:, 0], np.clip(-5 * log.states[:, 2], -2, 2), rtol=1e-5)
    assert np.abs(log.actions).max() == 2
    double = linear([[0], [0], [-5]], kind=need("onnx").TensorProto.DOUBLE)
    np.testing.assert_allclose(record("Pendulum-v1", double, episodes=1).actions[:50], log.actions[:50], atol=1e-3)


def test_several_choices_have_their_own_numbers(linear):
    class Toy(gymnasium.Env):
        observation_space = spaces.Box(-1, 1, (2,))
        action_space = spaces.MultiDiscrete([2, 3])

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            self.steps = 0
            return self.observe(), {}

        def observe(self):
            return self.np_random.uniform(-1, 1, 2).astype(np.float32)

        def step(self, action):
            self.steps += 1
            return self.observe(), 0.0, self.steps == 9, False, {}

    with pytest.warns(UserWarning, match="6 combinations"):
        log = record(Toy(), linear([[-1, 1, 0, 0, 0], [0, 0, -1, 0, 1]]), episodes=3)
    labels = np.array(log.schema.action.labels)[log.actions]
    assert all(label[0] == str(int(state[0] > 0)) for label, state in zip(labels, log.states, strict=True))
    assert all(label[-1] == ("2" if state[1] > 0 else "0") for label, state in zip(labels, log.states, strict=True))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_network_exported_from_pytorch(need, tmp_path):
    torch = need("torch")
    need("onnxruntime")
    torch.manual_seed(0)
    network = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))
    path = tmp_path / "policy.onnx"
    torch.onnx.export(
        network, torch.zeros(1, 4), path, dynamo=False, dynamic_axes={"input": {0: "n"}}, input_names=["input"]
    )

    def act(state):
        with torch.no_grad():
            return int(network(torch.as_tensor(state)).argmax())

    assert record("CartPole-v1", path, episodes=3).fingerprint() == record("CartPole-v1", act, episodes=3).fingerprint()


def test_networks_that_do_not_fit_are_one_line(linear, tmp_path):
    slips = [
        (
            linear(np.ones((3, 2))),
            r"policy\d+\.onnx takes inputs of shape \['batch', 3\], and observations here are Box",
        ),
        (linear(np.ones((4, 3))), r"returned outputs of shape \(1, 3\), and none is an action in Discrete\(2\)\."),
        (tmp_path / "broken.onnx", r"broken\.onnx cannot be loaded as an ONNX network: "),
    ]
    (tmp_path / "broken.onnx").write_bytes(b"nonsense")
    for path, match in slips:
        with pytest.raises(ParameterError, match=match) as caught:
            record("CartPole-v1", path, episodes=1)
        assert "\n" not in str(caught.value)


def test_a_network_with_a_memory_is_recorded_by_a_function(need, tmp_path):
    onnx = need("onnx")
    helper, float32 = onnx.helper, onnx.TensorProto.FLOAT
    inputs = [helper.make_tensor_value_info(name, float32, [1, 4]) for name in ("observation", "hidden")]
    graph = helper.make_graph(
        [helper.make_node("Add", ["observation", "hidden"], ["action"])],
        "policy",
        inputs,
        [helper.make_tensor_value_info("action", float32, [1, 4])],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "a.onnx")
    with pytest.raises(
        ParameterError, match=r"a\.onnx has the inputs observation, hidden; expected one, the observation\."
    ):
        record("CartPole-v1", tmp_path / "a.onnx", episodes=1)


class Halving:
    """What VecNormalize looks like."""

    def normalize_obs(self, seen):
        return {key: part / 2 for key, part in seen.items()} if isinstance(seen, dict) else seen / 2


def test_a_network_sees_what_is_normalized(linear):
    log = record("Pendulum-v1", linear([[0], [0], [-1]]), episodes=1, normalize=Halving())
    np.testing.assert_allclose(log.actions[:, 0], np.clip(-log.states[:, 2] / 2, -2, 2), rtol=1e-5)


def test_a_network_may_have_an_input_for_each_part(need, tmp_path):
    onnx = need("onnx")
    helper, float32 = onnx.helper, onnx.TensorProto.FLOAT

    class Parts(gymnasium.Env):
        observation_space = spaces.Dict(here=spaces.Box(-1, 1, (1,)), there=spaces.Box(-1, 1, (1,)))
        action_space = spaces.Box(-2, 2, (1,))

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            self.steps = 0
            return self.observe(), {}

        def observe(self):
            return {key: self.np_random.uniform(-1, 1, 1).astype(np.float32) for key in ("here", "there")}

        def step(self, action):
            self.steps += 1
            return self.observe(), 0.0, False, self.steps == 9, {}

    graph = helper.make_graph(
        [helper.make_node("Sub", ["there", "here"], ["action"])],
        "policy",
        [helper.make_tensor_value_info(name, float32, ["n", 1]) for name in ("there", "here")],
        [helper.make_tensor_value_info("action", float32, ["n", 1])],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "a.onnx")
    for normalize, scale in ((None, 1), (Halving(), 0.5)):
        log = record(Parts(), tmp_path / "a.onnx", episodes=2, normalize=normalize)
        expected = scale * (log.states[:, 1] - log.states[:, 0])
        np.testing.assert_allclose(log.actions[:, 0], expected, rtol=1e-4, atol=1e-6)
