"""``tripletree story``: an episode, recorded or simulated, phase by phase."""

from __future__ import annotations

from pathlib import Path

import click

from tripletree.cli import console
from tripletree.cli.command import command, json_option, model_argument
from tripletree.cli.inputs import about_option, episode_of, log_of, log_option, open_model
from tripletree.errors import ParameterError


@command(
    "tripletree story run.tripletree --log run.csv --episode 3",
    'tripletree story run.tripletree --from "pos=1.2, speed=0" --to end --about value',
)
@model_argument
@log_option("Tell an episode of this log.")
@click.option("--episode", metavar="ID", help="Which episode of the log.  [default: the first]")
@click.option("--from", "start", metavar="PLACE", help="Tell a simulated trajectory from this state, leaf or zone ...")
@click.option("--to", "end", metavar="PLACE", help="... to this one, or end.")
@about_option
@click.option("--levels", type=int, default=3, show_default=True, help="Into how many levels numbers are parted.")
@click.option(
    "--shortest", type=int, default=3, show_default=True, metavar="STEPS", help="Steps that a phase must last."
)
@click.option("--most", type=int, default=12, show_default=True, metavar="N", help="Most phases.")
@json_option
def story(
    model: Path,
    log_path: Path | None,
    describe: Path | None,
    episode: str | None,
    start: str | None,
    end: str | None,
    about: str,
    levels: int,
    shortest: int,
    most: int,
    as_json: bool,
) -> None:
    """Tell an episode phase by phase: what the agent does, why it changes, how well it fares."""
    simulated = start is not None or end is not None
    if simulated == (log_path is not None):
        raise click.UsageError("Which episode? Give --log LOG --episode ID, or --from PLACE --to PLACE.")
    if simulated and (start is None or end is None or episode is not None):
        raise click.UsageError("A simulated trajectory needs --from PLACE and --to PLACE, and no --episode.")
    tree = open_model(model)
    log = log_of(tree, log_path, describe)
    if log is not None:
        number = episode_of(log, episode)
        told = tree.story(number, log=log, about=about, levels=levels, shortest=shortest, most=most)
        console.answer(told, as_json)
        return
    ways = tree.simulate(start, end)
    if not ways:
        raise ParameterError(str(ways))
    console.answer(tree.story(ways, about=about, levels=levels, shortest=shortest, most=most), as_json)
