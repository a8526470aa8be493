"""Agents and logs on which faithfulness is measured: built-in ones, trained ones, and recordings of the user's own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from benchmarks.agents import AGENTS, HOPPER
from benchmarks.harness import Options
from tripletree import Log, read_log, record
from tripletree.demos import lander

SAMPLES = 40_000
"""Steps that are recorded of each trained agent."""
DEMO = "lander"
"""The agent that comes with the package."""


@dataclass(frozen=True)
class AgentOptions(Options):
    """What the command line asks for, with the agents of the user's own logs."""

    weights: tuple[str, ...] = ()
    """Policies in the form of `policy`: the first belongs to the first log, and so on."""


@dataclass(frozen=True)
class Case:
    """A log and, where it can be asked, the agent that made it."""

    name: str
    log: Log
    agent: Callable[[np.ndarray], object] | None = None
    critic: Callable[[np.ndarray], np.ndarray] | None = None
    env: str | None = None

    @property
    def continuous_lander(self) -> bool:
        """Whether it is a lander with two engines and an agent that can be asked."""
        return self.env == lander.ENVIRONMENT


def policy(path: str) -> Callable[[np.ndarray], np.ndarray]:
    """Return a lander's agent, from one state or many to two numbers each.

    The file (NPZ) has two relu layers ``pi_fc0``, ``pi_fc1`` and ``pi_mean``; the action is the tanh of the mean.
    """
    weights = dict(np.load(path))

    def act(states: np.ndarray) -> np.ndarray:
        hidden = states
        for layer in ("pi_fc0", "pi_fc1"):
            hidden = np.maximum(hidden @ weights[f"{layer}_w"] + weights[f"{layer}_b"], 0)
        return np.tanh(hidden @ weights["pi_mean_w"] + weights["pi_mean_b"])

    return act


@cache
def trained(task: str, samples: int) -> Case:
    """Return a trained agent with a recording of it."""
    agent = AGENTS[task]
    return Case(task, record(task, agent.act, samples=samples), agent.act, agent.critic, task)


@cache
def own(file: str, weights: str | None) -> Case:
    """Return a log of the user's own."""
    name, log = Path(file).stem, read_log(file)
    return Case(name, log) if weights is None else Case(name, log, policy(weights), None, lander.ENVIRONMENT)


def names(options: Options) -> dict[str, Callable[[], Case]]:
    """Return all cases by name; nothing is read or recorded before it is called for."""
    weights = getattr(options, "weights", ())
    samples = SAMPLES // 10 if options.quick else SAMPLES

    def demo() -> Case:
        log = lander.log()
        return Case(DEMO, log.select(slice(0, 40)) if options.quick else log, lander.act, None, lander.ENVIRONMENT)

    found: dict[str, Callable[[], Case]] = {DEMO: demo}
    for task in AGENTS:
        if task != HOPPER:  # which needs MuJoCo
            found[task] = lambda task=task: trained(task, samples)
    for i, file in enumerate(options.logs):
        of = weights[i] if i < len(weights) else None
        found[Path(file).stem] = lambda file=file, of=of: own(file, of)
    return found
