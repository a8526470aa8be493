"""The doctor: every finding, all at once, readable."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.log.rememberers import thermostat
from tests.logs import random_log
from tripletree.errors import ParameterError
from tripletree.log import Log, Report, check, doctor

GOOD = {"states": [[0.5, 3], [1.5, 2], [1, 7.5]], "actions": [0, 1, 1], "rewards": [0.5, 1, 0]}


def codes(report: Report) -> set[str]:
    return {finding.code for finding in report}


def examine(states: Any, actions: Any, rewards: Any, **options: Any) -> Report:
    return Log.from_arrays(states, actions, rewards, **options).check()


@pytest.mark.parametrize(
    ("change", "options", "code", "level"),
    [
        ({"states": [[0.5, 3], [1.5, 3], [1, 3]]}, {}, "constant-features", "warning"),
        ({"states": [[0.5, 3], [1.5, 3 + 1e-12], [1, 7]]}, {}, "near-duplicates", "note"),
        ({"states": [[0.5, 0], [1.5, 1], [1, 1]]}, {}, "leak", "warning"),
        ({"rewards": [3, 2, 7.5]}, {}, "leak", "warning"),
        ({"states": [[0.5, 4], [1.5, 5], [1, 6]]}, {}, "row-counter", "warning"),
        ({"states": [[0.5, 0.5], [1.5, 1.5], [1, 1]]}, {}, "same-features", "note"),
        ({"actions": [1, 1, 1]}, {}, "one-action", "warning"),
        ({"actions": [0.5, 0.5, 0.5]}, {}, "one-action", "warning"),
        ({"actions": [0.5, 0.25, 0.5]}, {}, "few-actions", "note"),
        ({}, {"labels": ["a", "b", "c"]}, "unused-actions", "note"),
        ({"rewards": [2, 2, 2]}, {}, "constant-rewards", "warning"),
        ({"rewards": [1, 2, 2]}, {}, "integer-rewards", "note"),
        ({}, {"starts": [0, 1, 2]}, "no-derivatives", "warning"),
        ({}, {"starts": [0, 1]}, "tiny-episodes", "note"),
        ({}, {}, "final-state-missing", "note"),
        ({}, {"starts": [0, 1], "final_states": [[1.5, 2], [0, 0]]}, "auto-reset", "warning"),
        ({}, {}, "ending-unknown", "note"),
        ({}, {"ending": "truncated"}, "truncated", "note"),
    ],
)
def test_each_oddity_is_found_and_only_where_it_is(
    change: dict[str, Any], options: dict[str, Any], code: str, level: str
) -> None:
    report = examine(**(GOOD | change), **({"starts": [0]} | options))
    assert [finding.level for finding in report if finding.code == code] == [level]
    clean = examine(**GOOD, starts=[0], terminated=[True], final_states=[[3, 4.5]])
    assert list(clean) == []
    assert str(clean) == ("Log(3 samples, 1 episode, 2 features: s0, s1; discrete action: 0, 1): no problems found.")


# What the doctor says when there is one of something, and when there are several.
def single_steps(number: int) -> dict[str, Any]:
    """``number`` episodes of one step, and one of two steps."""
    n = number + 2
    return {
        "states": [[0.5 * k * k, 7.0 - k**3] for k in range(n)],
        "actions": [k % 2 for k in range(n)],
        "rewards": [0.25 * k for k in range(n)],
        "starts": list(range(number + 1)),
    }


def finals(number: int, unknown: int) -> list[list[float]]:
    return [[np.nan] * 2 if e < unknown else [-e - 0.5, 99.0] for e in range(number)]


@pytest.mark.parametrize(
    ("given", "text", "fix"),
    [
        (
            GOOD | {"states": [[0.5, 3], [1.5, 3], [1, 3]], "starts": [0]},
            "`s1` never changes, so no split can use it.",
            'To leave it out: ignore=["s1"].',
        ),
        (
            GOOD | {"states": [[4, 3]] * 3, "starts": [0]},
            "`s0`, `s1` never change, so no split can use them.",
            'To leave them out: ignore=["s0", "s1"].',
        ),
        (
            GOOD | {"states": [[1, 2, 3, 4]] * 3, "starts": [0]},
            "`s0`, `s1`, `s2`, `s3` never change, so no split can use them.",
            'To leave them out: ignore=["s0", "s1", "s2", ...].',
        ),
        (
            GOOD | {"states": [[0.5, 3], [1.5, 3 + 1e-12], [1, 7]], "starts": [0]},
            "Values that differ by rounding noise only count as equal: `s1` 1 pair.",
            "",
        ),
        (
            GOOD
            | {"states": [[0, 3], [7, 3 + 1e-12], [1e-12, 3 + 2e-12], [7, 99], [5, 90]], "actions": [0, 1, 1, 0, 1]}
            | {"rewards": [0.5, 1, 0, 2, 3], "starts": [0]},
            "Values that differ by rounding noise only count as equal: `s0` 1 pair, `s1` 2 pairs.",
            "",
        ),
        (single_steps(1), "1 of 2 episodes has a single step.", ""),
        (single_steps(3), "3 of 4 episodes have a single step.", ""),
        (
            {"states": [[0.5]], "actions": [0], "rewards": [1], "starts": [0]},
            "The only episode has a single step and no final state: nothing shows how states change.",
            "Log final states (final_state, or next_* columns), and check the episode column.",
        ),
        (
            {"states": [[0.5], [1]], "actions": [0, 1], "rewards": [1, 2], "starts": [0, 1]},
            "Every episode has a single step and no final state: nothing shows how states change.",
            "Log final states (final_state, or next_* columns), and check the episode column.",
        ),
        (GOOD | {"starts": [0]}, "No final state in 1 of 1 episode: its last step has no derivative.", ""),
        (
            single_steps(2) | {"final_states": finals(3, 1)},
            "No final state in 1 of 3 episodes: its last step has no derivative.",
            "",
        ),
        (single_steps(2), "No final state in 3 of 3 episodes: their last step has no derivative.", ""),
        (
            single_steps(1) | {"final_states": [[0.5, 6], [0, 0]]},
            "In 1 of 2 episodes the final state is the first state of the next episode. Vector environments that reset "
            "themselves return that state in place of the true final one.",
            "Take the final state from infos (final_observation, final_obs), or leave final states out.",
        ),
        (
            single_steps(2) | {"final_states": [[0.5, 6], [2, -1], [0, 0]]},
            "In 2 of 3 episodes the final state is the first state of the next episode. Vector environments that reset "
            "themselves return that state in place of the true final one.",
            "Take the final state from infos (final_observation, final_obs), or leave final states out.",
        ),
        (
            GOOD | {"starts": [0]},
            "How 1 of 1 episode ended is unknown.",
            'Give terminated="..." and truncated="...", or one for all: ending="terminated" or ending="truncated".',
        ),
        (
            single_steps(2),
            "How 3 of 3 episodes ended is unknown.",
            'Give terminated="..." and truncated="...", or one for all: ending="terminated" or ending="truncated".',
        ),
        (
            GOOD | {"starts": [0], "ending": "truncated"},
            "1 of 1 episode was cut off: the rewards that would have followed are estimated, which matters for 100.0% "
            "of the samples with gamma = 0.99.",
            "",
        ),
        (
            single_steps(2) | {"terminated": [True, False, True]},
            "1 of 3 episodes was cut off: the rewards that would have followed are estimated, which matters for 25.0% "
            "of the samples with gamma = 0.99.",
            "",
        ),
        (
            single_steps(2) | {"terminated": [True, False, False]},
            "2 of 3 episodes were cut off: the rewards that would have followed are estimated, which matters for 75.0% "
            "of the samples with gamma = 0.99.",
            "",
        ),
        (GOOD | {"starts": [0], "labels": ["a", "b", "c"]}, "Never taken: `c`.", ""),
        (GOOD | {"starts": [0], "labels": ["a", "b", "c", "d"]}, "Never taken: `c`, `d`.", ""),
        (
            GOOD | {"starts": [0], "actions": [1, 1, 1]},
            "Only one action was ever taken (`1`), so the log does not show what makes the agent choose another.",
            "",
        ),
        (
            GOOD | {"starts": [0], "actions": [0.5, 0.5, 0.5]},
            "Action `action` never changes, so the log does not show what makes the agent change it.",
            "",
        ),
        (
            GOOD | {"starts": [0], "actions": [0.5, 0.25, 0.5]},
            "Action `action` has only 2 different values and is taken as continuous.",
            'If they are choices, type action_kind="discrete".',
        ),
        (
            GOOD | {"starts": [0], "rewards": [2, 2, 2]},
            "The reward is always 2, so values differ only by how the episodes end.",
            "",
        ),
        (
            GOOD | {"starts": [0], "rewards": [1, 2, 2]},
            "Rewards are whole numbers; they are taken as real numbers, which is fine.",
            "",
        ),
        (
            GOOD | {"starts": [0], "states": [[0.5, 4], [1.5, 5], [1, 6]]},
            "Feature `s1` only counts the rows; it is not a state.",
            'To leave it out: ignore=["s1"].',
        ),
        (
            GOOD | {"starts": [0], "rewards": [3, 2, 7.5]},
            "Feature `s1` equals the reward: the tree would only repeat it.",
            'To leave it out: ignore=["s1"].',
        ),
        (
            GOOD | {"starts": [0], "states": [[0.5, 0], [1.5, 1], [1, 1]]},
            "Feature `s1` equals the action `action`: the tree would only repeat it.",
            'To leave it out: ignore=["s1"].',
        ),
        (
            GOOD | {"starts": [0], "states": [[0.5, 0.5], [1.5, 1.5], [1, 1]]},
            "Features `s0` and `s1` are the same; splits name the first.",
            "",
        ),
    ],
)
def test_every_message_is_right_for_one_and_for_many(given: dict[str, Any], text: str, fix: str) -> None:
    assert (text, fix) in [(finding.text, finding.fix) for finding in examine(**given)]


def test_long_lists_of_features_are_cut() -> None:
    states = np.outer([0.0, 1e-12, 1.0], np.arange(1.0, 12.0))
    (found,) = [finding for finding in examine(states, [0, 1, 0], [1, 2.5, 3], starts=[0]) if "pair" in finding.text]
    assert found.text.endswith("`s6` 1 pair, `s7` 1 pair and 3 more.")


def test_columns_with_equal_sums_are_not_taken_for_the_same() -> None:
    states = [[1, 1], [2, 3], [3, 2], [5, 5]]
    assert "same-features" not in codes(examine(states, [0, 1, 0, 1], [1, 2.5, 3, 1], starts=[0]))


def test_an_action_with_many_values_after_a_while_is_not_called_a_choice() -> None:
    n = doctor.ROWS_GLANCED + 20
    actions = np.append(np.zeros(doctor.ROWS_GLANCED), np.arange(20) + 0.5)
    assert "few-actions" not in codes(examine(np.sqrt(np.arange(n)), actions, np.cos(np.arange(n)), starts=[0]))


def test_texts() -> None:
    log = Log.from_arrays([[0.5, 1]] * 4, [0] * 4, [1] * 4, starts=[0, 2], terminated=[True, False])
    text = str(log.check())
    assert text.startswith("Log(4 samples, 2 episodes, 2 features: s0, s1; discrete action: 0): 3 warnings, 2 notes.\n")
    assert "  warning  `s0`, `s1` never change, so no split can use them." in text
    assert '           → To leave them out: ignore=["s0", "s1"].' in text
    assert "1 of 2 episodes was cut off: the rewards that" in text
    assert "matters for 50.0% of the samples with gamma = 0.99" in text


def test_what_was_noticed_while_reading_is_kept() -> None:
    log = Log.from_arrays(**GOOD, episodes=[0, 1, 1], steps=[0, 1, 0])
    assert "sorted" in codes(log.check())
    assert "sorted" not in codes(log.select([0]).check())


def test_final_states_of_other_episodes_are_no_auto_reset() -> None:
    states = np.array([[0.5], [1.5], [0.5], [1.5], [0.5], [1.5]])
    finals = [[0.5], [2.5], [2.5]]
    assert "auto-reset" in codes(examine(states, [0, 1] * 3, range(6), starts=[0, 2, 4], final_states=finals))
    finals = [[2.5], [2.5], [0.5]]
    assert "auto-reset" not in codes(examine(states, [0, 1] * 3, range(6), starts=[0, 2, 4], final_states=finals))


def test_check_takes_anything(tmp_path: Path) -> None:
    table = {"episode": [0, 0], "x": [0.5, 1], "action": [0, 1], "reward": [1, 2]}
    pd.DataFrame(table).to_csv(tmp_path / "log.csv", index=False)
    episode = {"states": [[0.5], [1]], "actions": [0, 1], "rewards": [1, 2]}
    for report in (
        check(table),
        check(pd.DataFrame(table)),
        check(tmp_path / "log.csv"),
        check(str(tmp_path / "log.csv")),
        check([episode]),
        check(([[0.5], [1]], [0, 1], [1, 2]), starts=[0]),
        check(Log.from_dict(table)),
        check(random_log()),
    ):
        assert report.ok
        assert len(report) > 0


def test_check_lists_all_errors_and_raises_nothing(tmp_path: Path) -> None:
    report = check({"x": [np.nan, 1], "y": ["a", "2"], "action": [0, None], "reward": [1, np.inf]})
    assert not report.ok
    assert codes(report) == {
        "no-episodes",
        "states-not-finite",
        "not-numeric",
        "actions-not-finite",
        "rewards-not-finite",
    }
    assert all(finding.fix for finding in report.errors if finding.code != "rewards")
    assert str(check(tmp_path)).startswith("This log: 1 error.\n  error    ")
    for nonsense in (None, 3, "nowhere.csv", [], {}, object(), [[1, 2], [3]], ((), (), ())):
        assert not check(nonsense).ok


def test_check_stays_silent_about_what_it_reports() -> None:
    table = {"episode": [0, 1, 0], "x": [0.5, 1, 2], "action": [0, 1, 1], "reward": [1, 2, 3]}
    assert "regrouped" in codes(check(table))  # a warning would be an error here


@pytest.mark.parametrize(
    ("source", "options"),
    [
        ({"x": [1.5]}, {"rewards": "r"}),
        ([{"states": [[1]], "actions": [0], "rewards": [0]}], {"reward": "r"}),
        ("run.csv", {"colour": "red"}),
    ],
)
def test_check_refuses_options_that_no_constructor_takes(source: Any, options: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match="There is no option"):
        check(source, **options)


NOWHERE = [99.0]
UNKNOWN = [np.nan]


@pytest.mark.parametrize(
    ("finals", "warned"),
    [
        # The first states of the episodes are 0, 10, 20, ...; the final state of the last one has no next to compare.
        ([[10.0], NOWHERE], "1 of 2"),
        ([[10.0], NOWHERE, NOWHERE], "1 of 3"),  # one of the two that could be
        ([[10.0], NOWHERE, NOWHERE, NOWHERE], None),  # one of three
        ([[10.0], [20.0], NOWHERE, NOWHERE, NOWHERE], "2 of 5"),
        ([[10.0], [20.0], NOWHERE, NOWHERE, NOWHERE, NOWHERE], None),  # two of five
        ([[10.0], [20.0], [30.0], NOWHERE, NOWHERE, NOWHERE], "3 of 6"),
        # Final states that were not recorded count for neither side.
        ([[10.0], UNKNOWN, UNKNOWN, UNKNOWN, NOWHERE], "1 of 5"),
        ([[10.0], UNKNOWN, NOWHERE, NOWHERE, NOWHERE], None),
        ([NOWHERE, NOWHERE, [0.0]], None),
        ([UNKNOWN, UNKNOWN], None),
    ],
)
def test_half_of_the_final_states_must_be_first_states_to_tell_of_auto_reset(
    finals: list[list[float]], warned: str | None
) -> None:
    n = len(finals)
    states = np.column_stack([10.0 * np.arange(n), 10.0 * np.arange(n) + 1.5]).ravel()[:, None]
    report = examine(states, [0, 1] * n, np.sqrt(np.arange(2 * n)), starts=range(0, 2 * n, 2), final_states=finals)
    found = [finding.text for finding in report.warnings if finding.code == "auto-reset"]
    assert [text.partition(" episodes")[0] for text in found] == ([f"In {warned}"] if warned else [])


@pytest.mark.parametrize(("values", "noted"), [(2, True), (10, True), (11, False), (14, False)])
def test_an_action_with_ten_values_may_be_a_choice(values: int, noted: bool) -> None:
    actions = (np.arange(40) % values) / 2
    found = [f for f in examine(np.sqrt(np.arange(40)), actions, np.cos(np.arange(40)), starts=[0]) if "few-" in f.code]
    assert bool(found) == noted
    if noted:
        assert f"has only {values} different values" in found[0].text


@pytest.mark.parametrize(("gap", "noted"), [(1e-18, True), (2.0**-32, True), (2.0**-31, True), (2.0**-30, False)])
@pytest.mark.parametrize("scale", [1.0, 1024.0, 2.0**-300])
@pytest.mark.parametrize("outlier", [1.0, 1e6, 1e90])
def test_an_outlier_does_not_turn_values_into_rounding_noise(
    gap: float, scale: float, outlier: float, noted: bool
) -> None:
    # Five of seven are in the middle, which reaches from 0 to 1.
    states = scale * np.array([-0.5, 0.0, gap, 0.25, 0.75, 1.0, 1.5 * outlier])
    found = codes(examine(states[:, None], [0, 1, 0, 1, 0, 0, 1], [0.5, 1, 0, 2, 0, 3, 1], starts=[0]))
    assert ("near-duplicates" in found) == noted


@pytest.mark.parametrize(("rows", "warned"), [(2, False), (3, True), (9, True)])
def test_three_rows_are_enough_to_tell_a_counter(rows: int, warned: bool) -> None:
    given = np.column_stack([np.arange(rows) + 7.0, np.sqrt(np.arange(rows))])
    report = examine(given, np.arange(rows) % 2, np.cos(np.arange(rows)), starts=[0])
    assert ("row-counter" in codes(report)) == warned


@pytest.mark.parametrize(
    ("features", "shown"),
    [(2, '["s0", "s1"]'), (3, '["s0", "s1", "s2"]'), (4, '["s0", "s1", "s2", ...]'), (9, '["s0", "s1", "s2", ...]')],
)
def test_three_constant_features_are_listed_for_typing(features: int, shown: str) -> None:
    report = examine(np.ones((3, features)), [0, 1, 0], [0.5, 1, 0], starts=[0])
    (found,) = [finding for finding in report if finding.code == "constant-features"]
    assert found.fix == f"To leave them out: ignore={shown}."


@pytest.mark.parametrize(("steps", "share"), [(100, "100.0%"), (298, "100.0%"), (596, "50.0%")])
def test_truncation_touches_the_last_298_steps_of_an_episode(steps: int, share: str) -> None:
    """0.99 to the power of 298 is just above a twentieth, and to that of 299 below it."""
    report = examine(
        np.sqrt(np.arange(steps)), np.arange(steps) % 2, np.cos(np.arange(steps)), starts=[0], ending="truncated"
    )
    (found,) = [finding for finding in report if finding.code == "truncated"]
    assert f"matters for {share} of the samples with gamma = 0.99" in found.text


@pytest.mark.parametrize("memory", [False, True])
def test_an_agent_that_remembers_is_noted(memory: bool) -> None:
    found = [finding for finding in thermostat(memory).check() if finding.code == "memory"]
    assert len(found) == memory
    if memory:
        assert "depend on what came before: whether `room` was last above 0." in found[0].text
        assert "log.with_lags([1])" in found[0].fix
