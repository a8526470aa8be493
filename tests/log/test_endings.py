"""How episodes ended, and in which state."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.log.raw import make
from tripletree.errors import LogError, TripleTreeWarning
from tripletree.log import TERMINATED, TRUNCATED, UNKNOWN


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
