"""Gates: what they print, and the exit codes that a pipeline goes by."""

from __future__ import annotations

import json

import pytest


@pytest.mark.parametrize(
    ("arguments", "code", "first"),
    [
        (["always (pos > 0)", "--as-recorded"], 0, "Holds: always (pos > 0)"),
        (["always (pos > 1)"], 3, "Violated: always (pos > 1)"),
        (["always (pos > 0)"], 4, "Cannot tell: always (pos > 0)"),
        (["always (pos > 0)", "always (pos > 1)"], 3, "Cannot tell: always (pos > 0)"),
        (["never (action = left)", "--share", "0.9"], 3, "Violated: never (action = left)"),
    ],
)
def test_exit_codes(run, folder, arguments, code, first):
    told = run("require", folder / "run.csv", *arguments)
    assert told.failure is None
    assert (told.code, told.lines[0]) == (code, first)


def test_advice_is_what_to_type(run, folder):
    told = run("require", folder / "run.csv", "always (pos > 0)")
    assert "the end of its episode, give --as-recorded." in told.out


def test_json_has_the_verdict_and_the_same_exit_code(run, folder):
    told = run("require", folder / "run.csv", "always (pos > 1)", "--json", "--no-where")
    data = json.loads(told.out)
    assert (told.code, data["holds"], data["parts"][0]["holds"]) == (3, False, False)
    assert len(data["parts"][0]["low"]) == data["parts"][0]["episodes"]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ([], 2, "Missing argument 'REQUIREMENT...'"),
        (
            ["always (poss > 1)"],
            1,
            "error: REQUIREMENT has no `poss`; it may have `pos`, `speed`, `reward`, `return`, `length`, `action`",
        ),
        (["always (pos > 1)", "--share", "95"], 1, "error: --share must be "),
        (["pos > 1"], 1, "REQUIREMENT does not say when `pos > 1` must hold. Write always (pos > 1)"),
    ],
)
def test_mistakes(run, folder, arguments, code, message):
    told = run("require", folder / "run.csv", *arguments)
    assert told.failure is None
    assert told.code == code
    assert message in told.err


@pytest.mark.parametrize("ending", ["html", "png"])
def test_out_writes_a_page_or_a_picture(run, folder, tmp_path, ending):
    out = tmp_path / f"found.{ending}"
    told = run("require", folder / "run.csv", "always (pos > 1)", "-o", out)
    assert told.failure is None
    assert told.code == 3
    assert told.lines[-1] == f"The {'page' if ending == 'html' else 'picture'} is in {out}."
    assert out.stat().st_size > 1000


def test_out_is_checked_before_the_work(run, folder, tmp_path):
    told = run("require", folder / "run.csv", "always (pos > 1)", "-o", tmp_path / "found.doc")
    assert (told.code, told.out) == (1, "")
    assert "--out" in told.err
