"""Log.from_arrays: what comes out, and the options that every constructor takes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.log.raw import STATES, make
from tripletree.errors import LogError, ParameterError
from tripletree.log import UNKNOWN


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
