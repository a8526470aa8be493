"""A tree in C is compiled and asked."""

from __future__ import annotations

import subprocess
from dataclasses import replace

import numpy as np
import pytest

from tests.export.models import MODELS, assert_close, fitted_on, grown, made_up, states_of, told_by
from tests.hostile.names import NAMES, hostile_log
from tests.logs import make_log
from tripletree import Action, Feature, ParameterError
from tripletree.export.c import to_c
from tripletree.export.c_text import comment, identifier, literal
from tripletree.log.log import Log

WARNINGS = ("-std=c99", "-O2", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-ffp-contract=off")
# Reads states, and writes the leaf, the label and all targets for each.
DRIVER = """\
#include <stdio.h>
#include "policy.h"
int main(int count, char **files) {
    double state[POLICY_FEATURES], told[TARGETS + 2];
    FILE *in = fopen(files[1], "rb"), *out = fopen(files[2], "wb");
    if (count != 3 || !in || !out) return 1;
    while (fread(state, sizeof state, 1, in) == 1) {
        told[0] = policy_leaf(state);
        told[1] = 0;
        CALLS
        fwrite(told, sizeof told, 1, out);
    }
    return fclose(out) != 0;
}
"""
LABELS = """\
#include <stdio.h>
#include "policy.h"
int main(void) {
    for (int k = 0; k < POLICY_FEATURES; ++k) printf("%s%c", policy_features[k], 0);
    for (int k = 0; k < POLICY_LABELS; ++k) printf("%s%c", policy_labels[k], 0);
    return 0;
}
"""
HOSTILE_TO_C = (
    "*/ int main(void) { return 7; } /*",
    "??/",
    "*??/",
    "*\\",
    '", system("touch hacked"), "',
    "// \\\n#error hacked",
    "*" + "?" * 5 + "/",
    "1?",
)


def compiled(folder, texts, main, *options):
    """Write the files, compile them with one that has a main function, and return the program."""
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    program = folder / "program"
    command = ["cc", *WARNINGS, *options, "policy.c", main, "-o", str(program)]
    made = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    return program


def asked(folder, fitted, states, leaf_model):
    """Return leaves, labels and targets as C has them."""
    action, derivative = (fitted.targets[kind] for kind in ("action", "derivative"))
    targets = derivative.stop
    act = "told[1] = policy_act(state); policy_scores(state, told + 2);"
    calls = act if fitted.schema.action.labels else "policy_act(state, told + 2);"
    calls += f"told[{action.stop + 2}] = policy_value(state); policy_derivative(state, told + {derivative.start + 2});"
    driver = DRIVER.replace("TARGETS", str(targets)).replace("CALLS", calls)
    program = compiled(folder, {**to_c(fitted, leaf_model=leaf_model), "driver.c": driver}, "driver.c")
    states.tofile(folder / "states")
    subprocess.run([program, folder / "states", folder / "told"], check=True)
    told = np.fromfile(folder / "told").reshape(len(states), targets + 2)
    return told[:, 0], told[:, 1], told[:, 2:]


def assert_as_the_tree(folder, fitted, states, leaf_model):
    leaf, label, told = asked(folder, fitted, states, leaf_model)
    right_leaf, right = told_by(fitted, leaf_model, states)
    np.testing.assert_array_equal(leaf, right_leaf)
    assert_close(told, right)
    if fitted.schema.action.labels:
        np.testing.assert_array_equal(label, right[:, fitted.targets["action"]].argmax(axis=1))


@pytest.mark.parametrize("leaf_model", MODELS)
@pytest.mark.parametrize("name", ["road", "lander"])
def test_all_leaves_and_predictions_are_the_trees(tmp_path, name, leaf_model):
    fitted = fitted_on(name)
    assert_as_the_tree(tmp_path, fitted, states_of(fitted, 100_000), leaf_model)


@pytest.mark.parametrize("seed", range(6))
def test_trees_that_no_log_made(tmp_path, seed):
    fitted = made_up(seed, discrete=seed % 2 == 0)
    assert_as_the_tree(tmp_path, fitted, states_of(fitted, 3_000, seed), MODELS[seed // 2 % 2])


@pytest.mark.parametrize("leaf_model", MODELS)
@pytest.mark.parametrize("name", ["road", "lander"])
def test_one_leaf_is_enough(tmp_path, name, leaf_model):
    fitted = fitted_on(name).truncate(1)
    assert_as_the_tree(tmp_path, fitted, states_of(fitted, 50), leaf_model)


@pytest.mark.parametrize("leaf_model", MODELS)
def test_a_log_without_actions_and_rewards(tmp_path, leaf_model):
    log = make_log([[0.1 * k, k * k % 7] for k in range(40)], [0] * 40, [0] * 40, labels=("none",))
    schema = replace(log.schema, has_action=False, has_reward=False)
    fitted = grown(Log(**{**vars(log), "schema": schema}), 6)
    texts = to_c(fitted, leaf_model=leaf_model)
    assert "_act" not in texts["policy.h"]
    assert "_value" not in texts["policy.h"]
    assert subprocess.run([compiled(tmp_path, texts, "policy_test.c")], check=False).returncode == 0


def test_bounds_that_no_float_can_hold(tmp_path):
    fitted = made_up(1, discrete=False)
    fitted = replace(fitted, linear=replace(fitted.linear, high=np.full_like(fitted.linear.high, np.inf)))
    assert_as_the_tree(tmp_path, fitted, states_of(fitted, 100), "linear")


def test_it_is_sound_and_can_be_called_from_cpp(tmp_path):
    texts = to_c(fitted_on("lander"))
    program = compiled(tmp_path, texts, "policy_test.c", "-fsanitize=address,undefined", "-fno-sanitize-recover")
    assert subprocess.run([program], capture_output=True, check=False).returncode == 0
    (tmp_path / "use.cpp").write_text('#include "policy.h"\nint use(const double *s) { return policy_leaf(s); }\n')
    subprocess.run(["c++", "-Wall", "-Wextra", "-Werror", "-c", "use.cpp"], cwd=tmp_path, check=True)


def test_infinite_and_missing_numbers_go_the_trees_way(tmp_path):
    fitted = fitted_on("road")
    states = np.array([[np.inf, 0.03], [-np.inf, 0.03], [np.nan, 0.03], [1.2, np.nan], [-0.0, 0.0], [1e308, -1e308]])
    leaf, _, _ = asked(tmp_path, fitted, states, "mean")
    np.testing.assert_array_equal(leaf, fitted.tree.apply(states))


@pytest.mark.parametrize("leaf_model", MODELS)
@pytest.mark.parametrize("discrete", [True, False])
def test_it_comes_with_a_test_of_its_own(tmp_path, discrete, leaf_model):
    fitted = made_up(3, discrete)
    texts = to_c(fitted, leaf_model=leaf_model)
    assert list(texts) == ["policy.c", "policy.h", "policy_test.c"]
    ran = subprocess.run([compiled(tmp_path, texts, "policy_test.c")], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (0, "96 of 96 states as in the tree\n")
    # Of another tree it says that it is another one.
    texts["policy.c"] = to_c(made_up(4, discrete), leaf_model=leaf_model)["policy.c"]
    ran = subprocess.run([compiled(tmp_path, texts, "policy_test.c")], capture_output=True, text=True, check=False)
    assert ran.returncode == 1
    assert "not what the tree says" in ran.stdout


@pytest.mark.parametrize("about", ["action", "side engine", "value", "derivative", "derivative of y"])
def test_one_attribute_alone(tmp_path, about):
    texts = to_c(fitted_on("lander", 20), about=about)
    ran = subprocess.run([compiled(tmp_path, texts, "policy_test.c")], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (0, "96 of 96 states as in the tree\n")
    kind = "act" if "engine" in about else about.split()[0]
    assert ("policy_value" in texts["policy.h"]) == (kind == "value")
    assert ("policy_derivative" in texts["policy.h"]) == (kind == "derivative")


def test_labels_are_strings(tmp_path):
    texts = {**to_c(fitted_on("road")), "labels.c": LABELS}
    printed = subprocess.run([compiled(tmp_path, texts, "labels.c")], capture_output=True, check=True).stdout
    assert printed.decode().split("\0")[:-1] == ["pos", "speed", "-0.001", "0.001"]


@pytest.mark.parametrize("begin", range(0, len(NAMES), 4))
def test_names_never_become_code(tmp_path, begin):
    fitted = grown(hostile_log(begin), 8)
    assert_names_are_harmless(tmp_path, fitted)


@pytest.mark.parametrize("at", range(0, len(HOSTILE_TO_C), 2))
def test_names_that_are_meant_to_become_code(tmp_path, at):
    fitted = grown(hostile_log(0), 8)
    features = tuple(Feature(f"{name}{k}", name) for k, name in enumerate([*HOSTILE_TO_C, *HOSTILE_TO_C][at : at + 4]))
    labels = tuple(f"{name}{k}" for k, name in enumerate([*HOSTILE_TO_C, *HOSTILE_TO_C][at : at + 3]))
    action = Action("discrete", (HOSTILE_TO_C[at],), labels)
    assert_names_are_harmless(
        tmp_path, replace(fitted, schema=replace(fitted.schema, features=features, action=action))
    )


def assert_names_are_harmless(folder, fitted):
    texts = {**to_c(fitted), "labels.c": LABELS}
    schema = fitted.schema
    printed = subprocess.run(
        [compiled(folder, texts, "labels.c", "-trigraphs")], capture_output=True, check=True
    ).stdout.split(b"\0")[:-1]
    # A string of C ends at the first NUL.
    assert printed == [name.encode().split(b"\0")[0] for name in (*schema.feature_names, *schema.action.labels)]
    program = compiled(folder, texts, "policy_test.c", "-trigraphs")
    assert subprocess.run([program], capture_output=True, cwd=folder, check=False).returncode == 0
    assert not (folder / "hacked").exists()


def test_parts():
    assert identifier("") == "policy"
    assert identifier("größe x") == "gr_e_x"
    assert len(identifier("x" * 300)) == 40
    assert literal("\x01" + "2") == r'"\0012"'
    for name in (*NAMES, *HOSTILE_TO_C):
        inside = comment(name)[1:-1]
        assert not any(bad in inside for bad in ("*/", "/*", "??", "\n", "\r"))


@pytest.mark.parametrize("name", ['a"b', "a\nb", "a b", "größe", ""])
def test_file_names_that_cannot_be_included(name):
    with pytest.raises(ParameterError, match="letters, digits and _"):
        to_c(fitted_on("road"), name=name)
