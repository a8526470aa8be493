"""Train the hopper of `benchmarks/agents`: a linear policy found by augmented random search (Mania et al., 2018).

Needs MuJoCo and no other library:  pip install "gymnasium[mujoco]"
One core takes eight minutes. The agent was made by

    python examples/train_hopper.py

Variant V2-t of the search with the paper's settings for the hopper: states are standardised by what was seen so far,
and every update uses the best 4 of 8 random directions. The bonus for staying upright is left out of what is searched
for, as in the paper, and the action is the tanh of the linear policy, so that it stays within its limits.

Every so many updates the policy is judged on 20 episodes, and the best one of all seeds is kept in OUT/Hopper-v5.npz:
`w0, b0`, one layer for states as they are; its tanh times `scale` is the action. At the end it runs 100 episodes with
seeds that neither training nor choosing has seen; that mean return is in `note`.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import gymnasium as gym
import numpy as np

TASK = "Hopper-v5"
CHOOSING, JUDGING = 1_000_000, 2_000_000  # seeds of the episodes that choose the policy, and that judge it
DIRECTIONS, BEST, STEP, NOISE = 8, 4, 0.01, 0.025
SEEDS, STEPS, EVERY = 4, 600_000, 10  # how often the search starts afresh, its steps each, updates between two choices

Policy = tuple[np.ndarray, np.ndarray]


class Moments:
    """Mean and spread of the states seen so far, by Welford's rule."""

    def __init__(self, width: int) -> None:
        self.count, self.mean, self.squares = 0, np.zeros(width), np.zeros(width)

    def see(self, state: np.ndarray) -> None:
        """Add a state."""
        self.count += 1
        before = state - self.mean
        self.mean = self.mean + before / self.count
        self.squares = self.squares + before * (state - self.mean)

    def policy(self, weight: np.ndarray) -> Policy:
        """Return a linear policy of standardised states as one of states as they are."""
        spread = np.sqrt(self.squares / max(self.count - 1, 1)) if self.count > 1 else np.ones_like(self.mean)
        spread = np.where(spread > 1e-7, spread, np.inf)
        scaled = (weight / spread).T
        return scaled.astype(np.float32), (-self.mean @ scaled).astype(np.float32)


def fly(env: gym.Env, policy: Policy, seed: int, moments: Moments | None = None) -> tuple[float, float, int]:
    """Run one episode: its return, that without the bonus for staying upright, and its steps."""
    weight, bias = policy
    state, _ = env.reset(seed=seed)
    total = bare = 0.0
    steps = 0
    over = False
    while not over:
        if moments is not None:
            moments.see(state)
        state, reward, terminated, truncated, info = env.step(np.tanh(state.astype(np.float32) @ weight + bias))
        total += float(reward)
        bare += float(reward) - info["reward_survive"]
        steps += 1
        over = terminated or truncated
    return total, bare, steps


def search(env: gym.Env, seed: int) -> Iterator[tuple[int, Policy]]:
    """Yield the steps so far and the policy, every so many updates."""
    random = np.random.default_rng(seed)
    width, height = env.observation_space.shape[0], env.action_space.shape[0]
    weight, moments = np.zeros((height, width)), Moments(width)
    steps = updates = episodes = 0
    while steps < STEPS:
        directions = random.standard_normal((DIRECTIONS, height, width))
        policies = [moments.policy(weight + sign * NOISE * way) for way in directions for sign in (1, -1)]
        found = np.zeros(2 * DIRECTIONS)
        for i, policy in enumerate(policies):
            _, found[i], taken = fly(env, policy, seed * 100_000 + episodes, moments)
            steps, episodes = steps + taken, episodes + 1
        pairs = found.reshape(-1, 2)
        best = np.argsort(-pairs.max(axis=1), kind="stable")[:BEST]
        change = np.einsum("d,dhw->hw", pairs[best, 0] - pairs[best, 1], directions[best])
        weight = weight + STEP / (BEST * pairs[best].std() + 1e-9) * change
        updates += 1
        if updates % EVERY == 0:
            yield steps, moments.policy(weight)


def returns(env: gym.Env, policy: Policy, seed: int, episodes: int) -> np.ndarray:
    """Return the undiscounted return of each of some episodes."""
    return np.array([fly(env, policy, seed + i)[0] for i in range(episodes)])


def main() -> None:
    """Train, choose, judge and write the agent."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/agents"), help="folder of the agents")
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    env = gym.make(TASK)
    best, offers, kept = -np.inf, 0, (0, 0)
    for seed in range(SEEDS):
        for steps, policy in search(env, seed):
            mean = returns(env, policy, CHOOSING, 20).mean()
            offers += 1
            if mean > best:
                best, chosen, kept = mean, policy, (seed, steps)
                print(f"{TASK} seed {seed}, {steps:9,} steps: return {mean:7.1f}  (kept)", flush=True)
    judged = returns(env, chosen, JUDGING, 100)
    note = (
        f"Augmented random search (V2-t), {SEEDS} seeds of {STEPS:,} steps, linear, best of {offers} policies (kept "
        f"at step {kept[1]:,} of seed {kept[0]}): mean return {judged.mean():.1f} +- "
        f"{judged.std(ddof=1) / 10:.1f} (standard error) in 100 fresh episodes, worst {judged.min():.1f}"
    )
    np.savez_compressed(out / f"{TASK}.npz", note=note, w0=chosen[0], b0=chosen[1], scale=env.action_space.high)
    print(f"{TASK}: {note}")
    env.close()


if __name__ == "__main__":
    main()
