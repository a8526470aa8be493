"""``tripletree export``: files from a model file."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from tests.export.models import fitted_on
from tripletree import ParameterError
from tripletree.cli.export import export
from tripletree.cli.wording import for_shell
from tripletree.export.c import to_c
from tripletree.export.rules_json import to_json
from tripletree.store import save


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save(fitted_on("road", 20), "run.tripletree")

    def command(*arguments):
        return CliRunner().invoke(export, ["run.tripletree", *arguments])

    return command


def test_c_comes_as_three_files(run, tmp_path):
    told = run("-o", "policy.c")
    assert (told.exit_code, told.output) == (0, "The tree is in policy.c, policy.h and policy_test.c.\n")
    for name, text in to_c(fitted_on("road", 20)).items():
        assert (tmp_path / name).read_text(encoding="utf-8") == text


def test_options(run, tmp_path):
    told = run("-o", "rules", "--to", "json", "--leaf-model", "linear", "--about", "value")
    assert (told.exit_code, told.output) == (0, "The tree is in rules.\n")
    right = to_json(fitted_on("road", 20), about="value", leaf_model="linear")
    assert json.loads((tmp_path / "rules").read_text(encoding="utf-8")) == json.loads(right)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-o", "policy.joblib"], "--out must end in .c or .py or .onnx or .dot or .json; got 'policy.joblib'."),
        (["-o", "p.dot", "--leaf-model", "linear"], "leave out --leaf-model linear."),
        (["-o", "p.c", "--about", "pos"], "--about must be 'action', 'value'"),
    ],
)
def test_mistakes_name_the_options(run, tmp_path, arguments, message):
    told = run(*arguments)
    assert isinstance(told.exception, ParameterError)
    assert message in for_shell(told.exception, export)
    assert [path.name for path in tmp_path.iterdir()] == ["run.tripletree"]
