"""Text among the features: categories as features of their own, in files, in conditions and in states."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tripletree import Feature, Log, ParameterError, Schema, TripleTree, load, read_log
from tripletree.errors import LogError
from tripletree.language.conditions import changed_clause, clause, state
from tripletree.language.parser import read_expression

MODES = ["auto", "manual", "coast", "auto", "coast", "auto"]


def table(**changes: Any) -> dict[str, Any]:
    base = {"episode": [0, 0, 0, 1, 1, 1], "mode": MODES, "x": [0.5, 1, 2, 3, 4, 5], "action": [0, 1] * 3}
    return {**base, "reward": [0, 1, 2, 3, 4, 5], **changes}


def test_each_category_is_a_feature() -> None:
    log = Log.from_dict(table())
    assert log.schema.feature_names == ("mode is auto", "mode is coast", "mode is manual", "x")
    assert log.states[:, 0].tolist() == [1, 0, 0, 1, 0, 1]
    assert log.schema.columns == {"mode": ["auto", "coast", "manual"], "x": []}
    assert (log.states[:, :3].sum(axis=1) == 1).all()


@given(st.lists(st.sampled_from(["a", "b b", "c/d", "ü"]), min_size=2, max_size=20).filter(lambda x: len(set(x)) > 1))
def test_text_comes_back_from_a_table(texts: list[str]) -> None:
    n = len(texts)
    log = Log.from_dict(
        {
            "episode": [0] * n,
            "mode": texts,
            "x": np.arange(n) / 3,
            "action": [k % 2 for k in range(n)],
            "reward": [1.5] * n,
        }
    )
    frame = log.to_pandas()
    assert frame["mode"].tolist() == texts
    again = Log.from_frame(frame)
    assert np.array_equal(again.states, log.states)
    assert again.schema == log.schema


@pytest.mark.parametrize("ending", ["npz", "parquet"])
def test_files_keep_categories(tmp_path: Path, ending: str) -> None:
    following = [*MODES[1:3], "manual", *MODES[4:], "coast"]
    log = Log.from_dict(table(next_mode=following, next_x=[1.0, 2, 9, 4, 5, 9]))
    path = tmp_path / f"log.{ending}"
    log.to_npz(path) if ending == "npz" else log.to_parquet(path)
    again = read_log(path)
    assert again.fingerprint() == log.fingerprint()
    assert again.schema.features[0] == Feature("mode is auto", "", "binary", "mode", "auto")
    assert again.final_states.tolist() == [[0, 0, 1, 9], [0, 1, 0, 9]]


def test_codes_can_be_categories() -> None:
    codes = [10, 2, 2, 10, 1, 1]
    log = Log.from_dict(table(mode=codes), kinds={"mode": "category"})
    assert log.schema.feature_names[:3] == ("mode is 1", "mode is 2", "mode is 10")
    log = Log.from_dict(table(mode=[1.0, 2, 2, 1, 1, 1]), kinds={"mode": "category"})
    assert log.schema.feature_names[:2] == ("mode is 1", "mode is 2")


def test_categories_can_be_listed() -> None:
    log = Log.from_dict(table(), kinds={"mode": ["manual", "auto", "coast", "sport"]})
    assert log.schema.columns["mode"] == ["manual", "auto", "coast", "sport"]
    assert not log.states[:, 3].any()
    with pytest.raises(LogError, match="Feature `mode` holds `coast`, `manual`; known are `auto`, `manuel`"):
        Log.from_dict(table(), kinds={"mode": ["auto", "manuel"]})


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ([f"id{k}" for k in range(40)], r"`mode` holds 40 different texts; categories are made of 1 to 32.*ignore="),
        (["a", "1,5"] * 20, r"`mode` holds text \(first in row 0: 'a'\).*kinds=\{\"mode\": \"category\"\}"),
        (["3 km/h", "b"] * 20, r"`mode` holds text"),
        (["on", "on"] * 20, "No column is left for the state: all of them always hold the same text"),
    ],
)
def test_text_that_is_no_category(column: list[str], message: str) -> None:
    n = len(column)
    with pytest.raises(LogError, match=message):
        Log.from_dict({"episode": [0] * n, "mode": column, "action": [0] * n, "reward": [0.0] * n})


def test_kinds_that_are_none_are_refused() -> None:
    for kind in (3, {"a": 1}, []):
        with pytest.raises(LogError, match=r"kinds must be 'real', 'binary'|Feature `x` holds"):
            Log.from_dict(table(), kinds={"x": kind})


def test_text_that_never_changes_is_set_aside() -> None:
    log = Log.from_dict(table(site=["Berlin"] * 6))
    assert "site" not in str(log.schema.feature_names)
    assert "`site` is always `Berlin`, so it was set aside" in str(log.check())


def test_text_in_arrays_is_still_a_mistake() -> None:
    with pytest.raises(LogError, match="Feature `s0` holds text"):
        Log.from_arrays([["a"], ["b"]], [0, 1], [0, 1], starts=[0])


def test_only_binary_features_are_categories() -> None:
    with pytest.raises(LogError, match="only a binary feature has a column and a category"):
        Feature("mode is auto", column="mode", category="auto")
    with pytest.raises(LogError, match="and it has both"):
        Feature("mode is auto", kind="binary", column="mode")


AUTO = Feature("time in use is on", kind="binary", column="time in use", category="on")


def test_sentences_say_is_and_is_not() -> None:
    assert clause(AUTO, 0.5, math.inf) == "time in use is on"
    assert clause(AUTO, -math.inf, 0.5) == "time in use is not on"
    assert clause(AUTO, 0, 0) == "time in use is not on"
    assert changed_clause(AUTO, "=", 1.0) == "time in use is on"
    log = Log.from_dict(table())
    assert state(log.schema, [0, 1, 0, 2.5]) == "mode is coast, x = 2.5"


def schema() -> Schema:
    return Log.from_dict(table(mode=["auto", "very slow", "coast", "auto", "coast", "auto"])).schema


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("mode is auto", {"mode is auto": 1.0}),
        ("mode is not auto and x < 2", {"mode is auto": 0.0, "x": ...}),
        ("mode = very slow", {"mode is very slow": 1.0}),
        ('mode != "very slow"', {"mode is very slow": 0.0}),
        ("mode is auto = 0", {"mode is auto": 0.0}),
    ],
)
def test_conditions_as_text(text: str, found: dict[str, Any]) -> None:
    read = read_expression(text, schema())
    assert {name: ... if found[name] is ... else wanted for name, wanted in read.items()} == found


def test_a_state_in_one_mode_is_in_no_other() -> None:
    read = read_expression("mode = coast, x = 2", schema(), state=True)
    assert read == {"mode is auto": 0.0, "mode is coast": 1.0, "mode is very slow": 0.0, "x": 2.0}


def test_an_unknown_category_is_pointed_at() -> None:
    with pytest.raises(ParameterError, match=r"zone wants `mode` to be `atuo`; it may be .*Did you mean `auto`"):
        read_expression("x < 2 and mode is atuo", schema())
    with pytest.raises(ParameterError, match="zone is empty: no `mode is auto` meets"):
        read_expression("mode is auto and mode is not auto", schema())


@pytest.fixture(scope="module")
def tree() -> TripleTree:
    rng = np.random.default_rng(0)
    modes = np.array(["auto", "manual", "coast"])[rng.integers(0, 3, 300)]
    log = Log.from_dict(
        {
            "episode": np.repeat(np.arange(10), 30),
            "mode": modes,
            "x": rng.random(300),
            "action": np.where(modes == "auto", "go", "stop"),
            "reward": rng.random(300),
        },
        ending="terminated",
    )
    return TripleTree(max_leaves=4, theta=(1, 0, 0)).fit(log)


def test_questions_name_the_mode(tree: TripleTree, tmp_path: Path) -> None:
    for asked in ({"mode": "auto", "x": 0.5}, "mode = auto, x = 0.5", "mode is auto, x = 0.5"):
        assert str(tree.explain(asked)).startswith("Action = go because mode is auto.")
    assert "if mode is auto" in str(tree.explain({"mode": "coast", "x": 0.5}, {"action": "go"}))
    states = pd.DataFrame({"mode": ["auto", "coast"], "x": [0.5, 0.25]})
    assert tree.predict(states).action.tolist() == ["go", "stop"]
    with pytest.raises(ParameterError, match="has mode = 'Auto'; it may be `auto`, `coast`, `manual`"):
        tree.predict({"mode": "Auto", "x": 0.5})
    tree.save(tmp_path / "m.tripletree")
    assert load(tmp_path / "m.tripletree").fitted_.schema == tree.fitted_.schema
