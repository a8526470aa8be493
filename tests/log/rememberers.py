"""A point that is steered to the middle by agents that remember in known ways, or not at all."""

from __future__ import annotations

import numpy as np

from tripletree import Log

KINDS = ("sticky", "delay", "hysteresis", "mode", "latch")


def steered(
    kind: str = "none",
    seed: int = 0,
    episodes: int = 20,
    length: int = 80,
    *,
    labels: bool = False,
    noise: float = 0.0,
    pilots: int = 1,
) -> Log:
    """Return a log of position and speed; ``kind`` is one of KINDS, or none. The second pilot steers the other way."""
    rng = np.random.default_rng(seed)
    parts = []
    for episode in range(episodes):
        x, v = rng.uniform(-2, 2), rng.uniform(-1, 1)
        mode = kind == "mode" and episode % 2 == 1
        other = pilots > 1 and episode >= episodes // 2
        bit, before, past, rows = False, 0.0, [], []
        for _ in range(length):
            past.append((x, v))
            seen = past[max(len(past) - 6, 0)] if kind == "delay" else (x, v)
            if kind == "hysteresis":  # a thermostat: to and fro between two limits
                bit = x > 0.5 or (bit and x > -0.5)
                aim = -0.8 if bit else 0.8
            else:
                bit = bit or x > 1.0
                aim = 0.8 if mode or other or (bit and kind == "latch") else 0.0
            push = float(np.clip(-1.5 * (seen[0] - aim) - seen[1] + noise * rng.normal(), -1, 1))
            push = float(push > 0) if labels else push
            if kind == "sticky" and rows and rng.random() < 0.25:
                push = before
            before = push
            rows.append((x, v, push))
            v += 0.15 * (2 * push - 1 if labels else push) + 0.08 * rng.normal()
            x += 0.15 * v
        parts.append(rows)
    table = np.array([row for rows in parts for row in rows])
    return Log.from_arrays(
        table[:, :2],
        table[:, 2].astype(int) if labels else table[:, 2:],
        np.zeros(len(table)),
        starts=np.arange(episodes) * length,
        feature_names=["x", "v"],
        action_names=["push"],
        ending="truncated",
    )


def thermostat(memory: bool, seed: int = 0, episodes: int = 20, length: int = 60) -> Log:
    """Return a log of a room that is heated: from one temperature to another, or below a line of two features."""
    rng = np.random.default_rng(seed)
    states, actions = [], []
    for _ in range(episodes):
        room, outside, on = rng.uniform(-1.5, 1.5), rng.uniform(-0.5, 0.5), False
        for _ in range(length):
            on = (room < -0.5 or (on and room < 0.5)) if memory else room + 0.3 * outside < 0
            states.append((room, outside))
            actions.append(int(on))
            room += 0.15 * ((1.0 if on else -1.0) + 0.3 * outside) + 0.05 * rng.normal()
            outside += 0.1 * rng.normal()
    return Log.from_arrays(
        states,
        actions,
        np.zeros(len(states)),
        starts=np.arange(episodes) * length,
        feature_names=["room", "outside"],
        ending="truncated",
    )


def late(lag: int, seed: int = 0, episodes: int = 20, length: int = 60) -> Log:
    """Return a log of four features that wander, and of an agent that acts on what they were some steps ago."""
    rng = np.random.default_rng(seed)
    states = np.empty((episodes, length, 4))
    states[:, 0] = rng.normal(size=(episodes, 4))
    for step in range(1, length):
        states[:, step] = 0.9 * states[:, step - 1] + 0.4 * rng.normal(size=(episodes, 4))
    seen = states[:, np.maximum(np.arange(length) - lag, 0)]
    push = np.tanh(seen[..., 0] - seen[..., 1] * seen[..., 2]) + 0.1 * rng.normal(size=(episodes, length))
    return Log.from_arrays(
        states.reshape(-1, 4),
        push.reshape(-1, 1),
        np.zeros(episodes * length),
        starts=np.arange(episodes) * length,
        ending="truncated",
    )
