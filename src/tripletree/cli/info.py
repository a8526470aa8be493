"""``tripletree info``: what a model holds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from tripletree.cli import console
from tripletree.cli.command import command, json_option, model_argument
from tripletree.cli.inputs import open_model
from tripletree.cli.summary import goodness, summary

if TYPE_CHECKING:
    from tripletree.api import TripleTree


@command(
    "tripletree info run.tripletree",
    "tripletree info run.tripletree --leaves > leaves.csv",
)
@model_argument
@click.option("--leaves", is_flag=True, help="Print every leaf with its box and predictions, as CSV.")
@click.option("--curve", is_flag=True, help="Print the losses at every size, as CSV.")
@json_option
def info(model: Path, leaves: bool, curve: bool, as_json: bool) -> None:
    """Say what a model holds and how good it is."""
    tree = open_model(model)
    if leaves or curve:
        if leaves and curve:
            raise click.UsageError("Give --leaves or --curve, not both.")
        table = tree.leaves_ if leaves else tree.curve_
        console.show_json(table.to_dict()) if as_json else console.show_csv(table.to_dict())
    elif as_json:
        console.show_json({"model": str(model), **summary(tree)})
    else:
        _tell(tree, model)


def _tell(tree: TripleTree, model: Path) -> None:
    fitted = tree.fitted_
    schema, made, options = fitted.schema, fitted.provenance, fitted.options
    action = schema.action
    features = [
        f"{feature.name} ({feature.kind}, {low:.4g} to {high:.4g}{f' {feature.unit}' if feature.unit else ''})"
        for feature, low, high in zip(schema.features, fitted.feature_min, fitted.feature_max, strict=True)
    ]
    dimensions = [
        f"{name}{f' in {unit}' if unit else ''}" for name, unit in zip(action.names, action.units, strict=True)
    ]
    acts = f"{action.names[0]}: {', '.join(action.labels)}" if action.labels else ", ".join(dimensions)
    theta = ", ".join(f"{weight:g}" for weight in options["theta"])
    sha = str(made.get("log_sha256", "unknown"))[:16]
    rest = [f"{name}={options[name]}" for name in ("truncation", "priority", "mode") if name in options]
    console.show(
        console.facts(
            ("model", f"{model}, {tree.n_leaves_:,} leaves, depth {int(tree.tree_.depth.max())}"),
            ("log", f"{made.get('samples', 0):,} samples in {made.get('episodes', 0):,} episodes, sha256 {sha}"),
            ("features", "\n".join(features)),
            ("action", f"{acts} ({action.kind})"),
            ("grown with", f"theta={theta}, gamma={options['gamma']:g}, {', '.join(rest)}"),
            ("made by", ", ".join(f"{name} {made[name]}" for name in ("tripletree", "numpy") if name in made)),
        ),
        "",
        goodness(tree),
        "",
        "What matters",
    )
    console.say(str(tree.importance()))
    if fitted.transitions is None:
        console.note("The model does not hold how the log moves on it: questions on chances and ways need --log.")
