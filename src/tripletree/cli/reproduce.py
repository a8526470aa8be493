"""``tripletree reproduce``: the paper's experiments, and one page that checks its claims."""

from __future__ import annotations

from pathlib import Path

import click

from tripletree.cli import console
from tripletree.cli.command import command


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
    """Run the paper's experiments and check its claims, on the road, on the lander or on both.

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
