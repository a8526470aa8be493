"""Discrete or continuous, labels, and combinations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tripletree.errors import LogError
from tripletree.log import Log
from tripletree.log.actions import label_text


def make(actions: Any, **options: Any) -> Log:
    return Log.from_arrays(np.arange(len(actions)) / 2, actions, np.zeros(len(actions)), endless=True, **options)


@pytest.mark.parametrize(
    ("actions", "labels", "codes"),
    [
        ([3, -1, 3], ("-1", "3"), [1, 0, 1]),
        ([True, False, True], ("False", "True"), [1, 0, 1]),
        (["up", "down", "up"], ("down", "up"), [1, 0, 1]),
        (np.array([2, 5], np.uint8), ("2", "5"), [0, 1]),
        (np.array([b"up", b"down"]), ("down", "up"), [1, 0]),
        ([2**80, 1], ("1", str(2**80)), [1, 0]),
        ([7], ("7",), [0]),
        ([[1], [0]], ("0", "1"), [1, 0]),
    ],
)
def test_discrete(actions: Any, labels: tuple[str, ...], codes: list[int]) -> None:
    log = make(actions)
    assert log.schema.action.kind == "discrete"
    assert log.schema.action.labels == labels
    assert log.actions.tolist() == codes


@pytest.mark.parametrize("actions", [[0.5, 1.0], [1.0, 2.0], np.array([[1, 2], [3, 4]], np.float32)])
def test_floats_are_continuous(actions: Any) -> None:
    log = make(actions)
    assert log.schema.action.kind == "continuous"
    assert log.actions.dtype == np.float64
    assert log.actions.ndim == 2
    assert log.schema.action.labels == ()


def test_the_kind_can_be_given() -> None:
    assert make([0.001, -0.001, 2.0], action_kind="discrete").schema.action.labels == ("-0.001", "0.001", "2")
    assert make([1, 2, 3], action_kind="continuous").actions.tolist() == [[1], [2], [3]]


def test_columns_of_choices_are_one_action_of_their_combinations() -> None:
    log = make([[0, 1], [2, 0], [0, 1], [0, 0]], action_names=["steer", "brake"])
    assert log.schema.action.names == ("steer, brake",)
    assert log.schema.action.labels == ("0, 0", "0, 1", "2, 0")
    assert log.actions.tolist() == [1, 2, 1, 0]


@pytest.mark.parametrize(
    ("actions", "labels", "expected", "codes"),
    [
        ([1, 0, 1], ["left", "right"], ("left", "right"), [1, 0, 1]),
        ([1, 0, 1], {1: "go", 0: "stop", 2: "wait"}, ("go", "stop", "wait"), [0, 1, 0]),
        ([1.0, 0.0], {1: "go", 0: "stop"}, ("go", "stop"), [0, 1]),
        (["b", "a"], ["b", "a", "c"], ("b", "a", "c"), [0, 1]),
        ([True, False], ["off", "on"], ("off", "on"), [1, 0]),
    ],
)
def test_labels(actions: Any, labels: Any, expected: tuple[str, ...], codes: list[int]) -> None:
    log = make(actions, labels=labels)
    assert log.schema.action.labels == expected
    assert log.actions.tolist() == codes


def test_too_many_labels() -> None:
    assert len(make(np.arange(1024)).schema.action.labels) == 1024
    with pytest.raises(LogError, match=r'1,025 different values.*type action_kind="continuous"'):
        make(np.arange(1025))
    with pytest.raises(LogError, match=r"1,025 different values.*Group the values first"):
        make([f"a{i}" for i in range(1025)])
    pairs = np.stack(np.divmod(np.arange(40 * 40), 40), axis=1)
    with pytest.raises(LogError, match="`action_0, action_1` has 1,600 different values"):
        make(pairs)


@pytest.mark.parametrize(
    ("actions", "options", "message"),
    [
        ([0.5, np.nan, 0, np.inf], {}, "Action `action` is NaN or infinite in 2 rows, first in row 1"),
        ([0, None, 1, 0], {}, "Action `action` is NaN or infinite in 1 row, first in row 1"),
        ([0.5, 1e200, 0, 0], {}, r"Action `action` goes beyond 1e\+100"),
        (["a", None, "b", "b"], {}, "Action `action` is missing in 1 row, first in row 1"),
        ([0.5, np.nan, 1, 1], {"action_kind": "discrete"}, "Action `action` is missing in 1 row"),
        (["a", "b"], {"action_kind": "continuous"}, r"`action` holds text \(first in row 0: 'a'\)"),
        ([0, 1], {"action_kind": "discreet"}, r"action_kind must be 'discrete' or .*Did you mean `discrete`\?$"),
        ([0, 1], {"action_kind": "zzz"}, r"got 'zzz'\. Try action_kind=.discrete.\.$"),
        ([0, 1], {"labels": ["only"]}, "No label was given for `1`; there are labels for `0`"),
        ([0, 1], {"labels": {0: "same", 1: "same"}}, "action labels must differ; `same` occurs more than once"),
        ([0, 1], {"labels": ["a", "b"], "action_kind": "continuous"}, "A continuous action has no labels"),
    ],
)
def test_wrong_actions(actions: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(LogError, match=message):
        make(actions, **options)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "True"),
        (3, "3"),
        (0.001, "0.001"),
        (2.0, "2"),
        (np.float32(0.5), "0.5"),
        ("left", "left"),
        (1e300, "1e+300"),
    ],
)
def test_values_as_labels(value: Any, text: str) -> None:
    assert label_text(value) == text


def test_three_columns_of_choices() -> None:
    log = make([[0, 1, 1], [0, 1, 0], [0, 1, 1]])
    assert log.schema.action.labels == ("0, 1, 0", "0, 1, 1")
    assert log.actions.tolist() == [1, 0, 1]
