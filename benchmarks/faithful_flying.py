"""Returns: trees of several sizes and kinds fly in their agent's place, plain and refined."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.faithful_cases import DEMO, Case, names
from benchmarks.faithful_losses import MODELS
from benchmarks.harness import Options, say
from tripletree import TripleTree
from tripletree.policy.flying import Airfield, TreePilot
from tripletree.policy.policy import as_policy

Add = Callable[..., None]

SEED, EPISODES = 1_000_000, 100
"""Episodes that judge: no log and no refining has these seeds."""
ROUNDS, FLOWN = 6, 30
SIZES = {"CartPole-v1": (3, 8, 32), "MountainCar-v0": (7, 16, 64)}
USUAL = (50, 200, 450)
ALL, ACTION = (1, 1, 1), (1, 0, 0)
PUBLISHED = {"CartPole-v1": (3, 499.7), "MountainCar-v0": (7, -101.5), "LunarLander-v3": (29, 232.6)}
"""Leaves and mean return of trees that others have published."""
REFINED = 200
"""Leaves of the landers' trees that are refined."""
TARGETS = {("linear", 200, False): 235.0, ("linear", 450, False): 245.0, ("linear, k = 2", 200, True): 210.0}
"""What is to be reached with the agent of a lander's own log, grown on all three targets."""


@dataclass(frozen=True)
class Plan:
    """One tree to fly."""

    model: str
    leaves: int
    theta: tuple[int, int, int] = ALL
    refined: str = ""


def plans(name: str, lander: bool) -> list[Plan]:
    """Return what is flown for an agent."""
    found = [Plan(model, size) for size in SIZES.get(name, USUAL) for model in MODELS]
    if lander:
        found += [Plan(model, REFINED, refined="yes") for model in ("constant", "linear, k = 2")]
    if name in PUBLISHED:
        size, _ = PUBLISHED[name]
        for theta in (ALL, ACTION):
            for model in MODELS:
                found += [Plan(model, size, theta, how) for how in ("", "yes")]
        found.append(Plan("constant", size, ACTION, "by importance"))
    return list(dict.fromkeys(found))


def measure(options: Options, add: Add) -> None:
    """Add the return of every tree beside its agent's."""
    for name, make in names(options).items():
        if not options.wants(f"returns {name}"):
            continue
        case = make()
        if case.env is None:
            continue
        episodes = EPISODES // 10 if options.quick else EPISODES
        rounds = 1 if options.quick else ROUNDS
        say(f"  returns {name}")
        with Airfield(case.env) as field:
            seeds = range(SEED, SEED + episodes)
            agent = np.array([flight.rewards.sum() for flight in field.fly(case.agent, seeds)])
            place = {"agent": name, "its return": f"{agent.mean():.1f}"}
            own = name not in (DEMO, *SIZES) and case.continuous_lander
            for plan in plans(name, "Lander" in case.env):
                tree = _grown(case, plan, rounds)
                pilot = TreePilot(as_policy(tree.fitted_), field.translation(tree.fitted_.schema.action))
                returns = np.array([flight.rewards.sum() for flight in field.fly(pilot, seeds)])
                say(f"    {plan}: {returns.mean():.1f}")
                add("returns", f"returns {name}", **place, **_row(name, plan, tree, returns, own))


def _grown(case: Case, plan: Plan, rounds: int) -> TripleTree:
    tree = TripleTree(plan.leaves, plan.theta, **MODELS[plan.model]).fit(case.log)
    if not plan.refined:
        return tree
    weights = case.critic if plan.refined == "by importance" else None
    # Rounds need not be judged: the last tree is.
    done = tree.refine(case.log, case.env, case.agent, rounds=rounds, episodes=FLOWN, judge=2, weights=weights)
    return done.tree


def _row(name: str, plan: Plan, tree: TripleTree, returns: np.ndarray, own: bool) -> dict[str, Any]:
    mean, error = float(returns.mean()), float(returns.std(ddof=1)) / len(returns) ** 0.5
    size, published = PUBLISHED.get(name, (0, 0.0))
    target = TARGETS.get((plan.model, plan.leaves, bool(plan.refined))) if own and plan.theta == ALL else None
    return {
        "leaves": tree.n_leaves_,
        "theta": ", ".join(map(str, plan.theta)),
        "leaf model": plan.model,
        "refined": plan.refined,
        "return": f"{mean:.1f} +- {error:.1f}",
        "worst": f"{returns.min():.1f}",
        "published": f"{published:g}" if plan.leaves == size else "",
        "target": "" if target is None else f">= {target:g}",
        "kept": "" if target is None else "yes" if mean >= target else "no",
        "_returns": returns.round(2).tolist(),
    }
