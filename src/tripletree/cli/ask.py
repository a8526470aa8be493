"""Questions to a model at the command line: predict, explain, story, chance, paths, simulate, rules."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from tripletree.cli import console
from tripletree.cli.command import command, json_option, model_argument, seed_option
from tripletree.cli.inputs import (
    FILE,
    about_option,
    episode_of,
    listed,
    log_of,
    log_option,
    open_model,
    pairs,
    state_of,
    state_options,
)
from tripletree.errors import ParameterError

if TYPE_CHECKING:
    from tripletree.answers.prediction import Prediction
    from tripletree.answers.trajectories import Trajectories
    from tripletree.api import TripleTree

_Decorated = TypeVar("_Decorated", bound=Callable[..., Any])

WITH_FOIL = ("k", "max_changes", "fixed", "one_way", "margin", "min_samples", "min_purity")

levels_option = click.option(
    "--levels", type=int, default=3, show_default=True, help="Number of levels that numbers are divided into."
)


@command(
    'tripletree predict run.tripletree --state "pos=1.2, speed=0.03"',
    "tripletree predict run.tripletree --log run.csv --episode 3 --step 12 --json",
    "tripletree predict run.tripletree states.csv > predictions.csv",
)
@model_argument
@click.argument("states", type=FILE, required=False)
@state_options
@json_option
def predict(model: Path, states: Path | None, as_json: bool, **options: Any) -> None:
    """Predict what the agent does in a state, how well it does and what comes next.

    STATES is a .csv, .tsv, .parquet or .npz file with a column for each feature; the answer is then CSV with a line for
    each state.
    """
    tree = open_model(model)
    if states is None:
        console.answer(tree.predict(state_of(tree, **options)), as_json)
        return
    from tripletree.log.files import read_table

    if any(value is not None for value in options.values()):
        raise click.UsageError("Give a file of states, or one state with --state or --log; not both.")
    answer = tree.predict(read_table(states))
    console.show_json(answer.to_dict()) if as_json else console.show_csv(_columns(tree, answer))


def _columns(tree: TripleTree, answer: Prediction) -> dict[str, Any]:
    schema = tree.fitted_.schema
    columns: dict[str, Any] = {}
    if schema.action.kind == "discrete" and answer.action_probability is not None:
        columns["action"] = answer.action
        columns["action_probability"] = answer.action_probability.max(axis=1)
    elif answer.action_std is not None:
        for k, name in enumerate(schema.action.names):
            columns[name], columns[f"{name}_std"] = answer.action[:, k], answer.action_std[:, k]
    columns |= {"value": answer.value, "value_std": answer.value_std}
    if answer.derivative is not None:
        columns |= {f"derivative_{name}": answer.derivative[:, f] for f, name in enumerate(schema.feature_names)}
    columns |= {"leaf": answer.leaf, "count": answer.count, "outside": answer.outside.astype(int)}
    return {name: column.tolist() for name, column in columns.items()}


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
    help='What should be predicted instead, such as "action = left", "value <= 0" or "derivative of pos > 0".',
)
@click.option("-k", type=int, metavar="N", help="With --foil: number of different answers.  [default: 1]")
@click.option("--max-changes", type=int, metavar="N", help="With --foil: maximum number of features that may change.")
@click.option(
    "--fixed", multiple=True, callback=listed, metavar="NAME,NAME", help="With --foil: features that may not change."
)
@click.option(
    "--one-way",
    multiple=True,
    callback=pairs,
    metavar="NAME=up|down",
    help="With --foil: a feature that may only rise or fall. Repeatable.",
)
@click.option(
    "--margin", type=float, help="With --foil: how far beyond a border to go, as a share of the feature's range."
)
@click.option(
    "--min-samples", type=int, metavar="N", help="With --foil: minimum samples in the leaf that the change leads to."
)
@click.option("--min-purity", type=float, help="With --foil: minimum agreement of these samples, from 0 to 1.")
@click.option("--then", "after", metavar="STATE", help="Explain why the prediction changed on the way to this state.")
@json_option
def explain(model: Path, about: str, foil: str | None, after: str | None, as_json: bool, **options: Any) -> None:
    """Explain why the agent does what it does in a state, what would change that, or why it changed."""
    chosen = {name: options.pop(name) for name in WITH_FOIL}
    chosen = {name: value for name, value in chosen.items() if value not in (None, [], {})}
    if chosen and foil is None:
        name = next(iter(chosen)).replace("_", "-")
        raise click.UsageError(f"{'-k' if name == 'k' else f'--{name}'} goes with --foil FOIL.")
    if foil is not None and after is not None:
        raise click.UsageError("Give --foil or --then, not both.")
    if foil is not None and about != "action":
        raise click.UsageError("--about goes without --foil: the foil says what it is about.")
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
@levels_option
@click.option(
    "--shortest", type=int, default=3, show_default=True, metavar="STEPS", help="Minimum length of a phase, in steps."
)
@click.option("--most", type=int, default=12, show_default=True, metavar="N", help="Maximum number of phases.")
@json_option
def story(
    model: Path,
    log: Path | None,
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
    """Tell an episode phase by phase: what the agent does, why it changes, how well it does."""
    simulated = start is not None or end is not None
    if simulated == (log is not None):
        raise click.UsageError("Which episode? Give --log LOG --episode ID, or --from PLACE --to PLACE.")
    if simulated and (start is None or end is None or episode is not None):
        raise click.UsageError("A simulated trajectory needs --from PLACE and --to PLACE, and no --episode.")
    tree = open_model(model)
    recorded = log_of(tree, log, describe)
    if recorded is not None:
        number = episode_of(recorded, episode)
        told = tree.story(number, log=recorded, about=about, levels=levels, shortest=shortest, most=most)
        console.answer(told, as_json)
        return
    ways = tree.simulate(start, end)
    if not ways:
        raise ParameterError(str(ways))
    console.answer(tree.story(ways, about=about, levels=levels, shortest=shortest, most=most), as_json)


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
@log_option("Use the moves of this log instead of the training log's.")
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
    how_long: bool,
    steps: int | None,
    occupancy: bool,
    unreachable: bool,
    start: str | None,
    log: Path | None,
    describe: Path | None,
    draws: int,
    seed: int,
    as_json: bool,
) -> None:
    """Show how likely it is to get somewhere, how long it takes, and where time is spent.

    Computed on the chain over the tree's leaves: how often the log moves from each leaf to the others.
    """
    if sum([reach is not None, steps is not None, occupancy, unreachable]) != 1:
        raise click.UsageError("Ask one of --reach ZONE, --after STEPS, --occupancy and --unreachable.")
    if reach is None and (before is not None or within is not None or how_long):
        raise click.UsageError("--before, --within and --steps go with --reach ZONE.")
    if how_long and within is not None:
        raise click.UsageError("Give --steps or --within, not both.")
    tree = open_model(model)
    moves = log_of(tree, log, describe)
    answer: object
    if reach is not None and how_long:
        answer = tree.expected_steps(reach, start, before=before, log=moves, draws=draws, seed=seed)
    elif reach is not None:
        answer = tree.chance(reach, start, before=before, within=within, log=moves, draws=draws, seed=seed)
    elif steps is not None:
        answer = tree.after(steps, start, log=moves, draws=draws, seed=seed)
    elif occupancy:
        answer = tree.occupancy(start, log=moves, draws=draws, seed=seed)
    else:
        answer = tree.unreachable(start, log=moves)
    console.answer(answer, as_json)


def way_options(function: _Decorated) -> _Decorated:
    """Add the options of a way from one place to another."""
    for option in (
        json_option,
        log_option("Use the moves of this log instead of the training log's."),
        click.option(
            "--pairs",
            type=int,
            metavar="N",
            help="Instead: the best way for each pair of a start leaf and an end leaf, at most N.",
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
    pairs: int | None,
    log: Path | None,
    describe: Path | None,
    as_json: bool,
) -> None:
    """Find the most probable ways from one place to another: which leaves, how probable, how long."""
    tree = open_model(model)
    moves = log_of(tree, log, describe)
    _show_ways(tree.paths(start, end, k, pairs=False if pairs is None else pairs, log=moves), as_json)


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
    pairs: int | None,
    log: Path | None,
    describe: Path | None,
    as_json: bool,
) -> None:
    """Simulate trajectories from one place to another, along the most probable ways.

    They follow the mean derivatives of the leaves that they cross; --json holds their corners.
    """
    tree = open_model(model)
    moves = log_of(tree, log, describe)
    with console.progress_bar("Aligning", "trajectories") as progress:
        ways = tree.simulate(start, end, k, pairs=False if pairs is None else pairs, log=moves, progress=progress)
    _show_ways(ways, as_json)


def _show_ways(ways: Trajectories, as_json: bool) -> None:
    """Print the ways, one paragraph each."""
    if as_json or len(ways) < 2:
        console.answer(ways, as_json)
        return
    for number, way in enumerate(ways, 1):
        console.say(f"{number}. {way}")


@command(
    "tripletree rules run.tripletree",
    "tripletree rules run.tripletree --about value --levels 4 --most 3",
    'tripletree rules run.tripletree --about "derivative of speed" --json',
)
@model_argument
@about_option
@levels_option
@click.option("--most", type=int, default=5, show_default=True, help="Maximum number of rules shown for each outcome.")
@log_option("Take coverage and accuracy from this log instead of the training log.")
@json_option
def rules(
    model: Path, about: str, levels: int, most: int, log: Path | None, describe: Path | None, as_json: bool
) -> None:
    """Show the tree as rules: what it predicts under which conditions.

    Each outcome shows its --most largest rules, and says how many more there are; --json holds all of them.
    """
    tree = open_model(model)
    recorded = log_of(tree, log, describe)
    console.answer(tree.rules(about=about, levels=levels, log=recorded, most=most), as_json)
