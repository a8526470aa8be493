"""The doctor: every finding, all at once, readable."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.logs import random_log
from tripletree.log import Log, Report, check
from tripletree.log.findings import Finding

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


def test_texts() -> None:
    log = Log.from_arrays([[0.5, 1]] * 4, [0] * 4, [1] * 4, starts=[0, 2], terminated=[True, False])
    text = str(log.check())
    assert text.startswith("Log(4 samples, 2 episodes, 2 features: s0, s1; discrete action: 0): 3 warnings, 2 notes.\n")
    assert "  warning  `s0`, `s1` never change, so no split can use them." in text
    assert "           → To leave them out: ignore=['s0', 's1']." in text
    assert "1 of 2 episodes is truncated: near its end values" in text
    assert "affects 50.0% of the samples with gamma = 0.99" in text


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
    report = check({"x": [np.nan, 1], "y": ["a", "b"], "action": [0, None], "reward": [1, np.inf]})
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


def test_reports_put_errors_first() -> None:
    report = Report("It", (Finding("error", "e", "Wrong."), Finding("note", "n", "Fine.", "Go on.")))
    assert [len(part) for part in (report.errors, report.warnings, report.notes)] == [1, 0, 1]
    assert str(report) == "It: 1 error, 1 note.\n  error    Wrong.\n  note     Fine.\n           → Go on."
