"""Logs at the command line: ``check`` examines one, the others tell what it shows of agent and world."""

from __future__ import annotations

import contextlib
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tripletree.checks import check_ending
from tripletree.cli import console
from tripletree.cli.command import command, json_option, out_option, seed_option
from tripletree.cli.inputs import FILE, log_options, mind_names, read_given, reading
from tripletree.cli.wording import for_shell
from tripletree.errors import LogError, TripleTreeWarning
from tripletree.text import Message, count

if TYPE_CHECKING:
    from tripletree.log.log import Log

PICTURES = (".png", ".pdf", ".svg")


@command(
    "tripletree check run.csv",
    "tripletree check run.csv --column action=action --unit pos=m --json",
    "tripletree check run.csv --fix -o repaired.npz",
)
@click.argument("log", type=FILE)
@log_options
@click.option("--fix", is_flag=True, help="Write a repaired log to --out, and beside it a note of what was done.")
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Where the repaired log goes, a .npz or .parquet file.",
)
@json_option
@click.pass_context
def check(ctx: click.Context, /, log: Path, fix: bool, out: Path | None, as_json: bool, **options: Any) -> None:
    """List every problem in a log at once.

    LOG is a .csv, .tsv, .parquet, .npz or .hdf5 file with one row per step, a folder of such tables, or the name of a
    Minari dataset. Prints how the log was read and what deserves a look; the exit code is 1 when it cannot be used.
    With --fix, what a program can remedy is remedied: rows with a fault are left out, and their episodes divided there.
    """
    from tripletree.log.doctor import check as examine
    from tripletree.log.files import read_log

    if fix != (out is not None):
        raise click.UsageError("--fix and --out go together: type --fix -o repaired.npz")
    if out is not None:
        check_ending(out, (".npz", ".parquet"), "out")
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
    if found is not None and out is not None:
        _write_repaired(log, roles, found, out, as_json)
    ctx.exit(0 if report.ok else 1)


def _write_repaired(path: Path, roles: dict[str, Any], found: Log, out: Path, quiet: bool) -> None:
    """Write a log without its faults, and beside it what was done."""
    from tripletree.log.files import read_log
    from tripletree.log.repair import repair
    from tripletree.writing import replace_file

    done = []
    jumps = next((finding for finding in found.findings if finding.code == "step-gaps"), None)
    if jumps is not None and isinstance(jumps.fix, Message):
        # What divides episodes is told before they are made.
        gap = jumps.fix.values[0].value
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TripleTreeWarning)
            found = read_log(path, **{**roles, "gap": gap})
        done.append(f"Episodes divided where the step counter jumps by more than {gap}.")
    mended, more = repair(found)
    done += more
    mended.to_npz(out) if out.suffix.lower() == ".npz" else mended.to_parquet(out)
    told = done or ["Nothing was to be repaired; this is the log as it was read."]
    note = out.with_suffix(".repairs.txt")
    size = f"{count(mended.n_samples, 'sample')} in {count(mended.n_episodes, 'episode')}"
    replace_file(
        note, "\n".join([f"{path.name} became {out.name}: {size}.", *(f"- {one}" for one in told), ""]).encode()
    )
    if not quiet:
        console.say("", *told)
        console.show_wide(f"The repaired log is in {out}, and what was done in {note}.")


@command(
    "tripletree rhythm run.csv",
    "tripletree rhythm run.csv -o cycle.png",
    "tripletree rhythm run.csv --json",
)
@click.argument("log", type=FILE)
@log_options
@out_option("Draw one cycle to this .png, .pdf or .svg file.")
@json_option
def rhythm(log: Path, out: Path | None, as_json: bool, **options: Any) -> None:
    """Tell whether the agent moves in a rhythm, and where it breaks.

    LOG is a file as for tripletree check. Prints the period, the parts of a cycle in order and where episodes get out
    of step; or why there is no rhythm. It is searched in half of the episodes and tested on the others.
    """
    from tripletree.questions.rhythm import rhythm as ask

    if out is not None:
        check_ending(out, PICTURES, "out")
    recorded = read_given(log, options)
    found = ask(recorded)
    console.answer(found, as_json)
    if out is not None and found:
        from tripletree.plot import rhythm as draw

        draw(recorded, found).save(out)
        if not as_json:
            console.show_wide(f"The picture is in {out}.")


@command(
    'tripletree outcome run.csv --success "ends (pos < 0.1)"',
    'tripletree outcome run.csv --success "return > 2" --json',
)
@click.argument("log", type=FILE)
@log_options
@click.option(
    "--success",
    metavar="CONDITION",
    help='Which episodes succeed, such as "return > 200", "ending = terminated", "ends (x > 1)" or "never visits (y < '
    '0)".  [default: what the log says]',
)
@json_option
def outcome(log: Path, success: str | None, as_json: bool, **options: Any) -> None:
    """Show how many episodes succeed, and what failures share.

    Success is what you say, what the log's description says ([episodes] success = "..."), or what the well-known task
    says that the log was recorded in.
    """
    from tripletree.about_logs import outcome as ask

    console.answer(ask(read_given(log, options), success), as_json)


@command("tripletree world run.csv", "tripletree world run.csv --json")
@click.argument("log", type=FILE)
@log_options
@json_option
def world(log: Path, as_json: bool, **options: Any) -> None:
    """Show what the log tells of the world: rates, limits, and how episodes begin and end."""
    from tripletree.about_logs import world as ask

    console.answer(ask(read_given(log, options)), as_json)


quick_option = click.option("--quick", is_flag=True, help="Look at fewer steps.")


@command("tripletree memory run.csv", "tripletree memory run.csv --quick --json")
@click.argument("log", type=FILE)
@log_options
@quick_option
@seed_option
@json_option
def memory(log: Path, quick: bool, seed: int, as_json: bool, **options: Any) -> None:
    """Show whether what the agent does depends on what came before.

    If it does, a tree that sees states alone misses something; grow it with --lags. No sign of memory is no proof
    that there is none.
    """
    from tripletree.about_logs import memory as ask

    console.answer(ask(read_given(log, options), quick=quick, seed=seed), as_json)


@command("tripletree drift run.csv", "tripletree drift run.csv --quick --json")
@click.argument("log", type=FILE)
@log_options
@quick_option
@seed_option
@json_option
def drift(log: Path, quick: bool, seed: int, as_json: bool, **options: Any) -> None:
    """Show whether the agent changes within the log.

    From early to late episodes; or from group to group, where the log has groups.
    """
    from tripletree.about_logs import drift as ask

    console.answer(ask(read_given(log, options), quick=quick, seed=seed), as_json)
