"""Log.from_episodes: dicts, tuples, objects, and what is said about odd ones."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np
import pytest

from tripletree.errors import LogError
from tripletree.log import TERMINATED, TRUNCATED, UNKNOWN, Log

GOOD: dict[str, Any] = {"states": [[0.5], [1.5]], "actions": [0, 1], "rewards": [1, 2]}


def test_tuples_with_and_without_a_final_state() -> None:
    log = Log.from_episodes([([[0.5], [1.5]], [0, 1], [1, 2]), ([[2.5]], [1], [3], [9.5])])
    assert log.starts.tolist() == [0, 2, 3]
    assert np.isnan(log.final_states[0, 0])
    assert log.final_states[1, 0] == 9.5
    assert log.endings.tolist() == [UNKNOWN, UNKNOWN]


def test_named_tuples_go_by_their_names() -> None:
    Episode = namedtuple("Episode", ["rewards", "observations", "actions"])
    log = Log.from_episodes([Episode([1, 2], [[0.5], [1.5], [2.5]], [0, 1])])
    assert log.states[:, 0].tolist() == [0.5, 1.5]
    assert log.final_states.tolist() == [[2.5]]


def test_a_generator_will_do() -> None:
    assert Log.from_episodes(GOOD for _ in range(3)).n_episodes == 3


@pytest.mark.parametrize(
    ("flags", "ending"),
    [
        ({}, UNKNOWN),
        ({"terminated": True}, TERMINATED),
        ({"terminated": False}, TRUNCATED),
        ({"terminated": [False, True]}, TERMINATED),
        ({"terminations": [0, 0], "truncations": [0, 1]}, TRUNCATED),
        ({"terminated": np.bool_(True), "truncated": np.bool_(True)}, TERMINATED),
        ({"truncated": True}, TRUNCATED),
        ({"truncated": False}, UNKNOWN),
    ],
)
def test_endings(flags: dict[str, Any], ending: int) -> None:
    assert Log.from_episodes([GOOD | flags]).endings.tolist() == [ending]


def test_ids() -> None:
    assert Log.from_episodes([GOOD | {"id": "a"}, GOOD | {"id": "b"}]).episode_ids.tolist() == ["a", "b"]
    assert Log.from_episodes([GOOD, GOOD | {"id": "b"}]).episode_ids.tolist() == [0, 1]
    assert Log.from_episodes([GOOD, GOOD], episode_ids=[8, 9]).episode_ids.tolist() == [8, 9]


def test_integers_and_floats_may_mix() -> None:
    log = Log.from_episodes([GOOD, GOOD | {"states": [[1], [2]], "rewards": [0.5, 1]}])
    assert log.states[:, 0].tolist() == [0.5, 1.5, 1, 2]


def test_the_log_does_not_share_memory_with_its_source() -> None:
    states = np.array([[0.5], [1.5]])
    log = Log.from_episodes([GOOD | {"states": states}])
    states[:] = 7
    assert log.states[0, 0] == 0.5


@pytest.mark.parametrize(
    ("episodes", "message"),
    [
        ([], "The list holds no episodes"),
        (None, "Expected a list of episodes, got NoneType"),
        ("log.csv", r"got str. .*read_log\(path\)"),
        (GOOD, r"got dict. .*Log.from_dict\(...\)"),
        (3, "got int"),
        ([GOOD | {"rewards": None}], r"Episode 0 \(with `states`, `actions`, `rewards`\) has no rewards"),
        ([{}], "has no states and no actions and no rewards"),
        ([3], r"Episode 0 \(int\) has no states"),
        ([([1], [2])], r"tuple of 2 items; expected \(states, actions, rewards\)"),
        ([GOOD | {"rewards": [1]}], "Episode 0 has 2 states, 2 actions and 1 reward;"),
        ([GOOD | {"states": [[1]]}], "Episode 0 has 1 state, 2 actions"),
        ([GOOD, {"states": [[1]], "actions": [], "rewards": []}], "Episode 1 has no steps"),
        (
            [GOOD | {"states": [[1], [2], [3]], "final_state": [3]}],
            "one more state than actions, and a final_state as well",
        ),
        ([GOOD | {"states": [[1, 2], [3]]}], "Episode 0: `states` is ragged: row 0 has 2 values, row 1 has 1 value"),
        (
            [GOOD, GOOD | {"states": [[1, 2], [3, 4]]}],
            "Episode 1: each row of `states` has 2 values; in earlier episodes it has 1",
        ),
        (
            [GOOD, GOOD | {"actions": [[1, 2], [3, 4]]}],
            "Episode 1: each row of `actions` has 2 values; in earlier episodes it has 1",
        ),
        ([GOOD, GOOD | {"actions": ["a", "b"]}], "actions are numbers in episode 0 and text in episode 1"),
        ([GOOD, GOOD | {"states": [["a"], ["b"]]}], "states are numbers in episode 0 and text in episode 1"),
        ([GOOD | {"states": [["a"], ["b"]]}], r"Feature `s0` holds text \(first in row 0: 'a'\)"),
        ([GOOD | {"final_state": [1, 2]}], r"`final_state` has shape \(2,\); expected \(1,\)"),
        ([GOOD | {"final_state": ["a"]}], "Episode 0: `final_state` holds text; only numbers are allowed"),
        ([GOOD | {"final_state": [{}]}], r"Episode 0: `final_state` holds Python objects \(dict\)"),
        ([GOOD | {"final_state": [np.inf]}], "final state of episode 0 is infinite"),
        ([GOOD | {"terminated": [True, False]}], "Episode 0: `terminated` is true before the last step"),
        ([GOOD | {"terminated": [0, 0, 1]}], "Episode 0: `terminated` has 3 values"),
        ([GOOD | {"terminated": "yes"}], "Episode 0: `terminated` holds 'yes'"),
        ([GOOD | {"terminated": {}}], "Episode 0: `terminated` is {}, of type dict"),
        ([GOOD | {"states": {"x": [1, 2]}}], "Episode 0: `states` is .*, of type dict"),
        ([GOOD | {"states": [[np.nan], [1]]}], r"NaN or infinite values: `s0` in 1 row \(first in row 0\)"),
        ([GOOD | {"id": np.array([1, 2])}, GOOD | {"id": np.array([3, 4])}], r"`episode_ids` has shape \(2, 2\)"),
        ([GOOD | {"rewards": [[1, 2], [3, 4]]}], r"Episode 0: `rewards` has shape \(2, 2\)"),
    ],
)
def test_odd_episodes(episodes: Any, message: str) -> None:
    with pytest.raises(LogError, match=message):
        Log.from_episodes(episodes)


def test_every_bad_episode_is_named_until_there_are_too_many() -> None:
    bad = GOOD | {"rewards": [1]}
    with pytest.raises(LogError, match=r"2 errors:\n  1. Episode 1 has .*\n  2. Episode 2 has"):
        Log.from_episodes([GOOD, bad, bad])
    with pytest.raises(LogError, match="Episodes after episode 19 were not checked"):
        Log.from_episodes([bad] * 1000)


def test_other_names_of_the_parts() -> None:
    log = Log.from_episodes(
        [{"obs": [[0.5], [1.5]], "acts": [0, 1], "rews": [1, 2], "episode_id": "a", "timeouts": [0, 1]}]
    )
    assert log.episode_ids.tolist() == ["a"]
    assert log.endings.tolist() == [TRUNCATED]


def test_a_flag_with_one_value_in_a_list() -> None:
    assert Log.from_episodes([GOOD | {"terminated": [True]}]).endings.tolist() == [TERMINATED]


@pytest.mark.parametrize(
    ("episode", "message"),
    [
        (([1],), "Episode 0 is a tuple of 1 item; expected"),
        ([[1], [2]], "Episode 0 is a list of 2 items; expected"),
        (
            {"states": [[1], [2], [3]], "actions": [1], "rewards": [1]},
            "Episode 0 has 3 states, 1 action and 1 reward; it needs one action and one reward for each state",
        ),
        (
            {"states": [[1]], "actions": [1], "rewards": [1], "terminated": [0, 1]},
            "`terminated` has 2 values; expected one, or one for each of 1 step",
        ),
    ],
)
def test_messages_agree_with_their_numbers(episode: Any, message: str) -> None:
    with pytest.raises(LogError, match=message):
        Log.from_episodes([episode])
