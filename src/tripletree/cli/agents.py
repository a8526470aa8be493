"""Agents at the command line: ``tripletree record`` makes a log of one, ``tripletree explain-agent`` explains it."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from tripletree.checks import check_ending, check_whole, did_you_mean
from tripletree.cli import console
from tripletree.cli.command import command, seed_option
from tripletree.cli.inputs import mind_names, normalize_option, trust_option
from tripletree.cli.trees import goodness
from tripletree.text import count

if TYPE_CHECKING:
    from tripletree.log.log import Log

_Decorated = TypeVar("_Decorated", bound=Callable[..., Any])

DRIVERS = ("left", "either", "hurry", "alive")
"""The agents of the road, by name; the road itself would bring NumPy along."""
LANDER = "lander"


def _agent_options(function: _Decorated) -> _Decorated:
    """Add the options that say who acts."""
    for option in (
        normalize_option,
        trust_option,
        seed_option,
        click.option("--episodes", type=int, metavar="N", help="Record this many episodes, instead of samples."),
        click.option(
            "--agent",
            metavar="FILE",
            help="Who acts: the .zip of a model of Stable-Baselines3 or sb3-contrib, an .onnx network, or random.",
        ),
    ):
        function = option(function)
    return function


@command(
    "tripletree record CartPole-v1 --agent random -o cartpole.npz --episodes 20",
    "tripletree record left --samples 500",
    "tripletree record lander --samples 300 --seed 1 --out lander.npz",
)
@click.argument("env", metavar="ENV")
@_agent_options
@click.option("--samples", type=int, metavar="N", help="Samples to record.  [default: 10000; 100000 for the lander]")
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="LOG",
    help="Where the log goes, a .npz file.  [default: out/logs/ENV-SEED.npz]",
)
def record(
    env: str,
    agent: str | None,
    samples: int | None,
    episodes: int | None,
    seed: int,
    trust: bool,
    normalize: Path | None,
    out: Path | None,
) -> None:
    """Record an agent in an environment, as a log of whole episodes.

    ENV is an id of Gymnasium, such as CartPole-v1, or module:id. Or it is one of the paper's agents, who need no
    --agent: left, either, hurry and alive drive on the road, lander lands on the moon.

    Needs Gymnasium: pip install "tripletree[gym]"; for models of Stable-Baselines3 "tripletree[sb3]", for ONNX
    "tripletree[onnx]", for MuJoCo "tripletree[mujoco]".
    """
    if samples is not None:
        check_whole(samples, "samples", 1, example=10_000)
    name = re.sub(r"[^\w.-]+", "-", env)
    out = Path(f"out/logs/{name}-{seed}.npz") if out is None else check_ending(out, (".npz",), "out")
    amount = 10_000 if samples is None and episodes is None else samples
    with console.progress_bar("Recording", "samples" if episodes is None else "episodes") as progress:
        if agent is None:
            if env not in (*DRIVERS, LANDER):
                raise _nobody(env)
            if episodes is not None or trust or normalize is not None:
                raise click.UsageError(f"{env} is one of the paper's agents: it takes --samples, --seed and --out.")
            log = _paper(env, samples, seed, progress)
        else:
            from tripletree.log.record import record as run

            log = run(
                env,
                agent,
                samples=amount,
                episodes=episodes,
                seed=seed,
                trust=trust,
                normalize=normalize,
                progress=progress,
            )
    out.parent.mkdir(parents=True, exist_ok=True)
    log.to_npz(out)
    console.show(_size(log))
    console.show_wide(f"The log is in {out}. Read it with tripletree.read_log({str(out)!r}).")
    if agent is not None and (log.n_samples < (amount or 0) or log.n_episodes < (episodes or 0)):
        sys.exit(130)  # Ctrl-C came before there was enough, and a script should know


def _paper(name: str, samples: int | None, seed: int, progress: Callable[[int, int], None]) -> Log:
    from tripletree.demos import lander, road

    if name == LANDER:
        return lander.record(n_samples=100_000 if samples is None else samples, seed=seed, progress=progress)
    return road.record(name, n_samples=10_000 if samples is None else samples, seed=seed)


def _nobody(env: str) -> click.UsageError:
    """Return the question who acts; whoever mistypes one of the paper's agents seems to name an environment."""
    hint = did_you_mean(env, (*DRIVERS, LANDER))
    return click.UsageError(f"Who acts in {env}? Give --agent FILE.zip, --agent FILE.onnx or --agent random.{hint}")


def _size(log: Log) -> str:
    import numpy as np

    returns = np.add.reduceat(log.rewards, log.starts[:-1])
    return (
        f"{count(log.n_samples, 'sample')} in {count(log.n_episodes, 'episode')}, mean return {returns.mean():.2f} "
        f"(standard deviation {returns.std():.2f})."
    )


@command(
    "tripletree explain-agent CartPole-v1 --agent random --samples 500",
    "tripletree explain-agent CartPole-v1 --agent random --episodes 20 --max-leaves 50 -o cartpole",
)
@click.argument("env", metavar="ENV")
@_agent_options
@click.option("--samples", type=int, metavar="N", help="Samples to record.  [default: 20000]")
@click.option("--max-leaves", type=int, default=1000, show_default=True, help="Maximum leaves.")
@click.option("--title", metavar="TEXT", help="The heading of the report.")
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="FOLDER",
    help="Folder for the log, the model and the report.  [default: out/ENV]",
)
def explain_agent(env: str, agent: str | None, out: Path | None, **options: Any) -> None:
    """Record an agent, grow a tree on the log and write a report, in one go.

    ENV is an id of Gymnasium, such as CartPole-v1. `tripletree record` and `tripletree grow` have more options.
    """
    if agent is None:
        raise _nobody(env)
    from tripletree.api import explain_agent as explain

    folder = Path("out") / re.sub(r"[^\w.-]+", "-", env) if out is None else out
    found = explain(env, agent, folder, progress=console.progress_bar, **options)
    mind_names(found.log.schema)
    leaves = count(found.tree.n_leaves_, "leaf", "leaves")
    console.say(f"{_size(found.log)} A tree of {leaves}.", "")
    console.show(*goodness(found.tree))
    console.say(str(found.judged), "")
    console.show_wide(
        f"Open {found.report} in a browser: it shows what the agent does.",
        f"Ask the model something else: tripletree explain {folder / 'tree.tripletree'} --help",
    )
