"""After an incident, at the command line: ``failures`` briefs on the episodes of a log that failed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from tripletree.checks import check_ending
from tripletree.cli import console
from tripletree.cli.command import command, json_option, out_option, seed_option
from tripletree.cli.inputs import FILE, log_options, mind_names, reading

PAGES, PICTURES = (".html", ".htm"), (".png", ".pdf", ".svg")


@command(
    'tripletree failures run.csv --when "return < 1"',
    'tripletree failures run.csv --when "return < 1" --when "length > 50" -o failures.html',
    'tripletree failures run.csv --when "return < 1" --reference run.csv --episode 3 --json',
)
@click.argument("log", type=FILE)
@log_options
@click.option(
    "--when",
    multiple=True,
    metavar="CONDITION",
    help='Which episodes failed, such as "return < 100", "ending = terminated and length < 200" or "visits (x > 1)". '
    "Repeatable: each is briefed apart.  [default: those that do not succeed, as the log says]",
)
@click.option(
    "--reference",
    type=FILE,
    metavar="FILE",
    help="A log of a healthy agent, read like LOG: was it the agent or the world that was unlike it?  [default: the "
    "log's own successes, which tell less]",
)
@click.option("--episode", metavar="ID", help="Tell this episode alone.")
@seed_option
@out_option("Write a page (.html) with pictures, or a picture alone (.png, .pdf or .svg).")
@json_option
def failures(
    log: Path,
    when: tuple[str, ...],
    reference: Path | None,
    episode: str | None,
    seed: int,
    out: Path | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Brief on the episodes that failed: from when on, what crossed there, what they share.

    The risk of failing along every episode comes from models that have not seen it, and so does what is said of it.
    With fewer than 10 failures: where they come into states that no other episode is near.
    """
    from tripletree.about_logs import failures as ask
    from tripletree.answers.failures import Failures
    from tripletree.log.files import read_log

    if out is not None:
        check_ending(out, (*PAGES, *PICTURES), "out")
    given = reading(options)
    recorded = read_log(log, **given)
    mind_names(recorded.schema, recorded)
    healthy = None if reference is None else read_log(reference, **given)
    with console.progress_bar("Growing", "trees") as bar:
        found = ask(recorded, list(when) if len(when) > 1 else next(iter(when), None), healthy, seed=seed, progress=bar)
    parts = [found] if isinstance(found, Failures) else list(found.parts)
    if episode is None:
        console.answer(found, as_json)
    elif as_json:
        console.show_json(
            [part.episode(episode).to_dict() for part in parts]
            if len(when) > 1
            else parts[0].episode(episode).to_dict()
        )
    else:
        console.say(*(str(part.episode(episode)) for part in parts))
    if out is None:
        return
    if out.suffix.lower() in PAGES:
        from tripletree.report.briefing import write_briefing

        write_briefing(parts, out, log.name, episode)
    else:
        from tripletree.plot import failures as draw

        draw(parts[0], episode).save(out)
    if not as_json:
        console.show_wide(f"The {'page' if out.suffix.lower() in PAGES else 'picture'} is in {out}.")
