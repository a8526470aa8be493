"""How episodes ended, and in which state."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.log.raw import make
from tripletree.errors import LogError, TripleTreeWarning
from tripletree.log import TERMINATED, TRUNCATED, UNKNOWN, check
from tripletree.log.endings import decide


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
    with pytest.warns(TripleTreeWarning, match="In 1 row the next state differs from the state in the next row"):
        make(next_states=[[7, 0.0], [9, 9], [3.5, 0.0], [8, 8]])


def test_final_states_that_are_partly_missing_are_not_used() -> None:
    with pytest.warns(
        TripleTreeWarning,
        match=r"The final state of 1 episode is NaN in some features and is not used \(first: episode 1\)",
    ):
        log = make(final_states=[[1, 2], [np.nan, 2]])
    assert np.isnan(log.final_states).tolist() == [[False, False], [True, True]]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"terminated": [1, 0, 0, 1]}, "`terminated` is true inside an episode in 1 row, first in episode 0"),
        (
            {"episodes": None, "starts": [0, 2], "truncated": [1, 0, 0]},
            "has 3 values; expected one for each of 4 rows, or for each of 2 episodes",
        ),
        ({"ending": "crashed"}, "ending must be 'unknown', 'terminated' or 'truncated'; got 'crashed'"),
        ({"final_states": [[1, 2]]}, r"`final_states` has shape \(1, 2\); expected \(episodes, features\) = \(2, 2\)"),
        ({"final_states": [[1, np.inf], [1, 2]]}, "final state of episode 0 is infinite or beyond"),
        ({"next_states": [["a", "b"]] * 4}, "The next state's `s0` holds text"),
    ],
)
def test_wrong_flags_and_final_states(options: dict[str, Any], message: str) -> None:
    with pytest.raises(LogError, match=message):
        make(**options)


@pytest.mark.parametrize("terminated", [None, False, True])
@pytest.mark.parametrize("truncated", [None, False, True])
@pytest.mark.parametrize("done", [None, False, True])
def test_every_combination_of_flags(terminated: bool | None, truncated: bool | None, done: bool | None) -> None:
    flags = [None if flag is None else np.array([flag]) for flag in (terminated, truncated, done)]
    if (terminated, truncated, done) == (False, False, True):
        expected = UNKNOWN
    elif terminated is not None:
        expected = TERMINATED if terminated else TRUNCATED
    elif done is not None and truncated is not None:
        expected = TERMINATED if done and not truncated else TRUNCATED
    elif done is not None:
        expected = UNKNOWN if done else TRUNCATED
    else:
        expected = TRUNCATED if truncated else UNKNOWN
    assert decide(*flags, 1).tolist() == [expected]


@pytest.mark.parametrize(
    ("flags", "endings"),
    [
        ({"terminated": [True, False]}, [TERMINATED, TRUNCATED]),
        ({"truncated": [True, False]}, [TRUNCATED, UNKNOWN]),
        ({"done": [True, False]}, [UNKNOWN, TRUNCATED]),
        ({"done": [True, True], "truncated": [1, 0]}, [TRUNCATED, TERMINATED]),
    ],
)
def test_with_starts_flags_may_have_one_value_for_each_episode(flags: Any, endings: list[int]) -> None:
    assert make(episodes=None, starts=[0, 2], **flags).endings.tolist() == endings


def test_flags_of_episodes_are_checked_too() -> None:
    with pytest.raises(LogError, match="`terminated` holds 'yes'; only True / False or 1 / 0 are allowed"):
        make(episodes=None, starts=[0, 2], terminated=["yes", "no"])


def test_wrong_flags_are_one_error() -> None:
    report = check({"episode": [0, 1], "x": [0.5, 1], "action": [0, 1], "reward": [1, 2], "terminated": [0, 2]})
    assert [finding.code for finding in report.errors] == ["flags"]


def test_flags_follow_their_rows() -> None:
    with pytest.warns(TripleTreeWarning, match="came in 3 pieces"):
        log = make(episodes=[1, 0, 0, 1], terminated=[0, 0, 1, 0])
    assert dict(zip(log.episode_ids.tolist(), log.endings.tolist(), strict=True)) == {1: TRUNCATED, 0: TERMINATED}


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ([1, 0, 1, 1], "`terminated` is true inside an episode in 2 rows, first in episode a; it may be true only in"),
        ([0, 1, 1, 1], "`terminated` is true inside an episode in 1 row, first in episode b; it may be true only in"),
    ],
)
def test_flags_that_are_set_too_early(flags: list[int], message: str) -> None:
    with pytest.raises(LogError, match=message):
        make(episodes=["a", "a", "b", "b"], terminated=flags)


def test_in_an_endless_recording_flags_do_not_matter() -> None:
    log = make(episodes=None, endless=True, terminated=[0, 1, 0, 1], ending="terminated")
    assert log.endings.tolist() == [TRUNCATED]


def test_several_final_states_that_are_partly_missing() -> None:
    with pytest.warns(
        TripleTreeWarning,
        match=r"The final states of 2 episodes are NaN in some features and are not used \(first: episode 0\)",
    ):
        log = make(final_states=[[1, np.nan], [np.nan, 2]])
    assert np.isnan(log.final_states).all()


def test_several_next_states_that_contradict_the_log() -> None:
    with pytest.warns(TripleTreeWarning, match="In 2 rows the next state differs from the state in the next row"):
        make(next_states=[[7, 0.0], [9, 9], [8, 0.0], [8, 8]])


def test_next_states_may_be_of_single_precision() -> None:
    states = np.array([[0.1], [0.2], [0.3], [0.7]])
    following = np.array([[0.2], [5.5], [0.7], [6.5]], np.float32)
    assert make(states, next_states=following).final_states.tolist() == [[5.5], [6.5]]


def test_next_states_follow_their_rows() -> None:
    log = make([4, 3, 2, 1], episodes=[0, 0, 0, 0], steps=[3, 2, 1, 0], next_states=[9, 4, 3, 2])
    assert log.states[:, 0].tolist() == [1, 2, 3, 4]
    assert log.final_states.tolist() == [[9]]


@pytest.mark.parametrize(("off", "warns"), [(0.0, False), (0.9e-6, False), (1.1e-6, True), (1e-4, True)])
@pytest.mark.parametrize("scale", [1.0, 500.0])
def test_next_states_may_be_off_by_a_millionth_of_the_largest_number(off: float, scale: float, warns: bool) -> None:
    states = scale * np.array([[0.0], [1.0], [0.5], [0.25]])
    following = scale * np.array([[1.0 + off], [9.0], [0.25], [9.0]])
    if warns:
        with pytest.warns(TripleTreeWarning, match="In 1 row the next state differs"):
            make(states, next_states=following)
    else:
        assert make(states, next_states=following).final_states.tolist() == [[9 * scale]] * 2
