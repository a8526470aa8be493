"""``tripletree check``: the doctor at the command line."""

from __future__ import annotations

import contextlib
import warnings
from pathlib import Path
from typing import Any

import click

from tripletree.cli import console
from tripletree.cli.command import command, json_option
from tripletree.cli.inputs import FILE, log_options, reading
from tripletree.cli.wording import for_shell
from tripletree.errors import LogError, TripleTreeWarning

STYLES = {"error": "bold red", "warning": "yellow", "note": "cyan"}


@command(
    "tripletree check run.csv",
    "tripletree check run.csv --column action=action --unit pos=m --json",
)
@click.argument("log", type=FILE)
@log_options
@json_option
@click.pass_context
def check(ctx: click.Context, /, log: Path, as_json: bool, **options: Any) -> None:
    """List every problem of a log at once.

    LOG is a .csv, .tsv, .parquet or .npz file with one row a step. Prints how the log was read and what deserves a
    look; the exit code is 1 when the log cannot be used.
    """
    from tripletree.log.doctor import check as examine
    from tripletree.log.files import read_log

    roles, found = reading(options), None
    with contextlib.suppress(LogError), warnings.catch_warnings():
        warnings.simplefilter("ignore", TripleTreeWarning)  # they come back as findings
        found = read_log(log, **roles)
    report = examine(log, **roles) if found is None else examine(found)
    understood = "" if found is None else found.reading
    if as_json:
        findings = [{name: for_shell(text) for name, text in vars(finding).items()} for finding in report]
        console.show_json({"ok": report.ok, "log": str(log), "reading": understood, "findings": findings})
    else:
        if understood:
            console.say(*for_shell(understood).splitlines(), "")
        console.findings(
            str(report).splitlines()[0], [(f.level, for_shell(f.text), for_shell(f.fix)) for f in report], STYLES
        )
    ctx.exit(0 if report.ok else 1)
