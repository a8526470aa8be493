"""Gates at the command line: questions whose answer is an exit code, for scripts and pipelines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from tripletree.checks import check_ending
from tripletree.cli import console
from tripletree.cli.command import CANNOT_TELL, FOUND, command, json_option, out_option
from tripletree.cli.inputs import FILE, log_options, read_given
from tripletree.cli.logs import PICTURES
from tripletree.cli.wording import for_shell

PAGES = (".html", ".htm")


@command(
    'tripletree require run.csv "always (pos > 0)" --as-recorded',
    'tripletree require run.csv "eventually[0, 200] (pos < 0.1 or pos > 2.9)" "never (pos > 4)" --share 0.8 --json',
    'tripletree require run.csv "never (speed > 0.2)" --as-recorded -o requirements.html',
)
@click.argument("log", type=FILE)
@click.argument("requirement", nargs=-1, required=True)
@log_options
@click.option(
    "--share",
    type=float,
    metavar="SHARE",
    help="The share of episodes that must meet each requirement, by the 95 % interval.  [default: every recorded one]",
)
@click.option(
    "--as-recorded",
    is_flag=True,
    help="Take the end of each recording for the end of its episode, also where it was cut off.",
)
@click.option("--where/--no-where", default=True, help="Search for what violations have in common.  [default: where]")
@out_option("Also write it to this .html page, or draw the margins to this .png, .pdf or .svg file.")
@json_option
@click.pass_context
def require(
    ctx: click.Context,
    /,
    log: Path,
    requirement: tuple[str, ...],
    share: float | None,
    as_recorded: bool,
    where: bool,
    out: Path | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Check that the episodes of a log do what is demanded of them.

    A REQUIREMENT says what must hold when: "always (y > 0 or vx < 0.5)", "never (action = left)", "eventually[0, 300]
    (landed)", "always (if y < 0.5 then eventually[0, 20] (vy > -0.2))", "(y > 0) until (landed)", "ends (landed)".
    Windows count steps. Exit codes: 0 all hold, 3 one is violated, 4 that cannot be told, because episodes were cut off
    too early or are too few for --share.
    """
    from tripletree.about_logs import require as ask

    if out is not None:
        check_ending(out, (*PAGES, *PICTURES), "out")
    recorded = read_given(log, options)
    page = out if out is not None and out.suffix.lower() in PAGES else None
    found = ask(recorded, *requirement, share=share, as_recorded=as_recorded, where=where, path=page)
    if out is not None and page is None:
        from tripletree.plot import requirements as draw

        draw(recorded, found).save(out)
    if as_json:
        console.show_json(found.to_dict())
    else:
        console.say(for_shell(found.message))
        if out is not None:
            console.show_wide(f"The {'picture' if page is None else 'page'} is in {out}.")
    ctx.exit({True: 0, False: FOUND, None: CANNOT_TELL}[found.holds])
