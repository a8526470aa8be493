"""``tripletree simulate``: trajectories along the most probable ways."""

from __future__ import annotations

from pathlib import Path

from tripletree.cli import console
from tripletree.cli.command import command
from tripletree.cli.inputs import log_of, open_model
from tripletree.cli.ways import tell, way_options


@command(
    'tripletree simulate run.tripletree --from "pos=1.2, speed=0" --to "pos < 0.5"',
    'tripletree simulate run.tripletree --from "leaf 3" --to end -k 3 --json',
)
@way_options
def simulate(
    model: Path,
    start: str,
    end: str,
    count: int,
    pairs: int | None,
    log_path: Path | None,
    describe: Path | None,
    as_json: bool,
) -> None:
    """Draw up trajectories from one place to another, along the most probable ways.

    They follow the mean derivatives of the leaves that they cross; --json holds their corners.
    """
    tree = open_model(model)
    log = log_of(tree, log_path, describe)
    with console.progress_bar("Aligning", "trajectories") as progress:
        ways = tree.simulate(start, end, count, pairs=pairs or False, log=log, progress=progress)
    tell(ways, as_json)
