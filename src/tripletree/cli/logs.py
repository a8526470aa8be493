"""Logs at the command line: ``tripletree check`` examines one."""

from __future__ import annotations

import contextlib
import warnings
from pathlib import Path
from typing import Any

import click

from tripletree.cli import console
from tripletree.cli.command import command, json_option
from tripletree.cli.inputs import FILE, log_options, mind_names, reading
from tripletree.cli.wording import for_shell
from tripletree.errors import LogError, TripleTreeWarning


@command(
    "tripletree check run.csv",
    "tripletree check run.csv --column action=action --unit pos=m --json",
)
@click.argument("log", type=FILE)
@log_options
@json_option
@click.pass_context
def check(ctx: click.Context, /, log: Path, as_json: bool, **options: Any) -> None:
    """List every problem in a log at once.

    LOG is a .csv, .tsv, .parquet, .npz or .hdf5 file with one row per step, a folder of such tables, or the name of a
    Minari dataset. Prints how the log was read and what deserves a look; the exit code is 1 when it cannot be used.
    """
    from tripletree.log.doctor import check as examine
    from tripletree.log.files import read_log

    roles, found = reading(options), None
    with contextlib.suppress(LogError), warnings.catch_warnings():
        warnings.simplefilter("ignore", TripleTreeWarning)  # they come back as findings
        found = read_log(log, **roles)
        mind_names(found.schema, found)
    report = examine(log, **roles) if found is None else examine(found)
    understood = "" if found is None else for_shell(found.reading)
    findings = [(finding.level, for_shell(finding.text), for_shell(finding.fix)) for finding in report]
    if as_json:
        plain = [
            {"level": level, "code": finding.code, "text": text, "fix": fix}
            for finding, (level, text, fix) in zip(report, findings, strict=True)
        ]
        console.show_json({"ok": report.ok, "log": str(log), "reading": understood, "findings": plain})
    else:
        if understood:
            console.say(understood, "")
        console.findings(report.summary, findings)
    ctx.exit(0 if report.ok else 1)
