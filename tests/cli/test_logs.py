"""Logs at the command line: ``check``."""

from __future__ import annotations


def test_check_says_what_was_read_and_found(run):
    told = run("check", "run.csv")
    assert told.code == 0
    assert told.lines[0].startswith("Read 2,000 samples in")
    assert "  action       action (discrete, 2 labels: left, right) (guessed)" in told.lines
    assert "--column episode=NAME, --column action=NAME" in told.out
    assert "No final state in" in told.out


def test_check_of_a_bad_log_is_exit_code_1(run, folder):
    (folder / "bad.csv").write_text("pos,thrust,reward\n1.5,0,0\nnan,1,1\n")
    told = run("check", "bad.csv")
    assert told.code == 1
    assert told.lines[0] == "bad.csv: 1 error."
    assert "→ Type --column action=NAME" in told.out
    told = run("check", "bad.csv", "--column", "action=thrust", "--endless")
    assert told.code == 1
    assert "`pos` in 1 row (first in row 1)" in told.out
    assert "--ignore NAME" in told.out


def test_check_for_programs(run):
    data = run("check", "run.csv", "--json").json()
    assert data["ok"] is True
    assert {finding["level"] for finding in data["findings"]} == {"note"}
    told = run("check", "nowhere.csv", "--json")
    assert told.code == 1
    assert '"ok": false' in told.out


def test_a_column_that_was_set_aside_can_be_called_back(run, tmp_path):
    rows = "".join(f"{e},{t},{e + t / 2},{t % 3},{t % 2},{t + e / 3}\n" for e in range(3) for t in range(4))
    (tmp_path / "run.csv").write_text("episode,step,pos,value,action,reward\n" + rows)
    told = run("check", tmp_path / "run.csv")
    assert "set aside    value" in told.out
    assert "If `value` is a feature, type --features ...,value; if not, --ignore value." in told.out
    told = run("check", tmp_path / "run.csv", "--features", "...,value")
    assert "features     pos (real); value (integer)" in told.out
    (tmp_path / "run.toml").write_text('[columns]\nfeatures = ["value", "..."]\n')
    told = run("check", tmp_path / "run.csv", "--describe", tmp_path / "run.toml")
    assert "features     value (integer); pos (real)" in told.out
