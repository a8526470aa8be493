"""Trajectory-like data made by small simulated worlds: smooth dynamics, saturations, contact flags, noise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

GAMMA = 0.99


@dataclass(frozen=True)
class Recording:
    """Episodes laid end to end; every final state is known, so every step has a derivative."""

    states: np.ndarray  # (n, d)
    actions: np.ndarray  # (n, m)
    rewards: np.ndarray  # (n,)
    starts: np.ndarray  # (episodes + 1,)
    final_states: np.ndarray  # (episodes, d)

    def targets(self) -> np.ndarray:
        """Return scaled columns of action, value and derivative: their summed variance is the hybrid impurity."""
        first, last = self.starts[:-1], self.starts[1:] - 1
        following = np.roll(self.states, -1, axis=0)
        following[last] = self.final_states
        derivative = following - self.states
        value = self.rewards.copy()
        for back in range(1, int((last - first).max()) + 1):
            now = last[last - back >= first] - back
            value[now] += GAMMA * value[now + 1]
        groups = [self.actions, value[:, None], derivative]
        columns = []
        for group in groups:
            spread = group.std(axis=0)
            varying = group[:, spread > 0] / spread[spread > 0]
            columns.append(varying / np.sqrt(varying.shape[1]))
        return np.ascontiguousarray(np.concatenate(columns, axis=1))


def roll(
    start: np.ndarray, steps: int, step: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]
) -> Recording:
    """Run all episodes at once; ``step`` returns actions, rewards and the next states."""
    episodes, d = start.shape
    now = start
    states, actions, rewards = [], [], []
    for _ in range(steps):
        action, reward, after = step(now)
        states.append(now)
        actions.append(action)
        rewards.append(reward)
        now = after
    shape = (episodes * steps, -1)
    return Recording(
        np.ascontiguousarray(np.stack(states, axis=1).reshape(episodes * steps, d)),
        np.ascontiguousarray(np.stack(actions, axis=1).reshape(shape)),
        np.ascontiguousarray(np.stack(rewards, axis=1).reshape(-1)),
        np.arange(episodes + 1) * steps,
        now,
    )


def road(n: int, seed: int = 0) -> Recording:
    """A car between 0 and 3, rewarded for speed and for leaving on the left, driven by the greedy agent of a grid."""
    rng = np.random.default_rng(seed)
    policy = road_policy()
    parts: list[list[np.ndarray]] = [[], [], []]
    lengths, ends = [], []
    while sum(lengths) < n:
        position, speed = rng.uniform(0, 3), rng.uniform(-0.1, 0.1)
        done, steps = False, 0
        while not done and steps < 200 and sum(lengths) + steps < n:
            column = min(int(position * 10), 29)
            row = min(int((speed + 0.1) * 150), 29)
            action = policy[column, row]
            after, reward, done = road_step(position, speed, action)
            for part, entry in zip(parts, ([position, speed], [float(action)], reward), strict=True):
                part.append(entry)
            position, speed = after
            steps += 1
        lengths.append(steps)
        ends.append(after)
    states, actions, rewards = (np.array(part) for part in parts)
    return Recording(states, actions, rewards, np.concatenate([[0], np.cumsum(lengths)]), np.array(ends))


def road_step(position: np.ndarray, speed: np.ndarray, action: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """One step of the road: accelerate by 0.001 to the left or right."""
    speed = np.clip(speed + np.where(action == 1, 0.001, -0.001), -0.1, 0.1)
    position = position + speed
    done = (position <= 0) | (position >= 3)
    reward = np.where(position <= 0, 1.5, np.where(position >= 3, 0.0, np.abs(speed)))
    return np.stack([position, speed], axis=-1), reward, done


def road_policy() -> np.ndarray:
    """Greedy actions after value iteration on a 30 x 30 grid with bilinear interpolation."""
    centres = np.stack(
        np.meshgrid((np.arange(30) + 0.5) / 10, (np.arange(30) + 0.5) / 150 - 0.1, indexing="ij"), axis=-1
    ).reshape(-1, 2)
    outcomes = [road_step(*centres.T, np.full(900, action)) for action in (0, 1)]
    value = np.zeros((30, 30))
    for _ in range(400):
        quality = [reward + np.where(done, 0.0, GAMMA * interpolate(value, after)) for after, reward, done in outcomes]
        value = np.maximum(*quality).reshape(30, 30)
    return (quality[1] > quality[0]).astype(int).reshape(30, 30)


def interpolate(value: np.ndarray, states: np.ndarray) -> np.ndarray:
    """Bilinear interpolation between the centres of the road's grid."""
    a = np.clip(states[:, 0] * 10 - 0.5, 0, 28.999)
    b = np.clip((states[:, 1] + 0.1) * 150 - 0.5, 0, 28.999)
    i, j = a.astype(int), b.astype(int)
    a, b = a - i, b - j
    low = value[i, j] * (1 - b) + value[i, j + 1] * b
    return low * (1 - a) + (value[i + 1, j] * (1 - b) + value[i + 1, j + 1] * b) * a


def lander(n: int, seed: int = 0) -> Recording:
    """A craft with a main and a side engine that lands on a pad: 8 features, two of them leg contacts, 2 actions."""
    rng = np.random.default_rng(seed)
    steps = 250
    episodes = n // steps
    start = np.zeros((episodes, 8))
    start[:, 0] = rng.uniform(-0.5, 0.5, episodes)
    start[:, 1] = rng.uniform(1.2, 1.5, episodes)
    start[:, 2:4] = rng.normal(0, 0.4, (episodes, 2))
    start[:, 5] = rng.normal(0, 0.1, episodes)

    def step(now: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        x, y, vx, vy, angle, spin, left, right = now.T
        landed = (left + right) > 0
        wanted = np.clip(0.5 * x + 1.0 * vx, -0.4, 0.4)
        side = np.tanh(8 * ((wanted - angle) * 0.5 - spin * 0.4))
        main = np.tanh(6 * (0.5 * np.abs(x) - 0.55 * y - 0.5 * vy))
        main, side = np.where(landed, np.tanh(-3 * vy), main), np.where(landed, 0.1 * side, side)
        thrust = np.where(main > 0, 0.5 + 0.5 * main, 0.0)
        torque = np.where(np.abs(side) > 0.5, side, 0.0)
        dt = 0.02
        gust = rng.normal(0, 0.004, (3, episodes))
        touch = left + right
        # Legs are springs with friction, so that nothing rests at exactly the same place twice.
        vx1 = vx + dt * (-2.2 * thrust * np.sin(angle) + 0.2 * torque * np.cos(angle) - 4 * touch * vx) + gust[0]
        vy1 = vy + dt * (2.2 * thrust * np.cos(angle) - 1.0 - touch * (30 * y + 5 * vy)) + gust[1]
        spin1 = spin + dt * (2.0 * torque - touch * (10 * angle + 5 * spin)) + gust[2]
        x1, y1, angle1 = x + dt * vx1 * 2, y + dt * vy1 * 2, angle + dt * spin1 * 2
        left1 = (y1 - 0.1 * np.sin(angle1) <= 0.02).astype(float)
        right1 = (y1 + 0.1 * np.sin(angle1) <= 0.02).astype(float)
        after = np.stack([x1, y1, vx1, vy1, angle1, spin1, left1, right1], axis=1)

        def shaping(s: np.ndarray) -> np.ndarray:
            near = np.hypot(s[:, 0], s[:, 1]) + np.hypot(s[:, 2], s[:, 3]) + np.abs(s[:, 4])
            return -100 * near + 10 * (s[:, 6] + s[:, 7])

        reward = shaping(after) - shaping(now) - 0.3 * thrust - 0.03 * np.abs(torque)
        return np.stack([main, side], axis=1), reward, after

    return roll(start, steps, step)


def plant(n: int, seed: int = 0, d: int = 50, m: int = 7) -> Recording:
    """A random controlled nonlinear system: d features of which some saturate and some are flags, m clipped actions."""
    rng = np.random.default_rng(seed)
    steps = 200
    episodes = n // steps
    n_flags, n_saturated = d // 10, d // 5
    core = d - n_flags
    coupling = rng.normal(size=(core, core)) / np.sqrt(core)
    mixing = rng.normal(size=(core, core)) / np.sqrt(core)
    steering = rng.normal(size=(m, core)) / np.sqrt(m)
    feedback = rng.normal(size=(core, m)) / np.sqrt(core)
    goal = rng.normal(size=core) / np.sqrt(core)

    def complete(x: np.ndarray) -> np.ndarray:
        x = x.copy()
        x[:, :n_saturated] = np.clip(x[:, :n_saturated], -0.8, 0.8)
        return np.concatenate([x, (x[:, :n_flags] >= 0.8).astype(float)], axis=1)

    def step(now: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        x = now[:, :core]
        action = np.clip(x @ feedback, -1, 1)
        x1 = x + 0.05 * (np.tanh(x @ coupling) @ mixing * 2 - 0.3 * x + action @ steering)
        return action, x1 @ goal - 0.01 * (x1**2).sum(axis=1), complete(x1)

    return roll(complete(rng.normal(size=(episodes, core))), steps, step)


def noise(n: int, seed: int = 0, d: int = 8, k: int = 11) -> tuple[np.ndarray, np.ndarray]:
    """Targets that are noise but for a faint trend: the best split of a big node gains about 1 % of its impurity."""
    rng = np.random.default_rng(seed)
    states = rng.normal(size=(n, d))
    trend = np.tanh(states) @ rng.normal(size=(d, k))
    targets = 0.26 * trend / trend.std(axis=0) + rng.normal(size=(n, k))
    return states, np.ascontiguousarray(targets / targets.std(axis=0) / np.sqrt(k))
