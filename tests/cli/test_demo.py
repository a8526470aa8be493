"""``tripletree demo`` and ``reproduce``: what they print and what they leave behind."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

import tripletree
from tripletree.cli import main
from tripletree.demos import road
from tripletree.reproduce import run as module
from tripletree.reproduce.page import FAILS, HOLDS, Claim

AGENTS = tuple(road.VARIANTS)


@pytest.fixture
def demo(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: CliRunner().invoke(main, ["demo", *arguments])


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The demo, run once: its folder and what it printed."""
    folder = tmp_path_factory.mktemp("demo")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        result = CliRunner().invoke(main, ["demo", "--leaves", "70"])
    assert result.exit_code == 0, result.output
    return folder, result.stdout


def test_the_demo_leaves_models_logs_and_reports(finished):
    folder, _ = finished
    assert sorted(path.name for path in (folder / "out").iterdir()) == [
        f"{name}.{kind}" for name in ("lander", "road") for kind in ("html", "npz", "tripletree")
    ]
    for name in ("lander", "road"):
        tree, log = tripletree.load(folder / f"out/{name}.tripletree"), tripletree.read_log(folder / f"out/{name}.npz")
        assert tree.n_leaves_ == 70
        assert tree.fitted_.provenance["log_sha256"] == log.fingerprint()
        assert log.fingerprint() in (folder / f"out/{name}.html").read_text(encoding="utf-8")


def test_the_commands_it_proposes_work(finished, monkeypatch):
    folder, text = finished
    monkeypatch.chdir(folder)
    program = f"{os.path.relpath(sys.executable)} -m tripletree"
    monkeypatch.chdir(folder)
    lines = [line.strip() for line in text.splitlines() if line.strip().startswith(program)]
    assert len(lines) == 4
    for line in lines[:-1]:  # the last one is about a log of the reader's own
        answer = CliRunner().invoke(main, shlex.split(line)[3:])
        assert answer.exit_code == 0, answer.output
    ran = subprocess.run(shlex.split(lines[0]), capture_output=True, text=True, check=True)
    assert "0.001" in ran.stdout


def test_it_explains_a_state_of_either_agent(finished):
    _, text = finished
    assert re.search(r"At pos=1\.2.*:\n +Action = .* because .*\n +Action would = .* if ", text)
    assert re.search(r"At x=0\.1.*:\n +Main engine = .* because .*\n +Main engine would < -0\.5 if ", text)


def test_the_trees_are_better_than_one_leaf_on_unseen_episodes(finished):
    _, text = finished
    rows = re.findall(r"^(the tree|one leaf) +([\d.]+)%? +([\d.]+) +([\d.]+) *$", text, re.MULTILINE)
    assert [row[0] for row in rows] == ["the tree", "one leaf"] * 2
    for tree, leaf in (rows[:2], rows[2:]):
        assert all(float(mine) < float(its) for mine, its in zip(tree[1:], leaf[1:], strict=True))


def test_another_driver_has_another_demo(finished, demo, tmp_path):
    told = demo("--leaves", "5", "--agent", "hurry", "--out", "hurry").stdout
    assert "is paid 10 at the left wall, 10 at the right wall and -1 x |speed|" in told
    assert "is paid 1.5 at the left wall" in finished[1]
    assert (tmp_path / "hurry" / "road.html").exists()


def test_every_driver_is_offered():
    (option,) = (one for one in main.get_command(click.Context(main), "demo").params if one.name == "agent")
    assert tuple(option.type.choices) == AGENTS


def test_tables_fit_a_pipe_of_80_columns_and_hold_no_escapes(finished):
    _, text = finished
    assert "\x1b" not in text
    rows = [line for line in text.splitlines() if re.match(r"( +wrong| +action|the tree|one leaf)", line)]
    assert len(rows) == 6
    assert max(map(len, rows)) <= 80


def test_a_wrong_size_is_one_line(demo, tmp_path):
    result = demo("--leaves", "0")
    assert result.exit_code == 1
    assert re.fullmatch(r"error: --leaves must be a whole number from 1 to 2,147,483,647; got 0\. .*\n", result.stderr)
    assert not (tmp_path / "out").exists()


def test_an_unknown_agent_is_refused_with_the_known_ones(demo):
    result = demo("--agent", "lift")
    assert result.exit_code == 2
    assert "'left'" in result.stderr


def test_a_file_in_the_way_is_one_line(demo, tmp_path):
    (tmp_path / "out").write_text("in the way")
    result = demo("--leaves", "5")
    assert result.exit_code == 1
    assert re.fullmatch(r"error: out.*: \w.*", result.stderr.splitlines()[-1])
    assert "Traceback" not in result.stderr


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_ctrl_c_leaves_no_model_and_no_traceback(tmp_path):
    # Interrupt as soon as growth reports progress, whatever the speed of the machine.
    program = (
        "import os, signal, sys\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a shell's background jobs start deaf to it
        "from tripletree.cli import console, main\n"
        "from contextlib import contextmanager\n"
        "@contextmanager\n"
        "def growing():\n"
        "    yield lambda *_: os.kill(os.getpid(), signal.SIGINT)\n"
        "console.growing = growing\n"
        "main(['demo'])\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True)
    assert ended.returncode == 130
    assert ended.stderr.splitlines()[-1] == "note: Stopped."
    assert "Traceback" not in ended.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def asked(monkeypatch):
    calls = []

    def reproduce(what, folder, progress):
        progress(1, 2)
        calls.append((what, folder))
        found = [Claim("It flies.", "It does.", HOLDS), Claim("It lands on its feet, always.", "Never.", FAILS)]
        return module.Reproduction(folder / "index.html", found)

    monkeypatch.setattr(module, "reproduce", reproduce)
    return calls


def test_verdicts_and_where_the_page_is(run, asked, tmp_path):
    told = run("reproduce", "road", "--out", str(tmp_path / "page"))
    assert told.code == 0
    assert asked == [("road", tmp_path / "page")]
    assert "holds  It flies." in told.out
    assert "does not hold  It lands on its feet, always." in told.out
    assert f"The page is {tmp_path / 'page' / 'index.html'}." in told.out


def test_without_words_all_of_it(run, asked):
    assert run("reproduce").code == 0
    assert asked == [("all", Path("out/reproduce"))]


def test_an_unknown_part(run, asked):
    told = run("reproduce", "lender")
    assert told.code == 2
    assert asked == []
