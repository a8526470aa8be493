"""Does the agent remember? How often logs of agents with a known answer are told rightly."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.harness import Options, Report, say

TITLE = "Memory found in agents that have some, and in agents that have none"
KINDS = {
    "none": "none",
    "sticky": "repeats its action at 1 of 4 steps",
    "delay": "acts on the state 2 to 5 steps ago",
    "hysteresis": "switches at one threshold, back at another",
    "mode": "one of two modes in each episode",
    "switching": "changes its mode at 1 of 50 steps",
    "latch": "changes for good once a feature was high",
}
TRAINED = ("CartPole-v1", "Acrobot-v1", "Pendulum-v1", "MountainCar-v0", "LunarLander-v3")
EPISODES = 20
LOGS = 5
WITHOUT = 3
"""So many times more logs of agents without memory: their false alarms should be rare."""

F64 = npt.NDArray[np.float64]
Policy = Callable[[F64], Any]


class Remembering:
    """A policy with a memory of some kind; acts in many episodes at once."""

    def __init__(self, kind: str, policy: Policy, other: Policy, feature: int, low: float, high: float, seed: int):
        self.kind, self.policy, self.other = kind, policy, other
        self.feature, self.low, self.high = feature, low, high
        self.rng = np.random.default_rng(seed)
        self.lag = int(self.rng.integers(2, 6))

    def begin(self, odd: npt.NDArray[np.bool_]) -> None:
        """Begin episodes, forgetting all; ``odd`` are those in the other mode."""
        self.bit = odd.copy() if self.kind in ("mode", "switching") else np.zeros(len(odd), bool)
        self.seen: list[F64] = []
        self.before: Any = None

    def __call__(self, states: F64) -> Any:
        self.seen.append(states.copy())
        if self.kind == "delay":
            return self.policy(self.seen[max(len(self.seen) - 1 - self.lag, 0)])
        action = self.policy(states).copy()
        x = states[:, self.feature]
        if self.kind == "hysteresis":
            self.bit = np.where(x > self.high, True, np.where(x < self.low, False, self.bit))
        elif self.kind == "switching":
            self.bit = self.bit ^ (self.rng.random(len(x)) < 0.02)
        elif self.kind == "latch":
            self.bit = self.bit | (x > self.high)
        if self.bit.any():
            action[self.bit] = self.other(states)[self.bit]
        if self.kind == "sticky" and self.before is not None:
            again = self.rng.random(len(x)) < 0.25
            action[again] = self.before[again]
        self.before = action
        return action


def simulated(kind: str, seed: int) -> Any:
    """Record an agent in a random world: 2 to 24 features, labels or numbers, sharp or smooth, noisy or not."""
    rng = np.random.default_rng(seed)
    d = int(rng.choice([2, 3, 4, 6, 8, 12, 16, 24] if kind == "none" else [2, 3, 4, 6, 8]))
    labelled, noisy, form = rng.random() < 0.5, rng.random() < 0.35, rng.choice(["linear", "network", "sign"])
    width = int(rng.choice([2, 3, 4])) if labelled else 1
    flow = rng.normal(size=(d, d)) / np.sqrt(d)
    flow -= np.eye(d) * (np.linalg.eigvals(flow).real.max() + 0.05)
    push, bend = rng.normal(size=(width, d)), rng.uniform() * rng.normal(size=(d, d)) / np.sqrt(d)
    first, second = 1.8 * rng.normal(size=(d, 16)) / np.sqrt(d), rng.normal(size=(16, width)) / 2
    plain, offset = 1.5 * rng.normal(size=(d, width)) / np.sqrt(d), 0.3 * rng.normal(size=16)
    shift = np.eye(d)[rng.integers(d)] * rng.choice([-1, 1])

    def policy(states: F64) -> Any:
        out = np.tanh(states @ first + offset) @ second if form == "network" else states @ plain
        if labelled:
            return (out + 0.3 * noisy * rng.gumbel(size=out.shape)).argmax(axis=1)
        return (np.sign(out) if form == "sign" else np.clip(out, -1, 1)) + 0.15 * noisy * rng.normal(size=out.shape)

    agent = Remembering(kind, policy, lambda states: policy(states + shift), int(rng.integers(d)), -0.3, 0.5, seed)
    agent.begin(np.arange(EPISODES) % 2 == 1)
    steps, step, noise = int(rng.choice([60, 120, 250])), rng.choice([0.05, 0.15]), rng.choice([0, 0.01, 0.05])
    x, states, actions = rng.normal(size=(EPISODES, d)), [], []
    for _ in range(steps):
        action = agent(x)
        states.append(x)
        actions.append(action)
        force = np.eye(width)[action] if labelled else action
        x = x + step * (x @ flow.T + force @ push + np.tanh(x @ bend)) + noise * rng.normal(size=x.shape)
        x = np.clip(x, -4, 4)
    return _log(np.concatenate(np.stack(states, 1)), np.concatenate(np.stack(actions, 1)), [steps] * EPISODES)


def trained(kind: str, seed: int) -> Any:
    """Record a trained agent of Gymnasium, wrapped in a memory."""
    import gymnasium as gym

    from benchmarks.agents import AGENTS

    name = TRAINED[seed % len(TRAINED)]
    env, act, rng = gym.make(name), AGENTS[name].act, np.random.default_rng(seed)
    labelled = hasattr(env.action_space, "n")

    def play(agent: Policy, begin: Callable[[bool], None]) -> tuple[list[F64], list[Any], list[int]]:
        states, actions, lengths = [], [], []
        for episode in range(EPISODES):
            state, _ = env.reset(seed=seed * 1000 + episode)
            begin(episode % 2 == 1)
            over, length = False, 0
            while not over:
                states.append(np.asarray(state, np.float64))
                actions.append(agent(states[-1][None])[0])
                state, _, ended, cut, _ = env.step(int(actions[-1]) if labelled else actions[-1])
                over, length = ended or cut, length + 1
            lengths.append(length)
        return states, actions, lengths

    def policy(states: F64) -> Any:
        return np.asarray(act(states)).reshape(len(states), *(() if labelled else (-1,)))

    usual = play(policy, lambda _: None)
    if kind == "none":
        return _log(np.array(usual[0]), np.array(usual[1]), usual[2])
    spread, middle = np.std(usual[0], axis=0), np.median(usual[0], axis=0)
    varied = np.flatnonzero(spread > 0)
    shift = np.eye(len(spread))[rng.choice(varied)] * spread * rng.choice([-1, 1])
    feature = int(rng.choice(varied))
    low, high = middle[feature] + np.array([-0.4, 0.4]) * spread[feature]
    agent = Remembering(kind, policy, lambda states: policy(states + shift), feature, low, high, seed)
    states, actions, lengths = play(agent, lambda odd: agent.begin(np.array([odd])))
    return _log(np.array(states), np.array(actions), lengths)


def _log(states: F64, actions: Any, lengths: list[int]) -> Any:
    from tripletree import Log

    starts = np.append(0, np.cumsum(lengths[:-1]))
    return Log.from_arrays(states, actions, np.zeros(len(states)), starts=starts, ending="truncated")


def run(options: Options, report: Report) -> None:
    """Ask logs of agents without memory, and of agents with some."""
    from tripletree import drift, memory

    each = 1 if options.quick else options.repetitions(LOGS)
    for where, make in (("random world", simulated), ("trained agent", trained)):
        for place, (kind, words) in enumerate(KINDS.items()):
            if not options.wants(f"{where} {kind}"):
                continue
            say(f"{where}, {kind}")
            many = each * (1 if kind != "none" or options.quick else WITHOUT)
            found, changed = [], []
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                for seed in range(many):
                    log = make(kind, 5000 + options.seed + 13 * place + seed)
                    found.append(memory(log, quick=options.quick).found)
                    changed.append(drift(log, quick=True).found)
            row = {"agent": where, "memory": words, "logs": many}
            report.rows.append({**row, "memory found": sum(found), "change found": sum(changed)})
    report.notes += [
        f"{EPISODES} episodes a log. Without memory, every finding is a false alarm. No agent changes from early to "
        "late episodes, so every change found is one, too.",
        "Few logs: of 2 found in 5, the true rate may be anything from 5 to 85 %.",
    ]
