"""Does the agent remember? How often logs of agents with a known answer are told rightly."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.harness import Options, Report, say
from benchmarks.memory_worlds import EPISODES, play

TITLE = "Memory found in agents that have some, and in agents that have none"
KINDS = {
    "none": "none",
    "mode": "one of two modes in each episode",
    "delay": "acts on the state 2 to 6 steps ago",
    "hysteresis": "switches at one threshold, back at another",
    "switching": "changes its mode now and then",
    "latch": "changes for good once a feature was high",
    "sticky": "repeats its action now and then",
    "smooth": "takes a part of its last action over",
}
RIGHT = {
    "mode": {"mode"},
    "delay": {"state"},
    "hysteresis": {"hysteresis", "event"},
    "switching": {"mode", "action", "change"},
    "latch": {"event", "hysteresis"},
    "sticky": {"repeat", "action", "change"},
    "smooth": {"action", "change", "repeat"},
}
"""Kinds of clue that name the memory rightly."""
TRAINED = ("CartPole-v1", "Acrobot-v1", "Pendulum-v1", "MountainCar-v0", "LunarLander-v3")
LOGS, WITHOUT = 20, 150
"""Logs of each kind, and of agents without memory, whose false alarms should be rare."""
MANY = 40
"""Episodes that tell how much of a memory shows in what is done."""
WANDERING, RANDOM, TRAINED_AGENT = "states that wander", "random world", "trained agent"
RANGES = [(0.15, np.inf, "15 % or more"), (0.05, 0.15, "5 to 15 %"), (0.02, 0.05, "2 to 5 %"), (-np.inf, 0.02, "less")]
"""Shares of the variation that memory explains beyond the state: below 2 % it hardly shows in any log."""
NOTES = [
    f"{EPISODES} episodes a log. Without memory, every finding is a false alarm. No agent changes from early to late "
    "episodes, so every change found is one, too (at a quick look).",
    "What a memory explains is the share of the variation of the actions that trees explain in addition, on "
    f"{MANY} unseen episodes, if they are told what the agent meant to do; less what that adds for the same agent "
    "without memory. It says too much where features are many.",
]

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


def visible(kind: str, seed: int, wander: bool) -> float:
    """Return the share of the variation that knowing the memory explains beyond the state, of many episodes.

    Trees predict the actions, with and without what the agent meant to do. What that adds for the same agent without
    memory is how coarse trees are, and is taken off.
    """
    from tripletree.log.forest import forest

    added = []
    for each in (kind, "none"):
        played = play(each, seed, MANY, wander)
        episode = np.repeat(np.arange(MANY), played.lengths)
        meant = _columns(played.meant, played.actions)
        targets = _columns(played.actions, played.actions)
        targets = targets - targets.mean(axis=0)
        errors = [
            float(((targets - forest(columns, targets, episode % 4, episode, 4, 5, 0)) ** 2).sum())
            for columns in (played.states, np.concatenate([played.states, meant], axis=1))
        ]
        added.append((errors[0] - errors[1]) / max(float((targets**2).sum()), 1e-12))
    return added[0] - added[1]


def _columns(actions: Any, all_actions: Any) -> F64:
    if np.ndim(actions) == 2:
        return np.asarray(actions, np.float64)
    return np.asarray(actions[:, None] == np.unique(all_actions), np.float64)


def run(options: Options, report: Report) -> None:
    """Ask logs of agents without memory, and of agents with some."""
    each = 1 if options.quick else options.repetitions(LOGS)
    for where in (WANDERING, RANDOM, TRAINED_AGENT):
        for place, kind in enumerate(KINDS):
            if not options.wants(f"{where} {kind}"):
                continue
            say(f"{where}, {kind}")
            number = each if kind != "none" or options.quick else each * WITHOUT // LOGS
            first = 50_000 + 1_000 * place + options.seed
            report.rows += rows(
                where, kind, [ask(where, kind, seed, options.quick) for seed in range(first, first + number)]
            )
    report.notes += NOTES


@dataclass(frozen=True)
class Asked:
    """What was found out about one log: how much of the memory shows, whether it was found, and as what."""

    shows: float
    found: bool
    named: str
    changed: bool | None


def ask(where: str, kind: str, seed: int, quick: bool) -> Asked:
    """Ask one log. Whether the agent changes is asked where it has no memory: it never does."""
    from tripletree import drift, memory

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        log = trained(kind, seed) if where == TRAINED_AGENT else play(kind, seed, wander=where == WANDERING).log()
        answer = memory(log, quick=quick)
        shows = 0.0 if where == TRAINED_AGENT or kind == "none" else visible(kind, seed, where == WANDERING)
        # What the state tells needs no memory.
        shows = min(shows, answer.unexplained)
        changed = drift(log, quick=True).found if kind == "none" else None
        return Asked(shows, answer.found, answer.clues[0].kind if answer.clues else "", changed)


def rows(where: str, kind: str, asked: list[Asked]) -> list[dict[str, Any]]:
    """Return the rows of a kind: one, or one for each range of what shows of the memory."""
    ranges = [(-np.inf, np.inf, "")] if kind == "none" or where == TRAINED_AGENT else RANGES
    table = []
    for low, high, words in ranges:
        some = [one for one in asked if low <= one.shows < high]
        found = [one for one in some if one.found]
        row: dict[str, Any] = {"agent": where, "memory": KINDS[kind], "it explains": words, "logs": len(some)}
        row["found"] = len(found)
        row["named rightly"] = None if kind == "none" else sum(one.named in RIGHT[kind] for one in found)
        known = [one.changed for one in some if one.changed is not None]
        row["change found"] = sum(known) if known else None
        table.append(row)
    return table
