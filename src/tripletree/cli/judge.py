"""A model as a whole at the command line: what matters in it, its outline, and how far to believe it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from tripletree.cli import console
from tripletree.cli.command import command, json_option, model_argument
from tripletree.cli.inputs import (
    about_option,
    listed,
    log_of,
    log_option,
    log_or_disk,
    open_model,
    required_log,
)

judged_log = log_option("The log to judge the model on, with the same features and actions.", required=True)


@command("tripletree importance run.tripletree")
@model_argument
@json_option
def importance(model: Path, as_json: bool) -> None:
    """Show how much each feature matters to action, value and derivative."""
    console.answer(open_model(model).importance(), as_json)


@command(
    "tripletree effects run.tripletree",
    "tripletree effects run.tripletree --about value --features pos,speed --log run.csv",
)
@model_argument
@about_option
@click.option(
    "--features",
    multiple=True,
    callback=listed,
    metavar="NAME,NAME",
    help="Whose effects, however weak.  [default: of all features]",
)
@log_option("Where the states come from.  [default: those that the model keeps]")
@json_option
def effects(
    model: Path, about: str, features: list[str], log: Path | None, describe: Path | None, as_json: bool
) -> None:
    """Show which way, and how far, each feature moves the prediction, all else fixed.

    `tripletree plot effects` draws the curves, with --stability and bands around them.
    """
    tree = open_model(model)
    console.answer(tree.effects(log_of(tree, log, describe), about=about, features=features or None), as_json)


@command(
    "tripletree outline run.tripletree --log run.csv",
    "tripletree outline run.tripletree --log run.csv --regions 5 --json",
)
@model_argument
@log_option("Whose moves to tell: the log that the model was grown on, or another.", required=True)
@click.option("--regions", type=int, default=8, show_default=True, metavar="N", help="Maximum number of regions.")
@json_option
def outline(model: Path, log: Path, describe: Path | None, regions: int, as_json: bool) -> None:
    """Show the model from afar: a few regions, what the agent does in each, and how it moves between them."""
    tree = open_model(model)
    console.answer(tree.outline(required_log(tree, log, describe), regions=regions), as_json)


@command("tripletree held-out run.tripletree --log run.csv")
@model_argument
@judged_log
@json_option
def held_out(model: Path, log: Path, describe: Path | None, as_json: bool) -> None:
    """Show how good the model is on episodes that it has not seen."""
    tree = open_model(model)
    with log_or_disk(tree, log, describe) as judged:
        answer = tree.held_out(judged)
    console.answer(answer, as_json)


@command(
    "tripletree losses run.tripletree --log run.csv",
    "tripletree losses run.tripletree --log run.csv --all > losses.csv",
)
@model_argument
@judged_log
@click.option("--leaves", "n_leaves", type=int, metavar="N", help="Judge the tree as it was with this many leaves.")
@click.option("--all", "every", is_flag=True, help="Judge every size.")
@json_option
def losses(model: Path, log: Path, describe: Path | None, n_leaves: int | None, every: bool, as_json: bool) -> None:
    """Print action, value and derivative loss on a log, as CSV.

    The action loss is the share of wrong labels (or what they cost on average), or the sum of RMSE / sigma; the value
    loss is the RMSE; the derivative loss is the sum of RMSE / sigma over the features.
    """
    if every and n_leaves is not None:
        raise click.UsageError("Give --leaves or --all, not both.")
    tree = open_model(model)
    size = "all" if every else n_leaves
    with log_or_disk(tree, log, describe) as judged:
        found = tree.losses(judged, size).reshape(-1, 3)
    sizes = range(1, len(found) + 1) if every else [tree.n_leaves_ if n_leaves is None else n_leaves]
    columns: dict[str, list[Any]] = {
        "leaves": list(sizes),
        **dict(zip(("action", "value", "derivative"), found.T.tolist(), strict=True)),
    }
    console.show_json(columns) if as_json else console.show_csv(columns)


@command(
    "tripletree calibration run.tripletree --log run.csv",
    "tripletree calibration run.tripletree --log run.csv --about confidence --groups 5 --json",
)
@model_argument
@judged_log
@click.option(
    "--about",
    default="value",
    show_default=True,
    metavar="ATTRIBUTE",
    help="value, the name of a dimension of the action, or confidence: how sure the model is of a discrete action.",
)
@click.option("--groups", type=int, default=10, show_default=True, metavar="N", help="Number of groups of steps.")
@json_option
def calibration(model: Path, log: Path, describe: Path | None, about: str, groups: int, as_json: bool) -> None:
    """Compare predictions with what a log shows, in groups of steps with about the same prediction."""
    tree = open_model(model)
    with log_or_disk(tree, log, describe) as judged:
        answer = tree.calibration(judged, about=about, groups=groups)
    console.answer(answer, as_json)


@command(
    "tripletree stability run.tripletree --log run.csv",
    "tripletree stability run.tripletree --log run.csv --trees 100 --seed 1 --json",
)
@model_argument
@log_option("The log that the model was grown on, or another of the same agent.", required=True)
@click.option("--trees", type=int, default=50, show_default=True, metavar="N", help="Trees grown on halves of the log.")
@click.option("--seed", type=int, default=0, show_default=True, metavar="N", help="Which halves.")
@json_option
def stability(model: Path, log: Path, describe: Path | None, trees: int, seed: int, as_json: bool) -> None:
    """Show whether another log would have said the same: predictions, first splits, thresholds, reasons."""
    tree = open_model(model)
    console.answer(tree.stability(required_log(tree, log, describe), trees=trees, seed=seed), as_json)


@command("tripletree trust run.tripletree --log run.csv")
@model_argument
@judged_log
@json_option
def trust(model: Path, log: Path, describe: Path | None, as_json: bool) -> None:
    """Show where not to trust the model: few samples, samples that disagree, states outside its range."""
    tree = open_model(model)
    with log_or_disk(tree, log, describe) as judged:
        answer = tree.trust(judged)
    console.answer(answer, as_json)
