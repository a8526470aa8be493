"""The tree as a policy at the command line: ``fidelity`` and ``refine``."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from tripletree import ParameterError, load
from tripletree.cli import fly

pytestmark = pytest.mark.filterwarnings("ignore::tripletree.TripleTreeWarning")


def ran(command, *arguments):
    return CliRunner().invoke(command, [str(argument) for argument in arguments])


def test_a_driver_is_flown_beside_its_tree(work, monkeypatch):
    monkeypatch.chdir(work)
    told = ran(fly.fidelity, "run.tripletree", "either", "--episodes", 12)
    assert told.exit_code == 0, told.output
    assert told.stdout.startswith("Flown on 12 fresh episodes, the tree gets ")
    data = json.loads(ran(fly.fidelity, "run.tripletree", "either", "--episodes", 3, "--json").stdout)
    assert data["episodes"] == 3
    mean = json.loads(
        ran(fly.fidelity, "run.tripletree", "either", "--episodes", 3, "--leaf-model", "mean", "--json").stdout
    )
    assert (data["leaf_model"], mean["leaf_model"]) == ("linear", "mean")


def test_a_refined_tree_is_written(work, monkeypatch):
    monkeypatch.chdir(work)
    few = ["--rounds", 1, "--episodes", 3, "--judge", 3]
    told = ran(fly.refine, "run.tripletree", "either", "--log", "run.csv", "-o", "new.tripletree", *few)
    assert told.exit_code == 0, told.output
    assert "Round 1: " in told.stdout
    assert told.stdout.endswith("The model is in new.tripletree.\n")
    old, new = load("run.tripletree"), load("new.tripletree")
    assert new.fitted_.provenance["samples"] > old.fitted_.provenance["samples"]


def test_mistakes_are_told(work, monkeypatch):
    monkeypatch.chdir(work)
    told = ran(fly.fidelity, "run.tripletree", "eiter")
    assert told.exit_code == 2
    assert "Who acts in eiter? Give --agent FILE.zip, --agent FILE.onnx or --agent random. Did you mean `either`?" in (
        told.output
    )
    told = ran(fly.fidelity, "run.tripletree", "CartPole-v1", "--agent", "random")
    assert isinstance(told.exception, ParameterError)
    assert "has 2 features" in str(told.exception)
