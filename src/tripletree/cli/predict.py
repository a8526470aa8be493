"""``tripletree predict``: what the agent does in a state, or in each of a file's states."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tripletree.cli import console
from tripletree.cli.command import command, json_option, model_argument
from tripletree.cli.inputs import FILE, open_model, state_of, state_options

if TYPE_CHECKING:
    from tripletree.answers.prediction import Prediction
    from tripletree.api import TripleTree


@command(
    'tripletree predict run.tripletree --state "pos=1.2, speed=0.03"',
    "tripletree predict run.tripletree --log run.csv --episode 3 --step 12 --json",
    "tripletree predict run.tripletree states.csv > predictions.csv",
)
@model_argument
@click.argument("states", type=FILE, required=False)
@state_options
@json_option
def predict(model: Path, states: Path | None, as_json: bool, **options: Any) -> None:
    """Say what the agent does in a state, how well it fares and where that leads.

    STATES is a .csv, .tsv, .parquet or .npz file with a column for each feature; the answer is then CSV with a line for
    each state.
    """
    tree = open_model(model)
    if states is None:
        answer = tree.predict(state_of(tree, **options))
        console.show_json(answer.to_dict()) if as_json else console.say(str(answer))
        return
    from tripletree.log.files import read_table

    if any(value is not None for value in options.values()):
        raise click.UsageError("Give a file of states, or one state by --state or --log; not both.")
    answer = tree.predict(read_table(states))
    console.show_json(answer.to_dict()) if as_json else console.show_csv(_columns(tree, answer))


def _columns(tree: TripleTree, answer: Prediction) -> dict[str, Any]:
    schema = tree.fitted_.schema
    columns: dict[str, Any] = {}
    if schema.action.kind == "discrete" and answer.action_probability is not None:
        columns["action"] = answer.action
        columns["action_probability"] = answer.action_probability.max(axis=1)
    elif answer.action_std is not None:
        for k, name in enumerate(schema.action.names):
            columns[name], columns[f"{name}_std"] = answer.action[:, k], answer.action_std[:, k]
    columns |= {"value": answer.value, "value_std": answer.value_std}
    if answer.derivative is not None:
        columns |= {f"derivative_{name}": answer.derivative[:, f] for f, name in enumerate(schema.feature_names)}
    columns |= {"leaf": answer.leaf, "count": answer.count, "outside": answer.outside.astype(int)}
    return {name: column.tolist() for name, column in columns.items()}
