"""The road: a vehicle between two walls, and the agent that drives it best for given rewards (paper, section 4)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from tripletree.checks import check_choice, check_whole
from tripletree.log.endings import TERMINATED, TRUNCATED
from tripletree.log.log import Log
from tripletree.log.schema import Action, Feature, Schema
from tripletree.log.worlds import make

# The world and the grid of the paper (section 4).
LENGTH = 3.0
TOP_SPEED = 0.1
ACCELERATIONS = (-0.001, 0.001)
GAMMA = 0.99
CELLS = 30
MAX_STEPS = 200
BATCH = 256
"""Episodes that are driven at once; the log does not depend on it."""

_SCHEMA = Schema(
    features=(Feature("pos"), Feature("speed")),
    action=Action("discrete", names=("acc",), labels=tuple(str(acc) for acc in ACCELERATIONS)),
)


@dataclass(frozen=True)
class Rewards:
    """What the vehicle is paid: once at either wall, where the episode ends, and per step for its absolute speed."""

    left: float
    right: float
    speed: float


#: The four agents of the paper, by the rewards that made them.
VARIANTS = {
    "left": Rewards(1.5, 0, 1),
    "either": Rewards(1.5, 1.5, 1),
    "hurry": Rewards(10, 10, -1),
    "alive": Rewards(-100, -100, 1),
}


def step(
    states: npt.ArrayLike, acc: npt.ArrayLike, rewards: Rewards
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """Return the states (last axis: position, speed) after one step, the rewards, and whether a wall was hit."""
    pos, speed = np.moveaxis(np.asarray(states, np.float64), -1, 0)
    # The new speed moves the vehicle, so that an action shows in the very next position.
    speed = np.clip(speed + np.asarray(acc), -TOP_SPEED, TOP_SPEED)
    pos = pos + speed
    left, right = pos <= 0, pos >= LENGTH
    paid = np.where(left, rewards.left, np.where(right, rewards.right, rewards.speed * np.abs(speed)))
    return np.stack([pos, speed], axis=-1), paid, left | right


def start(rng: np.random.Generator, number: int) -> npt.NDArray[np.float64]:
    """Draw states to begin with: anywhere between the walls, at any speed."""
    return rng.uniform([0, -TOP_SPEED], [LENGTH, TOP_SPEED], (number, 2))


def cell(states: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the grid cell (along position, along speed) of each state; a border belongs to the cell above it."""
    scaled = (states + np.array([0, TOP_SPEED])) * (CELLS / np.array([LENGTH, 2 * TOP_SPEED]))
    # At top speed the vehicle moves by exactly one cell, from border to border: without the hair, rounding errors would
    # decide which cell it is in.
    # Clipped, because the last state of an episode may lie behind a wall.
    column, row = np.moveaxis(np.clip(np.floor(scaled + 1e-9).astype(np.int64), 0, CELLS - 1), -1, 0)
    return column, row


@dataclass(frozen=True)
class Solution:
    """What is best in every grid cell, and what it is worth."""

    policy: npt.NDArray[np.int64]
    value: npt.NDArray[np.float64]

    def act(self, state: npt.ArrayLike) -> Any:
        """Return the best action (a code into ACCELERATIONS) in a state, or in each of several."""
        return self.policy[cell(np.asarray(state, np.float64))]


@cache
def solve(rewards: Rewards) -> Solution:
    """Return the best action of every grid cell and its value, by value iteration.

    The chance of each next cell, and the mean reward, are those of 20 x 20 states spread evenly over a cell, edges
    included. Agents made in this way act as in the paper author's own logs: ``alive`` in all states of its log, and
    ``left`` in 98 % of them; in the rest, the two actions are worth the same to within 0.02.
    """
    spread = np.linspace(0, 1, 20)
    edges = (np.arange(CELLS)[:, None] + spread).ravel() / CELLS
    states = np.stack(np.meshgrid(LENGTH * edges, TOP_SPEED * (2 * edges - 1), indexing="ij"), axis=-1)
    here = np.indices(states.shape[:2]) // len(spread)

    # One step moves at most two cells along either axis.
    reward = np.zeros((len(ACCELERATIONS), CELLS, CELLS))
    chance = np.zeros((len(ACCELERATIONS), 5, 5, CELLS, CELLS))
    for a, acc in enumerate(ACCELERATIONS):
        after, paid, ended = step(states, acc, rewards)
        moved = np.stack(cell(after)) - here + 2
        np.add.at(reward[a], tuple(here), paid / len(spread) ** 2)
        np.add.at(chance[a], (*moved, *here), ~ended / len(spread) ** 2)

    value = np.zeros((CELLS, CELLS))
    while True:
        # Outside the grid there are no rewards, so the border is 0.
        around = np.lib.stride_tricks.sliding_window_view(np.pad(value, 2), (CELLS, CELLS))
        quality = reward + GAMMA * np.einsum("auvij,uvij->aij", chance, around)
        improved = quality.max(axis=0)
        # Far below any difference between two actions that could matter.
        if np.abs(improved - value).max() < 1e-9:
            solution = Solution(quality.argmax(axis=0), improved)
            for part in (solution.policy, solution.value):
                part.setflags(write=False)  # cached: every caller gets the same arrays
            return solution
        value = improved


def environment(variant: str = "either") -> Any:
    """Return the road as a Gymnasium environment (needs the extra ``gym``).

    Actions 0 and 1 are the accelerations -0.001 and 0.001; an episode is truncated after 200 steps.

    Parameters
    ----------
    variant : {"left", "either", "hurry", "alive"}
        Whose rewards.

    Returns
    -------
    gymnasium.Env

    Examples
    --------
    >>> from tripletree.demos import road
    >>> env = road.environment("left")
    >>> state, _ = env.reset(seed=0)
    >>> state, reward, terminated, truncated, _ = env.step(1)
    """
    paid(variant)
    return make("tripletree.demos.road_env:tripletree/Road-v0", variant=variant)


def paid(variant: str) -> Rewards:
    """Return the rewards of one of the VARIANTS; an unknown name is answered with the known ones."""
    check_choice(variant, "variant", VARIANTS)
    return VARIANTS[variant]


def record(variant: str = "either", *, n_samples: int = 10_000, seed: int = 0, whole: bool = False) -> Log:
    """Record an agent of the road from random starts.

    Parameters
    ----------
    variant : {"left", "either", "hurry", "alive"}
        Which agent: one that drives to the left wall, to either wall, to either wall in a hurry, or that stays alive.
    n_samples : int
        Steps to record; the last episode is cut there.
    seed : int
        Seed of the starts.
    whole : bool
        Let the last episode go on to its end, as in the paper author's logs.

    Returns
    -------
    Log
        Features ``pos`` and ``speed``, action ``acc``. Episodes end at a wall, or after 200 steps.

    Examples
    --------
    >>> from tripletree.demos import road
    >>> log = road.record(n_samples=500)
    >>> log.n_samples, log.n_features
    (500, 2)
    """
    rewards = paid(variant)
    check_whole(n_samples, "n_samples", 1, example=10_000)
    check_whole(seed, "seed", 0)
    agent = solve(rewards)
    rng = np.random.default_rng(seed)

    # All episodes of a batch are driven at once, even on through a wall; what comes after an episode's end is dropped.
    batches, found = [], 0
    while found < n_samples:
        states = np.empty((BATCH, MAX_STEPS + 1, 2))
        actions = np.empty((BATCH, MAX_STEPS), np.int32)
        received = np.empty((BATCH, MAX_STEPS))
        ended = np.empty((BATCH, MAX_STEPS), bool)
        states[:, 0] = start(rng, BATCH)
        for t in range(MAX_STEPS):
            actions[:, t] = agent.act(states[:, t])
            acc = np.take(ACCELERATIONS, actions[:, t])
            states[:, t + 1], received[:, t], ended[:, t] = step(states[:, t], acc, rewards)
        # argmax finds the first wall that was hit; later ones are behind it.
        length = np.where(ended.any(axis=1), ended.argmax(axis=1) + 1, MAX_STEPS)
        batches.append((states, actions, received, ended, length))
        found += int(length.sum())
    states, actions, received, ended, length = map(np.concatenate, zip(*batches, strict=True))

    episodes = np.arange(1 + np.searchsorted(length.cumsum(), n_samples))
    length = length[episodes]
    # Exactly n_samples: the last episode is cut where they are reached, and counts as truncated unless a wall is there.
    if not whole:
        length[-1] -= length.sum() - n_samples
    recorded = np.arange(MAX_STEPS) < length[:, None]
    return Log(
        states=states[episodes, :-1][recorded],
        actions=actions[episodes][recorded],
        rewards=received[episodes][recorded],
        starts=np.append(0, length.cumsum()),
        final_states=states[episodes, length],
        endings=np.where(ended[episodes, length - 1], TERMINATED, TRUNCATED).astype(np.uint8),
        episode_ids=episodes,
        schema=_SCHEMA,
    )
