"""What commands share: the help of each is there, it fits, and its examples work; completion."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys

import click
import pytest

from tripletree import read_log
from tripletree.cli import COMMANDS, main

MADE = {name: main.get_command(click.Context(main), name) for name in COMMANDS}
EXAMPLES = [
    pytest.param(example, id=example[:60])
    for name, command in MADE.items()
    for example in command.examples
    if name not in ("completion", "reproduce")  # whose test is in tests/reproduce: it takes half a minute
]


@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_the_same_first_line_everywhere_and_an_example(run, name):
    told = run(name, "--help")
    assert told.code == 0
    assert any(line.startswith("Example") for line in told.lines)
    assert (
        f"  tripletree {name} " in told.out
        or f"(tripletree {name} " in told.out
        or f"  tripletree {name}\n" in told.out
    )
    first = " ".join(MADE[name].help.split())
    _, summary = COMMANDS[name]
    assert first.startswith(summary.rstrip("."))


@pytest.mark.parametrize("example", EXAMPLES)
def test_examples_work(run, folder, tmp_path, monkeypatch, example):
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    if "fleet" in example:
        (tmp_path / "fleet").mkdir()
        read_log("run.csv").to_parquet("fleet/part1.parquet")
    for name in ("old", "new", "fleet"):
        shutil.copy(folder / "run.tripletree", tmp_path / f"{name}.tripletree")
    # The explorer would wait for Ctrl-C; tests/server talks to it.
    monkeypatch.setattr("tripletree.web.serving.Serving.run", lambda serving: serving._socket.close())
    monkeypatch.setattr("tripletree.cli.explore._open", lambda _: None)
    program, *arguments = shlex.split(example)
    if ">" in arguments:
        arguments = arguments[: arguments.index(">")]
    assert program == "tripletree"
    told = run(*arguments)
    assert told.failure is None
    assert (told.code, told.out != "") == (0, True), told.err


@pytest.mark.parametrize("width", [60, 80])
@pytest.mark.parametrize("name", [None, *COMMANDS])
def test_help_fits_the_terminal(run, name, width):
    told = run(*([name] if name else []), "--help", terminal_width=width)
    lines = told.out.partition("Examples:")[0].partition("Example:")[0].splitlines()
    assert max(map(len, lines)) <= width


def test_help_does_not_wait_for_numpy():
    code = (
        "import sys; from tripletree.cli import main\n"
        "try: main(sys.argv[1:])\n"
        "except SystemExit: pass\n"
        "print([name for name in ('numpy', 'scipy', 'matplotlib') if name in sys.modules])"
    )
    for arguments in (["--help"], *([name, "--help"] for name in ("check", "grow", "chance", "plot", "demo"))):
        done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
        assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(run, shell):
    told = run("completion", shell)
    assert told.code == 0
    assert f"_TRIPLETREE_COMPLETE={shell}_complete" in told.out


def test_a_shell_completes_commands_and_options(run):
    told = run(env={"_TRIPLETREE_COMPLETE": "bash_complete", "COMP_WORDS": "tripletree pr", "COMP_CWORD": "1"})
    assert told.out == "plain,predict\n"
    words = "tripletree grow --max-d"
    told = run(env={"_TRIPLETREE_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": "2"})
    assert told.out == "plain,--max-depth\n"


@pytest.mark.parametrize("name", ["predict", "explain", "attribute"])
@pytest.mark.parametrize("state", ["pos=1.2, speed=0.03", "1.2, -0.03", "1e-3,2"])
def test_a_state_without_its_option_is_told_where_it_goes(run, name, state):
    told = run(name, "run.tripletree", state)
    assert f"A state follows --state: --state '{state}'".replace("'1e-3,2'", "1e-3,2") in told.err


def test_what_is_no_state_gets_the_usual_errors(run):
    assert "A state follows" not in run("predict", "run.tripletree", "states.csv").err
    assert "A state follows" not in run("attribute", "run.tripletree", "what").err


@pytest.mark.parametrize("name", ["report", "stability", "chance"])
def test_a_log_without_its_option_is_told_where_it_goes(run, tmp_path, name):
    log = tmp_path / "my run.csv"
    log.write_text("")
    assert f"A log follows --log: --log '{log}'" in run(name, "run.tripletree", str(log)).err


def test_only_a_file_on_its_own_is_taken_for_a_log(run, tmp_path):
    log = tmp_path / "run.csv"
    log.write_text("")
    assert "A log follows" not in run("report", "run.tripletree").err
    assert "A log follows" not in run("report", "run.tripletree", "nowhere.csv").err
    assert "A log follows" not in run("report", "run.tripletree", "-o", str(log)).err
