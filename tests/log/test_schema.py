"""Schema: names, units and kinds are checked, and survive JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tripletree.errors import LogError
from tripletree.log import Action, Feature, Schema

DISCRETE = Action("discrete", ("move",), ("left", "right"), ("",))


@pytest.mark.parametrize("action", [DISCRETE, Action("continuous", ("main", "side"), (), ("N", ""))])
def test_json_and_back(action: Action) -> None:
    schema = Schema((Feature("x", "m"), Feature("φ", "rad", "angle")), action)
    assert Schema.from_dict(json.loads(json.dumps(schema.to_dict()))) == schema
    assert schema.feature_names == ("x", "φ")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Feature(""), "A feature's name is ''; it must be a non-empty string"),
        (lambda: Feature(3), "A feature's name is 3"),  # type: ignore[arg-type]
        (lambda: Feature("x", None), "The unit of feature `x` is None"),  # type: ignore[arg-type]
        (lambda: Feature("x", "", "reel"), "Did you mean `real`"),
        (
            lambda: Action("discreet"),
            "Action: kind must be 'discrete' or 'continuous'; got 'discreet'.*Did you mean `discrete`",
        ),
        (lambda: Action("discrete"), "1 to 1,024 labels; got 1 name and 0 labels"),
        (lambda: Action("discrete", ("a", "b"), ("x",), ("", "")), "got 2 names and 1 label"),
        (lambda: Action("discrete", labels=("a", "a")), "action labels must differ; `a` occurs more than once"),
        (lambda: Action("discrete", labels=("a", "")), "An action's label is ''"),
        (lambda: Action("discrete", labels=tuple(map(str, range(1025)))), "1,025 labels"),
        (
            lambda: Action("continuous", labels=("a",)),
            "A continuous action has at least one name and no labels; got 1 name and 1 label",
        ),
        (lambda: Action("continuous", ("a", "a"), (), ("", "")), "action names must differ"),
        (lambda: Action("continuous", ("a", "b")), "Got 1 unit for 2 action names"),
        (lambda: Action("continuous", ("",)), "An action's name is ''"),
        (lambda: Action("continuous", ("a",), (), (1,)), "An action's unit is 1"),  # type: ignore[arg-type]
        (lambda: Schema((), DISCRETE), "at least one feature"),
        (lambda: Schema((Feature("x"), Feature("x")), DISCRETE), "feature names must differ"),
        (lambda: Schema.from_dict({}), "This is not a schema"),
        (lambda: Schema.from_dict({"features": [{"nom": "x"}], "action": {}}), "This is not a schema"),
    ],
)
def test_wrong_schemas(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(LogError, match=message):
        make()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: Feature("x", "", "reel"),
            "Feature `x`: kind must be 'real', 'binary', 'integer' or 'angle'; got 'reel'",
        ),
        (lambda: Feature("x", "", "zzz"), r"got 'zzz'\. Try kind=.real.\.$"),
        (lambda: Feature("x", "", None), r"got None\. Try kind=.real.\.$"),  # type: ignore[arg-type]
        (lambda: Action("continuous", (), (), ()), "at least one name and no labels; got 0 names and 0 labels"),
        (lambda: Action("continuous", ("a",), (), ("m", "m")), "Got 2 units for 1 action name; give one for each"),
        (lambda: Action("discrete", labels=("a", "a", "b", "b")), "`a`, `b` occur more than once"),
    ],
)
def test_messages_say_what_is_allowed(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(LogError, match=message):
        make()
