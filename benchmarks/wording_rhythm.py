"""Rhythm: made gaits whose period and stumbles are known, noise that has none, and recorded agents."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.agents import AGENTS, HOPPER, WALKER, Walker
from benchmarks.harness import Options, Report, say
from tripletree import Log, read_log, record, rhythm

TITLE = "Rhythm: made gaits, noise and recorded agents"
F64 = npt.NDArray[np.float64]
NOISES = ("white", "AR(1) 0.9", "AR(1) 0.98", "random walk")
SHAPES = ("sine", "mixed", "square", "pulse")


@dataclass(frozen=True)
class Gait:
    """A made gait: its log, the mean steps of a cycle as it came out, and (episode, step) of every stumble."""

    log: Log
    period: float
    stumbles: tuple[tuple[int, int], ...]


def gait(
    seed: int,
    period: float = 40.0,
    *,
    features: int = 4,
    actions: int = 2,
    distractors: int = 0,
    noise: float = 0.3,
    drift: float = 0.0,
    stumbling: bool = False,
    episodes: int = 6,
    cycles: float = 20.0,
    shape: str = "mixed",
) -> Gait:
    """Return a made gait.

    Parameters
    ----------
    seed, period : int, float
        Seed, and steps of a cycle.
    features, actions, distractors : int
        Columns of the state that go with the cycle, dimensions of the action that do, and columns of noise alone.
    noise : float
        Standard deviations of white noise on every column, whose own is 1.
    drift : float
        Standard deviation of the logarithm of the period, which wanders over some hundred steps.
    stumbling : bool
        Whether every other episode skips half a cycle somewhere in its middle third.
    episodes, cycles : int, float
        How many, and cycles of each.
    shape : {"sine", "mixed", "square", "pulse"}
        Of the columns: sines, sums of four harmonics, their signs, or pulses of a fifth of the cycle.
    """
    random = np.random.default_rng(seed)
    width, steps = features + actions, int(period * cycles)
    harmonics = np.array([1.0, 0, 0, 0]) if shape == "sine" else np.array([1, 0.5, 0.3, 0.2])
    size = harmonics * (1.0 if shape == "sine" else random.uniform(0.3, 1, (width, 4)))
    waves = size * np.exp(2j * np.pi * random.random((width, 4)))
    shift, turned, stumbles, columns = random.random(width), 0.0, [], []
    for episode in range(episodes):
        wander = np.zeros(steps)
        for t in range(1, steps):
            wander[t] = 0.99 * wander[t - 1] + drift * np.sqrt(1 - 0.99**2) * random.standard_normal()
        phase = random.random() + np.cumsum(np.exp(-wander) / period)
        turned += phase[-1] - phase[0]
        if stumbling and episode % 2 == 0:
            at = int(random.integers(steps // 3, 2 * steps // 3))
            phase[at:] += 0.5
            stumbles.append((episode, at))
        column = np.real(np.exp(2j * np.pi * np.outer(phase, np.arange(1, 5))) @ waves.T)
        if shape == "square":
            column = np.sign(column)
        elif shape == "pulse":
            column = ((phase[:, None] + shift) % 1 < 0.2).astype(np.float64)
        columns.append(column)
    whole = np.concatenate(columns)
    whole = (whole - whole.mean(axis=0)) / whole.std(axis=0) + noise * random.standard_normal(whole.shape)
    states = np.concatenate([whole[:, :features], random.standard_normal((len(whole), distractors))], axis=1)
    log = made(states, whole[:, features:], steps)
    return Gait(log, float(episodes * (steps - 1) / turned), tuple(stumbles))


def noise(seed: int, kind: str, *, columns: int = 6, episodes: int = 5, steps: int = 600) -> Log:
    """Return a log without any rhythm, of one of ``NOISES``; its last column is the action."""
    random = np.random.default_rng(seed)
    keep = {"white": 0.0, "AR(1) 0.9": 0.9, "AR(1) 0.98": 0.98, "random walk": 1.0}[kind]
    drawn = random.standard_normal((episodes, steps, columns))
    for t in range(1, steps):
        drawn[:, t] += keep * drawn[:, t - 1]
    flat = drawn.reshape(-1, columns)
    return made(flat[:, :-1], flat[:, -1:], steps)


def made(states: F64, actions: F64, steps: int) -> Log:
    """Return a log of episodes with so many steps each; without dimensions, the log has no actions."""
    n = len(states)
    data: dict[str, Any] = {"episode": np.arange(n) // steps}
    data |= {f"f{k}": column for k, column in enumerate(states.T)}
    data |= {f"a{k}": column for k, column in enumerate(actions.T)}
    names = [f"a{k}" for k in range(actions.shape[1])]
    return Log.from_dict(data, action=names or "none", reward="none", ending="truncated")


def found_breaks(one: Gait, breaks: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """Return how many stumbles were found at the right step, and how many breaks are no stumbles.

    Right is from a quarter of a cycle before to half a cycle after: there, a phase can be seen to have jumped.
    """
    near = [
        [episode == where and -0.25 <= (step - at) / one.period <= 0.5 for episode, step in breaks]
        for where, at in one.stumbles
    ]
    hits = sum(any(row) for row in near)
    false = sum(not any(row[k] for row in near) for k in range(len(breaks)))
    return hits, false


def run(options: Options, report: Report) -> None:
    """Fill the table: gaits by noise, noise by kind, and agents."""
    many = 24 if options.quick else 160
    if options.wants("gaits"):
        say(f"  {many} made gaits")
        report.rows += _gaits(many)
    if options.wants("noise"):
        say("  noise")
        report.rows += _noises(many // 2)
    for name, log in _logs(options):
        begin = time.perf_counter()
        found = rhythm(log)
        told = {"period": found.period, "spread": found.spread, "parts": len(found.parts), "breaks": len(found.breaks)}
        row = {"case": name, "logs": 1, "found": int(found.found), **(told if found else {})}
        report.rows.append(row | {"seconds": time.perf_counter() - begin})
        report.notes += [f"{name}: {line}" for line in str(found).splitlines()]
    report.notes.append(
        "Gaits have periods of 8 to 120 steps, 1 to 24 features, 0 to 3 actions, 0 or 5 columns of noise, a drift of "
        "0, 3 or 8 %, four shapes, and 1 to 15 episodes of 9 to 60 cycles; found is within one step. A stumble skips "
        "half a cycle. Only cycles that are long and regular enough have their breaks told."
    )


def _gaits(many: int) -> Iterator[dict[str, Any]]:
    for level in (0.0, 0.3, 0.6, 1.0):
        right = stumbles = hits = false = untold = logs = 0
        begin = time.perf_counter()
        for seed in range(many // 4):
            random = np.random.default_rng([seed, int(10 * level)])
            episodes = int(random.choice([1, 6, 15]))
            one = gait(
                seed,
                float(random.uniform(8, 120)),
                features=int(random.choice([1, 2, 6, 12, 24])),
                actions=int(random.choice([0, 1, 3])),
                distractors=int(random.choice([0, 5])),
                noise=level,
                drift=float(random.choice([0, 0.03, 0.08])),
                stumbling=bool(random.choice([False, True])),
                episodes=episodes,
                cycles={1: 60, 6: 20, 15: 9}[episodes],
                shape=str(random.choice(SHAPES)),
            )
            answer = rhythm(one.log)
            good = bool(answer.found and abs(answer.period - one.period) <= 1)
            logs, right = logs + 1, right + good
            if answer.told:
                hit, wrong = found_breaks(one, [(each.episode, each.step) for each in answer.breaks])
                stumbles, hits, false = stumbles + len(one.stumbles), hits + hit, false + wrong
            else:
                untold += bool(one.stumbles)
        yield {
            "case": f"gaits, noise {level:g} sd",
            "logs": logs,
            "found": right,
            "stumbles": stumbles,
            "stumbles found": hits,
            "false breaks": false,
            "logs with stumbles not told": untold,
            "seconds": time.perf_counter() - begin,
        }


def _noises(many: int) -> Iterator[dict[str, Any]]:
    sizes = [(1, 2000), (1, 300), (2, 300), (5, 600), (20, 150), (4, 100)]
    for kind in NOISES:
        begin = time.perf_counter()
        logs = [
            noise(seed, kind, columns=(2, 6, 14)[seed // 6 % 3], episodes=sizes[seed % 6][0], steps=sizes[seed % 6][1])
            for seed in range(many)
        ]
        found = sum(rhythm(log).found for log in logs)
        yield {"case": f"noise, {kind}", "logs": many, "found": found, "seconds": time.perf_counter() - begin}


def _logs(options: Options) -> Iterator[tuple[str, Log]]:
    samples = 5_000 if options.quick else 40_000
    for task, agent in AGENTS.items():
        if options.wants(task) and not (options.quick and task == HOPPER):
            say(f"  {task}")
            yield task, record(task, agent.act, samples=samples, seed=7)
    if options.wants(WALKER):
        say(f"  {WALKER}")
        env = Walker()
        yield WALKER, record(env, env.act, samples=samples, seed=7)
        env.close()
    for file in options.logs:
        yield Path(file).stem, read_log(file)
