"""Log.from_arrays: what is accepted, and what is said about everything else."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from tripletree.errors import LogError, ParameterError, TripleTreeWarning
from tripletree.log import TERMINATED, TRUNCATED, UNKNOWN, Log

STATES = [[0.5, 1.0], [1.5, 0.0], [2.5, 1.0], [3.5, 0.0]]
ACTIONS = [0, 1, 1, 0]
REWARDS = [0.5, 0.25, 0.0, 1.0]


def make(states: Any = STATES, actions: Any = ACTIONS, rewards: Any = REWARDS, **options: Any) -> Log:
    return Log.from_arrays(states, actions, rewards, **({"episodes": [0, 0, 1, 1]} | options))


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


@pytest.mark.parametrize(
    "states",
    [
        np.array(STATES, np.float32),
        np.array(STATES, np.float16),
        np.array(STATES, object),
        np.asfortranarray(STATES),
        np.ma.masked_array(STATES, False),
        np.array(STATES, np.longdouble),
        tuple(map(tuple, STATES)),
        [[Decimal("0.5"), 1], [Decimal("1.5"), 0], [Decimal("2.5"), 1], [Decimal("3.5"), False]],
    ],
    ids=["float32", "float16", "object", "fortran", "masked", "longdouble", "tuples", "decimals"],
)
def test_any_array_of_numbers_will_do(states: Any) -> None:
    assert make(states).fingerprint() == make().fingerprint()


def test_the_log_does_not_share_memory_with_its_source() -> None:
    states = np.array(STATES)
    log = make(states)
    states[:] = 7
    assert log.states[0, 0] == 0.5


def test_one_column_is_one_feature() -> None:
    assert make([1, 2, 3, 4]).states.tolist() == [[1], [2], [3], [4]]


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        ([True, False] * 2, "binary"),
        ([0, 0, 0, 0], "binary"),
        ([0, 1, 2, 3], "integer"),
        ([0, 1, -1, 0], "integer"),
        ([2.0, 3.0, 2.0, 2.0], "integer"),
        ([0, 1, 0.5, 1], "real"),
    ],
)
def test_kinds_are_guessed_from_values(column: list[float], kind: str) -> None:
    assert make(column).schema.features[0].kind == kind


def test_final_states_count_for_kinds() -> None:
    assert make([0, 1, 0, 1], final_states=[0.5, np.nan]).schema.features[0].kind == "real"


def test_kinds_units_and_names_can_be_given() -> None:
    log = make(feature_names=["phi", "gear"], kinds={"phi": "angle"}, units={"phi": "rad", "action": "N"})
    assert [(f.name, f.unit, f.kind) for f in log.schema.features] == [("phi", "rad", "angle"), ("gear", "", "binary")]
    assert log.schema.action.units == ("N",)


def test_rows_are_grouped_by_episode_and_said() -> None:
    with pytest.warns(TripleTreeWarning, match="2 episodes came in 4 pieces and were put together"):
        log = make([[1.5], [10], [2], [20]], episodes=["b", "a", "b", "a"])
    assert log.states[:, 0].tolist() == [1.5, 2, 10, 20]
    assert log.episode_ids.tolist() == ["b", "a"]


def test_rows_are_sorted_by_step() -> None:
    log = make([[1.5], [10], [2], [20]], episodes=[0, 1, 0, 1], steps=[1, 4, 0, 3], rewards=[1, 2, 3, 4])
    assert log.states[:, 0].tolist() == [2, 1.5, 20, 10]
    assert log.rewards.tolist() == [3, 1, 4, 2]
    assert {finding.code for finding in log.findings} >= {"regrouped", "sorted"}


@pytest.mark.parametrize("starts", [[0, 2], [0, 2, 4], np.array([0, 2], np.int32)])
def test_starts(starts: Any) -> None:
    assert make(episodes=None, starts=starts).starts.tolist() == [0, 2, 4]


@pytest.mark.parametrize(
    ("flags", "starts", "endings"),
    [
        ({"terminated": [0, 1, 0, 1]}, [0, 2, 4], [TERMINATED, TERMINATED]),
        ({"terminated": [0, 1, 0, 0]}, [0, 2, 4], [TERMINATED, TRUNCATED]),
        ({"truncated": [0, 1, 0, 0]}, [0, 2, 4], [TRUNCATED, UNKNOWN]),
        ({"terminated": [0, 1, 0, 0], "truncated": [1, 1, 0, 0]}, [0, 1, 2, 4], [TRUNCATED, TERMINATED, TRUNCATED]),
        ({"done": [0, 1, 0, 0]}, [0, 2, 4], [UNKNOWN, TRUNCATED]),
        ({"done": [0, 1, 0, 1], "truncated": [0, 1, 0, 0]}, [0, 2, 4], [TRUNCATED, TERMINATED]),
        ({"terminated": [False, False, False, False]}, [0, 4], [TRUNCATED]),
    ],
)
def test_flags_cut_episodes_and_say_how_they_end(flags: Any, starts: list[int], endings: list[int]) -> None:
    log = make(episodes=None, **flags)
    assert log.starts.tolist() == starts
    assert log.endings.tolist() == endings


def test_steps_alone_cut_where_they_restart() -> None:
    assert make(episodes=None, steps=[0, 1, 0, 0]).starts.tolist() == [0, 2, 3, 4]
    times = np.array(["2024-01-02", "2024-01-03", "2024-01-01", "2024-01-05"], "datetime64[D]")
    assert make(episodes=None, steps=times).starts.tolist() == [0, 2, 4]


def test_steps_that_restart_cut_where_no_flag_is_set() -> None:
    log = make(episodes=None, terminated=[0, 0, 0, 1], steps=[0, 1, 0, 1])
    assert log.starts.tolist() == [0, 2, 4]
    assert log.endings.tolist() == [TRUNCATED, TERMINATED]


def test_steps_sort_the_rows_between_starts() -> None:
    log = make(episodes=None, starts=[0, 2], steps=[1, 0, 0, 1])
    assert log.states[:, 0].tolist() == [1.5, 0.5, 2.5, 3.5]


def test_an_endless_recording_is_one_truncated_episode() -> None:
    log = make(episodes=None, endless=True)
    assert log.starts.tolist() == [0, 4]
    assert log.endings.tolist() == [TRUNCATED]


def test_ending_fills_in_what_the_log_does_not_tell() -> None:
    assert make(ending="terminated").endings.tolist() == [TERMINATED, TERMINATED]
    assert make(ending="terminated", truncated=[0, 1, 0, 0]).endings.tolist() == [TRUNCATED, TERMINATED]


def test_next_states_give_final_states() -> None:
    following = [[1.5, 0.0], [9, 9], [3.5, 0.0], [8, 8]]
    assert make(next_states=following).final_states.tolist() == [[9, 9], [8, 8]]


def test_next_states_that_contradict_the_log_are_said() -> None:
    with pytest.warns(TripleTreeWarning, match="In 1 row the next state is not the state of the row that follows"):
        make(next_states=[[7, 0.0], [9, 9], [3.5, 0.0], [8, 8]])


def test_final_states_that_are_partly_missing_are_not_used() -> None:
    with pytest.warns(TripleTreeWarning, match="NaN in some features and are not used, first that of episode 1"):
        log = make(final_states=[[1, 2], [np.nan, 2]])
    assert np.isnan(log.final_states).tolist() == [[False, False], [True, True]]


def test_missing_steps_are_said() -> None:
    with pytest.warns(TripleTreeWarning, match="Steps are missing: the step counter jumps by 1 to 5"):
        make(steps=[0, 1, 3, 8])


def test_a_constant_stride_is_no_gap() -> None:
    assert make(steps=[0, 4, 8, 12]).findings == ()


def test_integers_beyond_double_precision_are_said() -> None:
    with pytest.warns(TripleTreeWarning, match="beyond 2\\*\\*53"):
        make(np.array([1, 2, 2**60, 3]))
    with pytest.warns(TripleTreeWarning, match="beyond 2\\*\\*53"):
        make([1, 2, 2**70, 3])


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"states": None}, "The states is None; an array or a list is needed"),
    ({"states": 3.0}, r"The states has shape \(\); \(steps, values\) is needed"),
    ({"states": "abc"}, r"The states has shape \(\)"),
    ({"states": {1, 2}}, "of type set; an array or a list is needed"),
    ({"states": {"x": [1, 2]}}, "of type dict; an array or a list is needed"),
    ({"states": np.zeros((4, 0))}, r"shape \(4, 0\).* with at least one value"),
    ({"states": np.zeros((4, 2, 2))}, r"shape \(4, 2, 2\).*reshape\(len\(array\), -1\)"),
    ({"states": [[1, 2], [3], [4, 5], [6, 7]]}, "ragged: row 0 has 2 values, row 1 has 1 value;"),
    ({"states": [[1, 2], 3, [4, 5], [6, 7]]}, "ragged: row 0 has 2 values, row 1 has a single value;"),
    ({"states": [np.ma.masked, [1, 2], [3, 4], [5, 6]]}, "ragged: row 0 has a single value, row 1 has 2 values"),
    ({"states": [["1", "x"], ["2", "y"], ["3", "z"], ["4", "w"]]}, "`s1` holds text, first 'x' in row 0"),
    ({"states": np.array(STATES, complex)}, "The states holds complex numbers"),
    ({"states": [1j, None, 2, 3]}, "The states holds complex numbers"),
    ({"states": np.zeros(4, [("x", float)])}, "structured array .* Type Log.from_dict"),
    ({"states": np.array(["2024-01-01"] * 4, "datetime64[D]")}, "`s0` holds dates or times; numbers are allowed"),
    ({"states": [datetime.date(2024, 1, 1)] * 4}, r"holds Python objects \(date\), for example"),
    ({"states": [1.0, None, 2.0, 3.0]}, r"NaN or infinite values: `s0` 1 time \(first in row 1\)"),
    ({"states": [object()] * 4}, r"holds Python objects \(object\)"),
    ({"states": [10**400, 1, 2, 3]}, "does not fit a double"),
    ({"states": [10**400, 1.5, 2, 3]}, "does not fit a double"),
    ({"states": np.array([10, 1, 2, 3], np.longdouble) ** 400}, r"`s0` 1 time \(first in row 0\)"),
    ({"states": [1e101, 1, 2, 3]}, "`s0` goes beyond 1e\\+100"),
    ({"states": [[0, np.nan], [0, np.inf], [np.nan, 0], [0, 0]]}, r"`s0` 1 time .*row 2\), `s1` 2 times .*row 0\)"),
    ({"states": np.ma.masked_array(STATES, [[0, 0], [1, 0], [0, 0], [0, 0]])}, r"`s0` 1 time \(first in row 1\)"),
    ({"states": STATES[:3]}, "the rewards have 4 rows, but feature `s0` 3, feature `s1` 3"),
    ({"actions": ACTIONS[:3]}, "the rewards have 4 rows, but action `action` 3"),
    ({"actions": [0.5, np.nan, 0, np.inf]}, "Action `action` is NaN or infinite in 2 rows, first in row 1"),
    ({"actions": [0.5, 1e200, 0, 0]}, "Action `action` goes beyond 1e100"),
    ({"actions": [0, None, 1, 0]}, "Action `action` is NaN or infinite in 1 row, first in row 1"),
    ({"actions": ["a", None, "b", "b"]}, "Action `action` is missing in 1 row, first in row 1"),
    ({"actions": [{}, {}, {}, {}]}, r"The actions holds Python objects \(dict\)"),
    ({"actions": np.array(["a", 1, "b", 2.5], object)}, r"The actions holds Python objects \(number, str\)"),
    ({"actions": ["a", "b", "c", "d"], "action_kind": "continuous"}, "`action` holds text, first 'a' in row 0"),
    ({"actions": [0.5, np.nan, 1, 1], "action_kind": "discrete"}, "Action `action` is missing in 1 row"),
    ({"action_kind": "discreet"}, "action_kind is 'discreet'.*Did you mean `discrete`"),
    ({"labels": ["only"]}, "The actions hold `1`, for which no label came; labels came for `0`"),
    ({"labels": {0: "same", 1: "same"}}, "action labels must differ"),
    ({"labels": ["a", "b"], "action_kind": "continuous"}, "Labels came for a continuous action"),
    ({"rewards": REWARDS[:3]}, "the rewards have 3 rows"),
    ({"rewards": [0, np.nan, np.inf, 0]}, "Rewards hold NaN or infinite values in 2 rows, first in row 1"),
    ({"rewards": [0, 1e200, 0, 0]}, "Rewards go beyond 1e\\+100"),
    ({"rewards": ["a"] * 4}, "The reward holds text, first 'a' in row 0"),
    ({"rewards": np.zeros((4, 2))}, r"The rewards has shape \(4, 2\); one value for each step"),
    ({"rewards": 1}, r"The rewards has shape \(\)"),
    ({"states": [], "actions": [], "rewards": [], "episodes": []}, "The log holds no samples"),
    ({"episodes": None}, "Nothing says where episodes begin or end.*endless=True"),
    ({"episodes": [0, 0, 1]}, "`episode` 3"),
    ({"episodes": [0, 0.5, 1, 1]}, "`episode` holds 0.5 in row 1; whole numbers or text are allowed"),
    ({"episodes": [0, np.nan, 1, 1]}, r"`episode` is missing \(NaN\) in row 1"),
    ({"episodes": ["a", None, "b", "b"]}, "`episode` is missing in row 1"),
    ({"endless": True}, "endless=True says that all rows are one recording, but episodes came too"),
    ({"starts": [0, 2]}, "Both starts and episodes came; one of them is enough"),
    ({"steps": [0, 0, 0, 1]}, "Episode 0 holds step 0 twice"),
    ({"steps": [0, np.nan, 0, 1]}, r"`step` is missing \(NaN\) in row 1"),
    ({"steps": ["a", "b", "c", "d"]}, "`step` holds text, first 'a' in row 0"),
    ({"episodes": None, "steps": ["a", "b", "c", "d"]}, "`step` holds text, first 'a' in row 0"),
    ({"episodes": None, "starts": [1, 2]}, "starts is .* the first row of every episode is needed"),
    ({"episodes": None, "starts": [0, 2, 2]}, "starts is"),
    ({"episodes": None, "starts": [0, 9]}, "starts is"),
    ({"episodes": None, "starts": [0.0, 2.0]}, "starts is"),
    ({"episodes": None, "starts": []}, "starts is"),
    ({"terminated": [1, 0, 0, 1]}, "`terminated` is true in 1 row that no episode ends with, first inside episode 0"),
    ({"terminated": [0, 2, 0, 1]}, "`terminated` holds 2; True / False or 1 / 0 are allowed"),
    ({"episodes": None, "done": ["no", "yes", "no", "yes"]}, "`done` holds 'no'; True / False"),
    ({"episodes": None, "starts": [0, 2], "truncated": [1, 0, 0]}, "has 3 values; one for each of 4 rows or 2"),
    ({"episodes": None, "starts": [0, 2], "episode_ids": ["a"]}, "1 episode id came for 2 episodes"),
    ({"ending": "crashed"}, "ending is 'crashed'; allowed are `unknown`, `terminated`, `truncated`"),
    ({"final_states": [[1, 2]]}, r"final states have shape \(1, 2\); \(episodes, features\) = \(2, 2\)"),
    ({"final_states": [[1, np.inf], [1, 2]]}, "final state of episode 0 is infinite or beyond"),
    ({"next_states": [[1], [2], [3], [4]]}, "The next states have 1 value a row, the states 2"),
    ({"next_states": [["a", "b"]] * 4}, "The next state's `s0` holds text"),
    ({"feature_names": ["x"]}, "1 feature name came for 2 features"),
    ({"feature_names": ["x", "x"]}, "feature names must differ; `x` came more than once"),
    ({"feature_names": ["x", 3]}, "The feature names are .*; non-empty strings are needed"),
    ({"action_names": ["x", "y"]}, "2 action names came for 1 action"),
    ({"units": {"S0": "m"}}, r"no feature `S0` \(in units=\). Did you mean `s0`"),
    ({"units": {"s0": 3}}, "unit of feature `s0` is 3; it must be a string"),
    ({"kinds": {"s9": "angle"}}, r"no feature `s9` \(in kinds=\)"),
    ({"kinds": {"s0": "angel"}}, "Did you mean `angle`"),
    ({"kinds": {"s0": "binary"}}, r"`s0` was said to be binary, but holds other values \(real\)"),
    ({"kinds": {"s0": "integer"}}, r"`s0` was said to be integer, but holds other values \(real\)"),
]  # fmt: skip


@pytest.mark.parametrize(("options", "message"), WRONG)
def test_wrong_input_gets_one_clear_error(options: dict[str, Any], message: str) -> None:
    with pytest.raises(LogError, match=message):
        make(**options)


def test_all_errors_come_at_once() -> None:
    with pytest.raises(LogError, match="4 errors") as caught:
        make([[np.nan, 1]] * 4, [0.5, np.nan, 0, 0], [np.inf, 0, 0, 0], episodes=None)
    text = str(caught.value)
    assert [text.index(part) for part in ("Nothing says where", "States hold", "Action `action`", "Rewards hold")]


def test_unknown_options_are_told() -> None:
    with pytest.raises(ParameterError, match=r"There is no option `unit`. Did you mean `units`"):
        make(unit={"s0": "m"})


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("units", "m", r"units='m' is not possible; type units=\{"),
        ("kinds", ["angle"], "type kinds="),
        ("labels", 3, "type labels="),
        ("action_kind", 3, "type action_kind="),
        ("ending", 3, "type ending="),
        ("endless", "yes", "type endless=True"),
    ],
)
def test_options_of_a_wrong_type_are_told(option: str, value: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        make(**{option: value})


def test_none_is_as_good_as_not_given() -> None:
    options = dict.fromkeys(("units", "kinds", "labels", "action_kind", "ending", "endless", "feature_names"))
    assert make(**options).fingerprint() == make().fingerprint()
