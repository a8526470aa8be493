"""Clean worlds to plant faults in: a point that an agent steers to the middle, and a cart that is pushed about."""

from __future__ import annotations

from typing import Any

import numpy as np

from tripletree import Log


def world(
    seed: int = 0, episodes: int = 12, length: int = 60, *, continuous: bool = False, noise: float = 0.02
) -> dict[str, Any]:
    """Return the columns of a world without faults, as `Log.from_dict` takes them."""
    rng = np.random.default_rng(seed)
    rows: list[list[float]] = []
    for episode in range(episodes):
        x, v, heat = rng.uniform(-2, 2), rng.uniform(-0.5, 0.5), rng.uniform(15, 25)
        for step in range(length):
            push = -1.5 * x - v + rng.normal(0, noise)
            action = float(np.clip(push, -1, 1)) if continuous else float(push > 0)
            rows.append([episode, step, x, v, heat, action, -abs(x)])
            v += 0.1 * (push if continuous else 2 * action - 1) + rng.normal(0, noise)
            x += 0.1 * v
            heat += rng.normal(0, 0.1)
    table = np.array(rows)
    names = ("episode", "step", "x", "v", "heat", "action", "reward")
    found: dict[str, Any] = dict(zip(names, table.T.copy(), strict=True))
    found["episode"], found["step"] = found["episode"].astype(int), found["step"].astype(int)
    if not continuous:
        found["action"] = found["action"].astype(int)
    return found


def log_of(table: dict[str, Any], **options: Any) -> Log:
    """Return the log of a world."""
    return Log.from_dict(table, **{"ending": "terminated", **options})
