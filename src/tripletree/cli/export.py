"""A model to take away: ``tripletree export`` writes it as C, Python, ONNX, Graphviz or JSON."""

from __future__ import annotations

from pathlib import Path

import click

from tripletree.cli import console
from tripletree.cli.command import command, model_argument, out_option
from tripletree.cli.inputs import open_model

FORMATS = ("c", "python", "onnx", "dot", "json")


@command(
    "tripletree export run.tripletree -o policy.c",
    "tripletree export run.tripletree -o policy.py --about action",
    "tripletree export run.tripletree --to json -o rules.json",
)
@model_argument
@out_option("Where it goes; an existing file is replaced. C comes with a header and a test beside it.", required=True)
@click.option("--to", type=click.Choice(FORMATS), help="The format.  [default: as FILE ends: .c .py .onnx .dot .json]")
@click.option(
    "--about",
    metavar="ATTRIBUTE",
    help='Only this attribute: action, the name of one of its dimensions, value, derivative, or "derivative of '
    'FEATURE".  [default: all]',
)
@click.option(
    "--leaf-model",
    type=click.Choice(["mean", "linear"]),
    help="What leaves predict: their mean, or a linear model.  [default: as the model does]",
)
def export(model: Path, out: Path, to: str | None, about: str | None, leaf_model: str | None) -> None:
    """Write a model as C, Python, ONNX, Graphviz or JSON.

    What is written needs no tripletree: it finds the same leaf and predicts the same in any state.
    """
    from tripletree.export.write import export as write
    from tripletree.language.numbers import all_of

    written = write(open_model(model).fitted_, to, out, about=about, leaf_model=leaf_model)
    console.show_wide(f"The tree is in {all_of([str(path) for path in written])}.")
