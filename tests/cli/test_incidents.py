"""After an incident, at the command line: ``failures``."""

from __future__ import annotations

import pytest

from tripletree import failures, read_log

WHEN = "length > 40"


def test_failures_are_those_of_python(run, folder):
    told = run("failures", "run.csv", "--when", WHEN)
    assert (told.code, told.out) == (0, f"{failures(read_log(folder / 'run.csv'), WHEN)}\n")
    data = run("failures", "run.csv", "--when", WHEN, "--json").json()
    assert data["when"] == WHEN
    assert len(data["cases"]) == data["failed"]
    told = run("failures", "run.csv", "--when", WHEN, "--episode", "1")
    assert told.out.startswith("Episode 1 ")


def test_a_page_for_several_definitions(run, folder):
    told = run("failures", "run.csv", "--when", WHEN, "--when", "episode = 2", "--episode", "2", "-o", "why.html")
    assert told.code == 0
    page = (folder / "why.html").read_text()
    assert page.count("<h2") == 1 + sum(
        page.count(f'id="{name}-{k}"') for name in ("episode", "happened", "when", "routes", "episodes") for k in (1, 2)
    )
    assert "The page is in why.html." in told.out
    told = run("failures", "run.csv", "--when", WHEN, "-o", "why.png")
    assert told.code == 0
    assert (folder / "why.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ((), "Nobody said which episodes failed, and the log does not say which succeed. Try --when"),
        (("--when", "retrun < 1"), "--when has no `retrun`"),
        (("--when", WHEN, "--episode", "none"), "There is no episode 'none' in the log. Give the id of one of its"),
        (("--when", WHEN, "-o", "why.txt"), "--out must end in .html"),
        (("--when", "episode = 1", "-o", "why.png"), "There is no risk to draw. 1 episode is too few"),
    ],
)
def test_mistakes_are_one_line(run, options, says):
    told = run("failures", "run.csv", *options)
    assert told.code == 1
    assert says in told.err
