"""Log.from_arrays: what comes out, and the options that every constructor takes."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

from tests.log.raw import STATES, make
from tripletree.errors import LogError, ParameterError, TripleTreeWarning
from tripletree.log import UNKNOWN, Log
from tripletree.log.arrays import ARGUMENTS


def test_types_and_shapes() -> None:
    log = make()
    assert log.states.dtype == np.float64
    assert log.states.flags.c_contiguous
    assert log.actions.dtype == np.int32
    assert log.rewards.dtype == np.float64
    assert log.starts.dtype == np.int64
    assert log.starts.tolist() == [0, 2, 4]
    assert np.isnan(log.final_states).all()
    assert log.final_states.shape == (2, 2)
    assert log.endings.tolist() == [UNKNOWN, UNKNOWN]
    assert log.episode_ids.tolist() == [0, 1]
    assert (len(log), log.n_samples, log.n_features, log.n_episodes) == (4, 4, 2, 2)


def test_the_log_does_not_share_memory_with_its_source() -> None:
    states = np.array(STATES)
    log = make(states)
    states[:] = 7
    assert log.states[0, 0] == 0.5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"next_states": [[1], [2], [3], [4]]}, "`next_states` has 1 value in each row, `states` has 2"),
        ({"feature_names": ["x"]}, "Got 1 feature name for 2 features"),
        ({"feature_names": ["x", 3]}, "The feature names are .*; expected non-empty strings"),
        ({"action_names": ["x", "y"]}, "Got 2 action names for 1 action"),
    ],
)
def test_wrong_names_and_shapes(options: dict[str, Any], message: str) -> None:
    with pytest.raises(LogError, match=message):
        make(**options)


def test_unknown_options_are_told() -> None:
    with pytest.raises(ParameterError, match=r"There is no option `unit`. Did you mean `units`"):
        make(unit={"s0": "m"})


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("units", "m", r'units="m" cannot be used; type units=\{'),
        ("kinds", ["angle"], "type kinds="),
        ("labels", 3, "type labels="),
        ("action_kind", 3, "type action_kind="),
        ("ending", 3, "type ending="),
        ("endless", "yes", "endless must be True or False; got 'yes'. Try endless=True"),
    ],
)
def test_options_of_a_wrong_type_are_told(option: str, value: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        make(**{option: value})


def test_none_is_as_good_as_not_given() -> None:
    options = dict.fromkeys(("units", "kinds", "labels", "action_kind", "ending", "endless", "feature_names"))
    assert make(**options).fingerprint() == make().fingerprint()


@pytest.mark.parametrize(("actions", "names"), [([0.5] * 4, ("action",)), ([[0.5, 1]] * 4, ("action_0", "action_1"))])
def test_names_by_default(actions: Any, names: tuple[str, ...]) -> None:
    log = make(actions=actions)
    assert log.schema.feature_names == ("s0", "s1")
    assert log.schema.action.names == names


def test_a_single_name_needs_no_list() -> None:
    log = make([1, 2, 3, 4], feature_names="speed", action_names="thrust")
    assert log.schema.feature_names == ("speed",)
    assert log.schema.action.names == ("thrust",)


def test_errors_of_several_arguments_come_together() -> None:
    with pytest.raises(
        LogError, match=r"it has 3 errors:\n  1\. `states`.*\n  2\. `actions`.*\n  3\. `step` has shape"
    ):
        make(states=None, actions=None, steps=[[1, 2]] * 4)


def test_options_of_another_constructor_are_recognised() -> None:
    one = ([[1.0]], [0], [0])
    for given, meant in {
        "features": "feature_names",
        "episode": "episodes",
        "step": "steps",
        "final_state": "final_states",
    }.items():
        with pytest.raises(ParameterError, match=rf"There is no option `{given}`\. Did you mean `{meant}`\?"):
            Log.from_arrays(*one, **{given: ["x"]})  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match=r"There is no option `features`\. Did you mean `feature_names`\?"):
        Log.from_episodes([one], features=["x"])  # type: ignore[call-arg]
    with pytest.raises(ParameterError, match=r"There is no option `steps`\. Choose from `feature_names`,"):
        Log.from_episodes([one], steps=["x"])  # type: ignore[call-arg]


def test_the_arguments_are_those_of_the_constructor() -> None:
    own = inspect.signature(Log.from_arrays).parameters.values()
    assert tuple(one.name for one in own if one.kind is one.KEYWORD_ONLY) == ARGUMENTS


def test_advice_names_the_arguments_of_the_constructor() -> None:
    with pytest.raises(
        LogError,
        match=r"Give episodes=\[\.\.\.\] \(an id for each row\), or steps=\[\.\.\.\], or terminated=\[\.\.\.\] /",
    ):
        Log.from_arrays([[1.0]], [0], [0])
    with pytest.warns(TripleTreeWarning, match=r"give each its own; or give steps=\[\.\.\.\]\."):
        Log.from_arrays([[1.0], [2.0], [3.0]], [0, 1, 0], [0, 1, 0], episodes=[0, 1, 0])
    with pytest.raises(LogError, match=r"Give episode=.\.\.\.. \(an id for each row\), or step=.\.\.\.."):
        Log.from_dict({"x": [1.0], "action": [0], "reward": [0]})
