"""A model to look at: ``tripletree plot`` draws pictures, ``tripletree report`` writes one file to read or to mail."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from tripletree.checks import listing
from tripletree.cli import console
from tripletree.cli.command import command, import_ahead, model_argument, out_option
from tripletree.cli.inputs import episode_of, listed, log_of, log_option, open_model, required_log, written_state
from tripletree.errors import ParameterError

if TYPE_CHECKING:
    from tripletree.api import TripleTree

ENDINGS = (".png", ".pdf", ".svg")


def _map(
    tree: TripleTree,
    *,
    describe: Path | None,
    x: str | None,
    y: str | None,
    colour: str | None,
    arrows: bool,
    linear: bool,
    where: str | None,
    at: str | None,
    state: tuple[str, ...],
    zone: tuple[str, ...],
    log: Path | None,
    episode: str | None,
) -> Any:
    from tripletree.plot import leaf_map

    first = tree.fitted_.schema.feature_names[0] if x is None else x
    recorded = log_of(tree, log, describe)
    picture = leaf_map(
        tree, first, y, colour=colour or "action", arrows=arrows, linear=linear, where=where, at=at, log=recorded
    )
    if recorded is not None and episode is None:
        picture = picture.samples(recorded)
    elif recorded is not None:
        picture = picture.episodes(recorded, episode_of(recorded, episode))
    for place in zone:
        picture = picture.zone(place)
    for point in state:
        picture = picture.state(written_state(tree, point))
    return picture


def _overview(tree: TripleTree, log: Path | None = None, describe: Path | None = None) -> Any:
    from tripletree.plot import overview

    return overview(tree, log=log_of(tree, log, describe))


def _curves(tree: TripleTree, log: Path | None = None, describe: Path | None = None) -> Any:
    from tripletree.plot import curves

    return curves(tree, validation=log_of(tree, log, describe))


def _tree(tree: TripleTree, depth: int | None) -> Any:
    from tripletree.plot import tree as diagram

    return diagram(tree) if depth is None else diagram(tree, depth)


def _transitions(
    tree: TripleTree, x: str | None, y: str | None, colour: str | None, log: Path | None, describe: Path | None
) -> Any:
    from tripletree.plot import transitions

    return transitions(tree, x, y, colour=colour or "value", log=log_of(tree, log, describe))


def _after(
    tree: TripleTree,
    steps: int | None,
    start: str | None,
    x: str | None,
    y: str | None,
    colour: str | None,
    log: Path | None,
    describe: Path | None,
) -> Any:
    from tripletree.plot import after, leaf_map

    steps = 100 if steps is None else steps
    recorded = log_of(tree, log, describe)
    if x is None and y is None:
        return after(tree, steps, start, log=recorded)
    first = tree.fitted_.schema.feature_names[0] if x is None else x
    return leaf_map(tree, first, y, colour=colour or "value", log=recorded).after(steps, start, log=recorded)


def _importance(tree: TripleTree) -> Any:
    from tripletree.plot import importance

    return importance(tree)


def _effects(
    tree: TripleTree, about: str | None, features: list[str], stability: bool, log: Path | None, describe: Path | None
) -> Any:
    from tripletree.plot import effects

    recorded = log_of(tree, log, describe)
    return effects(tree.effects(recorded, about=about or "action", features=features or None, stability=stability))


def _attribution(tree: TripleTree, about: str | None, state: tuple[str, ...]) -> Any:
    from tripletree.asking.states import complete
    from tripletree.plot import attribution

    if len(state) != 1:
        raise click.UsageError("A picture of kind attribution is about one state: give --state once.")
    return attribution(tree, complete(state[0], tree.fitted_, "state"), about=about or _first_about(tree))


def _beeswarm(tree: TripleTree, about: str | None, log: Path | None, describe: Path | None) -> Any:
    from tripletree.plot import beeswarm

    if log is None:
        raise click.UsageError("A picture of kind beeswarm shows the states of a log: give --log LOG.")
    return beeswarm(tree, required_log(tree, log, describe), about=about or _first_about(tree))


def _first_about(tree: TripleTree) -> str:
    from tripletree.asking.attribute import main_attributes

    return next(iter(main_attributes(tree.fitted_)), "action")


# What draws each kind, and the options that it takes.
KINDS: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
    "overview": (_overview, ("log", "describe")),
    "map": (
        _map,
        ("x", "y", "colour", "arrows", "linear", "where", "at", "state", "zone", "log", "describe", "episode"),
    ),
    "tree": (_tree, ("depth",)),
    "transitions": (_transitions, ("x", "y", "colour", "log", "describe")),
    "after": (_after, ("steps", "start", "x", "y", "colour", "log", "describe")),
    "importance": (_importance, ()),
    "effects": (_effects, ("about", "features", "stability", "log", "describe")),
    "attribution": (_attribution, ("about", "state")),
    "beeswarm": (_beeswarm, ("about", "log", "describe")),
    "curves": (_curves, ("log", "describe")),
}


@command(
    "tripletree plot overview run.tripletree -o overview.png",
    "tripletree plot tree run.tripletree --depth 2 -o tree.svg",
    "tripletree plot map run.tripletree -x pos -y speed --colour value --arrows -o value.png",
    'tripletree plot map run.tripletree -x pos --where "speed in [0, 0.05]" -o action.svg',
    "tripletree plot map run.tripletree -x pos -y speed --log run.csv --episode 3 -o episode.pdf",
    "tripletree plot beeswarm run.tripletree --log run.csv --about value -o beeswarm.png",
    'tripletree plot after run.tripletree --steps 50 --from "pos=1.2, speed=0" -o fan.png',
)
@click.argument("kind", metavar="KIND", type=click.Choice(list(KINDS)))
@model_argument
@out_option("Where the picture goes: a .png, .pdf or .svg file.", required=True)
@click.option("-x", metavar="FEATURE", help="Feature along the first axis.  [default: the first one]")
@click.option("-y", metavar="FEATURE", help="Feature along the second axis; without it, a curve along -x.")
@click.option(
    "--colour",
    "--color",
    metavar="ATTRIBUTE",
    help='action, value, "derivative of FEATURE", "impurity of value", density, count or leaf.  [default: action]',
)
@click.option("--depth", type=int, metavar="N", help="Levels of splits to show.  [default: 3]")
@click.option("--steps", type=int, metavar="N", help="Steps to look ahead.  [default: 100]")
@click.option("--from", "start", metavar="START", help="A state, leaf or zone.  [default: where episodes begin]")
@click.option("--about", metavar="ATTRIBUTE", help="What features move: action, value, ...  [default: action]")
@click.option("--features", multiple=True, callback=listed, metavar="NAME,NAME", help="Features whose effects to draw.")
@click.option("--stability", is_flag=True, help="Draw where the curves of another log would be; needs --log LOG.")
@click.option("--arrows", is_flag=True, help="Show mean moves as arrows.")
@click.option("--linear", is_flag=True, help="Shade each leaf by its linear model instead of its mean.")
@click.option("--where", metavar="ZONE", help='Limits of other features, such as "vx in [-0.1, 0.1]".')
@click.option("--at", metavar="STATE", help="Fix all other features as in this state.")
@click.option("--state", multiple=True, metavar="STATE", help="Mark a state, or tell its contributions. Repeatable.")
@click.option("--zone", multiple=True, metavar="ZONE", help="Outline a zone. Repeatable.")
@log_option("Draw samples of this log, or one episode; maps fade where it has no state. Or count its episodes.")
@click.option("--episode", metavar="ID", help="Draw this episode of the log.")
@click.pass_context
def plot(ctx: click.Context, /, kind: str, model: Path, out: Path, **options: Any) -> None:
    """Draw a picture of a model.

    \b
    KIND         options
    overview     --log      the whole tree on one sheet
    map          -x -y ...  along one or two features
    tree         --depth    its top levels
    transitions  -x -y      moves from leaf to leaf
                 --colour --log
    after        --steps    where it is over the next steps;
                 --from     with -x and -y, on a map
                 -x -y --colour --log
    importance              how much each feature matters
    effects      --about    how features move predictions
                 --features --stability --log
    attribution  --state    what a prediction comes from
                 --about
    beeswarm     --log      the same for states of a log
                 --about
    curves       --log      losses at every size
    """  # noqa: D301 - click's mark of lines that are kept as they are
    draw, known = KINDS[kind]
    given = {name for name in options if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE}
    for parameter in ctx.command.params:
        if parameter.name in given - set(known):
            raise click.UsageError(f"A picture of kind {kind} has no option {parameter.opts[0]}.")
    options = {name: options[name] for name in known}
    if out.suffix.lower() not in ENDINGS:
        came = f"ends in `{out.suffix}`" if out.suffix else "has no ending"
        raise ParameterError(f"{out.name} {came}; pictures are written as {listing(ENDINGS)}.")
    if options.get("episode") is not None and options["log"] is None:
        raise click.UsageError("--episode points into a log: give --log LOG as well.")
    draw(open_model(model), **options).save(out)
    console.show_wide(f"The picture is in {out}.")


@command(
    "tripletree report run.tripletree --log run.csv -o run.html",
    'tripletree report run.tripletree --log run.csv -o run.html --title "The agent of run 7"',
    'tripletree report run.tripletree --log run.csv --summary --success "return > 200"',
    'tripletree report run.tripletree --log run.csv -o run.html --failures "return < 1" --require "always (pos > -1)"',
)
@model_argument
@log_option("The log to report on: the one that the model was grown on, or another.", required=True)
@out_option("Where the report goes, as FILE.html.")
@click.option("--title", metavar="TEXT", help="The heading.")
@click.option("--success", metavar="CONDITION", help='Which episodes succeed, such as "return > 200".')
@click.option(
    "--failures",
    multiple=True,
    metavar="CONDITION",
    help='Which episodes failed, such as "return < 100": a section says from when on, and what they share. '
    "Repeatable.  [default: those that do not succeed, where that is known]",
)
@click.option(
    "--require",
    multiple=True,
    metavar="REQUIREMENT",
    help='What every episode must do, such as "always (pos > 0)": a section says which do not. Repeatable.',
)
@click.option("--summary", is_flag=True, help="Print the first page of it here.")
def report(
    model: Path,
    log: Path,
    describe: Path | None,
    out: Path | None,
    title: str | None,
    success: str | None,
    failures: tuple[str, ...],
    require: tuple[str, ...],
    summary: bool,
) -> None:
    """Write one HTML file that shows what the agent does.

    Its first page answers most questions in words. It needs no network, and its map of the leaves answers more.
    """
    if out is None and not summary:
        raise click.UsageError("Where should it go? Give -o FILE.html, or --summary to read its first page here.")
    tree = open_model(model)
    # SciPy takes longest, and what needs nothing of it goes on meanwhile.
    import_ahead("tripletree.report.write", "scipy.optimize", "scipy.sparse.csgraph", "scipy.spatial")
    recorded = required_log(tree, log, describe)
    if summary:
        console.say(str(tree.summary(recorded, success=success)))
    if out is None:
        return
    tree.report(recorded, out, title=title, success=success, failures=failures, require=require)
    console.say(f"The report is in {out} ({out.stat().st_size / 1000:,.0f} kB). Open it in a browser.")
