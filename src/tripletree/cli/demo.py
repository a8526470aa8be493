"""``tripletree demo``: the main job on a built-in agent, from log to model file."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tripletree.cli import console
from tripletree.cli.command import command
from tripletree.cli.summary import goodness

if TYPE_CHECKING:
    from rich.table import Table

    from tripletree.api import TripleTree
    from tripletree.log.log import Log

AGENTS = ("left", "either", "hurry", "alive")
THETA = (0.2, 0.6, 0.2)  # the paper's compromise for this world
STATE = "pos=1.2, speed=0.03"
MOST_VISITED = 8


@command("tripletree demo", "tripletree demo --agent hurry --leaves 50 --out hurry.tripletree")
@click.option("--agent", type=click.Choice(AGENTS), default="either", show_default=True, help="Which driver.")
@click.option("--leaves", type=int, default=200, show_default=True, help="Leaves to grow.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("out/demo/road.tripletree"),
    show_default=True,
    help="Where the model goes.",
)
def demo(agent: str, leaves: int, out: Path) -> None:
    """Grow a tree on a built-in log, of a vehicle between two walls, and save it."""
    from tripletree.api import TripleTree
    from tripletree.demos import road

    log = road.record(agent)
    with console.growing() as progress:
        tree = TripleTree(max_leaves=leaves, theta=THETA, gamma=road.GAMMA, progress=progress).fit(log)
    out.parent.mkdir(parents=True, exist_ok=True)
    tree.save(out)

    paid = road.VARIANTS[agent]
    console.show(
        f"A vehicle between two walls, paid {paid.left:g} at the left wall, {paid.right:g} at the right wall "
        f"and {paid.speed:g} x |speed| at every step.",
        f"{log.n_samples:,} samples in {log.n_episodes} episodes; a tree of {tree.n_leaves_} leaves.",
        "",
        goodness(tree),
        "",
        _most_visited(tree, log),
        "",
    )
    why = tree.explain(STATE)
    others = [label for label in log.schema.action.labels if label != tree.predict(STATE).action]
    console.say(f"At {STATE}:", f"  {why}", f"  {tree.explain(STATE, {'action': others})}", "")
    program = f"{os.path.relpath(sys.executable)} -m tripletree"
    console.show_wide(
        f"The model is in {out}.",
        "Ask it something else:",
        f'  {program} chance {out} --reach "pos < 0.5" --from "{STATE}"',
        f'  {program} explain {out} --state "{STATE}"',
    )


def _most_visited(tree: TripleTree, log: Log) -> Table:
    leaves = tree.leaves_
    names = [feature.name for feature in log.schema.features]
    (action,) = log.schema.action.names
    table = console.table(
        "Where the agent spends most time, what it does there and where that leads",
        "leaf",
        "count",
        *names,
        action,
        "value",
        *(f"d {name}" for name in names),
    )
    for leaf in (-leaves["count"]).argsort(kind="stable")[:MOST_VISITED]:
        table.add_row(
            str(leaf),
            f"{leaves['count'][leaf]:,}",
            *(f"{leaves[f'{name}_min'][leaf]:.3f}..{leaves[f'{name}_max'][leaf]:.3f}" for name in names),
            f"{leaves['action'][leaf]} {leaves['action_probability'][leaf]:4.0%}",
            f"{leaves['value_mean'][leaf]:.2f}",
            *(f"{leaves[f'derivative_{name}_mean'][leaf]:+.4f}" for name in names),
        )
    return table
