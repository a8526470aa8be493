"""``tripletree grow``: from a log to a model file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tripletree.checks import PARAMETERS
from tripletree.cli import console
from tripletree.cli.command import command, json_option, out_option, seed_option
from tripletree.cli.inputs import FILE, log_options, reading
from tripletree.cli.summary import goodness, summary

if TYPE_CHECKING:
    from tripletree.log.log import Log


def _theta(_: click.Context, __: click.Parameter, given: str) -> tuple[float, ...]:
    try:
        return tuple(float(weight) for weight in given.split(","))
    except ValueError:
        raise click.BadParameter(f"`{given}` are no numbers; type three with commas, such as 0.2,0.6,0.2.") from None


def _choice(name: str) -> click.Choice[str]:
    return click.Choice(PARAMETERS[name].choices)


@command(
    "tripletree grow run.csv -o run.tripletree",
    "tripletree grow run.csv -o run.tripletree --validation 0.2 --max-leaves 500",
    "tripletree grow run.csv -o run.tripletree --theta 0.2,0.6,0.2 --gamma 0.95 --describe run.toml",
)
@click.argument("log", type=FILE)
@out_option("Where the model goes; an existing file is replaced.", required=True)
@click.option("--max-leaves", type=int, default=200, show_default=True, help="Most leaves.")
@click.option(
    "--validation",
    metavar="SHARE|LOG",
    help="Hold out this share of the episodes, or take another log, to find the best size.",
)
@seed_option
@click.option(
    "--theta", callback=_theta, default="1,1,1", show_default=True, help="Weights of action, value and derivative."
)
@click.option("--gamma", type=float, default=0.99, show_default=True, help="Discount factor of the value.")
@click.option("--min-samples-leaf", type=int, default=1, show_default=True, help="Least samples in a leaf.")
@click.option("--max-depth", type=int, help="Most splits above a leaf.")
@click.option("--min-quality", type=float, default=0.0, show_default=True, help="Least quality of a split.")
@click.option("--early-stopping/--no-early-stopping", default=True, help="With --validation, keep the best size.")
@click.option(
    "--truncation",
    type=_choice("truncation"),
    default="paper",
    show_default=True,
    help="What follows the end of a truncated episode: nothing, or the tree's own value.",
)
@click.option(
    "--priority", type=_choice("priority"), default="impurity", show_default=True, help="Which leaf is split next."
)
@click.option(
    "--thresholds",
    type=_choice("thresholds"),
    default="short",
    show_default=True,
    help="Where in its gap a threshold goes.",
)
@click.option(
    "--derivative-scale",
    type=_choice("derivative_scale"),
    default="sigma",
    show_default=True,
    help="What derivatives are divided by.",
)
@click.option(
    "--mode", type=_choice("mode"), default="exact", show_default=True, help="All thresholds, or those of a histogram."
)
@click.option("--bins", type=int, default=1024, show_default=True, help="Bins of the histogram.")
@click.option("--threads", type=int, help="Threads to use.  [default: all cores]")
@log_options
@json_option
def grow(log: Path, out: Path, validation: str | None, seed: int, as_json: bool, **options: Any) -> None:
    """Grow a tree on a log and save it.

    LOG is a .csv, .tsv, .parquet or .npz file with one row a step; `tripletree check LOG` says how it is read.
    """
    from tripletree.api import TripleTree
    from tripletree.log.files import read_log
    from tripletree.text import count

    roles = reading(options)
    training = read_log(log, **roles)
    training, held_out = _held_out(training, validation, seed, roles)
    with console.growing() as progress:
        tree = TripleTree(**options, progress=progress).fit(training, held_out)
    tree.save(out)
    if as_json:
        console.show_json({"model": str(out), **summary(tree)})
        return
    samples, episodes = count(training.n_samples, "sample"), count(training.n_episodes, "episode")
    held = "" if held_out is None else f", {count(held_out.n_episodes, 'episode')} held out"
    leaves = "1 leaf" if tree.n_leaves_ == 1 else f"{tree.n_leaves_:,} leaves"
    console.say(f"{samples} in {episodes}{held}; a tree of {leaves}.", "")
    console.show(goodness(tree), "")
    console.show_wide(f"The model is in {out}. See what it holds: tripletree info {out}")


def _held_out(log: Log, validation: str | None, seed: int, roles: dict[str, Any]) -> tuple[Log, Log | None]:
    """Return the training and the validation log."""
    from tripletree.log.files import read_log

    if validation is None:
        return log, None
    try:
        share = float(validation)
    except ValueError:
        return log, read_log(validation, **roles)
    return log.split(share, seed)
