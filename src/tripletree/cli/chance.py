"""``tripletree chance``: questions on the chain over leaves."""

from __future__ import annotations

from pathlib import Path

import click

from tripletree.cli import console
from tripletree.cli.command import command, json_option, model_argument, seed_option
from tripletree.cli.inputs import log_of, log_option, open_model


@command(
    'tripletree chance run.tripletree --reach "pos < 0.5"',
    'tripletree chance run.tripletree --reach "pos < 0.5" --before "pos > 2.5" --from "pos=1.2, speed=0" --within 100',
    "tripletree chance run.tripletree --reach end --steps",
    "tripletree chance run.tripletree --after 100 --json",
)
@model_argument
@click.option(
    "--reach",
    metavar="ZONE",
    help='How probable is it to get there? As "y > 1 and vx in [-0.1, 0.1]", "value <= 0", "action = left", "leaf 12", '
    "or end.",
)
@click.option("--before", metavar="ZONE", help="Getting there first does not count.")
@click.option("--within", type=int, metavar="STEPS", help="Most steps that it may take.")
@click.option("--steps", is_flag=True, help="How many steps does it take to get there?")
@click.option("--after", type=int, metavar="STEPS", help="Where is the agent so many steps later?")
@click.option("--occupancy", is_flag=True, help="Where does it spend its time?")
@click.option("--unreachable", is_flag=True, help="Which leaves does it never get to?")
@click.option("--from", "start", metavar="START", help="A state, leaf or zone.  [default: where episodes begin]")
@log_option("Go by the moves of this log instead of the training log's.")
@click.option(
    "--draws", type=int, default=200, show_default=True, help="Chains drawn for the 95 % interval; 0 for none."
)
@seed_option
@json_option
def chance(
    model: Path,
    reach: str | None,
    before: str | None,
    within: int | None,
    steps: bool,
    after: int | None,
    occupancy: bool,
    unreachable: bool,
    start: str | None,
    log_path: Path | None,
    describe: Path | None,
    draws: int,
    seed: int,
    as_json: bool,
) -> None:
    """Say how probable it is to get somewhere, how long it takes, and where time is spent.

    By the chain over the tree's leaves: how often the log moves from one to the other.
    """
    asked = [reach is not None, after is not None, occupancy, unreachable]
    if sum(asked) != 1:
        raise click.UsageError("Ask one of --reach ZONE, --after STEPS, --occupancy and --unreachable.")
    if reach is None and (before is not None or within is not None or steps):
        raise click.UsageError("--before, --within and --steps go with --reach ZONE.")
    if steps and within is not None:
        raise click.UsageError("Give --steps or --within, not both.")
    tree = open_model(model)
    log = log_of(tree, log_path, describe)
    answer: object
    if reach is not None and steps:
        answer = tree.expected_steps(reach, start, before=before, log=log, draws=draws, seed=seed)
    elif reach is not None:
        answer = tree.chance(reach, start, before=before, within=within, log=log, draws=draws, seed=seed)
    elif after is not None:
        answer = tree.after(after, start, log=log, draws=draws, seed=seed)
    elif occupancy:
        answer = tree.occupancy(start, log=log, draws=draws, seed=seed)
    else:
        answer = tree.unreachable(start, log=log)
    console.answer(answer, as_json)
