"""The command line as a user meets it: help, version, mistakes, interruption."""

from __future__ import annotations

import warnings

import click
import pytest
from click.testing import CliRunner

from tripletree import __version__
from tripletree.cli import main
from tripletree.errors import LogError, ModelFileError, TripleTreeWarning
from tripletree.text import Message, Option


@pytest.fixture
def run(monkeypatch):
    def run_command(*arguments, does=None):
        """Run the command line; ``does`` becomes a command called ``act``."""
        if does is not None:
            monkeypatch.setitem(main.commands, "act", click.Command("act", callback=does))
        return CliRunner().invoke(main, arguments, prog_name="tripletree")

    return run_command


def test_version(run):
    assert run("--version").output == f"tripletree {__version__}\n"


@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_help_lists_the_commands(run, flag):
    result = run(flag)
    assert result.exit_code == 0
    assert "demo" in result.output


def test_an_unknown_command_is_one_mistake(run):
    result = run("demmo")
    assert result.exit_code == 2
    assert "There is no command `demmo`. Did you mean `demo`?" in result.stderr
    assert "Traceback" not in result.output


def test_the_library_s_errors_are_a_line_and_exit_code_1(run):
    def fail():
        raise LogError("states hold 3 NaN (rows 1, 2 [and] 3).")

    result = run("act", does=fail)
    assert result.exit_code == 1
    assert result.stderr == "error: states hold 3 NaN (rows 1, 2 [and] 3).\n"
    assert result.stdout == ""


def test_a_file_that_cannot_be_used_is_one_line(run, tmp_path):
    result = run("act", does=lambda: (tmp_path / "nowhere").read_text())
    assert result.exit_code == 1
    assert result.stderr == f"error: {tmp_path / 'nowhere'}: No such file or directory.\n"


def test_no_memory_is_one_line(run):
    def fail():
        raise MemoryError

    result = run("act", does=fail)
    assert (result.exit_code, result.stderr) == (
        1,
        "error: There is not enough memory for this. Try a part of the log.\n",
    )


@pytest.mark.parametrize("arguments", [("--debug", "info", "nowhere"), ("info", "--debug", "nowhere")])
def test_debug_shows_where_an_error_comes_from(run, arguments):
    assert isinstance(run(*arguments).exception, ModelFileError)
    assert run("info", "nowhere").exit_code == 1


def test_the_library_s_advice_is_turned_into_options(run, monkeypatch):
    def act(within):
        warnings.warn(Message("{} is much.", Option("within")), TripleTreeWarning, stacklevel=1)
        raise LogError(Message("Type {}.", Option("within", 3)))

    within = click.Option(["--at-most", "within"], type=int)
    monkeypatch.setitem(main.commands, "act", click.Command("act", callback=act, params=[within]))
    assert run("act", "--at-most", "7").stderr == "note: --at-most is much.\nerror: Type --at-most 3.\n"


def test_a_bug_keeps_its_traceback(run):
    def fail():
        raise ZeroDivisionError("a bug of ours")

    assert isinstance(run("act", does=fail).exception, ZeroDivisionError)


def test_ctrl_c_ends_quietly(run):
    def stop():
        raise KeyboardInterrupt

    result = run("act", does=stop)
    assert result.exit_code == 130
    assert result.stderr == "note: Stopped.\n"


def test_warnings_of_the_library_are_notes(run):
    def warn():
        warnings.warn("All rewards are [equal].", TripleTreeWarning, stacklevel=1)

    before = warnings.showwarning
    result = run("act", does=warn)
    assert result.exit_code == 0
    assert result.stderr == "note: All rewards are [equal].\n"
    assert warnings.showwarning is before
