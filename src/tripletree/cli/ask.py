"""Questions to a model at the command line: predict, attribute, explain, changes, story, criticality, rules."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tripletree.cli import console
from tripletree.cli.command import command, json_option, model_argument
from tripletree.cli.inputs import (
    FILE,
    about_option,
    episode_of,
    listed,
    log_of,
    log_option,
    open_model,
    pairs,
    required_log,
    stability_option,
    state_of,
    state_options,
    table_of,
)
from tripletree.errors import ParameterError
from tripletree.text import count

if TYPE_CHECKING:
    from tripletree.answers.counterfactual import Counterfactuals
    from tripletree.answers.prediction import Prediction
    from tripletree.api import TripleTree

WITH_FOIL = ("k", "max_changes", "fixed", "one_way", "margin", "min_samples", "min_purity")


def _levels(_: click.Context, __: click.Parameter, given: str) -> Any:
    """Return levels as Python has them: auto, a count, or numbers with or without names."""
    parts: list[Any] = [part.strip() for part in given.split(",")]
    for place, part in enumerate(parts):
        try:
            parts[place] = float(part)
        except ValueError:
            continue
    if len(parts) == 1:
        if parts == ["auto"]:
            return given
        # A whole number says how many; but at 0 a number may well change its meaning, and there are never 0 levels.
        return int(given) if re.fullmatch(r"\s*-?\d+\s*", given) and float(given) else parts
    return parts


def _count_or_all(_: click.Context, __: click.Parameter, given: str) -> int | None:
    """Return a number, or None for all."""
    if given.strip() == "all":
        return None
    try:
        return int(given)
    except ValueError:
        raise click.BadParameter(f"{given!r} is neither a whole number nor 'all'.") from None


levels_option = click.option(
    "--levels",
    default="auto",
    show_default=True,
    callback=_levels,
    metavar="LEVELS",
    help="What numbers mean: auto, the numbers at which levels end (-0.5,0.5), with names if you like "
    "(left,-0.5,off,0.5,right), or how many levels.",
)


@command(
    'tripletree predict run.tripletree --state "pos=1.2, speed=0.03"',
    "tripletree predict run.tripletree --log run.csv --episode 3 --step 12 --json",
    "tripletree predict run.tripletree states.csv > predictions.csv",
    "tripletree predict fleet.tripletree fleet/ --folder predictions/",
)
@model_argument
@click.argument("states", type=FILE, required=False)
@click.option(
    "--folder", type=click.Path(path_type=Path), help="Of a folder of Parquet files: write as many here, row by row."
)
@state_options
@json_option
def predict(model: Path, states: Path | None, folder: Path | None, as_json: bool, **options: Any) -> None:
    """Predict what the agent does in a state, how well it does and what comes next.

    STATES is a .csv, .tsv, .parquet or .npz file with a column for each feature; the answer is then CSV with a line for
    each state. Parquet files that are larger than memory are answered by Parquet files: give --folder.
    """
    tree = open_model(model)
    if folder is not None:
        if states is None:
            raise click.UsageError("--folder is for the states of a Parquet file, or of a folder of them: name it.")
        _predict_folder(tree, states, folder)
        return
    if states is None:
        console.answer(tree.predict(state_of(tree, **options)), as_json)
        return
    if any(value is not None for value in options.values()):
        raise click.UsageError("Give a file of states, or one state with --state or --log; not both.")
    answer = tree.predict(table_of(states))
    console.show_json(answer.to_dict()) if as_json else console.show_csv(_columns(tree, answer))


def _predict_folder(tree: TripleTree, states: Path, folder: Path) -> None:
    from tripletree.log.disk import open_log

    columns = tree.fitted_.schema.columns
    # What is asked about needs no episodes, actions or rewards.
    roles: dict[str, Any] = {"features": list(columns), "action": "none", "reward": "none", "endless": True}
    roles["kinds"] = {column: categories for column, categories in columns.items() if categories}
    with console.passing() as progress:
        log = open_log(states, progress=progress, **roles)
        written = tree.write_predictions(log, folder)
    console.say(f"The predictions are in {count(len(written), 'file')} in {folder}.", "")


def _columns(tree: TripleTree, answer: Prediction) -> dict[str, Any]:
    schema = tree.fitted_.schema
    columns: dict[str, Any] = {}
    if not schema.has_action:
        pass
    elif schema.action.kind == "discrete" and answer.action_probability is not None:
        columns["action"] = answer.action
        columns["action_probability"] = answer.action_probability.max(axis=1)
    elif answer.action_std is not None:
        for k, name in enumerate(schema.action.names):
            columns[name], columns[f"{name}_std"] = answer.action[:, k], answer.action_std[:, k]
    if schema.has_reward:
        columns |= {"value": answer.value, "value_std": answer.value_std}
    if answer.derivative is not None:
        columns |= {f"derivative_{name}": answer.derivative[:, f] for f, name in enumerate(schema.feature_names)}
    columns |= {"leaf": answer.leaf, "count": answer.count, "outside": answer.outside.astype(int)}
    return {name: column.tolist() for name, column in columns.items()}


@command(
    'tripletree attribute run.tripletree --state "pos=1.2, speed=0.03"',
    'tripletree attribute run.tripletree --state "pos=1.2, speed=0.03" --about "action = left" --json',
    "tripletree attribute run.tripletree --log run.csv --episode 3 --step 12 --about value",
    "tripletree attribute run.tripletree --log run.csv --about value --method background",
)
@model_argument
@click.option(
    "--state",
    metavar="STATE",
    help='A state, such as "pos=1.2, speed=0.03" or 1.2,0.03. Features that are not named have the log\'s median.',
)
@log_option("Take the state, or many of them, from this log.")
@click.option("--episode", metavar="ID", help="Which episode of the log.  [default: all, or the first with --step]")
@click.option("--step", type=int, metavar="N", help="Which step of the episode, from 0.  [default: all]")
@about_option
@click.option(
    "--method",
    type=click.Choice(["path", "background"]),
    help="What stands in for features that the tree is not told: the share of samples that goes each way at a split, "
    "or other states.  [default: background if you give one, else path]",
)
@click.option(
    "--background",
    type=FILE,
    metavar="LOG",
    help="Take these other states from this log.  [default: what the model kept of its own]",
)
@json_option
def attribute(
    model: Path, about: str, method: str | None, background: Path | None, as_json: bool, **options: Any
) -> None:
    """Show how much each feature contributed to what the tree predicts (Shapley values).

    It is about one state, or in the mean about all of a log or an episode. Of a discrete action it is about the label
    that the tree predicts; --about "action = left" names another.
    """
    tree = open_model(model)
    path, describe, episode = options["log"], options["describe"], options["episode"]
    states: Any
    if path is not None and options["state"] is None and options["step"] is None:
        states = required_log(tree, path, describe)
        states = states if episode is None else states.select([episode_of(states, episode)])
    else:
        states = state_of(tree, **options)
    others = log_of(tree, background, describe)
    console.answer(tree.attribute(states, about, method=method, background=others), as_json)


@command(
    'tripletree explain run.tripletree --state "pos=1.2, speed=0.03"',
    'tripletree explain run.tripletree --state "pos=1.2, speed=0.03" --foil "action = left" --fixed pos',
    "tripletree explain run.tripletree --log run.csv --episode 3 --step 12 --about value",
    "tripletree explain run.tripletree --state 1.2,0.03 --then 1.2,-0.03",
    "tripletree explain run.tripletree --state 1.2,0.03 --stability --log run.csv",
    'tripletree explain run.tripletree states.csv --foil "action = left" > changed.csv',
)
@model_argument
@click.argument("states", type=FILE, required=False)
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
@click.option(
    "--opinion/--no-opinion",
    default=True,
    show_default=True,
    help="Whether a second model of the log must agree; without one, the nearest border is the answer.",
)
@click.option("--then", "after", metavar="STATE", help="Explain why the prediction changed on the way to this state.")
@stability_option
@json_option
def explain(
    model: Path,
    states: Path | None,
    about: str,
    foil: str | None,
    after: str | None,
    opinion: bool,
    stability: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Explain why the agent does what it does in a state, what would change that, or why it changed.

    STATES is a file as in `tripletree predict`. With --foil, the answer is CSV with a line for each state: the leaf
    that the smallest change leads to, and the changed state.
    """
    chosen = {name: options.pop(name) for name in WITH_FOIL}
    chosen = {name: value for name, value in chosen.items() if value not in (None, [], {})}
    if chosen and foil is None:
        name = next(iter(chosen)).replace("_", "-")
        raise click.UsageError(f"{'-k' if name == 'k' else f'--{name}'} goes with --foil FOIL.")
    if foil is not None and after is not None:
        raise click.UsageError("Give --foil or --then, not both.")
    if stability and (after is not None or states is not None or options["log"] is None):
        raise click.UsageError("--stability is about one state, without --then, and needs --log LOG.")
    if foil is not None and about != "action":
        raise click.UsageError("--about goes without --foil: the foil says what it is about.")
    tree = open_model(model)
    if states is not None:
        if foil is None or "k" in chosen or any(value is not None for value in options.values()):
            raise click.UsageError("A file of states goes with --foil FOIL, and with neither -k nor a single state.")
        many = tree.counterfactuals(table_of(states), foil, opinion=opinion, **chosen)
        console.show_json(many.to_dict()) if as_json else console.show_csv(_changed(tree, many))
        return
    log = log_of(tree, options["log"], options["describe"]) if stability else None
    if stability and options["state"] is not None:
        # The log is there for the trees alone.
        options |= {"log": None, "describe": None}
    state = state_of(tree, **options)
    answer: object
    if after is not None:
        answer = tree.explain_change(state, after, about=about, opinion=opinion)
    elif foil is not None:
        answer = tree.explain(state, foil, opinion=opinion, stability=stability, log=log, **chosen)
    else:
        answer = tree.explain(state, about=about, stability=stability, log=log)
    console.answer(answer, as_json)


def _changed(tree: TripleTree, answer: Counterfactuals) -> dict[str, Any]:
    status = [
        "already" if has else "found" if found else "not found"
        for has, found in zip(answer.already, answer.found, strict=True)
    ]
    leaves = {"leaf": answer.leaf.tolist(), "foil_leaf": answer.foil_leaf.tolist()}
    names = tree.fitted_.schema.feature_names
    return {"status": status, **leaves, **dict(zip(names, answer.foil_states.T.tolist(), strict=True))}


@command(
    "tripletree changes run.tripletree --log run.csv --episode 3",
    "tripletree changes run.tripletree --log run.csv --about value --threshold 1 --json",
)
@model_argument
@log_option("Go through the episodes of this log.", required=True)
@click.option("--episode", metavar="ID", help="Go through this episode only.  [default: all]")
@about_option
@click.option("--threshold", type=float, help="A number counts as changed when it crosses this.")
@click.option("--at-least", type=float, default=0.0, show_default=True, help="Leave out smaller changes of a number.")
@json_option
def changes(
    model: Path,
    log: Path,
    describe: Path | None,
    episode: str | None,
    about: str,
    threshold: float | None,
    at_least: float,
    as_json: bool,
) -> None:
    """Explain each time that the prediction changes along the episodes of a log."""
    tree = open_model(model)
    recorded = required_log(tree, log, describe)
    if episode is not None:
        recorded = recorded.select([episode_of(recorded, episode)])
    found = tree.explain_changes(recorded, about=about, threshold=threshold, at_least=at_least)
    console.answer(found, as_json)
    if not as_json and episode is not None:
        console.say(*(f"Step {row}: {one}" for row, one in zip(found.step.tolist(), found, strict=True)))


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
@click.option("--most", type=int, default=6, show_default=True, metavar="N", help="Maximum number of phases.")
@json_option
def story(
    model: Path,
    log: Path | None,
    describe: Path | None,
    episode: str | None,
    start: str | None,
    end: str | None,
    about: str,
    levels: Any,
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
    "tripletree criticality run.tripletree --log run.csv",
    'tripletree criticality run.tripletree --log run.csv --state "pos=1.2, speed=0.03"',
    "tripletree criticality run.tripletree --log run.csv --episode 3 --json",
)
@model_argument
@log_option("Whose episodes to compare: the log that the model was grown on, or another.", required=True)
@click.option("--state", metavar="STATE", help="Ask about states like this one.")
@click.option("--episode", metavar="ID", help="Show the few moments of this episode at which the choice matters.")
@json_option
def criticality(
    model: Path, log: Path, describe: Path | None, state: str | None, episode: str | None, as_json: bool
) -> None:
    """Show where the choice matters, and the moments of an episode because of it.

    The choice matters where what the agent did went with how well it fared afterwards. Compared are episodes that did
    different things in like states; where the log has none, it cannot be told.
    """
    if state is not None and episode is not None:
        raise click.UsageError("Give --state or --episode, not both.")
    tree = open_model(model)
    recorded = required_log(tree, log, describe)
    if state is not None:
        console.answer(tree.criticality(recorded, state=state), as_json)
    elif episode is not None:
        console.answer(tree.criticality(recorded, episode=episode_of(recorded, episode)), as_json)
    else:
        console.answer(tree.criticality(recorded), as_json)


@command(
    "tripletree rules run.tripletree",
    "tripletree rules run.tripletree --log run.csv --max-rules 4",
    "tripletree rules run.tripletree --about value --max-rules all",
    'tripletree rules run.tripletree --about "derivative of speed" --json',
)
@model_argument
@about_option
@levels_option
@click.option(
    "--max-rules",
    default="7",
    show_default=True,
    callback=_count_or_all,
    metavar="N",
    help="Maximum number of rules for each dimension; all: the whole tree as rules.",
)
@click.option("--most", type=int, hidden=True)
@log_option("Make rules about this log, judged by episodes that they were not made from; without it, about the tree.")
@json_option
def rules(
    model: Path,
    about: str,
    levels: Any,
    max_rules: int | None,
    most: int | None,
    log: Path | None,
    describe: Path | None,
    as_json: bool,
) -> None:
    """Show what the agent does as a few rules: "if ..., else if ..., else ..."."""
    tree = open_model(model)
    recorded = log_of(tree, log, describe)
    console.answer(tree.rules(about=about, levels=levels, log=recorded, max_rules=max_rules, most=most), as_json)
