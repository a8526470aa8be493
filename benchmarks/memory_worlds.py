"""Random worlds with agents whose memory is known: none, or one of seven kinds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

F64 = npt.NDArray[np.float64]
Bool = npt.NDArray[np.bool_]
Act = Callable[..., Any]

FORMS = ("linear", "network", "sign", "tree", "wavy", "centres")
WORLDS = ("linear", "bent", "oscillator", "chaotic", "masses", "walk")
EPISODES = 20
SWITCHED = ("mode", "switching", "latch", "hysteresis")
HELD = ("sticky", "smooth")


@dataclass
class Played:
    """What happened: one row a step, episode by episode."""

    states: F64
    actions: Any
    lengths: npt.NDArray[np.int64]
    seen: F64
    """The states that it acted on: old ones where it is late."""
    lag: int
    """How many steps old they are."""
    bit: Bool
    """Whether it acted by its second policy."""
    before: Any
    """What it did a step before; in the first step, what it does there."""
    again: float
    """How much of that it takes over, or how often."""
    policies: tuple[Act, Act]

    def log(self) -> Any:
        """Return the log of it."""
        from tripletree import Log

        starts = np.append(0, np.cumsum(self.lengths[:-1]))
        return Log.from_arrays(self.states, self.actions, np.zeros(len(self.states)), starts=starts, ending="truncated")


def policy(rng: np.random.Generator, d: int, width: int, labelled: bool, noisy: bool, used: int) -> Act:
    """Return an agent without memory: smooth or sharp, of all features or some, noisy or not."""
    form = str(rng.choice(FORMS, p=[0.25, 0.3, 0.15, 0.15, 0.05, 0.1]))
    mask = np.zeros(d)
    mask[rng.permutation(d)[:used]] = 1
    plain = 1.5 * rng.normal(size=(d, width)) / np.sqrt(used) * mask[:, None]
    first = 1.8 * rng.normal(size=(d, 16)) / np.sqrt(used) * mask[:, None]
    second, offset = rng.normal(size=(16, width)) / 2, 0.3 * rng.normal(size=16)
    depth = int(rng.integers(2, 5))
    feature, threshold = rng.choice(np.flatnonzero(mask), size=2**depth), 0.7 * rng.normal(size=2**depth)
    value, speed, noise = rng.normal(size=(2**depth, width)), rng.uniform(1.5, 3), rng.uniform(0.05, 0.4)
    centres = 1.2 * rng.normal(size=(int(rng.integers(4, 12)), d))
    there, greedy = rng.normal(size=(len(centres), width)), rng.random() < 0.5

    def raw(states: F64) -> Any:
        if form == "network":
            return np.tanh(states @ first + offset) @ second
        if form == "tree":
            node = np.zeros(len(states), np.int64)
            for _ in range(depth):
                node = 2 * node + 1 + (states[np.arange(len(states)), feature[node]] > threshold[node])
            return value[node - 2**depth + 1]
        if form == "wavy":
            return np.sin(speed * (states @ plain))
        if form == "centres":
            return there[(((states[:, None] - centres) * mask) ** 2).sum(axis=2).argmin(axis=1)]
        return states @ plain

    def act(states: F64, draw: np.random.Generator | None) -> Any:
        out = raw(states)
        if labelled:
            if noisy and draw is not None and not greedy:
                out = out + noise * draw.gumbel(size=out.shape)
            label = out.argmax(axis=1)
            if noisy and draw is not None and greedy:
                label = np.where(draw.random(len(label)) < noise, draw.integers(width, size=len(label)), label)
            return label
        out = np.sign(out) if form == "sign" else np.clip(out, -1, 1)
        return out + noise * draw.normal(size=out.shape) if noisy and draw is not None else out

    return act


def play(kind: str, seed: int, episodes: int = EPISODES, wander: bool = False) -> Played:
    """Play episodes of a random world: 1 to 24 features, slow or fast, noisy or not, with an agent of some kind.

    States that ``wander`` do so by themselves, so that they do not show what the agent has in mind.
    """
    rng = np.random.default_rng([seed, 77])
    d = int(rng.choice([1, 2, 3, 4, 6, 8, 12, 16, 24], p=[0.06, 0.16, 0.14, 0.16, 0.14, 0.14, 0.08, 0.06, 0.06]))
    d = int(rng.integers(1, 7)) if wander else d
    used = d if rng.random() < 0.6 else int(rng.integers(1, d + 1))
    labelled, noisy = rng.random() < 0.5, rng.random() < 0.4
    width = int(rng.choice([2, 3, 4])) if labelled else int(rng.choice([1, 1, 2]))
    act, second = (policy(rng, d, width, labelled, noisy, used) for _ in range(2))
    move, steps = world(rng, d, width, wander)
    shift = rng.normal(size=d)
    shift *= rng.uniform(0.6, 1.6) * np.sqrt(min(d, 3)) / np.linalg.norm(shift)
    shifted, feature = rng.random() < 0.5, int(rng.integers(d))
    lag, half = int(rng.integers(2, 7)), rng.uniform(0.3, 0.9)
    again, smooth = rng.uniform(0.25, 0.5), rng.uniform(0.3, 0.7)
    again = again if kind == "sticky" else 0.6 if labelled else smooth
    varied, wide = rng.random() < 0.3, rng.choice([0.5, 1, 1.5])
    # From here on, the number of episodes decides what is drawn; the world and the agent do not depend on it.
    first = wide * rng.normal(size=(episodes, d))
    lengths = rng.integers(max(steps // 3, 15), steps + 1, size=episodes) if varied else np.full(episodes, steps)

    def other(states: F64, draw: np.random.Generator | None) -> Any:
        return act(states + shift, draw) if shifted else second(states, draw)

    def go_on(states: F64, action: Any) -> F64:
        return move(states, np.eye(width)[action] if labelled else action)

    return walk(kind, Game((act, other), go_on, first, lengths, feature, (-half, half), lag, again), rng)


@dataclass(frozen=True)
class Game:
    """Where episodes begin, how they go on, and what an agent with some memory may need.

    Attributes
    ----------
    policies : tuple of function
        What is done in each mode; in one without memory, the first.
    move : function
        Returns what follows states and actions.
    first : float64 array of shape (episodes, features)
        First states.
    lengths : int64 array of shape (episodes,)
        Steps of each episode; ``move`` may shorten those that end by themselves.
    feature, limits : int and tuple of float
        One with two thresholds changes its mode where this feature is above the second, and below the first.
    lag : int
        How old the state is that a late one acts on.
    again : float
        How much of its last action one that smooths takes over, or how often one that repeats repeats it.
    """

    policies: tuple[Act, Act]
    move: Act
    first: F64
    lengths: npt.NDArray[np.int64]
    feature: int
    limits: tuple[float, float]
    lag: int
    again: float = 0.5


def walk(kind: str, game: Game, rng: np.random.Generator) -> Played:
    """Play all episodes of a game at once."""
    (act, other), x, episodes, step = game.policies, game.first, len(game.first), 0
    bit = rng.permutation(episodes) % 2 == 1 if kind in ("mode", "switching") else np.zeros(episodes, bool)
    states: list[F64] = []
    actions: list[Any] = []
    olds: list[F64] = []
    bits: list[Bool] = []
    while step < game.lengths.max():
        states.append(x)
        seen = states[max(step - game.lag, 0)] if kind == "delay" else x
        action = act(seen, rng)
        bit = switched(kind, bit, x[:, game.feature], game.limits, rng)
        if kind in SWITCHED:
            action[bit] = other(x, rng)[bit]
        if step and (kind == "sticky" or (kind == "smooth" and action.ndim == 1)):
            held = rng.random(episodes) < game.again
            action[held] = actions[-1][held]
        elif step and kind == "smooth":
            action = game.again * actions[-1] + (1 - game.again) * action
        olds.append(seen)
        bits.append(bit)
        actions.append(action)
        x, step = game.move(x, action), step + 1
    kept = np.arange(step) < game.lengths[:, None]
    parts = (states, actions, olds, bits, [actions[0], *actions[:-1]])
    done, said, old, other_mode, before = (np.stack(part, axis=1)[kept] for part in parts)
    late, held_back = (game.lag if kind == "delay" else 0), (game.again if kind in HELD else 0.0)
    return Played(done, said, game.lengths, old, late, other_mode, before, held_back, game.policies)


def switched(kind: str, bit: Bool, column: F64, limits: tuple[float, float], rng: np.random.Generator) -> Bool:
    """Return which episodes are in the other mode now."""
    low, high = limits
    if kind == "hysteresis":
        return np.where(column > high, True, np.where(column < low, False, bit))
    if kind == "switching":
        return bit ^ (rng.random(len(bit)) < 0.03)
    return bit | (column > high) if kind == "latch" else bit


def world(rng: np.random.Generator, d: int, width: int, wander: bool) -> tuple[Callable[[F64, F64], F64], int]:
    """Return how a random world goes on, and how many steps an episode has."""
    form = str(rng.choice(WORLDS, p=[0.2, 0.25, 0.15, 0.1, 0.2, 0.1]))
    flow = rng.normal(size=(d, d)) / np.sqrt(d)
    flow = 1.5 * (flow - flow.T) if form == "oscillator" else flow
    flow -= np.eye(d) * (np.linalg.eigvals(flow).real.max() + 0.05)
    push = rng.normal(size=(width, d)) * rng.choice([0.3, 1, 2])
    bend = rng.normal(size=(d, d)) / np.sqrt(d) * (3 if form == "chaotic" else 1)
    steps = int(rng.choice([40, 80, 120, 250]))
    dt, noise = rng.choice([0.02, 0.05, 0.15, 0.3], p=[0.15, 0.35, 0.35, 0.15]), rng.choice([0, 0.01, 0.05, 0.15])
    half, keeps = d // 2, rng.uniform(0.7, 0.95) if wander else 0.0

    def move(x: F64, force: F64) -> F64:
        kick = noise * rng.normal(size=x.shape)
        if wander:
            step: F64 = np.sqrt(1 - keeps**2) * rng.normal(size=x.shape)
            return keeps * x + step
        if form == "walk":
            x = x * (1 - 0.1 * dt) + dt * force @ push + max(noise, 0.05) * rng.normal(size=x.shape)
        elif form == "masses":
            speed = dt * ((force @ push)[:, half:] - 0.3 * x[:, half:])
            speed[:, :half] -= dt * 0.5 * x[:, :half]
            x = x + np.concatenate([dt * x[:, half : 2 * half], speed], axis=1) + kick
        else:
            x = x + dt * (x @ flow.T + force @ push + (0 if form == "linear" else np.tanh(x @ bend))) + kick
        return np.clip(x, -4, 4)

    return move, steps
