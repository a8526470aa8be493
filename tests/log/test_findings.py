"""Findings: collected, sorted, raised all at once."""

from __future__ import annotations

import pickle

import pytest

from tripletree.errors import LogError
from tripletree.log.findings import BadLogError, Finding, Findings, Report, hint


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
