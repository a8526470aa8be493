"""Where episodes begin and end: by ids, steps, flags and starts; row pointers against a walk along them."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.log.raw import make
from tripletree.errors import LogError, TripleTreeWarning
from tripletree.log import TERMINATED, TRUNCATED, Log
from tripletree.log.boundaries import by_flags, by_ids, by_pointers, by_steps
from tripletree.log.findings import Findings


def chained(rows: int, **pointers: Any) -> Log:
    return Log.from_dict(
        {"x": np.arange(rows) + 0.5, "action": [0] * rows, "reward": [0] * rows} | pointers,
    )


@given(
    lengths=st.lists(st.integers(1, 6), min_size=1, max_size=6), seed=st.integers(0, 99), which=st.sampled_from("pnb")
)
def test_pointers_in_any_order(lengths: list[int], seed: int, which: str) -> None:
    n = sum(lengths)
    place = np.random.default_rng(seed).permutation(n)  # where each step of the true order stands in the file
    previous, following = np.full(n, -1), np.full(n, -1)
    first_rows = []
    t = 0
    for length in lengths:
        first_rows.append(int(place[t]))
        for k in range(t, t + length - 1):
            following[place[k]], previous[place[k + 1]] = place[k + 1], place[k]
        t += length
    pointers = {"prev": previous} if which == "p" else {"next": following} if which == "n" else {}
    log = chained(n, **(pointers or {"prev": previous, "next": following}))
    walks = []
    for row in sorted(first_rows):
        walk = []
        while row >= 0:
            walk.append(row)
            row = int(following[row])
        walks.append(walk)
    found = [(log.states[a:b, 0] - 0.5).tolist() for a, b in zip(log.starts, log.starts[1:], strict=False)]
    assert found == walks


def test_missing_pointers_may_be_blank() -> None:
    assert chained(3, prev=[np.nan, 0, np.nan]).starts.tolist() == [0, 2, 3]


@pytest.mark.parametrize(
    ("pointers", "message"),
    [
        ({"prev": [2, 0, 1], "next": [1, 2, 0]}, "The row pointers run in a circle"),
        ({"prev": [-1, 0, 0]}, "The row pointers contradict each other"),
        (
            {"prev": [-1, -1, -1], "next": [1, -1, -1]},
            "contradict each other: row 0 has 1 as its next row, but row 1 has none as its previous row",
        ),
        ({"prev": [-1, 0, -1], "next": [-1, -1, -1]}, "contradict each other"),
        ({"next": [1, 3, -1]}, "next-row pointer of row 1 is 3; it must be from 0 to 2, or -1 for none"),
        ({"next": [1, 0.5, -1]}, "next-row pointer of row 1 is 0.5"),
        ({"next": [-2, -1, -1]}, "next-row pointer of row 0 is -2"),
        ({"next": ["a", "b", "c"]}, "`next_row` holds text"),
    ],
)
def test_wrong_pointers(pointers: dict[str, Any], message: str) -> None:
    with pytest.raises(LogError, match=message):
        chained(3, **pointers)


def test_rows_are_grouped_by_episode_and_said() -> None:
    with pytest.warns(TripleTreeWarning, match="2 episodes came in 4 pieces and were grouped by episode"):
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


def test_missing_steps_are_said() -> None:
    with pytest.warns(TripleTreeWarning, match="Steps are missing: within episodes the step counter jumps by 1 to 5"):
        make(steps=[0, 1, 3, 8])


def test_a_constant_stride_is_no_gap() -> None:
    assert make(steps=[0, 4, 8, 12]).findings == ()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"episodes": None}, "Nothing says where episodes begin or end.*endless=True"),
        ({"episodes": [0, 0.5, 1, 1]}, "`episode` holds 0.5 in row 1; only whole numbers or text are allowed"),
        ({"episodes": [0, np.nan, 1, 1]}, r"`episode` is missing \(NaN\) in row 1"),
        ({"episodes": ["a", None, "b", "b"]}, "`episode` is missing in row 1"),
        ({"endless": True}, "endless=True means that all rows are one recording, but episodes were given as well"),
        ({"starts": [0, 2]}, "Both starts and episodes were given; give only one of them"),
        ({"steps": [0, 0, 0, 1]}, "Episode 0 holds step 0 twice"),
        ({"steps": [0, np.nan, 0, 1]}, r"`step` is missing \(NaN\) in row 1"),
        ({"steps": ["a", "b", "c", "d"]}, r"`step` holds text \(first in row 0: 'a'\)"),
        ({"episodes": None, "steps": ["a", "b", "c", "d"]}, r"`step` holds text \(first in row 0: 'a'\)"),
        ({"episodes": None, "starts": [1, 2]}, "starts is .* expected the first row of every episode"),
        ({"episodes": None, "starts": [0, 2, 2]}, "starts is"),
        ({"episodes": None, "starts": [0, 9]}, "starts is"),
        ({"episodes": None, "starts": [0.0, 2.0]}, "starts is"),
        ({"episodes": None, "starts": []}, "starts is"),
        ({"terminated": [0, 2, 0, 1]}, "`terminated` holds 2; only True / False or 1 / 0 are allowed"),
        ({"episodes": None, "done": ["no", "yes", "no", "yes"]}, "`done` holds 'no'; only True / False"),
    ],
)
def test_wrong_markers(options: dict[str, Any], message: str) -> None:
    with pytest.raises(LogError, match=message):
        make(**options)


@given(ids=st.lists(st.integers(0, 4), min_size=1, max_size=30), text=st.booleans(), seed=st.integers(0, 9))
def test_ids_in_any_order(ids: list[int], text: bool, seed: int) -> None:
    """Rows are grouped by episode, episodes in the order of their first rows, rows in the order of their steps."""
    n = len(ids)
    steps = np.random.default_rng(seed).permutation(n)
    for given_steps in (None, steps):
        found = by_ids(np.array([f"e{i}" for i in ids], object) if text else np.array(ids), given_steps, Findings())
        order = np.arange(n) if found.order is None else found.order
        groups: dict[int, list[int]] = {}
        for row, name in enumerate(ids):
            groups.setdefault(name, []).append(row)
        if given_steps is not None:
            groups = {name: sorted(rows, key=lambda row: steps[row]) for name, rows in groups.items()}
        assert [order[a:b].tolist() for a, b in pairwise(found.starts)] == list(groups.values())
        assert found.ids.tolist() == [f"e{name}" if text else name for name in groups]


@given(ends=st.lists(st.booleans(), min_size=1, max_size=20))
def test_flags_end_episodes(ends: list[bool]) -> None:
    found = by_flags(np.array(ends), None)
    expected = [0, *(row + 1 for row, end in enumerate(ends) if end and row + 1 < len(ends)), len(ends)]
    assert found.starts.tolist() == expected
    assert found.ids.tolist() == list(range(len(expected) - 1))


def test_pointers_that_nobody_gave() -> None:
    assert by_pointers(None, None, Findings()) is None


def test_rows_in_the_order_of_their_pointers_are_left_alone() -> None:
    findings = Findings()
    found = by_pointers(np.array([-1, 0, -1]), None, findings)
    assert found is not None
    assert found.order is None
    assert findings.items == []


def test_the_better_column_wins() -> None:
    """Ids before row pointers, pointers before flags, flags before steps."""
    log = chained(4, episode=[0, 0, 0, 1], prev=[-1, 0, -1, 2], terminated=[0, 0, 0, 1], step=[0, 1, 2, 0])
    assert log.starts.tolist() == [0, 3, 4]
    log = chained(4, prev=[-1, 0, -1, 2], terminated=[0, 1, 0, 1], step=[0, 1, 2, 3])
    assert log.starts.tolist() == [0, 2, 4]
    log = chained(4, terminated=[0, 0, 1, 1], step=[0, 1, 2, 3])
    assert log.starts.tolist() == [0, 3, 4]


def test_grouped_rows_are_a_note_when_steps_say_their_order() -> None:
    log = make(episodes=[0, 1, 0, 1], steps=[0, 0, 1, 1])
    (found,) = log.findings
    assert (found.level, found.code) == ("note", "regrouped")
    assert (
        found.text
        == "The rows of 2 episodes came in 4 pieces and were grouped by episode, in the order of their steps."
    )


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ([0, 0, 0, 1], r"Episode 0 holds step 0 twice \(1 repeated step in all\); a step may occur only once"),
        ([0, 0, 5, 5], r"Episode 0 holds step 0 twice \(2 repeated steps in all\)"),
        ([0, 1, 0.5, 0.5], r"Episode 1 holds step 0\.5 twice"),
    ],
)
def test_repeated_steps(steps: list[float], message: str) -> None:
    with pytest.raises(LogError, match=message):
        make(steps=steps)


@pytest.mark.parametrize(
    ("pointers", "message"),
    [
        ({"prev": [-1, 0, 0]}, r"row 1 has 0 as its previous row, but row 0 has 2 as its next row\."),
        (
            {"prev": [-1, 0, -1], "next": [-1, -1, -1]},
            r"row 1 has 0 as its previous row, but row 0 has none as its next",
        ),
        ({"next": [1, -1, 1]}, r"row 0 has 1 as its next row, but row 1 has 2 as its previous row\."),
    ],
)
def test_contradictions_name_both_rows(pointers: dict[str, Any], message: str) -> None:
    with pytest.raises(LogError, match=message):
        chained(3, **pointers)


def test_the_log_knows_when_a_guessed_column_contradicts_endless() -> None:
    with pytest.raises(LogError, match=r"episodes were given as well\. Leave out one of the two\. .*ignore=\[...\]"):
        Log.from_dict({"episode": [0, 1], "x": [0.5, 1], "action": [0, 1], "reward": [0, 1]}, endless=True)


@pytest.mark.parametrize(
    ("steps", "starts"),
    [
        ([0, 1, 2, 3], [0, 4]),
        ([0, 1, 0, 1], [0, 2, 4]),
        ([0, 1, 1, 2], [0, 2, 4]),  # a step that comes again begins an episode
        ([3, 3, 3, 3], [0, 1, 2, 3, 4]),
        ([0.5, 0.6, 0.55, 0.7], [0, 2, 4]),
        ([0, 5, 9, 100], [0, 4]),
    ],
)
def test_an_episode_begins_where_the_step_does_not_go_up(steps: list[float], starts: list[int]) -> None:
    assert by_steps(np.array(steps)).starts.tolist() == starts
    # Where no flag is set, it is the same; a flag alone ends an episode, too.
    assert by_flags(np.zeros(4, bool), np.array(steps)).starts.tolist() == starts
    ended = by_flags(np.array([False, False, False, True]), np.array(steps))
    assert ended.starts.tolist() == starts
    first = by_flags(np.array([True, False, False, False]), np.array(steps))
    assert first.starts.tolist() == sorted({*starts, 1})


@pytest.mark.parametrize(
    ("steps", "text"),
    [
        ([0, 1, 2, 3], None),
        ([0, 2, 4, 6], None),  # every second step was recorded
        ([0, 1, 2, 4], "jumps by 1 to 2"),
        ([0, 2, 5, 8], "jumps by 2 to 3"),
        ([0, 1, 2, 2000], "jumps by 1 to 1,998"),
    ],
)
def test_steps_that_are_missing_are_told(steps: list[int], text: str | None) -> None:
    findings = Findings()
    by_ids(np.zeros(4, np.int64), np.array(steps), findings)
    told = [item.text for item in findings.items if item.code == "step-gaps"]
    assert bool(told) == (text is not None)
    assert text is None or text in told[0]
