"""Does the choice matter? How often logs of worlds with a known answer are told rightly."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from benchmarks.harness import Options, Report, say

TITLE = "Where the choice matters, in worlds in which that is known"
GAMMA = 0.9
BORDER = 0.5
AGENTS = {"soft": "leans to one side", "explores": "a fifth at random", "certain": "always the same"}
LOGS = 200


def world(seed: int, *, agent: str = "soft", effect: float = 0.0, noise: str = "end", episodes: int = 120) -> Any:
    """Record walks in a square. Going right pays by ``effect`` more where x0 > 0.5, and nowhere else.

    The value differs by chance: at the end of an episode, at every step, or by something hidden that lasts all episode.
    """
    from tripletree import Log

    rng = np.random.default_rng(seed)
    steps = 30
    x, hidden = rng.uniform(-1, 1, (episodes, 2)), rng.normal(size=episodes)
    states, actions, rewards = [], [], []
    for _ in range(steps):
        right = x[:, 0] + 0.5 * x[:, 1] > 0
        if agent == "soft":
            right = rng.random(episodes) < 1 / (1 + np.exp(-1.5 * x[:, 0]))
        elif agent == "explores":
            right = np.where(rng.random(episodes) < 0.2, rng.random(episodes) < 0.5, right)
        chance = {"end": 0.0, "step": 0.5 * rng.normal(size=episodes), "hidden": 0.2 * hidden}[noise]
        states.append(x)
        actions.append(right)
        rewards.append(0.1 * x[:, 0] + 0.3 * x[:, 1] ** 2 + effect * (right - 0.5) * (x[:, 0] > BORDER) + chance)
        x = np.clip(0.9 * x + 0.3 * rng.normal(size=x.shape), -1.5, 1.5)
    if noise == "end":
        rewards[-1] = rewards[-1] + 2 * rng.normal(size=episodes)
    seen, did, paid = (np.stack(part, axis=1).reshape(episodes * steps, -1) for part in (states, actions, rewards))
    return Log.from_arrays(
        seen,
        np.where(did[:, 0], "right", "left"),
        paid[:, 0],
        starts=np.arange(0, episodes * steps, steps),
        terminated=np.ones(episodes, bool),
        feature_names=["x0", "x1"],
    )


def told(log: Any) -> tuple[bool, float, float, float]:
    """Return whether anything is claimed, the shares of steps on both sides of the border, and what can be told."""
    from tripletree import TripleTree

    tree = TripleTree(60, gamma=GAMMA, threads=1).fit(log)
    found = tree.criticality(log)
    critical = np.zeros(tree.n_leaves_, bool)
    for place in found.critical:
        critical[place.leaves] = True
    hit, inside = critical[tree.apply(log.states)], log.states[:, 0] > BORDER
    return bool(found.critical), float(hit[inside].mean()), float(hit[~inside].mean()), found.told


def run(options: Options, report: Report) -> None:
    """Ask logs in which no choice matters, and logs in which it does on one side of a border."""
    many = 5 if options.quick else options.repetitions(LOGS)
    cases = [(agent, noise, 0.0, 120) for agent in AGENTS for noise in ("end", "step", "hidden")]
    cases += [(agent, "end", 2.0, episodes) for agent in AGENTS for episodes in (120, 250, 500)]
    for agent, noise, effect, episodes in cases:
        name = f"{agent} {noise} {effect:g}"
        if not options.wants(name):
            continue
        say(f"{name}, {episodes} episodes")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = [
                told(world(options.seed + seed, agent=agent, noise=noise, effect=effect, episodes=episodes))
                for seed in range(many if not effect else max(many // 5, 1))
            ]
        claimed, inside, outside, known = np.array(found, float).mean(axis=0).tolist()
        report.rows.append(
            {
                "agent": AGENTS[agent],
                "noise": noise,
                "going right pays (x0 > 0.5)": effect,
                "episodes": episodes,
                "logs": len(found),
                "logs with a claim": claimed,
                "steps claimed, x0 > 0.5": inside,
                "steps claimed, elsewhere": outside,
                "steps that can be told": known,
            }
        )
    report.notes.append("Where going right pays nothing, every claim is false: at most 5 % of the logs may have one.")
