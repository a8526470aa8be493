"""What is printed where: sentences, tables, colours."""

from __future__ import annotations

import io
import os
import re
import warnings

import pytest
from rich.console import Console

from tests.cli.conftest import shell
from tripletree.cli import console


def test_a_pipe_gets_plain_lines(work):
    told = shell(work, "chance", "run.tripletree", "--reach", "pos < 0.5")
    assert told.stderr == ""
    assert told.stdout.count("\n") == 1
    assert "\x1b" not in told.stdout
    told = shell(work, "check", "run.csv")
    assert "\x1b" not in told.stdout
    told = shell(work, "info", "run.tripletree", env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert (told.returncode, told.stderr) == (0, "")


def test_a_terminal_gets_broken_lines_and_colours_unless_it_wants_none(run, monkeypatch):
    def terminal(**options):
        return Console(highlight=False, force_terminal=True, width=60, color_system="standard", **options)

    monkeypatch.setattr(console, "_out", terminal())
    told = run("chance", "run.tripletree", "--reach", "pos < 0.5", "--from", "pos > 1 and speed > 0")
    assert told.out.count("\n") > 2
    assert max(map(len, told.lines)) <= 60
    told = run("check", "run.csv")
    assert "\x1b[36mnote" in told.out
    monkeypatch.setattr(console, "_out", terminal(no_color=True))
    told = run("check", "run.csv")
    assert "\x1b[36m" not in told.out
    assert max(map(len, told.lines)) <= 120


def test_a_small_terminal_gets_small_tables(run, tmp_path, monkeypatch):
    terminal = Console(highlight=False, force_terminal=True, color_system=None, width=60)
    monkeypatch.setattr(console, "_out", terminal)
    held_out = ["grow", "run.csv", "-o", tmp_path / "m.tripletree", "--validation", 0.25]
    for told in (run("info", "run.tripletree"), run(*held_out)):
        lines = told.out.partition("What matters")[0].splitlines()
        assert max(len(line) for line in lines if not re.match(r"The (model|tree) |A tree of", line)) <= 60
        assert "…" not in told.out


@pytest.mark.parametrize("columns", ["0", "20", "80", "nonsense"])
def test_nothing_is_wrapped_or_padded_in_a_pipe(work, columns):
    asked = [("info", "run.tripletree"), ("check", "run.csv"), ("rules", "run.tripletree")]
    asked.append(("grow", "run.csv", "-o", "m.tripletree", "--max-leaves", "12"))
    asked.append(("record", "left", "--samples", "50", "--out", "left.npz"))
    for arguments in asked:
        narrow = shell(work, *arguments, env={**os.environ, "COLUMNS": columns})
        wide = shell(work, *arguments, env={**os.environ, "COLUMNS": "1000"})
        assert narrow.returncode == 0
        assert narrow.stdout == wide.stdout
        assert len(narrow.stdout) > 50
        assert not [line for line in narrow.stdout.splitlines() if line != line.rstrip()]


def test_json_has_null_for_what_it_has_no_number_for(capsys):
    console.show_json({"a": [1.5, float("nan")], 2: (float("inf"), "größe")})
    assert capsys.readouterr().out == '{"a": [1.5, null], "2": [null, "größe"]}\n'


def test_facts_that_say_nothing_are_left_out(capsys):
    console.show(console.facts(("model", "small"), ("unit", ""), ("names", "[a] and [b]")))
    assert [line.split() for line in capsys.readouterr().out.splitlines()] == [
        ["model", "small"],
        ["names", "[a]", "and", "[b]"],
    ]


def test_csv_is_quoted_where_it_must_be(capsys):
    console.show_csv({"name": ["a,b", "c"], "value": [1, 2.5]})
    assert capsys.readouterr().out == 'name,value\n"a,b",1\nc,2.5\n'


def test_other_libraries_warn_as_ever():
    with pytest.warns(DeprecationWarning, match="old"), console.warnings_as_notes():
        warnings.warn("old", DeprecationWarning, stacklevel=1)


def drawn(monkeypatch, expected, passes):
    """Return what a terminal shows when passes begin: each is what it does, and how much of it is told."""
    shown = io.StringIO()
    monkeypatch.setattr(console, "_err", Console(file=shown, force_terminal=True, width=140))
    with console.passing(expected) as tell:
        for what, steps in passes:
            for done in range(steps):
                tell(what, done * 500_000, 2_000_000, 3 * 10**9, "2 threads")
    return shown.getvalue()


def test_passes_tell_what_is_done_how_fast_and_how_long_in_all(monkeypatch):
    growing = [(f"growing ({leaves} of at most 20 leaves)", 4) for leaves in (1, 7)]
    told = drawn(monkeypatch, 3600.0, [*growing, ("describing leaves", 1)])
    assert "Growing (7 of at most 20 leaves) (2 threads)" in told
    assert "million rows/s, cache 3.0 GB 0 s of about 3600" in told
    # How fast the tree grows is not how fast its leaves are described.
    assert "million" not in told.rpartition("Describing")[2]


def test_passes_that_take_longer_than_expected_promise_no_more(monkeypatch):
    told = drawn(monkeypatch, 0.0, [("reading", 4), ("reading", 1)])
    assert "cache 3.0 GB 0 s" in told
    assert "about" not in told
