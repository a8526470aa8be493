"""``tripletree explain``: why the agent does what it does in a state, what would change it, why it changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from tripletree.cli import console
from tripletree.cli.command import command, json_option, model_argument
from tripletree.cli.inputs import about_option, listed, open_model, pairs, state_of, state_options

WITH_FOIL = ("count", "max_changes", "fixed", "one_way", "margin", "min_samples", "min_purity")


@command(
    'tripletree explain run.tripletree --state "pos=1.2, speed=0.03"',
    'tripletree explain run.tripletree --state "pos=1.2, speed=0.03" --foil "action = left" --fixed pos',
    "tripletree explain run.tripletree --log run.csv --episode 3 --step 12 --about value",
    "tripletree explain run.tripletree --state 1.2,0.03 --then 1.2,-0.03",
)
@model_argument
@state_options
@about_option
@click.option(
    "--foil",
    metavar="FOIL",
    help='What might have been instead, as "action = left", "value <= 0" or "derivative of pos > 0"?',
)
@click.option("-k", "count", type=int, help="With --foil: how many different answers.  [default: 1]")
@click.option("--max-changes", type=int, metavar="N", help="With --foil: most features that may change.")
@click.option(
    "--fixed", multiple=True, callback=listed, metavar="NAME,NAME", help="With --foil: features that may not change."
)
@click.option(
    "--one-way",
    multiple=True,
    callback=pairs,
    metavar="NAME=up|down",
    help="With --foil: a feature that may only rise or fall.",
)
@click.option(
    "--margin", type=float, help="With --foil: how far beyond a border to go, as a share of the feature's range."
)
@click.option("--min-samples", type=int, metavar="N", help="With --foil: least samples in the leaf that it leads to.")
@click.option("--min-purity", type=float, help="With --foil: least agreement of these samples, from 0 to 1.")
@click.option("--then", "after", metavar="STATE", help="Why did it change on the way to this state?")
@json_option
def explain(model: Path, about: str, foil: str | None, after: str | None, as_json: bool, **options: Any) -> None:
    """Say why the agent does what it does in a state, what would change it, or why it changed."""
    chosen = {name: options.pop(name) for name in WITH_FOIL}
    chosen = {"k" if name == "count" else name: value for name, value in chosen.items() if value not in (None, [], {})}
    if chosen and foil is None:
        raise click.UsageError(
            f"--{next(iter(chosen)).replace('_', '-')} goes with --foil FOIL.".replace("--k ", "-k ")
        )
    if foil is not None and after is not None:
        raise click.UsageError("Give --foil or --then, not both.")
    tree = open_model(model)
    state = state_of(tree, **options)
    answer: object
    if after is not None:
        answer = tree.explain_change(state, after, about=about)
    elif foil is not None:
        answer = tree.explain(state, foil, **chosen)
    else:
        answer = tree.explain(state, about=about)
    console.answer(answer, as_json)
