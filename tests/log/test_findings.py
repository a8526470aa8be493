"""Findings: collected, sorted, raised all at once."""

from __future__ import annotations

import pickle
import re
import warnings
from typing import Any

import numpy as np
import pytest

from tests.log.raw import TABLE
from tests.parsed import lines
from tripletree.errors import LogError, ParameterError, TripleTreeWarning
from tripletree.log import Log, check, read_log
from tripletree.log.findings import BadLogError, Finding, Findings, Report, hint
from tripletree.text import Message, Option


def test_reports_put_errors_first() -> None:
    findings = Findings("It")
    findings.note("n", "Fine.", "Go on.")
    findings.warning("w", "Odd.")
    findings.error("e", "Wrong.")
    findings.warning("w", "Odd again.")
    report = findings.report()
    assert [finding.level for finding in report] == ["error", "warning", "warning", "note"]
    assert [finding.text for finding in report.warnings] == ["Odd.", "Odd again."]
    assert (len(report), len(report.errors), len(report.notes), report.ok) == (4, 1, 1, False)
    assert str(report) == (
        "It: 1 error, 2 warnings, 1 note.\n"
        "  error    Wrong.\n"
        "  warning  Odd.\n"
        "  warning  Odd again.\n"
        "  note     Fine.\n"
        "           → Go on."
    )


def test_a_report_without_findings() -> None:
    assert str(Report("It", ())) == "It: no problems found."
    assert Report("It", ()).ok


@pytest.mark.parametrize(("level", "ok"), [("error", False), ("warning", True), ("note", True)])
def test_only_errors_make_a_log_unusable(level: str, ok: bool) -> None:
    findings = Findings()
    getattr(findings, level)("code", "Text.")
    assert findings.failed is not ok
    assert findings.report().ok is ok


def test_stopping() -> None:
    findings = Findings("run.csv")
    findings.warning("w", "Odd.")
    findings.stop_if_failed()
    findings.error("e", "Wrong.", "Do this.")
    with pytest.raises(BadLogError, match=r"^Wrong\. Do this\.$") as caught:
        findings.stop_if_failed()
    assert isinstance(caught.value, LogError)
    assert [finding.code for finding in caught.value.report] == ["e", "w"]


def test_several_errors_are_numbered() -> None:
    findings = Findings("run.csv")
    findings.error("a", "First.")
    with pytest.raises(
        BadLogError, match=r"^run\.csv cannot be used, it has 2 errors:\n  1\. First\.\n  2\. Last\. Fix it\.$"
    ):
        findings.fail("b", "Last.", "Fix it.")


def test_findings_are_values() -> None:
    finding = Finding("note", "code", "Text.", "Fix.")
    assert finding == Finding("note", "code", "Text.", "Fix.")
    assert pickle.loads(pickle.dumps(finding)) == finding
    assert (str(finding), str(Finding("note", "code", "Text."))) == ("Text. Fix.", "Text.")


def test_hints() -> None:
    assert hint("Pos", ["pos", "speed"]) == "Did you mean `pos`?"
    assert hint("zzz", ["pos", "speed"]) == "Choose from `pos`, `speed`."
    assert hint("zzz", [f"x{k}" for k in range(20)]).endswith("`x11` and 8 more.")


def loud(option: Option) -> str:
    return option.name.upper()


def test_a_finding_keeps_the_arguments_that_it_mentions() -> None:
    finding = Finding("note", "code", "Odd {}.", Message("Type {}.", Option("ignore", ["{}"])))
    assert str(finding) == 'Odd {}. Type ignore=["{}"].'
    assert finding.message.worded(loud) == "Odd {}. Type IGNORE."
    assert pickle.loads(pickle.dumps(finding)).message.worded(loud) == finding.message.worded(loud)


def test_an_error_keeps_the_arguments_of_all_findings() -> None:
    findings = Findings("{x}.csv")
    findings.error("a", "First.", Message("Type {}.", Option("step", "...")))
    assert BadLogError(findings.report()).args[0].worded(loud) == "First. Type STEP."
    findings.error("b", Message("{} is wrong.", Option("ending")))
    error = BadLogError(findings.report())
    assert str(error) == '{x}.csv cannot be used, it has 2 errors:\n  1. First. Type step="...".\n  2. ending is wrong.'
    assert error.args[0].worded(loud) == str(error).replace('step="..."', "STEP").replace("ending", "ENDING")


# Sources with every finding that mentions an argument, and its code.
ROWS: dict[str, Any] = {"x": [0.5, 1.5, 2.0], "action": [0, 1, 1], "reward": [0, 1, 0.5]}
ADVICE: list[tuple[Any, dict[str, Any], str]] = [
    (ROWS, {}, "no-episodes"),
    (ROWS | {"episode": [0, 0, 1]}, {"endless": True}, "endless"),
    (ROWS | {"step": ["a", "b", "c"]}, {}, "not-numeric"),
    (ROWS | {"step": [0, np.nan, 2]}, {}, "step-missing"),
    (ROWS | {"episode": [0, 0, 0], "step": [0, 0, 1]}, {}, "step-twice"),
    (ROWS | {"episode": [0, 1, 0]}, {}, "regrouped"),
    (ROWS | {"prev": [-1, 0, 0], "next": [1, -1, -1]}, {}, "pointers"),
    (ROWS | {"episode": [0, 0, 1], "terminated": [1, 0, 1]}, {}, "flag-inside"),
    (TABLE | {"next_pos": [9, 9, 9], "next_speed": [9, 9, 9]}, {}, "next-differs"),
    (TABLE | {"next_pos": [9, 9, 9]}, {}, "next-incomplete"),
    (TABLE | {"next_pos": [9, 9, 9], "next_speed": [9, 9, 9], "next_x": [1, 2, 3]}, {}, "set-aside"),
    (TABLE | {"rewards": [1, 2, 3]}, {}, "set-aside"),
    (TABLE | {"who": ["x", "y", "3"]}, {}, "not-numeric"),
    (TABLE | {"pos": [1, np.nan, np.nan]}, {}, "states-not-finite"),
    (TABLE | {"pos": [1, np.nan, 2]}, {}, "missing"),
    (TABLE, {"reward": "nonsense"}, "unknown-column"),
    (TABLE, {"next_state": "after_"}, "unknown-column"),
    (TABLE, {"units": {"nonsense": "m"}}, "unknown-column"),
    (TABLE, {"kinds": {"nonsense": "real"}}, "unknown-column"),
    (TABLE, {"kinds": {"pos": "nonsense"}}, "kind"),
    (TABLE, {"features": ["pos"], "action": "pos"}, "two-roles"),
    (TABLE, {"action_kind": "nonsense"}, "action-kind"),
    (TABLE, {"ending": "nonsense"}, "ending"),
    (TABLE, {"labels": {0: "left"}}, "labels"),
    (TABLE, {"labels": ["left"], "action_kind": "continuous"}, "labels"),
    (TABLE | {"action": ["a", "b", "c"]}, {"action_kind": "continuous"}, "not-numeric"),
    (ROWS | {"action": [0.5, 0.25, 0.5]}, {"endless": True}, "few-actions"),
    ({"x": [0.5], "action": [1]}, {}, "no-reward"),
    ({"x": [0.5], "reward": [1]}, {}, "no-action"),
    ({"reward": [0.5], "action": [1]}, {}, "no-features"),
    (TABLE | {"pos": [1, 1, 1]}, {}, "constant-features"),
    (TABLE | {"pos": [1, 2, 3]}, {}, "row-counter"),
    (TABLE | {"pos": [1, 2, 3]}, {}, "leak"),
    (TABLE, {}, "ending-unknown"),
    (([[0.5], [1.5]], [0, 1], [0, 1]), {"starts": [1]}, "starts"),
]


@pytest.mark.parametrize(("source", "options", "code"), ADVICE)
def test_every_argument_that_a_finding_mentions_is_data(source: Any, options: dict[str, Any], code: str) -> None:
    report = check(source, **options)
    assert code in {finding.code for finding in report}
    for finding in report:
        assert not re.search(r"[a-z_]+=", finding.message.worded(lambda _: "OPTION")), finding
    found = next(finding for finding in report if finding.code == code)
    assert "OPTION" in found.message.worded(lambda _: "OPTION")


def test_too_many_labels_are_numbers_on_a_scale() -> None:
    n = 1500
    report = check((np.arange(n) / 7, np.arange(n), np.zeros(n)), starts=[0])
    assert report.errors[0].message.worded(loud).endswith("If they are numbers on a scale, type ACTION_KIND.")
    labels = [f"a{k}" for k in range(n)]
    assert str(check((np.arange(n) / 7, labels, np.zeros(n)), starts=[0])).endswith("→ Group the values first.")


def test_warnings_keep_them_too() -> None:
    with pytest.warns(TripleTreeWarning, match="set aside") as told:
        log = Log.from_dict(TABLE | {"rewards": [1, 2, 3], "actions": [0, 1, 0]})
    assert str(told[0].message).count("type features=") == 1
    assert "type FEATURES; if not, IGNORE." in told[0].message.args[0].worded(loud)  # type: ignore[union-attr]
    assert "name the column: EPISODE, ACTION, FEATURES, IGNORE." in log.reading.worded(loud)  # type: ignore[attr-defined]


def test_every_wrong_kind_is_reported_with_what_to_type() -> None:
    near, far = (str(error) for error in check(TABLE, kinds={"pos": "reel", "speed": "zzz"}).errors)
    allowed = "kinds must be 'real', 'binary', 'integer', 'angle' or 'category'"
    assert near == f"Feature `pos`: {allowed}; got 'reel'. Did you mean `real`?"
    assert far == f'Feature `speed`: {allowed}; got \'zzz\'. Try kinds={{"speed": "real"}}.'


def test_a_file_with_a_schema_of_its_own_names_the_options_that_it_refuses(tmp_path: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TripleTreeWarning)
        Log.from_dict(TABLE).to_npz(tmp_path / "log.npz")
    with pytest.raises(ParameterError, match="reward, ignore cannot be given") as caught:
        read_log(tmp_path / "log.npz", reward="x", ignore=["y"])
    assert "; REWARD, IGNORE cannot be given." in caught.value.args[0].worded(loud)


def test_a_notebook_shows_a_report_as_a_table() -> None:
    findings = Findings("It <b>")
    findings.note("n", "Fine & good.", Message("Type {}.", Option("ignore", ["<i>"])))
    findings.error("e", "Wrong.")
    assert lines(findings.report()._repr_html_()) == [
        "It <b>: 1 error, 1 note.",
        "error|Wrong.|",
        "note|Fine & good.",
        '→ Type ignore=["<i>"].|',
    ]
    assert lines(Report("It", ())._repr_html_()) == ["It: no problems found."]
