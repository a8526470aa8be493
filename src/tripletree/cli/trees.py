"""Models at the command line: ``grow`` makes one from a log, ``weights`` helps to, ``info`` shows what it holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tripletree.checks import PARAMETERS
from tripletree.cli import console
from tripletree.cli.command import command, import_ahead, json_option, model_argument, out_option, seed_option
from tripletree.cli.inputs import FILE, log_options, mind_names, open_model, reading, too_large
from tripletree.text import count

if TYPE_CHECKING:
    from tripletree.api import TripleTree
    from tripletree.log.disk import DiskLog
    from tripletree.log.log import Log
    from tripletree.model.fitted import Fitted

ATTRIBUTES = ("action", "value", "derivative")
LEAST_EPISODES = 5
"""With fewer, a fifth of them would be none."""
EPISODE = "episode"
"""Given for --weights: every episode counts the same. A column of that name would hold the episodes' numbers."""
EXECUTORS = ("threads", "processes", "dask")
RESOURCES = ("memory", "executor", "workers", "scheduler", "cache", "sample")
"""Options of `open_log`: with any of them, a log on disk is not read whole."""
SIZES = (1, 10, 50, 100, 200, 500, 1_000)


def _theta(_: click.Context, __: click.Parameter, given: str) -> tuple[float, ...]:
    try:
        return tuple(float(weight) for weight in given.split(","))
    except ValueError:
        raise click.BadParameter(f"`{given}` is not three numbers with commas, such as 0.2,0.6,0.2.") from None


def _lags(_: click.Context, __: click.Parameter, given: str | None) -> tuple[int, ...]:
    try:
        return tuple(int(lag) for lag in given.split(",")) if given else ()
    except ValueError:
        raise click.BadParameter(f"`{given}` is not whole numbers with commas, such as 1,5.") from None


def _choice(name: str) -> click.Choice[str]:
    return click.Choice(PARAMETERS[name].choices)


@command(
    "tripletree grow run.csv -o run.tripletree",
    "tripletree grow run.csv -o run.tripletree --validation 0.2 --max-leaves 500",
    "tripletree grow run.csv -o run.tripletree --theta 0.2,0.6,0.2 --gamma 0.95 --describe run.toml",
    "tripletree grow run.csv -o run.tripletree --weights episode",
    "tripletree grow run.csv -o run.tripletree --lags 1,5",
    "tripletree grow run.csv -o run.tripletree --costs left,right=5",
    "tripletree grow fleet/ -o fleet.tripletree --memory 2GB",
)
@click.argument("log", type=FILE)
@out_option("Where the model goes; an existing file is replaced.", required=True)
@click.option("--max-leaves", type=int, default=1000, show_default=True, help="Maximum leaves.")
@click.option(
    "--validation",
    metavar="SHARE|LOG|none",
    default="0.2",
    show_default=True,
    help="Find the best size on this share of the episodes, held out, or on another log; none: as large as allowed.",
)
@seed_option
@click.option(
    "--theta", callback=_theta, default="1,1,1", show_default=True, help="Weights of action, value and derivative."
)
@click.option("--gamma", type=float, default=0.99, show_default=True, help="Discount factor of the value.")
@click.option(
    "--weights",
    metavar="COLUMN|episode",
    help="How much each row counts: a column of the log, or episode: every episode counts the same in total.",
)
@click.option(
    "--costs",
    multiple=True,
    metavar="TRUE,TOLD=COST",
    help="What it costs to take one action for another, such as left,right=3; pairs that are not named cost 1. "
    "Repeatable.",
)
@click.option(
    "--lags",
    callback=_lags,
    metavar="N,N",
    help="Put the past into the state: what features and actions were so many steps ago.",
)
@click.option("--min-samples-leaf", type=int, default=1, show_default=True, help="Minimum samples per leaf.")
@click.option("--max-depth", type=int, help="Maximum depth: splits above a leaf.  [default: no limit]")
@click.option("--min-quality", type=float, default=0.0, show_default=True, help="Minimum quality of a split.")
@click.option("--early-stopping/--no-early-stopping", default=True, help="With --validation, keep the best size.")
@click.option(
    "--truncation",
    type=_choice("truncation"),
    default="bootstrap",
    show_default=True,
    help="What follows the end of a truncated episode: the tree's own value, or nothing (paper).",
)
@click.option(
    "--priority", type=_choice("priority"), default="impurity", show_default=True, help="Which leaf is split next."
)
@click.option(
    "--thresholds",
    type=_choice("thresholds"),
    default="short",
    show_default=True,
    help="Put a threshold at a short number in its gap, or in the middle.",
)
@click.option(
    "--derivative-scale",
    type=_choice("derivative_scale"),
    default="sigma",
    show_default=True,
    help="Divide derivatives by their standard deviation (sigma), or by its root (paper).",
)
@click.option(
    "--mode",
    type=_choice("mode"),
    default="exact",
    show_default=True,
    help="All thresholds, or those of a histogram.",
)
@click.option("--bins", type=int, default=1024, show_default=True, help="Bins of the histogram.")
@click.option(
    "--leaf-model",
    type=_choice("leaf_model"),
    default="linear",
    show_default=True,
    help="What a leaf predicts: a linear model of the state, or the mean of its samples.",
)
@click.option(
    "--leaf-features", type=int, metavar="N", help="Maximum features in each linear model.  [default: all of them]"
)
@click.option(
    "--keep",
    type=_choice("keep"),
    default="track",
    show_default=True,
    help="What the file keeps of the log: its states, coded (track), how it goes from leaf to leaf, or neither.",
)
@click.option("--threads", type=int, help="Threads to use.  [default: all cores]")
@click.option("--memory", metavar="SIZE", help="Grow on Parquet files without reading them whole, with so much: 2GB.")
@click.option(
    "--executor", type=click.Choice(EXECUTORS), help="The same, and who works: threads of this process, or others."
)
@click.option("--workers", type=int, metavar="N", help="The same, and how many of them.  [default: all cores]")
@click.option("--scheduler", metavar="ADDRESS", help="The same, on a running Dask cluster: tcp://10.0.0.1:8786.")
@click.option("--cache", metavar="FOLDER", help="The same, and where its cache goes and stays.")
@click.option("--sample", type=int, metavar="N", help="The same, grown on about so many steps of random episodes.")
@log_options
@json_option
def grow(
    log: Path,
    out: Path,
    validation: str,
    seed: int,
    as_json: bool,
    weights: str | None,
    lags: tuple[int, ...],
    **options: Any,
) -> None:
    """Grow a tree on a log and save it.

    LOG is a .csv, .tsv, .parquet, .npz or .hdf5 file with one row per step, a folder of such tables, or the name of a
    Minari dataset; `tripletree check LOG` shows how it is read.
    """
    from tripletree.log.files import read_log

    roles = reading(options) | ({} if weights in (None, EPISODE) else {"weight": weights})
    resources = {name: options.pop(name) for name in RESOURCES}
    if any(given is not None for given in resources.values()) or too_large(log):
        if lags:
            raise click.UsageError("--lags needs the log in memory: leave it out, or the options for a log on disk.")
        _grow_on_disk(log, out, validation, seed, resources, roles, options, as_json, alike=weights == EPISODE)
        return
    import_ahead("tripletree.api", "tripletree.questions.judge")
    recorded = read_log(log, **roles)
    mind_names(recorded.schema)
    recorded = recorded.weighted(EPISODE) if weights == EPISODE else recorded
    recorded = recorded.with_lags(lags) if lags else recorded
    training, held_out = _held_out(recorded, validation, seed, roles)
    held_out = held_out.with_lags(lags) if held_out and lags and not held_out.schema.lags else held_out
    held_out = held_out.weighted(EPISODE) if held_out and weights == EPISODE else held_out
    options["costs"] = _costs(options["costs"], recorded.schema.action.labels)
    from tripletree.api import TripleTree
    from tripletree.model.beside import beside
    from tripletree.model.fit import available_cores, still_falling

    with beside(options["threads"] or available_cores()) as start:
        start(lambda: recorded.hashes)  # which the judge tells episodes by
        with console.growing() as progress:
            tree = TripleTree(**options, progress=progress).fit(training, held_out)
        kept = tree.fitted_.track
        start(lambda: None if kept is None else kept.smallest)  # which is saved
        judged = tree.held_out(recorded)
    tree.save(out)
    if as_json:
        console.show_json({"model": str(out), **summary(tree)})
        return
    samples, episodes = count(training.n_samples, "sample"), count(training.n_episodes, "episode")
    chose = "" if held_out is None else f"; {count(held_out.n_episodes, 'other episode')} chose its size"
    leaves = count(tree.n_leaves_, "leaf", "leaves")
    how = ", weighted" if tree.fitted_.attributes.weight is not None else ""
    console.say(f"A tree of {leaves}, grown on {samples} in {episodes}{how}{chose}.", "")
    console.show(*goodness(tree))
    console.say(str(judged), "")
    if still_falling(tree.fitted_):
        limit = int(options["max_leaves"])
        console.note(
            f"Growth ended at the limit of {count(limit, 'leaf', 'leaves')} while the loss was still falling on the "
            f"episodes that choose the size. Try --max-leaves {4 * limit}."
        )
    console.show_wide(f"The model is in {out}. See what it holds: tripletree info {out}")


def _grow_on_disk(
    log: Path,
    out: Path,
    validation: str,
    seed: int,
    resources: dict[str, Any],
    roles: dict[str, Any],
    options: dict[str, Any],
    as_json: bool,
    *,
    alike: bool,
) -> None:
    """Grow a tree on Parquet files that are not read whole; episodes may be told to count alike."""
    from tripletree.api import TripleTree
    from tripletree.log.disk import open_log
    from tripletree.scale.plan import plan

    given = {name: value for name, value in resources.items() if value is not None}
    options["costs"] = _costs(options["costs"], ())
    with console.passing() as progress:  # columns of text are read
        opened = open_log(log, **given, progress=progress, **roles)
    opened = opened.weighted(EPISODE) if alike else opened
    expected = plan(opened, {"max_leaves": options["max_leaves"], "bins": options["bins"]})
    console.note(str(expected))
    with console.passing(expected.seconds) as progress:
        opened = replace(opened, how=replace(opened.how, progress=progress))
        training, held_out = _held_out_on_disk(opened, validation, seed, given, roles)
        held_out = held_out.weighted(EPISODE) if held_out is not None and alike else held_out
        chooses, judges = _halves(held_out, seed)
        tree = TripleTree(**options).fit(training, chooses)
        judged = None if judges is None else tree.held_out(judges)
    tree.save(out)
    if as_json:
        console.show_json({"model": str(out), **summary(tree)})
        return
    made = tree.fitted_.provenance
    samples, episodes = count(made["samples"], "sample"), count(made["episodes"], "episode")
    chose = "" if chooses is None else f"; {count(chooses.n_samples, 'sample')} of other episodes chose its size"
    leaves = count(tree.n_leaves_, "leaf", "leaves")
    how = ", weighted" if tree.fitted_.attributes.weight is not None else ""
    console.say(f"A tree of {leaves}, grown on {samples} in {episodes} on disk{how}{chose}.", "")
    console.show(*goodness(tree))
    if judged is not None:
        console.say(str(judged), "")
    console.show_wide(f"The model is in {out}. See what it holds: tripletree info {out}")


def _held_out_on_disk(
    log: DiskLog, validation: str, seed: int, given: dict[str, Any], roles: dict[str, Any]
) -> tuple[DiskLog, Log | DiskLog | None]:
    """Return the training and the validation log, as `_held_out` does."""
    from tripletree.log.disk import open_log
    from tripletree.log.files import read_log
    from tripletree.log.runs import find_episodes

    if validation == "none":
        return log, None
    if validation == "0.2" and find_episodes(log).n_episodes < LEAST_EPISODES:
        console.note("There are too few episodes to hold some of them out and choose the tree's size on them.")
        return log, None
    try:
        share = float(validation)
    except ValueError:
        other = Path(validation)
        return log, open_log(other, **given, **roles) if too_large(other) else read_log(other, **roles)
    return log.split(share, seed)


def _halves(held_out: Log | DiskLog | None, seed: int) -> tuple[Log | DiskLog | None, Log | DiskLog | None]:
    """Return the held-out episodes that choose the tree's size, and those that say how good it is, if there are enough.

    In memory a second tree is grown for that; here held-out episodes are many, and a second growth takes long.
    """
    from tripletree.log.disk import DiskLog
    from tripletree.log.runs import find_episodes

    if held_out is None:
        return None, None
    if not isinstance(held_out, DiskLog):
        number = held_out.n_episodes
    elif held_out.only is not None:
        number = int(held_out.only.episodes.sum())
    else:
        number = find_episodes(held_out).n_episodes
    return held_out.split(0.5, seed) if number >= 2 * LEAST_EPISODES else (held_out, None)


def _costs(given: Sequence[str], labels: Sequence[str]) -> dict[tuple[str, str], float] | None:
    """Read TRUE,TOLD=COST, several times; labels may have commas and = in them."""
    found: dict[tuple[str, str], float] = {}
    for text in given:
        names, _, number = text.rpartition("=")
        parts = names.split(",")
        pairs = [(",".join(parts[:k]).strip(), ",".join(parts[k:]).strip()) for k in range(1, len(parts))]
        # Of several commas, the one between two labels; otherwise the first, and the library says what is wrong.
        pair = next((pair for pair in pairs if set(pair) <= set(labels)), pairs[0] if pairs else ("", ""))
        try:
            cost = float(number)
        except ValueError:
            cost = float("nan")
        if not all(pair) or cost != cost:
            raise click.UsageError(
                f"--costs `{text}` is not TRUE,TOLD=COST: an action, what it is taken for, and a number."
            )
        if pair in found:
            raise click.UsageError(f"--costs has two costs for `{pair[1]}` in place of `{pair[0]}`: give one.")
        found[pair] = cost
    return found or None


def _held_out(log: Log, validation: str, seed: int, roles: dict[str, Any]) -> tuple[Log, Log | None]:
    """Return the training and the validation log."""
    from tripletree.log.files import read_log

    if validation == "none":
        return log, None
    if log.n_episodes < LEAST_EPISODES and validation == "0.2":
        console.note(
            f"The log has {count(log.n_episodes, 'episode')}, too few to hold some of them out and choose the tree's "
            "size on them."
        )
        return log, None
    try:
        share = float(validation)
    except ValueError:
        return log, read_log(validation, **roles)
    return log.split(share, seed)


def _sizes(_: click.Context, __: click.Parameter, given: str) -> tuple[int, ...]:
    try:
        return tuple(int(size) for size in given.split(","))
    except ValueError:
        raise click.BadParameter(f"`{given}` is not whole numbers with commas, such as 10,50,200.") from None


@command(
    "tripletree weights run.csv --leaves 10,30 --steps 3",
    "tripletree weights run.csv --validation 0.2 --leaves 10 --steps 2 --json",
)
@click.argument("log", type=FILE)
@click.option(
    "--validation",
    metavar="SHARE|LOG|none",
    default="0.2",
    show_default=True,
    help="Judge on this share of the episodes, held out, or on another log; none: on the training episodes themselves.",
)
@seed_option
@click.option(
    "--leaves", callback=_sizes, default="10,30,100,200", show_default=True, metavar="N,N", help="Sizes to compare at."
)
@click.option(
    "--steps",
    type=int,
    default=5,
    show_default=True,
    help="Steps from 0 to 1 of each weight: 5 for 21 trees, 10 for 66.",
)
@click.option("--gamma", type=float, help="Discount factor of the value, as in `tripletree grow`.")
@click.option("--truncation", type=_choice("truncation"), help="As in `tripletree grow`.")
@click.option("--threads", type=int, help="Threads to use.  [default: all cores]")
@log_options
@json_option
def weights(
    log: Path,
    validation: str,
    seed: int,
    leaves: tuple[int, ...],
    steps: int,
    as_json: bool,
    **options: Any,
) -> None:
    """Compare the weights of action, value and derivative: which keep the worst of the three losses small.

    Grows one tree for each set of weights; LOG is read as in `tripletree grow`.
    """
    from tripletree.api import compare_weights
    from tripletree.log.files import read_log

    roles = reading(options)
    training, held_out = _held_out(read_log(log, **roles), validation, seed, roles)
    chosen = {name: value for name, value in options.items() if value is not None}
    with console.progress_bar("Comparing weights", "trees") as progress:
        answer = compare_weights(training, held_out, leaves=leaves, steps=steps, progress=progress, **chosen)
    console.answer(answer, as_json)


@command(
    "tripletree info run.tripletree",
    "tripletree info run.tripletree --leaves > leaves.csv",
)
@model_argument
@click.option("--leaves", is_flag=True, help="Print every leaf with its box and predictions, as CSV.")
@click.option("--curve", is_flag=True, help="Print the losses at every size, as CSV.")
@json_option
def info(model: Path, leaves: bool, curve: bool, as_json: bool) -> None:
    """Show what a model holds and how good it is."""
    tree = open_model(model)
    if leaves or curve:
        if leaves and curve:
            raise click.UsageError("Give --leaves or --curve, not both.")
        table = tree.leaves_ if leaves else tree.curve_
        console.show_json(table.to_dict()) if as_json else console.show_csv(table.to_dict())
    elif as_json:
        console.show_json({"model": str(model), **summary(tree)})
    else:
        _facts(tree, model)


def _facts(tree: TripleTree, model: Path) -> None:
    from tripletree.language.numbers import unit
    from tripletree.log.schema import kind_seen

    fitted = tree.fitted_
    from tripletree.answers.leaf_model import leaf_sentence
    from tripletree.tree.costs import in_words

    schema, made, options = fitted.schema, fitted.provenance, fitted.options
    action = schema.action
    features = [
        f"{feature.name} ({kind_seen(feature, low, high)}, {_range(low, high)}{unit(feature.unit)})"
        for feature, low, high in zip(schema.features, fitted.feature_min, fitted.feature_max, strict=True)
    ]
    dimensions = [
        f"{name}{f' in {unit}' if unit else ''}" for name, unit in zip(action.names, action.units, strict=True)
    ]
    acts = f"{action.names[0]}: {', '.join(action.labels)}" if action.labels else ", ".join(dimensions)
    theta = ", ".join(f"{weight:g}" for weight in options["theta"])
    samples, sha = count(made.get("samples", 0), "sample"), str(made.get("log_sha256", "unknown"))[:16]
    weighted = ", weighted" if fitted.attributes.weight is not None else ""
    rest = [f"{name}={options[name]}" for name in ("truncation", "priority", "mode") if name in options]
    console.show(
        console.facts(
            ("model", f"{model}, {count(tree.n_leaves_, 'leaf', 'leaves')}, depth {int(tree.tree_.depth.max())}"),
            ("log", f"{samples} in {count(made.get('episodes', 0), 'episode')}{weighted}, sha256 {sha}"),
            ("features", "\n".join(features)),
            ("action", f"{acts} ({action.kind})" if schema.has_action else "not in the log"),
            *([] if schema.has_reward else [("reward", "not in the log")]),
            ("grown with", f"theta={theta}, gamma={options['gamma']:g}, {', '.join(rest)}"),
            *([] if fitted.costs is None else [("costs", in_words(options["costs"]))]),
            ("leaves", leaf_sentence(fitted)),
            ("made by", ", ".join(f"{name} {made[name]}" for name in ("tripletree", "numpy") if name in made)),
            ("holds", held(fitted)),
        ),
        "",
        *goodness(tree),
        "What matters",
    )
    from tripletree.answers.importance import lines

    shares = fitted.judged.explained if fitted.judged is not None else (None,) * len(ATTRIBUTES)
    important = tree.importance()
    told = iter(lines(important))
    for name, known, share, varies in zip(ATTRIBUTES, important.recorded, shares, fitted.varies, strict=True):
        line = next(told) if known else ""
        if not (known and varies):
            continue
        chance = f"{name.capitalize()}: nothing that tells more about unseen episodes than chance."
        console.say(chance if share == 0 else line)
    if fitted.transitions is None and fitted.track is None:
        console.note("The model does not hold how the log moves on it: chance, paths and simulate need --log.")


def held(fitted: Fitted) -> str:
    """Return what a model holds of its log, in words: whoever passes a file on should know."""
    track = fitted.track
    if track is None:
        moves = "" if fitted.transitions is None else ", and how often it goes from leaf to leaf"
        why = ", for which there was no room" if fitted.options.get("keep") == "track" else ""
        return f"no episodes of the log{why}: only statistics of its leaves{moves}"
    every = max(fitted.provenance.get("episodes", 0), track.n_episodes)
    episodes = count(every, "episode") if every == track.n_episodes else f"{track.n_episodes:,} of {every:,} episodes"
    if track.first is not None:
        each = f"of {count(int(track.starts[1]), 'step')} each"
        episodes = (
            f"{count(track.n_episodes, 'stretch', 'stretches')} {each}, cut out of recordings that are too long to be "
            "kept whole"
        )
    if track.groups is not None:
        name, *labels = track.group_names
        episodes += f", and of which {count(len(labels), 'group')} (`{name}`) they are"
    size = "one byte" if track.bins.max() <= 256 else "one or two bytes"
    return (
        f"states of {episodes} ({size} a feature and step): anyone who has the file can read them; grow with --keep "
        "leaves to leave them out"
    )


def _range(low: float, high: float) -> str:
    from tripletree.language.numbers import rounded

    return f"{rounded(low)} to {rounded(high)}" if low < high else rounded(low)


def summary(tree: TripleTree) -> dict[str, Any]:
    """Return everything that `tripletree info` shows, as JSON types."""
    fitted, curve = tree.fitted_, tree.curve_
    track = fitted.track
    here = tree.n_leaves_ - 1
    return {
        "leaves": tree.n_leaves_,
        "depth": int(tree.tree_.depth.max()),
        "schema": fitted.schema.to_dict(),
        "range": {
            name: [float(low), float(high)]
            for name, low, high in zip(fitted.schema.feature_names, fitted.feature_min, fitted.feature_max, strict=True)
        },
        "losses": {
            side: {name: float(curve[f"{side}_{name}"][here]) for name in ATTRIBUTES}
            for side in ("training", "validation")
            if f"{side}_action" in curve.columns
        },
        "judged": None if fitted.judged is None else fitted.judged._asdict(),
        "importance": tree.importance().to_dict(),
        "options": fitted.options,
        "provenance": fitted.provenance,
        "transitions": fitted.transitions is not None or track is not None,
        "track": None
        if track is None
        else {"episodes": track.n_episodes, "samples": track.n_samples, "bytes": track.packed.nbytes},
        "holds": held(fitted),
    }


def goodness(tree: TripleTree) -> list[Any]:
    """Return what a tree gets wrong on unseen episodes, and how its size was chosen, each as far as it is known."""
    from rich.text import Text

    fitted = tree.fitted_
    judged = fitted.judged
    shares = fitted.schema.action.kind == "discrete" and fitted.costs is None
    wrong = "wrong" if shares else "action" if fitted.costs is None else "cost"
    parts: list[Any] = []
    if judged is None:
        parts += [
            Text("How good it is on unseen episodes was not measured. Try: tripletree report"),
            "",
        ]
    else:
        rows = [(("the tree", "bold"), judged.losses), (("one leaf", ""), judged.constant)]
        kept = [whole > 0 for whole in judged.constant]
        title = f"What it gets wrong on {count(judged.episodes, 'unseen episode')}"
        parts += [Text(title, "bold"), _losses("", rows, kept, wrong), ""]
    if fitted.curve_validation is not None:
        most = len(fitted.curve_validation)
        sizes = sorted({*(size for size in SIZES if size < most), tree.n_leaves_, most})
        rows = [
            ((f"{size:,}", "bold" if size == tree.n_leaves_ else ""), fitted.curve_validation[size - 1].tolist())
            for size in sizes
        ]
        kept = [bool(whole > 0) for whole in fitted.curve_validation[0]]
        parts += [Text("On the episodes that chose its size", "bold"), _losses("leaves", rows, kept, wrong), ""]
    if len(parts) > 2 or judged is not None:
        action = "share of actions" if shares else "sum of RMSE / sigma of the actions"
        action = action if fitted.costs is None else "mean cost of the actions"
        names = (action, "RMSE of the value", "sum of RMSE / sigma of the derivatives")
        says = ", ".join(name for name, keep in zip(names, kept, strict=True) if keep)
        if fitted.curve_validation is not None:
            says += "; where the size was chosen, the best looks a little better than it is"
        parts[-1:] = [Text(says, "dim italic"), ""]
    return parts


def _losses(head: str, rows: list[Any], kept: list[bool], action: str) -> Any:
    names = (action, "value", "deriv.")
    table = console.table("", head, *(name for name, keep in zip(names, kept, strict=True) if keep))
    for (label, style), losses in rows:
        cells = [
            f"{loss:{'.2%' if name == 'wrong' else '.4g'}}"
            for name, loss, keep in zip(names, losses, kept, strict=True)
            if keep
        ]
        table.add_row(label, *cells, style=style)
    return table
