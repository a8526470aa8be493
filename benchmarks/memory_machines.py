"""Textbook machines with textbook controllers whose memory is known: what people would try first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.memory_worlds import EPISODES, Game, Played, walk

F64 = npt.NDArray[np.float64]
Control = Callable[[F64, float], F64]

STEPS = (60, 100, 160, 250)
NOISE = (0.0, 0.01, 0.03, 0.06)


@dataclass(frozen=True)
class Machine:
    """How a machine moves, and how it is controlled towards an aim.

    Attributes
    ----------
    start : function
        Returns a first state for random numbers of unit spread.
    flow : function
        Returns what a unit of time adds to states under forces.
    control : function
        Returns the force in each state for an aim, before its limits of -1 and 1.
    aims : tuple of float
        What it aims at, and what it aims at in its other mode.
    feature, low, high : int and float
        A controller with two thresholds changes its aim where this feature is above and below these.
    pace : float
        The time that one step takes.
    """

    start: Callable[[F64], F64]
    flow: Callable[[F64, F64], F64]
    control: Control
    aims: tuple[float, float]
    feature: int
    low: float
    high: float
    pace: float


def _of(*columns: F64) -> F64:
    return np.stack(columns, axis=1)


def _cart_flow(s: F64, u: F64) -> F64:
    return _of(s[:, 1], 2 * u[:, 0] - 0.2 * s[:, 1])


def _room_flow(s: F64, u: F64) -> F64:
    return _of(0.5 * (s[:, 1] - s[:, 0]) + 1.2 * u[:, 0], -0.3 * s[:, 1])


def _pendulum_flow(s: F64, u: F64) -> F64:
    return _of(-s[:, 1] * s[:, 2], s[:, 0] * s[:, 2], 3 * s[:, 1] + 4 * u[:, 0] - 0.1 * s[:, 2])


def _pole_flow(s: F64, u: F64) -> F64:
    return _of(s[:, 1], 3 * u[:, 0], s[:, 3], 8 * np.sin(s[:, 2]) - 4 * u[:, 0] * np.cos(s[:, 2]))


def _follower_flow(s: F64, u: F64) -> F64:
    return _of(s[:, 2] - s[:, 1], 2 * u[:, 0], -0.4 * (s[:, 2] - 1))


def _boat_flow(s: F64, u: F64) -> F64:
    return _of(s[:, 2], s[:, 3], 1.5 * u[:, 0] - 0.4 * s[:, 2], 1.5 * u[:, 1] - 0.4 * s[:, 3])


def _tanks_flow(s: F64, u: F64) -> F64:
    drained, deep = (np.sqrt(np.maximum(level, 0)) for level in (s[:, 0], s[:, 1]))
    return _of(s[:, 2] + u[:, 0] + 1 - drained, drained - deep, -0.5 * s[:, 2])


def _lander_flow(s: F64, u: F64) -> F64:
    lift = 1 + u[:, 0]
    tilt = s[:, 4]
    return _of(
        s[:, 2], s[:, 3], -lift * np.sin(tilt), lift * np.cos(tilt) - 1 - 0.3 * s[:, 3], s[:, 5], 3 * u[:, 1] - s[:, 5]
    )


def _plane_flow(s: F64, u: F64) -> F64:
    return _of(s[:, 1], 2 * s[:, 2] - 0.5 * s[:, 1], s[:, 3], 4 * u[:, 0] - 2 * s[:, 3] - s[:, 2])


def _land(s: F64, aim: float) -> F64:
    lean = np.clip(0.4 * (s[:, 0] - aim) + 0.6 * s[:, 2], -0.4, 0.4)
    return _of(-0.8 * s[:, 1] - 1.5 * (s[:, 3] + 0.2), 2 * (lean - s[:, 4]) - s[:, 5])


def _swing(s: F64, aim: float) -> F64:
    """Pumps energy into a pendulum, and holds it where it is nearly upright: its first number is the cosine of that."""
    missing = 3 * (1 - s[:, 0]) - 0.5 * s[:, 2] ** 2
    way = np.where(np.abs(s[:, 2]) < 0.2, np.sign(aim), np.sign(s[:, 2]))
    held = (s[:, 0] > 0.85) & (np.abs(s[:, 2]) < 2.5)
    return np.where(held, -3 * (s[:, 1] - 0.3 * aim) - s[:, 2], np.clip(missing, -1, 1) * way)[:, None]


MACHINES = {
    "cart": Machine(
        lambda z: z * (1.2, 0.6), _cart_flow, lambda s, aim: _of(-1.5 * (s[:, 0] - aim) - 1.2 * s[:, 1]),
        (0.0, 0.8), 0, -0.4, 0.4, 0.1,
    ),
    "room": Machine(
        lambda z: z * (0.8, 0.4), _room_flow, lambda s, aim: _of(-4 * (s[:, 0] - aim)),
        (-0.8, 0.8), 0, -0.4, 0.4, 0.15,
    ),
    "pendulum": Machine(
        lambda z: _of(np.cos(2 * z[:, 0]), np.sin(2 * z[:, 0]), z[:, 2]), _pendulum_flow, _swing,
        (-1.0, 1.0), 2, -0.5, 0.5, 0.05,
    ),
    "pole": Machine(
        lambda z: z * (0.5, 0.3, 0.1, 0.2), _pole_flow,
        lambda s, aim: _of(0.5 * (s[:, 0] - aim) + 0.8 * s[:, 1] + 6 * s[:, 2] + 1.6 * s[:, 3]),
        (-0.4, 0.4), 0, -0.3, 0.3, 0.04,
    ),
    "follower": Machine(
        lambda z: _of(2 + 0.6 * z[:, 0], 1 + 0.3 * z[:, 1], 1 + 0.3 * z[:, 2]), _follower_flow,
        lambda s, aim: _of(0.6 * (s[:, 0] - aim * s[:, 1] - 0.3) + 0.8 * (s[:, 2] - s[:, 1])),
        (1.5, 0.9), 0, 1.2, 1.8, 0.15,
    ),
    "boat": Machine(
        lambda z: z * (1.0, 1.0, 0.3, 0.3), _boat_flow,
        lambda s, aim: _of(-(s[:, 0] - aim) - s[:, 2], -(s[:, 1] - aim / 2) - s[:, 3]),
        (-0.5, 0.5), 0, -0.3, 0.3, 0.12,
    ),
    "tanks": Machine(
        lambda z: _of(np.abs(1 + 0.4 * z[:, 0]), np.abs(1 + 0.4 * z[:, 1]), 0.3 * z[:, 2]), _tanks_flow,
        lambda s, aim: _of(-2 * (s[:, 1] - aim) - 0.5 * (s[:, 0] - aim)),
        (0.8, 1.3), 1, 0.9, 1.2, 0.2,
    ),
    "lander": Machine(
        lambda z: _of(0.8 * z[:, 0], 1 + 0.2 * z[:, 1], *(0.2 * z[:, 2:]).T), _lander_flow, _land,
        (-0.5, 0.5), 0, -0.3, 0.3, 0.08,
    ),
    "plane": Machine(
        lambda z: z * (1.0, 0.4, 0.1, 0.1), _plane_flow,
        lambda s, aim: _of(-0.6 * (s[:, 0] - aim) - 0.9 * s[:, 1] - s[:, 2] - 0.3 * s[:, 3]),
        (-0.5, 0.5), 0, -0.3, 0.3, 0.1,
    ),
}  # fmt: skip
"""Carts, thermostats, pendulums, poles on carts, cars that follow, boats, tanks, landers and planes."""
SIZES = {"cart": 2, "room": 2, "pendulum": 3, "pole": 4, "follower": 3, "boat": 4, "tanks": 3, "lander": 6, "plane": 4}


def operate(kind: str, seed: int, episodes: int = EPISODES) -> Played:
    """Operate one of the machines: weakly or strongly, on and off or in between, noisy or not."""
    rng = np.random.default_rng([seed, 99])
    name = str(rng.choice(list(MACHINES)))
    machine = MACHINES[name]
    strength, pace, wide = rng.uniform(0.7, 1.5), machine.pace * rng.uniform(0.7, 1.4), rng.uniform(0.7, 1.3)
    switched_on, doubt = rng.random() < 0.4, rng.choice([0, 0, 0.1, 0.2])
    disturbed, steps = rng.choice(NOISE), int(rng.choice(STEPS))
    lag, scale = int(rng.integers(2, 7)), rng.uniform(0.8, 1.25)
    width = machine.control(np.zeros((1, SIZES[name])), 0.0).shape[1]

    def towards(aim: float) -> Callable[..., Any]:
        def act(states: F64, draw: np.random.Generator | None) -> Any:
            force = strength * machine.control(states, aim)
            if draw is not None and doubt:
                force = force + doubt * draw.normal(size=force.shape)
            if not switched_on:
                return np.clip(force, -1, 1)
            return ((force > 0) * 2 ** np.arange(width)).sum(axis=1)  # each force is on or off

        return act

    def move(states: F64, actions: Any) -> F64:
        force = 2.0 * (actions[:, None] >> np.arange(width) & 1) - 1 if switched_on else actions
        after = states + pace * machine.flow(states, force) + disturbed * rng.normal(size=states.shape)
        if name == "pendulum":
            after[:, :2] /= np.linalg.norm(after[:, :2], axis=1, keepdims=True)
        return np.clip(after, -6, 6)

    low, high = machine.aims
    # What is above the upper threshold is brought down, and the other way round.
    policies = towards(high), towards(low)
    middle, half = (machine.low + machine.high) / 2, scale * (machine.high - machine.low) / 2
    first = machine.start(wide * rng.normal(size=(episodes, SIZES[name])))
    limits = middle - half, middle + half
    return walk(kind, Game(policies, move, first, np.full(episodes, steps), machine.feature, limits, lag), rng)
