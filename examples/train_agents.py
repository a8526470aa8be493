"""Train the agents of `benchmarks/agents`: one small network for each of five tasks of Gymnasium.

Needs what tripletree itself never does:  pip install stable-baselines3 "gymnasium[box2d]"
One core takes one to five minutes for each, LunarLander-v3 a quarter of an hour. The agents were made by

    python examples/train_agents.py

or one of them by  python examples/train_agents.py CartPole-v1. Settings follow RL Baselines3 Zoo, but networks are
smaller and the learning rate falls to nothing. MountainCar-v0, which a DQN of this size did not learn (a return of
-166), is solved by value iteration on a grid instead, and a network is fitted to its action values.

The policy is judged every so many steps on whole episodes without exploration, and the best one is kept in
OUT/TASK.npz: `w0, b0, w1, b1, w2, b2`, the layers of a relu network. Its outputs are action values, of which the
largest is taken; or, where the file has `scale`, their tanh times `scale` is the action (SAC). At the end it runs 100
episodes with seeds that neither training nor choosing has seen; that mean return is in `note`.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from stable_baselines3 import DQN, SAC
from stable_baselines3.common.callbacks import BaseCallback

CHOOSING, JUDGING = 1_000_000, 2_000_000  # seeds of the episodes that choose the policy, and that judge it
EPISODES = 100
MOUNTAIN_CAR = "MountainCar-v0"


@dataclass(frozen=True)
class Recipe:
    """How one agent is trained."""

    algorithm: type[DQN] | type[SAC]
    steps: int
    every: int  # steps between two choices
    learning_rate: float  # at the start; it falls in proportion to the steps left
    width: int  # units of each of the two hidden layers
    seed: int = 0
    settings: dict[str, Any] = field(default_factory=dict)


# Acrobot and LunarLander share all but the steps, the width and how much is remembered.
SHARED = {"batch_size": 128, "learning_starts": 1_000, "target_update_interval": 250, "train_freq": 4}
SHARED |= {"gradient_steps": -1, "exploration_fraction": 0.12, "exploration_final_eps": 0.1}

RECIPES = {
    "CartPole-v1": Recipe(
        DQN,
        50_000,
        2_000,
        2.3e-3,
        64,
        settings={
            "batch_size": 64,
            "buffer_size": 100_000,
            "learning_starts": 1_000,
            "target_update_interval": 10,
            "train_freq": 256,
            "gradient_steps": 128,
            "exploration_fraction": 0.16,
            "exploration_final_eps": 0.04,
        },
    ),
    "Acrobot-v1": Recipe(DQN, 100_000, 5_000, 6.3e-4, 64, settings={"buffer_size": 50_000, **SHARED}),
    "Pendulum-v1": Recipe(SAC, 20_000, 1_000, 1e-3, 64),
    "LunarLander-v3": Recipe(DQN, 300_000, 10_000, 6.3e-4, 80, settings={"buffer_size": 100_000, **SHARED}),
}


def linear_layers(parts: Iterable[torch.nn.Module]) -> dict[str, np.ndarray]:
    """Return the linear layers of a network, each matrix as (inputs, outputs)."""
    arrays = {}
    for i, layer in enumerate(part for part in parts if isinstance(part, torch.nn.Linear)):
        arrays[f"w{i}"] = layer.weight.detach().numpy().T.copy()
        arrays[f"b{i}"] = layer.bias.detach().numpy().copy()
    return arrays


def weights(model: DQN | SAC) -> dict[str, np.ndarray]:
    """Return the deterministic policy of an agent."""
    if isinstance(model, DQN):
        return linear_layers(model.q_net.q_net)
    return linear_layers([*model.actor.latent_pi, model.actor.mu]) | {"scale": model.action_space.high.copy()}


def act(layers: dict[str, np.ndarray], state: np.ndarray) -> np.ndarray | int:
    """Return the action of the network in a state."""
    hidden = np.maximum(state @ layers["w0"] + layers["b0"], 0)
    hidden = np.maximum(hidden @ layers["w1"] + layers["b1"], 0)
    output = hidden @ layers["w2"] + layers["b2"]
    return np.tanh(output) * layers["scale"] if "scale" in layers else int(output.argmax())


def run(task: str, layers: dict[str, np.ndarray], seed: int) -> np.ndarray:
    """Return the undiscounted return of each of some episodes run with the policy."""
    env = gym.make(task)
    returns = np.zeros(EPISODES)
    for episode in range(EPISODES):
        state, _ = env.reset(seed=seed + episode)
        over = False
        while not over:
            state, reward, terminated, truncated, _ = env.step(act(layers, state))
            returns[episode] += reward
            over = terminated or truncated
    env.close()
    return returns


class Best:
    """The best policy so far on the episodes that choose."""

    def __init__(self, task: str) -> None:
        self.task, self.best, self.offers, self.kept_at = task, -np.inf, 0, 0
        self.layers: dict[str, np.ndarray] = {}

    def offer(self, layers: dict[str, np.ndarray], steps: int) -> None:
        """Run a policy, and keep it if none did better."""
        returns = run(self.task, layers, CHOOSING)
        self.offers += 1
        # Of equally good ones the last, which has learned most.
        kept = returns.mean() >= self.best
        if kept:
            self.best, self.layers, self.kept_at = returns.mean(), layers, steps
        print(
            f"{self.task} {steps:8,} steps: return {returns.mean():7.1f} +- {returns.std():5.1f}, "
            f"worst {returns.min():7.1f}{'  (kept)' if kept else ''}",
            flush=True,
        )

    def write(self, out: Path, how: str) -> None:
        """Judge the best policy, and write it with what was found."""
        returns = run(self.task, self.layers, JUDGING)
        error = returns.std(ddof=1) / np.sqrt(EPISODES)
        width = len(self.layers["b0"])
        note = (
            f"{how}, relu {width} x {width}, best of {self.offers} policies (kept at step {self.kept_at:,}): mean "
            f"return {returns.mean():.1f} +- {error:.1f} (standard error) in {EPISODES} fresh episodes, "
            f"worst {returns.min():.1f}"
        )
        np.savez_compressed(out / f"{self.task}.npz", note=note, **self.layers)
        print(f"{self.task}: {note}", flush=True)


class Choosing(BaseCallback):
    """Offer the policy every so many steps."""

    def __init__(self, best: Best, every: int) -> None:
        super().__init__()
        self.best, self.every = best, every

    def _on_step(self) -> bool:
        if self.num_timesteps % self.every == 0:
            self.best.offer(weights(self.model), self.num_timesteps)
        return True


def train(task: str, recipe: Recipe, out: Path) -> None:
    """Train an agent with Stable-Baselines3."""
    model = recipe.algorithm(
        "MlpPolicy",
        gym.make(task),
        learning_rate=lambda left: recipe.learning_rate * left,
        policy_kwargs={"net_arch": [recipe.width, recipe.width]},
        seed=recipe.seed,
        device="cpu",
        **recipe.settings,
    )
    best = Best(task)
    model.learn(recipe.steps, callback=Choosing(best, recipe.every))
    best.write(out, f"{recipe.algorithm.__name__} of Stable-Baselines3, {recipe.steps:,} steps")


def mountain_car(*, positions: int = 451, velocities: int = 281, gamma: float = 0.99) -> tuple[np.ndarray, np.ndarray]:
    """Return states of MountainCar-v0 on a grid, and by value iteration the values of the three actions there."""
    low, high = np.array([-1.2, -0.07]), np.array([0.6, 0.07])
    shape = np.array([positions, velocities])
    grid = np.stack(np.meshgrid(*map(np.linspace, low, high, shape), indexing="ij"), axis=-1).reshape(-1, 2)
    # The dynamics of Gymnasium, for every state (rows) and action (columns).
    position, velocity = grid[:, :1], grid[:, 1:]
    velocity = np.clip(velocity + (np.arange(3) - 1) * 0.001 - 0.0025 * np.cos(3 * position), low[1], high[1])
    position = np.clip(position + velocity, low[0], high[0])
    velocity = np.where((position == low[0]) & (velocity < 0), 0, velocity)
    over = (position >= 0.5) & (velocity >= 0)
    # Every next state lies between four states of the grid.
    place = (np.stack([position, velocity], axis=-1) - low) / (high - low) * (shape - 1)
    corner = np.minimum(place.astype(int), shape - 2)
    x, v = np.moveaxis(place - corner, -1, 0)
    first = corner[..., 0] * velocities + corner[..., 1]
    values = np.zeros((len(grid), 3))
    change = np.inf
    while change > 1e-6:
        best = values.max(axis=1)
        below = (1 - v) * best[first] + v * best[first + 1]
        above = (1 - v) * best[first + velocities] + v * best[first + velocities + 1]
        following = -1 + gamma * np.where(over, 0, (1 - x) * below + x * above)
        change = np.abs(following - values).max()
        values = following
    return grid, values


def train_mountain_car(out: Path, *, width: int = 64, steps: int = 40_000, every: int = 2_000) -> None:
    """Fit a network to the action values of a planner."""
    torch.manual_seed(0)
    grid, values = mountain_car()
    middle, spread = grid.mean(axis=0), grid.std(axis=0)
    states, targets = (torch.tensor(array, dtype=torch.float32) for array in ((grid - middle) / spread, values))
    linear, relu = torch.nn.Linear, torch.nn.ReLU
    network = torch.nn.Sequential(linear(2, width), relu(), linear(width, width), relu(), linear(width, 3))
    optimizer = torch.optim.Adam(network.parameters(), lr=3e-3)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1, 0, total_iters=steps)
    best = Best(MOUNTAIN_CAR)
    for step in range(1, steps + 1):
        batch = torch.randint(len(states), (1024,))
        error = network(states[batch]) - targets[batch]
        # Actions differ by little where values differ by much, and it is the actions that matter.
        between = error - error.mean(dim=1, keepdim=True)
        loss = error.square().mean() + 100 * between.square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        if step % every == 0:
            layers = linear_layers(network)
            # The file's network takes the states as they are.
            layers["b0"] = (layers["b0"] - middle / spread @ layers["w0"]).astype(np.float32)
            layers["w0"] = (layers["w0"] / spread[:, None]).astype(np.float32)
            best.offer(layers, step)
    best.write(out, "Value iteration on a grid of 451 x 281 states and a network fitted to it")


def main() -> None:
    """Train the agents asked for."""
    tasks = [*RECIPES, MOUNTAIN_CAR]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tasks", nargs="*", metavar="TASK", help=f"some of {', '.join(tasks)} (default: all)")
    parser.add_argument("--threads", type=int, default=1, help="threads of torch; the networks are small (default 1)")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/agents"), help="folder of the agents")
    args = parser.parse_args()
    if unknown := [task for task in args.tasks if task not in tasks]:
        parser.error(f"no recipe for {', '.join(unknown)}; there are {', '.join(tasks)}")
    args.out.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(args.threads)
    for task in args.tasks or tasks:
        if task == MOUNTAIN_CAR:
            train_mountain_car(args.out)
        else:
            train(task, RECIPES[task], args.out)


if __name__ == "__main__":
    main()
