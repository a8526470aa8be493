"""How the agent moves, at the command line: chance, futures, paths, simulate, rollouts, transitions."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from tripletree.cli import console
from tripletree.cli.command import command, json_option, model_argument, seed_option
from tripletree.cli.inputs import log_of, log_option, log_or_disk, open_model

if TYPE_CHECKING:
    from tripletree.answers.trajectories import Trajectories

_Decorated = TypeVar("_Decorated", bound=Callable[..., Any])

given_option = click.option(
    "--given",
    metavar="CONDITION",
    help='Count only such episodes: "return < 100", "length >= 200", "ending = truncated", "episode in {3, 5}", '
    '"group = a", "visits (y > 1)", "never visits (y > 1)", or moments "after (y > 1)"; with and, or, not.',
)
moves_option = log_option("Use the moves of this log instead of the training log's.")


@command(
    'tripletree chance run.tripletree --reach "pos < 0.5"',
    'tripletree chance run.tripletree --reach "pos < 0.5" --before "pos > 2.5" --from "pos=1.2, speed=0" --within 100',
    "tripletree chance run.tripletree --reach end --steps",
    'tripletree chance run.tripletree --reach end --within 50 --given "return < 10 and after (pos < 0.5)"',
    "tripletree chance run.tripletree --after 100 --json",
)
@model_argument
@click.option(
    "--reach",
    metavar="ZONE",
    help='How likely is it to get there? Such as "y > 1 and vx in [-0.1, 0.1]", "value <= 0", "action = left", '
    '"leaf 12", or end.',
)
@click.option("--before", metavar="ZONE", help="A zone that must not be reached first.")
@click.option("--within", type=int, metavar="STEPS", help="Maximum number of steps.")
@click.option("--steps", "how_long", is_flag=True, help="How many steps does it take to get there?")
@click.option("--after", "steps", type=int, metavar="STEPS", help="Where is the agent after this many steps?")
@click.option("--occupancy", is_flag=True, help="Where does it spend its time?")
@click.option("--unreachable", is_flag=True, help="Which leaves does it never get to?")
@click.option("--from", "start", metavar="START", help="A state, leaf or zone.  [default: where episodes begin]")
@given_option
@log_option("Count the episodes of this log instead of those that the model keeps.")
@json_option
def chance(
    model: Path,
    reach: str | None,
    before: str | None,
    within: int | None,
    how_long: bool,
    steps: int | None,
    occupancy: bool,
    unreachable: bool,
    start: str | None,
    given: str | None,
    log: Path | None,
    describe: Path | None,
    as_json: bool,
) -> None:
    """Show how likely it is to get somewhere, how long it takes, and where time is spent.

    Counted over what recorded episodes really did; where none was, guessed by the chain over the tree's leaves.
    """
    if sum([reach is not None, steps is not None, occupancy, unreachable]) != 1:
        raise click.UsageError("Ask one of --reach ZONE, --after STEPS, --occupancy and --unreachable.")
    if reach is None and (before is not None or within is not None or how_long):
        raise click.UsageError("--before, --within and --steps go with --reach ZONE.")
    if how_long and within is not None:
        raise click.UsageError("Give --steps or --within, not both.")
    if unreachable and given is not None:
        raise click.UsageError("--given chooses episodes to count, and --unreachable counts none.")
    tree = open_model(model)
    answer: object
    # Where time is spent is told of states, which must be in memory.
    with log_or_disk(tree, log, describe) if reach is not None or unreachable else nullcontext() as moves:
        if reach is not None and how_long:
            answer = tree.expected_steps(reach, start, before=before, given=given, log=moves)
        elif reach is not None:
            answer = tree.chance(reach, start, before=before, within=within, given=given, log=moves)
        elif steps is not None:
            answer = tree.after(steps, start, given=given, log=log_of(tree, log, describe))
        elif occupancy:
            answer = tree.occupancy(start, given=given, log=log_of(tree, log, describe))
        else:
            answer = tree.unreachable(start, log=moves)
    console.answer(answer, as_json)


@command(
    'tripletree futures run.tripletree --from "pos=1.2, speed=0"',
    "tripletree futures run.tripletree -k 5 --regions 20 --json",
)
@model_argument
@click.option("--from", "start", metavar="START", help="A state, leaf or zone.  [default: where episodes begin]")
@click.option("-k", type=int, default=3, show_default=True, help="Number of futures.")
@click.option("--regions", type=int, default=10, show_default=True, help="Maximum number of regions.")
@given_option
@log_option("Count the episodes of this log instead of those that the model keeps.")
@json_option
def futures(
    model: Path,
    start: str | None,
    k: int,
    regions: int,
    given: str | None,
    log: Path | None,
    describe: Path | None,
    as_json: bool,
) -> None:
    """Show the commonest futures from here: where it goes next, how often, when, and with which outcome.

    Counted over what recorded episodes really did, with one vote each.
    """
    tree = open_model(model)
    console.answer(tree.futures(start, k, regions=regions, given=given, log=log_of(tree, log, describe)), as_json)


def way_options(function: _Decorated) -> _Decorated:
    """Add the options of a way from one place to another."""
    for option in (
        json_option,
        log_option("Follow the episodes of this log instead of those that the model keeps."),
        click.option(
            "--pairs",
            type=int,
            metavar="N",
            help="Instead: a fan of at most N ways that stand for all episodes. With --method paper: the N best ways "
            "between a start leaf and an end leaf each.",
        ),
        click.option(
            "--method",
            default="recorded",
            show_default=True,
            metavar="recorded|paper",
            help="Follow recorded episodes, or the most probable sequence of leaves as in the paper.",
        ),
        click.option("-k", type=int, default=1, show_default=True, help="Number of ways."),
        click.option("--to", "end", required=True, metavar="PLACE", help="Where to: a state, leaf, zone, or end."),
        click.option(
            "--from",
            "start",
            required=True,
            metavar="PLACE",
            help='Where from: a state ("pos=1.2, speed=0"), leaf ("leaf 3") or zone ("pos > 2").',
        ),
        model_argument,
    ):
        function = option(function)
    return function


@command(
    'tripletree paths run.tripletree --from "pos=1.2, speed=0" --to end',
    'tripletree paths run.tripletree --from "pos > 2" --to "pos < 0.5" -k 3 --json',
)
@way_options
def paths(
    model: Path,
    start: str,
    end: str,
    k: int,
    method: str,
    pairs: int | None,
    log: Path | None,
    describe: Path | None,
    as_json: bool,
) -> None:
    """Find ways from one place to another: whom they follow, through which leaves, how long it takes."""
    tree = open_model(model)
    moves = log_of(tree, log, describe)
    ways = tree.paths(start, end, k, method=method, pairs=False if pairs is None else pairs, log=moves)
    _show_ways(ways, as_json)


@command(
    'tripletree simulate run.tripletree --from "pos=1.2, speed=0" --to "pos < 0.5"',
    'tripletree simulate run.tripletree --from "leaf 3" --to end -k 3 --json',
)
@way_options
def simulate(
    model: Path,
    start: str,
    end: str,
    k: int,
    method: str,
    pairs: int | None,
    log: Path | None,
    describe: Path | None,
    as_json: bool,
) -> None:
    """Simulate trajectories from one place to another.

    They follow recorded episodes, bent to the states asked for; where none can be followed, the answer says so and
    guesses. --json holds their states.
    """
    tree = open_model(model)
    moves = log_of(tree, log, describe)
    many = False if pairs is None else pairs
    with console.progress_bar("Aligning", "trajectories") as progress:
        ways = tree.simulate(start, end, k, method=method, pairs=many, log=moves, progress=progress)
    _show_ways(ways, as_json)


def _show_ways(ways: Trajectories, as_json: bool) -> None:
    """Print the ways, one paragraph each, between what holds for all of them."""
    if as_json or len(ways) < 2:
        console.answer(ways, as_json)
        return
    told = [f"{number}. {way}" for number, way in enumerate(ways, 1)]
    console.say(*(line for line in (ways.reason, *told, ways.lasting) if line))


@command(
    "tripletree rollouts run.tripletree -n 5 --steps 20",
    'tripletree rollouts run.tripletree -n 100 --steps 50 --from "pos=1.2, speed=0" --seed 1 > journeys.csv',
)
@model_argument
@click.option("-n", type=int, required=True, metavar="N", help="Number of journeys.")
@click.option("--steps", type=int, required=True, metavar="STEPS", help="Length of each.")
@click.option("--from", "start", metavar="START", help="A state, leaf or zone.  [default: where episodes begin]")
@moves_option
@seed_option
@json_option
def rollouts(
    model: Path,
    n: int,
    steps: int,
    start: str | None,
    log: Path | None,
    describe: Path | None,
    seed: int,
    as_json: bool,
) -> None:
    """Draw journeys over the leaves, as CSV: a line for each, its leaf at 0, 1, ... steps.

    They are drawn from the chain over leaves, which forgets how it came to a leaf: no recorded episode went just so.
    The number of leaves stands for the end of the episode.
    """
    tree = open_model(model)
    with log_or_disk(tree, log, describe) as moves:
        drawn = tree.rollouts(n, steps, start, log=moves, seed=seed)
    columns = {str(step): leaves for step, leaves in enumerate(drawn.T.tolist())}
    console.show_json(drawn) if as_json else console.show_csv(columns)


@command("tripletree transitions run.tripletree > transitions.csv")
@model_argument
@moves_option
@json_option
def transitions(model: Path, log: Path | None, describe: Path | None, as_json: bool) -> None:
    """Print how the log moves from leaf to leaf, as CSV: how often, how probable, after how many steps.

    The number of leaves stands for the end of the episode.
    """
    tree = open_model(model)
    with log_or_disk(tree, log, describe) as opened:
        moves = tree.transitions(opened)
    columns = {name: getattr(moves, name).tolist() for name in ("source", "target", "count", "probability", "duration")}
    console.show_json(columns) if as_json else console.show_csv(columns)
