"""``tripletree paths``: the most probable ways over the leaves."""

from __future__ import annotations

from pathlib import Path

from tripletree.cli.command import command
from tripletree.cli.inputs import log_of, open_model
from tripletree.cli.ways import tell, way_options


@command(
    'tripletree paths run.tripletree --from "pos=1.2, speed=0" --to end',
    'tripletree paths run.tripletree --from "pos > 2" --to "pos < 0.5" -k 3 --json',
)
@way_options
def paths(
    model: Path,
    start: str,
    end: str,
    count: int,
    pairs: int | None,
    log_path: Path | None,
    describe: Path | None,
    as_json: bool,
) -> None:
    """Find the most probable ways from one place to another: which leaves, how probable, how long."""
    tree = open_model(model)
    log = log_of(tree, log_path, describe)
    tell(tree.paths(start, end, count, pairs=pairs or False, log=log), as_json)
