"""What ``tripletree paths`` and ``tripletree simulate`` have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from tripletree.cli import console
from tripletree.cli.command import json_option, model_argument
from tripletree.cli.inputs import log_option

if TYPE_CHECKING:
    from tripletree.answers.trajectories import Trajectories

_Decorated = TypeVar("_Decorated", bound=Callable[..., Any])


def way_options(function: _Decorated) -> _Decorated:
    """Add the options of a way from one place to another."""
    for option in (
        json_option,
        log_option("Go by the moves of this log instead of the training log's."),
        click.option(
            "--pairs",
            type=int,
            metavar="N",
            help="Instead: the best way of each pair of a start leaf and an end leaf, at most N.",
        ),
        click.option("-k", "count", type=int, default=1, show_default=True, help="How many ways."),
        click.option("--to", "end", required=True, metavar="PLACE", help="Where to: a state, leaf, zone, or end."),
        click.option(
            "--from",
            "start",
            required=True,
            metavar="PLACE",
            help='Where from: a state ("pos=1.2, speed=0"), leaf ("leaf 3") or zone ("pos > 2").',
        ),
        model_argument,
    ):
        function = option(function)
    return function


def tell(ways: Trajectories, as_json: bool) -> None:
    """Print the ways, one paragraph each."""
    if as_json or len(ways) < 2:
        console.answer(ways, as_json)
        return
    for number, way in enumerate(ways, 1):
        console.say(f"{number}. {way}")
