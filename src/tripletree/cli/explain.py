"""``tripletree explain``: why the agent does what it does in a state."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tripletree.cli import console
from tripletree.cli.command import command, json_option, model_argument
from tripletree.cli.inputs import about_option, open_model, state_of, state_options


@command(
    'tripletree explain run.tripletree --state "pos=1.2, speed=0.03"',
    "tripletree explain run.tripletree --log run.csv --episode 3 --step 12 --about value",
)
@model_argument
@state_options
@about_option
@json_option
def explain(model: Path, about: str, as_json: bool, **options: Any) -> None:
    """Say why the agent does what it does in a state: the bounds of its leaf that make it so."""
    tree = open_model(model)
    console.answer(tree.explain(state_of(tree, **options), about=about), as_json)
