"""``tripletree record``: the log of a built-in agent, as a file."""

from __future__ import annotations

from pathlib import Path

import click

from tripletree.cli import console
from tripletree.cli.command import command
from tripletree.cli.demo import AGENTS

LANDER = "lander"


@command(
    "tripletree record left --samples 500",
    "tripletree record lander --samples 300 --seed 1 --out lander.npz",
)
@click.argument("agent", type=click.Choice([*AGENTS, LANDER]))
@click.option("--samples", type=int, help="Samples to record.  [default: 10000; 100000 for the lander]")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the starts.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Where the log goes, a .npz file.  [default: out/logs/AGENT-SEED.npz]",
)
def record(agent: str, samples: int | None, seed: int, out: Path | None) -> None:
    """Record one of the paper's agents, as a log: a driver of the road, or the lander.

    The lander flies new episodes, for which Gymnasium and Box2D are needed: pip install "tripletree[gym]".
    """
    import numpy as np

    from tripletree.demos import lander, road

    if agent == LANDER:
        with console.progress_bar("Flying", "samples") as progress:
            log = lander.record(n_samples=100_000 if samples is None else samples, seed=seed, progress=progress)
    else:
        log = road.record(agent, n_samples=10_000 if samples is None else samples, seed=seed)
    out = Path(f"out/logs/{agent}-{seed}.npz") if out is None else out
    out.parent.mkdir(parents=True, exist_ok=True)
    log.to_npz(out)
    returns = np.add.reduceat(log.rewards, log.starts[:-1])
    console.show(
        f"{log.n_samples:,} samples in {log.n_episodes:,} episodes, mean return {returns.mean():.2f} "
        f"(standard deviation {returns.std():.2f})."
    )
    console.show_wide(f"The log is in {out}. Read it with tripletree.read_log({str(out)!r}).")
