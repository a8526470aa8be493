"""``tripletree demo``: what it prints and what it leaves behind."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys

import pytest
from click.testing import CliRunner

import tripletree
from tripletree.cli import main
from tripletree.demos import road

AGENTS = tuple(road.VARIANTS)


@pytest.fixture
def demo(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: CliRunner().invoke(main, ["demo", *arguments])


def test_the_demo_leaves_a_model_and_says_where(demo, tmp_path):
    result = demo("--leaves", "60")
    assert result.exit_code == 0, result.output
    assert "The model is in out/demo/road.tripletree." in result.stdout
    assert tripletree.load(tmp_path / "out/demo/road.tripletree").n_leaves_ == 60


def test_the_command_it_proposes_works(demo):
    proposed = shlex.split(demo("--leaves", "20").stdout.splitlines()[-1])
    answer = subprocess.run(proposed, capture_output=True, text=True, check=True)
    assert "0.001" in answer.stdout


def test_losses_fall_as_the_tree_grows(demo):
    rows = re.findall(r"^ *(\d+) +([\d.]+)% +([\d.]+) +([\d.]+) *$", demo("--leaves", "70").stdout, re.MULTILINE)
    assert [int(row[0]) for row in rows] == [1, 10, 50, 70]
    for column in (1, 2, 3):
        losses = [float(row[column]) for row in rows]
        assert losses == sorted(losses, reverse=True)


def test_every_agent_has_a_demo(demo):
    texts = {agent: demo("--leaves", "5", "--agent", agent, "--out", f"{agent}.tripletree").stdout for agent in AGENTS}
    assert len(set(texts.values())) == len(AGENTS)


def test_lines_fit_a_pipe_of_80_columns_and_hold_no_escapes(demo):
    text = demo("--leaves", "200").stdout
    assert "\x1b" not in text
    # All but sentences and lines to copy.
    assert max(map(len, text.partition("At pos=")[0].splitlines())) <= 80


def test_a_wrong_size_is_one_line(demo, tmp_path):
    result = demo("--leaves", "0")
    assert result.exit_code == 1
    assert re.fullmatch(r"error: max_leaves must be a whole number of at least 1; got 0\. .*\n", result.stderr)
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
