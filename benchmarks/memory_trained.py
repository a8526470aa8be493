"""Agents of Gymnasium, trained or with the controllers that come with it, wrapped in a memory that is known."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.memory_worlds import EPISODES, Game, Played, walk

F64 = npt.NDArray[np.float64]

NAMES = ("CartPole-v1", "Acrobot-v1", "Pendulum-v1", "MountainCar-v0", "LunarLander-v3")
BY_HAND = ("LunarLander-v3", "LunarLanderContinuous-v3")
"""Whose controller Gymnasium has: it chatters, so models of the state leave much of what it does."""
BAND = 0.4
"""Half the distance of two thresholds, in units of how far a feature is spread."""


def trained(kind: str, seed: int, episodes: int = EPISODES) -> Played:
    """Record one of the networks."""
    from benchmarks.agents import AGENTS

    name = NAMES[seed % len(NAMES)]
    return _wrapped(name, AGENTS[name].act, kind, seed, episodes)


def by_hand(kind: str, seed: int, episodes: int = EPISODES) -> Played:
    """Record one of the controllers."""
    from gymnasium.envs.box2d.lunar_lander import heuristic

    name = BY_HAND[seed % len(BY_HAND)]
    craft = SimpleNamespace(unwrapped=SimpleNamespace(continuous="Continuous" in name))
    return _wrapped(name, lambda states: [heuristic(craft, state) for state in states], kind, seed, episodes)


def _wrapped(name: str, agent: Callable[[Any], Any], kind: str, seed: int, episodes: int) -> Played:
    """Record an agent. In its second mode it mistakes a feature: by as much as that is spread."""
    rng = np.random.default_rng([seed, 55])

    def act(states: F64, _: np.random.Generator | None) -> Any:
        done = np.asarray(agent(states))
        return done if np.issubdtype(done.dtype, np.integer) else done.reshape(len(states), -1).astype(np.float64)

    usual = walk("none", Game((act, act), *_arena(name, seed, EPISODES), 0, (0.0, 0.0), 0), rng).states
    spread, varied = usual.std(axis=0), np.flatnonzero(usual.std(axis=0) > 0)
    shift = np.eye(len(spread))[rng.choice(varied)] * spread * rng.choice([-1, 1])
    feature, lag = int(rng.choice(varied)), int(rng.integers(2, 6))
    middle, half = float(np.median(usual[:, feature])), BAND * float(spread[feature])

    def other(states: F64, draw: np.random.Generator | None) -> Any:
        return act(states + shift, draw)

    limits = middle - half, middle + half
    return walk(kind, Game((act, other), *_arena(name, seed, episodes), feature, limits, lag, 0.4), rng)


def _arena(name: str, seed: int, episodes: int) -> tuple[Callable[..., F64], F64, npt.NDArray[np.int64]]:
    """Return how all episodes go on, how they begin, and their lengths, which are known when they have ended."""
    import gymnasium as gym

    envs = [gym.make(name) for _ in range(episodes)]
    first = np.stack([env.reset(seed=1_000 * seed + k)[0] for k, env in enumerate(envs)]).astype(np.float64)
    lengths = np.full(episodes, gym.spec(name).max_episode_steps, np.int64)
    going, step = np.ones(episodes, bool), 0

    def move(states: F64, actions: Any) -> F64:
        nonlocal step
        step += 1
        after = states.copy()
        for k in np.flatnonzero(going):
            action = int(actions[k]) if actions.ndim == 1 else actions[k].astype(np.float32)
            after[k], _, ended, cut, _ = envs[k].step(action)
            if ended or cut:
                going[k], lengths[k] = False, step
        return after

    return move, first, lengths
