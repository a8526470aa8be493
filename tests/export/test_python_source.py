"""A tree in Python is imported and asked, by a Python that knows no numpy."""

from __future__ import annotations

import ast
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from tests.export.models import MODELS, assert_close, fitted_on, grown, made_up, states_of, told_by
from tests.hostile.names import NAMES, hostile_log
from tripletree.export.python_source import to_python


def imported(source):
    found = {"__name__": "policy"}
    exec(compile(source, "policy.py", "exec"), found)
    return found


def assert_as_the_tree(fitted, states, leaf_model):
    module = imported(to_python(fitted, leaf_model=leaf_model))
    right_leaf, right = told_by(fitted, leaf_model, states)
    rows = states.tolist()
    assert [module["leaf"](row) for row in rows] == right_leaf.tolist()
    action, value, derivative = (right[:, fitted.targets[kind]] for kind in ("action", "value", "derivative"))
    labels = fitted.schema.action.labels
    assert_close([module["scores" if labels else "act"](row) for row in rows], action)
    if labels:
        assert [module["act"](row) for row in rows] == [labels[k] for k in action.argmax(axis=1)]
    assert_close([module["value"](row) for row in rows], value[:, 0])
    assert_close([module["derivative"](row) for row in rows], derivative)


@pytest.mark.parametrize(
    ("name", "leaf_model", "n"),
    [("road", "linear", 100_000), ("road", "mean", 2_000), ("lander", "linear", 5_000), ("lander", "mean", 2_000)],
)
def test_all_leaves_and_predictions_are_the_trees(name, leaf_model, n):
    fitted = fitted_on(name)
    assert_as_the_tree(fitted, states_of(fitted, n), leaf_model)


@pytest.mark.parametrize("seed", range(6))
def test_trees_that_no_log_made(seed):
    fitted = made_up(seed, discrete=seed % 2 == 0)
    assert_as_the_tree(fitted, states_of(fitted, 1_000, seed), MODELS[seed // 2 % 2])


@pytest.mark.parametrize("leaf_model", MODELS)
@pytest.mark.parametrize("name", ["road", "lander"])
def test_one_leaf_is_enough(name, leaf_model):
    fitted = fitted_on(name).truncate(1)
    assert_as_the_tree(fitted, states_of(fitted, 20), leaf_model)


@pytest.mark.parametrize("leaf_model", MODELS)
@pytest.mark.parametrize("discrete", [True, False])
def test_it_needs_nothing_and_tests_itself(tmp_path, discrete, leaf_model):
    source = to_python(made_up(3, discrete), leaf_model=leaf_model)
    assert not [part for part in ast.walk(ast.parse(source)) if isinstance(part, ast.Import | ast.ImportFrom)]
    file = tmp_path / "policy.py"
    file.write_text(source, encoding="utf-8")
    command = [sys.executable, "-I", "-S", str(file)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "96 of 96 states as in the tree\n", "")
    file.write_text(source.replace(">= _THRESHOLD", "> _THRESHOLD"), encoding="utf-8")
    assert subprocess.run(command, capture_output=True, text=True, check=False).returncode == 1


@pytest.mark.parametrize("about", ["action", "side engine", "value", "derivative", "derivative of y"])
def test_one_attribute_alone(about):
    fitted = fitted_on("lander", 20)
    module = imported(to_python(fitted, about=about))
    assert module["_test"]() == (0, 96)
    assert ("value" in module, "derivative" in module) == (about == "value", about.startswith("derivative"))
    assert module.get("ACTION", ()) == {"action": ("main engine", "side engine"), "side engine": ("side engine",)}.get(
        about, ()
    )


@pytest.mark.parametrize("discrete", [True, False])
@pytest.mark.parametrize("begin", range(0, len(NAMES), 4))
def test_names_never_become_code(begin, discrete):
    fitted = grown(hostile_log(begin, discrete), 8)
    source = to_python(fitted)
    assert source == source.encode().decode()
    assert all(character == "\n" or character.isprintable() for character in source)
    module = imported(source)
    assert module["_test"]() == (0, 96)
    schema = fitted.schema
    for feature, name in zip(schema.features, module["FEATURES"], strict=True):
        assert name == (f"{feature.name} {feature.unit}" if feature.unit else feature.name)
    if discrete:
        assert module["LABELS"] == schema.action.labels
    names = {node.name for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)}
    assert names <= {"leaf", "act", "scores", "value", "derivative", "_predict", "_best", "_test"}


def test_infinite_bounds_are_numbers():
    fitted = made_up(1, discrete=False)
    fitted = replace(fitted, linear=replace(fitted.linear, high=np.full_like(fitted.linear.high, np.inf)))
    assert_as_the_tree(fitted, states_of(fitted, 100), "linear")
