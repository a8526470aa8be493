"""Two logs side by side: ``diff`` tells what changed from one to the other."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tripletree.checks import check_ending, did_you_mean, listing
from tripletree.cli import console
from tripletree.cli.command import command, json_option, out_option, seed_option
from tripletree.cli.inputs import FILE, log_options, mind_names, open_model, reading
from tripletree.errors import ParameterError

if TYPE_CHECKING:
    from tripletree.answers.diff import Diff
    from tripletree.log.log import Log

MODEL = ".tripletree"
PAGES, PICTURES = (".html", ".htm"), (".png", ".pdf", ".svg")


def _failures(_: click.Context, __: click.Parameter, given: str | None) -> tuple[str, ...] | None:
    """Read what gives exit code 3: NAME,NAME."""
    from tripletree.answers.diff import FAILURES

    if given is None:
        return None
    names = tuple(name.strip() for name in given.split(",") if name.strip())
    for name in names:
        if name not in FAILURES:
            raise click.BadParameter(
                f"`{name}` cannot be failed on; it may be {listing(FAILURES, 12)}.{did_you_mean(name, FAILURES)}"
            )
    return names or None


@command(
    "tripletree diff old.csv new.csv",
    "tripletree diff old.csv new.csv --fail-on policy,world,outcome:worse --json",
    "tripletree diff run.csv --split 20 --alpha 0.05",
    "tripletree diff old.csv new.csv --model run.tripletree",
    "tripletree diff old.csv new.csv --sequential",
    "tripletree diff old.csv new.csv -o diff.html",
)
@click.argument("old", type=FILE)
@click.argument("new", type=FILE, required=False)
@log_options
@click.option(
    "--split",
    metavar="N|CONDITION",
    help='Instead of NEW: how many episodes of OLD are the old ones, or which, such as "pilot = Anna".',
)
@click.option("--alpha", type=float, default=0.01, show_default=True, help="Chance of a false alarm.")
@click.option(
    "--tolerance",
    type=float,
    default=0.1,
    show_default=True,
    help="Differences that do not matter, as a share of how much the action, or the derivative, varies.",
)
@click.option("--success", metavar="CONDITION", help='Which episodes succeed, such as "return > 200".')
@click.option(
    "--fail-on",
    callback=_failures,
    metavar="NAME,NAME",
    help="What gives exit code 3: policy, world, start, outcome, outcome:worse, known (with --model).  [default: "
    "policy,world,start]",
)
@click.option("--model", type=FILE, metavar="MODEL", help="Also tell whether this model still knows the new log.")
@click.option(
    "--sequential",
    is_flag=True,
    help="Watch the outcome alone, with a test that may be asked again after every new episode.",
)
@seed_option
@out_option("Write a page with pictures to this .html file, or the pictures alone to .png, .pdf or .svg.")
@json_option
@click.pass_context
def diff(
    ctx: click.Context,
    /,
    old: Path,
    new: Path | None,
    split: str | None,
    alpha: float,
    tolerance: float,
    success: str | None,
    fail_on: tuple[str, ...] | None,
    model: Path | None,
    sequential: bool,
    seed: int,
    out: Path | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Tell what changed between two logs.

    What the agent does, how the world answers, where episodes start: each is tested by itself. What came of it is told,
    too. OLD and NEW are files as for tripletree check. Whole episodes are shuffled between them, so that a change is
    called one only if chance does not make it. Exit codes: 0 nothing found, 3 changed, 4 the logs cannot tell.
    """
    from tripletree.about_logs import diff as ask
    from tripletree.about_logs import watch

    if out is not None:
        check_ending(out, (*PAGES, *PICTURES), "out")
    if new is None and split is None:
        raise click.UsageError("Give two logs, OLD and NEW; or one log and --split N.")
    roles = reading(options)
    logs = [_read(path, roles) for path in (old, new) if path is not None]
    names = (old.name, old.name if new is None else new.name)
    at: Any = int(split) if split is not None and split.strip().isdigit() else split
    said = {"split": at, "alpha": alpha, "success": success, "names": names, "seed": seed}
    if sequential:
        if model is not None or not set(fail_on or ()) <= {"outcome", "outcome:worse"}:
            raise click.UsageError(
                "--sequential is about the outcome alone: who asks for policy, world or start again after adding "
                "episodes will find a change sooner or later, where there is none. Leave it out, and ask once."
            )
        watched = watch(*logs, **said)
        console.answer(watched, as_json)
        ctx.exit(watched.code() if fail_on is None else watched.code(fail_on))
    tree = None if model is None else open_model(model)
    found = ask(*logs, tolerance=tolerance, model=tree, **said)
    console.answer(found, as_json)
    if out is not None:
        _write(found, out)
        if not as_json:
            console.show_wide(f"The page is in {out}." if out.suffix.lower() in PAGES else f"The picture is in {out}.")
    ctx.exit(found.code() if fail_on is None else found.code(fail_on))


def _write(found: Diff, out: Path) -> None:
    if out.suffix.lower() in PAGES:
        from tripletree.report.change import write_diff

        write_diff(found, out)
    else:
        from tripletree.plot import change

        change(found).save(out)


def _read(path: Path, roles: dict[str, Any]) -> Log:
    from tripletree.log.files import read_log

    if path.suffix.lower() == MODEL:
        raise ParameterError(
            f"{path.name} is a model: its track has neither actions nor the log's resolution. Give the logs: "
            f"tripletree diff old.csv new.csv, with --model {path.name} to ask whether it still knows them."
        )
    found = read_log(path, **roles)
    mind_names(found.schema, found)
    return found
