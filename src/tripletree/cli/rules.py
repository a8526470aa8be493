"""``tripletree rules``: the whole tree in rules."""

from __future__ import annotations

from pathlib import Path

import click

from tripletree.cli import console
from tripletree.cli.command import command, json_option, model_argument
from tripletree.cli.inputs import about_option, log_of, log_option, open_model


@command(
    "tripletree rules run.tripletree",
    "tripletree rules run.tripletree --about value --levels 4 --most 3",
    'tripletree rules run.tripletree --about "derivative of speed" --json',
)
@model_argument
@about_option
@click.option("--levels", type=int, default=3, show_default=True, help="Into how many levels numbers are parted.")
@click.option("--most", type=int, default=5, show_default=True, help="How many rules of each outcome are shown.")
@log_option("Take coverage and accuracy from this log instead of the training log.")
@json_option
def rules(
    model: Path, about: str, levels: int, most: int, log_path: Path | None, describe: Path | None, as_json: bool
) -> None:
    """Say the whole tree in rules: what it predicts when which conditions hold."""
    tree = open_model(model)
    log = log_of(tree, log_path, describe)
    console.answer(tree.rules(about=about, levels=levels, log=log, most=most), as_json)
