"""``tripletree report``: a model and a log as one file to read, or to mail."""

from __future__ import annotations

from pathlib import Path

import click

from tripletree.cli import console
from tripletree.cli.command import command, model_argument, out_option
from tripletree.cli.inputs import log_of, log_option, open_model


@command(
    "tripletree report run.tripletree --log run.csv -o run.html",
    'tripletree report run.tripletree --log run.csv -o run.html --title "The agent of run 7"',
)
@model_argument
@log_option("The log to tell of: the one that the model was grown on, or another one.", required=True)
@out_option("Where the report goes, as FILE.html.", required=True)
@click.option("--title", metavar="TEXT", help="Its heading.")
def report(model: Path, log_path: Path, describe: Path | None, out: Path, title: str | None) -> None:
    """Write one HTML file that tells what the agent does.

    It is read from top to bottom, needs no network, and its map of the leaves answers questions.
    """
    tree = open_model(model)
    if log := log_of(tree, log_path, describe):
        tree.report(log, out, title=title)
    console.say(f"The report is in {out} ({out.stat().st_size / 1000:,.0f} kB). Open it in a browser.")
