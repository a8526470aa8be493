"""Logs at the command line: ``check``, ``rhythm``, ``outcome`` and ``world``."""

from __future__ import annotations

import numpy as np
import pytest

from tests.log import worlds
from tripletree import outcome, read_log, world


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
    assert told.lines[0] == "bad.csv: 2 errors, 1 warning."
    assert "→ Give --column episode=NAME" in told.out
    (folder / "bad.csv").write_text("pos,thrust,reward\n1.5,0,0\nnan,1,1\nnan,1,1\n")
    told = run("check", "bad.csv", "--column", "action=thrust", "--endless")
    assert told.code == 1
    assert "`pos` in 2 rows (first in row 1)" in told.out
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


@pytest.mark.parametrize("ending", ["npz", "parquet"])
def test_check_can_repair(run, folder, ending):
    table = worlds.world(0)
    table["heat"][130] = 1e6
    kept = np.ones(len(table["x"]), bool)
    kept[310:315] = False
    lines = [
        ",".join(table),
        *(",".join(map(repr, row)) for row in zip(*(c[kept].tolist() for c in table.values()), strict=True)),
    ]
    (folder / "faulty.csv").write_text("\n".join(lines) + "\n")
    told = run("check", "faulty.csv", "--fix", "-o", f"mended.{ending}")
    assert told.code == 0
    assert "1 row with an outlier of `heat` left out, and episodes divided there." in told.out
    mended = read_log(folder / f"mended.{ending}")
    assert mended.n_samples == 720 - 5 - 1
    assert mended.n_episodes == 12 + 2
    note = (folder / "mended.repairs.txt").read_text().splitlines()
    assert note[0] == f"faulty.csv became mended.{ending}: 714 samples in 14 episodes."
    assert note[1] == "- Episodes divided where the step counter jumps by more than 1."
    told = run("check", f"mended.{ending}", "--fix", "-o", "again.npz")
    assert "Nothing was to be repaired" in told.out
    assert read_log(folder / "again.npz").fingerprint() == mended.fingerprint()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--fix"], "--fix and --out go together: type --fix -o repaired.npz"),
        (["-o", "x.npz"], "--fix and --out go together"),
        (["--fix", "-o", "x.csv"], "must end in .npz or .parquet"),
        (["--gap", "-1"], "--gap must be"),
        (["--column", "time=nowhere"], "There is no column `nowhere`"),
        (["--kind", "pos=kategory"], "Did you mean `category`?"),
    ],
)
def test_check_refuses_in_one_line(run, options, message):
    told = run("check", "run.csv", *options)
    assert told.code != 0
    assert message in told.out + told.err


@pytest.fixture
def swinging(folder):
    step = np.arange(1600)
    phase = 2 * np.pi * (step % 400) / 32
    rows = zip(step // 400, np.cos(phase), np.sin(phase), np.where(phase % (2 * np.pi) < np.pi, 1.0, -1.0), strict=True)
    lines = ["episode,height,speed,push", *(",".join(map(str, row)) for row in rows)]
    (folder / "swing.csv").write_text("\n".join(lines) + "\n")
    return "swing.csv"


def test_rhythm_tells_the_cycle(run, swinging, folder):
    told = run("rhythm", swinging, "--column", "action=push", "--column", "reward=none", "-o", "cycle.svg")
    assert told.code == 0
    assert told.lines[0] == "Repeats every 32 steps (8 of 10 cycles take 32 steps; 100 % of 2 unseen windows repeat)."
    assert [line.split(";")[0] for line in told.lines[1:3]] == [
        "  1  16 steps  push positive",
        "  2  16 steps  push negative",
    ]
    assert told.lines[3:] == ["No episode gets out of step.", "The picture is in cycle.svg."]
    assert (folder / "cycle.svg").read_bytes().startswith(b"<?xml")


def test_rhythm_for_programs(run, swinging):
    data = run("rhythm", swinging, "--column", "action=push", "--column", "reward=none", "--json").json()
    assert data["found"] is True
    assert abs(data["period"] - 32) < 0.1
    assert "phase" not in data


def test_rhythm_says_why_there_is_none(run, folder):
    told = run("rhythm", "run.csv", "-o", "none.png")
    assert told.code == 0
    assert told.lines[0].startswith("No rhythm: ")
    assert not (folder / "none.png").exists()
    told = run("rhythm", "run.csv", "-o", "cycle.txt")
    assert told.code == 1
    assert "--out must end in .png or .pdf or .svg" in told.err


def test_outcome_and_world_are_those_of_python(run, folder):
    log = read_log(folder / "run.csv")
    told = run("outcome", "run.csv", "--success", "ends (pos < 0.1)")
    assert (told.code, told.out) == (0, f"{outcome(log, 'ends (pos < 0.1)')}\n")
    assert run("outcome", "run.csv").out.startswith("Nobody said what success is")
    assert run("world", "run.csv").out == f"{world(log)}\n"
    assert run("world", "run.csv", "--json").json()["lengths"] == list(world(log).lengths)
    told = run("outcome", "run.csv", "--success", "retrun > 3")
    assert told.code == 1
    assert "--success has no `retrun`" in told.err
    (folder / "run.toml").write_text('[episodes]\nsuccess = "length > 20"\n')
    assert "Success means length > 20, as the log says." in run("outcome", "run.csv", "--describe", "run.toml").out
