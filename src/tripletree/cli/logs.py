"""Logs at the command line: ``tripletree check`` examines one, ``tripletree record`` makes one."""

from __future__ import annotations

import contextlib
import warnings
from pathlib import Path
from typing import Any

import click

from tripletree.checks import check_ending
from tripletree.cli import console
from tripletree.cli.command import command, json_option, seed_option
from tripletree.cli.inputs import FILE, log_options, mind_names, reading
from tripletree.cli.wording import for_shell
from tripletree.errors import LogError, TripleTreeWarning
from tripletree.text import count

DRIVERS = ("left", "either", "hurry", "alive")
"""The agents of the road, by name; the road itself would bring NumPy along."""
LANDER = "lander"


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


@command(
    "tripletree record left --samples 500",
    "tripletree record lander --samples 300 --seed 1 --out lander.npz",
)
@click.argument("agent", type=click.Choice([*DRIVERS, LANDER]))
@click.option("--samples", "n_samples", type=int, help="Samples to record.  [default: 10000; 100000 for the lander]")
@seed_option
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Where the log goes, a .npz file.  [default: out/logs/AGENT-SEED.npz]",
)
def record(agent: str, n_samples: int | None, seed: int, out: Path | None) -> None:
    """Record one of the paper's agents as a log: a driver of the road, or the lander.

    The lander flies new episodes, which needs Gymnasium and Box2D: pip install "tripletree[gym]".
    """
    import numpy as np

    from tripletree.demos import lander, road

    out = Path(f"out/logs/{agent}-{seed}.npz") if out is None else check_ending(out, (".npz",), "out")
    if agent == LANDER:
        with console.progress_bar("Flying", "samples") as progress:
            log = lander.record(n_samples=100_000 if n_samples is None else n_samples, seed=seed, progress=progress)
    else:
        log = road.record(agent, n_samples=10_000 if n_samples is None else n_samples, seed=seed)
    out.parent.mkdir(parents=True, exist_ok=True)
    log.to_npz(out)
    returns = np.add.reduceat(log.rewards, log.starts[:-1])
    console.show(
        f"{count(log.n_samples, 'sample')} in {count(log.n_episodes, 'episode')}, mean return {returns.mean():.2f} "
        f"(standard deviation {returns.std():.2f})."
    )
    console.show_wide(f"The log is in {out}. Read it with tripletree.read_log({str(out)!r}).")
