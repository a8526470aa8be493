"""Train the lander of `tripletree.demos.lander`: Soft Actor-Critic on LunarLanderContinuous-v3.

Needs what tripletree itself never does:  pip install stable-baselines3 "gymnasium[box2d]"
One core takes about 40 minutes. The agent of the package was made by

    python examples/train_lander.py --out out/lander

The policy is judged every `--every` steps on whole episodes flown without exploration, and the best one is kept in
OUT/policy.npz: `w0, b0, w1, b1, w2, b2`, the layers of a relu network whose tanh is the action. At the end it flies 100
episodes with seeds that neither training nor choosing has seen; that mean return is the one to quote (269.9 +- 16.9,
worst 218.1, for the agent of the package).
"""

from __future__ import annotations

import argparse
from pathlib import Path

import gymnasium as gym
import numpy as np
import torch
from stable_baselines3 import SAC
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.monitor import Monitor

ENVIRONMENT = "LunarLanderContinuous-v3"
CHOOSING, JUDGING = 1_000_000, 2_000_000  # seeds of the episodes that choose the policy, and that judge it


def weights(model: SAC) -> dict[str, np.ndarray]:
    """Return the layers of the deterministic policy, each matrix as (inputs, outputs)."""
    layers = [layer for layer in model.actor.latent_pi if isinstance(layer, torch.nn.Linear)] + [model.actor.mu]
    arrays = {}
    for i, layer in enumerate(layers):
        arrays[f"w{i}"] = layer.weight.detach().numpy().T.copy()
        arrays[f"b{i}"] = layer.bias.detach().numpy().copy()
    return arrays


def act(layers: dict[str, np.ndarray], state: np.ndarray) -> np.ndarray:
    """Return the action of the network in a state."""
    hidden = np.maximum(state @ layers["w0"] + layers["b0"], 0)
    hidden = np.maximum(hidden @ layers["w1"] + layers["b1"], 0)
    return np.tanh(hidden @ layers["w2"] + layers["b2"])


def fly(layers: dict[str, np.ndarray], episodes: int, seed: int) -> np.ndarray:
    """Return the undiscounted return of each of some episodes flown with the policy."""
    env = gym.make(ENVIRONMENT)
    returns = np.zeros(episodes)
    for episode in range(episodes):
        state, _ = env.reset(seed=seed + episode)
        over = False
        while not over:
            state, reward, terminated, truncated, _ = env.step(act(layers, state))
            returns[episode] += reward
            over = terminated or truncated
    env.close()
    return returns


class KeepTheBest(BaseCallback):
    """Fly with the policy every so many steps, and keep the one that flew best."""

    def __init__(self, out: Path, every: int, episodes: int) -> None:
        super().__init__()
        self.out, self.every, self.episodes = out, every, episodes
        self.best = -np.inf

    def _on_step(self) -> bool:
        if self.num_timesteps % self.every == 0:
            layers = weights(self.model)
            returns = fly(layers, self.episodes, CHOOSING)
            kept = returns.mean() > self.best
            if kept:
                self.best = returns.mean()
                np.savez(self.out / "policy.npz", **layers)
            print(
                f"{self.num_timesteps:8,} steps: return {returns.mean():7.1f} +- {returns.std():5.1f}, "
                f"worst {returns.min():7.1f}{'  (kept)' if kept else ''}",
                flush=True,
            )
        return True


def main() -> None:
    """Train, choose, judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=400_000, help="steps of training (default 400,000)")
    parser.add_argument("--every", type=int, default=10_000, help="steps between two choices (default 10,000)")
    parser.add_argument("--episodes", type=int, default=50, help="episodes flown at each choice (default 50)")
    parser.add_argument("--seed", type=int, default=0, help="seed of training (default 0)")
    parser.add_argument("--threads", type=int, default=1, help="threads of torch; the network is small (default 1)")
    parser.add_argument("--out", type=Path, default=Path("out/lander"), help="folder of the policy")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(args.threads)

    model = SAC(
        "MlpPolicy",
        Monitor(gym.make(ENVIRONMENT)),
        learning_rate=lambda left: 7.3e-4 * left,
        buffer_size=1_000_000,
        batch_size=256,
        tau=0.01,
        gamma=0.99,
        ent_coef="auto",
        train_freq=1,
        gradient_steps=1,
        learning_starts=10_000,
        policy_kwargs={"net_arch": [64, 64]},
        seed=args.seed,
        device="cpu",
    )
    model.learn(args.steps, callback=KeepTheBest(args.out, args.every, args.episodes))

    returns = fly(dict(np.load(args.out / "policy.npz")), 100, JUDGING)
    print(f"100 fresh episodes: return {returns.mean():.1f} +- {returns.std():.1f}, worst {returns.min():.1f}")


if __name__ == "__main__":
    main()
