"""What tripletree can do: ``demo`` on two built-in agents, ``reproduce`` on all of the paper's experiments."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from tripletree.cli import console
from tripletree.cli.agents import DRIVERS
from tripletree.cli.command import command
from tripletree.cli.trees import goodness
from tripletree.text import count

if TYPE_CHECKING:
    from tripletree.api import TripleTree
    from tripletree.log.log import Log

THETA = (0.2, 0.6, 0.2)  # the paper's compromise for the road
ON_THE_ROAD = "pos=1.2, speed=0.03"
IN_THE_AIR = "x=0.1, y=0.6, v_y=-0.5 and everything else 0", "0.1, 0.6, 0, -0.5, 0, 0, 0, 0"


class Told(NamedTuple):
    """One agent of the demo: what it is, its log and tree, a state (in words, as asked), what could be instead."""

    name: str
    title: str
    about: str
    log: Log
    tree: TripleTree
    said: str
    state: str
    attribute: str
    foil: str


@command("tripletree demo", "tripletree demo --agent hurry --leaves 50 --out hurry")
@click.option("--agent", type=click.Choice(DRIVERS), default="either", show_default=True, help="Driver of the vehicle.")
@click.option("--leaves", "max_leaves", type=int, default=200, show_default=True, help="Maximum leaves of each tree.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("out"),
    show_default=True,
    help="The folder for models, logs and reports.",
)
def demo(agent: str, max_leaves: int, out: Path) -> None:
    """Grow trees on two built-in logs, ask them questions and write reports.

    One log is of a vehicle between two walls, the other of a craft that lands on the moon.
    """
    road, lander = _road(agent, max_leaves), _lander(max_leaves)
    out.mkdir(parents=True, exist_ok=True)
    for told in (road, lander):
        told.tree.held_out(told.log)
        told.tree.save(out / f"{told.name}.tripletree")
        told.log.to_npz(out / f"{told.name}.npz", compress=True)
        told.tree.report(told.log, out / f"{told.name}.html", title=told.title)
        console.say(told.title.upper(), told.about, "")
        console.show(*goodness(told.tree))
        why, instead = told.tree.explain(told.state, about=told.attribute), told.tree.explain(told.state, told.foil)
        console.say(f"At {told.said}:", f"  {why}", f"  {instead}", "")
    _next(out)


def _road(agent: str, leaves: int) -> Told:
    from tripletree.demos import road

    log, paid = road.record(agent), road.VARIANTS[agent]
    tree = _grown(log, leaves, theta=THETA, gamma=road.GAMMA)
    other = [label for label in log.schema.action.labels if label != tree.predict(ON_THE_ROAD).action]
    rewards = (
        f"{paid.left:g} at the left wall, {paid.right:g} at the right wall and {paid.speed:g} x |speed| at every step"
    )
    about = f"It drives between two walls and is paid {rewards}. {_size(log, tree)}"
    return Told("road", "The vehicle", about, log, tree, ON_THE_ROAD, ON_THE_ROAD, "action", f"action = {other[0]}")


def _lander(leaves: int) -> Told:
    from tripletree.demos import lander

    log = lander.log()
    tree = _grown(log, leaves, gamma=lander.GAMMA)
    about = f"It has learned to land a craft on the moon, with a main and a side engine. {_size(log, tree)}"
    return Told("lander", "The lander", about, log, tree, *IN_THE_AIR, "main engine", "main engine < -0.5")


def _grown(log: Log, leaves: int, **options: Any) -> TripleTree:
    from tripletree.api import TripleTree

    with console.growing() as progress:
        return TripleTree(max_leaves=leaves, progress=progress, **options).fit(log)


def _size(log: Log, tree: TripleTree) -> str:
    samples, episodes = count(log.n_samples, "sample"), count(log.n_episodes, "episode")
    return f"{samples} in {episodes}; a tree of {count(tree.n_leaves_, 'leaf', 'leaves')}."


def _next(out: Path) -> None:
    """Say where everything is, and what to do next."""
    program = f"{os.path.relpath(sys.executable)} -m tripletree"
    road, lander = out / "road", out / "lander"
    console.show_wide(
        "WHAT NEXT",
        "Open the reports in a browser; they need no network:",
        f"  {road}.html",
        f"  {lander}.html",
        "Ask the models something else:",
        f'  {program} explain {road}.tripletree --state "{ON_THE_ROAD}"',
        f'  {program} chance {road}.tripletree --reach "pos < 0.5" --from "{ON_THE_ROAD}"',
        f"  {program} story {lander}.tripletree --log {lander}.npz --episode 7",
        "Try a log of your own, a .csv, .tsv, .parquet or .npz file with one row per step:",
        f"  {program} check run.csv",
    )


@command("tripletree reproduce", "tripletree reproduce road --out out/road")
@click.argument("what", type=click.Choice(["road", "lander", "all"]), default="all")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("out/reproduce"),
    show_default=True,
    help="Folder of the page and its figures.",
)
def reproduce(what: str, out: Path) -> None:
    """Run the paper's experiments and check its claims: on the road, on the lander, or both.

    Writes index.html, index.md and figures. Needs matplotlib: pip install "tripletree[plot]". With Gymnasium and Box2D
    (pip install "tripletree[gym]") the lander flies new logs, otherwise the recorded one is used.
    """
    from tripletree.reproduce.run import reproduce as run

    with console.progress_bar("Reproducing the paper", "steps") as progress:
        done = run(what, out, progress)
    verdicts = console.table("What became of the paper's claims", "verdict", "the paper says")
    verdicts.columns[1].justify = "left"
    verdicts.columns[1].no_wrap = False
    for claim in done.claims:
        verdicts.add_row(claim.verdict, claim.said)
    console.show(verdicts, "")
    console.show_wide(f"The page is {done.page}.")
