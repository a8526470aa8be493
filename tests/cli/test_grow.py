"""From a log to a model: check, grow, info."""

from __future__ import annotations

import re

import pytest

import tripletree


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


def test_grow_writes_a_model_and_says_how_good(run, tmp_path):
    told = run("grow", "run.csv", "-o", tmp_path / "m.tripletree", "--max-leaves", 30, "--theta", "0.2,0.6,0.2")
    assert told.code == 0
    assert "2,000 samples in" in told.lines[0]
    assert "a tree of 30 leaves" in told.lines[0]
    assert told.err.startswith("note: ")
    assert "Try --truncation bootstrap" in told.err
    tree = tripletree.load(tmp_path / "m.tripletree")
    assert (tree.n_leaves_, tree.theta) == (30, (0.2, 0.6, 0.2))
    assert "--theta" in run("grow", "--help").out


def test_grow_holds_out_episodes(run, tmp_path):
    data = run("grow", "run.csv", "-o", tmp_path / "m.tripletree", "--validation", 0.25, "--json").json()
    assert set(data["losses"]) == {"training", "validation"}
    assert data["provenance"]["samples"] < 2_000
    data = run("grow", "run.csv", "-o", tmp_path / "m.tripletree", "--validation", "run.csv", "--json").json()
    assert data["provenance"]["samples"] == 2_000
    assert data["losses"]["training"]["value"] == pytest.approx(data["losses"]["validation"]["value"])


def test_a_description_and_options_go_together(run, tmp_path):
    model = tmp_path / "m.tripletree"
    options = ["--describe", "coded.toml", "--unit", "speed=m/s", "--kind", "speed=angle", "--max-leaves", 5]
    schema = run("grow", "coded.csv", "-o", model, *options, "--json").json()["schema"]
    assert [(f["name"], f["unit"], f["kind"]) for f in schema["features"]] == [
        ("pos", "m", "real"),
        ("speed", "m/s", "angle"),
    ]
    assert schema["action"] == {"kind": "discrete", "names": ["acc"], "labels": ["left", "right"], "units": [""]}
    same = [
        "--column",
        "action=acc",
        "--label",
        "0=left",
        "--label",
        "1=right",
        "--ignore",
        "step",
        "--features",
        "speed",
    ]
    schema = run("grow", "coded.csv", "-o", model, *same, "--max-leaves", 5, "--json").json()["schema"]
    assert [feature["name"] for feature in schema["features"]] == ["speed"]
    assert schema["action"]["labels"] == ["left", "right"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--column", "epsode=run"], r"`epsode` is no role of a column; roles are .*Did you mean `episode`\?"),
        (["--column", "episode"], "`episode` is no ROLE=NAME."),
        (["--unit", "=m"], "`=m` is no NAME=UNIT."),
        (["--theta", "a,b,c"], "`a,b,c` are no numbers; type three with commas"),
        (["--priority", "gane"], "'gane' is not one of 'impurity', 'gain'"),
        (["--max-leafs", "3"], "Did you mean .*--max-leaves"),
    ],
)
def test_what_cannot_be_meant_is_exit_code_2(run, tmp_path, arguments, message):
    told = run("grow", "run.csv", "-o", tmp_path / "m.tripletree", *arguments)
    assert told.code == 2
    assert re.search(message, told.err.replace("\n", " ")), told.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--max-leaves", "0"], "max_leaves must be a whole number of at least 1; got 0. Try --max-leaves 200."),
        (
            ["--theta", "0,0,0"],
            "theta must be three non-negative numbers, not all zero; got (0.0, 0.0, 0.0). Try --theta 1,1,1.",
        ),
        (["--gamma", "1", "--truncation", "bootstrap"], "--truncation bootstrap needs gamma below 1"),
        (["--validation", "1.5"], "validation must be"),
        (["--validation", "nowhere.csv"], "There is no file nowhere.csv."),
        (["--column", "action=acc"], "There is no column `acc` (given as --column action)."),
        (["--encoding", "utf-99"], "There is no encoding 'utf-99'. Type --encoding utf-8"),
        (["--describe", "nowhere.toml"], "nowhere.toml cannot be read: No such file or directory."),
    ],
)
def test_what_is_wrong_with_data_is_exit_code_1(run, tmp_path, arguments, message):
    told = run("grow", "run.csv", "-o", tmp_path / "m.tripletree", *arguments)
    assert told.code == 1
    assert message in told.err
    assert "Traceback" not in told.err
    assert list(tmp_path.iterdir()) == []


def test_info_for_people_and_programs(run):
    told = run("info", "run.tripletree")
    assert told.code == 0
    assert "run.tripletree, 120 leaves" in told.lines[0]
    assert "pos (real" in told.out
    data = run("info", "run.tripletree", "--json").json()
    assert data["leaves"] == 120
    assert data["provenance"]["samples"] == 2_000
    assert data["losses"]["training"]["action"] < 0.2


def test_info_prints_leaves_and_losses_as_csv(run):
    told = run("info", "run.tripletree", "--leaves")
    assert len(told.lines) == 121
    assert told.lines[0].startswith("leaf,node,depth,count,pos_min,pos_max")
    assert len(run("info", "run.tripletree", "--curve").lines) == 121
    assert len(run("info", "run.tripletree", "--leaves", "--json").json()["leaf"]) == 120
    assert run("info", "run.tripletree", "--leaves", "--curve").code == 2
