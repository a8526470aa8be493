"""What a model file says about a log without actions or rewards, with categories and times, read strictly."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tripletree import Action, Feature, ModelFileError, Schema
from tripletree.store.metadata import _schema

PLAIN = Schema((Feature("x", "m"),), Action("discrete", labels=("a", "b")))
FIELD = Schema(
    (Feature("mode is auto", "", "binary", "mode", "auto"), Feature("heading", "deg", "angle")),
    Action("discrete", labels=("none",)),
    has_action=False,
    has_reward=False,
    per_second=True,
)


@pytest.mark.parametrize("schema", [PLAIN, FIELD])
def test_a_schema_comes_back(schema: Schema) -> None:
    unknown: list[str] = []
    assert _schema(json.loads(json.dumps(schema.to_dict())), unknown) == schema
    assert Schema.from_dict(schema.to_dict()) == schema
    assert unknown == []


def test_usual_logs_have_files_as_before() -> None:
    assert PLAIN.to_dict()["features"] == [{"name": "x", "unit": "m", "kind": "real"}]
    assert set(PLAIN.to_dict()) == {"features", "action"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"has_action": 1}, "its schema's `has_action` must be true or false, got 1"),
        ({"per_second": "yes"}, "`per_second` must be true or false"),
        ({"features": [{"name": "x", "unit": "", "kind": "binary", "column": 3}]}, "must be a list of strings"),
        ({"features": [{"name": "x", "unit": "", "kind": "real", "column": "m", "category": "a"}]}, "is not valid"),
        ({"has_action": False}, "A log without actions has the only label"),
    ],
)
def test_damage_is_told(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelFileError, match=message):
        _schema({**PLAIN.to_dict(), **changes}, [])
