"""Exported trees in the libraries that they are for: onnxruntime, shap, and an agent made of a tree."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from tests.export.models import MODELS, assert_close, fitted_on, grown, made_up, states_of, told_by
from tests.hostile.names import hostile_log
from tripletree import TripleTree, record
from tripletree.demos import road
from tripletree.export.onnx_model import to_onnx
from tripletree.export.scikit_learn import to_sklearn
from tripletree.export.write import export


@pytest.fixture
def run(need):
    """Return a function that runs an exported tree on states, and gives its outputs by name."""
    onnx, runtime = need("onnx"), need("onnxruntime")

    def outputs(fitted, states, wanted=None, **options):
        model = to_onnx(fitted, **options)
        onnx.checker.check_model(model, full_check=True)
        session = runtime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        names = wanted or [output.name for output in session.get_outputs()]
        return dict(zip(names, session.run(names, {"state": states}), strict=True))

    return outputs


def assert_as_the_tree(run, fitted, states, leaf_model):
    told = run(fitted, states, leaf_model=leaf_model)
    leaf, right = told_by(fitted, leaf_model, states)
    np.testing.assert_array_equal(told["leaf"], leaf)
    action, value, derivative = (right[:, fitted.targets[kind]] for kind in ("action", "value", "derivative"))
    if fitted.schema.action.labels:
        assert list(told) == ["action", "scores", "value", "derivative", "leaf"]
        assert_close(told["scores"], action)
        # Sums in another order may differ in the last digit, and so may a choice between equals.
        first, second = np.sort(action, axis=1)[:, [-1, -2]].T
        clear = first - second > 1e-12
        assert clear.mean() > 0.5
        np.testing.assert_array_equal(told["action"][clear], action.argmax(axis=1)[clear])
        np.testing.assert_array_equal(told["action"], told["scores"].argmax(axis=1))
    else:
        assert list(told) == ["action", "value", "derivative", "leaf"]
        assert_close(told["action"], action)
    assert_close(told["value"], value[:, 0])
    assert_close(told["derivative"], derivative)
    assert {name: numbers.dtype for name, numbers in told.items() if name in ("value", "leaf")} == {
        "value": np.float64,
        "leaf": np.int64,
    }


@pytest.mark.parametrize("leaf_model", MODELS)
@pytest.mark.parametrize("name", ["road", "lander"])
def test_onnx_is_the_tree_on_all_states(run, name, leaf_model):
    fitted = fitted_on(name)
    assert_as_the_tree(run, fitted, states_of(fitted, 100_000), leaf_model)


@pytest.mark.parametrize("seed", range(6))
def test_onnx_of_trees_that_no_log_made(run, seed):
    fitted = made_up(seed, discrete=seed % 2 == 0)
    assert_as_the_tree(run, fitted, states_of(fitted, 3_000, seed), MODELS[seed // 2 % 2])


@pytest.mark.parametrize("leaf_model", MODELS)
@pytest.mark.parametrize("name", ["road", "lander"])
def test_onnx_of_one_leaf(run, name, leaf_model):
    fitted = fitted_on(name).truncate(1)
    assert_as_the_tree(run, fitted, states_of(fitted, 40), leaf_model)


@pytest.mark.parametrize("n", [0, 1])
def test_onnx_of_few_states(run, n):
    fitted = fitted_on("lander")
    told = run(fitted, states_of(fitted, 1)[:n])
    assert {name: numbers.shape for name, numbers in told.items()} == {
        "action": (n, 2),
        "value": (n,),
        "derivative": (n, 8),
        "leaf": (n,),
    }


def test_onnx_sends_missing_numbers_where_the_tree_does(run):
    fitted = fitted_on("road")
    states = np.array([[np.nan, 0.03], [1.2, np.nan], [np.inf, 0.0], [-np.inf, 0.0], [-0.0, 0.0]])
    np.testing.assert_array_equal(run(fitted, states, leaf_model="mean")["leaf"], fitted.tree.apply(states))


def test_onnx_of_one_attribute(run):
    fitted = fitted_on("lander")
    states = states_of(fitted, 100)
    told = run(fitted, states, about="side engine")
    assert list(told) == ["action", "leaf"]
    assert_close(told["action"][:, 0], told_by(fitted, "linear", states)[1][:, 1])
    assert list(run(fitted, states, wanted=["value"])) == ["value"]


@pytest.mark.parametrize("discrete", [True, False])
@pytest.mark.parametrize("begin", [0, 12, 22, 30])
def test_onnx_keeps_names_as_data(run, begin, discrete):
    fitted = grown(hostile_log(begin, discrete), 8)
    assert_as_the_tree(run, fitted, states_of(fitted, 50), "mean")
    said = {entry.key: json.loads(entry.value) for entry in to_onnx(fitted).metadata_props}
    action = fitted.schema.action
    assert said["features"] == list(fitted.schema.feature_names)
    assert said["action"] == list(action.labels or action.names)


@pytest.mark.filterwarnings("ignore")
def test_a_tree_can_fly(run, need, tmp_path):
    need("gymnasium")
    fitted = fitted_on("lander")
    (path,) = export(fitted, None, tmp_path / "policy.onnx", about="action")
    log = record("LunarLanderContinuous-v3", path, episodes=2, seed=1)
    right = told_by(fitted, "linear", log.states)[1][:, :2]
    np.testing.assert_allclose(log.actions, np.clip(right, -1, 1), atol=1e-6)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("name", "about"), [("road", "action"), ("road", "value"), ("lander", "main engine"), ("lander", "derivative of y")]
)
def test_shap_explains_it(need, name, about):
    shap = need("shap")
    fitted = fitted_on(name)
    made = to_sklearn(fitted, about=about)
    states = states_of(fitted, 50).astype(np.float32)
    explainer = shap.TreeExplainer(made)
    parts = explainer.shap_values(states)
    told = made.predict_proba(states) if about == "action" else made.predict(states)[:, None]
    parts = parts.reshape(len(states), len(fitted.schema.features), -1)
    np.testing.assert_allclose(parts.sum(axis=1) + explainer.expected_value, told, atol=1e-6)
    # What is expected is the mean over the log.
    root = made.tree_.value[0].ravel()
    np.testing.assert_allclose(explainer.expected_value, root, atol=1e-6)


def test_the_manual_runs(need):
    need("onnx")
    need("onnxruntime")
    page = (Path(__file__).parents[2] / "docs/exporting.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```py\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    log = road.record("left", n_samples=2_000)
    tree = TripleTree(max_leaves=20).fit(log)
    namespace = {"log": log, "tree": tree}
    exec(compile(block, "exporting.md", "exec"), namespace)
    assert np.array(namespace["labels"])[namespace["action"]].tolist() == tree.predict(log.states).action.tolist()
