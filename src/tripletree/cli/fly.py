"""The tree as a policy at the command line: ``tripletree fidelity`` flies it, ``tripletree refine`` makes it better."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import click

from tripletree.checks import did_you_mean
from tripletree.cli import console
from tripletree.cli.agents import DRIVERS, LANDER
from tripletree.cli.command import command, json_option, model_argument, out_option
from tripletree.cli.inputs import log_option, normalize_option, open_model, required_log, trust_option

_Decorated = TypeVar("_Decorated", bound=Callable[..., Any])


def _flight_options(function: _Decorated) -> _Decorated:
    """Add the options that say who flies beside the tree, and how."""
    for option in (
        json_option,
        normalize_option,
        trust_option,
        click.option("--workers", type=int, metavar="N", help="Processes.  [default: one for each core]"),
        click.option(
            "--leaf-model",
            type=click.Choice(["linear", "mean"]),
            help="What a leaf does.  [default: what the tree was grown with]",
        ),
        click.option(
            "--agent",
            metavar="FILE",
            help="Who is asked: the .zip of a model of Stable-Baselines3 or sb3-contrib, an .onnx network, or random.",
        ),
    ):
        function = option(function)
    return function


@command(
    "tripletree fidelity run.tripletree either --episodes 20",
    "tripletree fidelity run.tripletree either --episodes 20 --leaf-model mean --json",
)
@model_argument
@click.argument("env", metavar="ENV")
@click.option("--episodes", type=int, default=100, show_default=True, metavar="N", help="Episodes of each of the two.")
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=1_000_000,
    show_default=True,
    help="Seed of the first episode; the next ones count up.",
)
@_flight_options
def fidelity(model: Path, env: str, agent: str | None, as_json: bool, **options: Any) -> None:
    """Fly the tree beside its agent, to see who gets more and where they agree.

    ENV is an id of Gymnasium, such as CartPole-v1. Or it is one of the paper's agents, who need no --agent: left,
    either, hurry, alive, lander.
    """
    from tripletree.policy.fidelity import fidelity as fly

    tree = open_model(model)
    place, who = place_of(env, agent)
    with console.progress_bar("Flying", "episodes") as progress:
        found = fly(tree.fitted_, place, who, progress=progress, **options)
    console.answer(found, as_json)


@command(
    "tripletree refine run.tripletree either --log run.csv -o refined.tripletree --rounds 2 --episodes 5 --judge 5",
)
@model_argument
@click.argument("env", metavar="ENV")
@log_option("The log that the model was grown on.", required=True)
@out_option("Where the refined model goes, a .tripletree file.", required=True)
@click.option("--rounds", type=int, default=6, show_default=True, metavar="N", help="Rounds.")
@click.option(
    "--episodes", type=int, default=30, show_default=True, metavar="N", help="Episodes that are flown in each round."
)
@click.option(
    "--judge",
    type=int,
    default=30,
    show_default=True,
    metavar="N",
    help="Other episodes that judge the tree of each round.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=2_000_000,
    show_default=True,
    help="Seed of the first episode; the next ones count up.",
)
@click.option(
    "--keep",
    type=click.Choice(["last", "best"]),
    default="last",
    show_default=True,
    help="Which round's tree is kept; the best is partly the luckiest.",
)
@click.option("--weights", type=click.Choice(["agent"]), help="Draw steps by what the agent's critic says (DQN).")
@_flight_options
def refine(
    model: Path, env: str, agent: str | None, log: Path, describe: Path | None, out: Path, as_json: bool, **options: Any
) -> None:
    """Let the tree fly, ask the agent what it would have done, and grow again on both.

    ENV is an id of Gymnasium, such as CartPole-v1. Or it is one of the paper's agents, who need no --agent: left,
    either, hurry, alive, lander.
    """
    from tripletree.policy.refine import refine as fly
    from tripletree.store import save

    tree = open_model(model)
    recorded = required_log(tree, log, describe)
    place, who = place_of(env, agent)
    with console.progress_bar("Flying", "episodes") as progress:
        found = fly(tree.fitted_, recorded, place, who, progress=progress, **options)
    save(found.fitted, out)
    console.answer(found, as_json)
    if not as_json:
        console.show_wide(f"The model is in {out}.")


def place_of(env: str, agent: str | None) -> tuple[Any, Any]:
    """Return where and who; the paper's agents have a world of their own."""
    if agent is not None:
        return env, agent
    if env == LANDER:
        from tripletree.demos import lander

        return lander.environment, lander.act
    if env in DRIVERS:
        from tripletree.demos import road

        return partial(road.environment, env), road.solve(road.paid(env)).act
    hint = did_you_mean(env, (*DRIVERS, LANDER))
    raise click.UsageError(f"Who acts in {env}? Give --agent FILE.zip, --agent FILE.onnx or --agent random.{hint}")
