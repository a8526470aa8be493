"""The road: a vehicle between two walls, and the agent that drives it best for given rewards (paper, section 4)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tripletree.checks import did_you_mean, is_integer
from tripletree.errors import ParameterError
from tripletree.log.endings import TERMINATED, TRUNCATED
from tripletree.log.log import Log
from tripletree.log.schema import Action, Feature, Schema

LENGTH = 3.0
TOP_SPEED = 0.1
ACCELERATIONS = (-0.001, 0.001)
GAMMA = 0.99
CELLS = 30
MAX_STEPS = 200

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
    speed = np.clip(speed + np.asarray(acc), -TOP_SPEED, TOP_SPEED)
    pos = pos + speed
    left, right = pos <= 0, pos >= LENGTH
    paid = np.where(left, rewards.left, np.where(right, rewards.right, rewards.speed * np.abs(speed)))
    return np.stack([pos, speed], axis=-1), paid, left | right


def cell(states: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the grid cell (along position, along speed) of each state."""
    scaled = (states + np.array([0, TOP_SPEED])) * (CELLS / np.array([LENGTH, 2 * TOP_SPEED]))
    column, row = np.moveaxis(np.clip(np.floor(scaled).astype(np.int64), 0, CELLS - 1), -1, 0)
    return column, row


def solve(rewards: Rewards) -> npt.NDArray[np.int64]:
    """Return the best action (a code into ACCELERATIONS) of every grid cell, by value iteration.

    The chance of each next cell, and the mean reward, are those of states spread evenly over a cell, edges included;
    with 20 x 20 of them the agents are closest to the paper's.
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
        # Nothing is to be had outside the grid, so its border is 0.
        around = np.lib.stride_tricks.sliding_window_view(np.pad(value, 2), (CELLS, CELLS))
        quality = reward + GAMMA * np.einsum("auvij,uvij->aij", chance, around)
        improved = quality.max(axis=0)
        if np.abs(improved - value).max() < 1e-9:
            best: npt.NDArray[np.int64] = quality.argmax(axis=0)
            return best
        value = improved


def record(variant: str = "either", *, n_samples: int = 10_000, seed: int = 0) -> Log:
    """Record an agent of the road from random starts.

    Parameters
    ----------
    variant : {"left", "either", "hurry", "alive"}
        Which agent: drives to the left wall, to either wall, to either wall without dawdling, or stays alive.
    n_samples : int
        Steps to record; the last episode is cut there.
    seed : int
        Seed of the starts.

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
    if variant not in VARIANTS:
        allowed = " or ".join(map(repr, VARIANTS))
        raise ParameterError(f"variant must be {allowed}; got {variant!r}.{did_you_mean(variant, VARIANTS)}")
    if not is_integer(n_samples) or n_samples < 1:
        raise ParameterError(f"n_samples must be a whole number of at least 1; got {n_samples!r}.")
    rewards = VARIANTS[variant]
    policy = solve(rewards)
    rng = np.random.default_rng(seed)

    states = np.empty((n_samples, 2))
    actions = np.empty(n_samples, np.int32)
    paid = np.empty(n_samples)
    starts, final_states, endings = [0], [], []
    while (t := starts[-1]) < n_samples:
        state = rng.uniform([0, -TOP_SPEED], [LENGTH, TOP_SPEED])
        last = min(t + MAX_STEPS, n_samples)
        ended = False
        while t < last and not ended:
            states[t], actions[t] = state, policy[cell(state)]
            state, reward, wall = step(state, ACCELERATIONS[actions[t]], rewards)
            paid[t], ended = reward, bool(wall)
            t += 1
        starts.append(t)
        final_states.append(state)
        endings.append(TERMINATED if ended else TRUNCATED)
    return Log(
        states=states,
        actions=actions,
        rewards=paid,
        starts=np.array(starts, np.int64),
        final_states=np.array(final_states),
        endings=np.array(endings, np.uint8),
        episode_ids=np.arange(len(endings)),
        schema=_SCHEMA,
    )
