"""Models at the command line: ``grow`` and ``info``."""

from __future__ import annotations

import re

import pytest

import tripletree


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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--column", "epsode=run"], r"`epsode` is not a role; a column can be .*Did you mean `episode`\?"),
        (["--column", "episode"], "`episode` is not ROLE=NAME."),
        (["--unit", "=m"], "`=m` is not NAME=UNIT."),
        (["--theta", "a,b,c"], "`a,b,c` is not three numbers with commas, such as 0.2,0.6,0.2"),
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
        (["--max-leaves", "0"], "--max-leaves must be a whole number of at least 1; got 0. Try --max-leaves 200."),
        (
            ["--theta", "0,0,0"],
            "--theta must be three non-negative numbers, not all zero; got (0.0, 0.0, 0.0). Try --theta 1,1,1.",
        ),
        (["--gamma", "1", "--truncation", "bootstrap"], "--truncation bootstrap needs --gamma below 1"),
        (["--validation", "1.5"], "validation must be"),
        (["--validation", "nowhere.csv"], "There is no file nowhere.csv."),
        (["--column", "action=acc"], "There is no column `acc` (given as --column action)."),
        (["--encoding", "utf-99"], "There is no encoding 'utf-99'. Type --encoding utf-8"),
        (["--describe", "nowhere.toml"], "There is no file nowhere.toml."),
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


def sizes(told):
    """The first column of the table of losses."""
    rows = told.out[told.out.index("What trees of several sizes get wrong") :].splitlines()[2:]
    return [int(row.split()[0].replace(",", "")) for row in rows[: rows.index("")] if row.split()[0][0].isdigit()]


def test_losses_are_shown_at_round_sizes_up_to_the_largest(run, tmp_path):
    assert sizes(run("info", "run.tripletree")) == [1, 10, 50, 100, 120]
    model = tmp_path / "m.tripletree"
    assert sizes(run("grow", "run.csv", "-o", model, "--max-leaves", 50)) == [1, 10, 50]
    assert sizes(run("grow", "run.csv", "-o", model, "--max-leaves", 51)) == [1, 10, 50, 51]
    assert sizes(run("grow", "run.csv", "-o", model, "--max-leaves", 1)) == [1]
    # Two hundred leaves are the default.
    assert sizes(run("grow", "run.csv", "-o", model)) == [1, 10, 50, 100, 200]


def test_a_size_that_was_chosen_is_shown_among_the_others(run, tmp_path):
    model = tmp_path / "m.tripletree"
    told = run("grow", "run.csv", "-o", model, "--validation", "0.25", "--max-leaves", "60")
    kept = tripletree.load(model).n_leaves_
    assert sizes(told) == sorted({1, 10, 50, kept, 60})
