"""Files: the format follows from the ending, and mistakes are said before anything is written."""

from __future__ import annotations

import json
import sys
from dataclasses import replace

import numpy as np
import pytest

from tests.export.models import fitted_on
from tripletree import MissingDependencyError, ParameterError
from tripletree.export.program import program, trials
from tripletree.export.write import FORMATS, export


def test_the_ending_says_the_format(tmp_path):
    fitted = fitted_on("road", 10)
    assert [path.name for path in export(fitted, None, tmp_path / "best-1.c")] == [
        "best-1.c",
        "best-1.h",
        "best-1_test.c",
    ]
    assert "int best_1_leaf(" in (tmp_path / "best-1.h").read_text()
    assert export(fitted, None, tmp_path / "a.PY") == (tmp_path / "a.PY",)
    assert (tmp_path / "a.PY").read_text().startswith('"""Made by tripletree')
    export(fitted, None, str(tmp_path / "a.dot"))
    assert (tmp_path / "a.dot").read_text().startswith("digraph")
    export(fitted, "json", tmp_path / "rules")
    assert json.loads((tmp_path / "rules").read_text())["leaf_model"] == "linear"


def test_the_tree_says_what_leaves_predict():
    fitted = fitted_on("road", 10)
    assert program(fitted).slopes is not None
    assert program(fitted, leaf_model="mean").slopes is None
    plain = replace(fitted, options={**fitted.options, "leaf_model": "mean"})
    assert program(plain).slopes is None
    assert program(plain, leaf_model="linear").slopes is not None
    # Files of older versions do not say.
    assert program(replace(fitted, options={}, linear=None)).slopes is None


def test_all_slopes_are_there_once():
    made = program(fitted_on("lander", 30))
    slope = made.slopes.slope
    begin, feature, found = made.slopes.terms()
    assert len(begin) == made.centre.size + 1
    again = np.zeros((made.centre.size, slope.shape[2]), np.float32)
    again[np.repeat(np.arange(made.centre.size), np.diff(begin)), feature] = found
    np.testing.assert_array_equal(again.reshape(slope.shape), slope)


def test_a_program_is_tested_on_borders():
    fitted = fitted_on("road", 10)
    tried = trials(fitted)
    assert len(tried.states) == 96
    edges = fitted.tree.threshold[fitted.tree.left >= 0]
    assert np.isin(tried.states, edges).any(axis=1).sum() >= 24
    assert fitted.outside(tried.states).any()
    assert len(np.unique(tried.leaf)) > 5


def test_nothing_overflows_at_the_ends_of_the_numbers():
    fitted = fitted_on("road", 10)
    wide = replace(fitted, feature_min=np.full(2, -1.7e308), feature_max=np.full(2, 1.7e308))
    assert np.isfinite(trials(wide).states).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"to": None, "path": "policy.joblib"}, r"must end in \.c or \.py or \.onnx or \.dot or \.json"),
        ({"to": "rust", "path": "policy.rs"}, "to must be 'c', 'python', 'onnx', 'dot' or 'json'"),
        ({"to": "c", "path": "policy.h"}, r"must end in \.c; got 'policy\.h'"),
        ({"to": None, "path": "my policy.c"}, r'Try path="policy\.c"'),
        ({"to": None, "path": "policy.c", "about": "pos"}, "Did you mean `derivative of pos`"),
        ({"to": None, "path": "policy.c", "leaf_model": "cubic"}, "leaf_model must be 'mean' or 'linear'"),
        ({"to": None, "path": "policy.dot", "leaf_model": "linear"}, "leave out leaf_model"),
        ({"to": None, "path": 7}, "Expected a path, got int"),
        ({"to": None, "path": "none/policy.c"}, "Cannot write 'none/policy.c': No such file or directory"),
    ],
)
def test_mistakes(tmp_path, monkeypatch, options, message):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ParameterError, match=message):
        export(fitted_on("road", 10), **options)
    assert not list(tmp_path.iterdir())


def test_a_tree_without_linear_leaves(tmp_path):
    fitted = replace(fitted_on("road", 10), linear=None)
    for ending in (".c", ".py", ".json"):
        with pytest.raises(ParameterError, match=r'no linear leaves\. Export it with leaf_model="mean"'):
            export(fitted, None, tmp_path / f"policy{ending}", leaf_model="linear")
        export(fitted, None, tmp_path / f"policy{ending}", leaf_model="mean")


def test_onnx_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(MissingDependencyError, match=r'pip install "tripletree\[onnx\]"'):
        export(fitted_on("road", 10), None, tmp_path / "policy.onnx")


def test_the_command_offers_every_format():
    from tripletree.cli.export import FORMATS as OFFERED

    assert tuple(FORMATS) == OFFERED
